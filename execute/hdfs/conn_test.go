package hdfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// hostile answers to a call: none may be taken for one.
func hostile(s *seen) map[string]*reply {
	good := done(s, &hadoop.Rename2ResponseProto{}).raw
	withLength := func(n uint32, rest []byte) *reply {
		return &reply{raw: append(binary.BigEndian.AppendUint32(nil, n), rest...), drop: true}
	}
	header := func(change func(*hadoop.RpcResponseHeaderProto)) *reply {
		h := responseHeader(s, hadoop.RpcResponseHeaderProto_SUCCESS)
		change(h)
		return &reply{raw: framed(h, &hadoop.Rename2ResponseProto{})}
	}
	raw := func(parts ...[]byte) *reply {
		body := bytes.Join(parts, nil)
		return &reply{raw: append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)}
	}
	return map[string]*reply{
		"length 0":                    withLength(0, good[4:]),
		"negative length":             withLength(0xffffffff, good[4:]),
		"length of more than a frame": withLength(maxFrame+1, good[4:]),
		"more than such an answer":    withLength(smallAnswer+1, good[4:]),
		"length beyond the end":       withLength(uint32(len(good)), good[4:]),
		"length before the end":       withLength(uint32(len(good)-5), good[4:]),
		"HTTP":                        {raw: []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), drop: true},
		"header longer than frame":    raw([]byte{200, 1, 8, 1}),
		"length of header endless":    raw(bytes.Repeat([]byte{0xff}, 20)),
		"header is no message":        raw([]byte{3, 0xff, 0xff, 0xff}),
		"header without call id": header(func(h *hadoop.RpcResponseHeaderProto) {
			h.CallId = nil
		}),
		"header without status":   header(func(h *hadoop.RpcResponseHeaderProto) { h.Status = nil }),
		"unknown status":          raw(protowire.AppendBytes(nil, []byte{8, byte(s.header.GetCallId()), 16, 9})),
		"another call":            header(func(h *hadoop.RpcResponseHeaderProto) { h.CallId = proto.Uint32(h.GetCallId() + 1) }),
		"another client":          header(func(h *hadoop.RpcResponseHeaderProto) { h.ClientId = bytes.Repeat([]byte{1}, 16) }),
		"no body":                 raw(protowire.AppendBytes(nil, mustMarshal(responseHeader(s, hadoop.RpcResponseHeaderProto_SUCCESS)))),
		"bytes behind":            raw(good[4:], []byte{0}),
		"body is no message":      raw(protowire.AppendBytes(nil, mustMarshal(responseHeader(s, hadoop.RpcResponseHeaderProto_SUCCESS))), []byte{1, 0xff}),
		"failure with a body":     raw(failed(s, "java.io.IOException", "x").raw[4:], []byte{0}),
		"failure without a class": failed(s, "", "x"),
		"not serialized": {raw: framed(&hadoop.RpcResponseHeaderProto{
			CallId: proto.Uint32(uint32(s.header.GetCallId())), Status: hadoop.RpcResponseHeaderProto_ERROR.Enum(),
			ExceptionClassName: proto.String("java.io.IOException"), ErrorMsg: proto.String("x"),
			ErrorDetail: hadoop.RpcResponseHeaderProto_ERROR_SERIALIZING_RESPONSE.Enum(),
		})},
		"fatal, of no call": {raw: framed(&hadoop.RpcResponseHeaderProto{
			CallId: proto.Uint32(0xffffffff), Status: hadoop.RpcResponseHeaderProto_FATAL.Enum(),
			ExceptionClassName: proto.String("java.io.IOException"), ErrorMsg: proto.String("x"),
		}), drop: true},
	}
}

func mustMarshal(m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// After a rename, an answer that is none leaves the outcome unknown, and costs the connection.
func TestHostileAnswerToRename(t *testing.T) {
	t.Parallel()
	for name := range hostile(&seen{header: &hadoop.RpcRequestHeaderProto{}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nn := newFakeNN(t, Active)
			nn.on(func(s *seen) *reply {
				if s.method != "rename2" {
					return nil
				}
				return hostile(s)[name]
			})
			c := client(t, nil, nn)
			m := c.Mover()
			err := m.Rename(t.Context(), aMove(), newCall(t, m))
			var remote *execute.RemoteError
			if !errors.Is(err, execute.ErrUnknown) || errors.As(err, &remote) {
				t.Errorf("%v", err)
			}
			before := nn.connections()
			if _, err := c.Stat(t.Context(), execute.ByID(20000)); err != nil {
				t.Error(err)
			}
			if nn.connections() != before+1 {
				t.Error("the connection was used again")
			}
		})
	}
}

// A read is asked again on a new connection. (A fatal answer to a read is one: the server
// did not let us in.)
func TestHostileAnswerToRead(t *testing.T) {
	t.Parallel()
	for name := range hostile(&seen{header: &hadoop.RpcRequestHeaderProto{}}) {
		if name == "fatal, of no call" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nn := newFakeNN(t, Active)
			once := true
			c := client(t, nil, nn)
			if _, err := c.Active(t.Context()); err != nil {
				t.Fatal(err)
			}
			nn.on(func(s *seen) *reply {
				if s.method != "getFileLinkInfo" || !once {
					return nil
				}
				once = false
				return hostile(s)[name]
			})
			if s, err := c.Stat(t.Context(), execute.ByID(20000)); err != nil || s.ID != 20000 {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
}

// An answer that ends anywhere is none.
func TestAnswerCutOffAnywhere(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	m := c.Mover()
	length := -1
	for cut := 0; length < 0 || cut < length; cut++ {
		nn.on(func(s *seen) *reply {
			if s.method != "rename2" {
				return nil
			}
			raw := done(s, &hadoop.Rename2ResponseProto{}).raw
			length = len(raw)
			return &reply{raw: raw[:cut], drop: true}
		})
		if err := m.Rename(t.Context(), aMove(), newCall(t, m)); !errors.Is(err, execute.ErrUnknown) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	if length < 30 {
		t.Errorf("only %d bytes", length)
	}
}

// Whoever takes the port of the web pages should be told so.
func TestWebServer(t *testing.T) {
	t.Parallel()
	_, err := readFrame(strings.NewReader("HTTP/1.1 400 Bad Request\r\n\r\n"), maxFrame)
	if err == nil || !strings.Contains(err.Error(), "not the RPC port") {
		t.Error(err)
	}
}

// What a length announces is not reserved.
func TestAnnouncedLengthReservesNothing(t *testing.T) {
	in := binary.BigEndian.AppendUint32(nil, maxFrame)
	in = append(in, 1, 2, 3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		if _, err := readFrame(bytes.NewReader(in), maxFrame); err == nil {
			t.Fatal("no error")
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes for 20 frames of 3 bytes", used)
	}
}

// What the NameNode says is an answer, and the connection goes on; after a fatal one it does not.
func TestErrorsOfTheNameNode(t *testing.T) {
	t.Parallel()
	for _, fatal := range []bool{false, true} {
		nn := newFakeNN(t, Active)
		nn.on(func(s *seen) *reply {
			if s.method != "rename2" {
				return nil
			}
			r := failed(s, accessClass, "Permission denied: user=alice, access=WRITE, inode=\"/flink\":root:hdfs:drwxr-xr-x")
			if fatal {
				h := responseHeader(s, hadoop.RpcResponseHeaderProto_FATAL)
				h.ExceptionClassName, h.ErrorMsg = proto.String(accessClass), proto.String("x")
				r = &reply{raw: framed(h)}
			}
			return r
		})
		c := client(t, nil, nn)
		m := c.Mover()
		err := m.Rename(t.Context(), aMove(), newCall(t, m))
		var remote *execute.RemoteError
		if !errors.Is(err, execute.ErrPermission) || !errors.As(err, &remote) || errors.Is(err, execute.ErrUnknown) {
			t.Fatalf("fatal %v: %v", fatal, err)
		}
		if remote.Call != "rename2" || remote.NameNode != nn.addr() || remote.Class != accessClass || strings.Contains(remote.Message, "\n") {
			t.Errorf("%#v", remote)
		}
		before := nn.connections()
		if _, err := c.Stat(t.Context(), execute.ByID(20000)); err != nil {
			t.Error(err)
		}
		if again := nn.connections() == before; again == fatal {
			t.Errorf("fatal %v: connection used again: %v", fatal, again)
		}
	}
}

// A failure of the Java machine, or an answer that the server aborted because it could not write the
// edits, says nothing about the change. Refusals that look alike still do.
func TestFailureThatMayComeFromBehindTheChange(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		class   string
		aborted bool
		want    error
	}{
		{"java.lang.RuntimeException", true, execute.ErrUnknown}, // what FSEditLogAsync makes of a failed sync
		{"java.io.IOException", true, execute.ErrUnknown},
		{"java.lang.OutOfMemoryError", false, execute.ErrUnknown},
		{"java.lang.NullPointerException", false, execute.ErrUnknown},
		{"java.util.ConcurrentModificationException", false, execute.ErrUnknown},
		{"java.lang.IllegalArgumentException", false, nil}, // of an inode that only a snapshot holds
		{"java.io.IOException", false, nil},
		{retriableClass, true, execute.ErrUnavailable}, // the server is too busy to take the call
		{standbyClass, true, execute.ErrUnavailable},
	} {
		nn := newFakeNN(t, Active)
		nn.on(func(s *seen) *reply {
			if s.method != "rename2" && s.method != "mkdirs" {
				return nil
			}
			if !tc.aborted {
				return failed(s, tc.class, "x")
			}
			h := responseHeader(s, hadoop.RpcResponseHeaderProto_FATAL)
			h.ExceptionClassName, h.ErrorMsg = proto.String(tc.class), proto.String("x\ny")
			h.ErrorDetail = hadoop.RpcResponseHeaderProto_ERROR_RPC_SERVER.Enum()
			return &reply{raw: framed(h), drop: true}
		})
		m := client(t, func(o *Options) { o.Patience = 300 * time.Millisecond }, nn).Mover()
		for name, err := range map[string]error{
			"rename": m.Rename(t.Context(), aMove(), newCall(t, m)),
			"mkdirs": m.Mkdirs(t.Context(), "/a", 0o700),
		} {
			unknown := errors.Is(err, execute.ErrUnknown)
			if err == nil || unknown != errors.Is(tc.want, execute.ErrUnknown) || tc.want != nil && !errors.Is(err, tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, aborted %v, %s: %v", tc.class, tc.aborted, name, err)
			}
		}
		if n := len(nn.seen("rename2")); !errors.Is(tc.want, execute.ErrUnavailable) && n != 1 {
			t.Errorf("%s: sent %d times", tc.class, n)
		}
	}
}

// A server that wants Kerberos says so before any call.
func TestServerThatDoesNotLetUsIn(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	nn.on(func(*seen) *reply {
		return &reply{raw: framed(&hadoop.RpcResponseHeaderProto{
			CallId: proto.Uint32(0xffffffff), Status: hadoop.RpcResponseHeaderProto_FATAL.Enum(),
			ErrorDetail:        hadoop.RpcResponseHeaderProto_FATAL_UNAUTHORIZED.Enum(),
			ExceptionClassName: proto.String(accessClass),
			ErrorMsg:           proto.String("SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]"),
		}), drop: true}
	})
	began := time.Now()
	_, err := client(t, func(o *Options) { o.Patience = 50 * time.Second }, nn).Stat(t.Context(), execute.At("/a"))
	if !errors.Is(err, execute.ErrPermission) || !strings.Contains(err.Error(), "SIMPLE authentication is not enabled") {
		t.Errorf("%v", err)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

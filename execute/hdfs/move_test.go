package hdfs

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// fields gives the numbers and values of a message's fields, by hand.
func fields(t *testing.T, b []byte) map[protowire.Number]any {
	t.Helper()
	got := map[protowire.Number]any{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		switch typ {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			got[num], b = v, b[n:]
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			got[num], b = string(v), b[n:]
		default:
			t.Fatalf("field %d of type %d", num, typ)
		}
	}
	return got
}

// What a rename looks like on the wire, field by field of Hadoop's .proto files.
func TestRenameOnTheWire(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	m := c.Mover()
	for _, trash := range []bool{true, false} {
		move := aMove()
		move.Trash = trash
		call := newCall(t, m)
		if err := m.Rename(t.Context(), move, call); err != nil {
			t.Fatal(err)
		}
		sent := nn.seen("rename2")
		s := sent[len(sent)-1]
		want := map[protowire.Number]any{1: "/.reserved/.inodes/40000", 2: move.To, 3: uint64(0), 4: uint64(1)}
		if !trash {
			delete(want, 4) // Hadoop 2 takes its presence as true
		}
		if got := fields(t, s.body); !equalFields(got, want) {
			t.Errorf("trash %v: request %v, want %v", trash, got, want)
		}
		want = map[protowire.Number]any{1: "rename2", 2: "org.apache.hadoop.hdfs.protocol.ClientProtocol", 3: uint64(1)}
		if got := fields(t, s.head); !equalFields(got, want) {
			t.Errorf("header of the request %v, want %v", got, want)
		}
		caller := string(protowire.AppendBytes([]byte{0x0a}, []byte("fsweep run 7 /flink/a/%C3%B6")))
		want = map[protowire.Number]any{
			1: uint64(2), 2: uint64(0), 3: protowire.EncodeZigZag(int64(call.CallID)), 4: string(call.ClientID[:]), 5: uint64(0), 7: caller,
		}
		if got := fields(t, splitFrame(t, s.frame)[0]); !equalFields(got, want) {
			t.Errorf("header %v, want %v", got, want)
		}
	}
	if !slices.Contains(nn.users, "alice") {
		t.Errorf("users %q", nn.users)
	}
}

func equalFields(a, b map[protowire.Number]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// The last things before a rename are looks at the inode and its parent, on the same connection.
func TestRenameLooksFirst(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	m := client(t, nil, nn).Mover()
	if err := m.Rename(t.Context(), aMove(), newCall(t, m)); err != nil {
		t.Fatal(err)
	}
	calls := nn.seen("")
	tail := calls[len(calls)-3:]
	var q [2]hadoop.GetFileLinkInfoRequestProto
	for i := range q {
		nn.unmarshal(tail[i].body, &q[i])
	}
	if q[0].GetSrc() != "/.reserved/.inodes/40000" || q[1].GetSrc() != "/.reserved/.inodes/40000/.." || tail[2].method != "rename2" {
		t.Errorf("last calls: %q %q %s", q[0].GetSrc(), q[1].GetSrc(), tail[2].method)
	}
	if tail[0].conn != tail[2].conn || tail[1].conn != tail[2].conn {
		t.Error("looked on another connection")
	}
}

func TestRenameRefusesWhatChanged(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		answer func(s *seen, src string) *reply
		want   error
	}{
		{"other id", func(s *seen, src string) *reply {
			return statusReply(s, src == "/.reserved/.inodes/40000", directory(50000))
		}, execute.ErrNotFound},
		{"nothing", func(s *seen, src string) *reply { return statusReply(s, src == "/.reserved/.inodes/40000", nil) }, execute.ErrNotFound},
		{"only a snapshot holds it", func(s *seen, src string) *reply {
			if src != "/.reserved/.inodes/40000" {
				return nil
			}
			return failed(s, "java.lang.IllegalArgumentException", "java.lang.IllegalArgumentException")
		}, execute.ErrNotFound},
		{"other parent", func(s *seen, src string) *reply {
			return statusReply(s, src == "/.reserved/.inodes/40000/..", directory(20001))
		}, execute.ErrChanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			nn := newFakeNN(t, Active)
			nn.on(func(s *seen) *reply {
				if s.method != "getFileLinkInfo" {
					return nil
				}
				var q hadoop.GetFileLinkInfoRequestProto
				nn.unmarshal(s.body, &q)
				return tc.answer(s, q.GetSrc())
			})
			m := client(t, nil, nn).Mover()
			err := m.Rename(t.Context(), aMove(), newCall(t, m))
			if !errors.Is(err, tc.want) || errors.Is(err, execute.ErrUnknown) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if n := len(nn.seen("rename2")); n > 0 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

func statusReply(s *seen, now bool, fs *hadoop.HdfsFileStatusProto) *reply {
	if !now {
		return nil
	}
	return done(s, &hadoop.GetFileLinkInfoResponseProto{Fs: fs})
}

// A call is used once, by the client that prepared it.
func TestCallIsUsedOnce(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	m := client(t, nil, nn).Mover()
	call := newCall(t, m)
	if err := m.Rename(t.Context(), aMove(), call); err != nil {
		t.Fatal(err)
	}
	foreign := newCall(t, client(t, nil, nn).Mover())
	never := newCall(t, m)
	never.CallID += 100
	for name, call := range map[string]execute.Call{"used": call, "of another client": foreign, "never prepared": never, "none": {}} {
		if err := m.Rename(t.Context(), aMove(), call); !errors.Is(err, errRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Resend(t.Context(), aMove(), never); !errors.Is(err, errRefused) {
		t.Errorf("resend of a call that was never prepared: %v", err)
	}
	if err := m.Resend(t.Context(), aMove(), execute.Call{}); !errors.Is(err, errRefused) {
		t.Errorf("resend of none: %v", err)
	}
	if n := len(nn.seen("rename2")); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// No id stands for two calls, however many goroutines ask; two clients have different ids.
func TestIDsAreNeverUsedTwice(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	a, b := client(t, nil, nn), client(t, nil, nn)
	if a.id == b.id || a.id == [16]byte{} {
		t.Fatalf("client ids %x and %x", a.id, b.id)
	}
	var wg sync.WaitGroup
	for _, c := range []*Client{a, a, a, b, b} {
		wg.Go(func() {
			m := c.Mover()
			for range 20 {
				if err := m.Rename(t.Context(), aMove(), newCall(t, m)); err != nil {
					t.Error(err)
				}
				if err := m.Mkdirs(t.Context(), "/x", 0o700); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ids := map[string]string{}
	for _, s := range nn.seen("") {
		key := string(s.header.GetClientId()) + string(protowire.AppendVarint(nil, uint64(s.header.GetCallId())))
		if other, ok := ids[key]; ok {
			t.Fatalf("call %d is %s and %s", s.header.GetCallId(), other, s.method)
		}
		ids[key] = s.method
		if s.header.GetCallId() <= 0 {
			t.Errorf("call id %d", s.header.GetCallId())
		}
	}
	a.nextID.Store(1<<31 - 1)
	if _, err := a.newIDs(); err == nil {
		t.Error("an id after the last one")
	}
}

// A repetition is the same to the last byte, but for the count of retries.
func TestResendSendsTheSameBytes(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	first := client(t, nil, nn)
	call := newCall(t, first.Mover())
	if err := first.Mover().Rename(t.Context(), aMove(), call); err != nil {
		t.Fatal(err)
	}
	// Another process, later.
	if err := client(t, nil, nn).Mover().Resend(t.Context(), aMove(), call); err != nil {
		t.Fatal(err)
	}
	sent := nn.seen("rename2")
	if len(sent) != 2 {
		t.Fatalf("sent %d times", len(sent))
	}
	if sent[0].header.GetRetryCount() != 0 || sent[1].header.GetRetryCount() != 1 {
		t.Errorf("retries %d, %d", sent[0].header.GetRetryCount(), sent[1].header.GetRetryCount())
	}
	sent[1].header.RetryCount = proto.Int32(0)
	if !proto.Equal(sent[0].header, sent[1].header) {
		t.Errorf("headers %v, %v", sent[0].header, sent[1].header)
	}
	if !bytes.Equal(sent[0].body, sent[1].body) || !bytes.Equal(sent[0].head, sent[1].head) {
		t.Error("requests differ")
	}
}

// brokenConn fails writes of renames after some bytes.
type brokenConn struct {
	net.Conn
	after *int // bytes of a rename that leave; nil: all is well
}

func (b brokenConn) Write(p []byte) (int, error) {
	if b.after == nil || *b.after < 0 || !bytes.Contains(p, []byte("rename2")) {
		return b.Conn.Write(p)
	}
	n, err := b.Conn.Write(p[:min(*b.after, len(p))])
	if err != nil {
		return n, err
	}
	*b.after = -1
	return n, errors.New("the cable is cut")
}

// ErrUnknown is for a request of which all may have left, and for nothing less.
func TestRequestThatDidNotLeave(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 4, 100, 1 << 20} {
		nn := newFakeNN(t, Active)
		c := client(t, func(o *Options) {
			o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				return brokenConn{conn, &after}, err
			}
		}, nn)
		m := c.Mover()
		whole := after == 1<<20
		err := m.Rename(t.Context(), aMove(), newCall(t, m))
		if whole != errors.Is(err, execute.ErrUnknown) || whole == (err == nil) {
			t.Errorf("whole request %v: %v", whole, err)
		}
		if n := len(nn.seen("rename2")); !whole && n != 1 {
			t.Errorf("arrived %d times", n)
		}
	}
}

// A rename without an answer is not sent again by itself.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*reply{"closed": {drop: true}, "no answer": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nn := newFakeNN(t, Active)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			nn.on(func(s *seen) *reply {
				if s.method != "rename2" {
					return nil
				}
				if !r.drop {
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				return r
			})
			m := client(t, nil, nn).Mover()
			call := newCall(t, m)
			began := time.Now()
			err := m.Rename(ctx, aMove(), call)
			if !errors.Is(err, execute.ErrUnknown) || errors.Is(err, execute.ErrUnavailable) {
				t.Errorf("%v", err)
			}
			if d := time.Since(began); d > 15*time.Second {
				t.Errorf("took %v", d)
			}
			nn.on(nil)
			if err := m.Resend(t.Context(), aMove(), call); err != nil {
				t.Error(err)
			}
			sent := nn.seen("rename2")
			if len(sent) != 2 || sent[0].header.GetCallId() != sent[1].header.GetCallId() || sent[0].conn == sent[1].conn {
				t.Errorf("sent %d times", len(sent))
			}
		})
	}
}

// Before anything is sent, targets and ids are checked.
func TestImpossibleMoves(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	m := client(t, nil, nn).Mover()
	for name, change := range map[string]func(*execute.Move){
		"no target":       func(v *execute.Move) { v.To = "" },
		"relative":        func(v *execute.Move) { v.To = "a/b" },
		"root":            func(v *execute.Move) { v.To = "/" },
		"dots":            func(v *execute.Move) { v.To = "/a/../b" },
		"dot":             func(v *execute.Move) { v.To = "/a/./b" },
		"slashes":         func(v *execute.Move) { v.To = "/a//b" },
		"slash at end":    func(v *execute.Move) { v.To = "/a/" },
		"not UTF-8":       func(v *execute.Move) { v.To = "/a/\xff" },
		"snapshot":        func(v *execute.Move) { v.To = "/a/.snapshot/s" },
		"reserved":        func(v *execute.Move) { v.To = "/.reserved/.inodes/16385/x" },
		"raw":             func(v *execute.Move) { v.To = "/.reserved/raw/x" },
		"the root moves":  func(v *execute.Move) { v.ID = rootID },
		"no id":           func(v *execute.Move) { v.ID = 0 },
		"no parent":       func(v *execute.Move) { v.ParentID = 0 },
		"impossible pare": func(v *execute.Move) { v.ParentID = 5 },
	} {
		move := aMove()
		change(&move)
		call := newCall(t, m)
		if err := m.Rename(t.Context(), move, call); !errors.Is(err, execute.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if err := m.Resend(t.Context(), move, call); !errors.Is(err, execute.ErrInvalid) {
			t.Errorf("%s: resend: %v", name, err)
		}
	}
	if n := len(nn.seen("rename2")); n > 0 {
		t.Errorf("sent %d times", n)
	}
	for _, p := range []string{"", "x", "/", "/a/..", "/.reserved/x", "/a/\xc3"} {
		if err := m.Mkdirs(t.Context(), p, 0o700); !errors.Is(err, execute.ErrInvalid) {
			t.Errorf("mkdirs %q: %v", p, err)
		}
	}
}

func TestCallerContextIsOneHarmlessLine(t *testing.T) {
	t.Parallel()
	got := callerContext(execute.Move{Context: "run", From: "/a\nINFO audit: x\t%\xff\u202e"})
	if want := "fsweep run /a%0AINFO audit: x%09%25%FF%E2%80%AE"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if long := callerContext(execute.Move{From: "/" + string(make([]byte, 100000))}); len(long) > 2000 {
		t.Errorf("%d bytes", len(long))
	}
}

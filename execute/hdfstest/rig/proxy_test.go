package rig_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"fsweep/execute/hdfstest/rig"
)

// server answers each call with a response header and the name of its method, and counts
// what it got whole.
type server struct {
	net.Listener
	got atomic.Int32
}

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *server) serve(c net.Conn) {
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, 7)); err != nil {
		return
	}
	for {
		b, err := frame(c)
		if err != nil {
			return
		}
		s.got.Add(1)
		// The first message of what request makes: its second field is the call id.
		header, n := protowire.ConsumeBytes(b)
		id, _ := protowire.ConsumeVarint(header[3:])
		call, _ := protowire.ConsumeBytes(b[n:])
		if _, err := c.Write(answer(int32(protowire.DecodeZigZag(id)), string(call[2:]))); err != nil {
			return
		}
	}
}

func frame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

func framed(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }

// request is laid out so that the server above finds the call id: field 2 is first.
func request(id int32, method string) []byte {
	h := protowire.AppendTag(nil, 2, protowire.VarintType)
	h = protowire.AppendVarint(h, 0)
	h = protowire.AppendTag(h, 3, protowire.VarintType)
	h = protowire.AppendVarint(h, protowire.EncodeZigZag(int64(id)))
	h = protowire.AppendTag(h, 4, protowire.BytesType)
	h = protowire.AppendString(h, "0123456789abcdef")
	h = protowire.AppendTag(h, 5, protowire.VarintType)
	h = protowire.AppendVarint(h, protowire.EncodeZigZag(3))
	c := protowire.AppendTag(nil, 1, protowire.BytesType)
	c = protowire.AppendString(c, method)
	return framed(protowire.AppendBytes(protowire.AppendBytes(nil, h), c))
}

func answer(id int32, text string) []byte {
	h := protowire.AppendTag(nil, 1, protowire.VarintType)
	h = protowire.AppendVarint(h, uint64(uint32(id)))
	return framed(append(protowire.AppendBytes(nil, h), text...))
}

func dial(t *testing.T, p *rig.Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	send(t, c, []byte("hrpc\x09\x00\x00"))
	return c
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T) (*server, *rig.Proxy) {
	t.Helper()
	s := newServer(t)
	p, err := rig.NewProxy(s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return s, p
}

// gotSoon waits until the server has had that many requests.
func (s *server) gotSoon(t *testing.T, n int32) {
	t.Helper()
	for range 1000 {
		if s.got.Load() == n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("the server got %d requests, want %d", s.got.Load(), n)
}

func TestProxyPasses(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	c := dial(t, p)
	var want []rig.Request
	for i := range int32(3) {
		method := fmt.Sprintf("method%d", i)
		send(t, c, request(i, method))
		b, err := frame(c)
		if err != nil || string(framed(b)) != string(answer(i, method)) {
			t.Fatalf("answer %q, %v", b, err)
		}
		want = append(want, rig.Request{Method: method, CallID: i, RetryCount: 3, ClientID: "0123456789abcdef", Conn: 1})
	}
	s.gotSoon(t, 3)
	if got := p.Requests(); !slices.Equal(got, want) {
		t.Errorf("requests %+v, want %+v", got, want)
	}
	if got := p.Requests(); len(got) != 0 {
		t.Errorf("requests after they were taken: %+v", got)
	}
}

// TestProxyFaults does one thing to the second of three requests that are sent at once.
func TestProxyFaults(t *testing.T) {
	t.Parallel()
	full := answer(1, "b")
	for _, tc := range []struct {
		name  string
		fault rig.Fault
		got   int32  // requests that the server got whole
		reads []byte // what the client reads after the first answer, up to the end
	}{
		{"drop", rig.Fault{Action: rig.Drop}, 1, nil},
		{"cut request", rig.Fault{Action: rig.CutRequest, Bytes: 6}, 1, nil},
		{"drop answer", rig.Fault{Action: rig.DropAnswer}, 2, nil},
		{"cut answer at 0", rig.Fault{Action: rig.CutAnswer}, 2, nil},
		{"cut answer at 5", rig.Fault{Action: rig.CutAnswer, Bytes: 5}, 2, full[:5]},
		{"cut answer at its end", rig.Fault{Action: rig.CutAnswer, Bytes: 100}, 2, full},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t)
			p.HandleNext("b", tc.fault)
			c := dial(t, p)
			send(t, c, request(0, "a"))
			if _, err := frame(c); err != nil {
				t.Fatal(err)
			}
			send(t, c, request(1, "b"))
			b, err := io.ReadAll(c)
			if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
				t.Fatal("the connection did not end")
			}
			if string(b) != string(tc.reads) {
				t.Errorf("read %q, want %q", b, tc.reads)
			}
			s.gotSoon(t, tc.got)

			// What comes next, on a new connection, passes.
			c = dial(t, p)
			send(t, c, request(1, "b"))
			if b, err := frame(c); err != nil || string(framed(b)) != string(full) {
				t.Errorf("answer to the repetition %q, %v", b, err)
			}
		})
	}
}

// TestProxyHangs keeps the connection: other calls of it are answered.
func TestProxyHangs(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	p.HandleNext("b", rig.Fault{Action: rig.Hang})
	c := dial(t, p)
	send(t, c, request(1, "b"))
	send(t, c, request(2, "c"))
	if b, err := frame(c); err != nil || string(framed(b)) != string(answer(2, "c")) {
		t.Errorf("answer %q, %v", b, err)
	}
	s.gotSoon(t, 2)
}

func TestProxyDropSentEndsAtOnce(t *testing.T) {
	t.Parallel()
	_, p := start(t)
	p.HandleNext("b", rig.Fault{Action: rig.DropSent})
	c := dial(t, p)
	send(t, c, request(1, "b"))
	_, err := io.ReadAll(c)
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		t.Error("the connection did not end")
	}
}

func TestProxyDelay(t *testing.T) {
	t.Parallel()
	_, p := start(t)
	const delay = 150 * time.Millisecond
	p.HandleNext("b", rig.Fault{Delay: delay})
	c := dial(t, p)
	began := time.Now()
	send(t, c, request(1, "b"))
	if _, err := frame(c); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < delay {
		t.Errorf("answered after %v", d)
	}
}

func TestProxyDisconnect(t *testing.T) {
	t.Parallel()
	_, p := start(t)
	c := dial(t, p)
	send(t, c, request(1, "b"))
	if _, err := frame(c); err != nil {
		t.Fatal(err)
	}
	if n := p.Disconnect(); n != 1 {
		t.Errorf("%d connections ended, want 1", n)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
	c = dial(t, p)
	send(t, c, request(2, "c"))
	if _, err := frame(c); err != nil {
		t.Errorf("after Disconnect: %v", err)
	}
}

// TestProxyWithoutServer ends connections, as far as a client can tell.
func TestProxyWithoutServer(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	s.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		return // that is an end as well
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err = c.Read(make([]byte, 1))
	if ne, ok := errors.AsType[net.Error](err); err == nil || ok && ne.Timeout() {
		t.Errorf("read: %v", err)
	}
}

package hdfs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// The ACTIVE one is found wherever it stands in the list; others are asked nothing but msync.
func TestActiveIsFound(t *testing.T) {
	t.Parallel()
	for active := range 3 {
		nodes := []*fakeNN{newFakeNN(t, Standby), newFakeNN(t, Observer), newFakeNN(t, Standby)}
		nodes[active].set(Active)
		c := client(t, nil, nodes...)
		nn, err := c.Active(t.Context())
		if err != nil || nn.Address != nodes[active].addr() || nn.Nameservice != "ns" {
			t.Fatalf("%v, %v", nn, err)
		}
		if _, err := c.Stat(t.Context(), execute.ByID(20000)); err != nil {
			t.Error(err)
		}
		if err := c.Mover().Mkdirs(t.Context(), "/a", 0o700); err != nil {
			t.Error(err)
		}
		for i, n := range nodes {
			names := n.methods()
			if i != active && (len(names) > 0 && slices.Max(names) != "msync" || slices.Contains(names, "mkdirs")) {
				t.Errorf("NameNode %d was asked %v", i, names)
			}
		}
	}
}

func TestNoneIsActive(t *testing.T) {
	t.Parallel()
	c := client(t, func(o *Options) { o.Patience = 500 * time.Millisecond }, newFakeNN(t, Standby), newFakeNN(t, Standby), newFakeNN(t, Observer))
	m := c.Mover()
	for name, do := range map[string]func() error{
		"Stat":   func() error { _, err := c.Stat(t.Context(), execute.At("/a")); return err },
		"Mkdirs": func() error { return m.Mkdirs(t.Context(), "/a", 0o700) },
		"Resend": func() error { return m.Resend(t.Context(), aMove(), execute.Call{ClientID: [16]byte{1}, CallID: 1}) },
	} {
		began := time.Now()
		err := do()
		if !errors.Is(err, execute.ErrUnavailable) || errors.Is(err, execute.ErrUnknown) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(began); d > 14*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
	states := c.NameNodes(t.Context())
	if states[0].State != Standby || states[2].State != Observer {
		t.Errorf("states %v", states)
	}
}

// A rename that meets a NameNode which is ACTIVE no more goes on to the next with the same ids,
// and looks again there.
func TestFailoverInARename(t *testing.T) {
	t.Parallel()
	for _, class := range []string{standbyClass, observerClass, retriableClass} {
		a, b := newFakeNN(t, Active), newFakeNN(t, Standby)
		a.on(func(s *seen) *reply {
			if s.method != "rename2" {
				return nil
			}
			a.set(Standby)
			time.AfterFunc(200*time.Millisecond, func() { b.set(Active) })
			return failed(s, class, "not now")
		})
		c := client(t, nil, a, b)
		m := c.Mover()
		call := newCall(t, m)
		if call.NameNode.Address != a.addr() {
			t.Fatal(call)
		}
		if err := m.Rename(t.Context(), aMove(), call); err != nil {
			t.Fatalf("%s: %v", class, err)
		}
		first, second := a.seen("rename2"), b.seen("rename2")
		if len(first) != 1 || len(second) != 1 {
			t.Fatalf("%s: sent %d and %d times", class, len(first), len(second))
		}
		h := second[0].header
		if h.GetCallId() != call.CallID || string(h.GetClientId()) != string(call.ClientID[:]) || h.GetRetryCount() != 1 {
			t.Errorf("%s: header %v", class, h)
		}
		names := b.methods()
		if tail := names[len(names)-3:]; !slices.Equal(tail, []string{"getFileLinkInfo", "getFileLinkInfo", "rename2"}) {
			t.Errorf("%s: last calls %v", class, tail)
		}
		if nn, err := c.Active(t.Context()); err != nil || nn.Address != b.addr() {
			t.Errorf("%s: active %v, %v", class, nn, err)
		}
	}
}

// A rename that was carried out, though the answer says that another NameNode is right, is not
// taken for one that somebody else prevented. One that somebody else moved is.
func TestRenameFoundDoneAtTheNextTry(t *testing.T) {
	t.Parallel()
	for _, arrived := range []bool{true, false} {
		nn := newFakeNN(t, Active)
		nn.on(func(s *seen) *reply {
			switch {
			case s.method == "rename2":
				return failed(s, retriableClass, "x")
			case s.method != "getFileLinkInfo" || len(nn.seen("rename2")) == 0:
				return nil
			}
			var q hadoop.GetFileLinkInfoRequestProto
			nn.unmarshal(s.body, &q)
			switch {
			case q.GetSrc() == "/.reserved/.inodes/40000/..":
				return statusReply(s, true, directory(30000))
			case q.GetSrc() == aMove().To && arrived:
				return statusReply(s, true, directory(40000))
			case q.GetSrc() == aMove().To:
				return statusReply(s, true, directory(50000))
			}
			return nil
		})
		m := client(t, nil, nn).Mover()
		err := m.Rename(t.Context(), aMove(), newCall(t, m))
		if !errors.Is(err, execute.ErrChanged) || errors.Is(err, execute.ErrUnknown) != arrived {
			t.Errorf("arrived %v: %v", arrived, err)
		}
		if n := len(nn.seen("rename2")); n != 1 {
			t.Errorf("arrived %v: sent %d times", arrived, n)
		}
	}
}

// The class decides, also if it comes as a fatal answer.
func TestStandbyThatIsFatal(t *testing.T) {
	t.Parallel()
	a, b := newFakeNN(t, Standby), newFakeNN(t, Active)
	a.on(func(s *seen) *reply {
		h := responseHeader(s, hadoop.RpcResponseHeaderProto_FATAL)
		h.ExceptionClassName, h.ErrorMsg = proto.String(standbyClass), proto.String("x")
		return &reply{raw: framed(h), drop: true}
	})
	nn, err := client(t, nil, a, b).Active(t.Context())
	if err != nil || nn.Address != b.addr() {
		t.Errorf("%v, %v", nn, err)
	}
}

// A frozen NameNode does not keep a read from the one that took over.
func TestFrozenActiveIsLeft(t *testing.T) {
	t.Parallel()
	a, b := newFakeNN(t, Active), newFakeNN(t, Standby)
	c := client(t, func(o *Options) { o.TryTimeout = 2 * time.Second }, a, b)
	if _, err := c.Active(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.on(func(*seen) *reply { return &reply{} })
	b.set(Active)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Stat(ctx, execute.ByID(20000)); err != nil {
		t.Error(err)
	}
	if states := c.NameNodes(t.Context()); states[0].State != Unreachable || states[1].State != Active {
		t.Errorf("states %v", states)
	}
}

// However many connections are idle, a frozen NameNode costs the time of one try.
func TestFrozenWithManyIdleConnections(t *testing.T) {
	t.Parallel()
	const try = 400 * time.Millisecond
	a, b := newFakeNN(t, Active), newFakeNN(t, Standby)
	c := client(t, func(o *Options) { o.TryTimeout = try }, a, b)
	if _, err := c.Active(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := c.nodes[0]
	for range maxIdle - 1 {
		conn, err := connect(t.Context(), c.opts.Dial, n.NameNode, c.auth, c.id, clientProtocol)
		if err != nil {
			t.Fatal(err)
		}
		c.give(n, conn)
	}
	a.on(func(*seen) *reply { return &reply{} })
	b.set(Active)
	began := time.Now()
	if nn, err := c.Active(t.Context()); err != nil || nn.Address != b.addr() {
		t.Errorf("%v, %v", nn, err)
	}
	if d := time.Since(began); d > 4*try {
		t.Errorf("took %v with %d idle connections, one try is %v", d, maxIdle, try)
	}
}

// Servers that are away: bounded, and nothing is unknown.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, func(o *Options) { o.Patience = 300 * time.Millisecond }, nn)
	nn.stop()
	_, err := c.Stat(t.Context(), execute.At("/a"))
	if !errors.Is(err, execute.ErrUnavailable) || !strings.Contains(err.Error(), nn.addr()) {
		t.Errorf("%v", err)
	}
	if s := c.NameNodes(t.Context()); s[0].State != Unreachable || s[0].Err == nil {
		t.Errorf("states %v", s)
	}
}

// NameNodes of Hadoop 2.7 have no msync: a read tells.
func TestWithoutMsync(t *testing.T) {
	t.Parallel()
	old := func(f *fakeNN) {
		f.on(func(s *seen) *reply {
			if s.method == "msync" {
				return failed(s, noMethodClass, "Unknown method msync called on org.apache.hadoop.hdfs.protocol.ClientProtocol protocol.")
			}
			return nil
		})
	}
	a, b := newFakeNN(t, Standby), newFakeNN(t, Active)
	old(a)
	old(b)
	c := client(t, nil, a, b)
	if nn, err := c.Active(t.Context()); err != nil || nn.Address != b.addr() {
		t.Fatalf("%v, %v", nn, err)
	}
	a.set(Active)
	b.set(Standby)
	if err := c.Mover().Mkdirs(t.Context(), "/a", 0o700); err != nil {
		t.Fatal(err)
	}
	if len(a.seen("mkdirs")) != 1 {
		t.Error("the second one was not asked")
	}
}

// Routers answer like NameNodes, and are none.
func TestRouterIsRefused(t *testing.T) {
	t.Parallel()
	root := func(change func(*hadoop.HdfsFileStatusProto)) func(*seen) *reply {
		return func(s *seen) *reply {
			fs := directory(rootID)
			change(fs)
			return statusReply(s, s.method == "getFileLinkInfo", fs)
		}
	}
	for name, answer := range map[string]func(*seen) *reply{
		"root of another id": root(func(fs *hadoop.HdfsFileStatusProto) { fs.FileId = proto.Uint64(0) }),
		"namespace":          root(func(fs *hadoop.HdfsFileStatusProto) { fs.Namespace = proto.String("ns1") }),
		"no root":            func(s *seen) *reply { return statusReply(s, s.method == "getFileLinkInfo", nil) },
		"call that it does not have": func(s *seen) *reply {
			if s.method != "getDataEncryptionKey" {
				return nil
			}
			return failed(s, unsupported, `Operation "getDataEncryptionKey" is not supported`)
		},
	} {
		nn := newFakeNN(t, Active)
		nn.on(answer)
		c := client(t, nil, nn)
		for _, err := range []error{c.Mover().Mkdirs(t.Context(), "/a", 0o700), c.NameNodes(t.Context())[0].Err} {
			if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "Router") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(nn.seen("mkdirs")) > 0 {
			t.Errorf("%s: it was changed", name)
		}
	}
}

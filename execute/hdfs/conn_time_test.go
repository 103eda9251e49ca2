package hdfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
)

// A NameNode that answers nothing hangs nobody.
func TestFrozenNameNode(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	nn.on(func(*seen) *reply { return &reply{} })
	c := client(t, nil, nn)
	for name, do := range map[string]func(context.Context) error{
		"Stat":    func(ctx context.Context) error { _, err := c.Stat(ctx, execute.At("/a")); return err },
		"List":    func(ctx context.Context) error { _, err := c.List(ctx, execute.ByID(20000), nil); return err },
		"Active":  func(ctx context.Context) error { _, err := c.Active(ctx); return err },
		"NewCall": func(ctx context.Context) error { _, err := c.Mover().NewCall(ctx); return err },
		"Mkdirs":  func(ctx context.Context) error { return c.Mover().Mkdirs(ctx, "/a", 0o700) },
		"Resend": func(ctx context.Context) error {
			return c.Mover().Resend(ctx, aMove(), execute.Call{ClientID: [16]byte{1}, CallID: 7})
		},
		"canceled": func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(50*time.Millisecond, cancel)
			_, err := c.Stat(ctx, execute.At("/a"))
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%w: not canceled", err)
			}
			return errors.Join(err, context.DeadlineExceeded)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		err := do(ctx)
		cancel()
		if !errors.Is(err, execute.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, execute.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(began); d > 9*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
}

// Calls end by their own time, too.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	nn.on(func(s *seen) *reply {
		if s.method == "rename2" {
			return &reply{}
		}
		return nil
	})
	c := client(t, func(o *Options) { o.CallTimeout = 2 * time.Second }, nn)
	m := c.Mover()
	if err := m.Rename(t.Context(), aMove(), newCall(t, m)); !errors.Is(err, execute.ErrUnknown) {
		t.Error(err)
	}
}

// A change goes only over a connection that carried a read in the last five seconds.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	now := time.Unix(1_800_000_000, 0)
	c.now = func() time.Time { return now }
	m := c.Mover()
	call := execute.Call{ClientID: [16]byte{1}, CallID: 1}
	var last string
	for _, tc := range []struct {
		idle        time.Duration
		before      string // the call before the rename
		connections int
	}{
		{0, "getDataEncryptionKey", 1},
		{time.Second, "rename2", 1},
		{3 * time.Second, "rename2", 1},
		{2 * time.Second, "msync", 1}, // six seconds after the last question, though it was used
		{5 * time.Second, "msync", 1},
		{29 * time.Second, "msync", 1},
		{31 * time.Second, "msync", 2},
	} {
		now = now.Add(tc.idle)
		if err := m.Resend(t.Context(), aMove(), call); err != nil {
			t.Fatal(err)
		}
		names := nn.methods()
		last = names[len(names)-2]
		if last != tc.before || nn.connections() != tc.connections {
			t.Errorf("after %v: %s before it, %d connections; want %s, %d", tc.idle, last, nn.connections(), tc.before, tc.connections)
		}
	}
}

// A connection that the server closed meanwhile is noticed by the read.
func TestConnectionClosedWhileIdle(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	now := time.Now()
	c.now = func() time.Time { return now }
	m := c.Mover()
	call := newCall(t, m)
	nn.mu.Lock()
	for conn := range nn.open {
		_ = conn.Close()
	}
	nn.mu.Unlock()
	now = now.Add(6 * time.Second)
	if err := m.Rename(t.Context(), aMove(), call); err != nil {
		t.Error(err)
	}
	if n := len(nn.seen("rename2")); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestNewUserAndClose(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, func(o *Options) {
		o.User = ""
		o.LookupEnv = func(k string) (string, bool) { return "bob", k == "HADOOP_USER_NAME" }
	}, nn)
	if _, err := c.Active(t.Context()); err != nil {
		t.Fatal(err)
	}
	if nn.users[0] != "bob" || c.User() != "bob" {
		t.Errorf("user %q", nn.users)
	}
	c.Close()
	if c.nodes[0].pop() != nil {
		t.Error("a connection is left")
	}
}

// A call that ends after Close leaves no connection behind.
func TestCallAfterClose(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	c.Close()
	if _, err := c.Active(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.nodes[0].pop() != nil {
		t.Error("a connection is left")
	}
}

// earlyConn has timers that are faster than those of contexts.
type earlyConn struct{ net.Conn }

func (c earlyConn) SetDeadline(t time.Time) error {
	return c.Conn.SetDeadline(t.Add(-300 * time.Millisecond))
}

// That a deadline has passed is one error, whichever timer notices it.
func TestDeadlineOfConnection(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	nn.on(func(s *seen) *reply {
		if s.method == "rename2" {
			return &reply{}
		}
		return nil
	})
	c := client(t, func(o *Options) {
		o.CallTimeout = 3 * time.Second
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return earlyConn{conn}, err
		}
	}, nn)
	m := c.Mover()
	if err := m.Rename(t.Context(), aMove(), newCall(t, m)); !errors.Is(err, execute.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// A nameservice that the configuration does not have is taken for a host, as Hadoop does.
// Whoever mistyped it should be told.
func TestNameThatIsNeither(t *testing.T) {
	t.Parallel()
	c, err := Open(Options{
		Conf: NewConf(map[string]string{"fs.defaultFS": "hdfs://ns7"}), User: "alice", Patience: time.Millisecond,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "ns7", IsNotFound: true}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Active(t.Context()); !errors.Is(err, execute.ErrUnavailable) || !strings.Contains(err.Error(), "nor does dfs.nameservices") {
		t.Errorf("%v", err)
	}
}

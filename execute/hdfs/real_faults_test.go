package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/hdfstest/rig"
)

// renameUnder has one thing happen to the next rename, which must be told as unknown, at once,
// and then settles it.
func (h *ha) renameUnder(t *testing.T, name string, fault rig.Fault) {
	t.Helper()
	m, call := h.put(t, name), h.newCall(t)
	h.Proxy(h.Active()).HandleNext("rename2", fault)
	err := h.ports.Rename(within(t, callTime), m, call)
	if !errors.Is(err, execute.ErrUnknown) || errors.Is(err, execute.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%s, %+v: %v, want ErrUnknown before the deadline", name, fault, err)
	}
	h.resend(t, m, call)
	// Once more changes nothing.
	if err := h.ports.Resend(within(t, callTime), m, call); err != nil {
		t.Errorf("%s: resend again: %v", name, err)
	}
	// The name that was left can be used, and the repetition leaves it alone.
	h.Admin().Put(t, m.From, h.user, nil)
	again := h.id(t, execute.At(m.From))
	if err := h.ports.Resend(within(t, callTime), m, call); err != nil {
		t.Errorf("%s: resend after the name was used again: %v", name, err)
	}
	if got := h.id(t, execute.At(m.From)); got != again || got == m.ID {
		t.Errorf("%s: inode %d at %s, want %d", name, got, m.From, again)
	}
}

func answerLost(t *testing.T, h *ha) {
	h.renameUnder(t, "f", rig.Fault{Action: rig.DropAnswer})

	// Nothing of it is lost in a failover.
	m, call := h.put(t, "g"), h.newCall(t)
	h.Proxy(h.Active()).HandleNext("rename2", rig.Fault{Action: rig.DropAnswer})
	if err := h.ports.Rename(within(t, callTime), m, call); !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("rename: %v, want ErrUnknown", err)
	}
	h.Failover(t)
	h.resend(t, m, call)

	// The answer to the repetition may get lost too.
	m, call = h.put(t, "h"), h.newCall(t)
	h.Proxy(h.Active()).Handle(func(r rig.Request) rig.Fault {
		if r.Method == "rename2" && r.RetryCount < 2 {
			return rig.Fault{Action: rig.DropAnswer}
		}
		return rig.Fault{}
	})
	if err := h.ports.Rename(within(t, callTime), m, call); !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("rename: %v, want ErrUnknown", err)
	}
	if err := h.ports.Resend(within(t, callTime), m, call); !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("resend: %v, want ErrUnknown", err)
	}
	h.Proxy(h.Active()).Handle(nil)
	h.resend(t, m, call)

	// Another process, with a client id of its own, can settle what the first one left.
	m, call = h.put(t, "i"), h.newCall(t)
	h.Proxy(h.Active()).HandleNext("rename2", rig.Fault{Action: rig.DropAnswer})
	if err := h.ports.Rename(within(t, callTime), m, call); !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("rename: %v, want ErrUnknown", err)
	}
	h.ports = h.As(t, h.user)
	h.resend(t, m, call)
}

func connectionLostAfterRequest(t *testing.T, h *ha) {
	for i := range 10 {
		h.renameUnder(t, fmt.Sprintf("f%d", i), rig.Fault{Action: rig.DropSent})
	}
}

func requestLost(t *testing.T, h *ha) {
	h.renameUnder(t, "f", rig.Fault{Action: rig.Drop})
}

// mkdirsLost needs nobody to send it again.
func mkdirsLost(t *testing.T, h *ha) {
	for i, action := range []rig.Action{rig.Drop, rig.DropSent, rig.DropAnswer} {
		dir := fmt.Sprintf("%s/d%d", h.to, i)
		h.Proxy(h.Active()).HandleNext("mkdirs", rig.Fault{Action: action})
		if err := h.ports.Mkdirs(within(t, callTime), dir+"/e", 0o710); err != nil {
			t.Errorf("%v: %v", action, err)
		}
		for _, path := range []string{dir, dir + "/e"} {
			s, err := h.ports.Stat(within(t, callTime), execute.At(path))
			if err != nil || s.Permission != 0o710 || s.Owner != h.user {
				t.Errorf("%s: %+v, %v", path, s, err)
			}
		}
	}
	// All answers are lost: it may have happened.
	h.Proxy(h.Active()).Handle(func(r rig.Request) rig.Fault {
		if r.Method == "mkdirs" {
			return rig.Fault{Action: rig.DropAnswer}
		}
		return rig.Fault{}
	})
	err := h.ports.Mkdirs(within(t, time.Second), h.to+"/never", 0o700)
	if !errors.Is(err, execute.ErrUnknown) {
		t.Errorf("mkdirs: %v, want ErrUnknown", err)
	}
	h.made = true
}

func requestCut(t *testing.T, h *ha) {
	for _, n := range []int{0, 1, 3, 4, 5, 20, 60, 100} {
		h.renameUnder(t, fmt.Sprintf("f%d", n), rig.Fault{Action: rig.CutRequest, Bytes: n})
	}
}

// renameAnswerCut goes on until the answer is not cut any more.
func renameAnswerCut(t *testing.T, h *ha) {
	const least, most = 20, 400 // a header holds 16 bytes of client id
	for n := range most {
		m, call := h.put(t, fmt.Sprintf("f%d", n)), h.newCall(t)
		h.Proxy(h.Active()).HandleNext("rename2", rig.Fault{Action: rig.CutAnswer, Bytes: n})
		err := h.ports.Rename(within(t, callTime), m, call)
		if err == nil {
			h.moved(t, m)
			if n < least {
				t.Errorf("%d bytes of an answer were taken for all of it", n)
			}
			t.Logf("the answer has %d bytes", n)
			return
		}
		if !errors.Is(err, execute.ErrUnknown) {
			t.Fatalf("answer cut at %d: %v, want ErrUnknown", n, err)
		}
		h.resend(t, m, call)
	}
	t.Errorf("an answer of %d bytes?", most)
}

// readAnswerCut asks once more by itself, and is never told half an answer.
func readAnswerCut(t *testing.T, h *ha) {
	h.Admin().Mkdir(t, h.from+"/d", h.user, 0o711)
	h.Admin().Put(t, h.from+"/d/child", h.user, nil)
	want, err := h.ports.Stat(within(t, callTime), execute.At(h.from+"/d"))
	if err != nil || want.Children != 1 || want.Permission != 0o711 {
		t.Fatalf("stat: %+v, %v", want, err)
	}
	for n := 0; n < 120; n += 9 {
		cut := 0
		h.Proxy(h.Active()).Handle(func(r rig.Request) rig.Fault {
			if r.Method == "msync" || cut > 0 {
				return rig.Fault{}
			}
			cut++
			return rig.Fault{Action: rig.CutAnswer, Bytes: n}
		})
		got, err := h.ports.Stat(within(t, callTime), execute.At(h.from+"/d"))
		if err != nil || got.ID != want.ID || got.Children != 1 || got.Permission != 0o711 {
			t.Errorf("answer cut at %d: %+v, %v", n, got, err)
		}
		if cut != 1 {
			t.Errorf("answer cut at %d: %d calls", n, cut)
		}
	}
}

// idleConnection waits until the NameNode has closed what nobody used.
func idleConnection(t *testing.T, h *ha) {
	for i := range 2 {
		m := h.put(t, fmt.Sprintf("f%d", i))
		call := h.newCall(t)
		p := h.Proxy(h.Active())
		if p.Connections() == 0 {
			t.Fatal("no connection to begin with")
		}
		for range 400 {
			if p.Connections() == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n := p.Connections(); n != 0 {
			t.Fatalf("the NameNode left %d idle connections open", n)
		}
		if err := h.ports.Rename(within(t, callTime), m, call); err != nil {
			t.Fatalf("rename after the connection was closed: %v", err)
		}
		h.moved(t, m)
	}
}

// idleConnectionsLost differs: they were used a moment ago.
func idleConnectionsLost(t *testing.T, h *ha) {
	for i := range 5 {
		m := h.put(t, fmt.Sprintf("f%d", i))
		call := h.newCall(t)
		if h.Proxy(h.Active()).Disconnect() == 0 {
			t.Fatal("no connection to begin with")
		}
		// A look comes first, and finds out.
		if err := h.ports.Rename(within(t, callTime), m, call); err != nil {
			t.Fatalf("rename after the connection was lost: %v", err)
		}
		h.moved(t, m)
	}
}

package hdfs_test

import (
	"errors"
	"testing"

	"fsweep/execute"
	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeRestart has the only NameNode of a cluster end between a rename and its repetition:
// the retry cache comes back from the edits, but not from an image.
func TestNameNodeRestart(t *testing.T) {
	c := rig.Start(t, rig.Options{})
	h := newHA(t, c)
	lose := func(name string) (execute.Move, execute.Call) {
		t.Helper()
		m, call := h.put(t, name), h.newCall(t)
		c.Proxy(0).HandleNext("rename2", rig.Fault{Action: rig.DropAnswer})
		if err := h.ports.Rename(within(t, callTime), m, call); !errors.Is(err, execute.ErrUnknown) {
			t.Fatalf("rename: %v, want ErrUnknown", err)
		}
		return m, call
	}

	m, call := lose("f")
	c.Kill(t, 0)
	c.Restart(t, 0)
	h.resend(t, m, call)
	c.Admin().Put(t, m.From, h.user, nil)
	again := h.id(t, execute.At(m.From))
	if err := h.ports.Resend(within(t, callTime), m, call); err != nil {
		t.Errorf("resend after a restart: %v", err)
	}
	if got := h.id(t, execute.At(m.From)); got != again {
		t.Errorf("%s is inode %d, want %d", m.From, got, again)
	}

	// Nobody remembers this one. It is carried out again, in vain: the inode is there already.
	m, call = lose("g")
	c.SaveNamespace(t)
	c.Kill(t, 0)
	c.Restart(t, 0)
	if err := h.ports.Resend(within(t, callTime), m, call); !errors.Is(err, execute.ErrExists) {
		t.Errorf("resend that the NameNode has forgotten: %v, want ErrExists", err)
	}
	h.moved(t, m)

	// What came to the name that it left is another inode.
	m, call = lose("h")
	c.SaveNamespace(t)
	c.Kill(t, 0)
	c.Restart(t, 0)
	c.Admin().Put(t, m.From, h.user, nil)
	again = h.id(t, execute.At(m.From))
	c.Admin().Rename(t, m.To, m.To+"-elsewhere")
	// Forgotten, and somebody has moved the inode on: now it goes to the target once more, because
	// the id finds it. Nothing else moves.
	if err := h.ports.Resend(within(t, callTime), m, call); err != nil {
		t.Errorf("resend of what was moved on: %v", err)
	}
	if got := h.id(t, execute.At(m.To)); got != m.ID {
		t.Errorf("%s is inode %d, want %d", m.To, got, m.ID)
	}
	if got := h.id(t, execute.At(m.From)); got != again {
		t.Errorf("%s is inode %d, want %d", m.From, got, again)
	}
}

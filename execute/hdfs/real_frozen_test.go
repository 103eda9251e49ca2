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

// whenRenameArrives does something at the moment when a NameNode would get a rename.
func (h *ha) whenRenameArrives(do func(), fault rig.Fault) {
	done := false
	h.Proxy(h.Active()).Handle(func(r rig.Request) rig.Fault {
		if done || r.Method != "rename2" {
			return rig.Fault{}
		}
		done = true
		do()
		return fault
	})
}

// endsBy gives what do returned, and requires that it did so soon after the time that
// it was given.
func endsBy(t *testing.T, limit time.Duration, do func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	err := do(ctx)
	if took := time.Since(began); took > limit+5*time.Second {
		t.Errorf("ended after %v, want %v", took, limit)
	}
	return err
}

// nothingChanged tells whether an error says so and nothing else.
func nothingChanged(err error) bool {
	return (errors.Is(err, execute.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)) && !errors.Is(err, execute.ErrUnknown)
}

func frozenDuringRename(t *testing.T, h *ha) {
	for i := range 3 {
		m, call := h.put(t, fmt.Sprintf("f%d", i)), h.newCall(t)
		active := h.Active()
		h.whenRenameArrives(func() { h.Freeze(t, active) }, rig.Fault{})
		err := endsBy(t, time.Second, func(ctx context.Context) error { return h.ports.Rename(ctx, m, call) })
		if !errors.Is(err, execute.ErrUnknown) {
			t.Fatalf("rename: %v, want ErrUnknown", err)
		}
		// Sent again while it is frozen, nothing is known either.
		err = endsBy(t, time.Second, func(ctx context.Context) error { return h.ports.Resend(ctx, m, call) })
		if err == nil {
			t.Fatal("a frozen NameNode answered")
		}
		h.Thaw(t, active)
		h.resend(t, m, call)
	}

	// If it thaws in time, it is only late.
	m, call := h.put(t, "late"), h.newCall(t)
	active := h.Active()
	h.whenRenameArrives(func() {
		h.Freeze(t, active)
		time.AfterFunc(time.Second, func() { h.Thaw(t, active) })
	}, rig.Fault{})
	if err := h.ports.Rename(within(t, callTime), m, call); err != nil {
		t.Fatalf("late rename: %v", err)
	}
	h.moved(t, m)
}

func frozenBeforeRename(t *testing.T, h *ha) {
	m, call := h.put(t, "f"), h.newCall(t)
	active := h.Active()
	h.Freeze(t, active)
	// The look before the rename is not answered.
	err := endsBy(t, time.Second, func(ctx context.Context) error { return h.ports.Rename(ctx, m, call) })
	if !nothingChanged(err) {
		t.Errorf("rename: %v, want ErrUnavailable or DeadlineExceeded", err)
	}
	err = endsBy(t, time.Second, func(ctx context.Context) error {
		_, err := h.ports.Stat(ctx, execute.ByID(m.ID))
		return err
	})
	if !nothingChanged(err) {
		t.Errorf("stat: %v, want ErrUnavailable or DeadlineExceeded", err)
	}
	h.Thaw(t, active)
	h.notMoved(t, m)
	h.rename(t, m)
}

// frozenThenFailover kills the frozen one, as fencing does, and asks the new one.
func frozenThenFailover(t *testing.T, h *ha) {
	m, call := h.put(t, "f"), h.newCall(t)
	active := h.Active()
	h.whenRenameArrives(func() { h.Freeze(t, active) }, rig.Fault{})
	err := endsBy(t, time.Second, func(ctx context.Context) error { return h.ports.Rename(ctx, m, call) })
	if !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("rename: %v, want ErrUnknown", err)
	}
	h.Failover(t)
	h.resend(t, m, call)
	h.rename(t, h.put(t, "g"))
	h.Restart(t, active)
	h.rename(t, h.put(t, "h"))
}

func killedDuringRename(t *testing.T, h *ha) {
	m, call := h.put(t, "f"), h.newCall(t)
	active := h.Active()
	h.whenRenameArrives(func() { h.Kill(t, active) }, rig.Fault{})
	err := h.ports.Rename(within(t, callTime), m, call)
	if !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("rename: %v, want ErrUnknown", err)
	}
	h.Failover(t)
	h.resend(t, m, call)

	// Killed after it was carried out: the edits lie in the shared directory.
	h.Restart(t, active)
	m, call = h.put(t, "g"), h.newCall(t)
	active = h.Active()
	h.Proxy(active).HandleNext("rename2", rig.Fault{Action: rig.DropAnswer})
	if err := h.ports.Rename(within(t, callTime), m, call); !errors.Is(err, execute.ErrUnknown) {
		t.Fatalf("rename: %v, want ErrUnknown", err)
	}
	h.Kill(t, active)
	h.Failover(t)
	h.resend(t, m, call)
	h.Restart(t, active)
}

func killedNobodyActive(t *testing.T, h *ha) {
	m, call := h.put(t, "f"), h.newCall(t)
	active := h.Active()
	h.Kill(t, active)
	err := endsBy(t, 2*time.Second, func(ctx context.Context) error { return h.ports.Rename(ctx, m, call) })
	if !nothingChanged(err) {
		t.Errorf("rename: %v, want ErrUnavailable", err)
	}
	h.Failover(t)
	h.notMoved(t, m)
	h.rename(t, m)
	h.Restart(t, active)
}

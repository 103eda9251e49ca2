package act

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

// cut is a world of one item in which the process died when the rename of it was on the
// disk of the journal, and not sent.
func cut(t *testing.T, after bool) *world {
	t.Helper()
	w := newWorld(t, fakehdfs.Options{})
	w.items = w.items[:1]
	w.plan.Items = 1
	n := 0
	probe := w.clone()
	probe.watchSends(t, probe.disk, func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && op.ID == w.items[0].InodeID {
			n = op.N
		}
		return fakehdfs.Fault{}
	})
	if _, err := probe.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.crash(n, after)
	if _, err := w.run(context.Background()); err == nil {
		t.Fatal("it did not die")
	}
	return w
}

// TestNotWanted: a rename that the checks forbid now is not asked for again. It is waited
// until no NameNode can be at work on it.
func TestNotWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		age, want time.Duration
	}{{"young", time.Minute, 7*time.Minute + lookGap}, {"old", 20 * time.Minute, lookGap}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := cut(t, false)
			w.keep[w.items[0].InodeID] = "referenced"
			w.fs.Advance(c.age)
			n, begin := len(w.fs.Mutating()), w.fs.Now()
			res, err := w.run(context.Background())
			if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Skipped != 1 {
				t.Errorf("%v, %+v", err, res)
			}
			// The dying process slept for some seconds behind its intent.
			if d := w.fs.Now().Sub(begin); d < c.want-10*time.Second || d > c.want+10*time.Second {
				t.Errorf("settled after %s", d)
			}
			for _, op := range w.fs.Mutating()[n:] {
				if op.ID == w.items[0].InodeID {
					t.Errorf("asked for again: %+v", op)
				}
			}
			if s := w.state(); !strings.HasSuffix(s, " home\n") {
				t.Error(s)
			}
			w.truth(t, w.disk)
		})
	}
}

// TestLockTakenAway: nor is it, if somebody took the lock of the dead process away.
func TestLockTakenAway(t *testing.T) {
	t.Parallel()
	w := cut(t, false)
	holder, err := Holder(context.Background(), w.params(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Unlock(context.Background(), w.params(&disk{}), holder); err != nil {
		t.Fatal(err)
	}
	w.fs.Advance(time.Minute)
	if _, err := w.run(context.Background()); err != nil {
		t.Error(err)
	}
	for _, op := range w.fs.Mutating() {
		if op.Resent {
			t.Errorf("asked for again: %+v", op)
		}
	}
	if s := w.state(); !strings.HasSuffix(s, " trash\n") { // by the new process, with its own call
		t.Error(s)
	}
}

// TestArrivedBefore: what arrived is seen, and nothing is sent.
func TestArrivedBefore(t *testing.T) {
	t.Parallel()
	w := cut(t, true)
	w.fs.RenameCurrent("/user/alice/.Trash")
	n := len(w.fs.Mutating())
	if res, err := w.run(context.Background()); err != nil || res.ExitCode != ExitDone || res.Totals.Done != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	for _, op := range w.fs.Mutating()[n:] {
		if op.ID == w.items[0].InodeID {
			t.Errorf("asked for again: %+v", op)
		}
	}
	w.truth(t, w.disk)
}

// TestGone: an item that is nowhere, so that nobody can tell whether it was moved before.
func TestGone(t *testing.T) {
	t.Parallel()
	w := cut(t, true)
	w.fs.Delete("/user/alice/.Trash/Current")
	res, err := w.run(context.Background())
	if err == nil || res.ExitCode != ExitAnomaly || res.Totals.Unknown != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	if !strings.Contains(string(w.disk.data), `"how":"gone"`) {
		t.Error(w.brief())
	}
}

// TestExecutedInPart: a plan is not begun again after a process with it died, whoever took its lock
// away, and is gone on with by its journal only. Locks of other plans do not matter.
func TestExecutedInPart(t *testing.T) {
	t.Parallel()
	for name, free := range map[string]func(t *testing.T, w *world){
		"unlocked": func(t *testing.T, w *world) {
			holder, err := Holder(context.Background(), w.params(nil))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Unlock(context.Background(), w.params(&disk{}), holder); err != nil {
				t.Fatal(err)
			}
		},
		"resumed, and refused": func(t *testing.T, w *world) {
			p := w.params(w.disk)
			p.Check.(*checker).before = &Refusal{Rule: "held", Text: "held"}
			j, err := w.reopen(w.disk, p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Resume(context.Background(), p, j); err == nil {
				t.Error("it was not refused")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := cut(t, true)
			free(t, w)
			if _, ok := w.fs.Lookup("/locks/LOCK"); ok {
				t.Fatal("the lock is still there")
			}
			n := len(w.fs.Mutating())
			other := *w
			other.disk = &disk{}
			res, err := other.run(context.Background())
			var r *Refusal
			if !errors.As(err, &r) || r.Rule != "executed" || res.ExitCode != ExitRefused || len(w.fs.Mutating()) != n {
				t.Errorf("%v, %+v", err, res)
			}
			other.plan.Digest = sha256.Sum256([]byte("another plan"))
			if _, err := other.run(context.Background()); err != nil {
				t.Errorf("another plan: %v", err)
			}
			if res, err := w.run(context.Background()); err != nil || res.Totals.Done != 1 {
				t.Errorf("resume: %v, %+v", err, res)
			}
		})
	}
}

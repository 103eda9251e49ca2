package act

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// during does something when the world comes to a rename of an item.
func (w *world) during(t *testing.T, nth int, do func()) {
	n := 0
	w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && slices.ContainsFunc(w.items, func(i planfile.Item) bool { return i.InodeID == op.ID }) {
			if op.Move.Context != "64879f7d6b96" {
				t.Errorf("context %q", op.Move.Context)
			}
			if n++; n == nth {
				do()
			}
		}
		return fakehdfs.Fault{}
	})
}

// TestInterrupt: a signal finishes the item, and a resume does the rest.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	w := before.clone()
	ctx, cancel := context.WithCancel(context.Background())
	w.during(t, 2, cancel)
	res, err := w.run(ctx)
	if !errors.Is(err, ErrInterrupted) || res.ExitCode != ExitInterrupted || res.Totals.Done != 2 {
		t.Errorf("%v, exit code %d, %+v", err, res.ExitCode, res.Totals)
	}
	if _, ok := w.fs.Lookup("/locks/LOCK"); ok {
		t.Error("the lock is still there")
	}
	w.fs.Plan(nil)
	if _, err := w.run(context.Background()); err != nil {
		t.Error(err)
	}
	w.same(t, before, wantState)
}

// TestLockLost: a process that wakes up finds its lock gone, or another's in its place, and does
// nothing more.
func TestLockLost(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		w := newWorld(t, fakehdfs.Options{})
		w.during(t, 2, func() {
			p := w.params(&disk{})
			w.fs.Plan(nil)
			holder, err := Holder(context.Background(), p)
			if err != nil {
				t.Error(err)
			}
			if _, err := Unlock(context.Background(), p, holder+"x"); err == nil {
				t.Error("unlocked for another holder")
			}
			if _, err := Unlock(context.Background(), p, holder); err != nil {
				t.Error(err)
			}
			if taken {
				w.fs.Mkdir("/locks/LOCK/bob@host", "bob", 0o755)
			}
		})
		res, err := w.run(context.Background())
		if !errors.Is(err, ErrLockLost) || res.ExitCode != ExitAnomaly || res.Totals.Done != 2 {
			t.Errorf("%v, exit code %d, %+v", err, res.ExitCode, res.Totals)
		}
		if _, ok := w.fs.Lookup("/locks/LOCK/bob@host"); ok != taken {
			t.Errorf("the lock of the other: %t", ok)
		}
	}
}

// TestTwoExecutors: while one moves, another is refused and changes nothing.
func TestTwoExecutors(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	w := before.clone()
	w.during(t, 2, func() {
		n := len(w.fs.Mutating())
		other := *w
		other.disk = &disk{}
		res, err := Run(context.Background(), other.params(other.disk))
		var r *Refusal
		if !errors.As(err, &r) || r.Rule != "locked" || res.ExitCode != ExitRefused || !strings.Contains(err.Error(), "alice@host.4711.") {
			t.Errorf("the other: %v", err)
		}
		if len(w.fs.Mutating()) != n || len(other.disk.data) > 0 {
			t.Error("the other changed something")
		}
	})
	if _, err := w.run(context.Background()); err != nil {
		t.Error(err)
	}
	w.same(t, before, wantState)
}

// TestLockRace: both saw no lock; one takes it between the look and the rename of the other.
func TestLockRace(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	w := before.clone()
	raced := false
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && !raced {
			raced = true
			other := *w
			other.disk = &disk{}
			if _, err := Run(context.Background(), other.params(other.disk)); err != nil {
				t.Errorf("the other: %v", err)
			}
		}
		return fakehdfs.Fault{}
	})
	res, err := w.run(context.Background())
	var r *Refusal
	if !errors.As(err, &r) || r.Rule != "executed" || res.ExitCode != ExitRefused || res.Totals.Done != 0 {
		t.Errorf("%v, %+v", err, res)
	}
	if _, ok := w.fs.Lookup("/locks/LOCK"); ok {
		t.Error("the lock is still there")
	}
	if got := w.state(); got != wantState {
		t.Errorf("items:\n%s", got)
	}
	w.unplanned(t, before)
}

// TestEmptier renames Current before each rename of a run in turn.
func TestEmptier(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	n := operations(t, before, func(w *world) { _, _ = w.run(context.Background()) })
	for i := 1; i <= n; i++ {
		w := before.clone()
		w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
			if op.N == i {
				w.fs.RenameCurrent("/user/alice/.Trash")
			}
			return fakehdfs.Fault{}
		})
		if _, err := w.run(context.Background()); err != nil {
			t.Errorf("Current renamed at operation %d: %v", i, err)
		}
		w.same(t, before, wantState)
		if t.Failed() {
			t.Fatalf("Current renamed at operation %d\n%s", i, w.brief())
		}
	}
}

// TestResend: what was sent and not answered is asked for again with its own ids, once
// more after a crash, and by nobody when NameNodes have forgotten it.
func TestResend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		delay time.Duration
	}{{"soon", time.Minute}, {"late", 9 * time.Minute}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := cut(t, false) // the intent is on the disk, the request never left
			w.fs.Advance(c.delay)
			if _, err := w.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			calls := map[execute.Call]int{}
			var first, again []fakehdfs.Op
			for _, op := range w.fs.Mutating() {
				if op.Call == "rename2" && op.ID == w.items[0].InodeID {
					calls[op.CallID]++
					if op.Resent {
						again = append(again, op)
					} else {
						first = append(first, op)
					}
				}
			}
			resent := c.delay < replayed
			if resent && (len(again) != 1 || len(first) != 1 || again[0].CallID != first[0].CallID || again[0].Move != first[0].Move) {
				t.Errorf("first %+v, again %+v", first, again)
			}
			if !resent && (len(again) != 0 || len(first) != 2 || len(calls) != 2) {
				t.Errorf("first %+v, again %+v", first, again)
			}
			if got := w.state(); got != "\"/data/a/plain\" trash\n" {
				t.Error(got)
			}
			w.truth(t, w.disk)
		})
	}
}

// TestStray: a snapshot holds the item that was deleted and made again in the last
// moment, so that its id leads to the new one.
func TestStray(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{NoSnapshot: true})
	w.fs.AllowSnapshots("/data/a")
	w.fs.Snapshot("/data/a", "s1")
	w.items = w.items[:1]
	w.plan.Items = 1
	var made uint64
	w.during(t, 1, func() {
		w.fs.Delete("/data/a/plain")
		w.fs.Mkdir("/data/a/plain", user, 0o755)
		made = w.id("/data/a/plain")
	})
	res, err := w.run(context.Background())
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly {
		t.Errorf("%v, %+v", err, res)
	}
	if e, ok := w.fs.Lookup("/data/a/plain"); !ok || e.ID != made {
		t.Errorf("the new one is not where it was\n%s", w.brief())
	}
	if n := strings.Count(string(w.disk.data), `"how":"other-inode"`); n != 1 {
		t.Errorf("%d lines about another inode", n)
	}
}

// TestQuarantine: instead of the trash.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.items = w.items[:2]
	w.plan.Items = 2
	w.plan.Header.Removal = planfile.RemovalQuarantine
	w.plan.Header.Quarantine = []planfile.Place{{Path: "/quarantine"}}
	res, err := w.clone().run(context.Background())
	if err != nil || res.Totals.Skipped != 2 { // it is never made
		t.Fatalf("%v, %+v", err, res)
	}
	w.fs.Mkdir("/quarantine", user, 0o700)
	before := w.clone()
	if res, err = w.run(context.Background()); err != nil || res.ExitCode != ExitDone {
		t.Fatalf("%v, %+v", err, res)
	}
	if w.id("/quarantine/data/a/plain") != before.id("/data/a/plain") {
		t.Error("it is not in the quarantine")
	}
	for _, op := range w.fs.Mutating() {
		if op.Move.Trash {
			t.Error("a move to the trash")
		}
	}
	if res, err = w.undo(context.Background(), "/data/a/plain"); err != nil || res.Totals.Done != 1 {
		t.Fatalf("%v, %+v", err, res)
	}
	if w.id("/data/a/plain") != before.id("/data/a/plain") {
		t.Error("it is not back")
	}
}

// TestRehearse: nothing remains but an empty directory, and the next one uses it again.
func TestRehearse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	for range 2 {
		p := w.params(w.disk)
		res, err := Rehearse(context.Background(), p, "/user/alice")
		if err != nil || res.ExitCode != ExitDone {
			t.Fatalf("%v, %+v", err, res)
		}
		if e, ok := w.fs.Lookup("/user/alice/fsweep-rehearsal"); !ok || e.Children != 0 {
			t.Errorf("%+v", e)
		}
	}
	n := len(w.fs.Mutating())
	if n != 6 { // two directories; there and back, twice
		t.Errorf("%d changes", n)
	}
}

// TestWhere tells where an item is, and when it is purged.
func TestWhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{Trash: 24 * time.Hour})
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	name := w.fs.RenameCurrent("/user/alice/.Trash")
	r, err := journal.Open(&file{disk: w.disk})
	if err != nil {
		t.Fatal(err)
	}
	n := len(w.fs.Mutating())
	got, err := Where(context.Background(), w.params(nil), r, "j.jsonl", "/data/a/plain/chk-1/_metadata")
	if err != nil || len(got) != 1 {
		t.Fatal(err, got)
	}
	g := got[0]
	if g.From != "/data/a/plain" || g.State != InTrash || string(g.Path) != name+"/data/a/plain" || g.PurgedUntil.Sub(g.At) != 48*time.Hour {
		t.Errorf("%+v", g)
	}
	if w.id(string(g.Path)) != g.InodeID {
		t.Error("it is not there")
	}
	undone := w.clone()
	if res, err := undone.undo(context.Background(), ""); err != nil {
		t.Fatal(err, res)
	}
	if r, err := journal.Open(&file{disk: undone.undoDisk}); err != nil {
		t.Fatal(err)
	} else if got, err := Where(context.Background(), undone.params(nil), r, "undo.jsonl", "/"); err != nil || len(got) > 0 {
		t.Errorf("an undo moved nothing away: %v, %+v", err, got)
	}
	w.fs.Delete(name)
	if got, err = Where(context.Background(), w.params(nil), r, "j.jsonl", "/data/a"); err != nil || len(got) != 2 || got[0].State != Purged {
		t.Error(err, got)
	}
	if got, err = Where(context.Background(), w.params(nil), r, "j.jsonl", ""); err != nil || len(got) != 6 { // all that was moved
		t.Error(err, got)
	}
	if len(w.fs.Mutating()) != n {
		t.Error("it changed something")
	}
}

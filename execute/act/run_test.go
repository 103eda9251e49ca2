package act

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

const wantState = `"/data/a/plain" trash
"/data/a/taken" trash
"/data/b/below-a-file" trash
"/data/b/kept" home
"/data/c/nnnnnnnnnnnn" trash
"/data/c/two words\n*" trash
"/data/c/foreign" home
"/zone/d/sealed" trash
`

func TestRun(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	w := before.clone()
	w.watchSends(t, w.disk, nil)
	res, err := w.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if res.ExitCode != ExitAnomaly { // foreign was refused
		t.Errorf("exit code %d", res.ExitCode)
	}
	if got := w.state(); got != wantState {
		t.Errorf("items:\n%s", got)
	}
	tt := res.Totals
	if tt.Planned != 8 || tt.Done != 6 || tt.Skipped != 1 || tt.Failed != 1 || tt.Inodes != 30 {
		t.Errorf("totals %+v", tt)
	}
	w.unplanned(t, before)
	w.nothingOverwritten(t, before)
	w.truth(t, w.disk)
	if _, ok := w.fs.Lookup("/locks/LOCK"); ok {
		t.Error("the lock is still there")
	}
	if _, ok := w.fs.Lookup("/locks/done/" + strings.TrimPrefix(w.plan.Digest.String(), "sha256:")); !ok {
		t.Error("no mark that the plan was executed")
	}
	// Places in the trash, by hand.
	for p, item := range map[string]string{
		"/user/alice/.Trash/Current/data/a/plain":  "/data/a/plain",
		"/zone/.Trash/alice/Current/zone/d/sealed": "/zone/d/sealed",
	} {
		e, ok := w.fs.Lookup(p)
		if b, _ := before.fs.Lookup(item); !ok || b.ID != e.ID {
			t.Errorf("%q is not at %q", item, p)
		}
	}
	// A second run of the plan is refused, and changes nothing.
	n := len(w.fs.Mutating())
	w.disk = &disk{}
	res, err = w.run(context.Background())
	var r *Refusal
	if !errors.As(err, &r) || r.Rule != "executed" || res.ExitCode != ExitRefused || len(w.fs.Mutating()) != n {
		t.Errorf("second run: %v, exit code %d", err, res.ExitCode)
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	w := before.clone()
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.fs.RenameCurrent("/user/alice/.Trash")
	w.watchSends(t, w.undoDisk, nil)
	res, err := w.undo(context.Background(), "")
	if err != nil || res.ExitCode != ExitDone {
		t.Fatal(err, res.ExitCode)
	}
	if got := w.state(); strings.Count(got, " home\n") != 8 {
		t.Errorf("items:\n%s", got)
	}
	w.unplanned(t, before)
	w.nothingOverwritten(t, before)
}

// TestBelt: what earlier runs moved in the present trash interval counts, with what this one did.
func TestBelt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spent, limit, done int64 }{
		{0, 0, 6}, {1 << 40, 0, 6}, // no belt
		{0, 30, 6}, {0, 29, 5}, {20, 30, 2}, {21, 30, 1}, {25, 30, 1}, {26, 30, 0}, {math.MaxInt64, 30, 0},
	} {
		w := newWorld(t, fakehdfs.Options{Trash: 36 * time.Hour})
		w.plan.Header.Belts.MaxInodes = c.limit // items have 5
		p := w.params(w.disk)
		began := w.fs.Now()
		p.Spent = func(since time.Time) (int64, error) {
			if d := since.Sub(began.Add(-36 * time.Hour)); d < 0 || d > time.Minute {
				t.Errorf("since %s", since)
			}
			return c.spent, nil
		}
		res, err := Run(context.Background(), p)
		if err != nil || res.Totals.Done != c.done || strings.Count(string(w.disk.data), `"belt-trash-interval"`) != int(6-c.done)+min(1, int(6-c.done)) {
			t.Errorf("%+v: %v, %+v\n%s", c, err, res, w.brief())
		}
	}
	w := newWorld(t, fakehdfs.Options{})
	p := w.params(w.disk)
	p.Spent = func(time.Time) (int64, error) { return 0, refuse("journals", "a journal cannot be read") }
	res, err := Run(context.Background(), p)
	if res.ExitCode != ExitRefused || len(w.fs.Mutating()) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestLockTaken: somebody takes the lock between the look and the rename, and keeps it.
func TestLockTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	raced := false
	w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && !raced {
			raced = true
			w.fs.Mkdir("/locks/LOCK/bob@host", "bob", 0o755)
		}
		return fakehdfs.Fault{}
	})
	res, err := w.run(context.Background())
	var r *Refusal
	if !errors.As(err, &r) || r.Rule != "locked" || !strings.Contains(r.Text, "bob@host") || res.ExitCode != ExitRefused || res.Totals.Done != 0 {
		t.Errorf("%v, %+v", err, res)
	}
	if _, ok := w.fs.Lookup("/locks/LOCK/bob@host"); !ok || strings.Count(w.state(), " home\n") != 8 {
		t.Error(w.state())
	}
	w.truth(t, w.disk)
}

// TestAttempted: a plan of which a move was asked for counts as carried out, though it was refused.
func TestAttempted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.items, w.plan.Items = w.items[6:], 2 // what belongs to another, first
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.during(t, 1, cancel)
	if res, err := w.run(ctx); !errors.Is(err, ErrInterrupted) || res.ExitCode != ExitAnomaly || res.Totals.Failed != 1 || res.Totals.Done != 0 {
		t.Errorf("%v, %+v", err, res)
	}
	if _, ok := w.fs.Lookup("/locks/done/" + strings.TrimPrefix(w.plan.Digest.String(), "sha256:")); !ok {
		t.Error("no mark that the plan was executed")
	}
}

// TestItemsEnd: a plan that cannot be read to its end is no plan that was carried out: what was not
// come to is not known, and nothing says that all was done.
func TestItemsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.items = w.items[:2]
	w.referred = []uint64{w.items[1].InodeID}
	p := w.params(w.disk)
	cut := errors.New("the plan has become shorter")
	p.Check.(*checker).failed = cut
	res, err := Run(context.Background(), p)
	if !errors.Is(err, cut) || res.ExitCode != ExitAnomaly || res.Totals.Planned != 8 || res.Totals.Done != 1 || res.Totals.Undone != 1 { // the guards were looked at
		t.Errorf("%v, %+v", err, res)
	}
	w.truth(t, w.disk)
}

// TestLockLostAtTheEnd: a lock that was taken away is not given back, and nothing is asked for.
func TestLockLostAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.items, w.plan.Items = w.items[:1], 1
	w.during(t, 1, func() {
		w.fs.Plan(nil)
		holder, err := Holder(context.Background(), w.params(nil))
		if err != nil {
			t.Error(err)
		}
		if _, err := Unlock(context.Background(), w.params(&disk{}), holder); err != nil {
			t.Error(err)
		}
	})
	res, err := w.run(context.Background())
	if !errors.Is(err, ErrLockLost) || res.ExitCode != ExitAnomaly || res.Totals.Done != 1 || strings.Contains(string(w.disk.data), `"purpose":"unlock"`) {
		t.Errorf("%v, %+v\n%s", err, res, w.brief())
	}
}

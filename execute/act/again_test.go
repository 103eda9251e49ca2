package act

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

// stopped is a world of two items in which a run was interrupted behind the first.
func stopped(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, fakehdfs.Options{})
	w.items, w.plan.Items = w.items[:2], 2
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.during(t, 1, cancel)
	if res, err := w.run(ctx); !errors.Is(err, ErrInterrupted) || res.Totals.Done != 1 {
		t.Fatal(err, res)
	}
	w.fs.Plan(nil)
	return w
}

// TestResumeLeavesOthersLock: a resume takes over the lock of its own journal, and of nobody else.
func TestResumeLeavesOthersLock(t *testing.T) {
	t.Parallel()
	w := stopped(t)
	w.fs.Mkdir("/locks/LOCK/bob@host", "bob", 0o755)
	n := len(w.fs.Mutating())
	_, err := w.run(context.Background())
	var r *Refusal
	if _, ok := w.fs.Lookup("/locks/LOCK/bob@host"); !ok || !errors.As(err, &r) || r.Rule != "locked" || len(w.fs.Mutating()) != n {
		t.Errorf("%v, %d changes", err, len(w.fs.Mutating())-n)
	}
}

// TestResumeBelt: what other runs moved counts in a resume, too.
func TestResumeBelt(t *testing.T) {
	t.Parallel()
	for spent, done := range map[int64]int64{5: 2, 6: 1} {
		w := stopped(t)
		w.plan.Header.Belts.MaxInodes = 10
		p := w.params(w.disk)
		p.Spent = func(time.Time) (int64, error) { return spent, nil }
		j, err := w.reopen(w.disk, p)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := Resume(context.Background(), p, j); err != nil || res.Totals.Done != done {
			t.Errorf("%d: %v, %+v", spent, err, res)
		}
	}
}

// TestResumeStray: what an earlier process moved by mistake is moved back, and the run ends.
func TestResumeStray(t *testing.T) {
	t.Parallel()
	w := astray(t)
	if _, ok := w.fs.Lookup("/data/a/plain"); ok {
		t.Fatal("nothing was moved by mistake")
	}
	res, err := w.run(context.Background())
	var a *Anomaly
	if _, ok := w.fs.Lookup("/data/a/plain"); !ok || !errors.As(err, &a) || res.ExitCode != ExitAnomaly {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestResendThatIsNone: a NameNode answers success to what is asked for again, and nothing is moved: it knew
// the call, and nobody knows what became of it.
func TestResendThatIsNone(t *testing.T) {
	t.Parallel()
	w := cut(t, false)
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Resent {
			return fakehdfs.Fault{Kind: fakehdfs.Pretend}
		}
		return fakehdfs.Fault{}
	})
	res, err := w.run(context.Background())
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly || res.Totals.Unknown != 1 || !strings.Contains(string(w.disk.data), `"how":"gone"`) {
		t.Errorf("%v, %+v\n%s", err, res, w.brief())
	}
}

// TestSettledIsRemembered: what a resume finds to have arrived comes back if something refers to it.
func TestSettledIsRemembered(t *testing.T) {
	t.Parallel()
	w := cut(t, true)
	w.referred = []uint64{w.items[0].InodeID}
	res, err := w.run(context.Background())
	if err == nil || res.Totals.Undone != 1 || w.id("/data/a/plain") != w.items[0].InodeID {
		t.Errorf("%v, %+v\n%s", err, res, w.brief())
	}
}

// TestUndoStops: an undo stops between two items at a signal, and when its lock is gone.
func TestUndoStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop func(w *world, cancel func())
		want error
		code int
	}{
		{func(_ *world, cancel func()) { cancel() }, ErrInterrupted, ExitInterrupted},
		{func(w *world, _ func()) { w.fs.Rename("/locks/LOCK", "/locks/taken-away") }, ErrLockLost, ExitAnomaly},
	} {
		w := newWorld(t, fakehdfs.Options{})
		if _, err := w.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		n := 0
		w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
			if op.Call == "rename2" && !strings.HasPrefix(op.Move.To, "/locks/") {
				if n++; n == 1 {
					c.stop(w, cancel)
				}
			}
			return fakehdfs.Fault{}
		})
		res, err := w.undo(ctx, "")
		if !errors.Is(err, c.want) || res.ExitCode != c.code || res.Totals.Done != 1 || n != 1 {
			t.Errorf("%v, %+v, %d renames", err, res, n)
		}
	}
}

// TestUndoNothing: a path of which nothing was moved is a mistake, and said.
func TestUndoNothing(t *testing.T) {
	t.Parallel()
	w := stopped(t)
	res, err := w.undo(context.Background(), "/data/a/other")
	var r *Refusal
	if !errors.As(err, &r) || r.Rule != "nothing" || res.ExitCode != ExitRefused {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestRehearsalThatFails: what does not come back is an anomaly.
func TestRehearsalThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.timeout = 5 * time.Second
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && op.Move.To == "/user/alice/"+rehearsal {
			return fakehdfs.Fault{Kind: fakehdfs.NameTaken}
		}
		return fakehdfs.Fault{}
	})
	res, err := Rehearse(context.Background(), w.params(w.disk), "/user/alice")
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly {
		t.Errorf("%v, %+v", err, res)
	}
	w.fs.Plan(nil)
	w.fs.Delete("/user/alice/" + rehearsal)
	w.fs.Put("/user/alice/"+rehearsal, user, nil)
	var r *Refusal
	if _, err := Rehearse(context.Background(), w.params(&disk{}), "/user/alice"); !errors.As(err, &r) || r.Rule != "not-empty" {
		t.Errorf("a file: %v", err)
	}
}

// TestLostDirectory: the answer to mkdirs is lost, and the next is a refusal: whether it was made is not known.
func TestLostDirectory(t *testing.T) {
	t.Parallel()
	w := single(t)
	w.fs.Delete("/user/alice/.Trash")
	n := 0
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call != "mkdirs" || strings.HasPrefix(op.Path, "/locks") {
			return fakehdfs.Fault{}
		}
		if n++; n == 1 {
			return fakehdfs.Fault{Kind: fakehdfs.Lost, After: true}
		}
		return fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Permission()}
	})
	res, err := w.run(context.Background())
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly || !strings.Contains(string(w.disk.data), `"type":"unknown"`) || strings.Contains(string(w.disk.data), `"type":"failed"`) {
		t.Errorf("%v, %+v, asked for %d times\n%s", err, res, n, w.brief())
	}
}

// TestLockRemains: a lock that cannot be given back is an anomaly, also where the run only stopped.
func TestLockRemains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && op.ID == w.items[0].InodeID {
			cancel()
		}
		if ctx.Err() != nil && op.Path == "/locks/LOCK" {
			return fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Permission()}
		}
		return fakehdfs.Fault{}
	})
	res, err := w.run(ctx)
	if _, ok := w.fs.Lookup("/locks/LOCK"); !ok || !errors.Is(err, ErrInterrupted) || res.ExitCode != ExitAnomaly {
		t.Errorf("the lock is there: %t; %v, %+v", ok, err, res)
	}
}

package act

import (
	"context"
	"errors"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// TestInterruptedBefore: a signal that comes before anything is changed is an interruption at
// whatever question, and no failure.
func TestInterruptedBefore(t *testing.T) {
	t.Parallel()
	fresh := newWorld(t, fakehdfs.Options{})
	stopped := fresh.clone()
	ctx, cancel := context.WithCancel(context.Background())
	stopped.during(t, 2, cancel)
	if _, err := stopped.run(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	stopped.fs.Plan(nil)
	locked := fresh.clone()
	locked.fs.Mkdir("/locks/LOCK/bob@host", "bob", 0o755)
	for name, c := range map[string]struct {
		world *world
		do    func(ctx context.Context, w *world) (*Result, error)
		disk  func(w *world) *disk
	}{
		"run":    {fresh, func(ctx context.Context, w *world) (*Result, error) { return w.run(ctx) }, func(w *world) *disk { return w.disk }},
		"resume": {stopped, func(ctx context.Context, w *world) (*Result, error) { return w.run(ctx) }, func(w *world) *disk { return w.disk }},
		"undo":   {stopped, func(ctx context.Context, w *world) (*Result, error) { return w.undo(ctx, "") }, func(w *world) *disk { return w.undoDisk }},
		"rehearse": {fresh, func(ctx context.Context, w *world) (*Result, error) {
			return Rehearse(ctx, w.params(w.disk), "/user/alice")
		}, func(w *world) *disk { return w.disk }},
		"unlock": {locked, func(ctx context.Context, w *world) (*Result, error) {
			return Unlock(ctx, w.params(w.disk), "bob@host")
		}, func(w *world) *disk { return w.disk }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, n := 1, 0; ; i++ {
				w := c.world.clone()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				begun, late := len(c.disk(w).data), false
				w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
					if n++; n == i {
						late = len(c.disk(w).data) > begun || op.Port == "write"
						return fakehdfs.Fault{Do: func(*fakehdfs.FS) { cancel() }}
					}
					return fakehdfs.Fault{}
				})
				n = 0
				res, err := c.do(ctx, w)
				if late {
					if i < 3 {
						t.Errorf("only %d questions", i)
					}
					return
				}
				if n < i {
					t.Fatalf("no operation %d", i)
				}
				if !errors.Is(err, ErrInterrupted) || res.ExitCode != ExitInterrupted || len(w.fs.Mutating()) > 0 || len(c.disk(w).data) != begun {
					t.Fatalf("operation %d: %v, %+v, %d changes, %d bytes of a journal", i, err, res, len(w.fs.Mutating()), len(c.disk(w).data)-begun)
				}
			}
		})
	}
}

// TestInterruptedResume: a resume that is interrupted while it looks at the conditions is no failure
// either, whatever there is to be settled.
func TestInterruptedResume(t *testing.T) {
	t.Parallel()
	w := cut(t, false)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := w.params(w.disk)
	p.Check = &stopper{checker{w: w, c: w.fs.Client(user)}, cancel}
	j, err := w.reopen(w.disk, p)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Resume(ctx, p, j)
	if !errors.Is(err, ErrInterrupted) || res.ExitCode != ExitInterrupted || res.Totals != (journal.Totals{Planned: 1}) {
		t.Errorf("%v, %+v", err, res)
	}
	w.truth(t, w.disk)
}

// stopper is interrupted in its first look.
type stopper struct {
	checker
	cancel func()
}

func (s *stopper) Preflight(ctx context.Context) error {
	s.cancel()
	return ctx.Err()
}

// TestInterruptedAmongKept: a signal is seen before the next item also where nothing is moved.
func TestInterruptedAmongKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := w.params(w.disk)
	w.changed = true
	p.Check.(*checker).again = func(*planfile.Item) { cancel() }
	res, err := Run(ctx, p)
	if !errors.Is(err, ErrInterrupted) || res.ExitCode != ExitInterrupted || res.Totals.Skipped != 1 {
		t.Errorf("%v, %+v", err, res)
	}
}

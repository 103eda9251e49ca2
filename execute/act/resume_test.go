package act

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fsweep/execute/fakehdfs"
)

// begun is a world in which a run was interrupted behind its second item.
func begun(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, fakehdfs.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	w.during(t, 2, cancel)
	if _, err := w.run(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	w.fs.Plan(nil)
	return w
}

// TestResumeRefused: a resume that a rule forbids is refused as a run is, whatever was moved
// before, and what was moved is no reason to say that something failed. Later it goes on.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	before := begun(t)
	w := before.clone()
	p := w.params(w.disk)
	p.Check.(*checker).before = &Refusal{Rule: "held", Text: "a hold"}
	j, err := w.reopen(w.disk, p)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Resume(context.Background(), p, j)
	var r *Refusal
	if !errors.As(err, &r) || r.Rule != "held" || res.ExitCode != ExitRefused || res.Totals.Done != 2 {
		t.Errorf("%v, %+v", err, res)
	}
	if !strings.Contains(w.brief(), `"type":"end"`) || !strings.Contains(w.brief(), `"exit_code":3`) {
		t.Errorf("%s", w.brief())
	}
	if n := len(w.fs.Mutating()); n > 0 {
		t.Errorf("%d changes", n)
	}
	w.until(t)
	w.same(t, before, wantState)
}

// TestRefusedAtLast: what a process moved itself is no refusal any more, if then something
// is not as it must be.
func TestRefusedAtLast(t *testing.T) {
	t.Parallel()
	w := begun(t)
	w.during(t, 2, func() { w.fs.Rename("/locks", "/l2") })
	p := w.params(w.disk)
	j, err := w.reopen(w.disk, p)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := Resume(context.Background(), p, j); err == nil || res.ExitCode != ExitAnomaly {
		t.Errorf("%v, %+v", err, res)
	}
	w.truth(t, w.disk)
}

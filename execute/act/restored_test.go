package act

import (
	"context"
	"errors"
	"slices"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
)

// TestResumeAfterUndo: what a run moved and an undo brought back stays where it is when the run is resumed,
// is no moved item for the checks, and is told.
func TestResumeAfterUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.items, w.plan.Items = w.items[:3], 3
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.during(t, 2, cancel)
	if _, err := w.run(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	w.fs.Plan(nil)
	if res, err := w.undo(context.Background(), w.items[0].Path); err != nil || res.Totals.Done != 1 {
		t.Fatal(err, res)
	}
	w.back = true
	p := w.params(w.disk)
	j, err := w.reopen(w.disk, p)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Check.(*checker)
	c.moves = map[uint64]bool{}
	for _, i := range w.items {
		c.moves[i.InodeID] = j.State().Outcome(i.InodeID) == journal.OutcomeDone
	}
	var told []Event
	p.Watch = func(e Event) {
		if e.Kind == ItemSkipped {
			told = append(told, e)
		}
	}
	res, err := Resume(context.Background(), p, j)
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Done != 3 {
		t.Errorf("%v, %+v", err, res)
	}
	if len(told) != 1 || told[0].Path != w.items[0].Path || told[0].Rule != "restored" {
		t.Errorf("%+v", told)
	}
	if want := []uint64{w.items[1].InodeID, w.items[2].InodeID}; !slices.Equal(c.moved, want) {
		t.Errorf("moved for the checks: %d, want %d", c.moved, want)
	}
	if w.id("/data/a/plain") != w.items[0].InodeID {
		t.Error("it was moved again")
	}
}

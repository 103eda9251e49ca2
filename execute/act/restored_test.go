package act

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

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

// TestStaysIsTold: the checks are told of every item that is not moved, whatever the reason: of those that
// they keep, that fail, that have no place, that are held by a belt, that changed at last.
func TestStaysIsTold(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"usual":    func(*world) {},
		"belt":     func(w *world) { w.plan.Header.Belts.MaxInodes = 7 },
		"no place": func(w *world) { w.fs.Rename("/user/alice", "/user/gone") },
		"changed":  func(w *world) { w.changed = true },
		"too old":  func(w *world) { w.age = time.Hour },
		"changed at last": func(w *world) {
			w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
				if op.Call == "rename2" && op.ID == w.items[0].InodeID {
					return fakehdfs.Fault{Kind: fakehdfs.Swapped}
				}
				return fakehdfs.Fault{}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakehdfs.Options{})
			w.items, w.plan.Items = w.items[:7], 7 // without the zone
			change(w)
			p := w.params(w.disk)
			res, err := Run(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			var want []uint64
			for _, i := range w.items {
				if !slices.Contains(p.Check.(*checker).moved, i.InodeID) {
					want = append(want, i.InodeID)
				}
			}
			if got := p.Check.(*checker).stays; !slices.Equal(got, want) || len(want) < 2 && name != "changed at last" || int64(len(want)) != res.Totals.Skipped+res.Totals.Failed {
				t.Errorf("told of %d, want %d, %+v", got, want, res)
			}
		})
	}
}

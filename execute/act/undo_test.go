package act

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// restored undoes until nothing is left to be done. An undo that died has its lock
// taken away by a person, and another one is begun.
func (w *world) restored(t *testing.T) {
	t.Helper()
	var err error
	for range 5 {
		if holder, e := Holder(context.Background(), w.params(w.undoDisk)); e == nil && holder != "" {
			if _, e := Unlock(context.Background(), w.params(w.other()), holder); e != nil {
				t.Errorf("unlock: %v", e)
			}
		}
		if _, err = w.undo(context.Background(), ""); err == nil {
			return
		}
		w.fs.Failover()
	}
	t.Errorf("it does not come to an end: %v", err)
}

// undoes are what is undone: scenes, by journal and by plan.
func undoes(t *testing.T) []scene {
	t.Helper()
	var all []scene
	for _, s := range scenes() {
		origin := s.world(t)
		before := origin.clone()
		_, _ = before.run(context.Background())
		before.fs.RenameCurrent("/user/alice/.Trash")
		before.origin = origin
		byPlan := before.clone()
		byPlan.byPlan = true
		all = append(all,
			scene{name: s.name, world: func(*testing.T) *world { return before.clone() }},
			scene{name: s.name + " by plan", world: func(*testing.T) *world { return byPlan.clone() }},
		)
	}
	return all
}

// home demands that an undo has restored everything.
func (w *world) home(t *testing.T) {
	t.Helper()
	if got := w.state(); strings.Count(got, " home\n") != len(w.items) {
		t.Errorf("items:\n%s", got)
	}
	w.unplanned(t, w.origin)
	w.nothingOverwritten(t, w.origin)
	w.truth(t, w.undoDisk)
	if e, ok := w.fs.Lookup("/locks/LOCK"); ok {
		t.Errorf("the lock is still there: %d", e.ID)
	}
}

// TestUndoCrash: whenever an undo dies, or its machine loses power, another one restores the rest.
func TestUndoCrash(t *testing.T) {
	t.Parallel()
	for k, s := range undoes(t) {
		before := s.world(t)
		n := operations(t, before, func(w *world) { w.restored(t) })
		step := every{first: 1, short: 11, others: min(1+k, 5), othersShort: 23}.of(k)
		for _, after := range moments {
			t.Run(fmt.Sprintf("%s after=%t", s.name, after), func(t *testing.T) {
				t.Parallel()
				before := before.clone()
				for i := 1 + k%step; i <= n && !t.Failed(); i += step {
					w := before.clone()
					w.crash(i, after)
					w.watchSends(t, w.undoDisk, nil)
					_, _ = w.undo(context.Background(), "")
					w.fs.Plan(nil)
					all := w.undoDisk.left()
					w.undoDisk.data = all[i%len(all)]
					w.restored(t)
					w.home(t)
					if t.Failed() {
						t.Logf("crash at operation %d\n%s", i, w.undoDisk.data)
					}
				}
			})
		}
	}
}

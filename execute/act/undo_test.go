package act

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsweep/execute/fakehdfs"
)

// restored undoes until nothing is left to be done. An undo that died has its lock
// taken away by a person, and another one is begun.
func (w *world) restored(t *testing.T) {
	t.Helper()
	var err error
	for range 5 {
		if holder, e := Holder(context.Background(), w.params(w.undoDisk)); e == nil && holder != "" {
			p := w.params(&disk{})
			if _, e := Unlock(context.Background(), p, holder); e != nil {
				t.Errorf("unlock: %v", e)
			}
		}
		if _, err = w.undo(context.Background(), ""); err == nil {
			return
		}
	}
	t.Errorf("it does not come to an end: %v", err)
}

// TestUndoCrash: whenever an undo dies, another one restores the rest.
func TestUndoCrash(t *testing.T) {
	t.Parallel()
	origin := newWorld(t, fakehdfs.Options{})
	before := origin.clone()
	if _, err := before.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	before.fs.RenameCurrent("/user/alice/.Trash")
	n := operations(t, before, func(w *world) { w.restored(t) })
	step := 1
	if testing.Short() {
		step = 11
	}
	for _, after := range moments {
		t.Run(fmt.Sprintf("after=%t", after), func(t *testing.T) {
			t.Parallel()
			before := before.clone()
			for i := 1; i <= n && !t.Failed(); i += step {
				w := before.clone()
				w.crash(i, after)
				w.watchSends(t, w.undoDisk, nil)
				_, _ = w.undo(context.Background(), "")
				w.fs.Plan(nil)
				w.restored(t)
				if got := w.state(); strings.Count(got, " home\n") != len(w.items) {
					t.Errorf("crash at operation %d, items:\n%s", i, got)
				}
				w.unplanned(t, origin)
				w.nothingOverwritten(t, origin)
			}
		})
	}
}

package plan

import (
	"bytes"
	"testing"
)

// TestRandom compares plans of many trees with what a person would work out.
func TestRandom(t *testing.T) {
	t.Parallel()
	items, swept := 0, 0
	randomWorlds(t, 150, func(t *testing.T, w *world, again func() *world) {
		m := w.write(t, 2)
		n := newNaive(w.it)
		n.check(t, m)
		n.checkNever(t, w, m)
		items += len(m.plan.items)
		for _, s := range m.Sweeps {
			swept += int(s.Planned.Files + s.Deferred.Files)
		}
		for _, workers := range []int{1, 3, 4} {
			w := again()
			if workers > 1 {
				w.sortLimit, w.tempDir = 1, t.TempDir() // everything goes to disk
			}
			if o := w.write(t, workers); !bytes.Equal(o.bytes, m.bytes) {
				t.Errorf("other bytes with %d workers", workers)
			}
		}
	})
	t.Log(items, "items", swept, "files of sweeps")
	if !testing.Short() && (items < 1000 || swept < 300) {
		t.Error("too few")
	}
}

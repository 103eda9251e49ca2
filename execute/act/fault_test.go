package act

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

// TestFaults puts each fault at each operation of a run. Whatever happens, a rename is
// sent only with an intent on the disk, nothing but items and locks is renamed, nothing is
// overwritten, and the journal is true.
func TestFaults(t *testing.T) {
	t.Parallel()
	before := busy(t)
	n := operations(t, before, func(w *world) { w.until(t) })
	step := 5
	if testing.Short() {
		step = 31
	}
	for k, fault := range fakehdfs.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			before, step := before.clone(), step
			before.timeout = 5 * time.Second
			if fault.Kind == fakehdfs.Frozen {
				before.timeout, step = 20*time.Millisecond, step*3
			}
			for i := 1 + k%step; i <= n && !t.Failed(); i += step {
				w := before.clone()
				w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
					if op.N == i {
						return fault.Fault
					}
					return fakehdfs.Fault{}
				})
				for range 4 {
					if _, err := w.run(context.Background()); err == nil {
						break
					}
					w.fs.Advance(time.Minute)
				}
				w.onlyPlanned(t, before)
				w.nothingOverwritten(t, before)
				w.truth(t, w.disk)
				if t.Failed() {
					t.Logf("%s at operation %d\n%s", fault.Name, i, w.brief())
				}
			}
		})
	}
}

// onlyPlanned demands that no rename but of items and locks had an effect.
func (w *world) onlyPlanned(t *testing.T, before *world) {
	t.Helper()
	for _, op := range w.fs.Mutating() {
		if op.Call != "rename2" || strings.HasPrefix(op.Move.From, "/locks/") {
			continue
		}
		if !slices.ContainsFunc(before.items, func(i planfile.Item) bool { return i.InodeID == op.ID }) {
			t.Errorf("operation %d asks to move inode %d, %q, which is no item", op.N, op.ID, op.Move.From)
		}
		if before.keep[op.ID] != "" {
			t.Errorf("operation %d asks to move %q, which is kept", op.N, op.Move.From)
		}
	}
}

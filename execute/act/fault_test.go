package act

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

// faulty is a fault, and whether what comes after it must end as if it had not been.
type faulty struct {
	fakehdfs.Named
	harmless bool
}

// faults gives those of the fake, and some that come together. Harmful is what somebody else
// does to the namespace meanwhile, and an answer that is not true.
func faults() []faulty {
	all := append(fakehdfs.Faults(),
		fakehdfs.Named{Name: "failover and lost", Fault: fakehdfs.Fault{Kind: fakehdfs.Lost, After: true, Do: (*fakehdfs.FS).Failover}},
		fakehdfs.Named{Name: "nobody is ACTIVE before", Fault: fakehdfs.Fault{Do: (*fakehdfs.FS).AllStandby}},
		fakehdfs.Named{Name: "nobody is ACTIVE after", Fault: fakehdfs.Fault{Kind: fakehdfs.Lost, After: true, Do: (*fakehdfs.FS).AllStandby}},
		fakehdfs.Named{Name: "lost, and the emptier", Fault: fakehdfs.Fault{Kind: fakehdfs.Lost, After: true, Do: func(f *fakehdfs.FS) { f.RenameCurrent("/user/alice/.Trash") }}},
	)
	var out []faulty
	for _, f := range all {
		out = append(out, faulty{f, f.Kind != fakehdfs.Pretend && f.Kind != fakehdfs.NameTaken && f.Kind != fakehdfs.ParentGone && f.Kind != fakehdfs.Swapped})
	}
	return out
}

// sweep puts each fault at operations of what before does, every step-th.
func sweep(t *testing.T, name string, before *world, n, step int, do func(t *testing.T, w *world, f faulty)) {
	t.Helper()
	for k, fault := range faults() {
		if fault.Kind == fakehdfs.Late {
			fault.harmless = !before.forgetful
		}
		t.Run(name+" "+fault.Name, func(t *testing.T) {
			t.Parallel()
			before, step := before.clone(), step
			before.timeout = 5 * time.Second
			if fault.Kind == fakehdfs.Frozen {
				before.timeout, step = 20*time.Millisecond, step*3
			}
			for i := 1 + k%step; i <= n && !t.Failed(); i += step {
				w := before.clone()
				w.fault = func(op fakehdfs.Op) fakehdfs.Fault {
					if op.N == i {
						return fault.Fault
					}
					return fakehdfs.Fault{}
				}
				do(t, w, fault)
				if t.Failed() {
					t.Logf("%s at operation %d\n%s\n%s", fault.Name, i, w.brief(), w.undoDisk.data)
				}
			}
		})
	}
}

// TestFaults puts each fault at operations of a run, at others for each fault. Whatever happens, a rename is
// sent only with an intent on the disk, nothing but items and locks is renamed, nothing is
// overwritten, and the journal is true.
func TestFaults(t *testing.T) {
	t.Parallel()
	for k, s := range scenes() {
		before := s.world(t)
		n := operations(t, before, func(w *world) { w.until(t) })
		step := every{first: 5, short: 31, others: 29, othersShort: 131}.of(k)
		sweep(t, s.name, before, n, step, func(t *testing.T, w *world, f faulty) {
			t.Helper()
			w.watchSends(t, w.disk, w.fault)
			w.goOn(t, before, s.state, f)
		})
	}
}

// TestResumeFaults: a process died, and each fault meets the one that goes on.
func TestResumeFaults(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		before := s.world(t)
		n := operations(t, before, func(w *world) { w.until(t) })
		crashes, step := 3, 149
		if testing.Short() {
			crashes, step = 1, 211
		}
		for c := range crashes {
			died := before.clone()
			died.crash(1+(2*c+1)*n/(2*crashes), c%2 == 0)
			_, _ = died.run(context.Background())
			died.fs.Advance(delays[c/2%2])
			all := died.disk.left()
			died.disk.data = all[c%len(all)]
			died.disk.durable = len(died.disk.data)
			m := operations(t, died, func(w *world) { w.until(t) })
			sweep(t, s.name, died, m, step+c, func(t *testing.T, w *world, f faulty) {
				t.Helper()
				w.watchSends(t, w.disk, w.fault)
				w.goOn(t, before, s.state, f)
			})
		}
	}
}

// goOn runs into a fault, and then on until there is an end.
func (w *world) goOn(t *testing.T, before *world, state string, f faulty) {
	t.Helper()
	for range 2 { // the second one has operations of its own
		_, _ = w.run(context.Background())
	}
	w.watchSends(t, w.disk, nil)
	w.timeout = 0 // a machine that is busy can be slower
	w.fs.Advance(time.Minute)
	w.fs.Failover()
	if f.harmless && !bytes.Contains(w.disk.data, []byte(`"how":"gone"`)) {
		w.until(t)
		w.same(t, before, state)
	} else {
		for range 3 {
			if _, err := w.run(context.Background()); err == nil {
				break
			}
		}
	}
	w.onlyPlanned(t, before)
	w.nothingOverwritten(t, before)
	w.truth(t, w.disk)
}

// TestUndoFaults puts each fault at operations of an undo, at others for each fault.
func TestUndoFaults(t *testing.T) {
	t.Parallel()
	for _, s := range undoes(t) {
		before := s.world(t)
		n := operations(t, before, func(w *world) { w.restored(t) })
		step := 97
		if testing.Short() {
			step = 331
		}
		sweep(t, s.name, before, n, step, func(t *testing.T, w *world, f faulty) {
			t.Helper()
			w.watchSends(t, w.undoDisk, w.fault)
			_, _ = w.undo(context.Background(), "")
			w.fs.Plan(nil)
			w.timeout = 0
			w.fs.Advance(time.Minute)
			w.fs.Failover()
			if f.harmless && !bytes.Contains(w.undoDisk.data, []byte(`"how":"gone"`)) {
				w.restored(t)
				w.home(t)
			} else {
				_, _ = w.undo(context.Background(), "")
			}
			w.onlyPlanned(t, before)
			w.nothingOverwritten(t, before)
			w.truth(t, w.undoDisk)
		})
	}
}

// onlyPlanned demands that no rename but of items and locks had an effect.
func (w *world) onlyPlanned(t *testing.T, before *world) {
	t.Helper()
	for _, op := range w.fs.Mutating() {
		if op.Call != "rename2" || strings.HasPrefix(op.Move.From, "/locks/") || strings.HasPrefix(path.Base(op.Move.To), rehearsal) {
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

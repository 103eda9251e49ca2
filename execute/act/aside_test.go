package act

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

// beside is a command that goes on with nothing: whatever ends it, it is called once more.
type beside struct {
	name  string
	world func(t *testing.T) *world
	do    func(w *world) error
	check func(t *testing.T, w, before *world)
}

func besides() []beside {
	var all []beside
	for _, s := range scenes() {
		all = append(all,
			beside{"rehearse, " + s.name, s.world, rehearseOnce, rehearsed},
			beside{"unlock, " + s.name, func(t *testing.T) *world { return locked(t, s) }, unlockOnce, unlocked},
		)
	}
	return all
}

func rehearseOnce(w *world) error {
	_, err := Rehearse(context.Background(), w.params(w.other()), "/user/alice")
	return err
}

// rehearsed demands that nothing was moved but directories for that.
func rehearsed(t *testing.T, w, before *world) {
	t.Helper()
	const at = "/user/alice/" + rehearsal
	if e, ok := w.fs.Lookup(at); !ok || e.Children != 0 {
		t.Errorf("the directory: %+v, %t", e, ok)
	}
	for _, op := range w.fs.Mutating() {
		if op.Call == "rename2" && !strings.HasPrefix(path.Base(op.Move.To), rehearsal) {
			t.Errorf("operation %d: %+v", op.N, op.Move)
		}
	}
	mine := before.clone()
	mine.aside, w.aside = []string{at}, []string{at}
	w.unplanned(t, mine)
	if got, want := w.state(), before.state(); got != want {
		t.Errorf("items:\n%s", got)
	}
}

// locked is a scene in which somebody died with the lock.
func locked(t *testing.T, s scene) *world {
	t.Helper()
	w := s.world(t)
	done := false
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && op.Move.To == "/locks/LOCK" && !done {
			done = true
			w.fs.CrashAfter(op.N + 40)
		}
		return fakehdfs.Fault{}
	})
	if _, err := w.run(context.Background()); !errors.Is(err, fakehdfs.ErrDead) {
		t.Fatal(err)
	}
	w = w.clone()
	w.fresh(w.disk)
	return w
}

func unlockOnce(w *world) error {
	p := w.params(w.other())
	holder, err := Holder(context.Background(), p)
	if err != nil || holder == "" {
		return err
	}
	_, err = Unlock(context.Background(), p, holder)
	return err
}

// unlocked demands that the lock, and nothing else, was moved to broken/.
func unlocked(t *testing.T, w, before *world) {
	t.Helper()
	lock, ok := before.fs.Lookup("/locks/LOCK")
	if !ok {
		t.Fatal("it was not locked")
	}
	if e, ok := w.fs.ByID(lock.ID); !ok || path.Dir(e.Path) != "/locks/broken" {
		t.Errorf("the lock is at %q, %t", e.Path, ok)
	}
	for _, op := range w.fs.Mutating() {
		if op.Call == "rename2" && op.ID != lock.ID {
			t.Errorf("operation %d: %+v", op.N, op.Move)
		}
	}
	w.unplanned(t, before)
	if got, want := w.state(), before.state(); got != want {
		t.Errorf("items:\n%s", got)
	}
}

// ended does it until it comes to an end.
func (b *beside) ended(t *testing.T, w *world) {
	t.Helper()
	var err error
	for range 4 {
		if err = b.do(w); err == nil {
			return
		}
		w.fs.Advance(time.Minute)
		w.fs.Failover()
	}
	t.Errorf("it does not come to an end: %v", err)
}

// TestBesideCrash: whenever a rehearsal or an unlock dies, the next one comes to the same end.
func TestBesideCrash(t *testing.T) {
	t.Parallel()
	for _, b := range besides() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			before := b.world(t)
			n := operations(t, before, func(w *world) { b.ended(t, w) })
			for _, after := range moments {
				for i := 1; i <= n && !t.Failed(); i++ {
					w := before.clone()
					w.crash(i, after)
					if err := b.do(w); !errors.Is(err, fakehdfs.ErrDead) {
						t.Errorf("operation %d: no crash: %v", i, err)
					}
					b.ended(t, w)
					b.check(t, w, before)
					w.nothingOverwritten(t, before)
					w.truth(t, &disk{})
					if t.Failed() {
						t.Logf("crash at operation %d, after=%t", i, after)
					}
				}
			}
		})
	}
}

// TestBesideFaults puts each fault at each operation of them.
func TestBesideFaults(t *testing.T) {
	t.Parallel()
	step := 9
	if testing.Short() {
		step = 37
	}
	for _, b := range besides() {
		before := b.world(t)
		n := operations(t, before, func(w *world) { b.ended(t, w) })
		sweep(t, b.name, before, n, step, func(t *testing.T, w *world, f faulty) {
			t.Helper()
			w.fs.Plan(w.fault)
			_ = b.do(w)
			w.fs.Plan(nil)
			w.timeout = 0
			if f.harmless {
				b.ended(t, w)
				b.check(t, w, before)
			}
			w.nothingOverwritten(t, before)
			w.truth(t, &disk{})
		})
	}
}

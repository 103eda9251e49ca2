package act

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

// TestChaos lets everything go wrong at once: commands one after the other meet several faults, die,
// lose power, have their lock taken away, and the emptier and failovers come between.
// When all is quiet again, the run comes to the same end as ever, and the undo restores it. In every
// other one somebody changes the namespace as well; then it is enough that nothing is
// done that was not planned, and that the journals are true.
func TestChaos(t *testing.T) {
	t.Parallel()
	n := 240
	if testing.Short() {
		n = 16
	}
	const parts = 8
	for part := range parts {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for seed := part; seed < n && !t.Failed(); seed += parts {
				c := newChaos(t, uint64(seed))
				c.all(t)
				if t.Failed() {
					t.Logf("seed %d, %s\n%s\n%s", seed, c.scene.name, c.w.brief(), c.w.undoDisk.data)
				}
			}
		})
	}
}

type chaos struct {
	scene  scene
	r      *rand.Rand
	wild   bool
	before *world
	w      *world
	faults []faulty
	often  float64 // how often an operation meets a fault
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	all := scenes()
	c := &chaos{scene: all[seed%uint64(len(all))], r: rand.New(rand.NewPCG(seed, 8)), wild: seed/4%2 == 1}
	c.often = []float64{0.002, 0.01, 0.04}[c.r.IntN(3)]
	c.before = c.scene.world(t)
	for _, f := range faults() {
		if f.Kind != fakehdfs.Frozen && (f.harmless && (!c.before.forgetful || f.Kind != fakehdfs.Late) || c.wild) {
			c.faults = append(c.faults, f)
		}
	}
	c.before.aside = []string{"/user/alice/" + rehearsal}
	c.before.timeout = 5 * time.Second
	c.w = c.before.clone()
	return c
}

func (c *chaos) plan(fakehdfs.Op) fakehdfs.Fault {
	if c.r.Float64() >= c.often {
		return fakehdfs.Fault{}
	}
	return c.faults[c.r.IntN(len(c.faults))].Fault
}

// step does something that goes wrong.
func (c *chaos) step(t *testing.T, undo bool) {
	t.Helper()
	w := c.w
	disk := w.disk
	if undo {
		disk = w.undoDisk
	}
	if c.r.IntN(2) == 0 {
		w.crash(w.fs.Ops()+1+c.r.IntN(250), c.r.IntN(2) == 0)
	}
	w.watchSends(t, disk, c.plan)
	switch n := c.r.IntN(8); {
	case n == 0:
		w.fs.Plan(c.plan)
		_ = unlockOnce(w)
	case n == 1:
		w.fs.Plan(c.plan)
		_ = rehearseOnce(w)
	case undo:
		_, _ = w.undo(context.Background(), "")
	default:
		_, _ = w.run(context.Background())
	}
	w.fs.Plan(nil)
	w.fs.CrashAfter(-1)
	left := disk.left()
	disk.data = left[c.r.IntN(len(left))]
	disk.durable = len(disk.data)
	w.fs.Advance(time.Duration(c.r.IntN(20)) * time.Minute)
	if c.r.IntN(3) == 0 {
		w.fs.RenameCurrent("/user/alice/.Trash")
	}
	w.fs.Failover()
	c.sound(t)
}

// sound is what is true at any moment.
func (c *chaos) sound(t *testing.T) {
	t.Helper()
	c.w.onlyPlanned(t, c.before)
	c.w.nothingOverwritten(t, c.before)
	c.w.truth(t, c.w.disk)
	if !c.wild {
		c.w.unplanned(t, c.before)
	}
}

func (c *chaos) all(t *testing.T) {
	t.Helper()
	lost := func() bool {
		return c.wild || bytes.Contains(c.w.disk.data, []byte(`"how":"gone"`)) || bytes.Contains(c.w.undoDisk.data, []byte(`"how":"gone"`))
	}
	for range 1 + c.r.IntN(5) {
		c.step(t, false)
	}
	if !lost() {
		_ = unlockOnce(c.w)
		c.w.until(t)
		c.w.same(t, c.before, c.scene.state)
	}
	c.w.byPlan = c.r.IntN(2) == 0
	c.w.origin = c.before
	for range 1 + c.r.IntN(3) {
		c.step(t, true)
	}
	if !lost() {
		c.w.restored(t)
		c.w.home(t)
	}
	c.sound(t)
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fsweep/analyze/cleanup"
	"fsweep/fsimage/imagetest"
)

// execute takes the items of a plan out of the tree that are not deferred, as a NameNode
// would: the directories that held them change now.
func (w *planWorld) execute(t *testing.T, file []byte) (moved int) {
	t.Helper()
	gone := map[*imagetest.Node]bool{}
	nodes := map[string]*imagetest.Node{}
	for _, n := range w.tree.Nodes() {
		nodes[n.Path()] = n
	}
	for _, l := range planLines(t, file) {
		if l.Type != "item" || l.Deferred != nil {
			continue
		}
		n := nodes[l.path()]
		moved++
		// One of the future stays so: what is of unknown age here stays of unknown age.
		n.Parent.MTimeMs = max(n.Parent.MTimeMs, scriptImageTime.UnixMilli()-int64(1000-moved))
		gone[n] = true
	}
	for n := range gone {
		w.tree.Remove(n)
	}
	return moved
}

// touchDirs makes some directories of units newer than what is in them, as files that
// were removed do.
func (w *planWorld) touchDirs(r *rand.Rand) {
	for _, u := range w.units {
		for _, n := range w.tree.Nodes() {
			if at := scriptImageTime.UnixMilli() - int64(pickOne(r, planAges))*dayMs; n.Kind == imagetest.Directory && holds(u.path, n.Path()) && chance(r, 6) && n.MTimeMs > 0 && n.MTimeMs < at {
				n.MTimeMs = at
			}
		}
	}
}

// TestPlanSettles: when a plan was carried out, the next one finds the roots in order,
// and nothing to move that the first would not have moved: moving things away makes
// directories new, and that must not displace what was kept.
func TestPlanSettles(t *testing.T) {
	t.Parallel()
	again, moved := 0, 0
	randomPlanWorlds(t, 300, func(t *testing.T, r *rand.Rand, world func() *planWorld) {
		w := world()
		if w.belts = ""; chance(r, 2) { // larger runs go in parts
			w.belts = fmt.Sprintf("{max_inodes_per_move: %d, max_percent_of_root: 100%%}", 1+r.IntN(6))
		}
		for _, root := range w.roots {
			root.keep = r.IntN(4)
		}
		w.touchDirs(r)
		first, d := w.plan(t, 1)
		n := w.execute(t, first)
		second, after := w.plan(t, 1)
		for i, r := range after.Roots {
			// Where the newest file of a run was debris, equally new ones can come up.
			if len(r.Stopped) > 0 && len(d.Roots[i].Stopped) == 0 && r.Stopped[0].Rule != cleanup.TieStops {
				t.Errorf("%s: %v after the plan", r.Policy.Path, r.Stopped)
			}
		}
		before := writtenItems(t, first)
		for _, item := range writtenItems(t, second) {
			if item.rule == string(cleanup.EmptySkeleton) {
				continue // it has nothing to lose
			}
			if !slices.ContainsFunc(before, func(b planItem) bool { return holds(b.path, item.path) }) {
				t.Errorf("%q only the second time", item.path)
			}
			again++
		}
		moved += n
	})
	t.Logf("%d items, %d the second time", moved, again)
}

package main

import (
	"bytes"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fsweep/analyze/cleanup"
	"fsweep/fsimage/imagetest"
)

func holds(dir, p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// planItem is an item of a written plan.
type planItem struct {
	path, kind, root, rule string
	split                  bool
}

func writtenItems(t *testing.T, file []byte) (items []planItem) {
	t.Helper()
	for _, l := range planLines(t, file) {
		if l.Type == "item" {
			items = append(items, planItem{l.path(), l.Kind, l.Root, l.Rule, l.SplitOf != 0})
		}
	}
	return items
}

// TestPlanProperties: what must hold for the written plan of any tree and any policy.
func TestPlanProperties(t *testing.T) {
	t.Parallel()
	units, items := 0, 0
	randomPlanWorlds(t, 250, func(t *testing.T, r *rand.Rand, again func() *planWorld) {
		w := again()
		w.forbid(r)
		file, d := w.plan(t, 1)
		if err := checkPlan(file); err != nil {
			t.Fatal(err)
		}
		if other, _ := w.plan(t, 4); !bytes.Equal(file, other) {
			t.Error("another plan with 4 workers")
		}
		compareItems(t, file, treeInodes(w.tree))
		list := writtenItems(t, file)
		for _, item := range list {
			w.checkPlace(t, item)
			w.checkKept(t, item)
			w.checkAge(t, item)
			w.checkForbidden(t, item)
		}
		w.checkNumber(t, list)
		for i := range list {
			for j := range list {
				if i != j && holds(list[i].path, list[j].path) {
					t.Errorf("%q is in %q", list[j].path, list[i].path)
				}
			}
		}
		w.checkNewest(t, list)
		w.checkStopped(t, d, list)
		units, items = units+len(w.units), items+len(list)
	})
	t.Logf("%d units, %d items", units, items)
	if items < 100 {
		t.Error("too few items")
	}
}

var (
	placeRun       = regexp.MustCompile(`^([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)
	placeSavepoint = regexp.MustCompile(`^savepoint-[0-9a-f]{6}-[0-9a-f]{12}$`)
	placePoint     = regexp.MustCompile(`^chk-[0-9]+$`)
)

// checkPlace: the root that an item names holds it, at the depth of its kind.
func (w *planWorld) checkPlace(t *testing.T, item planItem) {
	t.Helper()
	i := slices.IndexFunc(w.roots, func(r *randomRoot) bool { return r.path == item.root })
	if i < 0 || !strings.HasPrefix(item.path, item.root+"/") {
		t.Errorf("%q is not in %q", item.path, item.root)
		return
	}
	names := strings.Split(item.path[len(item.root)+1:], "/")
	root, last := w.roots[i], names[len(names)-1]
	depth := 0 // of units
	switch root.layout {
	case "job-run":
		depth = 2
	case "run", "ha-storage", "children":
		depth = 1
	case "savepoints":
		depth = len(names)
	}
	right := false
	switch item.kind {
	case "unit":
		right = len(names) == depth && depth <= 2 && map[string]bool{
			"job-run": placeRun.MatchString(last), "run": placeRun.MatchString(last), "savepoints": placeSavepoint.MatchString(last), "ha-storage": true,
		}[root.layout]
	case "child":
		right = root.layout == "children" && len(names) == 1 && strings.HasPrefix(last, "spark")
	case "checkpoint":
		right = strings.HasSuffix(root.layout, "run") && len(names) == depth+1 && placePoint.MatchString(last)
	case "file":
		area := ""
		if len(names) > depth {
			area = names[depth]
		}
		inArea := area == "shared" || area == "taskowned"
		right = strings.HasSuffix(root.layout, "run") && (item.split && len(names) == depth+1 && inArea ||
			!item.split && len(names) > depth+1 && (inArea || placePoint.MatchString(area) && strings.Contains(last, "_metadata.inprogress")))
	}
	if !right {
		t.Errorf("%s %q at a wrong place of layout %s", item.kind, item.path, root.layout)
	}
}

// checkKept: nothing that somebody named to be kept lies in an item, or holds one.
func (w *planWorld) checkKept(t *testing.T, item planItem) {
	t.Helper()
	for _, list := range [][]string{w.pins, w.protect, w.marked} {
		for _, p := range list {
			if holds(item.path, p) || holds(p, item.path) {
				t.Errorf("%q and %q, which is kept", item.path, p)
			}
		}
	}
	for _, root := range w.roots {
		for _, job := range root.excluded {
			if holds(root.path+"/"+job, item.path) {
				t.Errorf("%q is excluded", item.path)
			}
		}
	}
	for name := range strings.SplitSeq(item.path, "/") {
		if slices.Contains(w.live, name) || strings.HasSuffix(name, "0000000000000000") {
			t.Errorf("%q lives, or will again", item.path)
		}
	}
}

// checkNewest: of every job the newest run that has a complete checkpoint is no item,
// nor is that checkpoint.
func (w *planWorld) checkNewest(t *testing.T, items []planItem) {
	t.Helper()
	newest := map[string]*randomUnit{}
	for _, u := range w.units {
		if u.root.layout != "job-run" && (u.root.layout != "savepoints" || u.job == "") || u.metadata == 0 || u.odd && u.root.layout == "job-run" {
			continue
		}
		key := u.root.path + "/" + u.job
		if n := newest[key]; n == nil || u.metadata < n.metadata {
			newest[key] = u
		}
	}
	for _, u := range newest {
		for _, item := range items {
			if holds(item.path, u.checkpath) {
				t.Errorf("%q has the newest complete checkpoint, %q", item.path, u.checkpath)
			}
		}
	}
}

// checkStopped: a stopped root has no items. Which are stopped for a misfit the test
// knows itself.
func (w *planWorld) checkStopped(t *testing.T, d *cleanup.Decision, items []planItem) {
	t.Helper()
	stopped := slices.Clone(w.misfit)
	for _, r := range d.Roots {
		if len(r.Stopped) > 0 {
			stopped = append(stopped, string(r.Policy.Path))
		}
	}
	for _, item := range items {
		if slices.Contains(stopped, item.root) || len(stopped) > 0 && w.preflight == "all" {
			t.Errorf("%q in a stopped root", item.path)
		}
	}
}

// TestPlanNarrows: an exclude, a pin, a live id, a protected path, a marker and a
// larger min_age never add an item: all that is planned with it was planned without,
// by itself or in a larger item. Belts are wide here, as what does not go makes room,
// and no root is stopped: an exclusion can be what makes a root fit its layout.
func TestPlanNarrows(t *testing.T) {
	t.Parallel()
	fewer := 0
	randomPlanWorlds(t, 200, func(t *testing.T, r *rand.Rand, again func() *planWorld) {
		w := again()
		if w.belts = ""; len(w.units) == 0 {
			return
		}
		file, d := w.plan(t, 1)
		if slices.ContainsFunc(d.Roots, func(r *cleanup.RootDecision) bool { return len(r.Stopped) > 0 }) {
			return
		}
		before := writtenItems(t, file)
		name, u := "", pickOne(r, w.units)
		switch r.IntN(6) {
		case 0:
			if first := firstName(u); !strings.Contains(first, "\xff") && !strings.Contains(first, "\xfe") && !strings.Contains(first, "\n") {
				name, u.root.excluded = "exclude "+first, []string{first}
			}
		case 1:
			name, w.pins = "pin "+u.path, append(w.pins, u.path)
		case 2:
			name, w.live = "live "+u.name, append(w.live, u.name)
			w.clusters = append(w.clusters, u.name)
		case 3:
			name, w.protect = "protect "+u.path, append(w.protect, u.path)
		case 4:
			name, u.root.minAge = "min_age", u.root.minAge+1+r.IntN(20)
		case 5:
			name = "marker in " + u.path
			w.tree.Dir(u.path).XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
		}
		file, _ = w.plan(t, 1)
		after := writtenItems(t, file)
		for _, item := range after {
			if !slices.ContainsFunc(before, func(b planItem) bool { return holds(b.path, item.path) }) {
				t.Errorf("%s adds %q", name, item.path)
			}
		}
		if len(after) < len(before) {
			fewer++
		}
	})
	if fewer < 20 && !testing.Short() {
		t.Errorf("only %d plans became smaller", fewer)
	}
}

// firstName is the name of the first level below the root.
func firstName(u *randomUnit) string {
	if u.job != "" {
		return u.job
	}
	return path.Base(u.path)
}

package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

// forbid puts into some units what must not be moved, reads some data, and gives some
// roots a keep_within.
func (w *planWorld) forbid(r *rand.Rand) {
	for _, root := range w.roots {
		root.within = pickOne(r, []int{0, 0, 8, 25})
	}
	for _, u := range w.units {
		dir := w.tree.Dir(u.path)
		if strings.HasSuffix(u.root.layout, "run") {
			dir = w.tree.Dir(u.path + "/shared")
		}
		switch r.IntN(20) {
		case 0:
			n := w.file(dir.Path()+"/opened", 30)
			n.Open, n.BlockSize = &imagetest.Open{Client: "c", Machine: "m"}, 7 // the last block counts as a full one
		case 1:
			w.tree.Snapshottable(dir)
			w.snapshottable = append(w.snapshottable, dir.Path())
		case 2:
			dir.XAttr(imagetest.XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
		case 3:
			dir.Quota(100, imagetest.NoQuota)
		case 4:
			for _, n := range w.tree.Nodes() {
				if n.Kind == imagetest.File && n.Name != "_metadata" && holds(u.path, n.Path()) {
					n.ATimeMs = scriptImageTime.Add(-time.Hour).UnixMilli()
				}
			}
		}
	}
}

// inside gives the nodes of an item.
func (w *planWorld) inside(item planItem) (in []*imagetest.Node) {
	for _, n := range w.tree.Nodes() {
		if holds(item.path, n.Path()) {
			in = append(in, n)
		}
	}
	return in
}

func (w *planWorld) rootOf(item planItem) *randomRoot {
	return w.roots[slices.IndexFunc(w.roots, func(r *randomRoot) bool { return r.path == item.root })]
}

// checkAge: nothing in an item was written or read within min_age or, of what is beyond
// keep, within keep_within; of debris that was never complete, within the 48 hours of
// the default.
func (w *planWorld) checkAge(t *testing.T, item planItem) {
	t.Helper()
	root, days := w.rootOf(item), 0
	switch item.rule {
	case "incomplete_checkpoint", "unfinished_metadata":
		days = 2
	case "stale_checkpoint", "unreferenced_shared":
		days = max(root.minAge, 5)
	case "beyond_keep", "empty_skeleton":
		days = max(root.minAge, root.within)
	default:
		days = root.minAge
	}
	before := scriptImageTime.Add(-time.Duration(days) * 24 * time.Hour).UnixMilli()
	for _, n := range w.inside(item) {
		read := n.Kind == imagetest.File && n.Name != "_metadata" && n.ATimeMs >= before
		if n.MTimeMs <= 0 || n.MTimeMs >= before || read {
			t.Errorf("%s %q: %q is from %d, read %d; %d days before is %d", item.rule, item.path, n.Path(), n.MTimeMs, n.ATimeMs, days, before)
		}
	}
}

// checkForbidden: no item is or holds a directory with a quota, one that is
// snapshottable, the root of an encryption zone, or a file that is being written.
func (w *planWorld) checkForbidden(t *testing.T, item planItem) {
	t.Helper()
	for _, n := range w.inside(item) {
		zone := slices.ContainsFunc(n.XAttrs, func(x imagetest.XAttr) bool { return x.Name == "hdfs.crypto.encryption.zone" })
		quota := n.Kind == imagetest.Directory && (n.NSQuota >= 0 || n.DSQuota >= 0)
		if n.Open != nil || zone || quota || slices.Contains(w.snapshottable, n.Path()) {
			t.Errorf("%q: open %v, zone %v, quota %v", n.Path(), n.Open != nil, zone, quota)
		}
	}
}

// checkNumber: of every job the newest units by complete checkpoints stay, as many as
// keep says.
func (w *planWorld) checkNumber(t *testing.T, items []planItem) {
	t.Helper()
	jobs := map[string][]*randomUnit{}
	for _, u := range w.units {
		grouped := u.root.layout == "job-run" || u.root.layout == "savepoints" && u.job != ""
		if grouped && u.metadata != 0 && (!u.odd || u.root.layout == "savepoints") {
			jobs[u.root.path+"/"+u.job] = append(jobs[u.root.path+"/"+u.job], u)
		}
	}
	for _, list := range jobs {
		slices.SortFunc(list, func(x, y *randomUnit) int { return cmp.Compare(x.metadata, y.metadata) })
		for _, u := range list[:min(list[0].root.keep, len(list))] {
			for _, item := range items {
				if item.path == u.path || holds(u.path, item.path) && item.split {
					t.Errorf("%q is among the newest %d", item.path, u.root.keep)
				}
			}
		}
	}
}

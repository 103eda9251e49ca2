package plan

import (
	"slices"
	"strings"
	"testing"

	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
)

// checkNever: what must never be in an item, worked out from the tree and the lists
// alone.
func (n *naive) checkNever(t *testing.T, w *world, m *made) {
	t.Helper()
	whole := map[string]string{} // nothing in it either
	never := map[string]string{} // but what is in it may be
	for _, p := range w.pins {
		whole[string(p)] = "pinned"
	}
	for _, path := range n.paths {
		c := n.nodes[path]
		for _, r := range m.plan.Roots {
			rel, ok := strings.CutPrefix(path, string(r.Path)+"/")
			if !ok {
				continue
			}
			names := strings.Split(rel, "/")
			last := names[len(names)-1]
			switch runs := map[planfile.Layout]int{planfile.LayoutJobRun: 2, planfile.LayoutRun: 1}[r.Layout]; {
			case len(r.Stopped) > 0 && len(names) == 1 && last != "inner": // which leads to a root of its own
				whole[path] = "in a root that is stopped"
			case runs > 0 && len(names) == runs && slices.Contains(w.live, last):
				whole[path] = "a live run"
			case r.Layout == planfile.LayoutHAStorage && len(names) == 1 && slices.Contains(w.live, last):
				whole[path] = "a live cluster"
			}
			if names[0] == "left" {
				whole[path] = "excluded"
			}
			if r.Layout == planfile.LayoutJobRun && len(names) == 1 && c.Kind == imagetest.Directory {
				if newest := n.newestComplete(path); newest != "" {
					never[newest] = "the newest complete run"
				}
			}
		}
		if c.NSQuota > 0 || c.Open != nil || c.Kind == imagetest.Symlink && !strings.HasPrefix(path, "/tmp") {
			never[path] = "has a quota, is open or a link"
		}
	}
	holds := func(p, other string) bool { return p == other || strings.HasPrefix(other, p+"/") }
	for _, i := range m.plan.items {
		for p, why := range never {
			if holds(string(i.Path), p) {
				t.Errorf("item %q, but %q is %s", i.Path, p, why)
			}
		}
		for p, why := range whole {
			if holds(string(i.Path), p) || holds(p, string(i.Path)) {
				t.Errorf("item %q, but %q is %s", i.Path, p, why)
			}
		}
	}
}

// newestComplete gives the run of a job whose newest `_metadata` with contents is the
// newest.
func (n *naive) newestComplete(job string) (run string) {
	newest := int64(0)
	for _, p := range n.subtree(job) {
		names := strings.Split(p[min(len(job)+1, len(p)):], "/")
		if c := n.nodes[p]; len(names) == 3 && strings.HasPrefix(names[1], "chk-") && names[2] == "_metadata" && length(c) > 0 && c.MTimeMs > newest {
			newest, run = c.MTimeMs, job+"/"+names[0]
		}
	}
	return run
}

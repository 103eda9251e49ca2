package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fsweep/fsimage/imagetest"
)

const dayMs = 24 * 3600 * 1000

// modelUnit is what the rules look at in a run, taken from the nodes of a tree.
type modelUnit struct {
	u                *randomUnit
	newest, rank     int64 // mtimes; rank without directories that hold a marker
	file             int64 // mtime, of files alone
	metadata, read   int64 // newest of complete checkpoints; newest access to data
	unknown, quota   bool
	marked, skeleton bool
	points           map[int64]*modelUnit // checkpoints by number, with their own values
	complete         bool                 // of a checkpoint
	leftovers, areas []*imagetest.Node    // unfinished metadata; files in shared and taskowned
	whole, keep      bool
}

func isMarker(n *imagetest.Node) bool { return n.Name == ".fsweep-keep" }

func hasMarkerXAttr(n *imagetest.Node) bool {
	return slices.ContainsFunc(n.XAttrs, func(x imagetest.XAttr) bool { return x.Namespace == imagetest.XAttrUser && x.Name == "fsweep.keep" })
}

// look takes in a node and what is below it.
func (m *modelUnit) look(n *imagetest.Node) {
	if hasMarkerXAttr(n) || isMarker(n) {
		m.marked = true
	}
	if isMarker(n) {
		return
	}
	at := scriptImageTime.UnixMilli()
	m.newest = max(m.newest, n.MTimeMs)
	m.unknown = m.unknown || n.MTimeMs <= 0 || n.MTimeMs > at
	if !slices.ContainsFunc(n.Children, isMarker) {
		m.rank = max(m.rank, n.MTimeMs)
	}
	if n.Kind == imagetest.Directory {
		m.quota = m.quota || n.NSQuota >= 0 || n.DSQuota >= 0
	} else {
		m.skeleton, m.file = false, max(m.file, n.MTimeMs)
		if n.Name != "_metadata" {
			m.read = max(m.read, n.ATimeMs)
		}
	}
	for _, c := range n.Children {
		m.look(c)
	}
}

func (w *planWorld) model(u *randomUnit) *modelUnit {
	m := &modelUnit{u: u, points: map[int64]*modelUnit{}, skeleton: true}
	dir := w.tree.Dir(u.path)
	m.look(dir)
	for _, c := range dir.Children {
		number, isPoint := strings.CutPrefix(c.Name, "chk-")
		if !isPoint {
			m.areas = append(m.areas, filesBelow(c)...)
			continue
		}
		n, _ := strconv.ParseInt(number, 10, 64)
		p := &modelUnit{skeleton: true}
		p.look(c)
		for _, f := range c.Children {
			if f.Name == "_metadata" && len(f.Blocks) > 0 {
				p.complete, p.metadata = true, f.MTimeMs
				m.metadata = max(m.metadata, f.MTimeMs)
			}
			if strings.Contains(f.Name, "inprogress") {
				p.leftovers = append(p.leftovers, f)
			}
		}
		m.points[n] = p
	}
	return m
}

func filesBelow(n *imagetest.Node) (files []*imagetest.Node) {
	if n.Kind == imagetest.File && !isMarker(n) {
		files = append(files, n)
	}
	for _, c := range n.Children {
		files = append(files, filesBelow(c)...)
	}
	return files
}

// expected gives the items of a root of runs, as the rules of the policy have them. The
// belts must be wide.
func (w *planWorld) expected(root *randomRoot) (items []string) {
	jobs := map[string][]*modelUnit{}
	for _, u := range w.units {
		if u.root == root {
			jobs[u.job] = append(jobs[u.job], w.model(u))
		}
	}
	for job, units := range jobs {
		w.named(root, job, units)
		if root.layout == "job-run" {
			keepOfJob(root, units)
		}
		for _, m := range units {
			limit := int64(root.minAge) * dayMs
			at := scriptImageTime.UnixMilli()
			m.keep = m.keep || m.whole || m.quota || m.unknown || at-m.newest <= limit || m.read > 0 && at-m.read <= limit
			switch {
			case !m.keep && m.skeleton:
				items = append(items, "unit "+m.u.path+" empty_skeleton")
			case !m.keep && root.layout == "run":
				items = append(items, "unit "+m.u.path+" not_live")
			case !m.keep:
				items = append(items, "unit "+m.u.path+" beyond_keep")
			case !m.whole:
				items = append(items, m.debris(root)...)
			}
		}
	}
	slices.Sort(items)
	return items
}

// named finds what somebody or something names to be kept as a whole.
func (w *planWorld) named(root *randomRoot, job string, units []*modelUnit) {
	at := scriptImageTime.UnixMilli()
	dir := w.tree.Dir(root.path + "/" + job)
	stop := job != "" && (slices.Contains(root.excluded, job) || hasMarkerXAttr(dir) || slices.ContainsFunc(dir.Children, isMarker))
	for _, m := range units {
		live := slices.Contains(w.live, m.u.name)
		stop = stop || root.layout == "job-run" && m.metadata == 0 && (live || m.unknown || at-m.newest <= dayMs)
		touched := func(p string) bool { return holds(p, m.u.path) || holds(m.u.path, p) }
		m.whole = live || m.marked || strings.HasSuffix(m.u.name, "0000000000000000") || slices.ContainsFunc(w.pins, touched) ||
			slices.ContainsFunc(w.protect, touched) || root.layout == "run" && slices.Contains(root.excluded, m.u.name)
	}
	for _, m := range units {
		m.whole = m.whole || stop
	}
}

// keepOfJob keeps the newest by three times, and what comes after the newest checkpoint.
func keepOfJob(root *randomRoot, units []*modelUnit) {
	newest := int64(0)
	times := []func(*modelUnit) int64{
		func(m *modelUnit) int64 { return m.metadata },
		func(m *modelUnit) int64 { return m.rank },
		func(m *modelUnit) int64 { return m.file },
	}
	for _, by := range times {
		var times []int64
		for _, m := range units {
			if !m.unknown && by(m) > 0 {
				times = append(times, by(m))
			}
			if !m.unknown {
				newest = max(newest, m.metadata)
			}
		}
		slices.Sort(times)
		slices.Reverse(times)
		for _, m := range units {
			if root.keep > 0 && len(times) > 0 && !m.unknown && by(m) >= times[min(root.keep, len(times))-1] {
				m.keep = true
			}
		}
	}
	var files []int64
	for _, m := range units {
		if !m.unknown && !m.skeleton {
			files = append(files, m.file)
		}
	}
	slices.Sort(files)
	for _, m := range units {
		// Whatever changed since the files of those that are kept by files.
		m.keep = m.keep || root.keep > 0 && !m.skeleton && len(files) > 0 && m.rank >= files[max(0, len(files)-root.keep)]
		m.keep = m.keep || newest == 0 && !m.skeleton || newest > 0 && (m.metadata == newest || m.newest >= newest) ||
			scriptImageTime.UnixMilli()-m.newest <= 3600*1000
	}
}

// debris gives what a kept run does not need.
func (m *modelUnit) debris(root *randomRoot) (items []string) {
	at, newest := scriptImageTime.UnixMilli(), int64(-1)
	for n, p := range m.points {
		if p.complete {
			newest = max(newest, n)
		}
	}
	if newest < 0 {
		return nil
	}
	old := max(5, int64(root.minAge)) * dayMs
	for n, p := range m.points {
		untouched := func(limit int64) bool {
			return !p.quota && !p.unknown && at-p.newest > limit && (p.read <= 0 || at-p.read > limit)
		}
		switch path := fmt.Sprintf("%s/chk-%d", m.u.path, n); {
		case !p.complete:
			if n < newest && untouched(2*dayMs) {
				items = append(items, "checkpoint "+path+" incomplete_checkpoint")
			}
		case root.stale && n < newest && p.metadata <= m.points[newest].metadata && untouched(old):
			items = append(items, "checkpoint "+path+" stale_checkpoint")
		default:
			for _, f := range p.leftovers {
				if at-f.MTimeMs > 2*dayMs && at-p.read > 2*dayMs {
					items = append(items, "file "+path+"/"+f.Name+" unfinished_metadata")
				}
			}
		}
	}
	for _, f := range m.areas {
		if root.shared && f.MTimeMs > 0 && at-f.MTimeMs > old && at-f.ATimeMs > old {
			items = append(items, "file "+f.Path()+" unreferenced_shared")
		}
	}
	return items
}

// TestPlanModel: in roots of runs exactly those items are written that a second
// reading of the rules finds in the tree.
func TestPlanModel(t *testing.T) {
	t.Parallel()
	roots, items := 0, 0
	randomPlanWorlds(t, 300, func(t *testing.T, r *rand.Rand, again func() *planWorld) {
		w := again()
		w.belts = ""
		for _, root := range w.roots {
			root.ties = false
		}
		w.touchDirs(r)
		file, d := w.plan(t, 1)
		lines := planLines(t, file)
		for i, r := range d.Roots {
			root := w.roots[i]
			if root.layout != "job-run" && root.layout != "run" || len(r.Stopped) > 0 {
				continue
			}
			var got []string
			for _, l := range lines {
				if l.Type == "item" && l.Root == root.path {
					got = append(got, l.Kind+" "+l.path()+" "+l.Rule)
				}
			}
			slices.Sort(got)
			want := w.expected(root)
			if !slices.Equal(got, want) {
				t.Errorf("%s, layout %s:\n%q\nwant:\n%q", root.path, root.layout, got, want)
			}
			roots, items = roots+1, items+len(got)
		}
	})
	t.Logf("%d roots, %d items", roots, items)
}

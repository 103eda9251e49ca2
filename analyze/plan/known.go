package plan

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// rootInfo is a root while its known entries are written.
type rootInfo struct {
	path   planfile.Path
	layout cleanup.Layout
	depth  int // how deep its entries are known: of roots with jobs 2, of others 1
}

// writeKnown writes what stands in the roots: the directories right below them, and
// where the layout has jobs also those below these. Those of roots that are stopped
// and of jobs that are excluded are among them: what is new there can refer to
// candidates anywhere.
func (b *builder) writeKnown(ctx context.Context) error {
	roots := b.rootInfos()
	lead := b.leading(roots)
	files := b.ignored()
	slices.SortFunc(files, func(x, y planfile.Known) int { return cmp.Compare(x.Path, y.Path) })
	var last planfile.Path
	put := func(k planfile.Known) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Of a root that is stopped anything can be wrong.
		if k.Path == last || k.Path.Clean() != nil {
			return nil
		}
		last = k.Path
		return b.file.Known(k)
	}
	merged := func(k planfile.Known) error {
		for len(files) > 0 && files[0].Path < k.Path {
			if err := put(files[0]); err != nil {
				return err
			}
			files = files[1:]
		}
		return put(k)
	}
	for _, top := range b.outermost(roots) {
		if err := b.knownIn(top, roots, lead, merged); err != nil {
			return err
		}
	}
	for _, k := range files {
		if err := put(k); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) rootInfos() map[namespace.Dir]*rootInfo {
	roots := map[namespace.Dir]*rootInfo{}
	for _, r := range b.r.Decider.Decision().Roots {
		if r.Root.Dir == namespace.NoDir || roots[r.Root.Dir] != nil {
			continue
		}
		info := &rootInfo{path: planfile.Path(r.Policy.Path), layout: r.Policy.Layout, depth: 1}
		if info.layout == cleanup.JobRun || info.layout == cleanup.Savepoints {
			info.depth = 2
		}
		roots[r.Root.Dir] = info
	}
	return roots
}

// leading gives the directories on the way from a root to one inside it.
func (b *builder) leading(roots map[namespace.Dir]*rootInfo) map[namespace.Dir]bool {
	lead := map[namespace.Dir]bool{}
	for d := range roots {
		var way []namespace.Dir
		for up := b.t.Parent(d); up != namespace.NoDir; up = b.t.Parent(up) {
			if way = append(way, up); roots[up] != nil {
				for _, w := range way {
					lead[w] = true
				}
			}
		}
	}
	return lead
}

// outermost gives the roots that are in no other, in the order of what is in them.
func (b *builder) outermost(roots map[namespace.Dir]*rootInfo) []namespace.Dir {
	var out []namespace.Dir
	for d := range roots {
		up := b.t.Parent(d)
		for up != namespace.NoDir && roots[up] == nil {
			up = b.t.Parent(up)
		}
		if up == namespace.NoDir {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(x, y namespace.Dir) int {
		return cmp.Compare(roots[x].path+"/", roots[y].path+"/")
	})
	return out
}

// knownIn gives what is known in a root and in those inside it.
func (b *builder) knownIn(top namespace.Dir, roots map[namespace.Dir]*rootInfo, lead map[namespace.Dir]bool, put func(planfile.Known) error) error {
	w := walker{s: b.s, t: b.t}
	base := roots[top].path + "/"
	var last []byte
	w.visit = func(rel []byte, d namespace.Dir) (bool, error) {
		// Of two directories of one name, which stop the root, the first is enough.
		if impossible(b.t.Name(d)) || bytes.Equal(rel, last) {
			return false, nil
		}
		last = append(last[:0], rel...)
		r, depth := b.innermost(d, roots)
		if depth <= r.depth {
			if err := put(planfile.Known{Kind: r.kind(b, d, depth), Path: base + planfile.Path(rel), InodeID: b.t.ID(d), Root: r.path}); err != nil {
				return false, err
			}
		}
		return roots[d] != nil || lead[d] || depth < r.depth, nil
	}
	return w.below(top)
}

// innermost gives the root that holds a directory, and how deep.
func (b *builder) innermost(d namespace.Dir, roots map[namespace.Dir]*rootInfo) (r *rootInfo, depth int) {
	for r == nil {
		d = b.t.Parent(d)
		depth++
		r = roots[d]
	}
	return r, depth
}

// kind says what a directory in a root is.
func (r *rootInfo) kind(b *builder, d namespace.Dir, depth int) planfile.KnownKind {
	job, unit := b.s.Kind(d)
	switch {
	case job && r.depth == 2 && !bytes.HasPrefix(b.t.Name(d), []byte("savepoint-")):
		return planfile.KnownJob
	case job: // one that is excluded where the layout has no jobs
	case unit == flink.SavepointUnit:
		return planfile.KnownSavepoint
	case unit == flink.ClusterUnit:
		return planfile.KnownCluster
	case unit == flink.RunUnit && (r.layout == cleanup.Run || depth == 2):
		return planfile.KnownRun
	}
	return planfile.KnownEntry
}

// writeDirs writes the directories inside an item.
func (b *builder) writeDirs(ctx context.Context, top namespace.Dir) error {
	w := &b.inside
	if w.visit == nil {
		w.s, w.t = b.s, b.t
		w.visit = func(rel []byte, d namespace.Dir) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return true, b.file.Directory(planfile.Directory{Path: planfile.Name(rel), InodeID: b.t.ID(d), MTimeMs: b.t.MTimeMs(d), Children: b.t.ChildCount(d)})
		}
	}
	w.rel, w.open = w.rel[:0], w.open[:0]
	return w.below(top)
}

package analyze

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"fsweep/analyze/namespace"
)

// ranked is a directory and the figure that it is ranked by.
type ranked struct {
	dir   namespace.Dir
	id    uint64
	value int64
}

// before tells whether a ranks higher than b.
func (a ranked) before(b ranked) bool { return a.compare(b) < 0 }

func (a ranked) compare(b ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.id, b.id))
}

// topN keeps the n highest of all that are offered, the lowest of them on top.
type topN struct {
	n   int
	all []ranked
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (t *topN) Len() int           { return len(t.all) }
func (t *topN) Less(i, j int) bool { return t.all[j].before(t.all[i]) }
func (t *topN) Swap(i, j int)      { t.all[i], t.all[j] = t.all[j], t.all[i] }

// Push adds an element.
func (t *topN) Push(x any) { t.all = append(t.all, x.(ranked)) }

// Pop removes the last element.
func (t *topN) Pop() any {
	last := t.all[len(t.all)-1]
	t.all = t.all[:len(t.all)-1]
	return last
}

func (t *topN) offer(r ranked) {
	switch {
	case len(t.all) < t.n:
		heap.Push(t, r)
	case t.n > 0 && r.before(t.all[0]):
		t.all[0] = r
		heap.Fix(t, 0)
	}
}

func topDirectories(ctx context.Context, t *namespace.Tree, n int) (TopDirectories, error) {
	bySpace, byINodes, byChildren := topN{n: n}, topN{n: n}, topN{n: n}
	done := 0
	for d := range t.Dirs() {
		if done++; done%4096 == 0 && ctx.Err() != nil {
			return TopDirectories{}, ctx.Err()
		}
		if d == t.Root() {
			continue
		}
		s, id := t.Summary(d), t.ID(d)
		bySpace.offer(ranked{d, id, s.Space})
		byINodes.offer(ranked{d, id, s.Directories + s.Files + s.Symlinks})
		byChildren.offer(ranked{d, id, t.ChildCount(d)})
	}
	return TopDirectories{bySpace.rows(t), byINodes.rows(t), byChildren.rows(t)}, nil
}

func (t *topN) rows(tree *namespace.Tree) []DirRow {
	slices.SortFunc(t.all, ranked.compare)
	rows := make([]DirRow, 0, len(t.all))
	for _, r := range t.all {
		rows = append(rows, DirRow{
			Path:     tree.AppendPath(nil, r.dir),
			INodeID:  r.id,
			Totals:   totals(tree.Summary(r.dir).Counts),
			Children: tree.ChildCount(r.dir),
			Owner:    tree.Owner(r.dir),
		})
	}
	return rows
}

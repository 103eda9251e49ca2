package analyze

import (
	"cmp"
	"container/heap"
	"context"
	"iter"
	"slices"
	"sync"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
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

// top is the lists while directories are gone through.
type top struct{ bySpace, byINodes, byChildren topN }

func topDirectories(ctx context.Context, t *namespace.Tree, n, workers int) (TopDirectories, error) {
	parts := make([]fsimage.Apart[top], workers)
	err := parallel(workers, func(i int) error {
		p := &parts[i].V
		p.bySpace.n, p.byINodes.n, p.byChildren.n = n, n, n
		return p.offerAll(ctx, t, t.DirsIn(i, workers))
	})
	if err != nil {
		return TopDirectories{}, err
	}
	all := &parts[0].V
	for i := range parts[1:] {
		p := &parts[i+1].V
		all.bySpace.merge(&p.bySpace)
		all.byINodes.merge(&p.byINodes)
		all.byChildren.merge(&p.byChildren)
	}
	return TopDirectories{all.bySpace.rows(t), all.byINodes.rows(t), all.byChildren.rows(t)}, nil
}

// parallel calls fn with 0 to n-1, each on a goroutine, and gives one of the
// errors. A panic goes on in the caller's goroutine, where it can be recovered.
func parallel(n int, fn func(i int) error) error {
	errs, bugs := make([]error, n), make([]any, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer func() { bugs[i] = recover() }()
			errs[i] = fn(i)
		})
	}
	wg.Wait()
	for _, bug := range bugs {
		if bug != nil {
			panic(bug)
		}
	}
	return cmp.Or(errs...)
}

func (p *top) offerAll(ctx context.Context, t *namespace.Tree, dirs iter.Seq[namespace.Dir]) error {
	done := 0
	for d := range dirs {
		if done++; done%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if d == t.Root() {
			continue
		}
		space, inodes := t.Size(d)
		id := t.ID(d)
		p.bySpace.offer(ranked{d, id, space})
		p.byINodes.offer(ranked{d, id, inodes})
		p.byChildren.offer(ranked{d, id, t.ChildCount(d)})
	}
	return nil
}

func (t *topN) merge(o *topN) {
	for _, r := range o.all {
		t.offer(r)
	}
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

package namespace

import (
	"context"

	"fsweep/fsimage"
)

// EachINodeIn is [Tree.EachINode] for the inodes that are directly in some
// directories: want is asked for their parent. It must give the same answer
// whenever it is asked, and many goroutines ask at once. The root is in no
// directory, so it is never shown. What is not wanted is mostly not even decoded,
// which takes half the time; damage inside such a record is not noticed, but
// [Load] decoded all of them before.
//
// Batches, their numbers and the order are those of EachINode; there may be
// nothing left in a batch.
func (t *Tree) EachINodeIn(ctx context.Context, workers int, want func(parent Dir) bool, fn func(worker int, b *EntryBatch) error) error {
	skip := func(id uint64) bool {
		r, ok := t.ids.rank(id)
		if !ok {
			return true // the root, or in no directory
		}
		p := t.parentOf[r]
		// Where several records have an id, all of them are skipped or none: the
		// first that is not is the first in the file.
		return p == NoDir || !want(p) || !t.Live(p)
	}
	return t.EachINode(ctx, workers, func(w int, b *EntryBatch) error {
		b.skip = skip
		return fn(w, b)
	})
}

// chosen is [EntryBatch.Each] for a batch of EachINodeIn.
func (b *EntryBatch) chosen(fn func(*Entry) error) error {
	e, wanted := b.entry, false // wanted: skip was asked about the record at hand
	skip := func(id uint64) bool {
		wanted = !b.skip(id)
		return !wanted
	}
	return b.b.ChosenINodes(e.INode, skip, func(n *fsimage.INode) error {
		known := wanted
		if wanted = false; !known && b.skip(n.ID) || !e.find(n) {
			return nil
		}
		return fn(e)
	})
}

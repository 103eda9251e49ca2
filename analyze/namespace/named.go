package namespace

import (
	"context"

	"fsweep/fsimage"
)

// EachNamed is [Tree.EachINode] for who can do without most inodes: want is asked with
// parent, type and name of an inode before the rest of it is decoded. It must give the
// same answer whenever it is asked, many goroutines ask at once, and name is valid
// until it returns. Where one that is not wanted is shown all the same, its record has
// a form that NameNodes do not write. The root is always shown.
func (t *Tree) EachNamed(ctx context.Context, workers int, want func(parent Dir, typ fsimage.Type, name []byte) bool, fn func(worker int, b *EntryBatch) error) error {
	if t.duplicate {
		// Of several records with an id the first counts, wanted or not.
		return t.EachINode(ctx, workers, fn)
	}
	return t.EachINode(ctx, workers, func(w int, b *EntryBatch) error {
		b.wantNamed = want
		return fn(w, b)
	})
}

// named is [EntryBatch.Each] for a batch of EachNamed.
func (b *EntryBatch) named(fn func(*Entry) error) error {
	e := b.entry
	parentOf := e.t.parentOf
	// The inode that skip was asked about last, and its parent. The root is found without.
	asked, parent := uint64(rootID), NoDir
	skip := func(typ fsimage.Type, id uint64, name []byte) bool {
		r, ok := e.ids.rank(id)
		if !ok {
			return id != rootID // in no directory
		}
		asked, parent = id, parentOf[r]
		return parent == NoDir || !b.wantNamed(parent, typ, name)
	}
	return b.b.NamedINodes(e.INode, skip, func(n *fsimage.INode) error {
		live := false
		if n.ID == asked && n.ID != rootID {
			live = e.in(parent)
		} else { // of an odd form, so that skip was not asked
			live = e.find(n)
		}
		if !live {
			return nil
		}
		return fn(e)
	})
}

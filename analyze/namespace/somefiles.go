package namespace

import (
	"context"

	"fsweep/fsimage"
)

// EachSomeFiles is [Tree.EachINode] for who can do without most files: want is asked
// for parent and name of a file before the rest of it is decoded. It must give the
// same answer whenever it is asked, many goroutines ask at once, and name is valid
// until it returns. Directories and symlinks are all shown, and so are files in
// records of a form that NameNodes do not write, whatever want would say.
func (t *Tree) EachSomeFiles(ctx context.Context, workers int, want func(parent Dir, name []byte) bool, fn func(worker int, b *EntryBatch) error) error {
	if t.duplicate {
		// Of several records with an id the first counts, wanted or not.
		return t.EachINode(ctx, workers, fn)
	}
	skip := func(id uint64, name []byte) bool {
		r, ok := t.ids.rank(id)
		if !ok {
			return true // in no directory
		}
		p := t.parentOf[r]
		return p == NoDir || !want(p, name)
	}
	return t.EachINode(ctx, workers, func(w int, b *EntryBatch) error {
		b.skipFile = skip
		return fn(w, b)
	})
}

// someFiles is [EntryBatch.Each] for a batch of EachSomeFiles.
func (b *EntryBatch) someFiles(fn func(*Entry) error) error {
	e := b.entry
	return b.b.SomeINodes(e.INode, b.skipFile, func(n *fsimage.INode) error {
		if !e.find(n) {
			return nil
		}
		return fn(e)
	})
}

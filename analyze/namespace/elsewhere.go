package namespace

import "fsweep/fsimage"

// UsageIn is what the quotas of a directory, and of those above it, are charged for
// the live directory d once it was renamed to there. It differs from [Tree.Usage] by
// the storage policies that are handed down from above.
func (t *Tree) UsageIn(d, there Dir) Usage {
	v := t.subtree(d)
	if h := t.held[d]; h != nil {
		v.add(h)
	}
	v.resolve(t.attr.at(d).policy)
	v.resolve(t.attr.at(there).effective)
	return v.usage()
}

// UsageIn is [Tree.UsageIn] of the entry's inode.
func (e *Entry) UsageIn(there Dir) Usage {
	switch e.INode.Type {
	case fsimage.DirectoryType:
		return e.t.UsageIn(e.Dir, there)
	case fsimage.SymlinkType:
		return Usage{Namespace: 1}
	case fsimage.FileType:
	}
	f, ds := e.t.file(&e.INode.File), []fileDiff(nil)
	if e.t.keep.has(e.INode.ID) {
		ds = e.t.snaps.files.of(e.INode.ID)
	}
	v := f.now(ds)
	v.resolve(e.t.attr.at(there).effective)
	return v.usage()
}

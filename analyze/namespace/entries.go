package namespace

import (
	"context"

	"fsweep/fsimage"
)

// EntryBatch is a run of consecutive records of the image; see
// [Tree.EachINode].
type EntryBatch struct {
	Seq       int // 0, 1, 2, … in the order of the image
	b         *fsimage.Batch
	entry     *Entry
	wantNamed func(parent Dir, typ fsimage.Type, name []byte) bool // of EachNamed
	skip      func(id uint64) bool                                 // of EachINodeIn
}

// Entry is a live inode. It is valid until the callback that received it
// returns.
type Entry struct {
	INode  *fsimage.INode
	Parent Dir // NoDir for the root
	Dir    Dir // NoDir for what is no directory

	t    *Tree
	ids  rankCache
	base []byte // path of baseOf with a slash
	of   Dir
	seen bitSet // by rank, the root last; nil unless records stand twice
}

// EachINode streams the live inodes past, in so many goroutines. fn is called
// once for every batch, by one goroutine for each value of worker, and calls
// [EntryBatch.Each]. Inside a batch inodes come in the order of the image;
// batches come out of order, but each goroutine's in order.
func (t *Tree) EachINode(ctx context.Context, workers int, fn func(worker int, b *EntryBatch) error) error {
	if t.duplicate {
		workers = 1 // the first record of an id counts, and first means in the file
	}
	workers = max(workers, 1)
	type state struct {
		entry Entry
		inode fsimage.INode
	}
	states := make([]fsimage.Apart[state], workers)
	for i := range states {
		s := &states[i].V
		s.entry = Entry{INode: &s.inode, t: t, ids: rankCache{set: t.ids}, of: NoDir}
	}
	if t.duplicate {
		states[0].V.entry.seen = newBitSet(t.ids.len + 1)
	}
	_, _, err := t.im.INodes(ctx, workers, func(w int, b *fsimage.Batch) error {
		e := &states[w].V.entry
		return fn(w, &EntryBatch{Seq: b.Seq, b: b, entry: e})
	})
	return err
}

// Len is the number of records in the batch, those included that Each leaves out.
func (b *EntryBatch) Len() int { return b.b.Len() }

// Each calls fn for every live inode of the batch.
func (b *EntryBatch) Each(fn func(*Entry) error) error {
	if b.skip != nil {
		return b.chosen(fn)
	}
	if b.wantNamed != nil {
		return b.named(fn)
	}
	e := b.entry
	return b.b.INodes(e.INode, func(n *fsimage.INode) error {
		if !e.find(n) {
			return nil
		}
		return fn(e)
	})
}

// find fills e for an inode; false if it is not live.
func (e *Entry) find(n *fsimage.INode) bool {
	t := e.t
	e.Parent, e.Dir = NoDir, NoDir
	if n.ID == rootID {
		e.Dir = t.root
		return n.Type == fsimage.DirectoryType && !e.repeated(uint32(t.ids.len))
	}
	r, ok := e.ids.rank(n.ID)
	if !ok || e.repeated(r) {
		return false
	}
	return e.in(t.parentOf[r])
}

// in fills e for an inode in a directory; false if it is not live.
func (e *Entry) in(parent Dir) bool {
	n, t := e.INode, e.t
	e.Parent, e.Dir = parent, NoDir
	if parent == NoDir || !t.Live(parent) {
		return false
	}
	if n.Type == fsimage.DirectoryType {
		e.Dir = t.dirOf(n.ID)
		return e.Dir != NoDir
	}
	return true
}

func (e *Entry) repeated(r uint32) bool { return e.seen != nil && e.seen.add(r) }

// AppendPath appends the inode's path; see [Tree.AppendPath].
func (e *Entry) AppendPath(dst []byte) []byte {
	if e.Parent == NoDir || e.t.badName(e.Parent, e.INode.Name) {
		return e.t.appendInodePath(dst, e)
	}
	e.setBase()
	dst = append(dst, e.base...)
	return append(dst, e.INode.Name...)
}

// SplitPath gives the path in two parts: that of the directory with a slash, and
// the name. It is false for what has no such path. dir is valid until the next
// call with another Parent, name as long as e.
func (e *Entry) SplitPath() (dir, name []byte, ok bool) {
	if e.Parent == NoDir || e.t.badName(e.Parent, e.INode.Name) {
		return nil, nil, false
	}
	e.setBase()
	return e.base, e.INode.Name, true
}

// setBase makes base the path of the parent. Neighbours in an image mostly share
// it.
func (e *Entry) setBase() {
	if e.of == e.Parent {
		return
	}
	e.of = e.Parent
	e.base = e.base[:0]
	if e.Parent != e.t.root {
		e.base = e.t.AppendPath(e.base, e.Parent)
	}
	e.base = append(e.base, '/')
}

func (t *Tree) appendInodePath(dst []byte, e *Entry) []byte {
	if e.Dir == t.root {
		return append(dst, '/')
	}
	return t.appendChild(dst, e.Parent, e.INode.Name, e.INode.ID)
}

// Permission is user, group and mode in one.
func (e *Entry) Permission() fsimage.Permission {
	switch e.INode.Type {
	case fsimage.FileType:
		return e.INode.File.Permission
	case fsimage.DirectoryType:
		return e.INode.Directory.Permission
	case fsimage.SymlinkType:
		return e.INode.Symlink.Permission
	}
	return 0
}

// Owner is the name of the user who owns the inode.
func (e *Entry) Owner() string { return e.t.OwnerName(e.Permission()) }

// Group is the name of the inode's group.
func (e *Entry) Group() string { return e.t.GroupName(e.Permission()) }

// Mode is the permission bits.
func (e *Entry) Mode() uint16 { return e.Permission().Mode() }

// MTimeMs is the modification time in milliseconds since 1970.
func (e *Entry) MTimeMs() int64 {
	switch e.INode.Type {
	case fsimage.FileType:
		return int64(e.INode.File.MTimeMs)
	case fsimage.DirectoryType:
		return int64(e.INode.Directory.MTimeMs)
	case fsimage.SymlinkType:
		return int64(e.INode.Symlink.MTimeMs)
	}
	return 0
}

// ATimeMs is the access time in milliseconds since 1970; directories have none,
// which is 0.
func (e *Entry) ATimeMs() int64 {
	switch e.INode.Type {
	case fsimage.FileType:
		return int64(e.INode.File.ATimeMs)
	case fsimage.SymlinkType:
		return int64(e.INode.Symlink.ATimeMs)
	case fsimage.DirectoryType:
	}
	return 0
}

// Length is the number of bytes of a file, else 0.
func (e *Entry) Length() int64 {
	if e.INode.Type != fsimage.FileType {
		return 0 // whatever else its record holds
	}
	f := file{blocks: e.INode.File.Blocks}
	return f.length()
}

// SpaceConsumed is the disk space of a file in bytes as the content summary of
// its directory has it, blocks that only snapshots hold included; else 0.
func (e *Entry) SpaceConsumed() int64 {
	if e.INode.Type != fsimage.FileType {
		return 0
	}
	f := e.t.file(&e.INode.File)
	if !e.t.keep.has(e.INode.ID) {
		s, _ := f.sums()
		return s.Space
	}
	if ds := e.t.snaps.files.of(e.INode.ID); len(ds) > 0 {
		return f.vecWithDiffs(ds, false).space
	}
	s, _ := f.sums()
	return s.Space
}

// StoragePolicy is the name of the storage policy in force, empty if
// unspecified.
func (e *Entry) StoragePolicy() string {
	switch e.INode.Type {
	case fsimage.DirectoryType:
		return e.t.StoragePolicy(e.Dir)
	case fsimage.FileType:
		return policyName(e.t.filePolicy(e.Parent, &e.INode.File))
	case fsimage.SymlinkType:
	}
	return ""
}

// ECPolicy is the name of the erasure coding policy: a file's own, or the one
// in force in a directory.
func (e *Entry) ECPolicy() string {
	switch e.INode.Type {
	case fsimage.DirectoryType:
		return e.t.ECPolicy(e.Dir)
	case fsimage.FileType:
		return e.t.FileECPolicy(&e.INode.File)
	case fsimage.SymlinkType:
	}
	return ""
}

// Encrypted tells whether the inode is in an encryption zone.
func (e *Entry) Encrypted() bool {
	if e.Dir != NoDir {
		return e.t.Encrypted(e.Dir)
	}
	return e.t.Encrypted(e.Parent)
}

// ACL lists the entries of the inode's ACL as HDFS writes them, such as
// user:carol:r-x; nil if it has none.
func (e *Entry) ACL() []string {
	if e.INode.Type == fsimage.DirectoryType {
		return e.t.aclEntries(e.INode.Directory.ACL)
	}
	return e.t.aclEntries(e.INode.File.ACL)
}

// XAttrs lists the names of the inode's extended attributes with their
// namespaces, such as user.note; nil if it has none.
func (e *Entry) XAttrs() []string {
	if e.INode.Type == fsimage.DirectoryType {
		return e.t.xattrNames(e.INode.Directory.XAttrs)
	}
	return e.t.xattrNames(e.INode.File.XAttrs)
}

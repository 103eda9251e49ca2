package namespace

import "fsweep/fsimage"

// Moved is what happens when an inode with all below it is renamed to a place
// that no snapshot shows and other quotas are charged for, like the trash, and is
// deleted there later.
type Moved struct {
	// Usage is what the quotas of the directories above are no longer charged from
	// the rename on. What a snapshot shows at the old place stays charged there; of
	// erasure coded files one inode more, which makes Namespace negative for them.
	// A running NameNode gives back what is charged to storage types only when it
	// is started again, where a snapshot shows the inode and the storage policy is
	// that of a directory above.
	Usage Usage
	// Freed is what the deletion frees: bytes on disk, all replicas or with parity.
	Freed int64
	// Held is the rest of what the live files take: bytes on disk of blocks that a
	// snapshot shows. Nothing of it is free before snapshots are deleted. Both are 0
	// where the NameNode's sum is negative, because it wrapped around.
	Held int64
	// Undeletable: it is or holds an erasure coded file that is renamed while a
	// snapshot shows it, now or before. NameNodes 3.3.6 to 3.5.0 fail to delete that,
	// after they changed their memory and before they log it, so that other NameNodes
	// disagree with them from then on. Who cares for a cluster does not
	// move such a thing to the trash.
	Undeletable bool
}

// IfMoved tells what moving the live directory d gives back. It takes the time
// that the diffs of d and below need, and none where there are no snapshots. An
// error, which wraps [fsimage.ErrUnsupported] or [fsimage.ErrCorrupt], means that
// there are too many of them; no NameNode saves that.
func (t *Tree) IfMoved(d Dir) (Moved, error) {
	m := Moved{Usage: t.Usage(d)}
	s := t.snapshots()
	live := t.sums.at(d).space
	if len(s.places) == 0 {
		m.Freed = max(live, 0)
		return m, nil
	}
	m.Held = clamp(s.heldSpace(d), live)
	m.Freed = max(live, 0) - m.Held
	m.Undeletable = s.undeletable[d]
	if d == t.root {
		return m, nil // it cannot move
	}
	p := s.place(t.Parent(d))
	latest := s.latest(t.ID(d), p)
	if !p.inNewest(t.Name(d), latest) {
		return m, nil
	}
	v := t.resolved(d)
	if s.seenDir.has(uint32(d)) {
		var err error
		if v, err = s.again().dirAsOf(d, uint32(latest)); err != nil {
			return Moved{}, err
		}
	}
	v.resolve(t.attr.at(t.Parent(d)).effective)
	m.Usage.sub(v.usage())
	return m, nil
}

// IfMoved tells what moving the inode gives back; see [Tree.IfMoved]. Errors are
// possible for directories alone.
func (e *Entry) IfMoved() (Moved, error) {
	if e.Dir != NoDir {
		return e.t.IfMoved(e.Dir)
	}
	t, id := e.t, e.INode.ID
	s := t.snapshots()
	p := place{newest: none, latest: none, since: none}
	if len(s.places) > 0 {
		p = s.place(e.Parent)
	}
	inNewest := p.inNewest(e.INode.Name, p.latest)
	_, renamed := s.dst[id]
	if e.INode.Type == fsimage.SymlinkType {
		m := Moved{Usage: Usage{Namespace: 1}}
		if inNewest {
			m.Usage.Namespace = 0
		}
		return m, nil
	}
	f, ds := t.file(&e.INode.File), []fileDiff(nil)
	if t.keep.has(id) {
		ds = t.snaps.files.of(id)
	}
	v := f.now(ds)
	m := Moved{Undeletable: f.striped && (inNewest || renamed), Held: clamp(f.heldSpace(ds, s.file(&p, id, e.INode.Name)), v.space)}
	m.Freed = max(v.space, 0) - m.Held
	policy := t.attr.at(e.Parent).effective
	v.resolve(policy)
	m.Usage = v.usage()
	if inNewest {
		// The rename makes a diff, so that an erasure coded file counts as one with
		// diffs even if it had none.
		w := f.vecAt(ds, uint32(p.latest))
		w.resolve(policy)
		m.Usage.sub(w.usage())
	}
	return m, nil
}

// clamp brings n between 0 and most, where sums may have wrapped around.
func clamp(n, most int64) int64 { return min(max(n, 0), max(most, 0)) }

func (u *Usage) sub(o Usage) {
	u.Namespace -= o.Namespace
	u.Space -= o.Space
	for i := range u.Type {
		u.Type[i] -= o.Type[i]
	}
}

// again gives a held for one computation.
func (s *shown) again() *held {
	h := s.held
	h.loader = &loader{Tree: s.Tree}
	h.done, h.active, h.at = map[Dir]*vec{}, map[Dir]bool{}, map[atKey]*vec{}
	return &h
}

// heldSpace is what of the files below d snapshots keep when all of them are
// deleted from the live tree.
func (s *shown) heldSpace(d Dir) int64 {
	p := s.place(d)
	rest := s.sums.at(d).space // of what has no diffs and is where it was
	held := int64(0)
	for _, c := range s.children[d] {
		rest -= s.sums.at(c).space
		held += s.heldSpace(c)
	}
	for _, k := range in(s.kept, d) {
		switch k.typ {
		case fsimage.DirectoryType:
			if k.dir != NoDir && !s.seenDir.has(uint32(k.dir)) && s.place(k.dir).newest == none {
				rest -= s.sums.at(k.dir).space
			}
		case fsimage.FileType:
			ds := s.snaps.files.of(k.id)
			v := k.file.now(ds)
			rest -= v.space
			held += clamp(k.file.heldSpace(ds, s.file(&p, k.id, s.names.get(k.name))), v.space)
		case fsimage.SymlinkType:
		}
	}
	if p.newest == none {
		return held
	}
	return held + rest
}

// now is the contribution of a live file in its current state.
func (f *file) now(ds []fileDiff) vec {
	if len(ds) > 0 {
		return f.vecWithDiffs(ds, false)
	}
	return f.vec()
}

// heldSpace is what the blocks take that a deleted file leaves to snapshots.
// newest is the newest one that shows it.
func (f *file) heldSpace(ds []fileDiff, newest snapshotID) int64 {
	switch {
	case newest == none:
		return 0
	case newest > newestFileDiff(ds): // as it is now
		return f.now(ds).space
	}
	g := *f
	g.blocks, g.open = f.blocksOf(ds), false
	// A NameNode leaves the blocks of a deleted file at the replication that they had.
	return g.vecWithDiffs(ds, false).space
}

// blocksOf gives the current blocks that diffs need as well: those that they
// list, and of the others the first ones, up to the size of a diff without a list.
func (f *file) blocksOf(ds []fileDiff) []fsimage.Block {
	listed, size := map[uint64]bool{}, int64(0)
	for i := range ds {
		for _, b := range ds[i].blocks {
			listed[b.ID] = true
		}
		if len(ds[i].blocks) == 0 {
			size = max(size, ds[i].size)
		}
	}
	var blocks []fsimage.Block
	sum := int64(0)
	for _, b := range f.blocks {
		if listed[b.ID] || sum < size {
			blocks = append(blocks, b)
		}
		sum += int64(b.NumBytes)
	}
	return blocks
}

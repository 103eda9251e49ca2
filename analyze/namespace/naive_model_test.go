package namespace

import (
	"maps"
	"slices"

	"fsweep/fsimage/imagetest"
)

// naiveINode is an inode with its history, the way a NameNode holds it. Its sums
// follow docs/format/accounting.md by walking everything anew for each question.
// held.go corrects current sums instead; that nothing is shared with it, not even
// the method, is the point.
type naiveINode struct {
	node      *imagetest.Node
	children  []naiveEntry   // now
	dirDiffs  []naiveDirDiff // newest first
	fileDiffs []modelDiff    // newest first
}

// naiveDirDiff is what changed in a directory after a snapshot, up to the next.
type naiveDirDiff struct {
	snapshot uint32
	created  []string
	deleted  []naiveEntry
}

// naiveEntry is a place of an inode: in a directory or in a deleted list.
type naiveEntry struct {
	inode    *naiveINode
	withName bool   // it was renamed to elsewhere: a WithName reference
	name     string // withName: the old one
	last     uint32 // withName: the last snapshot with that name
	isRef    bool   // in a deleted list: a reference of either kind
	ref      uint32 // its index
}

func (e naiveEntry) entryName() string {
	if e.withName {
		return e.name
	}
	return e.inode.node.Name
}

// sums gives what the inode counts at this place, as it is now or as of a
// snapshot. Of live directories the sums are kept in live, which is nil for what
// only a snapshot holds.
func (e naiveEntry) sums(policy byte, snapshot uint32, live map[uint64]modelSums) modelSums {
	if e.withName && snapshot == imagetest.SnapshotCurrent {
		snapshot = e.last
	}
	n := e.inode
	if own := ownPolicy(n.node); own != unspecified {
		policy = own
	}
	switch n.node.Kind {
	case imagetest.Symlink:
		return modelSums{usage: Usage{Namespace: 1}, all: Counts{Symlinks: 1}}
	case imagetest.File:
		return n.file(policy, snapshot, live == nil)
	}
	s := n.directory(policy, snapshot, live)
	if live != nil {
		live[n.node.ID] = s
	}
	return s
}

func (n *naiveINode) directory(policy byte, snapshot uint32, live map[uint64]modelSums) modelSums {
	s := modelSums{usage: Usage{Namespace: 1}, all: Counts{Directories: 1}}
	for _, e := range n.childrenAt(snapshot) {
		x := e.sums(policy, snapshot, live)
		s.add(&x)
	}
	if snapshot != imagetest.SnapshotCurrent {
		return s // a view of the past has no deleted lists
	}
	for _, d := range n.dirDiffs {
		for _, e := range d.deleted {
			x := e.sums(policy, imagetest.SnapshotCurrent, nil)
			x.held = x.all
			s.add(&x)
		}
	}
	return s
}

// childrenAt undoes the diffs back to a snapshot, the newest first.
func (n *naiveINode) childrenAt(snapshot uint32) []naiveEntry {
	byName := map[string]naiveEntry{}
	for _, e := range n.children {
		byName[e.entryName()] = e
	}
	for _, d := range n.dirDiffs {
		if d.snapshot < snapshot {
			break
		}
		for _, name := range d.created {
			delete(byName, name)
		}
		for _, e := range d.deleted {
			byName[e.entryName()] = e
		}
	}
	return slices.Collect(maps.Values(byName))
}

// file gives the sums of a file: of all its blocks when it is current, of its
// size at the time as of a snapshot.
func (n *naiveINode) file(policy byte, snapshot uint32, deleted bool) modelSums {
	s := modelSums{usage: Usage{Namespace: 1}, all: Counts{Files: 1}}
	for _, b := range n.node.Blocks {
		s.all.Length += int64(b.Bytes)
	}
	blocks := n.distinctBlocks()
	perReplica, replication := int64(0), n.highestReplication(deleted)
	for _, bytes := range blocks {
		perReplica += bytes
	}
	past := snapshot != imagetest.SnapshotCurrent && len(n.fileDiffs) > 0
	if past {
		s.all.Length, replication = n.fileAt(snapshot, s.all.Length)
		perReplica = s.all.Length
	}
	if n.node.EC > 0 {
		for _, bytes := range blocks { // the NameNode takes all, whatever the snapshot
			s.usage.Space += naiveStriped(n.node.EC, bytes)
		}
		if past {
			s.usage.Namespace++ // and counts the inode twice
		}
	} else {
		types := modelTypes(policy)
		for k := range int(replication) {
			s.usage.Space += perReplica
			if types != nil {
				s.usage.Type[types[min(k, len(types)-1)]] += perReplica
			}
		}
	}
	s.all.Space = s.usage.Space
	return s
}

// distinctBlocks are those of the file and of its diffs, by id.
func (n *naiveINode) distinctBlocks() map[uint64]int64 {
	blocks := map[uint64]int64{}
	for _, b := range n.node.Blocks {
		blocks[b.ID] = int64(b.Bytes)
	}
	for _, d := range n.fileDiffs {
		for _, b := range d.upToSize() {
			blocks[b.ID] = int64(b.Bytes)
		}
	}
	return blocks
}

// highestReplication is that of the file and its copies; a deleted file that has
// diffs only has that of its copies.
func (n *naiveINode) highestReplication(deleted bool) uint32 {
	highest := n.node.Replication
	if deleted && len(n.fileDiffs) > 0 {
		highest = 0
	}
	for _, d := range n.fileDiffs {
		if d.copied {
			highest = max(highest, d.replication)
		}
	}
	return highest
}

// fileAt gives length and replication as of a snapshot: those of the oldest diff
// not older than it, or the current ones.
func (n *naiveINode) fileAt(snapshot uint32, length int64) (int64, uint32) {
	replication := n.node.Replication
	for _, d := range n.fileDiffs { // the last to set a value is the oldest
		if d.snapshot < snapshot {
			break
		}
		length = int64(d.size)
		if d.copied {
			replication = d.replication
		}
	}
	return length, replication
}

// naiveStriped adds the parity of a block group stripe by stripe.
func naiveStriped(policy uint32, bytes int64) int64 {
	data, parity, cell := modelEC(policy)
	space := bytes
	for left := bytes; left > 0; left -= data * cell {
		space += parity * min(left, cell)
	}
	return space
}

func (s *modelSums) add(x *modelSums) {
	s.usage.Namespace += x.usage.Namespace
	s.usage.Space += x.usage.Space
	for k := range s.usage.Type {
		s.usage.Type[k] += x.usage.Type[k]
	}
	for _, c := range []struct{ to, from *Counts }{{&s.all, &x.all}, {&s.held, &x.held}} {
		c.to.Directories += c.from.Directories
		c.to.Files += c.from.Files
		c.to.Symlinks += c.from.Symlinks
		c.to.Length += c.from.Length
		c.to.Space += c.from.Space
	}
}

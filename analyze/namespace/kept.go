package namespace

import (
	"cmp"
	"slices"

	"fsweep/fsimage"
)

// keptINode is a file, symlink or directory that snapshots touch.
type keptINode struct {
	id     uint64
	file   *file  // if it is a file
	name   uint32 // address in names
	parent Dir    // current one, NoDir if none
	dir    Dir    // if it is a directory
	typ    fsimage.Type
}

// keptINodes finds kept inodes by id. Those in a chunk lie together, so that
// each costs no allocation of its own.
type keptINodes struct {
	chunks [][]keptINode
	files  []file // room for more
	byID   []*keptINode
}

const keptChunk = 512

// add makes room for one more and returns it; sort must follow.
func (k *keptINodes) add(n keptINode) *keptINode {
	if i := len(k.chunks); i == 0 || len(k.chunks[i-1]) == keptChunk {
		k.chunks = append(k.chunks, make([]keptINode, 0, keptChunk))
	}
	last := &k.chunks[len(k.chunks)-1]
	*last = append(*last, n)
	return &(*last)[len(*last)-1]
}

// addFile keeps a copy of a file.
func (k *keptINodes) addFile(f file) *file {
	if len(k.files) == cap(k.files) {
		k.files = make([]file, 0, keptChunk)
	}
	f.blocks = slices.Clone(f.blocks)
	k.files = append(k.files, f)
	return &k.files[len(k.files)-1]
}

// sort makes the inodes findable, and returns how many had the id of another
// and were dropped.
func (k *keptINodes) sort() (repeated int64) {
	n := 0
	for _, c := range k.chunks {
		n += len(c)
	}
	k.byID = make([]*keptINode, 0, n)
	for _, c := range k.chunks {
		for i := range c {
			k.byID = append(k.byID, &c[i])
		}
	}
	slices.SortStableFunc(k.byID, func(a, b *keptINode) int { return cmp.Compare(a.id, b.id) })
	k.byID = slices.CompactFunc(k.byID, func(a, b *keptINode) bool { return a.id == b.id })
	return int64(n - len(k.byID))
}

// get finds an inode, nil if it was not kept.
func (k *keptINodes) get(id uint64) *keptINode {
	i, ok := slices.BinarySearchFunc(k.byID, id, func(a *keptINode, id uint64) int { return cmp.Compare(a.id, id) })
	if !ok {
		return nil
	}
	return k.byID[i]
}

// byParent gives the inodes that are in a directory, sorted by it.
func (k *keptINodes) byParent() []*keptINode {
	list := make([]*keptINode, 0, len(k.byID))
	for _, n := range k.byID {
		if n.parent != NoDir {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b *keptINode) int { return cmp.Compare(a.parent, b.parent) })
	return list
}

// in gives the part of a list of byParent that is in d.
func in(list []*keptINode, d Dir) []*keptINode {
	i, _ := slices.BinarySearchFunc(list, d, func(a *keptINode, d Dir) int { return cmp.Compare(a.parent, d) })
	j := i
	for j < len(list) && list[j].parent == d {
		j++
	}
	return list[i:j]
}

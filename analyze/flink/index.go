package flink

import (
	"slices"

	"fsweep/analyze/namespace"
)

// class is what a directory below a root is, which says what may be in it.
type class uint8

const (
	outside    class = iota // of every unit: ignored, excluded, no part of the layout
	rootClass               // the root
	jobClass                // JOB
	runClass                // RUN
	savepoint               // a savepoint
	cluster                 // CLUSTER-ID
	child                   // a child that is a unit, and what is below it
	otherChild              // another child, and what is below it
	checkpoint              // chk-N
	shared                  // shared, taskowned and dstl, and what is below them
	taskowned
	changelog
	inside // anything else in a unit
)

// place is what the times of files in such a directory are of.
func (c class) place() Place {
	switch c {
	case checkpoint:
		return CheckpointPlace
	case shared:
		return SharedPlace
	case taskowned:
		return TaskownedPlace
	case changelog:
		return ChangelogPlace
	default:
		return FilePlace
	}
}

// hasMetadata tells whether Flink puts a `_metadata` into such directories.
func (c class) hasMetadata() bool { return c == checkpoint || c == savepoint }

const (
	noNode     = ^uint32(0)
	noUnit     = int32(-1)
	notYet     = uint32(0) // values of place that are no node
	below      = uint32(1)
	firstPlace = uint32(2)
)

// node is a directory that is a root or below one.
type node struct {
	dir        namespace.Dir
	parent     uint32 // node; noNode of a root
	root       uint32 // in roots
	unit       int32  // in units, or noUnit
	checkpoint int32  // in checkpoints, or noUnit
	class      class
	bits       uint8
}

// Bits of node, about the directory itself.
const (
	quotaBit = 1 << iota
	snapshottableBit
	snapshotsBit
	encryptionZoneBit
	insideShift = 4 // the same of directories below
)

// index finds the nodes of directories. It has four bytes for every directory of
// the image, and everything else only for those below roots.
type index struct {
	t     *namespace.Tree
	place []uint32 // of Dir: the number of the node, from firstPlace on
	nodes []node
	facts []facts // of nodes, until all is added up
	// The children of node i, by name, are list[first[i]:first[i+1]].
	first []uint32
	list  []uint32

	roots       []*Root
	units       []*Unit
	checkpoints []*Checkpoint
}

// newIndex finds all directories below the roots. A directory below two belongs
// to the inner one.
func newIndex(t *namespace.Tree, roots []*Root) *index {
	x := &index{t: t, place: make([]uint32, t.NumDirs()), roots: roots}
	// Growing would copy them. Of a root in another one the room is there twice.
	room := int64(0)
	for _, r := range roots {
		room += max(r.Totals.Directories, 0)
	}
	x.nodes = make([]node, 0, max(0, min(room, int64(t.NumDirs()))))
	for i, r := range roots {
		if r.Dir != namespace.NoDir && x.place[r.Dir] == notYet {
			x.add(r.Dir, noNode, uint32(i))
		}
	}
	var way []namespace.Dir
	for d := range t.Dirs() {
		way = way[:0]
		for d != namespace.NoDir && x.place[d] == notYet {
			way = append(way, d)
			d = t.Parent(d)
		}
		above := noNode
		if d != namespace.NoDir {
			above = x.at(d)
		}
		for _, d := range slices.Backward(way) {
			if above == noNode {
				x.place[d] = below
				continue
			}
			above = x.add(d, above, x.nodes[above].root)
		}
	}
	// A root in another one is also a child there: the outer one excludes it.
	for i := range x.nodes {
		if n := &x.nodes[i]; n.parent == noNode {
			if p := t.Parent(n.dir); p != namespace.NoDir {
				n.parent = x.at(p)
			}
		}
	}
	x.facts = make([]facts, len(x.nodes))
	x.sortChildren()
	return x
}

func (x *index) add(d namespace.Dir, parent, root uint32) uint32 {
	i := uint32(len(x.nodes))
	x.nodes = append(x.nodes, node{dir: d, parent: parent, root: root, unit: noUnit, checkpoint: noUnit})
	x.place[d] = firstPlace + i
	return i
}

// at gives the node of a directory, noNode if it is below no root.
func (x *index) at(d namespace.Dir) uint32 {
	if int64(d) >= int64(len(x.place)) || x.place[d] < firstPlace {
		return noNode
	}
	return x.place[d] - firstPlace
}

func (x *index) sortChildren() {
	x.first = make([]uint32, len(x.nodes)+2)
	for i := range x.nodes {
		if p := x.nodes[i].parent; p != noNode {
			x.first[p+2]++
		}
	}
	for i := 2; i < len(x.first); i++ {
		x.first[i] += x.first[i-1]
	}
	x.list = make([]uint32, x.first[len(x.first)-1])
	for i := range x.nodes {
		if p := x.nodes[i].parent; p != noNode {
			x.list[x.first[p+1]] = uint32(i)
			x.first[p+1]++
		}
	}
	for i := range x.nodes {
		slices.SortFunc(x.children(uint32(i)), x.byName)
	}
}

func (x *index) byName(a, b uint32) int {
	d, e := x.nodes[a].dir, x.nodes[b].dir
	if c := slices.Compare(x.t.Name(d), x.t.Name(e)); c != 0 {
		return c
	}
	if x.t.ID(d) < x.t.ID(e) {
		return -1
	}
	return 1
}

func (x *index) children(i uint32) []uint32 { return x.list[x.first[i]:x.first[i+1]] }

func (x *index) name(i uint32) string { return string(x.t.Name(x.nodes[i].dir)) }

func (x *index) path(i uint32) []byte { return x.t.AppendPath(nil, x.nodes[i].dir) }

func (x *index) id(i uint32) uint64 { return x.t.ID(x.nodes[i].dir) }

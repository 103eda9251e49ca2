package flink

import (
	"iter"
	"slices"

	"fsweep/analyze/namespace"
)

// class is what a directory below a root is, which says what may be in it.
type class uint8

const (
	outside       class = iota // of every unit: ignored, no part of the layout
	excludedClass              // a directory of the first level that the declaration excludes
	storeClass                 // job-result-store and the like
	oddInJob                   // in a JOB, where it should not be
	rootClass                  // the root
	jobClass                   // JOB
	runClass                   // RUN
	savepoint                  // a savepoint
	cluster                    // CLUSTER-ID
	child                      // a child that is a unit, and what is below it
	otherChild                 // another child, and what is below it
	checkpoint                 // chk-N
	shared                     // shared, taskowned and dstl, and what is below them
	taskowned
	changelog
	inside // anything else in a unit
)

// looked tells whether files in such a directory matter.
func (c class) looked() bool { return c >= rootClass }

// ofUnit tells whether such a directory is a unit or in one.
func (c class) ofUnit() bool { return c >= runClass && c != otherChild }

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
	notYet     = uint32(0) // values of place that are no node
	elsewhere  = uint32(1)
	firstPlace = uint32(2)

	classBits = 0x1f
	markerDir = 0x80 // of a node: a directory in it is a marker
)

// index numbers the directories that are roots or below one. The nodes of a root are its
// own, root by root, each directory before what is in it, by name. So what is below a
// directory follows it, and whoever goes from one number to the next comes by all in the
// order of names. A directory below two roots belongs to the inner one.
//
// It has four bytes for every directory of the image, and nine for each below a root.
type index struct {
	t     *namespace.Tree
	roots []*Root
	place []uint32        // of Dir: the number of the node, from firstPlace on
	dirs  []namespace.Dir // of nodes
	size  []uint32        // of nodes: how many nodes of the same root it and all below it are
	bits  []uint8         // of nodes: the class and the bits above
	start []uint32        // of roots: their first node; at the end, how many nodes there are
	// inner has the nodes of roots that lie directly in a node of another one, by name;
	// under has those at any depth below a node, by number of the root.
	inner map[uint32][]uint32
	under map[uint32][]uint32
}

// newIndex finds all directories below the roots.
func newIndex(t *namespace.Tree, roots []*Root) *index {
	x := &index{t: t, place: make([]uint32, t.NumDirs()), roots: roots, inner: map[uint32][]uint32{}, under: map[uint32][]uint32{}}
	isRoot := map[namespace.Dir]bool{}
	for _, r := range roots {
		if r.Dir != namespace.NoDir {
			x.place[r.Dir], isRoot[r.Dir] = firstPlace, true
		}
	}
	n := x.findBelow()
	x.dirs, x.size, x.bits = make([]namespace.Dir, 0, n), make([]uint32, n), make([]uint8, n)
	first, list := x.childLists(n, isRoot)
	done := map[namespace.Dir]bool{}
	for _, r := range roots {
		x.start = append(x.start, uint32(len(x.dirs)))
		if r.Dir != namespace.NoDir && !done[r.Dir] { // of one that is declared twice the earlier one has the nodes
			done[r.Dir] = true
			x.number(r.Dir, first, list)
		}
	}
	x.start = append(x.start, uint32(len(x.dirs)))
	x.nest()
	return x
}

// findBelow gives every directory that is a root or below one a number of its own, in the
// order of the tree, and tells how many there are.
func (x *index) findBelow() uint32 {
	var way []namespace.Dir
	for d := range x.t.Dirs() {
		way = way[:0]
		for d != namespace.NoDir && x.place[d] == notYet {
			way = append(way, d)
			d = x.t.Parent(d)
		}
		what := elsewhere
		if d != namespace.NoDir {
			what = x.place[d]
		}
		for _, d := range way {
			x.place[d] = what
		}
	}
	n := uint32(0)
	for d, what := range x.place { // what is on the way to others can be missing in the image
		if what >= firstPlace {
			x.place[d] = firstPlace + n
			n++
		}
	}
	return n
}

// childLists gives what is directly in each directory, by name: of the one with number i
// list[first[i]:first[i+1]]. Roots are in no list.
func (x *index) childLists(n uint32, isRoot map[namespace.Dir]bool) (first []uint32, list []namespace.Dir) {
	parent := func(d namespace.Dir) uint32 {
		if x.place[d] < firstPlace || isRoot[d] {
			return noNode
		}
		return x.place[x.t.Parent(d)] - firstPlace
	}
	first = make([]uint32, n+2)
	for d := range namespace.Dir(len(x.place)) {
		if p := parent(d); p != noNode {
			first[p+2]++
		}
	}
	for i := 2; i < len(first); i++ {
		first[i] += first[i-1]
	}
	list = make([]namespace.Dir, first[len(first)-1])
	for d := range namespace.Dir(len(x.place)) {
		if p := parent(d); p != noNode {
			list[first[p+1]] = d
			first[p+1]++
		}
	}
	for i := range n {
		if c := list[first[i]:first[i+1]]; len(c) > 1 {
			slices.SortFunc(c, x.byName)
		}
	}
	return first[:n+1], list
}

func (x *index) byName(d, e namespace.Dir) int {
	if c := slices.Compare(x.t.Name(d), x.t.Name(e)); c != 0 {
		return c
	}
	if x.t.ID(d) < x.t.ID(e) {
		return -1
	}
	return 1
}

// number gives all nodes of a root their final numbers.
func (x *index) number(root namespace.Dir, first []uint32, list []namespace.Dir) {
	type level struct{ node, at, end uint32 }
	var open []level
	enter := func(d namespace.Dir) {
		k, node := x.place[d]-firstPlace, uint32(len(x.dirs))
		x.place[d] = firstPlace + node
		x.dirs = append(x.dirs, d)
		if len(open) > 0 && string(x.t.Name(d)) == MarkerName {
			x.bits[open[len(open)-1].node] |= markerDir
		}
		open = append(open, level{node, first[k], first[k+1]})
	}
	for enter(root); len(open) > 0; {
		l := &open[len(open)-1]
		if l.at == l.end {
			x.size[l.node] = uint32(len(x.dirs)) - l.node
			open = open[:len(open)-1]
			continue
		}
		d := list[l.at]
		l.at++
		enter(d)
	}
}

// nest notes which roots lie in others.
func (x *index) nest() {
	for i := range x.roots {
		if x.start[i] == x.start[i+1] {
			continue
		}
		n := x.start[i]
		for d, direct := x.t.Parent(x.dirs[n]), true; d != namespace.NoDir; d, direct = x.t.Parent(d), false {
			p := x.at(d)
			if p == noNode {
				continue
			}
			x.under[p] = append(x.under[p], uint32(i))
			if direct {
				x.inner[p] = append(x.inner[p], n)
				if string(x.t.Name(x.dirs[n])) == MarkerName {
					x.bits[p] |= markerDir
				}
			}
		}
	}
	for _, list := range x.inner {
		slices.SortFunc(list, func(a, b uint32) int { return x.byName(x.dirs[a], x.dirs[b]) })
	}
}

// at gives the node of a directory, noNode if it is below no root.
func (x *index) at(d namespace.Dir) uint32 {
	if int64(d) >= int64(len(x.place)) || x.place[d] < firstPlace {
		return noNode
	}
	return x.place[d] - firstPlace
}

// rootOf gives the number of the root that a node belongs to.
func (x *index) rootOf(n uint32) uint32 {
	i, _ := slices.BinarySearch(x.start, n+1)
	return uint32(i) - 1
}

func (x *index) class(n uint32) class { return class(x.bits[n] & classBits) }

func (x *index) setClass(n uint32, c class) { x.bits[n] = x.bits[n]&^classBits | uint8(c) }

// spread gives a node and all of its root below it a class.
func (x *index) spread(n uint32, c class) {
	for i := n; i < n+x.size[n]; i++ {
		x.setClass(i, c)
	}
}

// own gives what is directly in a node, by name, without other roots.
func (x *index) own(n uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for c := n + 1; c < n+x.size[n]; c += x.size[c] {
			if !yield(c) {
				return
			}
		}
	}
}

// children gives what is directly in a node, by name.
func (x *index) children(n uint32) iter.Seq[uint32] {
	foreign := x.inner[n]
	if len(foreign) == 0 {
		return x.own(n)
	}
	all := slices.AppendSeq(slices.Clone(foreign), x.own(n))
	slices.SortFunc(all, func(a, b uint32) int { return x.byName(x.dirs[a], x.dirs[b]) })
	return slices.Values(all)
}

// foreign tells whether a node in another one belongs to another root.
func (x *index) foreign(c, n uint32) bool { return c < n || c >= n+x.size[n] }

func (x *index) name(n uint32) string { return string(x.t.Name(x.dirs[n])) }

func (x *index) path(n uint32) []byte { return x.t.AppendPath(nil, x.dirs[n]) }

func (x *index) id(n uint32) uint64 { return x.t.ID(x.dirs[n]) }

// nodeSet is a set of few nodes, sorted.
type nodeSet []uint32

func (s *nodeSet) add(n uint32) {
	if n != noNode {
		*s = append(*s, n)
	}
}

func (s nodeSet) has(n uint32) bool {
	_, ok := slices.BinarySearch(s, n)
	return ok
}

// count tells how many are from one node on and before another.
func (s nodeSet) count(from, to uint32) int {
	if len(s) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(s, from)
	k, _ := slices.BinarySearch(s, to)
	return k - i
}

// below tells whether one of a set lies below a node, in whatever root.
func (x *index) below(s nodeSet, n uint32) bool {
	if len(s) == 0 {
		return false
	}
	if s.count(n+1, n+x.size[n]) > 0 {
		return true
	}
	for _, i := range x.under[n] {
		if s.count(x.start[i], x.start[i+1]) > 0 {
			return true
		}
	}
	return false
}

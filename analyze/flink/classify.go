package flink

import (
	"bytes"
	"slices"
)

// misplaced says why a directory cannot be where a RUN, a JOB or the like is
// expected; empty if its name allows it. runs: a run's id is right there;
// savepoints: a savepoint's name is.
func misplaced(name string, runs, savepoints bool) (Reason, string) {
	switch {
	case impossible(name):
		return ImpossibleName, "no client can make this name"
	case isState(name):
		return CheckpointMisplaced, "a directory of a run: the root may be declared one level too deep"
	case looksLikeSavepoint(name) && !savepoints:
		return SavepointMisplaced, "a savepoint"
	case isRunID(name) && !runs:
		return RunMisplaced, "the id of a run: the root may be declared one level too deep"
	case isReserved(name):
		return ReservedName, "this name is no job's"
	}
	return "", ""
}

// classifier says of every directory below a root what it is, before any file was seen,
// and collects what stops roots.
type classifier struct {
	*index
	misfits  []misfits // of roots
	ignored  []map[string]bool
	stateful []bool  // of roots: some run has chk-N, shared or taskowned
	bare     nodeSet // runs with no directory but dstl and markers
	list     []uint32
}

func (b *classifier) misfit(root uint32, m Misfit) {
	b.misfits[root].add(m, MaxListed, compareMisfits)
}

// misfitAt is a misfit of a root that is a directory.
func (b *classifier) misfitAt(root, n uint32, reason Reason, detail string) {
	b.misfit(root, Misfit{Reason: reason, Path: b.path(n), INodeID: b.id(n), Detail: detail})
}

// root looks at the first level of a root.
func (b *classifier) root(i uint32, twice bool) {
	r, n := b.roots[i], b.start[i]
	if n == b.start[i+1] {
		return // missing, and whether it is a file, the pass tells; or declared twice: an earlier one has the nodes
	}
	b.setClass(n, rootClass)
	if twice {
		b.misfitAt(i, n, AmbiguousName, "two directories have this path")
	}
	names := newNames(r.Declared.Jobs, r.Declared.ExcludeJobs)
	level := slices.Collect(b.children(n))
	for k, c := range level {
		name := b.t.Name(b.dirs[c])
		names.see(name)
		if b.ambiguous(level, k) {
			b.misfitAt(i, c, AmbiguousName, "two directories have this name")
		} else if !b.ignored[i][string(name)] {
			b.firstLevel(i, n, c, string(name))
		}
	}
	b.missingNames(i, SelectedNotFound, "selected", r.Declared.Jobs, names)
	b.missingNames(i, ExcludedNotFound, "excluded", r.Declared.ExcludeJobs, names)
}

// namesSeen tells which of some names were seen.
type namesSeen map[string]bool

func newNames(lists ...[]string) namesSeen {
	s := namesSeen{}
	for _, list := range lists {
		for _, name := range list {
			s[name] = false
		}
	}
	return s
}

func (s namesSeen) see(name []byte) {
	if seen, asked := s[string(name)]; asked && !seen {
		s[string(name)] = true
	}
}

// ambiguous tells whether the k-th of several nodes in a directory has the name of the
// one before or behind it, which no client can make.
func (x *index) ambiguous(list []uint32, k int) bool {
	same := func(i int) bool {
		return i >= 0 && i < len(list) && bytes.Equal(x.t.Name(x.dirs[list[i]]), x.t.Name(x.dirs[list[k]]))
	}
	return same(k-1) || same(k+1)
}

func (b *classifier) missingNames(root uint32, reason Reason, what string, names []string, seen namesSeen) {
	var missing []string
	for _, name := range names {
		if !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	r := b.roots[root]
	b.misfit(root, Misfit{
		Reason: reason, Path: r.Path, INodeID: r.INodeID, Names: missing,
		Detail: what + " job directories were not found: " + quoted(missing),
	})
}

// level says what a directory right below a root is by its name: the class of a node of
// its own root, or why it does not fit. It is outside if it has no meaning.
func (d *Declaration) level(name string) (c class, reason Reason, detail string) {
	if name == MarkerName {
		return outside, "", ""
	}
	if d.Layout == HAStorage && isStore(name) {
		return storeClass, "", ""
	}
	reason, detail = misplaced(name, d.Layout == RunLayout, d.Layout == Savepoints)
	if reason != "" && (d.Layout != Children || impossible(name)) { // of children any name is right
		return outside, reason, detail
	}
	switch {
	case slices.Contains(d.ExcludeJobs, name):
		return excludedClass, "", ""
	case d.Layout == JobRun || d.Layout == Savepoints && !looksLikeSavepoint(name):
		return jobClass, "", ""
	case d.Layout == Children && d.matches(name):
		return child, "", ""
	case d.Layout == Children:
		return otherChild, "", ""
	}
	return d.unitClass(), "", ""
}

// unitClass is that of the directory of a unit.
func (d *Declaration) unitClass() class {
	switch d.Layout {
	case Savepoints:
		return savepoint
	case HAStorage:
		return cluster
	case Children:
		return child
	default:
		return runClass
	}
}

// firstLevel says what a directory right below a root is.
func (b *classifier) firstLevel(i, root, n uint32, name string) {
	c, reason, detail := b.roots[i].Declared.level(name)
	switch {
	case reason != "":
		b.misfit(i, Misfit{Reason: reason, Path: b.path(n), INodeID: b.id(n), Detail: detail})
	case b.foreign(n, root):
	case c == child || c == otherChild:
		b.child(i, n, c)
	case c == jobClass:
		b.job(i, n)
	case c == excludedClass || c == storeClass || c == outside:
		b.setClass(n, c)
	default:
		b.unit(i, n, c, name)
	}
}

// job looks at the directories of a JOB.
func (b *classifier) job(i, n uint32) {
	layout := b.roots[i].Declared.Layout
	b.setClass(n, jobClass)
	b.list = slices.AppendSeq(b.list[:0], b.children(n))
	for k, c := range b.list {
		if b.foreign(c, n) {
			continue // another root, which overlaps
		}
		name := b.name(c)
		if name == MarkerName {
			continue
		}
		if b.ambiguous(b.list, k) {
			b.misfitAt(i, c, AmbiguousName, "two directories have this name")
			continue
		}
		if reason, detail := misplaced(name, layout == JobRun, layout == Savepoints); reason != "" {
			b.misfitAt(i, c, reason, detail)
			continue
		}
		if layout == Savepoints && !looksLikeSavepoint(name) {
			b.setClass(c, oddInJob)
			continue
		}
		b.unit(i, c, b.roots[i].Declared.unitClass(), name)
	}
}

// unit looks at what is in a unit.
func (b *classifier) unit(i, n uint32, c class, name string) {
	b.setClass(n, c)
	state, other := false, false
	for s := range b.children(n) {
		if b.foreign(s, n) {
			other = true
			continue
		}
		name := b.name(s)
		state, other = state || isState(name), other || name != "dstl" && name != MarkerName
		b.inUnit(i, s, c, name)
	}
	b.stateful[i] = b.stateful[i] || state
	switch {
	case c != runClass || state:
	case !other && isRunID(name):
		b.bare.add(n) // a file in it would be something else, which the pass tells
	default:
		b.misfitAt(i, n, RunWithoutState, noState)
	}
}

// What is wrong with a RUN by which nobody knows that it is one.
const (
	noState       = "it holds none of chk-N, shared, taskowned, which a RUN has: the root may be declared one level too shallow"
	onlyChangelog = "it holds only dstl, and no RUN of the root holds chk-N, shared or taskowned: the root may be that of changelogs"
)

// inUnit says what a directory right below a unit's is.
func (b *classifier) inUnit(i, n uint32, unit class, name string) {
	c := inside
	switch {
	case name == MarkerName || impossible(name):
	case unit == cluster && isState(name):
		b.misfitAt(i, n, CheckpointMisplaced, "a directory of a run in what should be a cluster")
	case unit != runClass:
	case isCheckpoint(name):
		if _, ok := checkpointNumber(name); ok {
			b.spread(n, inside)
			b.setClass(n, checkpoint)
			return
		}
	case name == "shared":
		c = shared
	case name == "taskowned":
		c = taskowned
	case name == "dstl":
		c = changelog
	}
	b.spread(n, c)
}

// oddInUnit says why a directory right below a unit's, of class inside, should not be
// there; empty if it may.
func oddInUnit(unit class, name string) Reason {
	switch {
	case name == MarkerName:
		return ""
	case impossible(name):
		return ImpossibleName
	case unit == cluster && name == "blob":
		return ""
	case unit == runClass && isCheckpoint(name):
		return OddCheckpointName
	}
	return UnknownDirectory
}

// child looks at a directory of layout children. State of Flink anywhere says
// that the layout is another one.
func (b *classifier) child(i, n uint32, c class) {
	b.spread(n, c)
	for d := n; d < n+b.size[n]; d++ {
		if name := b.t.Name(b.dirs[d]); ofFlink(name) || string(name) == "dstl" {
			b.misfitAt(i, d, FlinkState, "a directory of Flink")
		}
	}
}

// bareRuns looks at runs without state. An empty one stops no root, nor does one that
// has only its changelog, if others have state: a run that is too large for one move
// goes in parts, and this is what stays. Markers are ours, and say nothing about the
// layout. data has the nodes that hold files.
func (b *classifier) bareRuns(data nodeSet) {
	for _, n := range b.bare {
		i := b.rootOf(n)
		switch {
		case data.has(n):
			b.misfitAt(i, n, RunWithoutState, noState)
		case !b.stateful[i] && b.hasChangelog(n):
			b.misfitAt(i, n, RunWithoutState, onlyChangelog)
		}
	}
	b.bare = nil
}

func (x *index) hasChangelog(n uint32) bool {
	for c := range x.own(n) {
		if x.class(c) == changelog {
			return true
		}
	}
	return false
}

package flink

import (
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

// firstLevel says what a directory right below a root is.
func (b *builder) firstLevel(r *Root, root, c uint32, name string) {
	if name == MarkerName {
		b.facts[root].bits |= markerBit // whatever it is, somebody wants to keep this
		return
	}
	if r.Declared.Layout == HAStorage && isStore(name) {
		r.Stores = append(r.Stores, b.nodes[c].dir)
		return
	}
	i := b.nodes[root].root
	reason, detail := misplaced(name, r.Declared.Layout == RunLayout, r.Declared.Layout == Savepoints)
	if r.Declared.Layout == Children && !impossible(name) {
		reason = "" // any name is right
	}
	if reason != "" {
		b.misfit(i, Misfit{Reason: reason, Path: b.path(c), INodeID: b.id(c), Detail: detail})
		return
	}
	foreign := b.nodes[c].root != i // another root
	if slices.Contains(r.Declared.ExcludeJobs, name) {
		b.addJob(r, &Job{Name: name, Dir: b.nodes[c].dir, Excluded: true, Selected: r.Declared.selects(name)}, c)
		return
	}
	if r.Declared.Layout == JobRun || r.Declared.Layout == Savepoints && !looksLikeSavepoint(name) {
		j := b.addJob(r, &Job{Name: name, Dir: b.nodes[c].dir, Selected: r.Declared.selects(name)}, c)
		if !foreign {
			b.job(r, j, c)
		}
		return
	}
	switch {
	case foreign:
	case r.Declared.Layout == Children:
		b.childOf(r, c, name)
	default:
		b.unit(r, r.Jobs[0], c, name)
	}
}

// job looks at the directories of a JOB.
func (b *builder) job(r *Root, j *Job, n uint32) {
	b.nodes[n].class = jobClass
	for k, c := range b.children(n) {
		if b.nodes[c].root != b.nodes[n].root {
			continue // another root, which overlaps
		}
		name := b.name(c)
		if name == MarkerName {
			b.facts[n].bits |= markerBit
			continue
		}
		if b.ambiguous(n, k) {
			b.misfitAt(c, AmbiguousName, "two directories have this name")
			continue
		}
		if reason, detail := misplaced(name, r.Declared.Layout == JobRun, r.Declared.Layout == Savepoints); reason != "" {
			b.misfitAt(c, reason, detail)
			continue
		}
		if r.Declared.Layout == Savepoints && !looksLikeSavepoint(name) {
			b.unknownInJob(j, Misfit{Reason: UnknownDirectory, Path: b.path(c), INodeID: b.id(c), Detail: "no savepoint"})
			continue
		}
		b.unit(r, j, c, name)
	}
}

// unit adds the unit that a directory is, and looks at what is in it.
func (b *builder) unit(r *Root, j *Job, n uint32, name string) {
	kind, c := RunUnit, runClass
	switch r.Declared.Layout {
	case Savepoints:
		kind, c = SavepointUnit, savepoint
	case HAStorage:
		kind, c = ClusterUnit, cluster
	default:
	}
	b.nodes[n].class = c
	u := b.addUnit(j, n, kind)
	state, other := false, false
	for _, s := range b.children(n) {
		name := b.name(s)
		if b.nodes[s].root != b.nodes[n].root {
			other = true
			continue
		}
		state, other = state || isState(name), other || name != "dstl" && name != MarkerName
		b.inUnit(n, s, u, name)
	}
	b.stateful[b.nodes[n].root] = b.stateful[b.nodes[n].root] || state
	switch {
	case kind == RunUnit && !state && !other && isRunID(name):
		b.bare = append(b.bare, n) // a file in it would be something else, which the pass tells
	case kind == RunUnit && !state:
		b.misfitAt(n, RunWithoutState, noState)
	case kind == RunUnit && r.Declared.Layout == JobRun && !isRunID(name):
		b.unknownIn(u, Misfit{Reason: OddRunName, Path: b.path(n), INodeID: b.id(n), Detail: "neither the id of a job nor a uuid"})
	case kind == SavepointUnit && !isSavepoint(name):
		b.unknownIn(u, Misfit{Reason: OddSavepointName, Path: b.path(n), INodeID: b.id(n), Detail: "not a name that Flink gives to savepoints"})
	default:
	}
}

// What is wrong with a RUN by which nobody knows that it is one.
const (
	noState       = "it holds none of chk-N, shared, taskowned, which a RUN has: the root may be declared one level too shallow"
	onlyChangelog = "it holds only dstl, and no RUN of the root holds chk-N, shared or taskowned: the root may be that of changelogs"
)

// inUnit says what a directory right below a unit's is.
func (b *builder) inUnit(unitNode, n uint32, unit int32, name string) {
	u := b.units[unit]
	odd := UnknownDirectory
	switch {
	case name == MarkerName:
		b.facts[unitNode].bits |= markerBit
		b.spread(n, inside, unit, noUnit)
		return
	case impossible(name):
		odd = ImpossibleName
	case u.Kind == ClusterUnit && isState(name):
		b.misfitAt(n, CheckpointMisplaced, "a directory of a run in what should be a cluster")
	case u.Kind == ClusterUnit && name == "blob":
		b.spread(n, inside, unit, noUnit)
		return
	case u.Kind != RunUnit:
	case isCheckpoint(name):
		if number, ok := checkpointNumber(name); ok {
			b.checkpoint(n, unit, number)
			return
		}
		odd = OddCheckpointName
	case name == "shared":
		b.area(n, &u.Shared, shared, unit)
		return
	case name == "taskowned":
		b.area(n, &u.Taskowned, taskowned, unit)
		return
	case name == "dstl":
		u.Changelog = &Area{}
		b.area(n, u.Changelog, changelog, unit)
		return
	}
	b.unknownIn(unit, Misfit{Reason: odd, Path: b.path(n), INodeID: b.id(n)})
	b.spread(n, inside, unit, noUnit)
}

func (b *builder) checkpoint(n uint32, unit int32, number int64) {
	d := b.nodes[n].dir
	c := b.checkpointRoom.next()
	*c = Checkpoint{N: number, Dir: d, INodeID: b.t.ID(d), MTimeMs: b.t.MTimeMs(d), Totals: b.t.Summary(d).Live()}
	c.Times.OldestMs = c.MTimeMs
	u := b.units[unit]
	u.Checkpoints = append(u.Checkpoints, c)
	b.checkpoints = append(b.checkpoints, c)
	k := int32(len(b.checkpoints) - 1)
	for _, s := range b.children(n) {
		if b.name(s) != MarkerName { // Flink makes only files there
			b.unknownIn(unit, Misfit{Reason: UnknownDirectory, Path: b.path(s), INodeID: b.id(s)})
		}
	}
	b.spread(n, inside, unit, k)
	b.nodes[n].class = checkpoint
}

// area fills the value of shared, taskowned or dstl.
func (b *builder) area(n uint32, a *Area, c class, unit int32) {
	d := b.nodes[n].dir
	*a = Area{Dir: d, INodeID: b.t.ID(d), Totals: b.t.Summary(d).Live()}
	for _, s := range b.children(n) {
		switch name := b.name(s); {
		case name == MarkerName:
		case isMerged(name) && c != changelog:
			a.Merged++
		case isForSt(name) && c == shared:
			a.ForSt++
		default:
			b.unknownIn(unit, Misfit{Reason: UnknownDirectory, Path: b.path(s), INodeID: b.id(s)})
		}
	}
	b.spread(n, c, unit, noUnit)
}

// spread gives a directory and all below it to a unit, but what belongs to
// another root.
func (b *builder) spread(n uint32, c class, unit, checkpoint int32) {
	todo := []uint32{n}
	root := b.nodes[n].root
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b.nodes[i].root != root {
			continue
		}
		b.nodes[i].class, b.nodes[i].unit, b.nodes[i].checkpoint = c, unit, checkpoint
		for _, c := range b.children(i) {
			if string(b.t.Name(b.nodes[c].dir)) == MarkerName {
				b.facts[i].bits |= markerBit
			}
			todo = append(todo, c)
		}
	}
}

// childOf looks at a directory of layout children. State of Flink anywhere says
// that the layout is another one.
func (b *builder) childOf(r *Root, n uint32, name string) {
	if r.Declared.matches(name) {
		b.spread(n, child, b.addUnit(r.Jobs[0], n, ChildUnit), noUnit)
	} else {
		b.spread(n, otherChild, noUnit, noUnit)
	}
	todo := []uint32{n}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; b.nodes[i].root != b.nodes[n].root {
			continue
		}
		todo = append(todo, b.children(i)...)
		if name := b.name(i); ofFlink(name) || name == "dstl" {
			b.misfitAt(i, FlinkState, "a directory of Flink")
		}
	}
}

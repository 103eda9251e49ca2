package flink

import (
	"cmp"
	"context"
	"math"
	"slices"

	"fsweep/analyze/namespace"
)

// builder makes jobs and units, one after the other, from the tree and what the pass
// wrote down.
type builder struct {
	*Survey
	r    *factReader
	ctx  context.Context
	root uint32
	f    dirFacts // of the node that is looked at
	part func(r *Root, job *Job, more bool) error
	most int // units and checkpoints of one part of a job
	keep int // checkpoints of one run that are in memory
}

// Each calls fn for every job of every root, in the order of names, with all units that
// it has. Of what is not grouped it first gives the job alone, and then, among the other
// jobs, every unit in a call of its own, so that job.Units has one. The values are the
// caller's; of jobs without a name it is always the same one in a root.
//
// It can be called again, and by one goroutine at a time. Errors are those of reading the
// temporary file, and that of fn or ctx, which ends it.
func (s *Survey) Each(ctx context.Context, fn func(r *Root, job *Job) error) error {
	return s.EachPart(ctx, math.MaxInt, func(r *Root, job *Job, _ bool) error { return fn(r, job) })
}

// EachPart is [Survey.Each] for jobs of which one can have more units than memory. A job with
// more than most units and checkpoints comes in parts, by the names of units: each time the
// same value with the units that follow, and more is true of all but the last, which can have
// none. Of a run with many checkpoints these are Stored. Unknown and NumUnknown are
// those of the whole job in the last part, and none before.
func (s *Survey) EachPart(ctx context.Context, most int, fn func(r *Root, job *Job, more bool) error) error {
	r, err := newFactReader(s.scan.facts)
	if err != nil {
		return err
	}
	b := &builder{Survey: s, r: r, ctx: ctx, part: fn, most: most, keep: math.MaxInt}
	if most < math.MaxInt {
		b.keep = s.Part(mostCheckpoints)
	}
	for i := range s.Roots {
		if err := b.eachJob(uint32(i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) eachJob(i uint32) error {
	r, n := b.Roots[i], b.index.start[i]
	if n == b.index.start[i+1] {
		return nil
	}
	b.root = i
	var alone *Job
	if r.Declared.Layout != JobRun {
		alone = b.newJob(n, &Job{Dir: r.Dir, Selected: true})
		if err := b.part(r, alone, false); err != nil {
			return err
		}
	}
	level := slices.Collect(b.index.children(n))
	for k, c := range level {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		name := b.index.name(c)
		class := b.index.class(c)
		if b.index.foreign(c, n) {
			if class = b.foreignJob(i, level, k, name); class == outside {
				continue
			}
		}
		if err := b.inRoot(r, alone, c, name, class); err != nil {
			return err
		}
	}
	return nil
}

// inRoot gives the job that a directory right in a root is or, with the job of what is not
// grouped, the unit; nothing if it is neither.
func (b *builder) inRoot(r *Root, job *Job, n uint32, name string, c class) (err error) {
	switch c {
	case excludedClass, jobClass:
		job, err = b.job(n, name, c)
	case runClass, savepoint, cluster, child:
		job.Units = nil
		err = b.unit(job, n, c)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return b.part(r, job, false)
}

// foreignJob tells whether a directory of the first level that is another root is a
// job as well: one that is excluded, or one that overlaps.
func (b *builder) foreignJob(i uint32, level []uint32, k int, name string) class {
	if b.index.ambiguous(level, k) || b.scan.ignore[i][name] {
		return outside
	}
	c, reason, _ := b.Roots[i].Declared.level(name)
	if reason != "" || c != excludedClass && c != jobClass {
		return outside
	}
	return excludedClass // it is not looked into
}

func (b *builder) newJob(n uint32, j *Job) *Job {
	j.INodeID, j.Totals, j.Flags = b.index.id(n), b.index.t.Summary(j.Dir).Live(), b.flags(j.Dir)
	return j
}

// job makes a job with all its units, or the last part of it.
func (b *builder) job(n uint32, name string, c class) (*Job, error) {
	d := &b.Roots[b.root].Declared
	j := b.newJob(n, &Job{Name: name, Dir: b.index.dirs[n], Selected: d.selects(name), Excluded: slices.Contains(d.ExcludeJobs, name)})
	if b.index.class(n) == rootClass {
		j.Marked = b.scan.rootBits(n)&(markerBit|markedBit) != 0
		return j, nil
	}
	if err := b.r.read(n, &b.f); err != nil {
		return nil, err
	}
	j.Marked = b.marked(n)
	if c == excludedClass {
		return j, nil
	}
	return j, b.units(j, n)
}

// units adds the units of a job and what in it nobody knows.
func (b *builder) units(j *Job, n uint32) error {
	var unknown misfits
	b.addStrays(&unknown, n)
	weight := 0 // of the part
	for s := range b.index.own(n) {
		switch c := b.index.class(s); {
		case c == oddInJob:
			unknown.add(Misfit{Reason: UnknownDirectory, Path: b.index.path(s), INodeID: b.index.id(s), Detail: "no savepoint"}, maxUnknownListed, compareMisfits)
		case c.ofUnit():
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if weight >= b.most {
				if err := b.part(b.Roots[b.root], j, true); err != nil {
					return err
				}
				j.Units, weight = nil, 0
			}
			if err := b.unit(j, s, c); err != nil {
				return err
			}
			u := j.Units[len(j.Units)-1]
			weight += 1 + len(u.Checkpoints)
			of := misfits{n: u.NumUnknown, list: u.Unknown}
			unknown.merge(&of, maxUnknownListed, compareMisfits)
		}
	}
	j.Unknown, j.NumUnknown = done(&unknown, maxUnknownListed)
	return nil
}

// marked tells whether the directory whose facts were read has a marker.
func (b *builder) marked(n uint32) bool {
	bits := b.f.bits
	if b.index.class(n).looked() && b.index.bits[n]&markerDir != 0 {
		bits |= markerBit
	}
	return bits&(markerBit|markedBit) != 0
}

// addStrays adds those of the directory whose facts were read.
func (b *builder) addStrays(to *misfits, n uint32) {
	l := &b.f.strays
	for i := range l.list {
		s := &l.list[i]
		to.add(Misfit{Reason: s.reason, Path: b.index.strayPath(n, s), INodeID: s.id}, maxUnknownListed, compareMisfits)
	}
	to.n += l.n - int64(len(l.list)) // counted, not listed
}

// unitBuilder makes one unit.
type unitBuilder struct {
	*builder
	u       *Unit
	node    uint32
	class   class
	unknown misfits
	rest    *storing // nil: all checkpoints are in memory
}

// unit adds the unit that a directory is to a job.
func (b *builder) unit(j *Job, n uint32, c class) error {
	x, d := b.index, &b.Roots[b.root].Declared
	dir := x.dirs[n]
	u := &Unit{
		Kind: unitKind(c), Name: x.name(n), Dir: dir, INodeID: x.id(n), ParentID: x.t.ID(x.t.Parent(dir)),
		MTimeMs: x.t.MTimeMs(dir), Selected: j.Selected, Flags: b.flags(dir),
		Totals: x.t.Summary(dir).Live(), Skeleton: true,
		Shared: Area{Dir: namespace.NoDir}, Taskowned: Area{Dir: namespace.NoDir},
	}
	if !j.Grouped() {
		u.Selected = d.selects(u.Name)
	}
	u.Times.OldestMs = u.MTimeMs
	u.RunID, u.ConstantID = isRunID(u.Name), isJobID(u.Name) && isReused(u.Name)
	u.OpenFiles = int64(b.open.count(n, n+x.size[n]))
	j.Units = append(j.Units, u)
	ub := unitBuilder{builder: b, u: u, node: n, class: c}
	defer ub.closeStored()
	if err := ub.add(n, nil, nil); err != nil {
		return err
	}
	if err := ub.parts(d.Layout); err != nil {
		return err
	}
	if err := ub.finishStored(); err != nil {
		return err
	}
	slices.SortStableFunc(u.Checkpoints, func(x, y *Checkpoint) int { return cmp.Compare(x.N, y.N) })
	u.Unknown, u.NumUnknown = done(&ub.unknown, maxUnknownListed)
	return nil
}

// parts adds all that lies below the unit.
func (b *unitBuilder) parts(layout Layout) error {
	x, u := b.index, b.u
	state := false
	for s := range x.children(b.node) {
		if x.foreign(s, b.node) {
			continue // another root, which overlaps
		}
		state = state || isState(x.name(s))
		if err := b.part(s); err != nil {
			return err
		}
		if err := b.store(false); err != nil {
			return err
		}
	}
	switch {
	case b.class == runClass && state && layout == JobRun && !u.RunID:
		b.odd(b.node, OddRunName, "neither the id of a job nor a uuid")
	case b.class == savepoint && !isSavepoint(u.Name):
		b.odd(b.node, OddSavepointName, "not a name that Flink gives to savepoints")
	}
	return nil
}

func unitKind(c class) UnitKind {
	switch c {
	case savepoint:
		return SavepointUnit
	case cluster:
		return ClusterUnit
	case child:
		return ChildUnit
	default:
		return RunUnit
	}
}

// odd adds a directory that should not be where it is.
func (b *unitBuilder) odd(n uint32, reason Reason, detail string) {
	b.unknown.add(Misfit{Reason: reason, Path: b.index.path(n), INodeID: b.index.id(n), Detail: detail}, maxUnknownListed, compareMisfits)
}

// part adds what lies in a directory right below the unit.
func (b *unitBuilder) part(n uint32) error {
	x, u := b.index, b.u
	var c *Checkpoint
	var sum *Sum
	switch x.class(n) {
	case checkpoint:
		c = b.checkpoint(n)
		sum = &c.Sum
	case shared:
		b.area(n, &u.Shared, shared)
		sum = &u.Shared.Sum
	case taskowned:
		b.area(n, &u.Taskowned, taskowned)
		sum = &u.Taskowned.Sum
	case changelog:
		u.Changelog = &Area{}
		b.area(n, u.Changelog, changelog)
	case inside:
		if reason := oddInUnit(b.class, x.name(n)); reason != "" {
			b.odd(n, reason, "")
		}
	default: // of a child all is alike
	}
	for d := n; d < n+x.size[n]; d++ {
		if err := b.add(d, c, sum); err != nil {
			return err
		}
	}
	return nil
}

func (b *unitBuilder) checkpoint(n uint32) *Checkpoint {
	x, d := b.index, b.index.dirs[n]
	number, _ := checkpointNumber(x.name(n))
	c := &Checkpoint{N: number, Dir: d, INodeID: x.id(n), MTimeMs: x.t.MTimeMs(d), Totals: x.t.Summary(d).Live(), Flags: b.flags(d)}
	c.Times.OldestMs = c.MTimeMs
	c.OpenFiles = int64(b.open.count(n, n+x.size[n]))
	b.u.Checkpoints = append(b.u.Checkpoints, c)
	for s := range x.children(n) {
		if string(x.t.Name(x.dirs[s])) != MarkerName { // Flink makes only files there
			b.odd(s, UnknownDirectory, "")
		}
	}
	return c
}

// area fills the value of shared, taskowned or dstl.
func (b *unitBuilder) area(n uint32, a *Area, c class) {
	x, d := b.index, b.index.dirs[n]
	*a = Area{Dir: d, INodeID: x.id(n), Totals: x.t.Summary(d).Live()}
	for s := range x.children(n) {
		switch name := x.name(s); {
		case name == MarkerName:
		case isMerged(name) && c != changelog:
			a.Merged++
		case isForSt(name) && c == shared:
			a.ForSt++
		default:
			b.odd(s, UnknownDirectory, "")
		}
	}
}

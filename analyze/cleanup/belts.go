package cleanup

import (
	"slices"

	"fsweep/analyze/flink"
)

// belt counts what one run of the executor would do.
type belt struct{ items, inodes, bytes int64 }

// share is how many inodes of a root may go.
type share struct{ used, limit int64 }

// tally is what all items together would do.
type tally struct {
	limits *Belts
	modes  map[bool]*belt // by whether the root may be executed
	roots  map[*RootDecision]*share
}

// belts brings the items into their order and keeps back what is too much. What is
// only observed does not use up what may be executed.
func (b *decider) belts() {
	c := &tally{limits: &b.p.Belts, modes: map[bool]*belt{true: {}, false: {}}, roots: map[*RootDecision]*share{}}
	b.out.tally = c
	for _, r := range b.out.Roots {
		t := &r.Root.Totals
		// Division first would round a small root to nothing, and inodes are too few to
		// overflow.
		c.roots[r] = &share{limit: (t.Directories + t.Files + t.Symlinks) * int64(c.limits.MaxPercentOfRoot) / 100}
		for _, j := range r.Jobs {
			b.fasten(c, j)
		}
	}
}

// fasten admits or defers the items of a job, newest first. Behind a unit that is
// deferred its older ones stay too: it may still refer to them.
func (b *decider) fasten(c *tally, j *JobDecision) {
	var newer Path
	for _, u := range j.Units {
		if u.Verdict == Candidate {
			u.split(b.p.Belts.MaxInodesPerMove)
		}
		var part Path
		for _, item := range u.Items {
			whole := u.Verdict == Candidate
			switch {
			case whole && newer != "" && j.grouped():
				item.Deferred = []Fact{{Rule: NewerDeferred, Path: newer}}
			case part != "":
				item.Deferred = []Fact{{Rule: EarlierPartStays, Path: part}}
			default:
				item.Deferred = c.admit(item)
			}
			if len(item.Deferred) == 0 {
				b.out.Items = append(b.out.Items, item)
				continue
			}
			b.out.Deferred = append(b.out.Deferred, item)
			if whole {
				part = item.Path
			}
		}
		if part != "" && newer == "" {
			newer = u.Path
		}
	}
}

// admit gives all reasons why an item is too much, or counts it.
func (c *tally) admit(item *Item) (reasons []Fact) {
	sum, root := c.modes[item.Root.Executable], c.roots[item.Root]
	over := func(rule Rule, value, limit int64) {
		if value > limit {
			reasons = append(reasons, Fact{Rule: rule, N: value, Limit: limit})
		}
	}
	over(BeltItems, sum.items+1, int64(c.limits.MaxItems))
	over(BeltInodesMove, item.Inodes, int64(c.limits.MaxInodesPerMove))
	over(BeltInodes, sum.inodes+item.Inodes, int64(c.limits.MaxInodes))
	over(BeltPercent, root.used+item.Inodes, root.limit)
	if c.limits.MaxBytes > 0 {
		over(BeltBytes, sum.bytes+item.Bytes, int64(c.limits.MaxBytes))
	}
	if len(reasons) == 0 {
		sum.items, sum.inodes, sum.bytes = sum.items+1, sum.inodes+item.Inodes, sum.bytes+item.Bytes
		root.used += item.Inodes
	}
	return reasons
}

// split turns a run that is too large for one move into its parts, in the order in
// which each leaves only garbage behind: first what refers to state, then state. The
// directory of the run itself, and a changelog in it, stay for the next time.
func (u *UnitDecision) split(limit Count) {
	whole := u.Items[0]
	if u.Unit.Kind != flink.RunUnit || whole.Inodes <= int64(limit) {
		return
	}
	var parts []*Item
	add := func(kind Kind, path Path, id uint64, t *flink.Totals) {
		part := *whole
		part.Kind, part.Path, part.INodeID, part.ParentID, part.SplitOf = kind, path, id, u.Unit.INodeID, u.Unit.INodeID
		part.size(t)
		parts = append(parts, &part)
	}
	for _, c := range slices.Backward(u.Unit.Checkpoints) {
		add(CheckpointItem, checkpointPath(u, c), c.INodeID, &c.Totals)
	}
	if a := &u.Unit.Taskowned; a.INodeID != 0 {
		add(FileItem, u.Path+"/taskowned", a.INodeID, &a.Totals)
	}
	if a := &u.Unit.Shared; a.INodeID != 0 {
		add(FileItem, u.Path+"/shared", a.INodeID, &a.Totals)
	}
	if len(parts) > 0 {
		u.Items = parts
	}
}

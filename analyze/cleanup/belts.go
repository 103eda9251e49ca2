package cleanup

import "fsweep/analyze/flink"

// belt counts what one run of the executor would do.
type belt struct{ items, inodes, bytes int64 }

// share is how many inodes of a root may go.
type share struct{ used, limit int64 }

// Tally counts what all items together would do, and keeps back what is too much. What is
// only observed does not use up what may be executed. It depends on the order in which it
// is asked, which is that of [Decision]; one goroutine at a time.
type Tally struct {
	limits *Belts
	modes  map[bool]*belt // by whether the root may be executed
	roots  map[*RootDecision]*share
	newer  Path // of the present job: the newest unit that is deferred
	part   Path // of the present unit: the first part that is deferred
}

// NewTally makes one that has counted nothing.
func NewTally(p *Policy, roots []*RootDecision) *Tally {
	c := &Tally{limits: &p.Belts, modes: map[bool]*belt{true: {}, false: {}}, roots: map[*RootDecision]*share{}}
	for _, r := range roots {
		t := &r.Root.Totals
		// Division first would round a small root to nothing, and inodes are too few to
		// overflow.
		c.roots[r] = &share{limit: (t.Directories + t.Files + t.Symlinks) * int64(c.limits.MaxPercentOfRoot) / 100}
	}
	return c
}

// StartTally makes a new one, on which [Decision.File] goes on.
func (d *Decision) StartTally(p *Policy) *Tally {
	d.tally = NewTally(p, d.Roots)
	return d.tally
}

// belts brings the items into their order and keeps back what is too much.
func (b *decider) belts() {
	c := b.out.StartTally(b.p)
	for _, r := range b.out.Roots {
		for _, j := range r.Jobs {
			c.Job()
			for _, u := range j.Units {
				c.Unit(j, u)
				for _, item := range u.Items {
					if len(item.Deferred) == 0 {
						b.out.Items = append(b.out.Items, item)
					} else {
						b.out.Deferred = append(b.out.Deferred, item)
					}
				}
			}
		}
	}
}

// Job says that the units that follow are of another job.
func (c *Tally) Job() { c.newer = "" }

// Unit admits or defers the items of a unit, the next one of its job, newest first. Behind a
// unit that is deferred its older ones stay too: it may still refer to them.
func (c *Tally) Unit(j *JobDecision, u *UnitDecision) {
	c.Begin()
	c.More(j, u)
}

// Begin says that items of the next unit follow.
func (c *Tally) Begin() { c.part = "" }

// More admits or defers items of the present unit: those that are in Items now.
func (c *Tally) More(j *JobDecision, u *UnitDecision) {
	whole := u.Verdict == Candidate
	for _, item := range u.Items {
		switch {
		case whole && c.newer != "" && c.newer != u.Path && j.grouped():
			item.Deferred = []Fact{{Rule: NewerDeferred, Path: c.newer}}
		case c.part != "":
			item.Deferred = []Fact{{Rule: EarlierPartStays, Path: c.part}}
		default:
			item.Deferred = c.admit(item)
		}
		if len(item.Deferred) > 0 && whole {
			c.part = item.Path
		}
	}
	if c.part != "" && c.newer == "" {
		c.newer = u.Path
	}
}

// admit gives all reasons why an item is too much, or counts it.
func (c *Tally) admit(item *Item) (reasons []Fact) {
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
	list := func(fn func(*Item) error) error { return u.eachPart(whole, fn) }
	if u.Unit.Stored != nil || len(u.Unit.Checkpoints) > 0 || u.Unit.Taskowned.INodeID != 0 || u.Unit.Shared.INodeID != 0 {
		u.Items = nil
		u.take(list)
	}
}

// eachPart gives the parts of a run.
func (u *UnitDecision) eachPart(whole *Item, fn func(*Item) error) error {
	part := func(kind Kind, path Path, id uint64, t *flink.Totals, c *flink.Checkpoint) error {
		part := *whole
		part.Kind, part.Path, part.INodeID, part.ParentID, part.SplitOf = kind, path, id, u.Unit.INodeID, u.Unit.INodeID
		part.Checkpoint = c
		part.size(t)
		return fn(&part)
	}
	err := u.Unit.EachCheckpoint(func(c *flink.Checkpoint) error {
		return part(CheckpointItem, checkpointPath(u, c), c.INodeID, &c.Totals, c)
	})
	if a := &u.Unit.Taskowned; err == nil && a.INodeID != 0 {
		err = part(FileItem, u.Path+"/taskowned", a.INodeID, &a.Totals, nil)
	}
	if a := &u.Unit.Shared; err == nil && a.INodeID != 0 {
		err = part(FileItem, u.Path+"/shared", a.INodeID, &a.Totals, nil)
	}
	return err
}

package cleanup

import (
	"errors"
	"fmt"

	"fsweep/analyze/flink"
)

// debris looks for what a kept run does not need. Nothing in a run that somebody
// named to be kept is debris, and nothing in one without a complete checkpoint,
// which is what tells the old from what is being written.
func (b *decider) debris(r *RootDecision, j *JobDecision, u *UnitDecision) {
	if u.whole || u.Unit.Kind != flink.RunUnit {
		return
	}
	if u.Unit.NewestComplete() == nil {
		return
	}
	u.take(func(fn func(*Item) error) error { return b.eachDebris(r, j, u, fn) })
	b.sweep(r, j, u)
}

// eachDebris gives the debris in checkpoints, that of the highest number first.
func (b *decider) eachDebris(r *RootDecision, j *JobDecision, u *UnitDecision, fn func(*Item) error) error {
	newest := u.Unit.NewestComplete()
	oldest, err := b.staleBelow(r.Policy, u.Unit)
	if err != nil {
		return err
	}
	return u.Unit.EachCheckpoint(func(c *flink.Checkpoint) error {
		switch {
		case !c.Complete():
			return b.incomplete(r, j, u, c, newest, fn)
		case oldest != nil && c.N < oldest.N && b.stale(r.Policy, c, oldest):
			return fn(u.checkpoint(j, c, StaleCheckpoint, Fact{Rule: StaleCheckpoint, N: c.N, Limit: oldest.N, TimeMs: c.Metadata.MTimeMs, LimitMs: staleAge(r.Policy)}))
		}
		return b.unfinished(r, j, u, c, fn)
	})
}

// items gives items, in the order in which belts count them, to a function of which an error
// ends that.
type items func(fn func(*Item) error) error

// take takes the items of a unit: at once or, if there can be more than memory, when they
// are asked for.
func (u *UnitDecision) take(list items) {
	if u.Unit.Stored != nil {
		u.more = list
		return
	}
	_ = list(func(i *Item) error { // of what is in memory, so there is no error
		u.Items = append(u.Items, i)
		return nil
	})
}

// Many tells whether there can be more items than memory, so that they are not in Items.
func (u *UnitDecision) Many() bool { return u.more != nil || u.many }

// Selected is the unit as one item, for what selected it. It may be moved in parts, and is not
// among the items of the decision then.
func (u *UnitDecision) Selected() *Item {
	return &Item{Rule: u.Rule, Path: u.Path, Root: u.root, Job: &JobDecision{}, Unit: u}
}

// EachItem calls fn for all items of a unit, in their order; an error of it ends that. Others
// are those of the temporary file that has the checkpoints of a run with very many.
func (u *UnitDecision) EachItem(fn func(*Item) error) error {
	if u.more != nil {
		return u.more(fn)
	}
	for _, i := range u.Items {
		if err := fn(i); err != nil {
			return err
		}
	}
	return nil
}

// untouched tells whether nothing forbids to move a checkpoint, and nothing in it
// was written or, as far as is known, read within the limit.
func (b *decider) untouched(c *flink.Checkpoint, limit int64) bool {
	_, unknown := b.unknownAge(&c.Times)
	t := &c.Times
	return !c.Marked && !c.MarkedInside && len(flagFacts(&c.Flags, c.OpenFiles)) == 0 && !unknown &&
		b.imageMs-t.Newest.Ms > limit && (t.NewestDataATimeMs <= 0 || b.imageMs-t.NewestDataATimeMs > limit)
}

// incomplete selects a checkpoint that failed, or of which Flink removed the rest.
// One above the newest complete may still be under way.
func (b *decider) incomplete(r *RootDecision, j *JobDecision, u *UnitDecision, c, newest *flink.Checkpoint, fn func(*Item) error) error {
	grace := ms(r.Policy.IncompleteCheckpoints.OlderThan)
	empty := c.Metadata == nil || c.Metadata.Length == 0 && !c.Metadata.Open
	if !empty || c.N >= newest.N || !b.untouched(c, grace) {
		return nil
	}
	return fn(u.checkpoint(j, c, IncompleteCheckpoint, Fact{Rule: IncompleteCheckpoint, N: c.N, Limit: newest.N, TimeMs: c.Times.Newest.Ms, Place: c.Times.Newest.Place, LimitMs: grace}))
}

func (u *UnitDecision) checkpoint(j *JobDecision, c *flink.Checkpoint, rule Rule, f Fact) *Item {
	item := u.item(j, CheckpointItem, rule, checkpointPath(u, c))
	item.INodeID, item.ParentID, item.Facts = c.INodeID, u.Unit.INodeID, []Fact{f}
	item.Checkpoint, item.Conditional = c, rule == StaleCheckpoint
	item.size(&c.Totals)
	return item
}

func checkpointPath(u *UnitDecision, c *flink.Checkpoint) Path {
	return u.Path + Path(fmt.Sprintf("/chk-%d", c.N))
}

// unfinished selects files that were to become the `_metadata` of a checkpoint
// which has one.
func (b *decider) unfinished(r *RootDecision, j *JobDecision, u *UnitDecision, c *flink.Checkpoint, fn func(*Item) error) error {
	grace := ms(r.Policy.IncompleteCheckpoints.OlderThan)
	read := c.Times.NewestDataATimeMs
	if c.Marked || c.MarkedInside || read > 0 && b.imageMs-read <= grace {
		return nil
	}
	for n := range c.InProgress {
		f := &c.InProgress[n]
		if f.Open || f.MTimeMs <= 0 || f.MTimeMs > b.imageMs || b.imageMs-f.MTimeMs <= grace {
			continue
		}
		item := u.item(j, FileItem, UnfinishedMetadata, checkpointPath(u, c)+Path("/"+f.Name))
		item.INodeID, item.ParentID, item.Inodes, item.Bytes = f.INodeID, c.INodeID, 1, f.Length
		item.Checkpoint, item.File = c, f
		item.Facts = []Fact{{Rule: UnfinishedMetadata, TimeMs: f.MTimeMs, LimitMs: grace}}
		if err := fn(item); err != nil {
			return err
		}
	}
	return nil
}

// staleBelow gives the oldest of the complete checkpoints that are kept by number;
// nil if there is no rule, or none beyond.
func (b *decider) staleBelow(policy *Root, u *flink.Unit) (oldest *flink.Checkpoint, err error) {
	if policy.StaleCheckpoints == nil {
		return nil, nil
	}
	left := max(int64(policy.StaleCheckpoints.KeepNewest), 1)
	err = u.EachCheckpoint(func(c *flink.Checkpoint) error {
		if !c.Complete() {
			return nil
		}
		if left--; left > 0 {
			return nil
		}
		oldest = c
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return oldest, err
}

var errFound = errors.New("found")

// staleAge: min_age narrows this rule too.
func staleAge(policy *Root) int64 { return ms(max(policy.StaleCheckpoints.OlderThan, policy.MinAge)) }

// stale tells whether a checkpoint is as old as its number says. Where numbers and
// times do not agree, another deployment may have begun to count again.
func (b *decider) stale(policy *Root, c, oldest *flink.Checkpoint) bool {
	return c.Metadata.MTimeMs <= oldest.Metadata.MTimeMs && b.untouched(c, staleAge(policy))
}

// sweep names the directories whose files may be unreferenced.
func (b *decider) sweep(r *RootDecision, j *JobDecision, u *UnitDecision) {
	rule := r.Policy.UnreferencedShared
	if rule == nil {
		return
	}
	before := b.imageMs - ms(max(rule.OlderThan, r.Policy.MinAge))
	for _, a := range []struct {
		name string
		area *flink.Area
	}{{"/shared", &u.Unit.Shared}, {"/taskowned", &u.Unit.Taskowned}} {
		if a.area.INodeID != 0 && a.area.Totals.Files > 0 && before > 0 {
			b.out.Sweeps = append(b.out.Sweeps, &Sweep{Root: r, Job: j, Unit: u, Path: u.Path + Path(a.name), INodeID: a.area.INodeID, Rule: UnreferencedFile, BeforeMs: before})
		}
	}
}

// File makes an item of a file in the directory of a sweep, at any depth, and holds
// it against the belts, which count on from where [Decide] stopped. The item is in
// no list of d: there may be more of them than memory. It is nil if the file is open,
// too young, of unknown age or was read lately. path is below s.Path.
//
// What is admitted depends on the order of calls, which is the caller's to fix. One
// goroutine at a time.
func (d *Decision) File(s *Sweep, path Path, parentID uint64, f flink.File, atimeMs int64) *Item {
	if !s.Path.Holds(path) || path == s.Path || !s.Takes(f.MTimeMs, atimeMs, f.Open) {
		return nil
	}
	item := s.Unit.item(s.Job, FileItem, s.Rule, path)
	item.INodeID, item.ParentID, item.Inodes, item.Bytes, item.Conditional = f.INodeID, parentID, 1, f.Length, true
	item.Facts = []Fact{{Rule: s.Rule, TimeMs: f.MTimeMs}, {Rule: TimeOfAccess, TimeMs: atimeMs}}
	item.Deferred = d.tally.admit(item)
	return item
}

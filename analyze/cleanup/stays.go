package cleanup

import (
	"slices"

	"fsweep/analyze/flink"
)

// Explanations of what no rule for debris selects. They ask the same conditions as
// the rules; a test compares them with what was decided.

// CheckpointStays says why no rule for debris selects a checkpoint of u, which is a
// run that is kept, though not with all that is in it. All reasons are given; none
// if a rule selects the checkpoint.
func (d *Decision) CheckpointStays(u *UnitDecision, c *flink.Checkpoint) (facts []Fact, err error) {
	newest, policy := u.Unit.NewestComplete(), u.root.Policy
	b := &decider{imageMs: d.imageMs}
	switch {
	case newest == nil:
		return []Fact{{Rule: NoneComplete}}, nil
	case !c.Complete() && c.N > newest.N:
		return append([]Fact{{Rule: BeingWritten, N: c.N, Limit: newest.N}}, b.bound(u, c)...), nil
	case !c.Complete():
		limit := debrisLimit{policy.IncompleteCheckpoints.OlderThan, incompleteAge}
		return append(b.bound(u, c), b.recent(&c.Times, limit)...), nil
	case policy.StaleCheckpoints == nil:
		return []Fact{{Rule: StaleOff, N: c.N}}, nil
	}
	oldest, err := b.staleBelow(policy, u.Unit)
	if err != nil {
		return nil, err
	}
	switch {
	case oldest == nil || c.N >= oldest.N:
		facts = append(facts, Fact{Rule: AmongNewest, N: c.N, Limit: max(int64(policy.StaleCheckpoints.KeepNewest), 1)})
	case c.Metadata.MTimeMs > oldest.Metadata.MTimeMs:
		facts = append(facts, Fact{Rule: NumberedAgain, N: c.N, Limit: oldest.N, TimeMs: c.Metadata.MTimeMs})
	}
	limit := narrowed(policy, policy.StaleCheckpoints.OlderThan, "stale_checkpoints.older_than")
	return append(append(facts, b.bound(u, c)...), b.recent(&c.Times, limit)...), nil
}

// UnfinishedStays says the same of a file that was to become the `_metadata` of the
// checkpoint c, which has one; false if it is no such file.
func (d *Decision) UnfinishedStays(u *UnitDecision, c *flink.Checkpoint, inodeID uint64) (facts []Fact, is bool) {
	i := slices.IndexFunc(c.InProgress, func(f flink.File) bool { return f.INodeID == inodeID })
	if i < 0 || !c.Complete() {
		return nil, false
	}
	if c.Marked || c.MarkedInside {
		facts = append(facts, Fact{Rule: Marked, Path: checkpointPath(u, c)})
	}
	limit := debrisLimit{u.root.Policy.IncompleteCheckpoints.OlderThan, incompleteAge}
	return append(facts, d.fileStays(&c.InProgress[i], c.Times.NewestDataATimeMs, limit)...), true
}

// FileStays says why a sweep would leave a file below shared or taskowned of u where
// it is; none if the sweep takes it, as far as belts let it.
func (d *Decision) FileStays(u *UnitDecision, f *flink.File, atimeMs int64) []Fact {
	sweep := u.root.Policy.UnreferencedShared
	if sweep == nil {
		return []Fact{{Rule: SweepOff}}
	}
	return d.fileStays(f, atimeMs, narrowed(u.root.Policy, sweep.OlderThan, "unreferenced_shared.older_than"))
}

func (d *Decision) fileStays(f *flink.File, atimeMs int64, limit debrisLimit) (facts []Fact) {
	if f.Open {
		facts = append(facts, Fact{Rule: OpenFile, N: 1})
	}
	age := ms(limit.age)
	switch {
	case f.MTimeMs > d.imageMs:
		facts = append(facts, Fact{Rule: UnknownAge, TimeMs: f.MTimeMs})
	case f.MTimeMs <= 0:
		facts = append(facts, Fact{Rule: UnknownAge, N: 1})
	case d.imageMs-f.MTimeMs <= age:
		facts = append(facts, Fact{Rule: DebrisChanged, TimeMs: f.MTimeMs, LimitMs: age, Text: limit.key})
	}
	if atimeMs > 0 && d.imageMs-atimeMs <= age {
		facts = append(facts, Fact{Rule: DebrisRead, TimeMs: atimeMs, LimitMs: age, Text: limit.key})
	}
	return facts
}

// debrisLimit is an age, and the key of the policy that has it.
type debrisLimit struct {
	age Duration
	key string
}

const incompleteAge = "incomplete_checkpoints.older_than"

// narrowed is the limit of an opt-in rule, or min_age where that is longer.
func narrowed(policy *Root, age Duration, key string) debrisLimit {
	if policy.MinAge > age {
		return debrisLimit{policy.MinAge, "min_age"}
	}
	return debrisLimit{age, key}
}

// bound gives what forbids to move a checkpoint, whatever its age.
func (b *decider) bound(u *UnitDecision, c *flink.Checkpoint) (facts []Fact) {
	if c.Marked || c.MarkedInside {
		facts = append(facts, Fact{Rule: Marked, Path: checkpointPath(u, c)})
	}
	open := c.OpenFiles
	if c.Metadata != nil && c.Metadata.Open {
		open = max(open, 1)
	}
	facts = append(facts, flagFacts(&c.Flags, open)...)
	if f, unknown := b.unknownAge(&c.Times); unknown {
		facts = append(facts, f)
	}
	return facts
}

// recent gives what was written or, as far as is known, read within a limit. Times
// after the image are of unknown age, which is said elsewhere.
func (b *decider) recent(t *flink.Times, limit debrisLimit) (facts []Fact) {
	age := ms(limit.age)
	if t.Newest.Ms <= b.imageMs && b.imageMs-t.Newest.Ms <= age {
		facts = append(facts, Fact{Rule: DebrisChanged, TimeMs: t.Newest.Ms, Place: t.Newest.Place, LimitMs: age, Text: limit.key})
	}
	if t.NewestDataATimeMs > 0 && b.imageMs-t.NewestDataATimeMs <= age {
		facts = append(facts, Fact{Rule: DebrisRead, TimeMs: t.NewestDataATimeMs, LimitMs: age, Text: limit.key})
	}
	return facts
}

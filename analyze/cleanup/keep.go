package cleanup

import "fsweep/analyze/flink"

// unknownAge tells whether nothing can be said about an age.
func (b *decider) unknownAge(t *flink.Times) (Fact, bool) {
	switch {
	case t.Newest.Ms > b.imageMs || t.HasMetadata && t.NewestMetadataMs > b.imageMs:
		return Fact{Rule: UnknownAge, TimeMs: max(t.Newest.Ms, t.NewestMetadataMs), Place: t.Newest.Place}, true
	case t.UnknownMTimes > 0 || t.Newest.Ms <= 0 || t.OldestMs <= 0 || t.Newest.Place == flink.NoPlace:
		return Fact{Rule: UnknownAge, N: max(t.UnknownMTimes, 1)}, true
	}
	return Fact{}, false
}

// tie tells whether two of the newest of a job, or the last of them and the next,
// are equally new. A larger keep looks at more of them.
func (s *standing) tie() (Fact, bool) {
	if j := s.job; !j.grouped() || !j.Job.Selected || s.b.excluded(s.r.Policy, j) {
		return Fact{}, false
	}
	for _, list := range s.lists() {
		for i, x := range list.top {
			next := i+1 == len(list.top)
			if next && len(list.over) > 0 || !next && list.top[i+1].Ms == x.Ms {
				return Fact{Rule: TieStops, TimeMs: x.Ms, Text: s.job.Name, Path: x.path}, true
			}
		}
	}
	return Fact{}, false
}

// keepUnion adds the rules by which a job keeps its newest units.
func (s *standing) keepUnion(u *UnitDecision) {
	policy, t := s.r.Policy, &u.Unit.Times
	keep, stamps := int64(policy.Keep), s.b.stamps(u)
	for i, rule := range [...]Rule{NewestByMetadata, NewestBySubtree, NewestByFiles} {
		s.lists()[i].keepNewest(u, stamps[i], keep, rule)
	}
	s.keepNewer(u, stamps[1], keep)
	switch {
	case len(s.metadata.top) == 0:
		if !u.Unit.Skeleton && !t.HasMetadata { // one that has it is of unknown age, and kept for that
			u.keep(s.noneComplete())
		}
	case t.HasMetadata && t.NewestMetadataMs == s.metadata.top[0].Ms:
		u.keep(Fact{Rule: NewestComplete, TimeMs: t.NewestMetadataMs, Place: flink.MetadataPlace})
	case t.Newest.Ms >= s.metadata.top[0].Ms:
		u.keep(Fact{Rule: NewerThanComplete, TimeMs: t.Newest.Ms, Place: t.Newest.Place})
	}
	s.b.keepWithin(policy, u)
}

// keepWithin keeps what changed within keep_within, grouped or not.
func (b *decider) keepWithin(policy *Root, u *UnitDecision) {
	t := &u.Unit.Times
	if within := ms(policy.KeepWithin); within > 0 && b.imageMs-t.Newest.Ms <= within {
		u.keep(Fact{Rule: WithinKeepWithin, TimeMs: t.Newest.Ms, Place: t.Newest.Place, LimitMs: within})
	}
}

// noneComplete is why all of a job stays in which nothing complete has a rank: there is
// none, or only in runs of unknown age, so that nobody can tell what is newer.
func (s *standing) noneComplete() Fact {
	if s.complete.set {
		return s.complete.fact
	}
	return Fact{Rule: NothingComplete}
}

// keepNewest keeps a unit that is among the first n of a list, or as new as the last of
// them. x is its time there.
func (l *ranking) keepNewest(u *UnitDecision, x flink.Stamp, n int64, rule Rule) {
	if n <= 0 || x.Place == flink.NoPlace {
		return
	}
	i, ok := l.place(x.Ms, u.nth)
	if !ok {
		return
	}
	if int64(i) < n {
		u.keep(Fact{Rule: rule, TimeMs: x.Ms, Place: x.Place, N: int64(i) + 1, Limit: n})
	}
	if len(l.over) > 0 && x.Ms == l.last() {
		u.keep(Fact{Rule: EqualNewest, TimeMs: x.Ms, Place: x.Place, N: int64(i) + 1, Limit: n, Text: string(rule)})
	}
}

// keepNewer keeps what changed since the newest files of the last that is kept by files.
// The newest by subtree may be so because something was moved out of them, which says
// nothing about those that they displace. Times of files never rise by that: what this
// keeps, no plan that is carried out can set free. What has no file has nothing to lose.
func (s *standing) keepNewer(u *UnitDecision, x flink.Stamp, n int64) {
	at := min(n, int64(len(s.files.top)))
	if at <= 0 || x.Place == flink.NoPlace {
		return
	}
	last := s.files.last()
	if i, ok := s.subtree.place(x.Ms, u.nth); ok && int64(i) < n || x.Ms < last {
		return
	}
	if file := u.Unit.NewestFile; file.Place != flink.NoPlace && file.Ms < last {
		u.keep(Fact{Rule: NewerThanFiles, TimeMs: x.Ms, Place: x.Place, N: at})
	}
}

func ms(d Duration) int64 { return int64(d) / 1e6 }

func (u *UnitDecision) keep(f Fact) { u.Keeps = append(u.Keeps, f) }

// Whole tells whether all that is in the unit stays, debris in it too.
func (u *UnitDecision) Whole() bool { return u.whole }

// keepWhole keeps a unit with all that is in it.
func (u *UnitDecision) keepWhole(f Fact) {
	u.keep(f)
	u.whole = true
}

// job decides about the units of a job, all of which are in memory.
func (b *decider) job(r *RootDecision, j *JobDecision) {
	s := b.stand(r, j)
	s.stopJob()
	for _, u := range j.Units {
		s.decide(u)
	}
}

// decide decides about a unit, when all that stops its job is known.
func (s *standing) decide(u *UnitDecision) {
	b, r, j := s.b, s.r, s.job
	for _, f := range j.Stopped {
		u.keepWhole(f)
	}
	b.keepNamed(r, j, u)
	b.keepFlags(u)
	switch {
	case s.ranked:
		s.keepUnion(u)
	case r.Policy.Layout == Savepoints:
		b.keepUnlessDead(u)
		b.keepWithin(r.Policy, u)
	case r.Policy.Layout == Run && !u.Unit.RunID:
		u.keep(Fact{Rule: NoRunID})
	}
	b.narrow(r.Policy, u)
	b.verdict(r, j, u)
}

// narrow adds the rules that only ever keep more: age and access.
func (b *decider) narrow(policy *Root, u *UnitDecision) {
	t, limit := &u.Unit.Times, ms(policy.MinAge)
	if b.imageMs-t.Newest.Ms <= limit {
		u.keep(Fact{Rule: WithinMinAge, TimeMs: t.Newest.Ms, Place: t.Newest.Place, LimitMs: limit})
	}
	if t.NewestDataATimeMs > 0 && b.imageMs-t.NewestDataATimeMs <= limit {
		u.keep(Fact{Rule: Accessed, TimeMs: t.NewestDataATimeMs, LimitMs: limit})
	}
}

// appendTimes appends what ages were counted from.
func (u *UnitDecision) appendTimes(dst []Fact) []Fact {
	t := &u.Unit.Times
	dst = append(dst, Fact{Rule: TimeOfSubtree, TimeMs: t.Newest.Ms, Place: t.Newest.Place})
	if t.HasMetadata {
		dst = append(dst, Fact{Rule: TimeOfMetadata, TimeMs: t.NewestMetadataMs, Place: flink.MetadataPlace})
	}
	if t.NewestDataATimeMs > 0 {
		dst = append(dst, Fact{Rule: TimeOfAccess, TimeMs: t.NewestDataATimeMs})
	}
	return dst
}

// verdict closes a unit: what no rule keeps is a candidate.
func (b *decider) verdict(r *RootDecision, j *JobDecision, u *UnitDecision) {
	if len(u.Keeps) > 0 {
		u.Rule = u.Keeps[0].Rule
		b.debris(r, j, u)
		return
	}
	u.Verdict, u.Rule = Candidate, BeyondKeep
	kind := UnitItem
	switch {
	case r.Policy.Layout == Children:
		u.Rule, kind = OldChild, ChildItem
	case u.Unit.Skeleton:
		u.Rule = EmptySkeleton
	case r.Policy.Layout == Run || r.Policy.Layout == HAStorage:
		u.Rule = NotLive
	case !j.grouped():
		u.Rule = RunDead
	}
	item := u.item(j, kind, u.Rule, u.Path)
	item.INodeID, item.ParentID = u.Unit.INodeID, u.Unit.ParentID
	item.size(&u.Unit.Totals)
	u.Items = []*Item{item}
	u.split(b.p.Belts.MaxInodesPerMove)
}

func (u *UnitDecision) item(j *JobDecision, kind Kind, rule Rule, path Path) *Item {
	return &Item{Kind: kind, Rule: rule, Path: path, Root: u.root, Job: j, Unit: u, NeedsReferenceProof: u.NeedsReferenceProof}
}

func (i *Item) size(t *flink.Totals) {
	i.Inodes, i.Bytes = t.Directories+t.Files+t.Symlinks, t.Length
}

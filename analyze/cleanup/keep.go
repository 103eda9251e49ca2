package cleanup

import (
	"cmp"
	"slices"

	"fsweep/analyze/flink"
)

// ranking is the units of a job by three times, newest first. Those of unknown age
// are not in it: they are kept, and take no other's place.
type ranking struct {
	metadata, subtree, files []ranked
}

type ranked struct {
	u *UnitDecision
	flink.Stamp
}

// rank ranks the units of a job by the newest `_metadata` of a complete checkpoint, by
// the newest mtime in the subtree, and by that of files and symlinks alone: where debris
// was moved away directories are new, and that must displace nothing.
func (b *decider) rank(j *JobDecision) ranking {
	var r ranking
	for _, u := range j.Units {
		t := &u.Unit.Times
		if _, unknown := b.unknownAge(t); unknown {
			continue
		}
		if t.HasMetadata {
			r.metadata = append(r.metadata, ranked{u, flink.Stamp{Ms: t.NewestMetadataMs, Place: flink.MetadataPlace}})
		}
		if t.Rank.Place != flink.NoPlace { // whoever sets a marker makes nothing newer
			r.subtree = append(r.subtree, ranked{u, t.Rank})
		}
		if u.Unit.NewestFile.Place != flink.NoPlace {
			r.files = append(r.files, ranked{u, u.Unit.NewestFile})
		}
	}
	for _, list := range r.lists() {
		slices.SortFunc(list, func(x, y ranked) int { return cmp.Or(cmp.Compare(y.Ms, x.Ms), cmp.Compare(x.u.Path, y.u.Path)) })
	}
	return r
}

func (r *ranking) lists() [3][]ranked { return [...][]ranked{r.metadata, r.subtree, r.files} }

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
func (b *decider) tie(policy *Root, j *JobDecision) (Fact, bool) {
	if !j.grouped() || !j.Job.Selected || b.excluded(policy, j) {
		return Fact{}, false
	}
	r := b.rank(j)
	for _, list := range r.lists() {
		for i := 1; i < len(list) && int64(i) <= max(int64(policy.Keep), 1); i++ {
			if list[i].Ms == list[i-1].Ms {
				return Fact{Rule: TieStops, TimeMs: list[i].Ms, Text: j.Name, Path: list[i-1].u.Path}, true
			}
		}
	}
	return Fact{}, false
}

// keepUnion adds the rules by which a job keeps its newest units.
func (b *decider) keepUnion(policy *Root, j *JobDecision) {
	r := b.rank(j)
	keepNewest(r.metadata, int64(policy.Keep), NewestByMetadata)
	keepNewest(r.subtree, int64(policy.Keep), NewestBySubtree)
	keepNewest(r.files, int64(policy.Keep), NewestByFiles)
	r.keepNewer(int64(policy.Keep))
	none := noneComplete(j)
	for _, u := range j.Units {
		t := &u.Unit.Times
		switch {
		case len(r.metadata) == 0:
			if !u.Unit.Skeleton && !t.HasMetadata { // one that has it is of unknown age, and kept for that
				u.keep(none)
			}
		case t.HasMetadata && t.NewestMetadataMs == r.metadata[0].Ms:
			u.keep(Fact{Rule: NewestComplete, TimeMs: t.NewestMetadataMs, Place: flink.MetadataPlace})
		case t.Newest.Ms >= r.metadata[0].Ms:
			u.keep(Fact{Rule: NewerThanComplete, TimeMs: t.Newest.Ms, Place: t.Newest.Place})
		}
		b.keepWithin(policy, u)
	}
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
func noneComplete(j *JobDecision) Fact {
	for _, u := range j.Units {
		if u.Unit.Times.HasMetadata {
			return Fact{Rule: CompleteUnknown, Path: u.Path}
		}
	}
	return Fact{Rule: NothingComplete}
}

// keepNewest keeps the first n of a list and what is as new as the last of them.
func keepNewest(list []ranked, n int64, rule Rule) {
	if n <= 0 || len(list) == 0 {
		return
	}
	last := list[min(n, int64(len(list)))-1].Ms
	over := int64(len(list)) > n && list[n].Ms == last
	for i, r := range list {
		if r.Ms < last {
			return
		}
		if int64(i) < n {
			r.u.keep(Fact{Rule: rule, TimeMs: r.Ms, Place: r.Place, N: int64(i) + 1, Limit: n})
		}
		if over && r.Ms == last {
			r.u.keep(Fact{Rule: EqualNewest, TimeMs: r.Ms, Place: r.Place, N: int64(i) + 1, Limit: n, Text: string(rule)})
		}
	}
}

// keepNewer keeps what changed since the newest files of the last that is kept by files.
// The newest by subtree may be so because something was moved out of them, which says
// nothing about those that they displace. Times of files never rise by that: what this
// keeps, no plan that is carried out can set free. What has no file has nothing to lose.
func (r *ranking) keepNewer(n int64) {
	at := min(n, int64(len(r.files)))
	if at <= 0 {
		return
	}
	last := r.files[at-1].Ms
	for i, s := range r.subtree {
		if s.Ms < last {
			return
		}
		if file := s.u.Unit.NewestFile; int64(i) >= n && file.Place != flink.NoPlace && file.Ms < last {
			s.u.keep(Fact{Rule: NewerThanFiles, TimeMs: s.Ms, Place: s.Place, N: at})
		}
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

// job decides about the units of a job.
func (b *decider) job(r *RootDecision, j *JobDecision) {
	b.stopJob(r, j)
	for _, u := range j.Units {
		for _, f := range j.Stopped {
			u.keepWhole(f)
		}
		b.keepNamed(r, j, u)
		b.keepFlags(u)
	}
	switch {
	case r.Policy.Groups() && j.grouped():
		b.keepUnion(r.Policy, j)
	case r.Policy.Layout == Savepoints:
		for _, u := range j.Units {
			b.keepUnlessDead(u)
			b.keepWithin(r.Policy, u)
		}
	case r.Policy.Layout == Run:
		for _, u := range j.Units {
			if !u.Unit.RunID {
				u.keep(Fact{Rule: NoRunID})
			}
		}
	}
	for _, u := range j.Units {
		b.narrow(r.Policy, u)
		b.verdict(r, j, u)
	}
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

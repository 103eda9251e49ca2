package cleanup

import "fsweep/analyze/flink"

func (b *decider) excluded(policy *Root, j *JobDecision) bool {
	return j.Job.Excluded || policy.Excludes(j.Job.Name) || policy.Excludes(j.Name)
}

// stopJob finds what keeps all units of a job.
func (s *standing) stopJob() {
	b, r, j := s.b, s.r, s.job
	stop := func(f Fact) { j.Stopped = append(j.Stopped, f) }
	if len(r.Stopped) > 0 {
		stop(Fact{Rule: RootStopped, Text: string(r.Stopped[0].Rule)})
	}
	if b.excluded(r.Policy, j) {
		stop(Fact{Rule: JobExcluded})
	}
	// The job without a name is no directory, and its units are selected one by one.
	if j.Job.Grouped() && !j.Job.Selected {
		stop(Fact{Rule: NotSelected})
	}
	if r.Root.Marked {
		stop(Fact{Rule: Marked, Path: r.Policy.Path})
	}
	if j.Job.Marked {
		stop(Fact{Rule: Marked, Path: r.Policy.Path + Path("/"+j.Job.Name)})
	}
	// An entry that nobody knows, in the job or in a unit.
	switch {
	case j.Job.Grouped() && j.Job.NumUnknown > 0:
		stop(unknownEntry(j.Job.NumUnknown, j.Job.Unknown))
	case s.unknown.set:
		stop(s.unknown.fact)
	}
	if s.restoring.set {
		stop(s.restoring.fact)
	}
}

func unknownEntry(n int64, list []flink.Misfit) Fact {
	f := Fact{Rule: UnknownEntry, N: n}
	if len(list) > 0 {
		f.Path, f.Text = Path(list[0].Path), string(list[0].Reason)
	}
	return f
}

// restoring tells whether a run may be restoring from any other of its job, which stops
// that: it lives or is young, and has nothing complete of its own yet. In other layouts it
// is not known which units such a run may need, and the executor decides.
func (b *decider) restoring(u *UnitDecision) bool {
	t := &u.Unit.Times
	if t.HasMetadata {
		return false
	}
	_, unknown := b.unknownAge(t)
	live, _ := b.lives(u.Unit)
	return live || unknown || b.imageMs-t.Newest.Ms <= ms(b.p.GuardAge)
}

// lives tells whether a live list has a unit, and by what.
func (b *decider) lives(u *flink.Unit) (bool, string) {
	switch {
	case b.live == nil:
	case u.Kind == flink.RunUnit:
		return b.live.ids[plainID(u.Name)], u.Name
	case u.Kind == flink.ClusterUnit:
		return b.live.clusters[u.Name], u.Name
	}
	return false, ""
}

// keepNamed adds the rules by which somebody names what is kept, with all in it.
func (b *decider) keepNamed(r *RootDecision, j *JobDecision, u *UnitDecision) {
	f := u.Unit
	if !j.grouped() && f.NumUnknown > 0 {
		u.keepWhole(unknownEntry(f.NumUnknown, f.Unknown))
	}
	if !j.Job.Grouped() && !f.Selected {
		u.keepWhole(Fact{Rule: NotSelected})
	}
	if !j.Job.Grouped() && r.Policy.Excludes(f.Name) {
		u.keepWhole(Fact{Rule: JobExcluded})
	}
	if f.Marked || f.MarkedInside {
		u.keepWhole(Fact{Rule: Marked, Path: u.Path})
	}
	if p, ok := b.protected.touches(u.Path); ok {
		u.keepWhole(Fact{Rule: Protected, Path: p})
	}
	if p, ok := b.roots.below(u.Path); ok {
		u.keepWhole(Fact{Rule: HoldsRoot, Path: p})
	}
	if p, ok := b.pins.touches(u.Path); ok {
		u.keepWhole(Fact{Rule: Pinned, Path: p})
	}
	if live, id := b.lives(f); live {
		u.keepWhole(Fact{Rule: Live, Text: id})
	}
	if f.Kind != flink.RunUnit {
		return
	}
	// Later deployments use such an id again: neither the age of what is in the run
	// nor the numbers of its checkpoints say anything.
	if f.ConstantID || constantID(plainID(f.Name)) {
		u.keepWhole(Fact{Rule: ConstantID})
	}
	if b.seen.ids[plainID(f.Name)] {
		u.keepWhole(Fact{Rule: SeenLive, Text: f.Name})
	}
}

// keepFlags adds what HDFS would refuse or what would change something else than
// where a directory is, and what is being written.
func (b *decider) keepFlags(u *UnitDecision) {
	for _, f := range flagFacts(&u.Unit.Flags, u.Unit.OpenFiles) {
		u.keep(f)
	}
	if f, unknown := b.unknownAge(&u.Unit.Times); unknown {
		u.keep(f)
	}
}

func flagFacts(f *flink.Flags, open int64) (facts []Fact) {
	if f.Quota || f.QuotaInside {
		facts = append(facts, Fact{Rule: QuotaDirectory})
	}
	if f.Snapshottable || f.SnapshottableInside || f.SnapshotsInside {
		facts = append(facts, Fact{Rule: Snapshottable})
	}
	if f.EncryptionZone || f.EncryptionZoneInside {
		facts = append(facts, Fact{Rule: EncryptionZone})
	}
	if open > 0 {
		facts = append(facts, Fact{Rule: OpenFile, N: open})
	}
	return facts
}

// keepUnlessDead keeps a savepoint that belongs to no job, unless its run is known
// dead. Its name has six digits of the run's id, and 000000 and ffffff are those of
// all jobs in application mode.
func (b *decider) keepUnlessDead(u *UnitDecision) {
	digits := u.Unit.RunDigits()
	switch {
	case b.live == nil, !b.live.runs, digits == "", digits == "000000", digits == "ffffff", b.live.digits[digits]:
		u.keep(Fact{Rule: RunNotKnownDead, Text: digits})
	case b.seen.digits[digits]:
		u.keepWhole(Fact{Rule: SeenLive, Text: digits})
	}
}

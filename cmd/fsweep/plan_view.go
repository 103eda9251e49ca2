package main

import (
	"errors"
	"iter"
	"slices"
	"strconv"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/plan"
	"fsweep/proto/planfile"
	view "fsweep/reports/cleanup"
)

// planSource is what a plan is shown from.
type planSource struct {
	decision *cleanup.Decision
	// entries are its jobs and units, where there are too many to be in decision.
	entries *entries
	header  planfile.Header
	footer  planfile.Footer
	quotas  []planfile.Quota
	digest  planfile.Digest
	file    string // empty: none was written
	// written tells what was written for an item of the decision; nil: nothing was, so
	// what there is comes from the decision alone.
	written func(*cleanup.Item) (plan.Written, bool)
	// deferrals are why the plan, and not the decision, defers items.
	deferrals map[*cleanup.Item][]cleanup.Fact
	// sweep tells what became of the files of a sweep of the decision; nil: nobody looked.
	sweep    func(*cleanup.Sweep) view.Sweep
	contents bool  // list what is in units
	err      error // of a temporary file; then what is shown is not all

	sweeps map[cleanup.Path][]*cleanup.Sweep // of decision, by unit
}

// planView gives a plan as it is shown. Roots, jobs and units are made when they are
// asked for, so a hundred thousand of them are no second copy in memory.
func planView(s *planSource) *view.Plan {
	s.index()
	return &view.Plan{
		Header: s.header, Footer: s.footer, Quotas: s.quotas, File: s.file, Digest: s.digest,
		Roots: func(yield func(*view.Root) bool) {
			at := s.entries.cursor(s)
			defer at.stop()
			for _, d := range s.decision.Roots {
				r := s.root(d)
				if s.entries != nil {
					r.Jobs = at.jobs(d)
				}
				if !yield(r) {
					return
				}
			}
		},
	}
}

func (s *planSource) index() {
	s.sweeps = map[cleanup.Path][]*cleanup.Sweep{}
	for _, w := range s.decision.Sweeps {
		s.sweeps[w.Unit.Path] = append(s.sweeps[w.Unit.Path], w)
	}
}

func (s *planSource) root(d *cleanup.RootDecision) *view.Root {
	r := &view.Root{
		Root: planfile.Root{
			Path: planfile.Path(d.Policy.Path), InodeID: d.Root.INodeID, Layout: planfile.Layout(d.Policy.Layout),
			Mode: planfile.Mode(d.Policy.Mode), Inodes: inodes(&d.Root.Totals),
		},
		Stops: reasons(d.Stopped), NumMisfits: d.Root.NumMisfits,
		Jobs: func(yield func(*view.Job) bool) {
			u := newUnitView(s)
			for _, j := range d.Jobs {
				v := s.job(d, j)
				v.Units = u.all(j)
				if !yield(v) {
					return
				}
			}
		},
	}
	for i := range d.Root.Misfits {
		m := &d.Root.Misfits[i]
		switch m.Reason {
		case flink.ExcludedNotFound:
			r.ExcludedNotFound = m.Names
		case flink.SelectedNotFound:
			r.SelectedNotFound = m.Names
		default:
			r.Misfits = append(r.Misfits, misfit(m))
			continue
		}
		r.NumMisfits--
	}
	return r
}

func misfit(m *flink.Misfit) view.Misfit {
	return view.Misfit{Path: planfile.Path(m.Path), InodeID: m.INodeID, Reason: string(m.Reason), Detail: m.Detail}
}

func inodes(t *flink.Totals) int64 { return t.Directories + t.Files + t.Symlinks }

func totals(t *flink.Totals) view.Totals {
	return view.Totals{Files: t.Files, Directories: t.Directories, Symlinks: t.Symlinks, Length: t.Length, Space: t.Space}
}

// reasons gives facts of a decision the names of plan files.
func reasons(facts []cleanup.Fact) []view.Reason {
	var out []view.Reason
	for _, r := range plan.Reasons(facts) {
		out = append(out, view.Reason(r))
	}
	return out
}

// jobPath is the directory of a job; empty if it has none of its own.
func jobPath(r *cleanup.RootDecision, j *cleanup.JobDecision) cleanup.Path {
	if !j.Job.Grouped() {
		return ""
	}
	return r.Policy.Path + cleanup.Path("/"+j.Job.Name)
}

func (s *planSource) job(r *cleanup.RootDecision, d *cleanup.JobDecision) *view.Job {
	j := &view.Job{
		Name: planfile.Name(d.Name), Path: planfile.Path(jobPath(r, d)), Mapped: d.Mapped, Excluded: d.Job.Excluded, Stopped: reasons(d.Stopped),
	}
	if d.Job.Grouped() {
		j.InodeID, j.Totals, j.NumUnknown = d.Job.INodeID, totals(&d.Job.Totals), d.Job.NumUnknown
		for i := range d.Job.Unknown {
			j.Unknown = append(j.Unknown, misfit(&d.Job.Unknown[i]))
		}
		return j
	}
	for _, u := range d.Units {
		j.NumUnknown += u.Unit.NumUnknown
		for i := range u.Unit.Unknown {
			j.Unknown = append(j.Unknown, misfit(&u.Unit.Unknown[i]))
		}
	}
	return j
}

// unitView is a unit as it is shown. One after the other takes its place.
type unitView struct {
	view.Unit
	s     *planSource
	d     *cleanup.UnitDecision
	items []view.Item
	// detailed: detail has been called for this unit, and is again for each line of it.
	detailed bool
}

func newUnitView(s *planSource) *unitView {
	u := &unitView{s: s}
	u.Detail = u.detail
	return u
}

// all shows the units of a job.
func (u *unitView) all(d *cleanup.JobDecision) iter.Seq[*view.Unit] {
	return func(yield func(*view.Unit) bool) {
		for _, x := range d.Units {
			if u.show(x); !yield(&u.Unit) {
				return
			}
		}
	}
}

// unit shows one unit, with everything.
func (s *planSource) unit(d *cleanup.UnitDecision) *view.Unit {
	u := newUnitView(s)
	u.show(d)
	u.detail()
	return &u.Unit
}

// show takes another unit, as far as it is counted.
func (u *unitView) show(d *cleanup.UnitDecision) {
	t := &d.Unit.Times
	u.d, u.detailed = d, false
	u.Kind, u.Path, u.InodeID, u.Verdict, u.Totals = d.Unit.Kind.String(), planfile.Path(d.Path), d.Unit.INodeID, d.Verdict.String(), totals(&d.Unit.Totals)
	u.Times = view.Times{SubtreeMs: t.Newest.Ms, HasMetadata: t.HasMetadata, MetadataMs: t.NewestMetadataMs, DataATimeMs: t.NewestDataATimeMs}
	if t.Newest.Place != flink.NoPlace {
		u.Times.SubtreeOf = t.Newest.Place.String()
	}
	u.Items, u.items = u.Items[:0], u.items[:0]
	for _, i := range d.Items {
		u.items = append(u.items, u.s.item(i))
	}
	for i := range u.items {
		u.Items = append(u.Items, &u.items[i])
	}
	u.Reasons = append(u.Reasons[:0], view.Reason{Rule: string(d.Rule)})
	u.Sweeps, u.Parts, u.MoreItems, u.MoreParts = nil, nil, nil, nil
	for _, w := range u.s.sweeps[d.Path] {
		if u.s.sweep != nil {
			u.Sweeps = append(u.Sweeps, u.s.sweep(w))
		}
	}
}

// detail adds what lines need.
func (u *unitView) detail() {
	if u.detailed {
		return
	}
	u.detailed = true
	u.evidence()
	switch {
	case u.d.Verdict == cleanup.Keep:
		u.Reasons = reasons(u.d.Keeps)
	case u.d.Many():
		u.Reasons[0].Facts = plan.Evidence(u.d.Selected())
	case len(u.items) > 0:
		u.Reasons[0].Facts = u.items[0].Evidence
	}
	if u.s.contents {
		u.Parts = parts(u.d.Unit)
		if u.d.Unit.Stored != nil {
			u.MoreParts = storedParts(u.d.Unit.Stored, &u.s.err)
		}
	}
}

func (u *unitView) evidence() {
	for n, i := range u.d.Items {
		u.items[n].Evidence = plan.Evidence(i)
	}
}

// storedParts lists the checkpoints of a run that has too many for memory. An error is left
// in failed.
func storedParts(stored *flink.Stored, failed *error) iter.Seq[*view.Part] {
	of := &flink.Unit{Stored: stored}
	return func(yield func(*view.Part) bool) {
		err := of.EachCheckpoint(func(c *flink.Checkpoint) error {
			p := checkpointPart(c)
			if !yield(&p) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			*failed = err
		}
	}
}

// item gives an item as it was written, or as it was decided if nothing was, without
// its evidence.
func (s *planSource) item(i *cleanup.Item) view.Item {
	var written plan.Written
	ok := false
	if s.written != nil {
		written, ok = s.written(i)
	}
	if !ok || written.Left {
		out := view.Item{Item: decidedItem(i), Deferrals: reasons(i.Deferred), Unweighed: true}
		if written.Left {
			out.Totals = planfile.Totals(totals(&written.Counted))
		}
		if s.written != nil {
			out.Deferred = inconsistent
			out.Deferrals = append(out.Deferrals, view.Reason{Rule: inconsistent})
		}
		return out
	}
	out := view.Item{Item: written.Item(i)}
	switch {
	case written.Deferred == "":
	case len(i.Deferred) > 0:
		out.Deferrals = reasons(i.Deferred)
	case len(written.Why) > 0:
		out.Deferrals = reasons(written.Why)
	default: // only the numbers of the plan are above a belt
		out.Deferrals = reasons(s.deferrals[i])
	}
	return out
}

// inconsistent is the rule for what was decided, but not written.
const inconsistent = "inconsistent_image"

// decidedItem is what can be said of an item that was not looked at.
func decidedItem(i *cleanup.Item) planfile.Item {
	out := planfile.Item{
		Kind: planfile.Kind(i.Kind), Path: planfile.Path(i.Path), InodeID: i.INodeID, ParentID: i.ParentID, SplitOf: i.SplitOf,
		Entries: i.Inodes, Rule: string(i.Rule), NeedsReferenceProof: i.NeedsReferenceProof, Conditional: i.Conditional,
	}
	if len(i.Deferred) > 0 {
		out.Deferred = string(i.Deferred[0].Rule)
	}
	if i.Root != nil {
		out.Root = planfile.Path(i.Root.Policy.Path)
	}
	if i.Job != nil {
		out.Job = planfile.Name(i.Job.Name)
	}
	if i.Unit != nil {
		out.Run = planfile.Name(i.Unit.Unit.Name)
		t := itemTotals(i)
		out.Totals = planfile.Totals{Files: t.Files, Directories: t.Directories, Symlinks: t.Symlinks, Length: t.Length, Space: t.Space}
	}
	return out
}

// itemTotals finds what discovery counted for an item.
func itemTotals(i *cleanup.Item) flink.Totals {
	u := i.Unit.Unit
	switch i.INodeID {
	case u.INodeID:
		return u.Totals
	case u.Shared.INodeID:
		return u.Shared.Totals
	case u.Taskowned.INodeID:
		return u.Taskowned.Totals
	}
	if c := i.Checkpoint; c != nil && c.INodeID == i.INodeID {
		return c.Totals
	}
	return flink.Totals{Files: 1, Length: i.Bytes}
}

// parts lists checkpoints, newest first, and the other directories of a run.
func parts(u *flink.Unit) (out []view.Part) {
	for _, c := range slices.Backward(u.Checkpoints) {
		out = append(out, checkpointPart(c))
	}
	for _, a := range []struct {
		name string
		area *flink.Area
	}{{"shared", &u.Shared}, {"taskowned", &u.Taskowned}, {"dstl", u.Changelog}} {
		if u.Kind == flink.RunUnit && a.area != nil && a.area.INodeID != 0 {
			out = append(out, view.Part{Name: a.name, InodeID: a.area.INodeID, Totals: totals(&a.area.Totals)})
		}
	}
	return out
}

func checkpointPart(c *flink.Checkpoint) view.Part {
	p := view.Part{Name: "chk-" + strconv.FormatInt(c.N, 10), InodeID: c.INodeID, MTimeMs: c.Times.Newest.Ms, Complete: "no", Totals: totals(&c.Totals)}
	switch {
	case c.Complete():
		p.Complete = "yes"
	case c.Metadata != nil && c.Metadata.Open:
		p.Complete = "open"
	}
	return p
}

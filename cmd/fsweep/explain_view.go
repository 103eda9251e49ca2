package main

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/analyze/plan"
	"fsweep/proto/planfile"
	view "fsweep/reports/cleanup"
)

// explainedGuards is how many guards an explanation lists.
const explainedGuards = 20

// explainSource is what paths are explained from. It is not changed.
type explainSource struct {
	ctx     context.Context
	tree    *namespace.Tree
	survey  *flink.Survey
	answers *plan.Answers
	// decision has roots alone.
	decision *cleanup.Decision
	policy   *cleanup.Policy // in force
	jobMaps  map[cleanup.Path]*cleanup.JobMap
	now      time.Time
	err      error // of a temporary file that something later needed; see [view.Unit]
}

// explainTarget is a path, and what the image has there.
type explainTarget struct {
	path    cleanup.Path // clean; / is possible here
	exists  bool
	inodeID uint64
	file    *flink.File // of a file; nil of all else
	atimeMs int64       // of a file
}

// explainView gives all that is known about what becomes of a path, of which a is what was
// decided. Errors are those of a temporary file, and of a context that ends.
func explainView(s *explainSource, a *plan.Asked, t explainTarget) (*view.Explanation, error) {
	e := explainer{s: s, t: t, a: a, show: planSource{decision: s.decision, contents: true}}
	e.x = &view.Explanation{Path: planfile.Path(t.path), InodeID: t.inodeID, Exists: t.exists, Verdict: view.NoVerdict}
	e.holders()
	e.judge()
	if !t.exists {
		e.x.What, e.x.Verdict = view.IsMissing, view.NoVerdict
		e.x.Reasons = append([]view.Reason{{Rule: "missing"}}, e.x.Reasons...)
	}
	if err := e.guards(); e.err == nil {
		e.err = err
	}
	return e.x, e.err
}

type explainer struct {
	s    *explainSource
	t    explainTarget
	a    *plan.Asked
	show planSource
	x    *view.Explanation
	err  error // of a temporary file

	chk   *flink.Checkpoint // see checkpoint
	found bool              // it was looked for
}

// holders fills in what holds the path.
func (e *explainer) holders() {
	if e.a.Root != nil {
		e.x.Root = e.show.root(e.a.Root)
	}
	if e.a.Job != nil {
		e.x.Job = e.show.job(e.a.Root, e.a.Job)
		if !e.a.Job.Job.Grouped() {
			e.x.Job.NumUnknown = e.a.NumUnknown
			for i := range e.a.Unknown {
				e.x.Job.Unknown = append(e.x.Job.Unknown, misfit(&e.a.Unknown[i]))
			}
		}
	}
	if e.a.Unit != nil {
		e.x.Unit = e.show.unit(e.a.Unit)
		if e.a.Unit.Many() {
			e.x.Unit.MoreItems = e.s.items(e.a)
		}
		if stored := e.a.Unit.Unit.Stored; stored != nil {
			e.x.Unit.MoreParts = storedParts(stored, &e.s.err)
		}
		if c := e.checkpoint(); c != nil {
			p := checkpointPart(c)
			e.x.Part = &p
		}
	}
	if e.a.Item != nil {
		i := e.show.item(e.a.Item)
		i.Evidence = plan.Evidence(e.a.Item)
		e.x.Item = &i
	}
	for _, r := range e.s.decision.Roots {
		if p := r.Policy.Path; p != e.t.path && (e.t.path == "/" || e.t.path.Holds(p)) {
			e.x.Roots = append(e.x.Roots, planfile.Path(p))
		}
	}
}

// below is the path below a directory that holds it.
func (e *explainer) below(dir cleanup.Path) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(e.t.path), string(dir)), "/")
}

// checkpoint gives the one of the unit that is the path or holds it.
func (e *explainer) checkpoint() *flink.Checkpoint {
	if e.found {
		return e.chk
	}
	e.found = true
	name, _, _ := strings.Cut(e.below(e.a.Unit.Path), "/")
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "chk-"), 10, 64)
	if err != nil {
		return nil
	}
	err = e.a.Unit.Unit.EachCheckpoint(func(c *flink.Checkpoint) error {
		if c.N == n && name == checkpointPart(c).Name {
			e.chk = c // of two with one name, in a broken image, the first
		}
		return nil
	})
	e.err = cmp.Or(e.err, err)
	return e.chk
}

// items shows all items of a unit that has more than memory.
func (s *explainSource) items(a *plan.Asked) iter.Seq[*view.Item] {
	return func(yield func(*view.Item) bool) {
		show := planSource{decision: s.decision}
		err := s.answers.EachItem(s.ctx, a, func(i *cleanup.Item) error {
			x := show.item(i)
			x.Evidence = plan.Evidence(i)
			if !yield(&x) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			s.err = err
		}
	}
}

func (e *explainer) keep(what view.What, list ...view.Reason) {
	e.x.What, e.x.Verdict, e.x.Reasons = what, view.Keep, list
}

func rule(name string, facts ...planfile.Fact) view.Reason {
	return view.Reason{Rule: name, Facts: facts}
}

func fact(name string, n int64) planfile.Fact { return planfile.Fact{Name: name, Number: n} }

// judge says what the path is, and why it stays or goes.
func (e *explainer) judge() {
	a := e.a
	switch {
	case a.Root == nil && len(e.x.Roots) > 0:
		e.x.What, e.x.Reasons = view.IsAbove, []view.Reason{rule("above_root")}
	case a.Root == nil:
		e.x.What, e.x.Reasons = view.IsOutside, []view.Reason{rule("outside_roots")}
	case e.t.path == a.Root.Policy.Path:
		e.keep(view.IsRoot, append([]view.Reason{rule("root_itself")}, e.x.Root.Stops...)...)
		e.count()
	case a.Unit != nil:
		e.unit()
	case a.Job != nil && e.t.path == jobPath(a.Root, a.Job):
		e.keep(view.IsJob, append([]view.Reason{rule("job_itself")}, e.x.Job.Stopped...)...)
		e.count()
	case a.Job != nil:
		e.keep(view.IsInJob, append(e.x.Job.Stopped, rule("no_unit"))...)
	default:
		e.keep(view.IsInRoot, append(e.x.Root.Stops, rule("no_unit"))...)
	}
}

// count says how many of the units below a root or job are kept, and names one.
func (e *explainer) count() {
	n := e.a.Counts
	e.x.Units = &view.UnitCounts{
		Units: n.Units, Kept: n.Kept, Moved: n.Moved, Deferred: n.Deferred, Debris: n.Debris, DebrisDeferred: n.DebrisDeferred,
		Swept: n.Swept, Example: planfile.Path(n.Example),
	}
}

// unit judges a path that is a unit or in one.
func (e *explainer) unit() {
	u, what := e.a.Unit, view.IsInUnit
	switch c := e.checkpoint(); {
	case e.t.path == u.Path:
		what = view.IsUnit
	case c != nil && e.below(u.Path) == checkpointPart(c).Name:
		what = view.IsCheckpoint
	case e.a.Item != nil && e.a.Item.Path == e.t.path:
		what = view.IsItem
	case e.a.Item != nil:
		what = view.IsInItem
	}
	if i := e.x.Item; i != nil {
		e.x.What, e.x.Verdict = what, view.Candidate
		e.x.Reasons = []view.Reason{{Rule: i.Rule, Facts: i.Evidence}}
		if len(i.Deferrals) > 0 {
			e.x.Verdict = view.Deferred
		}
		return
	}
	e.keep(what, e.x.Unit.Reasons...)
	switch {
	case u.Verdict == cleanup.Candidate:
		e.keep(what, append([]view.Reason{rule("parts_first")}, e.x.Unit.Reasons...)...)
	case what != view.IsUnit && u.Unit.Kind == flink.RunUnit && !u.Whole():
		e.debris(what)
	}
}

// debris says why no rule for debris selected a path in a kept run, or that one
// selects the file.
func (e *explainer) debris(what view.What) {
	own := e.stays()
	if w := e.sweep(); len(own) == 0 && w != nil {
		e.candidateFile(w)
		return
	}
	if len(own) == 0 {
		own = []view.Reason{rule("not_of_checkpoint")}
	}
	e.keep(what, append(slices.Clone(own), e.x.Unit.Reasons...)...)
	e.x.OwnReasons = len(own)
}

// stays gives what keeps a path from being debris; nothing of a file that a sweep takes.
func (e *explainer) stays() []view.Reason {
	d, u, c := e.s.decision, e.a.Unit, e.checkpoint()
	area, _, in := strings.Cut(e.below(u.Path), "/")
	switch {
	case u.Unit.NewestComplete() == nil:
		return []view.Reason{rule("none_complete")}
	case c != nil:
		if e.t.file != nil {
			if facts, is := d.UnfinishedStays(u, c, e.t.file.INodeID); is {
				return reasons(facts)
			}
		}
		facts, err := d.CheckpointStays(u, c)
		e.err = cmp.Or(e.err, err)
		return reasons(facts)
	case area != "shared" && area != "taskowned":
		return []view.Reason{rule("not_of_checkpoint")}
	case e.a.Root.Policy.UnreferencedShared == nil:
		return []view.Reason{rule("sweep_off")}
	case e.t.file != nil && in:
		return reasons(d.FileStays(u, e.t.file, e.t.atimeMs))
	}
	return []view.Reason{rule("only_files")}
}

// sweep gives the one whose directory holds the path. Belts are not asked: they count
// all files before it, and only a plan knows those.
func (e *explainer) sweep() *cleanup.Sweep {
	for _, w := range e.a.Sweeps {
		if w.Path.Holds(e.t.path) && w.Path != e.t.path {
			return w
		}
	}
	return nil
}

func (e *explainer) candidateFile(w *cleanup.Sweep) {
	f := e.t.file
	item := &view.Item{Item: planfile.Item{
		Kind: planfile.KindFile, Path: planfile.Path(e.t.path), InodeID: f.INodeID, Root: planfile.Path(e.a.Root.Policy.Path),
		Job: planfile.Name(e.a.Job.Name), Run: planfile.Name(e.a.Unit.Unit.Name), MTimeMs: f.MTimeMs, Entries: 1,
		Totals: planfile.Totals{Files: 1, Length: f.Length}, Rule: string(w.Rule), Evidence: []planfile.Fact{fact("file_mtime_ms", f.MTimeMs)},
		NeedsReferenceProof: true, Conditional: true,
	}}
	e.x.Item, e.x.What, e.x.Verdict, e.x.BeltsOpen = item, view.IsItem, view.Candidate, true
	e.x.Reasons = []view.Reason{{Rule: item.Rule, Facts: item.Evidence}}
}

// guards lists what would be asked about a candidate: all guards outside of what
// would be moved, the nearest first.
func (e *explainer) guards() error {
	i := e.x.Item
	asked := i != nil && (i.NeedsReferenceProof || i.Conditional)
	near := map[string][]view.Guard{}
	err := e.s.answers.EachGuard(e.s.ctx, func(g *flink.Guard, path []byte, moved bool) error {
		if string(path) == string(e.t.path) {
			e.x.Guard = true
		}
		if !asked || moved || g.Length == 0 && !g.Open {
			return nil
		}
		e.x.NumGuards++
		if where := e.near(g); len(near[where]) < explainedGuards {
			near[where] = append(near[where], e.guard(g, path, where))
		}
		return nil
	})
	for _, where := range []string{"job", "root", "elsewhere"} {
		e.x.Guards = append(e.x.Guards, near[where]...)
	}
	e.x.Guards = e.x.Guards[:min(len(e.x.Guards), explainedGuards)]
	return err
}

func (e *explainer) near(g *flink.Guard) string {
	root, unit := e.s.survey.Holder(g.Parent)
	switch {
	case root != e.a.Root.Root:
		return "elsewhere"
	case unit != namespace.NoDir && e.sameJob(unit):
		return "job"
	}
	return "root"
}

// sameJob tells whether the unit of a directory is of the job of the path's unit.
func (e *explainer) sameJob(unit namespace.Dir) bool {
	own := e.a.Unit.Unit.Dir
	switch j := e.a.Job; {
	case j.Job.Grouped():
		return e.s.tree.Parent(unit) == e.s.tree.Parent(own)
	case j.Mapped:
		// What is in the directory of a job has that job, whatever the map says.
		name, ok := e.s.jobMaps[e.a.Root.Policy.Path].Job(string(e.s.tree.Name(unit)))
		return ok && name == j.Name && e.s.tree.Parent(unit) == e.s.tree.Parent(own)
	}
	return unit == own // what is not grouped is of no common job
}

func (e *explainer) guard(g *flink.Guard, path []byte, near string) view.Guard {
	out := view.Guard{Near: near, Guard: planfile.Guard{
		Kind: planfile.GuardHAPointer, Path: planfile.Path(path), InodeID: g.INodeID, Length: g.Length, MTimeMs: g.MTimeMs, Owner: planfile.Name(g.Owner),
	}}
	if g.Kind == flink.MetadataGuard {
		out.Kind = planfile.GuardMetadata
	}
	for i := range e.s.policy.WaiveGuards {
		if w := &e.s.policy.WaiveGuards[i]; uint64(w.InodeID) == g.INodeID && !w.Expires.Over(e.s.now) {
			out.Waived = string(w.Reason)
		}
	}
	return out
}

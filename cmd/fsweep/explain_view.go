package main

import (
	"math"
	"strings"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/plan"
	"fsweep/proto/planfile"
	view "fsweep/reports/cleanup"
)

// explainedGuards is how many guards an explanation lists.
const explainedGuards = 20

// explainSource is what paths are explained from. It is not changed.
type explainSource struct {
	discovery *flink.Discovery
	decision  *cleanup.Decision
	policy    *cleanup.Policy // in force
	now       time.Time
}

// explainTarget is a path, and what the image has there.
type explainTarget struct {
	path    cleanup.Path // clean; / is possible here
	exists  bool
	inodeID uint64
	file    *flink.File // of a file; nil of all else
	atimeMs int64       // of a file
}

// explainView gives all that is known about what becomes of a path.
func explainView(s *explainSource, t explainTarget) *view.Explanation {
	e := explainer{s: s, t: t, a: s.decision.Explain(t.path), show: planSource{decision: s.decision, contents: true}, job: map[*flink.Unit]bool{}}
	e.show.index()
	e.x = &view.Explanation{Path: planfile.Path(t.path), InodeID: t.inodeID, Exists: t.exists, Verdict: view.NoVerdict}
	e.holders()
	e.judge()
	if !t.exists {
		e.x.What, e.x.Verdict = view.IsMissing, view.NoVerdict
		e.x.Reasons = append([]view.Reason{{Rule: "missing"}}, e.x.Reasons...)
	}
	e.guards()
	return e.x
}

type explainer struct {
	s    *explainSource
	t    explainTarget
	a    cleanup.Answer
	show planSource
	x    *view.Explanation
	job  map[*flink.Unit]bool // units of the same job
}

// holders fills in what holds the path.
func (e *explainer) holders() {
	if e.a.Root != nil {
		e.x.Root = e.show.root(e.a.Root)
	}
	if e.a.Job != nil {
		e.x.Job = e.show.job(e.a.Root, e.a.Job)
	}
	if e.a.Unit != nil {
		e.x.Unit = e.show.unit(e.a.Unit)
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
	name, _, _ := strings.Cut(e.below(e.a.Unit.Path), "/")
	for _, c := range e.a.Unit.Unit.Checkpoints {
		if name == checkpointPart(c).Name {
			return c
		}
	}
	return nil
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
	a := &e.a
	switch {
	case a.Root == nil && len(e.x.Roots) > 0:
		e.x.What, e.x.Reasons = view.IsAbove, []view.Reason{rule("above_root")}
	case a.Root == nil:
		e.x.What, e.x.Reasons = view.IsOutside, []view.Reason{rule("outside_roots")}
	case e.t.path == a.Root.Policy.Path:
		e.keep(view.IsRoot, append([]view.Reason{rule("root_itself")}, e.x.Root.Stops...)...)
	case a.Unit != nil:
		e.unit()
	case a.Job != nil && e.t.path == jobPath(a.Root, a.Job):
		e.keep(view.IsJob, append([]view.Reason{rule("job_itself")}, e.x.Job.Stopped...)...)
	case a.Job != nil:
		e.keep(view.IsInJob, append(e.x.Job.Stopped, rule("no_unit"))...)
	default:
		e.keep(view.IsInRoot, append(e.x.Root.Stops, rule("no_unit"))...)
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

// debris says why no rule for debris selected a path in a kept run.
func (e *explainer) debris(what view.What) {
	if f, swept := e.swept(); swept {
		e.candidateFile(f)
		return
	}
	why := rule("not_of_checkpoint")
	switch area, _, _ := strings.Cut(e.below(e.a.Unit.Path), "/"); {
	case e.a.Unit.Unit.NewestComplete() == nil:
		why = rule("none_complete")
	case e.checkpoint() != nil:
		why = e.checkpointStays(e.checkpoint())
	case area != "shared" && area != "taskowned":
	case e.a.Root.Policy.UnreferencedShared == nil:
		why = rule("sweep_off")
	case e.t.file != nil:
		why = rule("sweep_kept", fact("before_time_ms", e.sweepBefore()))
	}
	e.keep(what, append([]view.Reason{why}, e.x.Unit.Reasons...)...)
	e.x.InKeptUnit = true
}

func (e *explainer) checkpointStays(c *flink.Checkpoint) view.Reason {
	policy, newest := e.a.Root.Policy, e.a.Unit.Unit.NewestComplete()
	number := fact("checkpoint", c.N)
	switch stale := policy.StaleCheckpoints; {
	case !c.Complete() && c.N > newest.N:
		return rule("being_written", number, fact("newest_complete_checkpoint", newest.N))
	case !c.Complete():
		ms := max(c.Times.Newest.Ms, c.Times.NewestDataATimeMs)
		return rule("not_yet_debris", fact("newest_mtime_ms", ms), fact("older_than_ms", time.Duration(policy.IncompleteCheckpoints.OlderThan).Milliseconds()))
	case stale == nil:
		return rule("stale_off", number)
	default:
		return rule("stale_kept", number, fact("keep_newest", int64(stale.KeepNewest)),
			fact("older_than_ms", time.Duration(max(stale.OlderThan, policy.MinAge)).Milliseconds()))
	}
}

// sweepBefore is the time before which files of sweeps must be.
func (e *explainer) sweepBefore() int64 {
	for _, w := range e.s.decision.Sweeps {
		if w.Unit == e.a.Unit {
			return w.BeforeMs
		}
	}
	return math.MinInt64
}

// swept tells whether the path is a file that a sweep selects. Belts are not asked:
// they count all files before it, and only a plan knows those.
func (e *explainer) swept() (*cleanup.Sweep, bool) {
	f := e.t.file
	for _, w := range e.s.decision.Sweeps {
		if f != nil && w.Unit == e.a.Unit && w.Path.Holds(e.t.path) && w.Path != e.t.path && w.Takes(f.MTimeMs, e.t.atimeMs, f.Open) {
			return w, true
		}
	}
	return nil, false
}

func (e *explainer) candidateFile(w *cleanup.Sweep) {
	f := e.t.file
	item := &view.Item{Item: planfile.Item{
		Kind: planfile.KindFile, Path: planfile.Path(e.t.path), InodeID: f.INodeID, Root: planfile.Path(e.a.Root.Policy.Path),
		Job: planfile.Name(e.a.Job.Name), Run: planfile.Name(e.a.Unit.Unit.Name), MTimeMs: f.MTimeMs, Entries: 1,
		Totals: planfile.Totals{Files: 1, Length: f.Length}, Rule: string(w.Rule), Evidence: []planfile.Fact{fact("file_mtime_ms", f.MTimeMs)},
		NeedsReferenceProof: true, Conditional: true,
	}}
	e.x.Item, e.x.What, e.x.Verdict = item, view.IsItem, view.Candidate
	e.x.Reasons = []view.Reason{{Rule: item.Rule, Facts: item.Evidence}}
}

// guards lists what would be asked about a candidate: all guards outside of what
// would be moved, the nearest first.
func (e *explainer) guards() {
	var path []byte
	for i := range e.s.discovery.Guards {
		g := &e.s.discovery.Guards[i]
		if !strings.HasSuffix(string(e.t.path), g.Name) {
			continue
		}
		if path = e.s.discovery.AppendPath(path[:0], g); string(path) == string(e.t.path) {
			e.x.Guard = true
		}
	}
	if i := e.x.Item; i == nil || !i.NeedsReferenceProof && !i.Conditional {
		return
	}
	moved := map[string]bool{}
	for _, i := range e.s.decision.Items {
		if i.Root.Executable {
			moved[string(i.Path)] = true
		}
	}
	for _, u := range e.a.Job.Units {
		// What is not grouped is of no common job.
		if e.a.Job.Name != "" || u == e.a.Unit {
			e.job[u.Unit] = true
		}
	}
	near := map[string][]view.Guard{}
	for i := range e.s.discovery.Guards {
		g := &e.s.discovery.Guards[i]
		if g.Length == 0 && !g.Open {
			continue
		}
		if path = e.s.discovery.AppendPath(path[:0], g); inAny(moved, path) {
			continue
		}
		e.x.NumGuards++
		if where := e.near(g); len(near[where]) < explainedGuards {
			near[where] = append(near[where], e.guard(g, where))
		}
	}
	for _, where := range []string{"job", "root", "elsewhere"} {
		e.x.Guards = append(e.x.Guards, near[where]...)
	}
	e.x.Guards = e.x.Guards[:min(len(e.x.Guards), explainedGuards)]
}

// inAny tells whether a path is one of a set, or below one.
func inAny(set map[string]bool, path []byte) bool {
	for end := 1; end <= len(path); end++ {
		if (end == len(path) || path[end] == '/') && set[string(path[:end])] {
			return true
		}
	}
	return false
}

func (e *explainer) near(g *flink.Guard) string {
	root, unit, _ := e.s.discovery.Where(g.Parent)
	if root != e.a.Root.Root {
		return "elsewhere"
	}
	if e.job[unit] {
		return "job"
	}
	return "root"
}

func (e *explainer) guard(g *flink.Guard, near string) view.Guard {
	out := view.Guard{Near: near, Guard: planfile.Guard{
		Kind: planfile.GuardHAPointer, Path: planfile.Path(e.s.discovery.AppendPath(nil, g)), InodeID: g.INodeID, Length: g.Length, MTimeMs: g.MTimeMs, Owner: planfile.Name(g.Owner),
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

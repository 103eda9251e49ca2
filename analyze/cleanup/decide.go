package cleanup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsweep/analyze/flink"
)

// ErrDecide is wrapped by all errors of [Decide]: with such inputs nothing can be
// decided, whatever the image holds.
var ErrDecide = errors.New("nothing can be decided")

// Inputs are what [Decide] knows beside the image and the policy. The order of
// slices does not matter.
type Inputs struct {
	ImageTime time.Time // ages count to it
	Now       time.Time // never before ImageTime

	// Live are the sources that the policy names, one each; the Name of each is the
	// one that the policy has.
	Live []*LiveSet
	// PreviousLive is how much each source named the last time, by its Name. A
	// source that is not in it is new.
	PreviousLive map[string]LiveCount
	// SeenLive are ids of jobs that live lists named at any time before.
	SeenLive []string
	Pins     []Path
	JobMaps  map[Path]*JobMap // by path of the root
}

// Verdict is what becomes of a unit.
type Verdict uint8

// The verdicts.
const (
	Keep      Verdict = iota // whatever was not decided is kept
	Candidate                // may be moved, if no guard refers to it
)

// String gives keep or candidate.
func (v Verdict) String() string { return [...]string{"keep", "candidate"}[min(v, Candidate)] }

// Decision says of every unit whether it stays, and why. Only [Decision.File]
// changes it.
type Decision struct {
	Roots []*RootDecision // by path

	// Items may be moved, in this order. Deferred are candidates that a belt keeps
	// back: they are listed, and are guards. No item is in another or above one.
	Items, Deferred []*Item
	// Sweeps are directories whose files may become items too, by an opt-in rule.
	Sweeps []*Sweep

	tally   *Tally
	imageMs int64 // what ages count to
}

// RootDecision is what was decided in a root.
type RootDecision struct {
	Root   *flink.Root
	Policy *Root
	// Stopped says why nothing in the root is planned; empty: it is not stopped.
	Stopped []Fact
	// Executable is false in mode observe: items are listed, never moved.
	Executable bool
	Jobs       []*JobDecision // what is not grouped first, then by name
}

// JobDecision is what was decided of units that are kept or moved in relation to
// each other: those of a directory or, by the job map, of a flat root.
type JobDecision struct {
	Name    string // empty: not grouped, each unit stands for itself
	Mapped  bool   // the job map gives the name
	Job     *flink.Job
	Stopped []Fact          // why nothing in the job is planned
	Units   []*UnitDecision // newest first
}

// UnitDecision is what was decided of a unit.
type UnitDecision struct {
	Unit    *flink.Unit
	Path    Path
	Verdict Verdict
	whole   bool // nothing in it may be touched either
	// NeedsReferenceProof: it holds or held state of Flink, so that only guards can
	// tell whether something still needs it.
	NeedsReferenceProof bool
	// Rule is the first one that keeps the unit, or the one that selects it.
	Rule Rule
	// Keeps are all rules that speak for keeping, not only the first.
	Keeps []Fact
	Items []*Item // the unit, its parts, or debris in it; see EachItem
	// Newer is how many units of its job changed later; 0 if nothing groups it.
	Newer int64

	more items  // of a run whose checkpoints are stored; nil: Items are all
	many bool   // the same of a unit that was packed: its items are packed beside it
	nth  uint32 // its place by path among the units of its job
	root *RootDecision
}

// Declarations gives the roots as [flink.Discover] wants them.
func Declarations(p *Policy) []flink.Declaration {
	var all []flink.Declaration
	for i := range p.Roots {
		all = append(all, declaration(&p.Roots[i]))
	}
	return all
}

func declaration(r *Root) flink.Declaration {
	layout, _ := flink.ParseLayout(string(r.Layout)) // the same names; a test compares them
	return flink.Declaration{
		Path: []byte(r.Path), Layout: layout, Jobs: texts(r.Jobs), ExcludeJobs: texts(r.ExcludeJobs),
		Ignore: texts(r.Ignore), Names: texts(r.Names),
	}
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// decider makes a Decision.
type decider struct {
	p       *Policy
	in      Inputs
	imageMs int64
	out     *Decision

	live      *liveIndex // nil: nobody said what lives
	seen      *liveIndex // what other live lists named before
	pins      *pathSet
	protected *pathSet
	roots     *pathSet
}

// Decide decides what may be moved by the rules of the policy p. d must be of the
// roots that p declares; see [Declarations]. An image that is older than the
// policy allows, and names under protect that the image does not have, are the
// caller's to refuse.
//
// It reads nothing but its arguments and changes none of them, and the same
// arguments give the same decision. What it selects is suspected, not proved:
// candidates that need it are moved only after the guards were read.
func Decide(d *flink.Discovery, p *Policy, in Inputs) (*Decision, error) {
	b, err := newDecider(d.Roots, p, in)
	if err != nil {
		return nil, err
	}
	for _, r := range b.out.Roots {
		for _, j := range r.Root.Jobs {
			r.Jobs = append(r.Jobs, b.group(r, j)...)
		}
		sortJobs(r.Jobs)
		for _, j := range r.Jobs {
			b.stopTie(r, j)
		}
	}
	b.preflight()
	for _, r := range b.out.Roots {
		for _, j := range r.Jobs {
			b.job(r, j)
		}
	}
	b.belts()
	return b.out, nil
}

// newDecider checks the inputs, and finds what stops roots but [TieStops] and what one
// root does to others.
func newDecider(roots []*flink.Root, p *Policy, in Inputs) (*decider, error) {
	b := &decider{p: p, in: in, imageMs: in.ImageTime.UnixMilli(), out: &Decision{imageMs: in.ImageTime.UnixMilli()}}
	switch {
	case in.ImageTime.IsZero():
		return nil, fmt.Errorf("%w: the time of the image is unknown", ErrDecide)
	case in.Now.Before(in.ImageTime):
		return nil, fmt.Errorf("%w: the image is from %s, which is after %s, the present", ErrDecide, in.ImageTime.UTC().Format(time.RFC3339), in.Now.UTC().Format(time.RFC3339))
	}
	if err := b.lists(); err != nil {
		return nil, err
	}
	if err := b.match(roots); err != nil {
		return nil, err
	}
	for _, r := range b.out.Roots {
		b.stops(r)
	}
	return b, nil
}

// match finds the policy of each root that was discovered.
func (b *decider) match(roots []*flink.Root) error {
	of := map[Path]*Root{}
	for i := range b.p.Roots {
		of[b.p.Roots[i].Path] = &b.p.Roots[i]
	}
	if len(of) != len(roots) {
		return fmt.Errorf("%w: the policy has %d roots, and %d were looked at", ErrDecide, len(of), len(roots))
	}
	for _, r := range roots {
		policy := of[Path(r.Path)]
		if policy == nil || !sameDeclaration(declaration(policy), r.Declared) {
			return fmt.Errorf("%w: the root %q was not looked at as the policy declares it", ErrDecide, r.Path)
		}
		delete(of, policy.Path)
		if policy.JobMap != "" && b.in.JobMaps[policy.Path] == nil {
			return fmt.Errorf("%w: the job map of the root %q is missing", ErrDecide, r.Path)
		}
		b.out.Roots = append(b.out.Roots, &RootDecision{Root: r, Policy: policy, Executable: policy.Mode == Execute})
	}
	slices.SortFunc(b.out.Roots, func(x, y *RootDecision) int { return cmp.Compare(x.Policy.Path, y.Policy.Path) })
	return nil
}

func sameDeclaration(a, b flink.Declaration) bool {
	same := func(x, y []string) bool {
		x, y = slices.Clone(x), slices.Clone(y)
		slices.Sort(x)
		slices.Sort(y)
		return slices.Equal(x, y)
	}
	path := func(d flink.Declaration) []byte { return bytes.TrimRight(d.Path, "/") }
	return bytes.Equal(path(a), path(b)) && a.Layout == b.Layout && same(a.Jobs, b.Jobs) && same(a.ExcludeJobs, b.ExcludeJobs) &&
		same(a.Ignore, b.Ignore) && same(a.Names, b.Names)
}

// group puts the units of a job directory, or what is not grouped, into jobs. One that a
// job map names is not joined with a directory of that name: two groups keep more than one.
func (b *decider) group(r *RootDecision, j *flink.Job) []*JobDecision {
	lists := b.in.JobMaps[r.Policy.Path]
	var jobs []*JobDecision
	groups := map[string]*JobDecision{}
	in := func(name string, mapped bool) *JobDecision {
		if groups[name] == nil {
			groups[name] = &JobDecision{Name: name, Mapped: mapped, Job: j}
			jobs = append(jobs, groups[name])
		}
		return groups[name]
	}
	own := in(j.Name, false)
	for _, u := range j.Units {
		d := newUnit(r, j, u)
		g := own
		if !j.Grouped() && r.Policy.Layout == Savepoints && lists != nil {
			g = in(lists.Job(u.Name))
		}
		g.Units = append(g.Units, d)
	}
	for _, g := range jobs {
		slices.SortStableFunc(g.Units, func(x, y *UnitDecision) int { return cmp.Compare(x.Path, y.Path) })
		for i, u := range g.Units {
			u.nth = uint32(i)
		}
		slices.SortFunc(g.Units, func(x, y *UnitDecision) int {
			return cmp.Or(cmp.Compare(y.Unit.Times.Newest.Ms, x.Unit.Times.Newest.Ms), cmp.Compare(x.nth, y.nth))
		})
		for i, u := range g.Units {
			if !g.grouped() {
				break
			}
			if u.Newer = int64(i); i > 0 && g.Units[i-1].Unit.Times.Newest.Ms == u.Unit.Times.Newest.Ms {
				u.Newer = g.Units[i-1].Newer
			}
		}
	}
	return jobs
}

// newUnit makes a unit of a job of which nothing is decided.
func newUnit(r *RootDecision, j *flink.Job, u *flink.Unit) *UnitDecision {
	parent := r.Policy.Path
	if j.Grouped() {
		parent += Path("/" + j.Name)
	}
	return &UnitDecision{Unit: u, Path: parent + Path("/"+u.Name), NeedsReferenceProof: u.Kind != flink.ChildUnit, root: r}
}

// sortJobs brings the jobs of a root into their order.
func sortJobs(jobs []*JobDecision) {
	slices.SortStableFunc(jobs, func(x, y *JobDecision) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), cmp.Compare(x.Job.Name, y.Job.Name))
	})
}

// grouped tells whether the units of a job are of one pipeline.
func (j *JobDecision) grouped() bool { return j.Name != "" }

// stops says why a root cannot be planned.
func (b *decider) stops(r *RootDecision) {
	if r.Root.NumMisfits > 0 {
		f := Fact{Rule: Misfits, N: r.Root.NumMisfits}
		if len(r.Root.Misfits) > 0 {
			f.Path, f.Text = Path(r.Root.Misfits[0].Path), string(r.Root.Misfits[0].Reason)
		}
		r.Stopped = append(r.Stopped, f)
	}
	switch r.Policy.Layout {
	case Run:
		if b.live == nil || !b.live.runs {
			r.Stopped = append(r.Stopped, Fact{Rule: NoLiveList})
		}
	case HAStorage:
		if b.live == nil || !b.live.configMaps {
			r.Stopped = append(r.Stopped, Fact{Rule: NoConfigMaps})
		}
	case JobRun, Savepoints, Children:
	}
}

// asksTies tells whether the newest of a job that are equally new stop a root.
func (r *RootDecision) asksTies() bool { return r.Policy.OnTie == StopOnTie && r.Policy.Groups() }

// stopTie stops a root for the first of its jobs in which the newest are equally new.
func (b *decider) stopTie(r *RootDecision, j *JobDecision) {
	if !r.asksTies() || slices.ContainsFunc(r.Stopped, func(f Fact) bool { return f.Rule == TieStops }) {
		return
	}
	if f, tie := b.stand(r, j).tie(); tie {
		r.Stopped = append(r.Stopped, f)
	}
}

// preflight stops all roots if one is stopped and the policy wants that, and in any
// case if one has not the names that the policy has for it. Such a name is a mistake
// in the policy, not in a root: whoever wrote it meant something else, in whatever root.
func (b *decider) preflight() {
	rule, i := NamesNotFound, slices.IndexFunc(b.out.Roots, lacksNames)
	if i < 0 && b.p.Preflight == PreflightAll {
		rule, i = OtherRootStopped, slices.IndexFunc(b.out.Roots, func(r *RootDecision) bool { return len(r.Stopped) > 0 })
	}
	if i < 0 {
		return
	}
	first := b.out.Roots[i].Policy.Path
	for _, r := range b.out.Roots {
		if len(r.Stopped) == 0 {
			r.Stopped = append(r.Stopped, Fact{Rule: rule, Path: first})
		}
	}
}

func lacksNames(r *RootDecision) bool {
	return slices.ContainsFunc(r.Root.Misfits, func(m flink.Misfit) bool {
		return m.Reason == flink.ExcludedNotFound || m.Reason == flink.SelectedNotFound
	})
}

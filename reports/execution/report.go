package execution

import (
	"io"
	"maps"
	"slices"

	"fsweep/proto/planfile"
)

// Head is what is known before anything is looked at. Times are milliseconds since 1970.
type Head struct {
	Tool, Version string
	Command       string // run, resume, undo, rehearse
	Execute       bool   // false: a dry run
	StartMs       int64
	Conf, URI     string // configuration directory and nameservice
	NameNode      string // that was ACTIVE; empty: not known yet
	User          string
	PlanFile      string // empty: no plan is known
	Digest        planfile.Digest
	Header        planfile.Header
	Journal       string // path; empty: none
}

// Outcome is what became of an item, or would.
type Outcome string

// The outcomes.
const (
	WouldMove Outcome = "would-move" // a dry run found nothing against it
	Kept      Outcome = "kept"       // a check keeps it
	Moved     Outcome = "moved"
	Restored  Outcome = "restored" // moved back to where it was
	Failed    Outcome = "failed"   // the NameNode refused
	Unknown   Outcome = "unknown"  // nobody knows whether it was moved
)

// Item is one item with what became of it.
type Item struct {
	Outcome Outcome
	Path    planfile.Path
	Item    *planfile.Item // of the plan; nil where only the path is known
	Rule    string         // why it is kept
	Facts   []planfile.Fact
	Guard   planfile.Path // of the rules about guards
	Target  planfile.Path // where it is now
	Message string        // of the NameNode
	AtMs    int64
}

// Problem is something that forbids all.
type Problem struct {
	Code  string
	Path  planfile.Path
	Facts []planfile.Fact
	Text  string // in place of the sentence of the code: execute/act has its own
}

// End is how it ended.
type End struct {
	AtMs     int64
	ExitCode int
	// Stopped says why it ended before its time; empty if it did not.
	Stopped string
	// Last is the last hash of the journal, empty without one.
	Last string
	// TrashInterval of the NameNode in milliseconds; 0: not known, or a quarantine.
	TrashIntervalMs int64
	// Quotas are those of the plan.
	Quotas []planfile.Quota
}

// Options say how it is shown.
type Options struct {
	JSON bool
	// MaxListLines is how many lines of each kind text has; 0: all. What is counted is
	// always all.
	MaxListLines int
}

// count is a sum over items.
type count struct {
	Items  int64 `json:"items"`
	Inodes int64 `json:"inodes"`
	Length int64 `json:"length"`         // bytes
	Space  int64 `json:"space_consumed"` // bytes on disk, of all replicas
}

func (c *count) add(i *planfile.Item) {
	c.Items++
	if i != nil {
		c.Inodes += i.Entries
		c.Length += i.Totals.Length
		c.Space += i.Totals.Space
	}
}

// gain is what moves give back to one directory with a quota.
type gain struct{ Inodes, Space int64 }

// root is one root with its times.
type root struct {
	path       planfile.Path
	start, end int64
}

// sums are what a report counts.
type sums struct {
	planned  count // items of roots in execute that no belt defers
	outcomes map[Outcome]*count
	byRule   map[string]*count
	freed    planfile.Freed
	quotas   map[uint64]*gain
	roots    []*root
	problems int64
}

// view is a form of output.
type view interface {
	begin(h *Head)
	problem(p *Problem)
	rootBegins(r *root)
	rootEnds(r *root)
	item(i *Item)
	note(text string)
	end(e *End, s *sums)
	flush() error
}

// Report takes what happens. The first error of its writer stays and is that of
// [Report.End].
type Report struct {
	head Head
	view view
	sums sums
	root *root
}

// New makes a report that is written to w.
func New(w io.Writer, o Options) *Report {
	r := &Report{sums: sums{outcomes: map[Outcome]*count{}, byRule: map[string]*count{}, quotas: map[uint64]*gain{}}}
	if o.JSON {
		r.view = newJSON(w)
	} else {
		r.view = newText(w, o.MaxListLines)
	}
	return r
}

// Begin comes first, and once.
func (r *Report) Begin(h Head) {
	r.head = h
	r.view.begin(&r.head)
}

// Problem is told of each thing that forbids all, before items.
func (r *Report) Problem(p Problem) {
	r.sums.problems++
	r.view.problem(&p)
}

// Forbidden tells whether a problem was shown.
func (r *Report) Forbidden() bool { return r.sums.problems > 0 }

// Note shows a sentence, such as that pauses got longer.
func (r *Report) Note(text string) { r.view.note(text) }

// Planned counts an item of the plan that may be moved, unless a check keeps it.
func (r *Report) Planned(i *planfile.Item) { r.sums.planned.add(i) }

// RootBegins begins a root; the one before has ended.
func (r *Report) RootBegins(path planfile.Path, atMs int64) {
	r.RootEnds(atMs)
	r.root = &root{path: path, start: atMs}
	r.sums.roots = append(r.sums.roots, r.root)
	r.view.rootBegins(r.root)
}

// RootEnds ends the root that was begun, if one was.
func (r *Report) RootEnds(atMs int64) {
	if r.root != nil {
		r.root.end = atMs
		r.view.rootEnds(r.root)
		r.root = nil
	}
}

// Item shows what became of an item.
func (r *Report) Item(i Item) {
	at := func(m map[Outcome]*count, o Outcome) *count {
		if m[o] == nil {
			m[o] = &count{}
		}
		return m[o]
	}
	at(r.sums.outcomes, i.Outcome).add(i.Item)
	switch i.Outcome {
	case Kept:
		if r.sums.byRule[i.Rule] == nil {
			r.sums.byRule[i.Rule] = &count{}
		}
		r.sums.byRule[i.Rule].add(i.Item)
	case WouldMove, Moved:
		r.gains(i.Item, 1)
	case Restored:
		if r.head.Command == "run" || r.head.Command == "resume" {
			r.gains(i.Item, -1)
		}
	case Failed, Unknown:
	}
	r.view.item(&i)
}

// gains adds what a move gives back.
func (r *Report) gains(i *planfile.Item, sign int64) {
	if i == nil {
		return
	}
	f := &r.sums.freed
	f.Now += sign * i.Freed.Now
	f.AfterTrash += sign * i.Freed.AfterTrash
	f.HeldBySnapshots += sign * i.Freed.HeldBySnapshots
	for _, e := range i.QuotaEffects {
		g := r.sums.quotas[e.InodeID]
		if g == nil {
			g = &gain{}
			r.sums.quotas[e.InodeID] = g
		}
		g.Inodes += sign * e.Inodes
		g.Space += sign * e.Space
	}
}

// Count gives how many items had an outcome so far.
func (r *Report) Count(o Outcome) int64 {
	if c := r.sums.outcomes[o]; c != nil {
		return c.Items
	}
	return 0
}

// End shows the sums, and writes all out.
func (r *Report) End(e End) error {
	r.RootEnds(e.AtMs)
	r.view.end(&e, &r.sums)
	return r.view.flush()
}

// rules gives the rules that kept something, by name.
func (s *sums) rules() []string { return slices.Sorted(maps.Keys(s.byRule)) }

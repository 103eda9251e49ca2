package cleanup

import (
	"io"
	"strings"

	"fsweep/proto/planfile"
)

// Explanations are the answers about several paths.
type Explanations struct {
	Source planfile.Source
	Policy planfile.Policy
	NowMs  int64
	// Refused are the reasons why no plan would be made, or an empty one: sentences in
	// which names are text already.
	Refused []string
	Paths   []*Explanation
}

// Explanation is all that is known about what becomes of a path.
type Explanation struct {
	Path    planfile.Path
	InodeID uint64 // 0: unknown
	What    What
	Exists  bool
	Roots   []planfile.Path // below the path, which is above them
	// What holds the path, or is it; nil: nothing. Their iterators are not used.
	Root *Root
	Job  *Job
	Unit *Unit
	Part *Part // a checkpoint or another directory of the unit
	Item *Item

	Verdict string // keep | candidate | deferred | none
	// Reasons: the first one decided, the others would keep it without that.
	Reasons []Reason
	// OwnReasons: so many of the first reasons are why no rule for debris selects the
	// path, the others are those of its unit, which is kept. 0: all are of the path.
	OwnReasons int
	// BeltsOpen: a candidate that a belt may yet defer. Belts count what comes before
	// it, and only a plan knows all of that.
	BeltsOpen bool
	// Units are counted of what is a root or a job; else nil.
	Units *UnitCounts
	// Guard: the path itself is a file that is read before anything moves.
	Guard bool
	// Guards are those that would be asked about it. Zero where none has to be.
	NumGuards int64
	Guards    []Guard // the nearest, a limited number
}

// UnitCounts says what becomes of the units of a root or a job.
type UnitCounts struct {
	Units, Kept, Moved, Deferred int64         // Moved: at least in parts
	Debris, DebrisDeferred       int64         // items in kept units
	Swept                        int64         // directories in kept units of which files may go
	Example                      planfile.Path // a unit, one that would be moved if there is any; empty: there is none
}

// Guard is a file that can refer to a path.
type Guard struct {
	planfile.Guard
	Near string // job | root | elsewhere
}

// More verdicts, of explanations alone.
const (
	Deferred  = "deferred" // it would be moved, but a belt keeps it back
	NoVerdict = "none"     // nothing is decided about it
)

// What a path is.
type What string

// What there can be.
const (
	IsMissing    What = "missing"    // does not exist in the image
	IsOutside    What = "outside"    // of all roots
	IsAbove      What = "above_root" // a root is below it
	IsRoot       What = "root"
	IsJob        What = "job"
	IsUnit       What = "unit"
	IsCheckpoint What = "checkpoint"
	IsItem       What = "item" // but none of those before
	IsInItem     What = "in_item"
	IsInUnit     What = "in_unit"
	IsInJob      What = "in_job"  // but in no unit
	IsInRoot     What = "in_root" // but in no job and no unit
)

var whatWords = map[What]string{
	IsMissing: "nothing: it does not exist in the image", IsOutside: "outside of all roots", IsAbove: "above roots", IsRoot: "a root",
	IsJob: "a job directory", IsUnit: "a unit", IsCheckpoint: "a checkpoint", IsItem: "an item", IsInItem: "in an item",
	IsInUnit: "in a unit", IsInJob: "in a job, but in no unit", IsInRoot: "in a root, but in no unit",
}

// ExplainText writes the answers for people, one after the other.
func ExplainText(w io.Writer, e *Explanations) error {
	p := newPrinter(w, TextOptions{ListContents: true}, e.Source.ImageTimeMs)
	p.print("Explanation by the policy ", escape(e.Policy.Name), " ", e.Policy.Digest.String())
	p.source(&e.Source)
	p.field("now", clock(e.NowMs))
	for _, r := range e.Refused {
		p.field("plan refused", printable(r))
	}
	for _, x := range e.Paths {
		p.print()
		p.explain(x)
	}
	return p.w.Flush()
}

func (p *printer) explain(x *Explanation) {
	p.print(escape(x.Path))
	p.is(x)
	p.field("verdict", verdictText(x))
	name := "because"
	for i, r := range x.Reasons {
		if x.OwnReasons > 0 && i >= x.OwnReasons {
			name = "unit stays because"
		}
		p.field(name, r.named())
		name = "also because"
	}
	if x.Item != nil {
		for _, r := range x.Item.Deferrals {
			p.field("deferred by", r.named())
		}
	}
	p.units(x.Units)
	p.facts(x)
	p.asked(x)
	p.changes(x)
}

// is says what the path is, and what holds it.
func (p *printer) is(x *Explanation) {
	text := whatWords[x.What]
	if x.What == IsUnit && x.Unit != nil {
		text = "a unit: " + escape(x.Unit.Kind)
	}
	if x.InodeID != 0 {
		text += ", inode " + exact(int64(x.InodeID))
	}
	p.field("is", text)
	for _, r := range x.Roots {
		p.field("root below it", escape(r))
	}
	if x.Root != nil {
		p.field("root", escape(x.Root.Path)+", layout "+string(x.Root.Layout)+", mode "+string(x.Root.Mode))
		for _, s := range stops(x.Root) {
			p.field("root stopped by", s.named())
		}
	}
	if x.Job != nil && x.Job.Name != "" {
		p.field("job", escape(x.Job.Name))
	}
	if x.Unit != nil && x.Unit.Path != x.Path {
		p.field("unit", escape(x.Unit.Path)+", "+escape(x.Unit.Kind)+", "+x.Unit.Verdict)
	}
	if x.Item != nil && x.Item.Path != x.Path {
		p.field("item", escape(x.Item.Path)+", "+string(x.Item.Kind))
	}
	if x.Guard {
		p.field("guard", "it is read before anything moves, as it can refer to what is elsewhere")
	}
}

func verdictText(x *Explanation) string {
	observed := ""
	if x.Root != nil && x.Root.Mode == planfile.ModeObserve {
		observed = ", but never moved as long as the root is in mode observe"
	}
	switch x.Verdict {
	case Candidate:
		if x.BeltsOpen {
			return "WOULD-DELETE: a candidate, if no belt defers it, which a plan tells, and the live cluster agrees" + observed
		}
		return "WOULD-DELETE: a candidate, if the live cluster agrees" + observed
	case Deferred:
		return "KEEP: a candidate that is deferred"
	case Keep:
		if u := x.Units; u != nil && u.Moved+u.Debris > 0 {
			return "KEEP itself; of what is in it, some would be moved" + observed
		}
		return "KEEP"
	}
	return "none: nothing is planned there"
}

// units says what becomes of what is in a root or a job.
func (p *printer) units(n *UnitCounts) {
	if n == nil {
		return
	}
	p.field("units in it", plural(n.Units, "unit", "units")+": "+count(n.Kept)+" kept, "+count(n.Moved)+" would be moved, "+count(n.Deferred)+" deferred")
	if n.Debris+n.DebrisDeferred > 0 {
		p.field("", "in kept units "+plural(n.Debris, "item", "items")+" of debris would be moved, "+count(n.DebrisDeferred)+" deferred")
	}
	if n.Swept > 0 {
		p.field("", "of "+plural(n.Swept, "directory", "directories")+" in kept units, old files that nothing refers to would be moved")
	}
	if n.Example != "" {
		p.field("for reasons", "explain a unit, such as "+escape(n.Example))
	}
}

func (p *printer) facts(x *Explanation) {
	if u := x.Unit; u != nil {
		p.field("newest change", p.when(u.Times.SubtreeMs)+in(u.Times.SubtreeOf))
		if u.Times.HasMetadata {
			p.field("newest _metadata", p.when(u.Times.MetadataMs)+", of a complete checkpoint or savepoint")
		}
		if u.Times.DataATimeMs > 0 {
			p.field("data last read", p.when(u.Times.DataATimeMs))
		}
		p.field("unit holds", totalsText(&u.Totals))
		if parts := p.parts(u); x.What == IsUnit && parts != nil {
			for s := range parts {
				p.field("", s)
			}
		}
	}
	if c := x.Part; c != nil {
		state := ""
		if c.Complete != "" {
			state = ", complete: " + c.Complete
		}
		p.field(c.Name+" holds", totalsText(&c.Totals)+state+", newest change "+p.when(c.MTimeMs))
	}
	if i := x.Item; i != nil {
		if i.SplitOf != 0 {
			p.field("split", "a part of run "+escape(i.Run)+", which is too large for one move")
		}
		if i.Conditional {
			p.field("conditional", "by an opt-in rule of the policy")
		}
	}
}

func (p *printer) when(ms int64) string {
	switch a := age(ms, p.imageMs); a {
	case "?":
		return "unknown (" + exact(ms) + ")"
	case "future":
		return clock(ms) + " (after the image)"
	default:
		return clock(ms) + " (" + a + ")"
	}
}

func in(place string) string {
	if place == "" {
		return ""
	}
	return ", in " + escape(place)
}

func totalsText(t *Totals) string {
	return plural(t.Files, "file", "files") + ", " + plural(t.Directories, "directory", "directories") + ", " + size(t.Length)
}

// asked says which guards decide about a candidate.
func (p *printer) asked(x *Explanation) {
	if !x.movable() {
		return
	}
	if x.NumGuards == 0 {
		p.field("guards", "none is asked")
		return
	}
	p.field("guards", plural(x.NumGuards, "guard is", "guards are")+" asked about it; nearest first")
	for i := range x.Guards {
		g := &x.Guards[i]
		p.field("", pad(g.Near, 10)+escape(g.Path)+", "+size(g.Length)+note(g.Waived))
	}
	if n := x.NumGuards - int64(len(x.Guards)); n > 0 {
		p.field("", "and "+count(n)+" more")
	}
}

func note(waived string) string {
	if waived == "" {
		return ""
	}
	return ", waived: " + escape(waived)
}

// changes says what would have to be otherwise.
func (p *printer) changes(x *Explanation) {
	show := func(name string, list [][2]string) {
		for _, c := range list {
			p.field(name, c[0]+": "+c[1])
			name = "and when"
		}
	}
	switch {
	case x.movable():
		p.field("to keep it", toKeep(x))
		show("moved when", changeList(x))
	case x.OwnReasons > 0:
		show("candidate when", changes(x.Reasons[:x.OwnReasons]))
		show("or, with its unit,", changes(x.Reasons[x.OwnReasons:]))
	default:
		show("candidate when", changeList(x))
	}
}

func (x *Explanation) movable() bool { return x.Verdict == Candidate || x.Verdict == Deferred }

// changeList gives what would end what keeps a path: the reasons of what stays, or
// the belts of what is deferred.
func changeList(x *Explanation) [][2]string {
	switch {
	case !x.movable():
		return changes(x.Reasons)
	case x.Item != nil:
		return changes(x.Item.Deferrals)
	}
	return nil
}

// changes gives rule and hint of each reason, each once.
func changes(list []Reason) (out [][2]string) {
	seen := map[string]bool{}
	for _, r := range list {
		c := [2]string{printable(r.Rule), strings.TrimSpace(r.Change())}
		if c[1] != "" && !seen[c[0]+c[1]] {
			seen[c[0]+c[1]] = true
			out = append(out, c)
		}
	}
	return out
}

package cleanup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/proto/planfile"
	"fsweep/reports/internal/plaintable"
)

// sums are of items.
type sums struct {
	Items  int64          `json:"items"`
	Inodes int64          `json:"inodes"`
	Bytes  int64          `json:"bytes"` // length
	Freed  planfile.Freed `json:"freed"` // bytes on disk
}

func (s *sums) add(items, inodes, bytes int64, f planfile.Freed) {
	s.Items += items
	s.Inodes += inodes
	s.Bytes += bytes
	s.Freed.Now += f.Now
	s.Freed.AfterTrash += f.AfterTrash
	s.Freed.HeldBySnapshots += f.HeldBySnapshots
}

// summary counts all that a plan shows.
type summary struct {
	roots, stopped, observed int64
	jobs                     int64
	planned, listed, put     sums // of roots in mode execute, in mode observe, deferred
	proof, conditional       int64

	kept, candidates int64 // units
	// Rules with how often they were: of units, of items in roots of either mode, of
	// deferred items, of roots.
	keptBy, plannedBy, listedBy, putBy, stopsBy map[string]int64
}

func newSummary() *summary {
	return &summary{keptBy: map[string]int64{}, plannedBy: map[string]int64{}, listedBy: map[string]int64{}, putBy: map[string]int64{}, stopsBy: map[string]int64{}}
}

func (s *summary) root(r *Root) {
	s.roots++
	list := stops(r)
	for _, stop := range list {
		s.stopsBy[stop.Rule]++
	}
	switch {
	case len(list) > 0:
		s.stopped++
	case r.Mode != planfile.ModeExecute:
		s.observed++
	}
}

func (s *summary) job(j *Job) {
	if j.Name != "" {
		s.jobs++
	}
}

func (s *summary) unit(r *planfile.Root, u *Unit) {
	if u.Verdict == Candidate {
		s.candidates++
	} else {
		s.kept++
		if len(u.Reasons) > 0 {
			s.keptBy[u.Reasons[0].Rule]++
		}
	}
	for _, i := range u.Items {
		s.item(r, i)
	}
	if more := u.MoreItems; more != nil { // counted when they are shown
		u.MoreItems = func(yield func(*Item) bool) {
			for i := range more {
				if s.item(r, i); !yield(i) {
					return
				}
			}
		}
	}
	for i := range u.Sweeps {
		w := &u.Sweeps[i]
		sums, by := s.of(r)
		sums.add(w.Planned.Files, w.Planned.Files, w.Planned.Bytes, w.Freed)
		s.put.add(w.Deferred.Files, w.Deferred.Files, w.Deferred.Bytes, planfile.Freed{})
		s.proof += w.Planned.Files
		s.conditional += w.Planned.Files
		if w.Planned.Files > 0 {
			by[w.Rule] += w.Planned.Files
		}
		if w.Deferred.Files > 0 {
			s.putBy["belts"] += w.Deferred.Files
		}
	}
}

// of gives the sums of what is planned in a root.
func (s *summary) of(r *planfile.Root) (*sums, map[string]int64) {
	if r.Mode == planfile.ModeExecute {
		return &s.planned, s.plannedBy
	}
	return &s.listed, s.listedBy
}

func (s *summary) item(r *planfile.Root, i *Item) {
	if i.deferred() {
		s.put.add(1, i.Entries, i.Totals.Length, i.Freed)
		rule := i.Deferred
		if len(i.Deferrals) > 0 {
			rule = i.Deferrals[0].Rule
		}
		s.putBy[rule]++
		return
	}
	sums, by := s.of(r)
	sums.add(1, i.Entries, i.Totals.Length, i.Freed)
	by[i.Rule]++
	if i.NeedsReferenceProof {
		s.proof++
	}
	if i.Conditional {
		s.conditional++
	}
}

// counted is a rule with how often it was.
type counted struct {
	Rule  string `json:"rule"`
	Count int64  `json:"count"`
}

// byCount gives the most frequent first.
func byCount(m map[string]int64) []counted {
	list := make([]counted, 0, len(m))
	for rule, n := range m {
		list = append(list, counted{rule, n})
	}
	slices.SortFunc(list, func(a, b counted) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule, b.Rule)) })
	return list
}

func rulesText(m map[string]int64) string {
	var parts []string
	for _, c := range byCount(m) {
		parts = append(parts, printable(c.Rule)+" "+count(c.Count))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

func (s *sums) text() string {
	return plural(s.Items, "item", "items") + ", " + plural(s.Inodes, "inode", "inodes") + ", " + size(s.Bytes)
}

func (p *printer) summary(v *Plan, s *summary) {
	p.print()
	p.print("Summary")
	p.field("roots", count(s.roots)+" declared, "+count(s.stopped)+" stopped"+rulesText(s.stopsBy)+", "+count(s.observed)+" only observed")
	p.field("kept", plural(s.kept, "unit", "units")+rulesText(s.keptBy))
	p.field("would be moved", s.planned.text()+rulesText(s.plannedBy))
	p.freed(&v.Header, &s.planned.Freed)
	if s.listed.Items > 0 {
		p.field("only listed", s.listed.text()+rulesText(s.listedBy)+"; in roots of mode observe, never moved")
	}
	if s.put.Items > 0 {
		p.field("deferred", s.put.text()+rulesText(s.putBy))
	}
	if s.proof > 0 {
		p.field("reference proof", plural(s.proof, "item is", "items are")+" moved only if no guard refers to what is in it; guards in the plan: "+count(v.Footer.Guards))
	}
	if s.conditional > 0 {
		p.field("conditional", plural(s.conditional, "item is", "items are")+" there by opt-in rules of the policy")
	}
}

// freed says when space comes back. Of a quarantine nothing is known: it is emptied by
// hand, some day, or not.
func (p *printer) freed(h *planfile.Header, f *planfile.Freed) {
	if h.Removal == planfile.RemovalQuarantine {
		place := ""
		if len(h.Quarantine) > 0 { // at most one
			place = " " + escape(h.Quarantine[0].Path)
		}
		p.field("freed on disk", "nothing before somebody empties the quarantine"+place)
		return
	}
	p.field("freed on disk", size(f.Now)+" at once, "+size(f.AfterTrash)+" when the trash is emptied, which takes one to two of its intervals")
	if f.HeldBySnapshots > 0 {
		p.field("", size(f.HeldBySnapshots)+" not before snapshots are deleted")
	}
}

func (p *printer) warnings(list []string) {
	if len(list) == 0 {
		return
	}
	p.print()
	p.print("Warnings")
	for _, w := range list {
		p.print("  ", printable(w))
	}
}

// next says what can be done with the plan, and names it in the last line.
func (p *printer) next(v *Plan, s *summary) {
	p.print()
	switch {
	case v.File == "":
		p.print("plan: not written, so nothing can be executed")
		return
	case !v.Header.Executable:
		p.print("The plan is NOT EXECUTABLE: ", notExecutable(&v.Header, s), ".")
	case s.planned.Items == 0:
		p.print("Nothing would be moved.")
	default:
		p.print("Check against the live cluster: fsweep-exec run ", shellWord(v.File))
		p.print("Execute:                        fsweep-exec run ", shellWord(v.File), " --execute ", v.Digest.String(), " --journal-dir DIR")
	}
	if s.observed > 0 {
		p.print("Roots in mode observe are never executed: set mode: execute in the policy, one root first, then more.")
	}
	name := escape(v.File)
	if v.File == stdout {
		name = "standard output"
	}
	p.print("plan: ", name, " ", v.Digest.String())
}

// stdout is the name of a plan that went to the standard output.
const stdout = "-"

// shellWord writes the name of a file as a shell takes it.
func shellWord(name string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-"
	switch {
	case name == stdout:
		return "PLAN"
	case strings.Trim(name, plain) == "":
		return name
	case printable(name) != name: // no line can show it as it is
		return "PLAN"
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

func notExecutable(h *planfile.Header, s *summary) string {
	switch {
	case s.roots == s.stopped:
		return "every root is stopped"
	case s.stopped > 0 && h.Preflight == planfile.PreflightAll:
		return "a root is stopped, and preflight is all"
	case s.stopped == 0 && s.observed == s.roots:
		return "every root is in mode observe"
	case s.stopped+s.observed == s.roots:
		return "every root is stopped or in mode observe"
	}
	return "see the errors above"
}

// quotas shows what the moves give back, at once.
func (p *printer) quotas(list []planfile.Quota, s *summary) {
	if len(list) == 0 {
		return
	}
	p.print()
	title := "Quotas, before and after all items that are not deferred"
	if s.listed.Items > 0 {
		title += ", those in mode observe included"
	}
	p.print(title)
	more := 0
	if n := p.o.MaxListLines; n > 0 && len(list) > n {
		list, more = list[:n], len(list)-n
	}
	t := plaintable.New("<quota of", "limit", "used", "after", "used %", "after %", "<path")
	for i := range list {
		q := &list[i]
		row := func(what string, limit *int64, before, after int64, show func(int64) string) {
			if limit != nil {
				t.AppendRow(table.Row{what, show(*limit), show(before), show(after), percent(before, *limit), percent(after, *limit), escape(q.Path)})
			}
		}
		row("namespace", q.NSQuota, q.NSBefore, q.NSAfter, count)
		row("space", q.DSQuota, q.DSBefore, q.DSAfter, size)
		for _, k := range typeRows(q) {
			row(k.name, k.limit, k.before, k.after, size)
		}
	}
	p.print(t.Render())
	if more > 0 {
		p.print("… ", plural(int64(more), "more directory", "more directories"), " with a quota not printed (--max-list-lines ", count(int64(p.o.MaxListLines)), "); JSON has all")
	}
}

type typeRow struct {
	name          string
	limit         *int64
	before, after int64
}

func typeRows(q *planfile.Quota) []typeRow {
	l, b, a := &q.TypeQuota, &q.TypesBefore, &q.TypesAfter
	return []typeRow{
		{"DISK", l.Disk, b.Disk, a.Disk},
		{"SSD", l.SSD, b.SSD, a.SSD},
		{"ARCHIVE", l.Archive, b.Archive, a.Archive},
		{"PROVIDED", l.Provided, b.Provided, a.Provided},
		{"NVDIMM", l.NVDIMM, b.NVDIMM, a.NVDIMM},
	}
}

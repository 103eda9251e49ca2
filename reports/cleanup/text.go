package cleanup

import (
	"io"
	"iter"
	"slices"
	"strings"

	"fsweep/proto/planfile"
)

// TextOptions say how much is printed. What is counted is always all.
type TextOptions struct {
	// MaxListLines is how many lines of each kind (ERROR, JOB, KEEP, WOULD-DELETE), and
	// how many directories with a quota, are printed; 0: all.
	MaxListLines int
	// ListContents lists the directories in a unit below its line.
	ListContents bool
}

// Text writes a plan for people: one line for each root, job, unit and item, aligned
// by job, then sums. It goes through p.Roots once. Memory does not follow the size of
// the plan.
func Text(w io.Writer, p *Plan, o TextOptions) error {
	out := newPrinter(w, o, p.Header.Source.ImageTimeMs)
	out.head(p)
	s := newSummary()
	for r := range p.Roots {
		s.root(r)
		out.root(r)
		for j := range r.Jobs {
			s.job(j)
			out.job(&r.Root, r.Misfits, j)
			for u := range j.Units {
				s.unit(&r.Root, u)
				out.unit(u)
			}
			out.flush()
			if out.failed() {
				break
			}
		}
	}
	if len(out.omitted) > 0 {
		out.print()
		out.left()
	}
	out.summary(p, s)
	out.quotas(p.Quotas, s)
	out.warnings(p.Header.Warnings)
	out.next(p, s)
	return out.w.Flush()
}

func (p *printer) head(v *Plan) {
	h := &v.Header
	p.print("HDFS clean-up plan")
	p.source(&h.Source)
	p.field("policy", escape(h.Policy.Name)+" "+h.Policy.Digest.String())
	p.field("cluster", escape(h.Nameservice))
	p.field("now", clock(h.NowMs)+", "+span(h.NowMs-h.Source.ImageTimeMs)+" after the image")
	p.field("expires", clock(h.ExpiresMs))
	p.field("times", "UTC; ages count to the image time")
	p.field("columns", "path, age, files, bytes, newest complete _metadata, newest change, rule and reason")
	if p.o.MaxListLines > 0 {
		p.field("lists", "at most "+plural(int64(p.o.MaxListLines), "line", "lines")+" of a kind")
	}
}

// source says what all numbers come from.
func (p *printer) source(s *planfile.Source) {
	verified := "verified"
	if !s.Verified {
		verified = "NOT VERIFIED"
	}
	p.field("image", escape(s.Image)+", "+size(s.SizeBytes)+", transaction "+exact(s.TxID)+", MD5 "+verified)
	p.field("image time", clock(s.ImageTimeMs)+" ("+escape(s.ImageTimeSource)+")")
}

func (p *printer) root(r *Root) {
	p.print()
	text := "layout " + string(r.Layout) + ", mode " + string(r.Mode) + ", " + plural(r.Inodes, "inode", "inodes")
	if r.Mode == planfile.ModeObserve {
		text += ", listed only: nothing in it is moved"
	}
	p.print(pad(rootLine, wordWidth), escape(r.Path), "  ", text)
	p.notFound("excluded", r.ExcludedNotFound)
	p.notFound("selected", r.SelectedNotFound)
	for i := range r.Misfits {
		p.misfit(&r.Misfits[i], "")
	}
	p.flush()
	p.more(r.NumMisfits-int64(len(r.Misfits)), "entries of the root that do not fit")
	for _, s := range stops(r) {
		p.print(pad(errorLine, wordWidth), escape(r.Path), "  root stopped, nothing in it is planned: ", s.named())
	}
}

// stops gives the rules that stop a root, from wherever they are known.
func stops(r *Root) []Reason {
	if len(r.Stops) > 0 {
		return r.Stops
	}
	var list []Reason
	for _, s := range r.Stopped {
		reason := Reason{Rule: s.Reason}
		if s.Path != "" {
			reason.Facts = []planfile.Fact{{Name: "path", Text: escape(s.Path)}}
		}
		list = append(list, reason)
	}
	return list
}

// notFound is the one line that operators look for when a name was written wrong.
func (p *printer) notFound(how string, names []string) {
	if len(names) == 0 {
		return
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "'" + strings.ReplaceAll(escape(n), "'", `\'`) + "'"
	}
	p.print(errorLine, ": ", how, " job directories were not found: [", strings.Join(quoted, ", "), "]")
}

func (p *printer) misfit(m *Misfit, then string) {
	if !p.room(errorLine) {
		return
	}
	text := "inode -"
	if m.InodeID != 0 {
		text = "inode " + exact(int64(m.InodeID))
	}
	text += "  " + escape(m.Reason)
	if m.Detail != "" {
		text += ": " + printable(m.Detail)
	}
	p.list(line{word: errorLine, path: escape(m.Path), text: text + then})
}

// more counts what was not handed over.
func (p *printer) more(n int64, what string) {
	if n > 0 {
		p.print("… ", count(n), " more ", what)
	}
}

func (p *printer) job(r *planfile.Root, misfits []Misfit, j *Job) {
	for i := range j.Unknown {
		m := &j.Unknown[i]
		// What stops the root as well has a line already, which says more.
		if !slices.ContainsFunc(misfits, func(of Misfit) bool { return of.InodeID == m.InodeID && m.InodeID != 0 }) {
			p.misfit(m, "; nothing in its "+keptWith(r.Layout, j)+" is planned")
		}
	}
	p.flush()
	p.more(j.NumUnknown-int64(len(j.Unknown)), "entries of the job that do not fit")
	word := jobLine
	if j.Excluded {
		word = keepLine
	}
	if j.Name == "" || !p.room(word) {
		return
	}
	path, text := escape(j.Path), ""
	switch {
	case j.Path == "":
		path, text = escape(j.Name), "grouped by the job map"
	case j.Mapped:
		text = "grouped by the job map"
	}
	l := line{word: word, path: path, text: text}
	if j.Totals.INodes() > 0 {
		l.cols = columns("", &j.Totals)
	}
	if len(j.Stopped) > 0 {
		l.text = "kept as a whole: " + allNamed(j.Stopped)
	}
	p.list(l)
}

// keptWith is what an unknown entry keeps: its job or, where units belong to none, its
// unit alone.
func keptWith(layout planfile.Layout, j *Job) string {
	if j.Name != "" {
		return "job"
	}
	switch layout {
	case planfile.LayoutSavepoints:
		return "savepoint"
	case planfile.LayoutHAStorage:
		return "cluster"
	case planfile.LayoutJobRun, planfile.LayoutRun, planfile.LayoutChildren:
	}
	return "run"
}

func columns(age string, t *Totals) [5]string {
	return [5]string{age, count(t.Files), size(t.Length)}
}

func (p *printer) unit(u *Unit) {
	single := u.Verdict == Candidate && len(u.Items) == 1 && u.MoreItems == nil && u.Items[0].Path == u.Path
	if !single && p.room(keepLine) {
		u.detail()
		l := line{word: keepLine, path: escape(u.Path), cols: p.unitColumns(u), text: allNamed(u.Reasons), more: p.parts(u)}
		if u.Verdict == Candidate {
			l.text = "its directory stays for now, its parts are below; " + l.text
		}
		p.list(l)
	}
	for i := range u.each {
		word := deleteLine
		if i.deferred() {
			word = keepLine
		}
		if !p.room(word) {
			continue
		}
		u.detail()
		l := line{word: word, path: escape(i.Path), text: itemReason(i), cols: p.itemColumns(i)}
		if single {
			l.cols, l.more = p.unitColumns(u), p.parts(u)
		}
		p.list(l)
	}
	for i := range u.Sweeps {
		p.sweep(&u.Sweeps[i])
	}
}

func (p *printer) unitColumns(u *Unit) [5]string {
	c := columns(age(u.Times.SubtreeMs, p.imageMs), &u.Totals)
	c[3], c[4] = "-", clock(u.Times.SubtreeMs)
	if u.Times.HasMetadata {
		c[3] = clock(u.Times.MetadataMs)
	}
	return c
}

// itemColumns are those of an item that is no unit: the time that its rule looked at
// tells its age.
func (p *printer) itemColumns(i *Item) [5]string {
	ms := i.MTimeMs
	for _, name := range []string{"newest_mtime_ms", "file_mtime_ms", "metadata_mtime_ms"} {
		if f := find(i.Evidence, name); f != nil {
			ms = f.Number
			break
		}
	}
	c := columns(age(ms, p.imageMs), &Totals{Files: i.Totals.Files, Length: i.Totals.Length})
	c[3], c[4] = "-", "-"
	return c
}

// sweep is a line that cannot be taken for one that moves the directory.
func (p *printer) sweep(s *Sweep) {
	reason := Reason{Rule: s.Rule}.named()
	show := func(word string, f Files, text string) {
		if f.Files > 0 && p.room(word) {
			p.list(line{
				word: word, path: escape(s.Path), cols: [5]string{"-", count(f.Files), size(f.Bytes), "-", "-"},
				text: plural(f.Files, "file", "files") + " in it, not the directory: " + text,
			})
		}
	}
	show(deleteLine, s.Planned, reason+proofNeeded)
	show(keepLine, s.Deferred, "deferred: a belt; "+reason)
}

// parts gives the lines below that of a unit, which are made when they are printed.
func (p *printer) parts(u *Unit) iter.Seq[string] {
	if !p.o.ListContents {
		return nil
	}
	first, rest := u.MoreParts, u.Parts
	return func(yield func(string) bool) {
		if first != nil {
			for c := range first {
				if !yield(p.part(c)) {
					return
				}
			}
		}
		for i := range rest {
			if !yield(p.part(&rest[i])) {
				return
			}
		}
	}
}

func (p *printer) part(c *Part) string {
	state := ""
	switch c.Complete {
	case "yes":
		state = "complete"
	case "no":
		state = "incomplete"
	case "open":
		state = "_metadata open"
	}
	old := "-"
	if c.MTimeMs != 0 {
		old = age(c.MTimeMs, p.imageMs)
	}
	return strings.TrimRight(pad(escape(c.Name), 16)+"  "+padLeft(old, 8)+"  "+
		padLeft(count(c.Totals.Files), 10)+"  "+padLeft(size(c.Totals.Length), 8)+"  "+state, " ")
}

package execution

import (
	"bufio"
	"io"
	"maps"
	"slices"

	"fsweep/proto/planfile"
	"fsweep/reports/cleanup"
)

// The words that lines start with.
const (
	rootWord    = "ROOT"
	keepWord    = "KEEP"
	deleteWord  = "WOULD-DELETE"
	movedWord   = "MOVED"
	restoreWord = "RESTORED"
	errorWord   = "ERROR"
	startWord   = "START_TIME"
	endWord     = "END_TIME"
	noteWord    = "NOTE"
)

const (
	wordWidth  = len(deleteWord) + 2
	fieldWidth = 20
	// pathWidth: lines appear one by one, so nobody knows the longest path.
	pathWidth = 60
)

// text writes for people.
type text struct {
	w       *bufio.Writer
	max     int
	head    *Head
	printed map[string]int
	left    map[string]int64
}

func newText(w io.Writer, maxLines int) *text {
	return &text{w: bufio.NewWriter(w), max: maxLines, printed: map[string]int{}, left: map[string]int64{}}
}

// print writes a line. The writer keeps an error for flush.
func (t *text) print(parts ...string) {
	for _, s := range parts {
		_, _ = t.w.WriteString(s)
	}
	_ = t.w.WriteByte('\n')
}

// now lets a line appear: somebody may be watching.
func (t *text) now() { _ = t.w.Flush() }

func (t *text) flush() error { return t.w.Flush() }

func (t *text) field(name, value string) { t.print("  ", cleanup.Pad(name, fieldWidth), value) }

func (t *text) line(word, path, rest string) {
	t.print(cleanup.Pad(word, wordWidth), cleanup.Pad(path, pathWidth), "  ", rest)
}

func (t *text) begin(h *Head) {
	t.head = h
	title := "HDFS clean-up: " + h.Command
	switch {
	case h.Command != "run":
	case h.Execute:
		title += ", EXECUTE"
	default:
		title += ", dry run: nothing is changed"
	}
	t.print(title)
	t.field("version", cleanup.Printable(h.Tool+" "+h.Version))
	if h.PlanFile != "" {
		t.field("plan", cleanup.Escape(h.PlanFile)+" "+h.Digest.String())
		s := &h.Header.Source
		t.field("policy", cleanup.Escape(h.Header.Policy.Name)+" "+h.Header.Policy.Digest.String())
		t.field("image", cleanup.Escape(s.Image)+", "+cleanup.Clock(s.ImageTimeMs)+" ("+cleanup.Escape(s.ImageTimeSource)+")")
		t.field("expires", cleanup.Clock(h.Header.ExpiresMs))
	}
	t.field("user", cleanup.Escape(h.User))
	t.field("configuration", cleanup.Escape(h.Conf))
	namenode := cleanup.Escape(h.URI)
	if h.NameNode != "" {
		namenode += ", ACTIVE is " + cleanup.Escape(h.NameNode)
	}
	t.field("namenode", namenode)
	if h.Journal != "" {
		t.field("journal", cleanup.Escape(h.Journal))
	}
	t.field(startWord, cleanup.Clock(h.StartMs))
	t.field("columns", "path, age in the image, files, bytes, reason")
	t.now()
}

func (t *text) problem(p *Problem) {
	about := ""
	if p.Path != "" {
		about = " " + cleanup.Escape(p.Path)
	}
	t.print(cleanup.Pad(errorWord, wordWidth), cleanup.Printable(p.Code), about, ": ", p.sentence())
	if hint := Advice(p.Code); hint != "" {
		t.print(cleanup.Pad("", wordWidth), hint)
	}
	t.now()
}

func (t *text) rootBegins(r *root) {
	t.print()
	t.line(rootWord, cleanup.Escape(r.path), startWord+" "+cleanup.Clock(r.start))
	t.now()
}

func (t *text) rootEnds(r *root) {
	t.line(rootWord, cleanup.Escape(r.path), endWord+" "+cleanup.Clock(r.end))
	t.now()
}

// word gives the first word of an item's line.
func word(o Outcome) string {
	switch o {
	case WouldMove:
		return deleteWord
	case Kept:
		return keepWord
	case Moved:
		return movedWord
	case Restored:
		return restoreWord
	case Failed, Unknown:
	}
	return errorWord
}

func (t *text) item(i *Item) {
	w := word(i.Outcome)
	if t.max > 0 && t.printed[w] >= t.max && w != errorWord {
		t.left[w]++
		return
	}
	t.printed[w]++
	t.line(w, cleanup.Escape(i.Path), t.columns(i.Item)+"  "+reason(i))
	t.now()
}

// columns are age, files and bytes.
func (t *text) columns(i *planfile.Item) string {
	old, files, bytes := "-", "-", "-"
	if i != nil {
		old = cleanup.Age(i.MTimeMs, t.head.Header.Source.ImageTimeMs)
		files, bytes = cleanup.Count(i.Totals.Files), cleanup.Size(i.Totals.Length)
	}
	return cleanup.Pad(old, 7) + "  " + cleanup.Pad(files, 7) + "  " + cleanup.Pad(bytes, 7)
}

func reason(i *Item) string {
	switch i.Outcome {
	case Kept:
		return "because " + why(i)
	case WouldMove:
		if i.Item != nil {
			return cleanup.ItemReason(*i.Item)
		}
	case Moved:
		return "to " + cleanup.Escape(i.Target)
	case Restored:
		if i.Target == "" {
			return "moved back"
		}
		return "from " + cleanup.Escape(i.Target)
	case Failed:
		return "not moved: " + cleanup.Printable(i.Message)
	case Unknown:
		return "UNKNOWN whether it was moved: " + cleanup.Printable(i.Message)
	}
	return ""
}

func (t *text) note(s string) {
	t.print(cleanup.Pad(noteWord, wordWidth), cleanup.Printable(s))
	t.now()
}

func (t *text) end(e *End, s *sums) {
	t.print()
	for _, w := range []string{keepWord, deleteWord, movedWord, restoreWord} {
		if n := t.left[w]; n > 0 {
			t.print("… ", cleanup.Count(n), " more ", w, " lines are not printed (--max-list-lines); JSON has all")
		}
	}
	t.print("SUMMARY")
	if t.head.PlanFile != "" && t.head.Command != "undo" {
		t.field("planned", amount(&s.planned))
	}
	for _, o := range []struct {
		outcome Outcome
		name    string
	}{{WouldMove, "would be moved"}, {Moved, "done"}, {Restored, "moved back"}, {Kept, "skipped"}} {
		if c := s.outcomes[o.outcome]; c != nil {
			t.field(o.name, amount(c))
		}
	}
	t.rules(s)
	if t.head.Execute {
		t.field("failed", amount(s.outcomes[Failed]))
		t.field("unknown", amount(s.outcomes[Unknown]))
	}
	t.freed(e, s)
	t.quotas(e, s)
	if e.Stopped != "" {
		t.field("stopped", cleanup.Printable(e.Stopped))
	}
	if e.Last != "" {
		t.field("last hash", cleanup.Printable(e.Last)+" of the journal")
	}
	t.field(endWord, cleanup.Clock(e.AtMs))
	t.print("RESULT        ", verdict(t.head, e, s))
}

// rules tells how much each rule keeps, below each other however long their names are.
func (t *text) rules(s *sums) {
	width := fieldWidth
	for _, rule := range s.rules() {
		width = max(width, len(cleanup.Printable(rule))+4)
	}
	for _, rule := range s.rules() {
		t.print("    ", cleanup.Pad(cleanup.Printable(rule), width-2), amount(s.byRule[rule]))
	}
	if s.byRule[guardNotReadable] != nil {
		t.print("    ", "These may go when the files are read that may refer to them: see why they are not, or have somebody fetch them for --guards-dir.")
	}
}

// guardNotReadable is the rule that keeps what a file may refer to that nobody could read.
const guardNotReadable = "guard-not-readable"

// amount leaves out what nobody knows: an undo and a rehearsal know paths only.
func amount(c *count) string {
	if c == nil {
		c = &count{}
	}
	if c.Inodes == 0 {
		return plural(c.Items, "item")
	}
	return plural(c.Items, "item") + ", " + plural(c.Inodes, "inode") + ", " + cleanup.Size(c.Length)
}

func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return cleanup.Count(n) + " " + what
}

// freed tells what space comes back when.
func (t *text) freed(e *End, s *sums) {
	if s.freed == (planfile.Freed{}) {
		return
	}
	t.field("frees at once", cleanup.Size(s.freed.Now)+" on disk")
	later := "when somebody empties the quarantine"
	if t.head.Header.Removal == planfile.RemovalTrash {
		later = "when the trash is emptied"
		if e.TrashIntervalMs > 0 {
			later += ": " + cleanup.Clock(e.AtMs+e.TrashIntervalMs) + " to " + cleanup.Clock(e.AtMs+2*e.TrashIntervalMs)
		}
	}
	t.field("frees later", cleanup.Size(s.freed.AfterTrash)+" on disk, "+later)
	if s.freed.HeldBySnapshots > 0 {
		t.field("held by snapshots", cleanup.Size(s.freed.HeldBySnapshots)+", until they are deleted")
	}
}

// quotas tells what directories with a quota get back at once.
func (t *text) quotas(e *End, s *sums) {
	path := map[uint64]planfile.Path{}
	for i := range e.Quotas {
		path[e.Quotas[i].InodeID] = e.Quotas[i].Path
	}
	ids := slices.SortedFunc(maps.Keys(s.quotas), func(a, b uint64) int {
		return slices.Compare([]byte(path[a]), []byte(path[b]))
	})
	for _, id := range ids {
		g := s.quotas[id]
		t.line("QUOTA", cleanup.Escape(path[id]), "at once "+cleanup.Count(g.Inodes)+" inodes, "+cleanup.Size(g.Space)+" on disk")
	}
}

// verdict is one line.
func verdict(h *Head, e *End, s *sums) string {
	switch {
	case s.problems > 0:
		return "REFUSED, nothing was changed; problems: " + cleanup.Count(s.problems)
	case e.Stopped != "":
		return "STOPPED before its end: " + cleanup.Printable(e.Stopped)
	case !h.Execute:
		n := s.outcomes[WouldMove]
		if n == nil {
			return "nothing would be moved"
		}
		return "would move " + amount(n)
	case s.outcomes[Unknown] != nil || s.outcomes[Failed] != nil:
		return "ended with failures: see the lines that begin with ERROR, and the journal"
	case s.outcomes[Kept] != nil:
		return "done, some items stay"
	}
	return "done"
}

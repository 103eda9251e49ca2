package probe

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/execute"
	live "fsweep/execute/probe"
	"fsweep/proto/pathtext"
	"fsweep/reports/internal/plaintable"
)

// Text writes a probe for people. An error is the writer's.
func Text(w io.Writer, s *Source) error {
	p := &printer{w: bufio.NewWriter(w)}
	p.head(s)
	p.nameNodes(s.Report)
	p.trash(s.Report)
	p.places(s.Report)
	p.roots(s.Report)
	p.findings(s.Report)
	return p.w.Flush()
}

type printer struct{ w *bufio.Writer }

func (p *printer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format+"\n", args...) // bufio keeps the error for Flush
}

func (p *printer) field(name, value string) { p.line("  %-15s%s", name, value) }

// escape gives the text form of a name.
func escape[T ~string](name T) string { return string(pathtext.Append(nil, string(name))) }

// printable makes a sentence safe that has names in it, quoted already, or messages
// of a NameNode: a backslash stays.
func printable(s string) string { return strings.ReplaceAll(escape(s), `\\`, `\`) }

func (p *printer) head(s *Source) {
	r := s.Report
	p.line("HDFS cluster probe")
	p.field("configuration", escape(s.Conf))
	p.field("nameservice", escape(s.URI))
	p.field("user", escape(r.User)+" ("+escape(s.Authentication)+"), groups "+groups(r))
	if s.Policy != "" {
		p.field("policy", escape(s.Policy))
	}
	if s.Plan != "" {
		p.field("plan", escape(s.Plan))
	}
	p.field("time", r.Now.UTC().Format(time.RFC3339)+" of this machine")
	cluster := unknown
	if r.ClusterID != "" {
		cluster = escape(r.ClusterID) + ", namespace " + strconv.FormatInt(r.NamespaceID, 10)
	}
	p.field("cluster", cluster)
	p.field("safe mode", word(r.SafeMode, "ON", "off"))
}

const unknown = "unknown"

func word(a live.Answer, yes, no string) string {
	switch a {
	case live.Yes:
		return yes
	case live.No:
		return no
	case live.Unknown:
	}
	return unknown
}

func groups(r *live.Report) string {
	switch {
	case r.Groups == nil:
		return unknown
	case len(r.Groups) == 0:
		return "none"
	}
	names := make([]string, len(r.Groups))
	for i, g := range r.Groups {
		names[i] = escape(g)
	}
	return strings.Join(names, ", ")
}

func (p *printer) nameNodes(r *live.Report) {
	t := plaintable.New("<NAMENODE", "<address", "<state", "<version", "clock")
	for i := range r.NameNodes {
		n := &r.NameNodes[i]
		state := n.Role.String()
		if n.Err != nil {
			state = "not seen"
		}
		version, clock := unknown, unknown
		if n.Version != "" {
			version = escape(n.Version)
		}
		if n.Ahead != nil {
			clock = offset(*n.Ahead)
		}
		t.AppendRow(table.Row{dash(escape(n.ID)), escape(n.Address), state, version, clock})
	}
	p.line("\n%s", t.Render())
}

// offset shows how far a clock is ahead, to the second.
func offset(d time.Duration) string {
	d = d.Round(time.Second)
	if d == 0 {
		return "same"
	}
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (p *printer) trash(r *live.Report) {
	keeps := unknown
	if r.Trash.Known {
		keeps = "none: it is switched off"
		if r.Trash.Interval > 0 {
			keeps = "what is moved there is deleted after one to two times " + live.Span(r.Trash.Interval)
		}
	}
	if r.Trash.MinInterval > 0 {
		keeps += "; the policy wants at least " + live.Span(r.Trash.MinInterval)
	}
	if len(r.Trash.Roots) == 0 {
		p.line("\n  TRASH  %s", keeps)
		return
	}
	t := plaintable.New("<TRASH", "<of", "<exists", "<usable", "<zone")
	for _, tr := range r.Trash.Roots {
		t.AppendRow(table.Row{
			escape(tr.Path), trashKind(tr.Kind), word(tr.Place.Exists, "yes", "not yet"), word(tr.Place.Usable, "yes", "NO"),
			zone(tr.Zone, tr.ZoneKnown),
		})
	}
	p.line("\n%s\n  %s", t.Render(), keeps)
}

func trashKind(k execute.TrashKind) string {
	switch k {
	case execute.HomeTrash:
		return "home"
	case execute.ZoneTrash:
		return "encryption zone"
	case execute.SnapshotTrash:
		return "snapshottable directory"
	}
	return unknown
}

func zone(z string, known bool) string {
	switch {
	case !known:
		return unknown
	case z == "":
		return "none"
	}
	return escape(z)
}

func (p *printer) places(r *live.Report) {
	if len(r.Places) == 0 {
		return
	}
	t := plaintable.New("<PLACE", "<path", "<exists", "<usable", "inode", "<owner", "<permission")
	for i := range r.Places {
		pl := &r.Places[i]
		usable := "-"
		if pl.Purpose == live.LockDir || pl.Purpose == live.Quarantine {
			usable = word(pl.Usable, "yes", "NO")
		}
		t.AppendRow(append(table.Row{string(pl.Purpose), escape(pl.Path), word(pl.Exists, "yes", "no"), usable}, status(pl.Status)...))
	}
	p.line("\n%s", t.Render())
	if r.Lock != nil {
		for _, holder := range r.Lock {
			p.line("  locked by %s", escape(holder))
		}
	}
}

// status gives inode id, owner and permission.
func status(st *execute.Status) table.Row {
	if st == nil {
		return table.Row{"-", "-", "-"}
	}
	return table.Row{strconv.FormatUint(st.ID, 10), escape(st.Owner) + ":" + escape(st.Group), permission(st)}
}

// permission shows it as `hdfs dfs -ls` does.
func permission(st *execute.Status) string {
	kind := map[execute.Kind]byte{execute.Directory: 'd', execute.Symlink: 'l'}[st.Kind]
	if kind == 0 {
		kind = '-'
	}
	out := []byte{kind}
	for shift := 6; shift >= 0; shift -= 3 {
		for i, c := range []byte("rwx") {
			if st.Permission>>shift&(4>>i) == 0 {
				c = '-'
			}
			out = append(out, c)
		}
	}
	if st.Permission&0o1000 != 0 {
		if out[9] == 'x' {
			out[9] = 't'
		} else {
			out[9] = 'T'
		}
	}
	if st.ACL {
		out = append(out, '+')
	}
	return string(out)
}

func (p *printer) roots(r *live.Report) {
	if len(r.Roots) == 0 {
		return
	}
	t := plaintable.New("<ROOT", "<layout", "<mode", "<movable", "inode", "<owner", "<permission", "<goes to", "<zone", "<snapshottable")
	for i := range r.Roots {
		rt := &r.Roots[i]
		row := table.Row{escape(rt.Path), rt.Layout, mode(rt.Execute), movable(rt)}
		row = append(row, status(rt.Status)...)
		if rt.Status == nil {
			row = append(row, "-", "-", "-")
		} else {
			row = append(row, receives(rt), zone(rt.Zone, rt.ZoneKnown), snapshottable(rt))
		}
		t.AppendRow(row)
	}
	p.line("\n%s", t.Render())
}

func mode(execute bool) string {
	if execute {
		return "execute"
	}
	return "observe"
}

// movable says out of how many directories the user may move something.
func movable(r *live.Root) string {
	switch {
	case r.Exists == live.No:
		return "MISSING"
	case r.Status == nil, !r.Listed:
		return unknown
	case r.Parents == 0 && r.More:
		return unknown // nothing in the part that was looked at
	case r.Parents == 0:
		return "nothing in it"
	case r.Parents == r.Unknown:
		return unknown
	}
	more := ""
	if r.More {
		more = "+"
	}
	return fmt.Sprintf("%d of %d%s", r.Movable, r.Parents, more)
}

func receives(r *live.Root) string {
	if r.TrashRoot == nil {
		return "-"
	}
	return trashKind(r.TrashRoot.Kind)
}

func snapshottable(r *live.Root) string {
	if len(r.Snapshottable) == 0 {
		return "no"
	}
	return escape(r.Snapshottable[len(r.Snapshottable)-1])
}

// levelWord is how a finding begins, for people.
func levelWord(l live.Level) string {
	if l == live.Warning {
		return "WARNING"
	}
	return "ERROR"
}

func (p *printer) findings(r *live.Report) {
	p.line("")
	for i := range r.Findings {
		f := &r.Findings[i]
		about := ""
		if f.Path != "" {
			about = " " + escape(f.Path)
		}
		p.line("%-9s%s%s: %s", levelWord(f.Level), f.Code, about, printable(f.Message))
		if hint := Advice(f.Code); hint != "" {
			p.line("%9s%s", "", hint)
		}
	}
	if r.Cut {
		p.line("%9s%s", "", "the rest was not asked")
	}
	p.line("RESULT   %s", Verdict(r))
}

// Verdict says in one line whether an execute could work.
func Verdict(r *live.Report) string {
	errs := 0
	for i := range r.Findings {
		if r.Findings[i].Level != live.Warning {
			errs++
		}
	}
	reasons := fmt.Sprintf(" (errors: %d)", errs)
	switch r.Outcome() {
	case live.Works:
		return "an execute could work"
	case live.Incomplete:
		return "an execute could work, but not everywhere" + reasons
	case live.Refused:
		return "an execute would be refused" + reasons
	case live.Failed:
	}
	return "the cluster could not be asked" + reasons
}

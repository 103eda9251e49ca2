package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/analyze"
	"fsweep/analyze/namespace"
	"fsweep/reports/internal/plaintable"
)

// childLimit is dfs.namenode.fs-limits.max-directory-items.
const childLimit = 1 << 20

// Text writes the report for people. Paths are escaped (see [EscapePath]), sizes
// stand rounded and exact, times are UTC.
func Text(w io.Writer, r *analyze.Report) error {
	var p printer
	p.line("HDFS namespace report")
	p.source(&r.Source, len(r.Findings))
	p.findings(r.Findings)
	p.totals(r)
	p.quotas(r.Quotas)
	p.directories("Largest directories by space consumed", "", r.Top.BySpace)
	p.directories("Largest directories by inodes", "inodes", r.Top.ByINodes)
	p.children(r.Top.ByChildren)
	p.owners("Users", "user", r.Users)
	p.owners("Groups", "group", r.Groups)
	p.storageTypes(&r.StorageTypes)
	p.policies("Storage policies of live files", "unspecified", r.StoragePolicy)
	p.policies("Erasure coding of live files", "none (replicated)", r.ErasureCoding)
	p.openFiles(&r.OpenFiles)
	p.snapshots(&r.Snapshots)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// QuotaText writes the quotas for people.
func QuotaText(w io.Writer, src *analyze.Source, findings []namespace.Finding, rows []analyze.QuotaRow) error {
	var p printer
	p.line("HDFS quotas")
	p.source(src, len(findings))
	p.findings(findings)
	p.quotas(rows)
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct{ b strings.Builder }

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(&p.b, format+"\n", args...)
}

func (p *printer) title(format string, args ...any) {
	p.line("\n"+format, args...)
}

// source says what the numbers come from, and whether that can be trusted.
func (p *printer) source(s *analyze.Source, findings int) {
	p.line("  image        %s, %s", Escape(s.Image), size(s.SizeBytes))
	p.line("  transaction  %d, layout %d, namespace id %d", s.Txid, s.LayoutVersion, s.NamespaceID)
	p.line("  image time   %s (%s)", Time(s.ImageTimeMs), s.ImageTimeSource)
	verified := "verified"
	if !s.Verified {
		verified = "NOT VERIFIED"
	}
	p.line("  MD5          %s: %s", verified, Escape(s.VerifiedReason))
	if findings == 0 {
		p.line("  findings     none")
	} else {
		p.line("  findings     %d, listed below", findings)
	}
	p.line("  units        bytes, rounded and exact; times are UTC")
}

func (p *printer) findings(fs []namespace.Finding) {
	if len(fs) == 0 {
		return
	}
	p.title("Findings")
	for _, f := range fs {
		p.line("  %s (%d): %s", f.Code, f.Count, Escape(f.Message))
		if len(f.INodes) > 0 {
			ids := make([]string, len(f.INodes))
			for i, id := range f.INodes {
				ids[i] = strconv.FormatUint(id, 10)
			}
			p.line("    inodes %s", strings.Join(ids, ", "))
		}
	}
}

func (p *printer) totals(r *analyze.Report) {
	p.title("Totals")
	t := plaintable.New("<", "directories", "files", "symlinks", "length", "space consumed")
	row := func(name string, s *analyze.Totals) {
		t.AppendRow(table.Row{name, count(s.Directories), count(s.Files), count(s.Symlinks), size(s.Length), size(s.SpaceConsumed)})
	}
	row("live", &r.Totals)
	row("held by snapshots only", &r.SnapshotTotals)
	p.table(t)
}

// quotas gives each limit a line: a directory can have one for inodes, one for
// space, and one for each storage type.
func (p *printer) quotas(rows []analyze.QuotaRow) {
	p.title("Quotas: directories with one: %d", len(rows))
	if len(rows) == 0 {
		return
	}
	t := plaintable.New("<quota of", "limit", "used", "left", "used %", "<path")
	uncharged := false
	for i := range rows {
		r := &rows[i]
		path := Escape(string(r.Path))
		limit := func(what string, c *analyze.Charge, show func(int64) string) {
			if c.Set {
				t.AppendRow(table.Row{what, show(c.Quota), show(c.Used), show(c.Left()), percent(c), path})
			}
		}
		limit("namespace", &r.Namespace, count)
		limit("space", &r.Space, size)
		for k, name := range namespace.TypeNames {
			if r.TypeUncharged {
				name += " (*)"
				uncharged = true
			}
			limit(name, &r.Type[k], size)
		}
	}
	p.table(t)
	if uncharged {
		p.line("  (*) set but not charged: no storage policy is in force, so files without one of their own do not count.")
	}
	p.line("  %s", analyze.DriftNote)
}

// directories shows a top list; sum names a first column with files, directories
// and symlinks together, for the list that is ordered by it.
func (p *printer) directories(title, sum string, rows []analyze.DirRow) {
	if len(rows) == 0 {
		return
	}
	p.title("%s, with what their snapshots hold", title)
	columns := []string{"space consumed", "length", "files", "directories", "symlinks", "<owner", "<path"}
	if sum != "" {
		columns = slices.Insert(columns, 0, sum)
	}
	t := plaintable.New(columns...)
	for i := range rows {
		r := &rows[i]
		row := table.Row{
			size(r.SpaceConsumed), size(r.Length), count(r.Files), count(r.Directories), count(r.Symlinks),
			Escape(r.Owner), Escape(string(r.Path)),
		}
		if sum != "" {
			row = slices.Insert(row, 0, any(count(r.INodes())))
		}
		t.AppendRow(row)
	}
	p.table(t)
}

func (p *printer) children(rows []analyze.DirRow) {
	if len(rows) == 0 {
		return
	}
	p.title("Directories with most entries (HDFS's default limit is %s)", count(childLimit))
	t := plaintable.New("entries", "of limit %", "<owner", "<path")
	for i := range rows {
		r := &rows[i]
		c := analyze.Charge{Used: r.Children, Set: true, Quota: childLimit}
		t.AppendRow(table.Row{count(r.Children), percent(&c), Escape(r.Owner), Escape(string(r.Path))})
	}
	p.table(t)
}

func (p *printer) owners(title, column string, rows []analyze.OwnerRow) {
	p.title("%s (live inodes)", title)
	t := plaintable.New("<"+column, "space consumed", "length", "files", "directories", "symlinks")
	for i := range rows {
		r := &rows[i]
		t.AppendRow(table.Row{Escape(r.Name), size(r.SpaceConsumed), size(r.Length), count(r.Files), count(r.Directories), count(r.Symlinks)})
	}
	p.table(t)
}

func (p *printer) storageTypes(types *namespace.TypeSpace) {
	p.title("Space by storage type (what storage policies put there; files without one are charged to none)")
	t := plaintable.New("<type", "space")
	for i, name := range namespace.TypeNames {
		t.AppendRow(table.Row{name, size(types[i])})
	}
	p.table(t)
}

func (p *printer) policies(title, none string, rows []analyze.PolicyRow) {
	p.title("%s", title)
	t := plaintable.New("<policy", "files", "length", "space consumed")
	for _, r := range rows {
		name := Escape(r.Name)
		if name == "" {
			name = none
		}
		t.AppendRow(table.Row{name, count(r.Files), size(r.Length), size(r.SpaceConsumed)})
	}
	p.table(t)
}

func (p *printer) openFiles(o *analyze.OpenFiles) {
	p.title("Open files: %s, length %s", count(o.Count), size(o.Length))
	if len(o.Oldest) == 0 {
		return
	}
	t := plaintable.New("modified", "length", "<client", "<machine", "<path")
	for i := range o.Oldest {
		r := &o.Oldest[i]
		t.AppendRow(table.Row{Time(r.MTimeMs), size(r.Length), Escape(r.ClientName), Escape(r.ClientMachine), Escape(string(r.Path))})
	}
	p.table(t)
	if n := o.Count - int64(len(o.Oldest)); n > 0 {
		p.line("  and %s later ones", count(n))
	}
}

func (p *printer) snapshots(s *analyze.Snapshots) {
	p.title("Snapshots: %s in %d snapshottable directories", count(s.Count), len(s.Directories))
	if len(s.Directories) == 0 {
		return
	}
	t := plaintable.New("snapshots", "held space", "held files", "held directories", "<path")
	for i := range s.Directories {
		r := &s.Directories[i]
		t.AppendRow(table.Row{
			count(int64(len(r.Snapshots))), size(r.Held.SpaceConsumed), count(r.Held.Files), count(r.Held.Directories), Escape(string(r.Path)),
		})
		for _, snap := range r.Snapshots {
			t.AppendRow(table.Row{"", "", "", "", fmt.Sprintf("  %s  %s", Time(snap.MTimeMs), Escape(snap.Name))})
		}
	}
	p.table(t)
}

// Time shows milliseconds since 1970 in UTC, to the second.
func Time(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05Z") }

func count(n int64) string { return humanize.Comma(n) }

// size shows bytes rounded and exact.
func size(n int64) string {
	if -1024 < n && n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	if n < 0 {
		return fmt.Sprintf("-%s (%s)", humanize.IBytes(-uint64(n)), humanize.Comma(n))
	}
	return fmt.Sprintf("%s (%s)", humanize.IBytes(uint64(n)), humanize.Comma(n))
}

func percent(c *analyze.Charge) string {
	v, ok := c.Percent()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func (p *printer) table(t table.Writer) {
	p.b.WriteString(t.Render())
	p.b.WriteByte('\n')
}

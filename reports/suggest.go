package reports

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/analyze"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/reports/internal/plaintable"
)

// Suggestions are trees that look like roots of Flink, and a policy to begin with.
type Suggestions struct {
	Source   analyze.Source
	Findings []namespace.Finding
	Trees    []flink.Suggestion
	// Policy is text of which every line is a comment, each with its newline.
	Policy string
}

// share is how much of one limit a tree fills.
type share struct {
	of     string // namespace, space or a storage type
	limit  int64
	used   int64 // of the limit, by all
	here   int64 // by the tree
	inodes bool
}

func shares(q *flink.QuotaShare) []share {
	all := []share{
		{of: "namespace", limit: q.Quota.Namespace, used: q.Used.Namespace, here: q.Here.Namespace, inodes: true},
		{of: "space", limit: q.Quota.Space, used: q.Used.Space, here: q.Here.Space},
	}
	for k, name := range namespace.TypeNames {
		all = append(all, share{of: name, limit: q.Quota.Type[k], used: q.Used.Type[k], here: q.Here.Type[k]})
	}
	set := all[:0]
	for _, s := range all {
		if s.limit != namespace.Unset {
			set = append(set, s)
		}
	}
	return set
}

// part gives how many per cent of the limit v is.
func (s *share) part(v int64) *analyze.Charge {
	return &analyze.Charge{Set: true, Quota: s.limit, Used: v}
}

// SuggestionsText writes suggestions for people.
func SuggestionsText(w io.Writer, s *Suggestions) error {
	var p printer
	p.line("Trees that look like roots of Flink")
	p.source(&s.Source, len(s.Findings))
	p.findings(s.Findings)
	p.title("Trees: %d", len(s.Trees))
	if len(s.Trees) > 0 {
		t := plaintable.New("<layout", "jobs", "units", "checkpoints", "inodes", "space consumed", "<path")
		for i := range s.Trees {
			x := &s.Trees[i]
			t.AppendRow(table.Row{
				x.Layout.String(), count(x.Jobs), count(x.Units), count(x.Checkpoints),
				count(x.Totals.Files + x.Totals.Directories + x.Totals.Symlinks), size(x.Totals.Space), Escape(string(x.Path)),
			})
		}
		p.table(t)
		p.line("  Units are runs, savepoints or clusters. A layout is declared in a policy, never guessed: look at a tree before you do.")
	}
	p.shares(s.Trees)
	p.title("A policy to begin with; take the comments away")
	p.b.WriteString(s.Policy)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) shares(trees []flink.Suggestion) {
	t := plaintable.New("<quota of", "limit", "used", "used %", "by the tree", "by the tree %", "<path of the quota", "<tree")
	for i := range trees {
		for j := range trees[i].Quotas {
			q := &trees[i].Quotas[j]
			for _, s := range shares(q) {
				show := size
				if s.inodes {
					show = count
				}
				t.AppendRow(table.Row{
					s.of, show(s.limit), show(s.used), percent(s.part(s.used)), show(s.here), percent(s.part(s.here)),
					Escape(string(q.Path)), Escape(string(trees[i].Path)),
				})
			}
		}
	}
	if t.Length() > 0 {
		p.title("What they fill of quotas")
		p.table(t)
	}
}

// SuggestionsJSON writes suggestions as one JSON object. Its keys are a contract:
// docs/OUTPUT.md.
func SuggestionsJSON(w io.Writer, s *Suggestions) error {
	d := document{encoder{format: NDJSON}}
	d.object("", func() {
		d.source(&s.Source)
		d.findings(s.Findings)
		d.array("trees", len(s.Trees), func(i int) {
			d.object("", func() { d.suggestion(&s.Trees[i]) })
		})
		d.string("policy", s.Policy)
	})
	return d.writeTo(w)
}

func (d *document) suggestion(x *flink.Suggestion) {
	d.bytes("path", "path_b64", x.Path)
	d.uint("inode_id", x.INodeID)
	d.string("layout", x.Layout.String())
	d.int("jobs", x.Jobs)
	d.int("units", x.Units)
	d.int("checkpoints", x.Checkpoints)
	d.int("directories", x.Totals.Directories)
	d.int("files", x.Totals.Files)
	d.int("symlinks", x.Totals.Symlinks)
	d.int("length", x.Totals.Length)
	d.int("space_consumed", x.Totals.Space)
	d.array("quotas", len(x.Quotas), func(i int) {
		q := &x.Quotas[i]
		d.object("", func() {
			d.bytes("path", "path_b64", q.Path)
			list := shares(q)
			d.array("limits", len(list), func(i int) {
				s := &list[i]
				d.object("", func() {
					d.string("of", s.of)
					d.int("limit", s.limit)
					d.int("used", s.used)
					d.int("here", s.here)
				})
			})
		})
	})
}

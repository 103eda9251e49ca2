package plan

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/proto/planfile"
)

// TestEveryRuleHasNames reads the rules where they are declared: each has a row, and
// the row has a name for what the comment beside the rule says that it has.
func TestEveryRuleHasNames(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../cleanup/rules.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		s, ok := node.(*ast.ValueSpec)
		if !ok || len(s.Values) != 1 {
			return true
		}
		if typ, ok := s.Type.(*ast.Ident); !ok || typ.Name != "Rule" {
			return true
		}
		text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		row, ok := names[cleanup.Rule(text)]
		if !ok {
			t.Errorf("%s has no row", text)
		}
		for word, name := range map[string]string{"TimeMs": row.time, "Place": row.place, "LimitMs": row.length, "Path": row.path, "Text": row.text} {
			if regexp.MustCompile(`\b`+word+`\b`).MatchString(s.Comment.Text()) && name == "" {
				t.Errorf("%s has no name for %s", text, word)
			}
		}
		n++
		return true
	})
	if n != len(names) {
		t.Errorf("%d rows for %d rules", len(names), n)
	}
}

// TestFactNames: names are snake_case, say the unit, and no two of a rule are equal.
func TestFactNames(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for rule, f := range names {
		seen := map[string]bool{}
		for v := reflect.ValueOf(f); len(seen) < v.NumField(); {
			i := len(seen)
			name := v.Field(i).String()
			if name == "" {
				seen[strconv.Itoa(i)] = true
				continue
			}
			if seen[name] || !form.MatchString(name) {
				t.Errorf("%s: %q", rule, name)
				break
			}
			seen[name] = true
		}
		if f.time != "" && !strings.HasSuffix(f.time, "time_ms") || f.length != "" && (!strings.HasSuffix(f.length, "_ms") || strings.HasSuffix(f.length, "time_ms")) {
			t.Errorf("%s: %+v", rule, f)
		}
	}
}

// TestReasons: fields have their names, names of any bytes are text, what is not
// there is left out, and the number 0 is a number.
func TestReasons(t *testing.T) {
	t.Parallel()
	got := Reasons([]cleanup.Fact{
		{Rule: cleanup.WithinMinAge, TimeMs: -5, Place: flink.SharedPlace, LimitMs: 7},
		{Rule: cleanup.WithinMinAge},
		{Rule: cleanup.TieStops, TimeMs: 9, Text: "a\n\xff'", Path: "/r/\\/b"},
		{Rule: cleanup.UnknownAge, N: 2},
		{Rule: cleanup.UnknownAge, TimeMs: 12, Place: flink.MetadataPlace},
		{Rule: cleanup.TimeOfAccess},
		{Rule: cleanup.StaleCheckpoint, N: 0, Limit: 4, TimeMs: 1, LimitMs: 2},
		{Rule: "unheard_of", N: 5, Text: "x"},
	})
	n := func(name string, v int64) planfile.Fact { return planfile.Fact{Name: name, Number: v} }
	s := func(name, v string) planfile.Fact { return planfile.Fact{Name: name, Text: v} }
	want := []Reason{
		{"min_age", []planfile.Fact{n("subtree_mtime_ms", -5), s("subtree_mtime_of", "shared"), n("min_age_ms", 7)}},
		{"min_age", []planfile.Fact{n("subtree_mtime_ms", 0), n("min_age_ms", 0)}},
		{"on_tie_stop", []planfile.Fact{n("tied_mtime_ms", 9), s("path", `/r/\\/b`), s("job", `a\n\xff'`)}},
		{"unknown_age", []planfile.Fact{n("unknown_mtimes", 2)}},
		{"unknown_age", []planfile.Fact{n("future_mtime_ms", 12), s("future_mtime_of", "metadata")}},
		{"data_atime", nil},
		{"stale_checkpoint", []planfile.Fact{n("metadata_mtime_ms", 1), n("older_than_ms", 2), n("checkpoint", 0), n("oldest_kept_checkpoint", 4)}},
		{"unheard_of", nil},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, r := range got {
		for _, f := range r.Facts {
			if !utf8.ValidString(f.Text) || f.Name == "" || f.Text != "" && f.Number != 0 {
				t.Errorf("%+v is no fact of a plan", f)
			}
		}
	}
}

// TestEvidence: a unit has its times, how many are newer, and what the policy says;
// debris in a kept one only what its rule saw.
func TestEvidence(t *testing.T) {
	t.Parallel()
	const hour = cleanup.Duration(time.Hour)
	root := &cleanup.RootDecision{Policy: &cleanup.Root{Keep: 2, MinAge: 144 * hour, KeepWithin: 24 * hour}}
	job := &cleanup.JobDecision{Name: "j"}
	for i, ms := range []int64{100, 50, 50, 50, 7} {
		job.Units = append(job.Units, &cleanup.UnitDecision{
			Path: cleanup.Path("/r/j/" + strconv.Itoa(i)), Verdict: cleanup.Candidate, Unit: &flink.Unit{Times: flink.Times{Newest: flink.Stamp{Ms: ms}}},
		})
	}
	slices.SortFunc(job.Units, func(a, b *cleanup.UnitDecision) int {
		return cmp.Or(cmp.Compare(b.Unit.Times.Newest.Ms, a.Unit.Times.Newest.Ms), cmp.Compare(a.Path, b.Path))
	})
	for i, newer := range []int64{0, 1, 1, 1, 4} { // equal times are not newer
		u := job.Units[i]
		item := &cleanup.Item{Rule: cleanup.BeyondKeep, Root: root, Job: job, Unit: u, Facts: []cleanup.Fact{{Rule: cleanup.TimeOfSubtree, TimeMs: u.Unit.Times.Newest.Ms}}}
		want := []planfile.Fact{
			number("subtree_mtime_ms", u.Unit.Times.Newest.Ms), number("newer_in_job", newer), number("keep", 2),
			number("keep_within_ms", 86_400_000), number("min_age_ms", 518_400_000),
		}
		if diff := gocmp.Diff(want, Evidence(item)); diff != "" {
			t.Error(diff)
		}
	}
	kept := &cleanup.UnitDecision{Unit: &flink.Unit{}}
	debris := &cleanup.Item{Rule: cleanup.UnfinishedMetadata, Root: root, Job: job, Unit: kept, Facts: []cleanup.Fact{{Rule: cleanup.UnfinishedMetadata, TimeMs: 3, LimitMs: 4}}}
	if diff := gocmp.Diff([]planfile.Fact{number("file_mtime_ms", 3), number("older_than_ms", 4)}, Evidence(debris)); diff != "" {
		t.Error(diff)
	}
}

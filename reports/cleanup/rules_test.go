package cleanup

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"
	"testing"

	decide "fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/plan"
	"fsweep/proto/planfile"
)

// allRules reads the constants of type Rule where they are declared, by the comment
// of their group.
func allRules(t *testing.T) map[string][]decide.Rule {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../analyze/cleanup/rules.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string][]decide.Rule{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			s := spec.(*ast.ValueSpec)
			if typ, ok := s.Type.(*ast.Ident); !ok || typ.Name != "Rule" {
				continue
			}
			text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			group := strings.TrimSpace(g.Doc.Text())
			groups[group] = append(groups[group], decide.Rule(text))
		}
	}
	return groups
}

// everything is a fact of a rule with a value in each field, none like another.
func everything(rule decide.Rule) decide.Fact {
	return decide.Fact{
		Rule: rule, TimeMs: 1_795_176_123_000, Place: flink.TaskownedPlace, LimitMs: 40 * 3_600_000, N: 7_654_321, Limit: 2_345_678,
		Path: "/a b/\xff", Text: "te'xt",
	}
}

// TestEveryRuleHasWords: each rule has a sentence that has all its facts, and what
// keeps or defers has a hint.
func TestEveryRuleHasWords(t *testing.T) {
	t.Parallel()
	n := 0
	for group, list := range allRules(t) {
		for _, rule := range list {
			n++
			for _, r := range plan.Reasons([]decide.Fact{everything(rule), {Rule: rule}}) {
				checkWords(t, group, Reason(r))
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d rules were found", n)
	}
}

func checkWords(t *testing.T, group string, r Reason) {
	t.Helper()
	text := r.String()
	if !r.Known() {
		t.Errorf("%s has no sentence", r.Rule)
		return
	}
	if strings.ContainsAny(text, "{}[]|") || strings.HasSuffix(text, ".") || strings.TrimSpace(text) != text {
		t.Errorf("%s: %q", r.Rule, text)
	}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Number != 0 && !strings.Contains(text, show(f)) || f.Text != "" && !strings.Contains(text, f.Text) {
			t.Errorf("%s: %q does not have %s %s", r.Rule, text, f.Name, show(f))
		}
	}
	if selects := strings.HasPrefix(group, "Rules that select"); selects == (r.Change() != "") {
		t.Errorf("%s: the hint is %q", r.Rule, r.Change())
	}
	if strings.ContainsAny(r.Change(), "{}[]|") {
		t.Errorf("%s: %q", r.Rule, r.Change())
	}
}

// TestOwnRules: the rules of explanations have both, too.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, list := range allRules(t) {
		for _, rule := range list {
			known[string(rule)] = true
		}
	}
	for name := range rules {
		if !known[name] {
			checkWords(t, "", Reason{Rule: name})
		}
	}
}

// TestSentences compares some with what the rules say.
func TestSentences(t *testing.T) {
	t.Parallel()
	n := func(name string, v int64) planfile.Fact { return planfile.Fact{Name: name, Number: v} }
	s := func(name, v string) planfile.Fact { return planfile.Fact{Name: name, Text: v} }
	const day = 86_400_000
	const at = 1_795_176_000_000 // 2026-11-20T12:00:00Z
	for _, tc := range []struct {
		rule         string
		facts        []planfile.Fact
		says, change string
	}{
		{"min_age", []planfile.Fact{n("subtree_mtime_ms", at), n("min_age_ms", 6*day)}, "changed at 2026-11-20T12:00:00Z, within min_age 6d", "the image is from 2026-11-26T12:00:01Z or later"},
		{"min_age", []planfile.Fact{n("subtree_mtime_ms", at-1), s("subtree_mtime_of", "shared"), n("min_age_ms", 3*day/2)}, "changed at 2026-11-20T11:59:59Z in shared, within min_age 1d12h", "the image is from 2026-11-22T00:00:00Z or later"},
		{"min_age", nil, "changed at ?, within min_age ?", "the image is from ? or later"},
		{"min_age", []planfile.Fact{n("subtree_mtime_ms", math.MaxInt64-5), n("min_age_ms", 6)}, "changed at 9223372036854775802ms, within min_age 6ms", "the image is from ? or later"},
		{"open_file", []planfile.Fact{n("open_files", 1)}, "1 file is open for writing", "all files in it are closed"},
		{"open_file", []planfile.Fact{n("open_files", 1200)}, "1,200 files are open for writing", "all files in it are closed"},
		{"pinned", []planfile.Fact{s("pin", `/a\n\xff\\b`)}, `/a\n\xff\\b is pinned`, `/a\n\xff\\b is in no file under pins and in no live list any more`},
		{"unknown_age", []planfile.Fact{n("unknown_mtimes", 3)}, "its age is not known: 3 times are 0 or negative", "no time in it is 0, negative or after the image time"},
		{"unknown_age", []planfile.Fact{n("future_mtime_ms", at), s("future_mtime_of", "metadata")}, "its age is not known: 2026-11-20T12:00:00Z is after the image time (metadata)", "no time in it is 0, negative or after the image time"},
		{"max_items", []planfile.Fact{n("items", 501), n("max_items", 500)}, "max_items 500: it would be number 501", "a plan has room for it: the next one, or a larger max_items"},
		{"max_items", nil, "max_items", "a plan has room for it: the next one, or a larger max_items"},
		{"max_bytes", []planfile.Fact{n("planned_bytes", 3<<30), n("max_bytes", 2<<30)}, "max_bytes 2.0GiB: it would make 3.0GiB", "a plan has room for it: the next one, or a larger max_bytes"},
		{"incomplete_checkpoint", []planfile.Fact{n("checkpoint", 12345), n("newest_complete_checkpoint", 12400), n("newest_mtime_ms", at), n("older_than_ms", 2*day)}, "chk-12345 has no complete _metadata, and one with a higher number is complete: chk-12400, unchanged since 2026-11-20T12:00:00Z, older_than 2d", ""},
		{"some_new_rule", []planfile.Fact{s("a", "b\x1b"), n("c_mtime_ms", 0), n("d", 5)}, `some_new_rule: a b\x1b, c_mtime_ms 1970-01-01T00:00:00Z, d 5`, ""},
		{"evil\n\x1b[2J", nil, `evil\n\x1b[2J`, ""},
	} {
		r := Reason{tc.rule, tc.facts}
		if r.String() != tc.says || r.Change() != tc.change {
			t.Errorf("%s:\n%s\n%s\nwant\n%s\n%s", tc.rule, r, r.Change(), tc.says, tc.change)
		}
	}
}

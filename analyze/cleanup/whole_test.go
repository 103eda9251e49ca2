package cleanup

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWhole: the rules that keep all that is in a unit are those that are listed as
// such, and no others; then nothing in the unit is an item.
func TestWhole(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	whole := map[Rule]bool{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(g.Doc.Text(), "Rules that keep a unit with all that is in it") {
			continue
		}
		for _, spec := range g.Specs {
			text, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			whole[Rule(text)] = true
		}
	}
	seen := map[Rule]bool{}
	randomWorlds(t, 500, func(t *testing.T, _ *rand.Rand, w *world, _ func() *world) {
		for _, r := range w.decide(t).Roots {
			for _, j := range r.Jobs {
				for _, u := range j.Units {
					want := slices.ContainsFunc(u.Keeps, func(f Fact) bool { return whole[f.Rule] })
					if u.Whole() != want || want && len(u.Items) > 0 {
						t.Errorf("%s: %v, %+v, %d items", u.Path, u.Whole(), u.Keeps, len(u.Items))
					}
					for _, f := range u.Keeps {
						seen[f.Rule] = true
					}
				}
			}
		}
	})
	n := 0
	for rule := range whole {
		if seen[rule] {
			n++
		}
	}
	if n < 10 && !testing.Short() {
		t.Errorf("%d of %d rules keep something", n, len(whole))
	}
}

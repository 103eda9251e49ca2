package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"fsweep/reports/execution"
)

// TestSentences: every rule and every problem of execute/check is said in words. They are
// read from the source, so a new one cannot be forgotten.
func TestSentences(t *testing.T) {
	t.Parallel()
	for file, has := range map[string]func(string) bool{
		"../../execute/check/rules.go":     execution.Known,
		"../../execute/check/preflight.go": func(code string) bool { return execution.Advice(code) != "" },
	} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec).Values
				if len(v) != 1 {
					continue
				}
				l, ok := v[0].(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					continue
				}
				word, err := strconv.Unquote(l.Value)
				if err != nil || strings.Contains(word, " ") {
					continue
				}
				n++
				if !has(word) {
					t.Errorf("%s: %q has no sentence", file, word)
				}
			}
		}
		if n < 15 {
			t.Errorf("%s: only %d words", file, n)
		}
	}
}

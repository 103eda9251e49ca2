package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxProblems is how many problems an error prints: enough to mend a file in one
// go, few enough to be read.
const maxProblems = 10

// Error says what is wrong with a policy: everything that was found, in the
// order of the file.
type Error struct {
	Name     string // of the file, as the caller gave it
	Problems []Problem
}

// Problem is one thing that is wrong with a policy.
type Problem struct {
	// Line and Column count from 1; Column in characters. Both are 0 where there
	// is no place in the file: what flags made of it, or what is missing altogether.
	Line, Column int
	Key          string // such as roots[2].min_age; may be empty
	Message      string
	// Excerpt is the line with a caret below the column, each with its newline;
	// empty where there is no line, and behind the first ten problems. Control
	// characters are shown as ␦.
	Excerpt string
}

// Error gives a line for each problem and the excerpt below it.
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "%s: %d more problems", e.Name, len(e.Problems)-i)
			break
		}
		fmt.Fprintf(&b, "%s:%s\n%s", e.Name, p.text(), p.Excerpt)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// text gives "12:5: key: message", or " key: message" without a place.
func (p Problem) text() string {
	s := p.Message
	if p.Key != "" {
		s = p.Key + ": " + s
	}
	if p.Line == 0 {
		return " " + s
	}
	return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, s)
}

func (at position) problem(key, message string) Problem {
	return Problem{Line: at.line, Column: at.column, Key: key, Message: message}
}

// position is a place in the source, from 1; the zero value is no place.
type position struct{ line, column int }

// source is the text of a policy file, to point into.
type source struct {
	name  string
	lines []string
	at    map[string]position // values, by key path
}

func newSource(name, text string) *source {
	return &source{name: name, lines: strings.Split(text, "\n"), at: map[string]position{}}
}

// find gives the place of a key, or of the nearest thing that holds it.
func (s *source) find(key string) position {
	for {
		if at, ok := s.at[key]; ok {
			return at
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 {
			return s.at[""]
		}
		key = key[:cut]
	}
}

// has tells whether the file has the key.
func (s *source) has(key string) bool { _, ok := s.at[key]; return ok }

// excerpt gives a line with a caret below a column, cut to what a terminal shows,
// and the column, which is in the line or just behind it.
func excerpt(line string, number, column int) (string, int) {
	const width = 100
	runes := []rune(strings.TrimSuffix(line, "\r"))
	column = min(max(column, 1), len(runes)+1)
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = '␦'
		}
	}
	from, before, after := 0, "", ""
	if len(runes) > width {
		from = max(0, min(column-1-width/2, len(runes)-width))
		if from > 0 {
			before = "…"
		}
		if from+width < len(runes) {
			after = "…"
		}
		runes = runes[from:min(len(runes), from+width)]
	}
	gutter := fmt.Sprintf("%5d | ", number)
	blank := strings.Repeat(" ", len(gutter)-2) + "| "
	caret := strings.Repeat(" ", len([]rune(before))+column-1-from)
	return gutter + before + string(runes) + after + "\n" + blank + caret + "^\n", column
}

// failed makes the error of a policy: in the order of the file, nothing twice.
// Excerpts are only made of what will be printed: a file can have one long line
// with a hundred thousand problems in it.
func (s *source) failed(problems ...Problem) *Error {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	problems = slices.Compact(problems)
	for i := range problems[:min(len(problems), maxProblems)] {
		if p := &problems[i]; p.Line > 0 && p.Line <= len(s.lines) {
			p.Excerpt, p.Column = excerpt(s.lines[p.Line-1], p.Line, p.Column)
		}
	}
	return &Error{s.name, problems}
}

// offsetError is an error about one character of a value.
type offsetError struct {
	offset int // in characters, from 0
	msg    string
}

func (e *offsetError) Error() string { return e.msg }

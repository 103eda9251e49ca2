package main

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fsweep/fsimage/imagetest"
)

// The clock of the scripts: when the image was saved, and when the plan is made.
var (
	scriptImageTime = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	scriptNow       = scriptImageTime.Add(time.Hour)
)

// TestPlanScripts runs what a user types to plan, for every rule of the clean-up a
// script that is named after it. In all files of a script RUN1 to RUN9 stand for the
// ids of jobs, 32 equal digits, which are $RUN1 to $RUN9 on command lines; files are
// a minute old at $NOW. Beside "exits N COMMAND…" there are
//
//	image OUT TREE    write an image, with its .md5, from the text of imagetest.ParseTree
//	age SPAN FILE…    make files that old at $NOW, such as 3h
//	lines TYPE PLAN   list kind and path of these lines: guard, known
//	items PLAN        list the items: kind, path, rule; deferred=BELT, split, conditional, proof
//	plan-ok PLAN      the plan keeps its schema, and its counts are right
//	plans N ITEMS [FLAG…]
//	                  image fsimage tree; fsweep plan fsimage --policy policy.yaml
//	                  -o plan.jsonl, with the clock, exits N; plan-ok; its items are
//	                  those in the file ITEMS, or "none", or there is no plan: "-";
//	                  lines WOULD-DELETE stand for all that are not deferred
//	stops ROOT REASON [PATH]
//	                  plan.jsonl says that this stops the root; "stops ROOT" that nothing does
//	why VERDICT RULE PATH [FLAG…]
//	                  fsweep explain of the same gives this verdict, and this rule
//	                  among those that speak for it; RULE and PATH are exact
func TestPlanScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/plan",
		Setup: setUpPlan,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "image": makeImage, "age": setAge, "items": listItems, "lines": listLines, "plan-ok": planOK, "plans": plans, "stops": stops, "why": why,
		},
	})
}

var runName = regexp.MustCompile(`RUN[1-9]`)

func setUpPlan(env *testscript.Env) error {
	for i := 1; i <= 9; i++ {
		env.Setenv(fmt.Sprint("RUN", i), strings.Repeat(strconv.Itoa(i), 32))
	}
	env.Setenv("AT", scriptImageTime.Format(time.RFC3339))
	env.Setenv("NOW", scriptNow.Format(time.RFC3339))
	images, err := filepath.Abs("../../testdata/images")
	if err != nil {
		return err
	}
	env.Setenv("IMAGES", images)
	env.Setenv("PLAIN", filepath.Join(images, "3.4.2/plain/fsimage_0000000000000002138"))
	return filepath.WalkDir(env.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b = runName.ReplaceAllFunc(b, func(run []byte) []byte { return bytes.Repeat(run[3:], 32) })
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
		old := scriptNow.Add(-time.Minute)
		return os.Chtimes(path, old, old)
	})
}

func makeImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: image OUT TREE")
	}
	tree, err := imagetest.ParseTree(ts.ReadFile(args[1]), scriptImageTime)
	if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	b, out := tree.Image().Bytes(), ts.MkAbs(args[0])
	ts.Check(os.WriteFile(out, b, 0o600))
	ts.Check(os.WriteFile(out+".md5", fmt.Appendf(nil, "%x *%s\n", md5.Sum(b), filepath.Base(out)), 0o600))
}

func setAge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: age SPAN FILE…")
	}
	age, err := time.ParseDuration(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		at := scriptNow.Add(-age)
		ts.Check(os.Chtimes(ts.MkAbs(name), at, at))
	}
}

// clock is what a user types to repeat the plan of another day.
func clock(ts *testscript.TestScript) []string {
	return []string{"--policy", "policy.yaml", "--image-time", ts.Getenv("AT"), "--now", ts.Getenv("NOW")}
}

func plans(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: plans CODE ITEMS [FLAG…]")
	}
	makeImage(ts, false, []string{"fsimage", "tree"})
	ts.Check(os.RemoveAll(ts.MkAbs("plan.jsonl")))
	exits(ts, false, slices.Concat([]string{args[0], "fsweep", "plan", "fsimage"}, clock(ts), []string{"-o", "plan.jsonl"}, args[2:]))
	var want []string
	switch args[1] {
	case "-":
		if _, err := os.Stat(ts.MkAbs("plan.jsonl")); !errors.Is(err, fs.ErrNotExist) {
			ts.Fatalf("there is a plan: %v", err)
		}
		return
	case "none":
	default:
		want = wantLines(ts.ReadFile(args[1]))
	}
	planOK(ts, false, []string{"plan.jsonl"})
	got := itemLines(ts, "plan.jsonl")
	if !slices.Equal(got, want) {
		ts.Fatalf("items:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	planned := 0
	for _, item := range got {
		if !strings.Contains(item, " deferred=") {
			planned++
		}
	}
	if shown := shownItems(ts.ReadFile("stdout")); shown != planned {
		ts.Fatalf("lines WOULD-DELETE stand for %d items, of %d", shown, planned)
	}
}

var sweptFiles = regexp.MustCompile(` ([0-9]+) files? in it, not the directory: `)

// shownItems counts the items for which lines stand: one, or files of a directory.
func shownItems(text string) (n int) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "WOULD-DELETE ") {
			continue
		}
		if swept := sweptFiles.FindStringSubmatch(line); swept != nil {
			files, _ := strconv.Atoi(swept[1])
			n += files
		} else {
			n++
		}
	}
	return n
}

func stops(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 3 {
		ts.Fatalf("usage: stops ROOT [REASON [PATH]]")
	}
	var header struct {
		Roots []struct {
			Path    string
			Stopped []struct{ Reason, Path string }
		}
	}
	first, _, _ := strings.Cut(ts.ReadFile("plan.jsonl"), "\n")
	ts.Check(json.Unmarshal([]byte(first), &header))
	for _, r := range header.Roots {
		if r.Path != args[0] {
			continue
		}
		for _, s := range r.Stopped {
			reason, _, _ := strings.Cut(s.Reason, ": ") // the rest is for people
			if len(args) > 1 && reason == args[1] && (len(args) == 2 || s.Path == args[2]) {
				return
			}
		}
		if len(args) > 1 || len(r.Stopped) > 0 {
			ts.Fatalf("%s is stopped by %q", r.Path, r.Stopped)
		}
		return
	}
	ts.Fatalf("no root %s", args[0])
}

// wantLines gives lines without blanks at their ends, empty lines and comments.
func wantLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

func listItems(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: items PLAN")
	}
	for _, line := range itemLines(ts, args[0]) {
		_, err := fmt.Fprintln(ts.Stdout(), line)
		ts.Check(err)
	}
}

// planLine is what scripts look at in a line of a plan.
type planLine struct {
	Type, Kind, Path, Rule string
	PathB64                []byte `json:"path_b64"`
	Deferred               any    // a belt; totals in the footer
	SplitOf                uint64 `json:"split_of"`
	Item                   uint64 // of guards
	Conditional            bool
	Proof                  bool `json:"needs_reference_proof"`
}

func itemLines(ts *testscript.TestScript, name string) (lines []string) {
	for text := range strings.Lines(ts.ReadFile(name)) {
		var l planLine
		ts.Check(json.Unmarshal([]byte(text), &l))
		if l.Type == "item" {
			lines = append(lines, l.item())
		}
	}
	return lines
}

func listLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines TYPE PLAN")
	}
	for text := range strings.Lines(ts.ReadFile(args[1])) {
		var l planLine
		ts.Check(json.Unmarshal([]byte(text), &l))
		if l.Type == args[0] {
			name := l.name()
			if l.Item != 0 {
				name += " in item"
			}
			_, err := fmt.Fprintln(ts.Stdout(), name)
			ts.Check(err)
		}
	}
}

// name gives kind and path, which is quoted if it has blanks or must be.
func (l *planLine) name() string {
	path := l.Path
	if l.PathB64 != nil {
		path = string(l.PathB64)
	}
	if quoted := strconv.Quote(path); quoted[1:len(quoted)-1] != path || strings.Contains(path, " ") {
		path = quoted
	}
	return l.Kind + " " + path
}

func (l *planLine) item() string {
	s := l.name() + " " + l.Rule
	if l.Deferred != nil {
		s += fmt.Sprint(" deferred=", l.Deferred)
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{{l.SplitOf != 0, "split"}, {l.Conditional, "conditional"}, {l.Proof, "proof"}} {
		if flag.set {
			s += " " + flag.name
		}
	}
	return s
}

// planOK validates every line and counts anew what the footer says.
func planOK(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plan-ok PLAN")
	}
	ts.Check(checkPlan([]byte(ts.ReadFile(args[0]))))
}

// why asks for the explanation of one path.
func why(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: why VERDICT RULE PATH [FLAG…]")
	}
	path := args[2]
	if path[0] == '"' {
		var err error
		path, err = strconv.Unquote(path)
		ts.Check(err)
	}
	ts.Check(ts.Exec("fsweep", slices.Concat([]string{"explain", "fsimage"}, clock(ts), []string{"--format", "json", path}, args[3:])...))
	var answer struct {
		Explanations []struct {
			Path    string
			PathB64 []byte `json:"path_b64"`
			Verdict string
			Reasons []struct{ Rule string }
			Item    struct{ Deferred []struct{ Rule string } }
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &answer))
	if len(answer.Explanations) != 1 {
		ts.Fatalf("%d explanations", len(answer.Explanations))
	}
	e := answer.Explanations[0]
	if e.Path != path && string(e.PathB64) != path {
		ts.Fatalf("an answer about %q, %q", e.Path, e.PathB64)
	}
	for _, r := range append(e.Reasons, e.Item.Deferred...) {
		if e.Verdict == args[0] && r.Rule == args[1] {
			return
		}
	}
	ts.Fatalf("%q: %s by %s, want %s by %s", path, e.Verdict, e.Reasons, args[0], args[1])
}

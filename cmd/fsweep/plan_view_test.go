package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/analyze/plan"
	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
	view "fsweep/reports/cleanup"
)

var viewTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Ids of runs.
const (
	viewA = "aaaaaa00000000000000000000000001"
	viewB = "bbbbbb00000000000000000000000002"
	viewC = "cccccc00000000000000000000000003"
	viewD = "dddddd00000000000000000000000004"
)

func viewAgo(days float64) int64 {
	return viewTime.Add(-time.Duration(days * 24 * float64(time.Hour))).UnixMilli()
}

// viewed is an image of files, given by their age in days, and what was decided.
type viewed struct {
	decision *cleanup.Decision
	policy   *cleanup.Policy
	tree     *namespace.Tree
	nodes    []*imagetest.Node
}

func newViewed(t *testing.T, policy string, files map[string]float64, edits ...func(*imagetest.Tree)) *viewed {
	t.Helper()
	it := imagetest.NewTree()
	for _, path := range slices.Sorted(maps.Keys(files)) { // the same ids every time
		it.File(path, 10).MTimeMs = viewAgo(files[path])
	}
	for _, n := range it.Nodes() {
		if n.Kind == imagetest.Directory {
			n.MTimeMs = viewAgo(100)
		}
		n.ATimeMs = 0
	}
	for _, edit := range edits {
		edit(it)
	}
	b := it.Image().Bytes()
	im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := namespace.Load(t.Context(), im, namespace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := cleanup.ParsePolicy("p.yaml", []byte("version: 1\nnameservice: nameservice1\nlock_dir: /ops/fsweep\n"+policy))
	if err != nil {
		t.Fatal(err)
	}
	d, err := flink.Discover(t.Context(), tree, cleanup.Declarations(p), flink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decision, err := cleanup.Decide(d, p, cleanup.Inputs{ImageTime: viewTime, Now: viewTime})
	if err != nil {
		t.Fatal(err)
	}
	return &viewed{decision, p, tree, it.Nodes()}
}

func (v *viewed) plan(contents bool) *view.Plan {
	s := &planSource{decision: v.decision, contents: contents, sweep: func(w *cleanup.Sweep) view.Sweep {
		return view.Sweep{Path: planfile.Path(w.Path), InodeID: w.INodeID, Rule: string(w.Rule), Planned: view.Files{Files: 2, Bytes: 20}}
	}}
	s.header.Source.ImageTimeMs, s.header.NowMs = viewTime.UnixMilli(), viewTime.UnixMilli()
	return planView(s)
}

// manyKinds has a line of every kind. The files of a run are as old as it is meant to
// be: what is younger than 6 days or among the newest stays.
func manyKinds(t *testing.T) *viewed {
	return newViewed(t, `belts: {max_percent_of_root: 100%, max_items: 5, max_inodes_per_move: 6}
roots:
  - {path: /r, layout: job-run, mode: execute, exclude_jobs: [bad], unreferenced_shared: {older_than: 30d}}
  - {path: /x, layout: job-run}
  - {path: /old, layout: children, min_age: 10d, names: ["tmp-*"]}
`, map[string]float64{
		"/r/orders/" + viewA + "/chk-9/_metadata": 1, "/r/orders/" + viewA + "/chk-3/part": 30, "/r/orders/" + viewA + "/chk-11/part": 1,
		"/r/orders/" + viewA + "/chk-8/_metadata": 2, "/r/orders/" + viewA + "/chk-7/part": 1, "/r/orders/" + viewA + "/shared/young": 5, "/r/orders/" + viewA + "/shared/old": 50,
		"/r/orders/" + viewB + "/chk-4/_metadata": 20,
		"/r/orders/" + viewC + "/shared/sst":      40,
		"/r/orders/" + viewD + "/chk-1/_metadata": 60, "/r/orders/" + viewD + "/shared/a": 60, "/r/orders/" + viewD + "/shared/b": 60, "/r/orders/" + viewD + "/taskowned/c": 60,
		"/r/bad/" + viewA + "/chk-1/_metadata": 50, "/r/bad/" + viewB + "/chk-1/_metadata": 60,
		"/r/we*ird\n\xff/" + viewA + "/chk-1/_metadata": 50, "/r/we*ird\n\xff/" + viewB + "/chk-1/_metadata": 60,
		"/r/odd/" + viewA + "/chk-1/_metadata": 50, "/r/odd/" + viewA + "/core": 60,
		"/x/j/" + viewA + "/chk-1/_metadata": 50, "/x/readme": 2,
		"/old/tmp-1/f": 12, "/old/tmp-2/f": 5, "/old/other/f": 50,
	})
}

// TestPlanViewLines: each unit and item has the line that the rules ask for.
func TestPlanViewLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := view.Text(&b, manyKinds(t).plan(false), view.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for l := range strings.Lines(b.String()) {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		if !slices.Contains([]string{"ROOT", "JOB", "KEEP", "WOULD-DELETE", "ERROR", "ERROR:"}, word) {
			continue
		}
		path, rest, _ := strings.Cut(strings.TrimSpace(rest), "  ")
		text := rest[strings.LastIndex(rest, "  ")+1:]
		rule, _, _ := strings.Cut(strings.TrimSpace(text), ":")
		switch word {
		case "ROOT", "JOB":
			got = append(got, word+" "+path)
		case "ERROR:":
			got = append(got, strings.TrimSpace(l))
		default:
			got = append(got, word+" "+path+" "+rule)
		}
	}
	orders := "/r/orders/"
	want := []string{
		"ROOT /old", "KEEP /old/tmp-2 min_age", "WOULD-DELETE /old/tmp-1 old_child",
		"ROOT /r", "KEEP /r/bad kept as a whole",
		// Beyond keep, of a job with an entry that is not Flink's.
		"ERROR /r/odd/" + viewA + "/core unknown_file; nothing in its job is planned", "JOB /r/odd", "KEEP /r/odd/" + viewA + " unknown_entry",
		"JOB /r/orders", "KEEP " + orders + viewA + " newest_by_metadata", "WOULD-DELETE " + orders + viewA + "/chk-3 incomplete_checkpoint",
		"WOULD-DELETE " + orders + viewA + "/shared 2 files in it, not the directory",
		"WOULD-DELETE " + orders + viewB + " beyond_keep", "WOULD-DELETE " + orders + viewC + " beyond_keep",
		// D has eight inodes, which are too many for one move, so its parts go: first what refers to state.
		"KEEP " + orders + viewD + " its directory stays for now, its parts are below; beyond_keep",
		"WOULD-DELETE " + orders + viewD + "/chk-1 beyond_keep", "WOULD-DELETE " + orders + viewD + "/taskowned beyond_keep", "KEEP " + orders + viewD + "/shared deferred",
		`JOB /r/we*ird\n\xff`, `KEEP /r/we*ird\n\xff/` + viewA + " newest_by_metadata", `KEEP /r/we*ird\n\xff/` + viewB + " deferred",
		"ROOT /x",
		"ERROR /x/readme file_among_jobs", "ERROR /x root stopped, nothing in it is planned", "JOB /x/j", "KEEP /x/j/" + viewA + " root_stopped",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, b.String())
	}
}

// TestPlanViewWritten: what was written counts, not what was decided.
func TestPlanViewWritten(t *testing.T) {
	t.Parallel()
	v := manyKinds(t)
	written := map[*cleanup.Item]plan.Written{}
	deferrals := map[*cleanup.Item][]cleanup.Fact{}
	var left, put cleanup.Path
	for n, i := range v.decision.Items {
		line := plan.Written{Entries: 1000}
		switch n {
		case 0:
			left = i.Path
			continue
		case 1:
			put, line.Deferred = i.Path, "max_inodes"
			deferrals[i] = []cleanup.Fact{{Rule: cleanup.BeltInodes, N: 7, Limit: 6}}
		}
		written[i] = line
	}
	s := &planSource{decision: v.decision, deferrals: deferrals, written: func(i *cleanup.Item) (plan.Written, bool) {
		w, ok := written[i]
		return w, ok
	}}
	reasons := map[string]string{}
	for r := range planView(s).Roots {
		for j := range r.Jobs {
			for u := range j.Units {
				for _, i := range u.Items {
					if len(i.Deferrals) > 0 {
						reasons[string(i.Path)] = fmt.Sprint(i.Deferrals[0].Rule, i.Deferrals[0].Facts)
					} else if i.Entries != 1000 {
						t.Errorf("%s: %d inodes", i.Path, i.Entries)
					}
				}
			}
		}
	}
	if reasons[string(left)] != "inconsistent_image[]" || reasons[string(put)] != "max_inodes[{inodes  7} {max_inodes  6}]" {
		t.Errorf("%s, %s: %v", left, put, reasons)
	}
}

// TestNamesNotFoundLines: the lines that operators look for, and that no other root is
// planned then.
func TestNamesNotFoundLines(t *testing.T) {
	t.Parallel()
	v := newViewed(t, `belts: {max_percent_of_root: 100%}
roots:
  - {path: /r, layout: job-run, mode: execute}
  - {path: /x, layout: job-run, exclude_jobs: [dgrahp], jobs: ["it's", "q, 'r'", 'a"b', 'back\slash', j]}
`, map[string]float64{
		"/r/orders/" + viewA + "/chk-9/_metadata": 1, "/r/orders/" + viewB + "/chk-4/_metadata": 20, "/x/j/" + viewA + "/chk-1/_metadata": 50,
	})
	var b bytes.Buffer
	if err := view.Text(&b, v.plan(false), view.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nERROR: excluded job directories were not found: ['dgrahp']\n",
		"\n" + `ERROR: selected job directories were not found: ['a"b', 'back\\slash', 'it\'s', 'q, \'r\'']` + "\n",
		"/r  root stopped, nothing in it is planned: names_not_found: names under exclude_jobs or jobs, or in a flag, do not exist in root /x: nobody knows what was meant\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nhas no %q", b.String(), want)
		}
	}
	if strings.Contains(b.String(), "\nWOULD-DELETE") {
		t.Error(b.String())
	}
}

// TestNamesNotFound: names that a policy has and the image lacks are told as they are.
func TestNamesNotFound(t *testing.T) {
	t.Parallel()
	names := []string{`'`, `', '`, `a"b`, `back\slash`, `x]`, "日本", "tab\there", "\u202e", `\'`, "ünï"}
	slices.Sort(names)
	var list []string
	for _, n := range names {
		list = append(list, mustQuote(n))
	}
	v := newViewed(t, fmt.Sprintf("roots: [{path: /r, layout: job-run, exclude_jobs: [%s]}]\n", strings.Join(list, ", ")), map[string]float64{"/r/j/" + viewA + "/chk-1/_metadata": 1})
	for r := range v.plan(false).Roots {
		if diff := cmp.Diff(names, r.ExcludedNotFound); diff != "" || r.NumMisfits != 0 || len(r.Misfits) != 0 {
			t.Errorf("%s%+v", diff, r.Misfits)
		}
	}
}

// mustQuote writes a name as YAML in double quotes, which are JSON's.
func mustQuote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestPlanViewLarge: showing many jobs keeps none of them.
func TestPlanViewLarge(t *testing.T) {
	t.Parallel()
	v := newViewed(t, "roots: [{path: /r, layout: job-run}]\n", map[string]float64{"/r/j/" + viewA + "/chk-1/_metadata": 1})
	r := v.decision.Roots[0]
	for range 20_000 {
		r.Jobs = append(r.Jobs, r.Jobs[0])
	}
	counting := &counter{}
	if err := view.JSON(counting, v.plan(false)); err != nil {
		t.Fatal(err)
	}
	if counting.n < 10<<20 {
		t.Errorf("only %d bytes", counting.n)
	}
	b := &bytes.Buffer{}
	if err := view.Text(b, v.plan(false), view.TextOptions{MaxListLines: 10}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "… 19,991 more KEEP lines") || b.Len() > 10_000 {
		t.Errorf("%d bytes: %.3000s", b.Len(), b.String())
	}
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}

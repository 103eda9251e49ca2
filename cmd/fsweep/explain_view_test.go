package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/plan"
	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
	"fsweep/proto/schematest"
	view "fsweep/reports/cleanup"
)

// target finds a path in the image of the test, as the command does.
func (v *viewed) target(path string) explainTarget {
	t := explainTarget{path: cleanup.Path(path)}
	for _, n := range v.nodes {
		if p := n.Path(); p == path || p == "" && path == "/" {
			t.exists, t.inodeID = true, n.ID
			if n.Kind == imagetest.File {
				t.file, t.atimeMs = &flink.File{Name: n.Name, INodeID: n.ID, Length: 10, MTimeMs: n.MTimeMs}, n.ATimeMs
			}
		}
	}
	return t
}

// explain answers as the command does. Nothing of it comes from v.decision.
func (v *viewed) explain(t *testing.T, path string) *view.Explanation {
	t.Helper()
	return v.answer(t, v.target(path))
}

func (v *viewed) answer(t *testing.T, target explainTarget) *view.Explanation {
	t.Helper()
	ctx := t.Context()
	collector := plan.NewCollector(v.tree, v.policy)
	survey, err := flink.Look(ctx, v.tree, cleanup.Declarations(v.policy), collector.Options(2))
	if err != nil {
		t.Fatal(err)
	}
	defer survey.Close()
	in := cleanup.Inputs{ImageTime: viewTime, Now: viewTime}
	decider, err := cleanup.NewDecider(ctx, survey, v.policy, in)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := plan.Ask(ctx, &plan.Request{Tree: v.tree, Collector: collector, Survey: survey, Decider: decider, Policy: v.policy, Inputs: in}, []cleanup.Path{target.path})
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	s := &explainSource{ctx: ctx, tree: v.tree, survey: survey, answers: answers, decision: decider.Decision(), policy: v.policy, now: viewTime}
	x, err := explainView(s, answers.Asked[0], target)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestExplainView: what each path is, what becomes of it, and by which rule; see
// manyKinds for the image. Guards are all `_metadata` but those of B and of the
// chk-1 of D, which would be moved.
func TestExplainView(t *testing.T) {
	t.Parallel()
	v := manyKinds(t)
	const guards = 10 - 2
	a, d, weird := "/r/orders/"+viewA, "/r/orders/"+viewD, "/r/we*ird\n\xff/"
	for _, tc := range []struct {
		path    string
		what    view.What
		verdict string
		rules   string // the first ones
		guards  int64
	}{
		{"/", view.IsAbove, view.NoVerdict, "above_root", 0},
		{"/nowhere", view.IsMissing, view.NoVerdict, "missing outside_roots", 0},
		{"/rr", view.IsMissing, view.NoVerdict, "missing outside_roots", 0},
		{"/r", view.IsRoot, view.Keep, "root_itself", 0},
		{"/x", view.IsRoot, view.Keep, "root_itself misfits", 0},
		{"/r/orders", view.IsJob, view.Keep, "job_itself", 0},
		{"/r/odd", view.IsJob, view.Keep, "job_itself unknown_entry", 0},
		{"/r/bad", view.IsJob, view.Keep, "job_itself excluded", 0},
		{"/r/bad/" + viewA, view.IsInJob, view.Keep, "excluded no_unit", 0},
		{"/r/orders/gone", view.IsMissing, view.NoVerdict, "missing no_unit", 0},
		{a, view.IsUnit, view.Keep, "newest_by_metadata newest_by_subtree newest_by_files newest_complete min_age", 0},
		{a + "/chk-9", view.IsCheckpoint, view.Keep, "stale_off newest_by_metadata", 0},
		{a + "/chk-9/_metadata", view.IsInUnit, view.Keep, "stale_off newest_by_metadata", 0},
		{a + "/chk-11", view.IsCheckpoint, view.Keep, "being_written newest_by_metadata", 0},
		{a + "/chk-7/part", view.IsInUnit, view.Keep, "debris_changed newest_by_metadata", 0},
		{a + "/chk-3", view.IsCheckpoint, view.Candidate, "incomplete_checkpoint", guards},
		{a + "/chk-3/part", view.IsInItem, view.Candidate, "incomplete_checkpoint", guards},
		{a + "/shared", view.IsInUnit, view.Keep, "only_files newest_by_metadata", 0},
		{a + "/shared/young", view.IsInUnit, view.Keep, "debris_changed newest_by_metadata", 0},
		{a + "/shared/old", view.IsItem, view.Candidate, "unreferenced_shared", guards},
		{"/r/orders/" + viewB, view.IsUnit, view.Candidate, "beyond_keep", guards},
		{"/r/orders/" + viewB + "/chk-4", view.IsCheckpoint, view.Candidate, "beyond_keep", guards},
		{"/r/orders/" + viewB + "/chk-4/_metadata", view.IsInItem, view.Candidate, "beyond_keep", guards},
		{d, view.IsUnit, view.Keep, "parts_first beyond_keep", 0},
		{d + "/chk-1", view.IsCheckpoint, view.Candidate, "beyond_keep", guards},
		{d + "/shared/a", view.IsInItem, view.Deferred, "beyond_keep", guards},
		{weird + viewA + "/chk-1", view.IsCheckpoint, view.Keep, "stale_off newest_by_metadata", 0},
		{weird + viewB, view.IsUnit, view.Deferred, "beyond_keep", guards},
		{"/r/odd/" + viewA + "/core", view.IsInUnit, view.Keep, "unknown_entry", 0},
		{"/x/readme", view.IsInRoot, view.Keep, "misfits no_unit", 0},
		{"/x/j/" + viewA, view.IsUnit, view.Keep, "root_stopped", 0},
		{"/old/tmp-1/f", view.IsInItem, view.Candidate, "old_child", 0},
		{"/old/other/f", view.IsInRoot, view.Keep, "no_unit", 0},
	} {
		x := v.explain(t, tc.path)
		var rules []string
		for _, r := range x.Reasons {
			rules = append(rules, r.Rule)
		}
		if x.What != tc.what || x.Verdict != tc.verdict || !strings.HasPrefix(strings.Join(rules, " ")+" ", tc.rules+" ") || x.NumGuards != tc.guards {
			t.Errorf("%q: %s, %s, %v, %d guards; want %s, %s, %s, %d", tc.path, x.What, x.Verdict, rules, x.NumGuards, tc.what, tc.verdict, tc.rules, tc.guards)
		}
		if guard := strings.HasSuffix(tc.path, "/_metadata"); x.Guard != guard {
			t.Errorf("%q: guard %v", tc.path, x.Guard)
		}
	}
}

// TestExplainNearest: guards of the job first, then of the root, then all others, and
// no more than a number of them.
func TestExplainNearest(t *testing.T) {
	t.Parallel()
	files := map[string]float64{
		"/r/j/" + viewA + "/chk-1/_metadata": 1, "/r/j/" + viewB + "/chk-1/_metadata": 20,
		"/r/k/" + viewA + "/chk-1/_metadata": 1, "/a/completedCheckpoint1": 5,
	}
	policy := "belts: {max_percent_of_root: 100%}\nroots: [{path: /r, layout: job-run, mode: execute}]\nwaive_guards: [{inode_id: 1, reason: x, expires: 2026-11-20}]\n"
	x := newViewed(t, policy, files).explain(t, "/r/j/"+viewB)
	var got []string
	for _, g := range x.Guards {
		got = append(got, g.Near+" "+string(g.Path))
	}
	want := []string{"job /r/j/" + viewA + "/chk-1/_metadata", "root /r/k/" + viewA + "/chk-1/_metadata", "elsewhere /a/completedCheckpoint1"}
	if !slices.Equal(got, want) || x.NumGuards != 3 || x.Guards[2].Kind != planfile.GuardHAPointer {
		t.Errorf("%q, %d", got, x.NumGuards)
	}
	for i := range 100 {
		files["/a/completedCheckpoint"+strconv.Itoa(1000+i)] = 5
	}
	if x := newViewed(t, policy, files).explain(t, "/r/j/"+viewB); x.NumGuards != 103 || len(x.Guards) != explainedGuards || x.Guards[0].Near != "job" {
		t.Errorf("%d, %d", x.NumGuards, len(x.Guards))
	}
}

// TestExplainEmptyGuards: a guard of 0 bytes guards nothing; an observed root moves
// nothing, so all that is in it is asked; a waived one says so until its last day.
func TestExplainEmptyGuards(t *testing.T) {
	t.Parallel()
	files := map[string]float64{"/r/j/" + viewA + "/chk-1/_metadata": 1, "/r/j/" + viewB + "/chk-1/_metadata": 20, "/a/completedCheckpoint1": 5, "/a/completedCheckpoint2": 5}
	var waived uint64
	empty := func(it *imagetest.Tree) {
		for _, n := range it.Nodes() {
			switch n.Name {
			case "completedCheckpoint1":
				n.Blocks = nil
			case "completedCheckpoint2":
				waived = n.ID
			}
		}
	}
	const policy = "belts: {max_percent_of_root: 100%}\nroots: [{path: /r, layout: job-run}]\n"
	newViewed(t, policy, files, empty)
	for day, note := range map[string]string{"20": "known", "19": ""} {
		v := newViewed(t, policy+"waive_guards: [{inode_id: "+strconv.FormatUint(waived, 10)+", reason: known, expires: 2026-11-"+day+"}]\n", files, empty)
		x := v.explain(t, "/r/j/"+viewB)
		if x.Verdict != view.Candidate || x.NumGuards != 3 || x.Guards[2].Waived != note {
			t.Errorf("%s: %s, %d, %+v", day, x.Verdict, x.NumGuards, x.Guards)
		}
	}
}

// TestExplainAgrees: for every path of the image, the explanation is that of the
// decision: what is in an item would go or is deferred, all else stays.
func TestExplainAgrees(t *testing.T) {
	t.Parallel()
	v := manyKinds(t)
	for _, n := range v.nodes {
		path := n.Path()
		if path == "" {
			continue
		}
		want := ""
		for _, i := range v.decision.Items {
			if i.Path.Holds(cleanup.Path(path)) {
				want = view.Candidate
			}
		}
		for _, i := range v.decision.Deferred {
			if i.Path.Holds(cleanup.Path(path)) {
				want = view.Deferred
			}
		}
		x := v.explain(t, path)
		swept := strings.HasSuffix(path, "/shared/old")
		switch moves := x.Verdict == view.Candidate || x.Verdict == view.Deferred; {
		case swept && x.Verdict == view.Candidate && x.Item.Conditional:
		case want != "" && x.Verdict != want, want == "" && moves, len(x.Reasons) == 0:
			t.Errorf("%q: %s, want %q; %v", path, x.Verdict, want, x.Reasons)
		}
		for _, r := range x.Reasons {
			if !r.Known() {
				t.Errorf("%q: no words for %s", path, r.Rule)
			}
		}
	}
}

// TestViewSchemas: what is made from an image is as the published schemas say.
func TestViewSchemas(t *testing.T) {
	t.Parallel()
	v := manyKinds(t)
	all := &view.Explanations{NowMs: viewTime.UnixMilli()}
	for _, n := range v.nodes {
		if path := n.Path(); path != "" {
			all.Paths = append(all.Paths, v.explain(t, path), v.explain(t, path+"/gone"))
		}
	}
	var plan, explained bytes.Buffer
	if err := view.JSON(&plan, v.plan(true)); err != nil {
		t.Fatal(err)
	}
	if err := view.ExplainJSON(&explained, all); err != nil {
		t.Fatal(err)
	}
	for text, b := range map[string]*bytes.Buffer{view.PlanSchema(): &plan, view.ExplainSchema(): &explained} {
		if err := schematest.Compile(t, text).Validate(schematest.Parse(t, b.Bytes())); err != nil {
			t.Error(err)
		}
	}
}

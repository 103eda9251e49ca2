package cleanup

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fsweep/proto/planfile"
)

// TestToKeep: the advice names what the rule and the layout look at, and nothing that
// the policy refuses there. Which keys a layout has is docs/policy.md's to say.
func TestToKeep(t *testing.T) {
	t.Parallel()
	keys := []string{"keep_within", "raise keep,", "min_age", "incomplete_checkpoints.older_than", "stale_checkpoints", "unreferenced_shared", "names", "the job", "live list", "its name", "in it", "beside it", "its run", "its job", "its root"}
	dirs := planfile.Totals{Directories: 1}
	grouped, mapped, none := &Job{Name: "j", Path: "/r/j"}, &Job{Name: "j", Mapped: true}, &Job{}
	for _, tc := range []struct {
		layout planfile.Layout
		job    *Job
		item   planfile.Item
		want   []string
	}{
		{planfile.LayoutJobRun, grouped, planfile.Item{Rule: "beyond_keep", Totals: dirs}, []string{"keep_within", "raise keep,", "min_age", "the job", "in it", "its job", "its root"}},
		{planfile.LayoutJobRun, grouped, planfile.Item{Rule: "beyond_keep", Totals: dirs, SplitOf: 5}, []string{"keep_within", "raise keep,", "min_age", "the job", "in it", "its run", "its job", "its root"}},
		{planfile.LayoutJobRun, grouped, planfile.Item{Rule: "incomplete_checkpoint", Totals: dirs}, []string{"incomplete_checkpoints.older_than", "in it", "its run", "its job", "its root"}},
		{planfile.LayoutRun, none, planfile.Item{Rule: "incomplete_checkpoint", Totals: dirs}, []string{"incomplete_checkpoints.older_than", "in it", "its run", "its root"}},
		{planfile.LayoutJobRun, grouped, planfile.Item{Rule: "unfinished_metadata"}, []string{"incomplete_checkpoints.older_than", "beside it", "its run", "its job", "its root"}},
		{planfile.LayoutJobRun, grouped, planfile.Item{Rule: "stale_checkpoint", Totals: dirs}, []string{"min_age", "stale_checkpoints", "in it", "its run", "its job", "its root"}},
		{planfile.LayoutRun, none, planfile.Item{Rule: "unreferenced_shared"}, []string{"min_age", "unreferenced_shared", "beside it", "its run", "its root"}},
		{planfile.LayoutRun, none, planfile.Item{Rule: "not_live", Totals: dirs}, []string{"min_age", "live list", "its name", "in it", "its root"}},
		{planfile.LayoutHAStorage, none, planfile.Item{Rule: "not_live", Totals: dirs}, []string{"min_age", "live list", "its name", "in it", "its root"}},
		{planfile.LayoutSavepoints, grouped, planfile.Item{Rule: "beyond_keep", Totals: dirs}, []string{"keep_within", "raise keep,", "min_age", "the job", "in it", "its job", "its root"}},
		{planfile.LayoutSavepoints, mapped, planfile.Item{Rule: "beyond_keep", Totals: dirs}, []string{"keep_within", "raise keep,", "min_age", "its name", "in it", "its root"}},
		{planfile.LayoutSavepoints, none, planfile.Item{Rule: "run_dead", Totals: dirs}, []string{"min_age", "live list", "its name", "in it", "its run", "its root"}},
		{planfile.LayoutChildren, none, planfile.Item{Rule: "old_child", Totals: dirs}, []string{"min_age", "names", "its name", "in it", "its root"}},
		// A file is no directory that a marker could lie in.
		{planfile.LayoutChildren, none, planfile.Item{Rule: "old_child", Totals: planfile.Totals{Files: 1}}, []string{"min_age", "names", "its name", "its root"}},
	} {
		text := toKeep(&Explanation{Root: &Root{Root: planfile.Root{Layout: tc.layout}}, Job: tc.job, Item: &Item{Item: tc.item}})
		var got []string
		for _, k := range keys {
			if regexp.MustCompile(`\b` + regexp.QuoteMeta(k) + `(\W|$)`).MatchString(text) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, tc.want) || !strings.HasPrefix(text, "pin it, set a keep marker (a file .fsweep-keep ") {
			t.Errorf("%s, %s: %s\n%q\nwant %q", tc.layout, tc.item.Rule, text, got, tc.want)
		}
	}
}

// TestUnknownLines: what an unknown entry keeps is named as the layout has it, and what
// stops the root too has one line alone.
func TestUnknownLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		layout planfile.Layout
		job    string
		want   string
	}{
		{planfile.LayoutJobRun, "j", "job"},
		{planfile.LayoutSavepoints, "j", "job"},
		{planfile.LayoutRun, "", "run"},
		{planfile.LayoutSavepoints, "", "savepoint"},
		{planfile.LayoutHAStorage, "", "cluster"},
	} {
		v := &Plan{Roots: seq(&Root{
			Root: planfile.Root{Path: "/r", Layout: tc.layout}, Misfits: []Misfit{{Path: "/r/c/x", InodeID: 5, Reason: "checkpoint_misplaced"}}, NumMisfits: 1,
			Jobs: seq(&Job{
				Name: planfile.Name(tc.job), Unknown: []Misfit{{Path: "/r/c/x", InodeID: 5, Reason: "unknown_directory"}, {Path: "/r/c/y", InodeID: 6, Reason: "unknown_file"}},
				NumUnknown: 2, Units: seq[*Unit](),
			}),
		})}
		var b bytes.Buffer
		if err := Text(&b, v, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.Count(text, "/r/c/x ") != 1 || !strings.Contains(text, "checkpoint_misplaced") || !strings.Contains(text, "unknown_file; nothing in its "+tc.want+" is planned\n") {
			t.Errorf("%s: %s", tc.layout, text)
		}
	}
}

// TestExplainCounts: of a root or a job it is said how many units would be moved, and
// of a file that belts were not asked about.
func TestExplainCounts(t *testing.T) {
	t.Parallel()
	root := &Root{Root: planfile.Root{Path: "/r", Layout: planfile.LayoutJobRun, Mode: planfile.ModeExecute}}
	counts := UnitCounts{Units: 1234, Kept: 1200, Moved: 30, Deferred: 4, Debris: 1, DebrisDeferred: 2, Swept: 3, Example: "/r/j/a\n"}
	swept := &Item{Item: planfile.Item{Kind: planfile.KindFile, Path: "/r/j/a/shared/f", Rule: "unreferenced_shared"}}
	var b bytes.Buffer
	if err := ExplainText(&b, &Explanations{Paths: []*Explanation{
		{Path: "/r", What: IsRoot, Exists: true, Root: root, Verdict: Keep, Reasons: []Reason{{Rule: "root_itself"}}, Units: &counts},
		{Path: "/r/k", What: IsJob, Exists: true, Root: root, Verdict: Keep, Reasons: []Reason{{Rule: "job_itself"}}, Units: &UnitCounts{Units: 1, Kept: 1, Example: "/r/k/b"}},
		{Path: swept.Path, What: IsItem, Exists: true, Root: root, Verdict: Candidate, Reasons: []Reason{{Rule: "unreferenced_shared"}}, Item: swept, BeltsOpen: true},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"verdict             KEEP itself; of what is in it, some would be moved\n",
		"units in it         1,234 units: 1,200 kept, 30 would be moved, 4 deferred\n",
		"                    in kept units 1 item of debris would be moved, 2 deferred\n",
		"                    of 3 directories in kept units, old files that nothing refers to would be moved\n",
		`for reasons         explain a unit, such as /r/j/a\n` + "\n",
		"verdict             KEEP\n", "units in it         1 unit: 1 kept, 0 would be moved, 0 deferred\n",
		"verdict             WOULD-DELETE: a candidate, if no belt defers it, which a plan tells, and the live cluster agrees\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

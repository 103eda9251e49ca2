package main_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
)

// explained is of an explanation what says what an item is.
type explained struct {
	Verdict string
	Unit    explainedUnit
	Item    *explainedItem
}

type explainedUnit struct {
	Path    string
	Verdict string
	Items   []explainedItem
	Reasons []explainedReason
}

type explainedItem struct {
	Path     string
	Inodes   int64
	Totals   planfile.Totals
	Deferred []explainedReason
}

type explainedReason struct {
	Rule  string
	Facts map[string]any
}

// TestExplainLargeRun: a run whose checkpoints are in a temporary file is explained with the
// same numbers as one with few: what is a checkpoint, has the totals of one.
func TestExplainLargeRun(t *testing.T) {
	program := buildProgram(t)
	for name, c := range map[string]struct {
		belts, root string
		newer       bool // a newer run, so that the other one goes, in parts
		stay        int
	}{
		"debris": {belts: largeBelts, root: "keep: 1, stale_checkpoints: {keep_newest: 3, older_than: 168h}", stay: 3},
		"parts":  {belts: "belts: {max_items: 5000000, max_inodes: 9000000, max_inodes_per_move: 100, max_percent_of_root: 100%}\n", root: "keep: 1", newer: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{900, 1100} {
				it := imagetest.NewTree()
				fill := func(run *imagetest.Node) {
					for k := 1; k <= n; k++ {
						chk := it.DirIn(run, fmt.Sprintf("chk-%d", k))
						it.FileIn(chk, "_metadata", 10)
						it.FileIn(chk, "state", uint64(k))
					}
				}
				run := "/r/job/" + largeRun
				if c.newer {
					run = fmt.Sprintf("/r/job/%032x", 1)
					largeRuns(it, 1, fill)
				} else {
					fill(it.Dir(run))
				}
				p := largePlan{tree: it, belts: c.belts, policy: "  - {path: /r, layout: job-run, mode: execute, " + c.root + "}\n"}
				p.write(t, t.TempDir())
				out, err := exec.CommandContext(t.Context(), program, p.command("explain", "--format", "json", run, run+"/chk-7", run+"/chk-7/state")...).Output()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				var all struct{ Explanations []explained }
				if err := json.Unmarshal(out, &all); err != nil {
					t.Fatal(err)
				}
				check := func(i *explainedItem, k int) {
					t.Helper()
					if want := (planfile.Totals{Files: 2, Directories: 1, Length: int64(10 + k)}); i == nil || i.Path != fmt.Sprintf("%s/chk-%d", run, k) ||
						i.Inodes != 3 || i.Totals.Files != want.Files || i.Totals.Directories != want.Directories || i.Totals.Length != want.Length || len(i.Deferred) > 0 {
						t.Fatalf("%d checkpoints: chk-%d is %+v", n, k, i)
					}
				}
				checkLargePlan(t, program, &p, all.Explanations[0].Unit, n-c.stay)
				items := all.Explanations[0].Unit.Items
				if len(items) != n-c.stay {
					t.Fatalf("%d checkpoints: %d items", n, len(items))
				}
				for k := range items {
					check(&items[k], n-c.stay-k)
				}
				for _, x := range all.Explanations[1:] {
					if check(x.Item, 7); !strings.HasPrefix(x.Verdict, "candidate") {
						t.Errorf("%d checkpoints: %s", n, x.Verdict)
					}
				}
			}
		})
	}
}

// checkLargePlan: a plan shows the same of the unit, and its summary has as many items as the
// plan itself.
func checkLargePlan(t *testing.T, program string, p *largePlan, want explainedUnit, items int) {
	t.Helper()
	if r := want.Reasons[0]; want.Verdict == "candidate" && (r.Facts["subtree_mtime_ms"] != float64(imagetest.DefaultTimeMs) || r.Facts["newer_in_job"] != 1.0) {
		t.Errorf("%+v", r)
	}
	file := filepath.Join(p.dir, "plan.jsonl")
	run := func(more ...string) []byte {
		out, err := exec.CommandContext(t.Context(), program, p.command("plan", append([]string{"-o", file}, more...)...)...).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return out
	}
	digits := fmt.Sprint(items)
	if items >= 1000 {
		digits = digits[:1] + "," + digits[1:]
	}
	if out := string(run()); !strings.Contains(out, "would be moved      "+digits+" items, ") || strings.Contains(out, "Nothing would be moved") {
		t.Errorf("not %s items: %s", digits, out[strings.Index(out, "Summary"):])
	}
	if got := plannedItems(t, file); got != int64(items) {
		t.Errorf("%d items in the plan, want %d", got, items)
	}
	var all struct {
		Roots []struct {
			Jobs []struct{ Units []explainedUnit }
		}
	}
	if err := json.Unmarshal(run("--format", "json", "--list-contents"), &all); err != nil {
		t.Fatal(err)
	}
	for _, got := range all.Roots[0].Jobs[0].Units {
		if got.Path != want.Path {
			continue
		}
		if len(got.Items) != items {
			t.Fatalf("%d items are shown, want %d", len(got.Items), items)
		}
		for i := range got.Items {
			got.Items[i].Totals.Space = 0 // only a plan knows it
		}
		w := want
		w.Items = slices.Clone(want.Items)
		for i := range w.Items {
			w.Items[i].Totals.Space = 0
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("explained, planned: %.2000s", diff)
		}
		return
	}
	t.Error("the unit is not shown")
}

package main_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
)

// explained is of an explanation what says what an item is.
type explained struct {
	Verdict string
	Unit    struct{ Items []explainedItem }
	Item    *explainedItem
}

type explainedItem struct {
	Path     string
	Inodes   int64
	Totals   planfile.Totals
	Deferred []struct{ Rule string }
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

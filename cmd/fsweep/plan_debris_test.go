package main

import (
	"fmt"
	"io"
	"testing"

	view "fsweep/reports/cleanup"
)

// TestPlanViewManyLines: what a run's lines take follows their number, not its square. Every
// line asks for the details of the run, which are those of all its items.
func TestPlanViewManyLines(t *testing.T) {
	allocations := func(n int) float64 {
		files := map[string]float64{fmt.Sprintf("/r/orders/%s/chk-%d/_metadata", viewA, n+1): 1}
		for i := range n {
			files[fmt.Sprintf("/r/orders/%s/chk-%d/part", viewA, i+1)] = 30
		}
		v := newViewed(t, "belts: {max_percent_of_root: 100%, max_items: 100000}\nroots:\n  - {path: /r, layout: job-run, mode: execute}\n", files)
		if items := len(v.decision.Items); items != n {
			t.Fatalf("%d items of %d unfinished checkpoints", items, n)
		}
		return testing.AllocsPerRun(1, func() {
			if err := view.Text(io.Discard, v.plan(false), view.TextOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocations(100), allocations(800)
	if many > 12*few {
		t.Errorf("%.0f allocations for 100 lines, %.0f for 800", few, many)
	}
}

package cleanup

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"fsweep/proto/planfile"
)

// TestLargeUnit: items and parts that come one by one are shown as those in memory are, in all
// forms. In JSON only blanks differ.
func TestLargeUnit(t *testing.T) {
	t.Parallel()
	items := func() (list []*Item) {
		for _, name := range []string{"chk-5", "chk-4", "chk-3"} {
			list = append(list, &Item{Item: planfile.Item{
				Kind: planfile.KindCheckpoint, Path: planfile.Path("/r/j/a/" + name), InodeID: 7, Entries: 3, Totals: planfile.Totals{Files: 2, Length: 20},
				Rule: "stale_checkpoint", Conditional: true,
			}})
		}
		list[1].Deferred = "max_items"
		return list
	}
	parts := []Part{{Name: "chk-6", InodeID: 6, Complete: "yes"}, {Name: "chk-5", InodeID: 5, Complete: "no"}, {Name: "shared", InodeID: 4}}
	unit := func(first int, firstPart int) *Unit {
		u := &Unit{Kind: "run", Path: "/r/j/a", InodeID: 3, Verdict: Keep, Reasons: []Reason{{Rule: "newest_complete"}}, Sweeps: []Sweep{{Path: "/r/j/a/shared", Planned: Files{1, 5}}}}
		u.Items, u.Parts = items()[:first], parts[firstPart:]
		if rest := items()[first:]; len(rest) > 0 {
			u.MoreItems = slices.Values(rest)
		}
		if firstPart > 0 {
			u.MoreParts = func(yield func(*Part) bool) {
				for i := range parts[:firstPart] {
					if !yield(&parts[i]) {
						return
					}
				}
			}
		}
		return u
	}
	show := func(first, firstPart int) [3]string {
		plan := func() *Plan {
			return &Plan{Roots: seq(&Root{Root: planfile.Root{Path: "/r", Mode: planfile.ModeExecute}, Jobs: seq(&Job{Name: "j", Units: seq(unit(first, firstPart))})})}
		}
		var text, list, answer bytes.Buffer
		explained := &Explanations{Paths: []*Explanation{{Path: "/r/j/a", What: IsUnit, Exists: true, Unit: unit(first, firstPart), Verdict: Keep}}}
		for _, err := range []error{
			Text(&text, plan(), TextOptions{ListContents: true}), JSON(&list, plan()), ExplainJSON(&answer, explained),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		out := [3]string{text.String()}
		for i, b := range []*bytes.Buffer{&list, &answer} {
			var compact bytes.Buffer
			if err := json.Compact(&compact, b.Bytes()); err != nil {
				t.Fatalf("%v: %s", err, b)
			}
			out[i+1] = compact.String()
		}
		return out
	}
	want := show(3, 0)
	for _, split := range [][2]int{{0, 0}, {2, 1}, {0, 2}, {3, 2}, {1, 3}} {
		if diff := gocmp.Diff(want, show(split[0], split[1])); diff != "" {
			t.Errorf("split at %v: %s", split, diff)
		}
	}
}

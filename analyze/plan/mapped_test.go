package plan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fsweep/analyze/cleanup"
)

// mappedWorld has savepoints of jobs of a map, of directories with the same names and
// others, and of none, in any order.
func mappedWorld(r *rand.Rand, rules string) *world {
	w := newWorld("belts: {max_items: 12, max_percent_of_root: 100%}\nroots:\n" +
		"  - {path: /a, layout: savepoints, keep: 1, keep_within: 0h, mode: execute" + rules + "}\n" +
		"  - {path: /sp, layout: savepoints, keep: 1, keep_within: 0h, job_map: map, mode: execute" + rules + "}\n" +
		"  - {path: /z, layout: savepoints, keep: 1, keep_within: 0h, job_map: map, mode: execute" + rules + "}\n")
	jobs := []string{"a", "b", "b b", "b-c", "d", "zz"}
	var text strings.Builder
	for i := range 6 {
		fmt.Fprintf(&text, "%06d %s\n", i+1, jobs[r.IntN(len(jobs))])
	}
	fmt.Fprintf(&text, "%s e\n999999 never\n", savepointName(9, 3))
	w.jobMap = map[cleanup.Path]string{"/sp": text.String(), "/z": text.String()}
	for i := range 20 + r.IntN(40) {
		root := []string{"/a", "/sp", "/sp", "/sp", "/z"}[r.IntN(5)]
		path := root + "/" + savepointName(r.IntN(10), i%7)
		if r.IntN(3) == 0 {
			path = root + "/" + []string{"a", "b", "b-a", "c", "never", "zzz"}[r.IntN(6)] + "/" + savepointName(i, 1)
		}
		w.put(path+"/_metadata", int64(300+r.IntN(30)), uint64(r.IntN(3)))
		if r.IntN(12) == 0 {
			w.put(path+"/odd/", 300)
		}
	}
	return w
}

func savepointName(digits, n int) string { return fmt.Sprintf("savepoint-%06d-%012x", digits, n) }

// TestMappedJobs: what a job map joins is decided about as if all of it were in memory, with
// which write compares; and the bytes do not depend on what goes to disk.
func TestMappedJobs(t *testing.T) {
	t.Parallel()
	items, ties := 0, 0
	for seed := range uint64(40) {
		rules := ""
		if seed%2 == 1 {
			rules = ", on_tie: stop"
		}
		var plans [][]byte
		for _, limit := range []int{0, 1, 2000} {
			w := mappedWorld(rand.New(rand.NewPCG(seed, 1)), rules)
			w.sortLimit, w.tempDir = limit, t.TempDir()
			m := w.write(t, 1)
			plans = append(plans, m.bytes)
			items += len(m.plan.items)
			for _, r := range m.decision.Roots {
				if slices.ContainsFunc(r.Stopped, func(f cleanup.Fact) bool { return f.Rule == cleanup.TieStops }) {
					ties++
				}
			}
		}
		if !bytes.Equal(plans[0], plans[1]) || !bytes.Equal(plans[0], plans[2]) {
			t.Errorf("seed %d: other bytes", seed)
		}
		if t.Failed() {
			t.Fatal(seed)
		}
	}
	if items < 200 || ties < 20 {
		t.Errorf("only %d items, %d roots with ties", items, ties)
	}
}

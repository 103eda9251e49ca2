package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/fsimage/imagetest"
)

// TestAsk: about every path, those that do not exist too, the answer is what a look through
// the decision in memory finds, whether or not all goes through temporary files.
func TestAsk(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	randomWorlds(t, 100, func(t *testing.T, w *world, again func() *world) {
		for _, limit := range []int{0, 1} {
			w := again()
			w.sortLimit, w.tempDir = limit, t.TempDir()
			r, m := w.request(t, 2)
			paths := []cleanup.Path{"/", "/nowhere"}
			for _, n := range w.it.Nodes() {
				if p := cleanup.Path(n.Path()); p != "" {
					paths = append(paths, p, p+"/nothing")
				}
			}
			a, err := Ask(t.Context(), r, paths)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			for n, q := range a.Asked {
				if q.Path != paths[n] {
					t.Fatalf("%q in place of %q", q.Path, paths[n])
				}
				got, want := showAsked(t, a, q), askDecision(m.decision, q.Path, seen)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("limit %d: %q: %s", limit, q.Path, diff)
				}
			}
			checkAskedGuards(t, a, m.decision, w.it, seen)
		}
	})
	t.Log(seen)
	for _, what := range []string{"root", "job", "unit", "item", "deferred", "sweeps", "many", "unknown", "guards that move"} {
		if seen[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
}

// showAsked shows an answer.
func showAsked(t *testing.T, a *Answers, q *Asked) (text []string) {
	t.Helper()
	if q.Root != nil {
		text = append(text, string(q.Root.Policy.Path))
	}
	if q.Job != nil {
		text = append(text, showJob(q.Root, q.Job), fmt.Sprintf("%d %+v", q.NumUnknown, q.Unknown))
	}
	if q.Counts != nil {
		c := *q.Counts
		c.sure = false
		text = append(text, fmt.Sprintf("%+v", c))
	}
	if q.Item != nil {
		text = append(text, showItems([]*cleanup.Item{q.Item}))
	}
	for _, s := range q.Sweeps {
		text = append(text, string(s.Path))
	}
	if q.Unit == nil {
		return text
	}
	u := *q.Unit
	u.Items = nil
	text = append(text, showUnit(&u))
	if q.Unit.Path != q.Path {
		return text
	}
	if err := a.EachItem(t.Context(), q, func(i *cleanup.Item) error {
		text = append(text, showItems([]*cleanup.Item{i})+showTotals(i))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && q.Unit.Many() {
		end := errors.New("enough")
		if err := a.EachItem(t.Context(), q, func(*cleanup.Item) error { return end }); err != nil && !errors.Is(err, end) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.EachItem(ctx, q, func(*cleanup.Item) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	return text
}

// showTotals shows those of a checkpoint.
func showTotals(i *cleanup.Item) string {
	if c := i.Checkpoint; c != nil && c.INodeID == i.INodeID {
		return fmt.Sprintf(" %+v", c.Totals)
	}
	return ""
}

// askDecision finds the same in a decision.
func askDecision(d *cleanup.Decision, path cleanup.Path, seen map[string]int) (text []string) {
	var root *cleanup.RootDecision
	for _, r := range d.Roots {
		if r.Policy.Path.Holds(path) && (root == nil || len(r.Policy.Path) > len(root.Policy.Path)) {
			root = r
		}
	}
	if root == nil {
		return nil
	}
	text = append(text, string(root.Policy.Path))
	var job *cleanup.JobDecision
	var unit *cleanup.UnitDecision
	for _, j := range root.Jobs {
		if j.Job.Grouped() && (root.Policy.Path + cleanup.Path("/"+j.Name)).Holds(path) {
			job = j
		}
		for _, u := range j.Units {
			if u.Path.Holds(path) {
				job, unit = j, u
			}
		}
	}
	if job != nil {
		text = append(text, showJob(root, job), showUnknown(job, seen))
	}
	counted := root.Jobs
	switch {
	case path == root.Policy.Path:
		seen["root"]++
	case job != nil && job.Job.Grouped() && path == root.Policy.Path+cleanup.Path("/"+job.Name):
		counted = []*cleanup.JobDecision{job}
		seen["job"]++
	default:
		counted = nil
	}
	if counted != nil || path == root.Policy.Path {
		text = append(text, fmt.Sprintf("%+v", countUnits(d, counted)))
	}
	if unit == nil {
		return text
	}
	return append(text, askUnit(d, unit, path, seen)...)
}

func showUnknown(j *cleanup.JobDecision, seen map[string]int) string {
	n, list := int64(0), []flink.Misfit(nil)
	if !j.Job.Grouped() {
		for _, u := range j.Units {
			n += u.Unit.NumUnknown
			list = append(list, u.Unit.Unknown...)
		}
	}
	seen["unknown"] += len(list)
	return fmt.Sprintf("%d %+v", n, list[:min(len(list), flink.MaxListed)])
}

func askUnit(d *cleanup.Decision, unit *cleanup.UnitDecision, path cleanup.Path, seen map[string]int) (text []string) {
	seen["unit"]++
	for _, i := range unit.Items {
		if i.Path.Holds(path) {
			text = append(text, showItems([]*cleanup.Item{i}))
			if seen["item"]++; len(i.Deferred) > 0 {
				seen["deferred"]++
			}
		}
	}
	for _, s := range d.Sweeps {
		if s.Unit == unit {
			text = append(text, string(s.Path))
			seen["sweeps"]++
		}
	}
	u := *unit
	u.Items = nil
	text = append(text, showUnit(&u))
	if unit.Path != path {
		return text
	}
	for _, i := range unit.Items {
		text = append(text, showItems([]*cleanup.Item{i})+showTotals(i))
	}
	if len(unit.Items) > 1 {
		seen["many"]++
	}
	return text
}

// countUnits says what becomes of the units of jobs.
func countUnits(d *cleanup.Decision, jobs []*cleanup.JobDecision) (c Counts) {
	var first, moved cleanup.Path
	for _, j := range jobs {
		for _, u := range j.Units {
			planned := int64(0)
			for _, i := range u.Items {
				if len(i.Deferred) == 0 {
					planned++
				}
			}
			if c.Units++; c.Units == 1 {
				first = u.Path
			}
			switch {
			case u.Verdict == cleanup.Keep:
				c.Kept++
				c.Debris += planned
				c.DebrisDeferred += int64(len(u.Items)) - planned
			case planned > 0:
				if c.Moved++; c.Moved == 1 {
					moved = u.Path
				}
			default:
				c.Deferred++
			}
			for _, s := range d.Sweeps {
				if s.Unit == u {
					c.Swept++
				}
			}
		}
	}
	if c.Example = first; c.Moved > 0 {
		c.Example = moved
	}
	return c
}

// checkAskedGuards: all guards come, by path, and those in what would be moved are said to be.
func checkAskedGuards(t *testing.T, a *Answers, d *cleanup.Decision, it *imagetest.Tree, seen map[string]int) {
	t.Helper()
	var want, got []string
	for _, n := range it.Nodes() {
		if n.Kind != imagetest.File || !flink.IsGuard([]byte(n.Name)) {
			continue
		}
		path := cleanup.Path(n.Path())
		moved := slices.ContainsFunc(d.Items, func(i *cleanup.Item) bool { return i.Root.Executable && i.Path.Holds(path) })
		want = append(want, fmt.Sprintf("%s\x00 %v", path, moved))
		if moved {
			seen["guards that move"]++
		}
	}
	slices.Sort(want)
	if err := a.EachGuard(t.Context(), func(_ *flink.Guard, path []byte, moved bool) error {
		got = append(got, fmt.Sprintf("%s\x00 %v", path, moved))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

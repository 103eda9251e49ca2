package cleanup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func all(d *Decision) []*Item { return slices.Concat(d.Items, d.Deferred) }

// inside tells whether a path is another or lies below it.
func inside(path, other string) bool { return strings.HasPrefix(path+"/", other+"/") }

// TestPlaces: no candidate outside its root or at a wrong depth.
func TestPlaces(t *testing.T) {
	t.Parallel()
	kinds := map[Kind]int{}
	randomWorlds(t, 5000, func(t *testing.T, _ *rand.Rand, w *world, _ func() *world) {
		for _, i := range all(w.decide(t)) {
			kinds[i.Kind]++
			rel, ok := strings.CutPrefix(string(i.Path), string(i.Root.Policy.Path)+"/")
			names := strings.Split(rel, "/")
			depth := len(names)
			if i.Root.Policy.Layout == JobRun {
				depth--
			}
			last := names[len(names)-1]
			switch i.Kind {
			case UnitItem:
				ok = ok && (depth == 1 || i.Root.Policy.Layout == Savepoints && depth == 2) && i.Root.Policy.Layout != Children && last == i.Unit.Unit.Name
			case ChildItem:
				ok = ok && depth == 1 && i.Root.Policy.Layout == Children
			case CheckpointItem:
				ok = ok && depth == 2 && strings.HasPrefix(last, "chk-") && i.ParentID == i.Unit.Unit.INodeID
			case FileItem:
				split := depth == 2 && (last == "shared" || last == "taskowned") && i.SplitOf == i.ParentID
				ok = ok && (split || depth == 3 && i.SplitOf == 0)
			}
			if !ok || i.INodeID == 0 || i.ParentID == 0 || i.Inodes <= 0 {
				t.Errorf("%+v", i)
			}
		}
	})
	t.Log(kinds)
	if len(kinds) != 4 {
		t.Error("a kind is missing")
	}
}

// TestDisjoint: no candidate is in another.
func TestDisjoint(t *testing.T) {
	t.Parallel()
	randomWorlds(t, 5000, func(t *testing.T, _ *rand.Rand, w *world, _ func() *world) {
		list := all(w.decide(t))
		for i, a := range list {
			for j, b := range list {
				if i != j && inside(string(a.Path), string(b.Path)) {
					t.Errorf("%s is in %s", a.Path, b.Path)
				}
			}
		}
	})
}

// TestNothingNamedIsMoved: nothing that is kept, live, pinned, protected, marked or
// of constant id lies in a candidate, nor does a candidate lie in it; and the newest
// complete run of a job is none.
func TestNothingNamedIsMoved(t *testing.T) {
	t.Parallel()
	randomWorlds(t, 5000, func(t *testing.T, _ *rand.Rand, w *world, _ func() *world) {
		d := w.decide(t)
		units := naiveUnits(w)
		for _, i := range all(d) {
			for k := range units {
				n := &units[k]
				whole := n.named() || n.byAgeNever() || n.unit.Marked || n.unit.MarkedInside || n.job.Marked || n.root.Marked || !n.unit.Selected
				switch path := string(i.Path); {
				case whole && (inside(path, n.path) || inside(n.path, path)):
					t.Errorf("%s: %s", path, n.path)
				case inside(n.path, path) && (n.kept(units) || n.newestComplete(units)):
					t.Errorf("%s holds what is kept, %s", path, n.path)
				}
			}
		}
		for _, r := range d.Roots {
			if len(r.Stopped) > 0 && slices.ContainsFunc(all(d), func(i *Item) bool { return i.Root == r }) {
				t.Errorf("%s is stopped: %v", r.Policy.Path, r.Stopped)
			}
		}
	})
}

func (n *naiveUnit) newestComplete(all []naiveUnit) bool {
	for _, o := range all {
		if n.mate(&o) && o.unit.Times.NewestMetadataMs > n.unit.Times.NewestMetadataMs {
			return false
		}
	}
	return n.group != "" && n.unit.Times.HasMetadata
}

// TestMonotone: an exclude, a pin, a live id, a larger min_age, keep or keep_within,
// or a protected path never adds a candidate: each lies in one of before.
func TestMonotone(t *testing.T) {
	t.Parallel()
	fewer := 0
	randomWorlds(t, 10000, func(t *testing.T, r *rand.Rand, w *world, again func() *world) {
		before, next := w.decide(t), again()
		what := next.tighten(r)
		after := next.decide(t)
		if stopped(before) && strings.HasPrefix(what, "exclude") {
			return // it can be what stopped a root
		}
		for _, i := range all(after) {
			if !slices.ContainsFunc(all(before), func(b *Item) bool { return inside(string(i.Path), string(b.Path)) }) {
				// A run that was split is no item before, but all of it was to go.
				if a := explain(before, i.Path); a.Unit == nil || a.Unit.Verdict != Candidate {
					t.Errorf("%s adds %s", what, i.Path)
				}
			}
		}
		if len(all(after)) < len(all(before)) {
			fewer++
		}
	})
	if t.Log(fewer, "took something away"); fewer < 50 && !testing.Short() {
		t.Error("too few")
	}
}

func stopped(d *Decision) bool {
	return slices.ContainsFunc(d.Roots, func(r *RootDecision) bool { return len(r.Stopped) > 0 })
}

// tighten makes one change that may only keep more.
func (w *world) tighten(r *rand.Rand) string {
	policy := &w.p.Roots[r.IntN(len(w.p.Roots))]
	switch r.IntN(8) {
	case 0:
		name := Name(pick(r, slices.Concat(someJobs, someNames, someRuns)))
		policy.ExcludeJobs = append(policy.ExcludeJobs, name)
		return fmt.Sprint("exclude ", name)
	case 1:
		w.in.Pins = append(w.in.Pins, randomPath(r, w))
		return fmt.Sprint("pin ", w.in.Pins)
	case 2:
		w.p.Protect = append(w.p.Protect, randomPath(r, w))
		return fmt.Sprint("protect ", w.p.Protect)
	case 3:
		if len(w.in.Live) > 0 {
			w.in.Live[0].IDs = append(w.in.Live[0].IDs, pick(r, someRuns))
			w.in.Live[0].Clusters = append(w.in.Live[0].Clusters, pick(r, someJobs))
		}
		return "live"
	case 4:
		w.in.SeenLive = append(w.in.SeenLive, pick(r, someRuns))
		return "seen"
	case 5:
		policy.MinAge += Duration(r.IntN(20)) * 24 * hour
		return "min_age"
	case 6:
		if policy.Groups() {
			policy.Keep += Count(r.IntN(3))
		}
		return "keep"
	default:
		if policy.Groups() {
			policy.KeepWithin += Duration(r.IntN(20)) * 24 * hour
		}
		return "keep_within"
	}
}

// TestOrderDoesNotMatter: nor does anything change in what is given.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	show := func(d *Decision) (out []string) {
		for _, i := range d.Items {
			out = append(out, fmt.Sprint("item ", i.Kind, i.Path, i.Rule, i.AppendFacts(nil), i.Inodes))
		}
		for _, i := range d.Deferred {
			out = append(out, fmt.Sprint("deferred ", i.Kind, i.Path, i.Rule, i.Deferred))
		}
		for _, s := range d.Sweeps {
			out = append(out, fmt.Sprint("sweep ", s.Path, s.BeforeMs))
		}
		for _, r := range d.Roots {
			out = append(out, fmt.Sprint("root ", r.Policy.Path, r.Executable, len(r.Stopped)))
			for _, j := range r.Jobs {
				out = append(out, fmt.Sprint("job ", j.Name, j.Mapped))
				for _, u := range j.Units {
					out = append(out, fmt.Sprint("unit ", u.Path, u.Verdict, u.Rule, len(u.Keeps)))
				}
			}
		}
		return out
	}
	randomWorlds(t, 5000, func(t *testing.T, r *rand.Rand, w *world, again func() *world) {
		other := again()
		other.shuffle(r)
		if diff := cmp.Diff(show(w.decide(t)), show(other.decide(t))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestBeltsHold: what is planned in each mode never exceeds a belt.
func TestBeltsHold(t *testing.T) {
	t.Parallel()
	randomWorlds(t, 5000, func(t *testing.T, _ *rand.Rand, w *world, _ func() *world) {
		d, b := w.decide(t), w.p.Belts
		for _, mode := range []bool{true, false} {
			var items, inodes, bytes int64
			for _, i := range d.Items {
				if i.Root.Executable == mode {
					items, inodes, bytes = items+1, inodes+i.Inodes, bytes+i.Bytes
				}
				if i.Inodes > int64(b.MaxInodesPerMove) || len(i.Deferred) > 0 {
					t.Errorf("%+v", i)
				}
			}
			if items > int64(b.MaxItems) || inodes > int64(b.MaxInodes) || b.MaxBytes > 0 && bytes > int64(b.MaxBytes) {
				t.Error(items, inodes, bytes, b)
			}
		}
		for _, r := range d.Roots {
			var inodes int64
			for _, i := range d.Items {
				if i.Root == r {
					inodes += i.Inodes
				}
			}
			if inodes*100 > r.Root.Totals.Directories*int64(b.MaxPercentOfRoot) {
				t.Error(r.Policy.Path, inodes)
			}
		}
		for _, i := range d.Deferred {
			if len(i.Deferred) == 0 {
				t.Errorf("%s without a reason", i.Path)
			}
		}
	})
}

package cleanup

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/analyze/flink"
)

func naivePath(root *flink.Root, j *flink.Job, u *flink.Unit) string {
	parts := []string{string(root.Path), j.Name, u.Name}
	if j.Name == "" {
		parts = []string{string(root.Path), u.Name}
	}
	return strings.Join(parts, "/")
}

// naiveUnit is a unit as somebody would look at it who reads section 6 line by line
// and compares every unit with every other one.
type naiveUnit struct {
	w      *world
	root   *flink.Root
	policy *Root
	job    *flink.Job
	unit   *flink.Unit
	path   string
	group  string // empty: none
}

func naiveUnits(w *world) (all []naiveUnit) {
	for _, root := range w.d.Roots {
		for i := range w.p.Roots {
			policy := &w.p.Roots[i]
			if string(policy.Path) != string(root.Path) {
				continue
			}
			for _, j := range root.Jobs {
				for _, u := range j.Units {
					n := naiveUnit{w, root, policy, j, u, naivePath(root, j, u), ""}
					m := w.in.JobMaps[policy.Path]
					switch {
					case policy.Layout != JobRun && policy.Layout != Savepoints:
					case j.Name != "":
						n.group = "directory " + j.Name
					case m != nil && m.dirs[u.Name] != "":
						n.group = "map " + m.dirs[u.Name]
					case m != nil && m.runs[strings.Split(u.Name, "-")[1]] != "":
						n.group = "map " + m.runs[strings.Split(u.Name, "-")[1]]
					}
					all = append(all, n)
				}
			}
		}
	}
	return all
}

func age(ms int64) time.Duration { return now.Sub(time.UnixMilli(ms)) }

func (n *naiveUnit) known() bool {
	t := n.unit.Times
	return t.UnknownMTimes == 0 && t.Newest.Ms > 0 && age(t.Newest.Ms) >= 0 && age(t.NewestMetadataMs) >= 0
}

// kept tells whether anything speaks for keeping, leaving aside what stops roots.
func (n *naiveUnit) kept(all []naiveUnit) bool {
	u, f, minAge := n.unit, n.unit.Flags, time.Duration(n.policy.MinAge)
	return n.root.Marked || n.job.Marked || u.Marked || u.MarkedInside || !u.Selected ||
		f.Quota || f.QuotaInside || f.SnapshotsInside || f.EncryptionZone || u.OpenFiles > 0 || !n.known() ||
		age(u.Times.Newest.Ms) <= minAge || u.Times.NewestDataATimeMs > 0 && age(u.Times.NewestDataATimeMs) <= minAge ||
		n.named() || n.unknownEntry(all) || n.byAgeNever() || n.mayRestore(all) || n.byJob(all)
}

// named: pinned, protected or live.
func (n *naiveUnit) named() bool {
	for _, list := range [][]Path{n.w.in.Pins, n.w.p.Protect} {
		for _, p := range list {
			if strings.HasPrefix(string(p)+"/", n.path+"/") || strings.HasPrefix(n.path+"/", string(p)+"/") {
				return true
			}
		}
	}
	return n.lives()
}

func (n *naiveUnit) lives() bool {
	for _, l := range n.w.in.Live {
		for _, id := range l.IDs {
			if n.unit.Kind == flink.RunUnit && id == n.unit.Name {
				return true
			}
		}
		for _, c := range l.Clusters {
			if n.unit.Kind == flink.ClusterUnit && c == n.unit.Name {
				return true
			}
		}
	}
	return false
}

func (n *naiveUnit) unknownEntry(all []naiveUnit) bool {
	for _, o := range all {
		if o.unit.NumUnknown > 0 && (o.unit == n.unit || n.mate(&o)) {
			return true
		}
	}
	return n.job.NumUnknown > 0
}

// mate tells whether two units are of one job.
func (n *naiveUnit) mate(o *naiveUnit) bool {
	return n.group != "" && n.group == o.group && n.root == o.root
}

func (n *naiveUnit) byAgeNever() bool {
	if n.unit.Kind != flink.RunUnit {
		return false
	}
	return slices.Contains(n.w.in.SeenLive, n.unit.Name) || strings.HasSuffix(n.unit.Name, strings.Repeat("0", 16))
}

func (n *naiveUnit) mayRestore(all []naiveUnit) bool {
	for _, o := range all {
		if n.policy.Layout == JobRun && n.mate(&o) && !o.unit.Times.HasMetadata &&
			(o.lives() || !o.known() || age(o.unit.Times.Newest.Ms) <= time.Duration(n.w.p.GuardAge)) {
			return true
		}
	}
	return false
}

// byJob is the rule of keep.
func (n *naiveUnit) byJob(all []naiveUnit) bool {
	t := n.unit.Times
	if n.group == "" {
		return n.policy.Layout == Savepoints && (!n.dead() || n.policy.KeepWithin > 0 && age(t.Newest.Ms) <= time.Duration(n.policy.KeepWithin))
	}
	newerMetadata, newerSubtree, newerFile, fileAfter, files, complete, newestComplete := 0, 0, 0, 0, 0, 0, int64(0)
	for _, o := range all {
		if !n.mate(&o) || !o.known() {
			continue
		}
		if o.unit.Times.HasMetadata {
			complete++
			newestComplete = max(newestComplete, o.unit.Times.NewestMetadataMs)
			if o.unit.Times.NewestMetadataMs > t.NewestMetadataMs {
				newerMetadata++
			}
		}
		if o.unit.Times.Rank.Ms > t.Rank.Ms {
			newerSubtree++
		}
		if o.unit.Skeleton {
			continue
		}
		files++
		if o.unit.NewestFile.Ms > n.unit.NewestFile.Ms {
			newerFile++
		}
		if o.unit.NewestFile.Ms > t.Rank.Ms {
			fileAfter++
		}
	}
	keep := int(n.policy.Keep)
	return t.HasMetadata && newerMetadata < keep || newerSubtree < keep || !n.unit.Skeleton && newerFile < keep || !n.unit.Skeleton && fileAfter < min(keep, files) ||
		complete == 0 && !n.unit.Skeleton || complete > 0 && max(t.Newest.Ms, t.NewestMetadataMs) >= newestComplete ||
		n.policy.KeepWithin > 0 && age(t.Newest.Ms) <= time.Duration(n.policy.KeepWithin)
}

// dead tells whether the run of a savepoint is known dead.
func (n *naiveUnit) dead() bool {
	digits := strings.Split(n.unit.Name, "-")[1]
	if digits == "000000" || digits == "ffffff" || len(n.w.in.Live) == 0 {
		return false
	}
	for _, id := range append(append([]string{}, n.w.in.Live[0].IDs...), n.w.in.SeenLive...) {
		if strings.HasPrefix(id, digits) {
			return false
		}
	}
	return true
}

// TestAgreesWithNaive: where no root is stopped, exactly what nothing speaks for is
// a candidate.
func TestAgreesWithNaive(t *testing.T) {
	t.Parallel()
	kept, candidates := 0, 0
	randomWorlds(t, 20000, func(t *testing.T, _ *rand.Rand, w *world, _ func() *world) {
		d := w.decide(t)
		all := naiveUnits(w)
		for i := range all {
			n := &all[i]
			a := explain(d, Path(n.path))
			if a.Unit == nil || a.Unit.Unit != n.unit {
				t.Fatalf("%s is lost", n.path)
			}
			if len(a.Root.Stopped) > 0 {
				continue
			}
			want := n.kept(all)
			if (a.Unit.Verdict == Keep) != want {
				t.Errorf("%s, %s: %v for %v, want kept %v", n.path, n.policy.Layout, a.Unit.Verdict, a.Unit.Keeps, want)
			}
			if want {
				kept++
			} else {
				candidates++
			}
		}
	})
	t.Log(kept, "kept", candidates, "candidates")
	if !testing.Short() && (kept < 1000 || candidates < 1000) {
		t.Error("too few")
	}
}

package flink

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	if os.Getenv("FSWEEP_RANDOM_SEED") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Names that the levels of the layouts have; sometimes one of another level is
// taken.
var (
	jobNames   = []string{"job", "a b", "100%", "*", "[x]", "zażółć", "new\nline", "bad\xff\xfeutf", "-rf", "'q\"", "chk-", "job*"}
	runNames   = []string{runA, runB, "01234567-89ab-cdef-0123-456789abcdef", "ffffffff8e2d96d90000000000000000"}
	runParts   = []string{"chk-1", "chk-2", "chk-10", "shared", "taskowned", "dstl", "chk-1", "shared"}
	stateNames = []string{"_metadata", "_metadata", "._metadata.inprogress.9f", "_metadata.inprogress", "f1", "f2", "f 3", "f\n4", "job_1_op_2", "op_X", MarkerName}
	savepoints = []string{sp1, sp2, "savepoint-ffffff-0123456789ab", "savepoint-mine"}
	haNames    = []string{"completedCheckpoint0123456789ab", "completedCheckpointxyz", "submittedJobGraph1", "submittedExecutionPlan1", "submittedApplication1", "blob", "job_1"}
	oddNames   = []string{"chk-007", "chk-1", "README", "_entropy_", ".Trash", "job-result-store", "application-result-store", "dstl", "blob", "shared", MarkerName, "_metadata", runA, sp1, "completedCheckpoint"}
	tmpNames   = []string{"spark-1", "spark-2", "a[1]", "other", "spark"}
)

func levels(l Layout) [][]string {
	switch l {
	case JobRun:
		return [][]string{jobNames, runNames, runParts, stateNames, stateNames}
	case RunLayout:
		return [][]string{slices.Concat(runNames, jobNames), runParts, stateNames, stateNames}
	case Savepoints:
		return [][]string{slices.Concat(jobNames, savepoints, savepoints), slices.Concat(savepoints, savepoints, stateNames), stateNames}
	case HAStorage:
		return [][]string{append(slices.Clone(jobNames), "job-result-store"), haNames, haNames}
	default:
		return [][]string{tmpNames, stateNames, stateNames[4:], stateNames[4:]}
	}
}

// grow adds random entries to a directory.
func grow(r *rand.Rand, t *imagetest.Tree, dir *imagetest.Node, levels [][]string, level int) {
	used := map[string]bool{}
	for range r.IntN(5) {
		list := levels[min(level, len(levels)-1)]
		if r.IntN(8) == 0 {
			list = oddNames
		}
		name := list[r.IntN(len(list))]
		if used[name] {
			continue
		}
		used[name] = true
		isFile := level >= len(levels)-1 || r.IntN(10) == 0
		switch name {
		case "_metadata", MarkerName, haNames[0], haNames[1], haNames[2], haNames[3], haNames[4]:
			isFile = r.IntN(10) > 0
		case "chk-1", "chk-2", "chk-10", "shared", "taskowned", "dstl", "blob", "op_X":
			isFile = r.IntN(10) == 0
		}
		var n *imagetest.Node
		switch {
		case isFile && r.IntN(12) == 0:
			t.Symlink("/tmplink", "/x")
			n = t.Root.Children[len(t.Root.Children)-1]
			t.Detach(n)
			n.Name, n.Parent = name, dir
			dir.Children = append(dir.Children, n)
		case isFile:
			n = t.FileIn(dir, name)
			if r.IntN(4) > 0 {
				n.Blocks = append(n.Blocks, t.Block(r.Uint64N(100)))
			}
		default:
			n = t.DirIn(dir, name)
			if level < 6 {
				grow(r, t, n, levels, level+1)
			}
		}
		n.MTimeMs = base + r.Int64N(40)
		if r.IntN(20) == 0 {
			n.MTimeMs = r.Int64N(3) - 1
		}
		n.ATimeMs = base + r.Int64N(40)
		if n.Kind != imagetest.Symlink && r.IntN(40) == 0 {
			n.XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
		}
	}
}

// TestEqualsNaive: on random trees of every layout, with names of every kind, a
// walk written from a list of paths gives the same units, sums, misfits, unknown
// entries and guards; and the result is the same for any number of workers.
func TestEqualsNaive(t *testing.T) {
	r := newRand(t, 20261129)
	rounds := 600
	if testing.Short() {
		rounds = 150
	}
	total, dirOfTest := map[string]int{}, t.TempDir()
	for round := range rounds {
		layout := Layout(1 + round%5)
		it := imagetest.NewTree()
		dir := it.Dir("/data/root")
		grow(r, it, dir, levels(layout), 0)
		grow(r, it, it.Dir("/data"), levels(layout), 0)
		d := decl(layout, "/data/root")
		if r.IntN(3) == 0 {
			d.Ignore = []string{"README", "_metadata", MarkerName, "chk-1"}
		}
		if c := dir.Children; len(c) > 0 && r.IntN(3) == 0 && c[0].Kind == imagetest.Directory && !slices.Contains(d.Ignore, c[0].Name) {
			d.ExcludeJobs = []string{c[0].Name}
		}
		if layout == Children {
			d.Names = []string{"spark-*", "a[1]", "f?"}
		}
		it.Buckets = r.IntN(3) * 16
		image := it.Image()
		image.SubSections = r.IntN(3)
		tree := loadImage(t, image, fsimage.WithBuffer(64<<r.IntN(6)))
		var first *Discovery
		for _, workers := range []int{1, 2, 5} {
			o := Options{Workers: workers}
			if workers > 1 {
				o.SortLimit, o.TempDir = 1, dirOfTest // everything goes to disk
			}
			got, err := Discover(t.Context(), tree, []Declaration{d}, o)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			} else if diff := gocmp.Diff(first.Roots, got.Roots) + gocmp.Diff(first.Guards, got.Guards); diff != "" {
				t.Fatalf("round %d, %d workers: %s", round, workers, diff)
			}
		}
		compareNaive(t, first, newNaive(d, listing(it)), total)
		if t.Failed() {
			for _, e := range listing(it) {
				t.Logf("%d %q", e.kind, e.path())
			}
			t.Fatalf("round %d: %+v", round, d)
		}
	}
	t.Log(total)
	for _, what := range []string{"units", "misfits", "unknown", "guards", "checkpoints"} {
		if total[what] < rounds/10 {
			t.Errorf("only %d %s", total[what], what)
		}
	}
}

func compareNaive(t *testing.T, d *Discovery, n *naive, total map[string]int) {
	t.Helper()
	root := d.Roots[0]
	got := map[string]*naiveUnit{}
	unknown := map[string]bool{}
	for _, j := range root.Jobs {
		for _, m := range j.Unknown {
			unknown[string(m.Path)] = true
		}
		for _, u := range j.Units {
			got[string(d.index.t.AppendPath(nil, u.Dir))] = shown(u)
			for _, m := range u.Unknown {
				unknown[string(m.Path)] = true
			}
			total["checkpoints"] += len(u.Checkpoints)
		}
	}
	if diff := gocmp.Diff(n.units, got); diff != "" {
		t.Errorf("units: %s", diff)
	}
	misfits := map[string]bool{}
	for _, m := range root.Misfits {
		misfits[string(m.Path)] = true
	}
	for what, c := range map[string]struct{ want, got map[string]bool }{"misfits": {n.misfits, misfits}, "unknown": {n.unknown, unknown}} {
		want, have := slices.Sorted(maps.Keys(c.want)), slices.Sorted(maps.Keys(c.got))
		if diff := gocmp.Diff(want, have); diff != "" {
			t.Errorf("%s: %s\n%q", what, diff, texts(root.Misfits))
		}
		total[what] += len(have)
	}
	var guards []string
	for _, g := range d.Guards {
		guards = append(guards, fmt.Sprintf("%s %d %d", d.AppendPath(nil, &g), g.Length, g.MTimeMs))
	}
	slices.SortFunc(guards, cmp.Compare)
	if diff := gocmp.Diff(naiveGuards(n.all), guards); diff != "" {
		t.Errorf("guards: %s", diff)
	}
	total["units"] += len(got)
	total["guards"] += len(guards)
}

// shown is a unit as the naive model has it.
func shown(u *Unit) *naiveUnit {
	n := &naiveUnit{
		Files: u.Totals.Files, Dirs: u.Totals.Directories, Links: u.Totals.Symlinks, Length: u.Totals.Length,
		Newest: u.Times.Newest.Ms, Oldest: u.Times.OldestMs, Rank: u.Times.Rank.Ms, ATime: u.Times.NewestDataATimeMs, Odd: u.Times.UnknownMTimes,
		Marked: u.Marked, MarkedInside: u.MarkedInside, Skeleton: u.Skeleton, NewestMetadata: u.Times.NewestMetadataMs, Pointers: u.Pointers,
	}
	if u.Times.Rank.Place == NoPlace {
		n.Rank = -1 << 62
	}
	if n.File = u.NewestFile.Ms; u.NewestFile.Place == NoPlace {
		n.File = -1 << 62
	}
	if !u.Times.HasMetadata {
		n.NewestMetadata = -1 << 62
	}
	for _, c := range u.Checkpoints {
		length := int64(-1)
		if c.Metadata != nil {
			length = c.Metadata.Length
		}
		n.Checkpoints = append(n.Checkpoints, fmt.Sprintf("chk-%d %d files, %d bytes, %d open, metadata %d", c.N, c.Totals.Files, c.Totals.Length, len(c.InProgress), length))
	}
	slices.Sort(n.Checkpoints)
	return n
}

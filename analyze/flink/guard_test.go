package flink

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// TestGuards: they are found anywhere in the image, whatever the roots.
func TestGuards(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(),
		"/_metadata", "/a b/_metadata", "/a/_metadata", "/user/x/.Trash/Current/r/chk-1/_metadata", "/r/ignored/_metadata", "/r/excluded/_metadata",
		"/ha/c/completedCheckpoint0123456789ab", "/ha/c/submittedJobGraph01", "/ha/c/submittedExecutionPlan01", "/ha/c/submittedApplication01",
		// None of these:
		"/d/_metadata/", "/e/_metadata -> /x", "/f/_metadata2", "/f/x_metadata", "/f/._metadata.inprogress.1", "/f/completed", "/f/submittedJob", "/g/completedCheckpoint/",
	)
	n := it.File("/open/_metadata", 7, 8).Own("flink", "ops", 0o640)
	n.Open, n.MTimeMs = &imagetest.Open{}, base+5
	it.File("/empty/_metadata")
	it.FileIn(it.DirIn(it.Dir("/odd"), "x/y"), "_metadata", 1)
	gone := it.File("/snap/gone/_metadata", 1)
	it.Snapshot(it.Dir("/snap"), 1, "s")
	it.Detach(gone.Parent) // only a snapshot would have it
	for _, roots := range [][]Declaration{nil, {decl(JobRun, "/r", ignore("ignored"), exclude("excluded"))}, {decl(Children, "/a", names("*"))}} {
		var got []string
		d := discover(t, load(t, it), roots...)
		for _, g := range d.Guards {
			got = append(got, fmt.Sprintf("%s %v %d %s %v", d.AppendPath(nil, &g), g.Kind, g.Length, g.Owner, g.Open))
			if g.INodeID == n.ID && (g.MTimeMs != base+5 || d.index.t.ID(g.Parent) != n.Parent.ID) {
				t.Errorf("%+v", g)
			}
		}
		if diff := cmp.Diff([]string{
			fmt.Sprintf("/.reserved/.inodes/%d/_metadata metadata 1 hdfs false", it.Dir("/odd").Children[0].ID),
			"/_metadata metadata 10 hdfs false",
			"/a b/_metadata metadata 10 hdfs false",
			"/a/_metadata metadata 10 hdfs false",
			"/empty/_metadata metadata 0 hdfs false",
			"/ha/c/completedCheckpoint0123456789ab checkpoint-pointer 10 hdfs false",
			"/ha/c/submittedApplication01 job-pointer 10 hdfs false",
			"/ha/c/submittedExecutionPlan01 job-pointer 10 hdfs false",
			"/ha/c/submittedJobGraph01 job-pointer 10 hdfs false",
			"/open/_metadata metadata 15 flink true",
			"/r/excluded/_metadata metadata 10 hdfs false",
			"/r/ignored/_metadata metadata 10 hdfs false",
			"/user/x/.Trash/Current/r/chk-1/_metadata metadata 10 hdfs false",
		}, got); diff != "" {
			t.Errorf("%v: %s", roots, diff)
		}
	}
}

// TestImpossibleNames: what no client can make is never a unit, and never in one
// unnoticed.
func TestImpossibleNames(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), slices.Concat(runAt("/r/job/"+runA), runAt("/r/job/"+runB))...)
	job := it.DirIn(it.Dir("/r"), "a/b")
	run := it.DirIn(it.Dir("/r/job"), "..")
	it.DirIn(run, "shared")
	file := it.FileIn(it.Dir("/r/job/"+runA+"/shared"), "x/y")
	dir := it.DirIn(it.Dir("/r/job/"+runA), ".snapshot")
	// Two directories, and two jobs, of one name.
	again := it.DirIn(it.Dir("/r/job"), runB)
	it.Dir("/r/twice")
	twice := it.DirIn(it.Dir("/r"), "twice")
	tree := load(t, it)
	d := discover(t, tree, decl(JobRun, "/r"))
	r := d.Roots[0]
	inode := func(n *imagetest.Node) string { return fmt.Sprintf("/.reserved/.inodes/%d", n.ID) }
	if diff := cmp.Diff([]string{
		"impossible_name " + inode(job), "impossible_name " + inode(run),
		"ambiguous_name /r/job/" + runB, "ambiguous_name /r/job/" + runB, "ambiguous_name /r/twice", "ambiguous_name /r/twice",
	}, texts(r.Misfits)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"impossible_name " + inode(file), "impossible_name " + inode(dir)}, texts(r.Jobs[0].Units[0].Unknown)); diff != "" {
		t.Error(diff)
	}
	if len(r.Jobs) != 1 || len(r.Jobs[0].Units) != 1 || again.ID == 0 || twice.ID == 0 {
		t.Errorf("%+v", r.Jobs)
	}
	// A root that two directories are: the first counts, and it is stopped.
	it = plant(imagetest.NewTree(), "/r/job/")
	it.DirIn(it.Dir("/"), "r")
	if r := discover(t, load(t, it), decl(JobRun, "/r")).Roots[0]; !slices.Equal(texts(r.Misfits), []string{"ambiguous_name /r"}) || r.INodeID != it.Dir("/r").ID {
		t.Errorf("%s", texts(r.Misfits))
	}
}

// TestManyJobs: 100,000 jobs with a run each, and ten times as many files, take
// memory for directories only.
func TestManyJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("makes an image of 1.5 million inodes")
	}
	const jobs, filesEach = 100_000 / raceFactor, 10
	it := imagetest.NewTree()
	root := it.Dir("/r")
	for i := range jobs {
		run := it.DirIn(it.DirIn(root, fmt.Sprintf("job-%06d", (i*7919)%jobs)), fmt.Sprintf("%032x", i+1))
		chk := it.DirIn(run, "chk-7")
		it.FileIn(chk, "_metadata", 10)
		shared := it.DirIn(run, "shared")
		it.DirIn(run, "taskowned")
		for k := range filesEach - 1 {
			it.FileIn(shared, fmt.Sprint(k), 1)
		}
	}
	tree := load(t, it, fsimage.WithBuffer(1<<20))
	before := heap()
	began := time.Now()
	d, err := Discover(t.Context(), tree, []Declaration{decl(JobRun, "/r")}, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	used := heap() - before
	r := d.Roots[0]
	if r.NumMisfits != 0 || len(r.Jobs) != jobs || len(d.Guards) != jobs || r.Jobs[77].Name != "job-000077" || r.Jobs[77].Units[0].Totals.Files != filesEach {
		t.Errorf("%d misfits, %d jobs, %d guards", r.NumMisfits, len(r.Jobs), len(d.Guards))
	}
	dirs := tree.NumDirs()
	t.Logf("%d directories, %d files: %v, %d bytes a job", dirs, jobs*filesEach, took, used/jobs)
	// A unit, a checkpoint and a job each, five nodes, and a guard.
	if limit := int64(jobs) * 3000; used > limit {
		t.Errorf("%d bytes, more than %d", used, limit)
	}
	if took > time.Minute {
		t.Errorf("it took %v", took)
	}
	runtime.KeepAlive(d)
	runtime.KeepAlive(it) // it weighs the same before and after
}

// TestNoMemoryForFiles: what is allocated follows directories and guards.
func TestNoMemoryForFiles(t *testing.T) {
	allocated := func(files int) int64 {
		it := plant(imagetest.NewTree(), runAt("/r/job/"+runA)...)
		shared := it.Dir("/r/job/" + runA + "/shared")
		for i := range files {
			it.FileIn(shared, fmt.Sprintf("%08d-0123-4567-89ab-cdef01234567", i), 1)
		}
		tree := load(t, it)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		discover(t, tree, decl(JobRun, "/r"))
		runtime.ReadMemStats(&after)
		return int64(after.Mallocs - before.Mallocs)
	}
	few, many := allocated(10), allocated(20_000)
	t.Logf("%d and %d allocations", few, many)
	if many-few > 2000 {
		t.Errorf("%d allocations with 10 files, %d with 20,000", few, many)
	}
}

// TestErrors: what ends reading ends Discover.
func TestErrors(t *testing.T) {
	t.Parallel()
	tree := load(t, plant(imagetest.NewTree(), runAt("/r/job/"+runA)...))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Discover(ctx, tree, []Declaration{decl(JobRun, "/r")}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Suggest(ctx, tree, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

// What a plan may need beside the tree, in bytes, however many items it has.
const planExtra = 64 << 20

// largePlan is an image with many items.
type largePlan struct {
	name   string
	tree   *imagetest.Tree
	policy string
	items  int64
	jobMap string // of the root, if the policy names one
}

const (
	largeRun   = "0123456789abcdef0123456789abcdef"
	largeBelts = "belts: {max_items: 5000000, max_inodes: 9000000, max_percent_of_root: 100%}\n"
)

var largeTime = time.UnixMilli(imagetest.DefaultTimeMs).Add(30 * 24 * time.Hour)

// millionFiles are unreferenced files, in a run that stays.
func millionFiles(n int) largePlan {
	it := imagetest.NewTree()
	it.File("/r/j/"+largeRun+"/chk-1/_metadata", 10)
	shared := it.Dir("/r/j/" + largeRun + "/shared")
	for i := range n {
		it.FileIn(shared, fmt.Sprintf("%08x-0000-4000-8000-%012x", i*7919, i), 1000)
	}
	return largePlan{"files", it, "  - {path: /r, layout: job-run, mode: execute, unreferenced_shared: {older_than: 168h}}\n", int64(n), ""}
}

// manyChildren are directories with nothing in them.
func manyChildren(n int) largePlan {
	it := imagetest.NewTree()
	dir := it.Dir("/t")
	for i := range n {
		it.DirIn(dir, fmt.Sprintf("spark-%08d", i))
	}
	return largePlan{"children", it, "  - {path: /t, layout: children, names: [\"spark-*\"], min_age: 1d, mode: execute}\n", int64(n), ""}
}

// manyJobs have two runs each, of which the older one is an item.
func manyJobs(n int) largePlan {
	it := imagetest.NewTree()
	root := it.Dir("/r")
	for i := range n {
		job := it.DirIn(root, fmt.Sprintf("job-%07d", i))
		for k := range 2 {
			run := it.DirIn(job, fmt.Sprintf("%032x", i*2+k+1))
			chk := it.DirIn(run, "chk-1")
			f := it.FileIn(chk, "_metadata", 10)
			f.MTimeMs += int64(k)
			chk.MTimeMs += int64(k)
			run.MTimeMs += int64(k)
		}
	}
	return largePlan{"jobs", it, "  - {path: /r, layout: job-run, mode: execute}\n", int64(n), ""}
}

// largeJob is one job with many runs, of which all but the newest are items.
func largeJob(n int) largePlan {
	it := imagetest.NewTree()
	job := it.Dir("/r/job")
	for k := range n {
		run := it.DirIn(job, fmt.Sprintf("%032x", k+1))
		chk := it.DirIn(run, "chk-1")
		f := it.FileIn(chk, "_metadata", 10)
		f.MTimeMs += int64(k)
		chk.MTimeMs += int64(k)
		run.MTimeMs += int64(k)
	}
	return largePlan{"job", it, "  - {path: /r, layout: job-run, keep: 1, mode: execute}\n", int64(n) - 1, ""}
}

// manySavepoints stand right below their root, and their runs are dead.
func manySavepoints(n int) largePlan {
	it := imagetest.NewTree()
	root := it.Dir("/s")
	for i := range n {
		it.FileIn(it.DirIn(root, fmt.Sprintf("savepoint-%06x-%012x", i%0xfffff+1, i)), "_metadata", 10)
	}
	return largePlan{"savepoints", it, "  - {path: /s, layout: savepoints, mode: execute}\n", int64(n), ""}
}

// manyMapped are savepoints right below their root, 200 of each job of a job map, of which
// the two newest stay.
func manyMapped(n int) largePlan {
	const each = 200
	it := imagetest.NewTree()
	root := it.Dir("/s")
	for i := range n {
		dir := it.DirIn(root, fmt.Sprintf("savepoint-%06x-%012x", i%(n/each)+1, i))
		f := it.FileIn(dir, "_metadata", 10)
		dir.MTimeMs += int64(i)
		f.MTimeMs += int64(i)
	}
	var text bytes.Buffer
	for i := range n / each {
		fmt.Fprintf(&text, "%06x job %d\n", i+1, i)
	}
	return largePlan{"mapped", it, "  - {path: /s, layout: savepoints, job_map: map.txt, mode: execute}\n", int64(n - 2*(n/each)), text.String()}
}

// manySwept are jobs with one run that stays, of which two files may be items and one is
// too young.
func manySwept(n int) largePlan {
	it := imagetest.NewTree()
	root := it.Dir("/r")
	for i := range n {
		run := it.DirIn(it.DirIn(root, fmt.Sprintf("job-%07d", i)), fmt.Sprintf("%032x", i+1))
		it.FileIn(it.DirIn(run, "chk-1"), "_metadata", 10)
		shared := it.DirIn(run, "shared")
		for k := range 3 {
			f := it.FileIn(shared, fmt.Sprintf("%08x-0000-4000-8000-%012x", i, k), 1000)
			f.MTimeMs += int64(k/2) * 28 * 24 * time.Hour.Milliseconds()
		}
	}
	return largePlan{"swept", it, "  - {path: /r, layout: job-run, mode: execute, unreferenced_shared: {older_than: 168h}}\n", 2 * int64(n), ""}
}

// TestPlanMemory plans a million units and files, which stream: they take no more than a
// few do.
func TestPlanMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes images of a million inodes and more")
	}
	program, measure := buildProgram(t), buildImagebench(t)
	const million = 1_000_000
	for _, make := range []func() largePlan{
		func() largePlan { return millionFiles(million) }, func() largePlan { return manyChildren(million) },
		func() largePlan { return manyJobs(million / 2) }, func() largePlan { return manySavepoints(million) },
		func() largePlan { return largeJob(300_000) }, func() largePlan { return manyMapped(million) }, func() largePlan { return manySwept(300_000) },
	} {
		c := make()
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			image, err := c.tree.Image().WriteFileMD5(dir)
			if err != nil {
				t.Fatal(err)
			}
			var inodes, dirs int64
			for _, n := range c.tree.Nodes() {
				if inodes++; n.Kind == imagetest.Directory {
					dirs++
				}
			}
			live := filepath.Join(dir, "live.txt")
			if err := errors.Join(os.WriteFile(live, []byte("ffffffffffffffffffffffffffffff01\n"), 0o600), os.Chtimes(live, largeTime, largeTime)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "map.txt"), []byte(c.jobMap), 0o600); err != nil {
				t.Fatal(err)
			}
			c.tree = nil // a large one
			policy, out := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "plan.jsonl")
			text := "version: 1\nnameservice: ns1\nlock_dir: /ops/fsweep\nlive: [{file: live.txt, format: lines}]\n" + largeBelts + "roots:\n" + c.policy
			if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			at := largeTime.UTC().Format(time.RFC3339)
			peak := peakMemory(t, measure, program, "plan", image, "--policy", policy, "-o", out, "--image-time", at, "--now", at)
			limit := perInode*inodes + perDirectory*dirs + perWorker*memoryWorkers + fixedMemory + planExtra
			report := peakMemory(t, measure, program, "report", image, "--format", "json", "-o", filepath.Join(dir, "report.json"))
			t.Logf("peak %.1f MiB of %.1f MiB allowed, %.1f MiB more than report", mebibytes(peak), mebibytes(limit), mebibytes(peak-report))
			if peak > limit {
				t.Errorf("peak memory %d bytes, allowed %d", peak, limit)
			}
			if got := plannedItems(t, out); got != c.items {
				t.Errorf("%d items, want %d", got, c.items)
			}
		})
	}
}

// plannedItems reads the last line of a plan.
func plannedItems(t *testing.T, file string) int64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	tail := make([]byte, min(info.Size(), 64<<10))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(tail, []byte("\n")), []byte("\n"))
	var footer struct {
		Type    string
		Planned struct{ Items int64 }
	}
	if err := json.Unmarshal(lines[len(lines)-1], &footer); err != nil || footer.Type != "footer" {
		t.Fatalf("%v: %.200s", err, lines[len(lines)-1])
	}
	return footer.Planned.Items
}

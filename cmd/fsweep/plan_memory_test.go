package main_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

	explain string // a path to be explained; empty: none

	top   string // more of the policy
	belts string // largeBelts
	live  string // the live list: one id that no run has
	// liveFormat is that of the live list: lines.
	liveFormat string
	lists      map[string]string // files beside the policy

	// Of what was written.
	dir, image, policyFile string
	inodes, dirs           int64
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
	return largePlan{name: "files", tree: it, policy: "  - {path: /r, layout: job-run, mode: execute, unreferenced_shared: {older_than: 168h}}\n", items: int64(n)}
}

// manyChildren are directories with nothing in them.
func manyChildren(n int) largePlan {
	it := imagetest.NewTree()
	dir := it.Dir("/t")
	for i := range n {
		it.DirIn(dir, fmt.Sprintf("spark-%08d", i))
	}
	return largePlan{name: "children", tree: it, policy: "  - {path: /t, layout: children, names: [\"spark-*\"], min_age: 1d, mode: execute}\n", items: int64(n), explain: "/t/spark-00000007"}
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
	return largePlan{name: "jobs", tree: it, policy: "  - {path: /r, layout: job-run, mode: execute}\n", items: int64(n)}
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
	return largePlan{name: "job", tree: it, policy: "  - {path: /r, layout: job-run, keep: 1, mode: execute}\n", items: int64(n) - 1, explain: fmt.Sprintf("/r/job/%032x", 7)}
}

// manySavepoints stand right below their root, and their runs are dead.
func manySavepoints(n int) largePlan {
	it := imagetest.NewTree()
	root := it.Dir("/s")
	for i := range n {
		it.FileIn(it.DirIn(root, fmt.Sprintf("savepoint-%06x-%012x", i%0xfffff+1, i)), "_metadata", 10)
	}
	return largePlan{name: "savepoints", tree: it, policy: "  - {path: /s, layout: savepoints, mode: execute}\n", items: int64(n)}
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
	return largePlan{
		name: "mapped", tree: it, policy: "  - {path: /s, layout: savepoints, job_map: map.txt, mode: execute}\n", items: int64(n - 2*(n/each)),
		lists: map[string]string{"map.txt": text.String()},
	}
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
	return largePlan{name: "swept", tree: it, policy: "  - {path: /r, layout: job-run, mode: execute, unreferenced_shared: {older_than: 168h}}\n", items: 2 * int64(n)}
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
		func() largePlan { return manyCheckpoints(100_000) }, func() largePlan { return manyIncomplete(100_000) }, func() largePlan { return manyParts(100_000) },
		func() largePlan { return manyKept(100_000) }, func() largePlan { return manyTied(100_000) }, func() largePlan { return manyPointers(million / 4) },
		func() largePlan { return manyClusters(million / 5) }, func() largePlan { return largeChild(million / 5) }, func() largePlan { return largeChangelog(million / 4) },
		func() largePlan { return manyQuotas(100_000) }, func() largePlan { return manyUnknown(100_000) }, func() largePlan { return manySpoiled(50_000) },
	} {
		c := make()
		t.Run(c.name, func(t *testing.T) {
			c.write(t, t.TempDir())
			out := filepath.Join(c.dir, "plan.jsonl")
			peak := peakMemory(t, measure, program, c.command("plan", "-o", out)...)
			limit := perInode*c.inodes + perDirectory*c.dirs + perWorker*memoryWorkers + fixedMemory + planExtra
			report := peakMemory(t, measure, program, "report", c.image, "--format", "json", "-o", filepath.Join(c.dir, "report.json"))
			t.Logf("peak %.1f MiB of %.1f MiB allowed, %.1f MiB more than report", mebibytes(peak), mebibytes(limit), mebibytes(peak-report))
			if peak > limit || peak-report > planExtra {
				t.Errorf("peak memory %d bytes, allowed %d, and %d more than report, which takes %d", peak, limit, planExtra, report)
			}
			if c.explain != "" {
				peak := peakMemory(t, measure, program, c.command("explain", "-o", filepath.Join(c.dir, "answer.txt"), c.explain)...)
				t.Logf("explain: %.1f MiB more than report", mebibytes(peak-report))
				if peak-report > planExtra {
					t.Errorf("explain: peak memory %d bytes, %d more than report, allowed %d", peak, peak-report, planExtra)
				}
			}
			if got := plannedItems(t, out); got != c.items {
				t.Errorf("%d items, want %d", got, c.items)
			}
		})
	}
}

// write writes the image and what belongs to it into a directory, and lets the tree go.
func (c *largePlan) write(t *testing.T, dir string) {
	t.Helper()
	var err error
	if c.image, err = c.tree.Image().WriteFileMD5(dir); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.tree.Nodes() {
		if c.inodes++; n.Kind == imagetest.Directory {
			c.dirs++
		}
	}
	c.tree, c.dir, c.policyFile = nil, dir, filepath.Join(dir, "policy.yaml")
	files := map[string]string{
		"live.txt": cmp.Or(c.live, "ffffffffffffffffffffffffffffff01\n"),
		"policy.yaml": "version: 1\nnameservice: ns1\nlock_dir: /ops/fsweep\nlive: [{file: live.txt, format: " + cmp.Or(c.liveFormat, "lines") + "}]\n" +
			c.top + cmp.Or(c.belts, largeBelts) + "roots:\n" + c.policy,
	}
	maps.Copy(files, c.lists)
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, largeTime, largeTime)); err != nil {
			t.Fatal(err)
		}
	}
	c.lists, c.live, c.policy, c.top = nil, "", "", ""
}

// command gives the arguments of plan or explain.
func (c *largePlan) command(name string, more ...string) []string {
	at := largeTime.UTC().Format(time.RFC3339)
	return append([]string{name, c.image, "--policy", c.policyFile, "--image-time", at, "--now", at}, more...)
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

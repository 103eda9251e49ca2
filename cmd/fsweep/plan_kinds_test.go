package main_test

import (
	"fmt"
	"strings"
	"time"

	"fsweep/fsimage/imagetest"
)

// Of everything that a plan can have much of there is an image or a list here.

const day = int64(24 * time.Hour / time.Millisecond)

// largeRuns makes one job with runs, of which the first n are those that fill fills, and one
// more that is newer and complete.
func largeRuns(it *imagetest.Tree, n int, fill func(run *imagetest.Node)) {
	job := it.Dir("/r/job")
	for k := range n {
		fill(it.DirIn(job, fmt.Sprintf("%032x", k+1)))
	}
	run := it.DirIn(job, fmt.Sprintf("%032x", n+1))
	chk := it.DirIn(run, "chk-1")
	f := it.FileIn(chk, "_metadata", 10)
	for _, x := range []*imagetest.Node{run, chk, f} {
		x.MTimeMs += day
	}
}

// manyCheckpoints are complete ones of a run that stays, of which the newest three stay.
func manyCheckpoints(n int) largePlan {
	it := imagetest.NewTree()
	run := it.Dir("/r/job/" + largeRun)
	for k := range n {
		it.FileIn(it.DirIn(run, fmt.Sprintf("chk-%d", k+1)), "_metadata", 10)
	}
	return largePlan{
		name: "checkpoints", tree: it, explain: "/r/job/" + largeRun + "/chk-17", items: int64(n) - 3,
		policy: "  - {path: /r, layout: job-run, mode: execute, stale_checkpoints: {keep_newest: 3, older_than: 168h}}\n",
	}
}

// manyIncomplete are checkpoints without `_metadata` below the only complete one.
func manyIncomplete(n int) largePlan {
	it := imagetest.NewTree()
	run := it.Dir("/r/job/" + largeRun)
	for k := range n {
		it.DirIn(run, fmt.Sprintf("chk-%d", k+1))
	}
	it.FileIn(it.DirIn(run, fmt.Sprintf("chk-%d", n+1)), "_metadata", 10)
	return largePlan{name: "incomplete", tree: it, items: int64(n), policy: "  - {path: /r, layout: job-run, mode: execute}\n"}
}

// manyParts are the checkpoints of a run that is too large for one move.
func manyParts(n int) largePlan {
	it := imagetest.NewTree()
	largeRuns(it, 1, func(run *imagetest.Node) {
		for k := range n {
			it.FileIn(it.DirIn(run, fmt.Sprintf("chk-%d", k+1)), "_metadata", 10)
		}
	})
	return largePlan{
		name: "parts", tree: it, items: int64(n), policy: "  - {path: /r, layout: job-run, keep: 1, mode: execute}\n",
		belts: "belts: {max_items: 5000000, max_inodes: 9000000, max_inodes_per_move: 1000, max_percent_of_root: 100%}\n",
	}
}

// manyKept are runs of one job, of which a third stays.
func manyKept(n int) largePlan {
	c := largeJob(n)
	c.name, c.items = "kept", int64(n-n/3)
	c.policy = fmt.Sprintf("  - {path: /r, layout: job-run, keep: %d, mode: execute}\n", n/3)
	return c
}

// manyTied are runs of one job that are equally new.
func manyTied(n int) largePlan {
	it := imagetest.NewTree()
	job := it.Dir("/r/job")
	for k := range n {
		it.FileIn(it.DirIn(it.DirIn(job, fmt.Sprintf("%032x", k+1)), "chk-1"), "_metadata", 10)
	}
	return largePlan{name: "tied", tree: it, policy: fmt.Sprintf("  - {path: /r, layout: job-run, keep: %d, mode: execute}\n", n/3)}
}

const largeConfigMaps = `{"kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap",
 "metadata": {"name": "other-cluster-config-map", "labels": {"configmap-type": "high-availability", "app": "other"}}}]}`

// manyPointers are HA files of one cluster.
func manyPointers(n int) largePlan {
	it := imagetest.NewTree()
	dir := it.Dir("/ha/cluster-1")
	for k := range n {
		it.FileIn(dir, fmt.Sprintf("completedCheckpoint%012x", k), 10)
	}
	return largePlan{
		name: "pointers", tree: it, items: 1, policy: "  - {path: /ha, layout: ha-storage, mode: execute}\n",
		live: largeConfigMaps, liveFormat: "kubernetes", belts: "belts: {max_items: 5000000, max_inodes: 9000000, max_inodes_per_move: 9000000, max_percent_of_root: 100%}\n",
	}
}

// manyClusters have one HA file each.
func manyClusters(n int) largePlan {
	it := imagetest.NewTree()
	root := it.Dir("/ha")
	for k := range n {
		it.FileIn(it.DirIn(root, fmt.Sprintf("cluster-%08d", k)), fmt.Sprintf("completedCheckpoint%012x", k), 10)
	}
	return largePlan{
		name: "clusters", tree: it, items: int64(n), policy: "  - {path: /ha, layout: ha-storage, mode: execute}\n",
		live: largeConfigMaps, liveFormat: "kubernetes",
	}
}

const wideBelts = "belts: {max_items: 5000000, max_inodes: 9000000, max_inodes_per_move: 9000000, max_percent_of_root: 100%}\n"

// largeChild has as many directories as files.
func largeChild(n int) largePlan {
	it := imagetest.NewTree()
	dir := it.Dir("/t/spark-1")
	for k := range n {
		it.FileIn(it.DirIn(dir, fmt.Sprintf("d%08d", k)), "part-00000", 10)
	}
	return largePlan{
		name: "child", tree: it, items: 1, belts: wideBelts,
		policy: "  - {path: /t, layout: children, names: [\"spark-*\"], min_age: 1d, mode: execute}\n",
	}
}

// largeChangelog has files in dstl, of two runs that go, of which one has a checkpoint.
func largeChangelog(n int) largePlan {
	it := imagetest.NewTree()
	largeRuns(it, 2, func(run *imagetest.Node) {
		dstl := it.DirIn(run, "dstl")
		for k := range n / 2 {
			it.FileIn(dstl, fmt.Sprintf("%08x-0000-4000-8000-%012x", k*7919, k), 10)
		}
	})
	old := it.Dir(fmt.Sprintf("/r/job/%032x/chk-1", 1))
	it.FileIn(old, "_metadata", 10)
	return largePlan{name: "dstl", tree: it, items: 2, belts: wideBelts, policy: "  - {path: /r, layout: job-run, keep: 1, mode: execute}\n"}
}

// manyQuotas are jobs with a quota each, with a run that goes and one that stays.
func manyQuotas(n int) largePlan {
	c := manyJobs(n)
	c.name = "quotas"
	for _, x := range c.tree.Nodes() {
		if strings.HasPrefix(x.Name, "job-") {
			x.Quota(1000, 1<<40)
		}
	}
	return c
}

// manyUnknown are runs that hold something that no layout has, in what nothing groups.
func manyUnknown(n int) largePlan {
	it := imagetest.NewTree()
	root := it.Dir("/r")
	for k := range n {
		run := it.DirIn(root, fmt.Sprintf("%032x", k+1))
		it.FileIn(it.DirIn(run, "chk-1"), "_metadata", 10)
		it.FileIn(run, "stray", 10)
	}
	return largePlan{name: "unknown", tree: it, policy: "  - {path: /r, layout: run, mode: execute}\n"}
}

// manySpoiled are jobs of which nothing is planned, as the image contradicts itself.
func manySpoiled(n int) largePlan {
	c := manyJobs(n)
	c.name, c.items = "spoiled", 0
	for _, x := range c.tree.Nodes() {
		if strings.HasPrefix(x.Name, "job-") {
			it := x.Children[0] // the older run
			c.tree.DirIn(it.Children[0], "..")
		}
	}
	return c
}

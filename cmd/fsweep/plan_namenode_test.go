package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// TestNameNodePlan plans from an image that a real NameNode saved, has a NameNode
// that was started from this image carry the plan out with renames to the trash,
// and compares what getQuotaUsage, the content summaries and the blocks say with
// what the plan promised.
func TestNameNodePlan(t *testing.T) {
	if os.Getenv("FSWEEP_NAMENODE") != "1" {
		t.Skip("needs a JDK and Maven: scripts/test turns it on (FSWEEP_NAMENODE=1)")
	}
	program := buildProgram(t)
	versions := []string{"3.4.2", "3.2.2"}
	if s := os.Getenv("FSWEEP_HADOOP"); s != "" {
		versions = strings.Fields(s)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			w := &planCluster{striped: !strings.HasPrefix(version, "2.")}
			w.make()
			before := t.TempDir()
			runScript(t, version, w.operations.String(), before)
			w.plan(t, program, imageIn(t, filepath.Join(before, "image", "plain")))
			after := t.TempDir()
			runScript(t, version, w.moves(), after, filepath.Join(before, "image", "plain"))
			w.compareQuotas(t, after)
			w.compareTotals(t, filepath.Join(after, "before"))
			w.compareFreed(t, after)
		})
	}
}

// planCluster is a namespace with trees like Flink's, and the plan for it.
type planCluster struct {
	striped    bool
	operations strings.Builder
	runs       int
	items      []planfile.Item
	quotas     []planfile.Quota
}

const planClusterPolicy = `version: 1
nameservice: ns1
lock_dir: /ops/fsweep
belts: {max_percent_of_root: 100%, max_inodes_per_move: 11}
roots:
  - {path: /plain/ckpt, layout: job-run, mode: execute, min_age: 24h}
  - {path: /snapped/ckpt, layout: job-run, mode: execute, min_age: 24h, unreferenced_shared: {older_than: 24h}}
  - {path: /moved/ckpt, layout: job-run, mode: execute, min_age: 24h}
  - {path: /sp, layout: savepoints, mode: execute, min_age: 24h, keep: 1}
  - {path: /spark, layout: children, mode: execute, min_age: 24h, names: ["spark-*"]}
`

func (w *planCluster) op(format string, args ...any) {
	fmt.Fprintf(&w.operations, format+"\n", args...)
}

// run makes a run of a job with one complete checkpoint.
func (w *planCluster) run(job string) string {
	w.runs++
	run := fmt.Sprintf("%s/a1b2c3d4e5f60718293a4b5c%08x", job, 0xabcdef01+w.runs)
	for _, d := range []string{"chk-7", "shared", "taskowned"} {
		w.op("mkdir %s/%s", run, d)
	}
	w.op("write %s/chk-7/_metadata 300 2", run)
	w.op("write %s/chk-7/state 1500 3", run)
	w.op("write %s/shared/sst 2500 2", run)
	w.op("write %s/shared/sst2 700 1", run)
	return run
}

func (w *planCluster) make() {
	w.op("mkdir /ops\nmkdir /user/rig/.Trash/Current")
	w.plain()
	w.snapped()
	w.movedTree()
	w.savepoints()
	w.children()
	w.op("save image")
}

// quota gives a directory quotas of all kinds, so that all of them are in the plan.
func (w *planCluster) quota(dir string, types ...string) {
	w.op("quota %s 100000 1000000000000", dir)
	for _, typ := range types {
		w.op("typequota %s %s 1000000000000", dir, typ)
	}
}

// plain has no snapshots; its quotas lie within each other, and a job has a name
// with blanks.
func (w *planCluster) plain() {
	for _, job := range []string{"/plain/ckpt/orders", "/plain/ckpt/two%20words"} {
		for range 4 {
			last := w.run(job)
			w.op("mkdir %s/chk-3", last) // abandoned
			w.op("write %s/chk-3/left 900 2", last)
		}
	}
	w.op("policy /plain WARM")
	w.quota("/plain", "DISK", "ARCHIVE")
	w.quota("/plain/ckpt", "DISK")
}

// snapped has runs that two snapshots show in part: state was added, appended to,
// truncated and deleted after the first, and after the second.
func (w *planCluster) snapped() {
	w.op("mkdir /snapped\npolicy /snapped COLD\nallow /snapped")
	job := "/snapped/ckpt/orders"
	large, first, second := w.run(job), w.run(job), w.run(job)
	for i := range 6 { // so many that it is split
		w.op("write %s/shared/more%d 100 1", large, i)
	}
	w.op("snapshot /snapped s1")
	w.op("append %s/shared/more1 2000\nwrite %s/taskowned/new 400 2", large, large)
	w.op("append %s/shared/sst 3000", first)
	w.op("truncate %s/chk-7/state 1024", first)
	w.op("delete %s/shared/sst2", second)
	w.op("mkdir %s/chk-8\nwrite %s/chk-8/_metadata 200 2", second, second)
	third := w.run(job)
	w.op("snapshot /snapped s2")
	w.op("write %s/shared/sst3 1100 2", third)
	w.op("replication %s/chk-7/state 1", third)
	w.run(job)
	w.op("snapshot /snapped s3\nunsnapshot /snapped s3")
	newest := w.run(job)
	w.op("write %s/taskowned/own 50 2", newest)
	w.quota("/snapped", "ARCHIVE")
	w.quota("/snapped/ckpt", "ARCHIVE")
}

// movedTree was renamed to its place after a snapshot of the old one, which goes on
// holding the older runs; in the new place there is a snapshot as well.
func (w *planCluster) movedTree() {
	w.op("mkdir /old\nmkdir /moved\nallow /old\nallow /moved")
	job := "/old/ckpt/orders"
	w.run(job)
	second := w.run(job)
	w.op("snapshot /old s1")
	w.op("rename /old/ckpt /moved/ckpt")
	job = "/moved/ckpt/orders"
	w.op("append /moved%s/shared/sst2 100", strings.TrimPrefix(second, "/old"))
	w.run(job)
	w.op("snapshot /moved m1")
	w.op("delete /moved%s/shared/sst", strings.TrimPrefix(second, "/old"))
	w.run(job)
	w.run(job)
	w.quota("/old")
	w.quota("/moved", "DISK")
}

func (w *planCluster) savepoints() {
	for i := range 4 {
		s := fmt.Sprintf("/sp/orders/savepoint-abcde%d-0123456789a%d", i, i)
		w.op("mkdir %s\nwrite %s/_metadata 2100 3", s, s)
		if i == 1 {
			w.op("allow /sp/orders\nsnapshot /sp/orders s1")
		}
	}
	w.op("policy /sp/orders ONE_SSD")
	w.quota("/sp", "SSD", "DISK")
}

// children has erasure coded files, where Hadoop can.
func (w *planCluster) children() {
	w.op("mkdir /spark/spark-1/x/y\nmkdir /spark/spark-2\nmkdir /spark/other\nallow /spark")
	w.op("write /spark/spark-1/x/y/z 2000 3\nwrite /spark/spark-file 10 1")
	if w.striped {
		w.op("erasure on")
		w.op("striped /spark/spark-1/x/ec 15000 XOR-2-1-1024k\nstriped /spark/spark-2/ec 9000 XOR-2-1-1024k")
	}
	w.op("snapshot /spark s1\nmkdir /spark/spark-3\nwrite /spark/spark-3/new 2000 2\nwrite /spark/spark-1/x/new 100 2")
	if w.striped {
		w.op("striped /spark/spark-1/ec2 7000 XOR-2-1-1024k")
	}
	w.quota("/spark")
}

// plan runs the program a month after the image was made.
func (w *planCluster) plan(t *testing.T, program, image string) {
	t.Helper()
	dir := t.TempDir()
	policy, file := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "plan.jsonl")
	if err := os.WriteFile(policy, []byte(planClusterPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	out := runProgram(t, program, "plan", image, "--policy", policy, "-o", file, "--image-time", "2099-01-01T00:00:00Z", "--now", "2099-01-01T01:00:00Z")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, _, err := planfile.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	roots, kinds, split := map[string]int{}, map[planfile.Kind]int{}, 0
	for item, err := range r.Items() {
		if err != nil {
			t.Fatal(err)
		}
		if item.Deferred == "" {
			w.items = append(w.items, item)
			roots[string(item.Root)]++
			kinds[item.Kind]++
			if item.SplitOf != 0 {
				split++
			}
		}
	}
	for q, err := range r.Quotas() {
		if err != nil {
			t.Fatal(err)
		}
		w.quotas = append(w.quotas, q)
	}
	t.Logf("items %v, %v, %d of split runs, %d quotas", roots, kinds, split, len(w.quotas))
	if len(roots) != 5 || len(kinds) != 4 || split == 0 || len(w.quotas) != 7 || !r.Header().Executable {
		t.Fatalf("executable: %v\n%s", r.Header().Executable, out)
	}
}

func (w *planCluster) moves() string {
	var b strings.Builder
	fmt.Fprintln(&b, "ask before")
	for i, item := range w.items {
		fmt.Fprintf(&b, "rename %s /user/rig/.Trash/Current/%d\n", escapePath(item.Path), i)
	}
	fmt.Fprintln(&b, "ask moved\nsave moved\ndelete /user/rig/.Trash\nblocks deleted")
	return b.String()
}

func escapePath(p planfile.Path) string {
	return strings.ReplaceAll(url.PathEscape(string(p)), "%2F", "/")
}

// compareQuotas: a running NameNode has the inodes and the space of the plan. It
// is too high by what snapshots show of storage types that come from a directory
// above until it is started again, which is the namespace saved after the moves.
func (w *planCluster) compareQuotas(t *testing.T, out string) {
	t.Helper()
	before, after := quotaUsages(t, filepath.Join(out, "before")), quotaUsages(t, filepath.Join(out, "moved"))
	restarted := loadNamespace(t, filepath.Join(out, "moved", "plain"))
	snapshots := map[string]bool{}
	for _, s := range restarted.Snapshottable() {
		for d := s.Dir; d != namespace.NoDir; d = restarted.Parent(d) {
			snapshots[string(restarted.AppendPath(nil, d))] = true
		}
	}
	if before["/old"].Namespace == 0 || before["/old"] != after["/old"] {
		t.Errorf("/old is not in the plan: %+v, then %+v", before["/old"], after["/old"])
	}
	for i := range w.quotas {
		q := &w.quotas[i]
		path := string(q.Path)
		want := namespace.Usage{Namespace: q.NSBefore, Space: q.DSBefore, Type: usageTypes(q.TypesBefore)}
		if got := before[path]; got != want {
			t.Errorf("%s: the NameNode charges %+v before, the plan says %+v", path, got, want)
		}
		want = namespace.Usage{Namespace: q.NSAfter, Space: q.DSAfter, Type: usageTypes(q.TypesAfter)}
		d, _ := restarted.Lookup([]byte(path))
		if got := restarted.Usage(d); got != want {
			t.Errorf("%s: a NameNode started again charges %+v after the moves, the plan says %+v", path, got, want)
		}
		got := after[path]
		if snapshots[path] || strings.HasPrefix(path, "/snapped/") {
			got.Type = want.Type
		}
		if got != want {
			t.Errorf("%s: the NameNode charges %+v after the moves, the plan says %+v", path, got, want)
		}
	}
}

func usageTypes(s planfile.TypeSpace) namespace.TypeSpace {
	return namespace.TypeSpace{
		namespace.Disk: s.Disk, namespace.SSD: s.SSD, namespace.Archive: s.Archive, namespace.Provided: s.Provided, namespace.NVDIMM: s.NVDIMM,
	}
}

// compareTotals: the totals of an item are its content summary.
func (w *planCluster) compareTotals(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "quota.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Path                                       string
		InodeID                                    uint64
		DirCount, FileCount, Length, SpaceConsumed int64
	}
	all := map[string]summary{}
	for line := range bytes.Lines(b) {
		var s summary
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		all[s.Path] = s
	}
	for i := range w.items {
		item := &w.items[i]
		x := &item.Totals
		want := summary{string(item.Path), item.InodeID, x.Directories, x.Files + x.Symlinks, x.Length, x.Space}
		if got := all[string(item.Path)]; got != want {
			t.Errorf("the NameNode's content summary is %+v, the plan's %+v", got, want)
		}
	}
}

// compareFreed: what the emptied trash frees, and what live files leave to
// snapshots.
func (w *planCluster) compareFreed(t *testing.T, out string) {
	t.Helper()
	space, left := blockSpace(t, filepath.Join(out, "before")), blockSpace(t, filepath.Join(out, "deleted"))
	blocks := liveBlocks(t, filepath.Join(out, "before"))
	for i := range w.items {
		item := &w.items[i]
		freed := int64(0)
		for path, ids := range blocks {
			if path != string(item.Path) && !strings.HasPrefix(path, string(item.Path)+"/") {
				continue
			}
			for _, id := range ids {
				if _, ok := left[id]; !ok {
					freed += space[id]
				}
			}
		}
		if item.Freed.Now != 0 || item.Freed.AfterTrash != freed {
			t.Errorf("%s: emptying the trash frees %d bytes, the plan says %+v", item.Path, freed, item.Freed)
		}
	}
}

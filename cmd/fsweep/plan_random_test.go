package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/analyze/plan"
	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
)

// randomRoot is a root of a random policy.
type randomRoot struct {
	path, layout, mode  string
	minAge, keep        int // days; units
	within              int // days of keep_within; 0: an hour
	excluded            []string
	stale, shared, ties bool
}

// planWorld is a random image with a random policy, and what the test itself put there.
type planWorld struct {
	tree      *imagetest.Tree
	roots     []*randomRoot
	live      []string // ids
	clusters  []string
	pins      []string
	protect   []string
	belts     string
	preflight string

	units  []*randomUnit
	marked []string // paths with a marker
	misfit []string // roots that have one

	snapshottable []string // directories
}

// randomUnit is a unit as it was planted.
type randomUnit struct {
	root      *randomRoot
	job, path string
	name      string
	metadata  time.Duration // age of the newest complete checkpoint's; 0: it has none
	checkpath string        // of that checkpoint, of equally old ones the one with the highest number
	odd       bool          // its age is unknown, or something else forbids to rank it
}

var (
	planRunIDs = []string{
		strings.Repeat("1", 32), strings.Repeat("2", 32), strings.Repeat("a3", 16), strings.Repeat("4", 32), "ffffffff8e2d96d90000000000000000",
		"01234567-89ab-cdef-0123-456789abcdef",
	}
	planSavepoints = []string{
		"savepoint-111111-000000000001", "savepoint-111111-000000000002", "savepoint-222222-000000000003", "savepoint-000000-000000000004",
		"savepoint-ffffff-000000000005", "savepoint-999999-000000000006",
	}
	planJobs   = []string{"j", "jj", "a b", "k%*", "bad\xff", "new\nline"}
	planNames  = []string{"spark-1", "spark-2\xfe", "spark 3", "other"}
	planAges   = []int{0, 1, 2, 3, 6, 7, 10, 20, 20, 30, 40} // days
	planLayout = []string{"job-run", "job-run", "job-run", "run", "savepoints", "ha-storage", "children"}
)

func pickOne[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func newPlanWorld(r *rand.Rand) *planWorld {
	w := &planWorld{tree: imagetest.NewTree(), preflight: pickOne(r, []string{"root", "root", "all"}), live: []string{strings.Repeat("9", 32)}, clusters: []string{"nothing"}}
	if chance(r, 2) {
		w.tree.Buckets = 64
	}
	w.tree.File("/elsewhere/_metadata", 5)
	for i := range 1 + r.IntN(3) {
		root := &randomRoot{
			path: fmt.Sprintf("/r%d", i), layout: pickOne(r, planLayout), mode: pickOne(r, []string{"observe", "execute"}),
			minAge: 1 + r.IntN(10), keep: r.IntN(3), stale: chance(r, 2), shared: chance(r, 2), ties: chance(r, 10),
		}
		w.roots = append(w.roots, root)
		w.tree.Dir(root.path)
		w.plant(r, root)
	}
	if chance(r, 2) {
		w.belts = fmt.Sprintf("{max_items: %d, max_inodes_per_move: %d, max_inodes: 40, max_percent_of_root: %d%%}", 1+r.IntN(6), 2+r.IntN(8), 20+r.IntN(80))
	}
	if chance(r, 2) {
		w.live = append(w.live, pickOne(r, planRunIDs))
	}
	if len(w.units) > 0 && chance(r, 2) {
		w.pins = append(w.pins, pickOne(r, w.units).path)
	}
	if len(w.units) > 0 && chance(r, 3) {
		w.protect = append(w.protect, pickOne(r, w.units).path)
	}
	for _, n := range w.tree.Nodes() {
		if n.Kind == imagetest.Directory && chance(r, 40) && n.Parent != nil {
			n.Quota(int64(50+r.IntN(100)), 1<<40)
		}
	}
	return w
}

// plant fills a root.
func (w *planWorld) plant(r *rand.Rand, root *randomRoot) {
	grouped := root.layout == "job-run" || root.layout == "savepoints" && chance(r, 2)
	jobs := []string{""}
	if grouped {
		jobs = nil
		for _, i := range r.Perm(len(planJobs))[:1+r.IntN(3)] {
			jobs = append(jobs, planJobs[i])
		}
	}
	names := map[string][]string{"job-run": planRunIDs, "run": planRunIDs, "savepoints": planSavepoints, "ha-storage": planJobs, "children": planNames}[root.layout]
	for _, job := range jobs {
		dir := root.path
		if job != "" {
			dir += "/" + job
			w.mark(r, dir, 40)
		}
		for _, i := range r.Perm(len(names))[:r.IntN(len(names)+1)] {
			w.unit(r, &randomUnit{root: root, job: job, path: dir + "/" + names[i], name: names[i]})
		}
	}
	if chance(r, 12) && root.layout != "children" {
		w.file(root.path+"/README", 30)
		w.misfit = append(w.misfit, root.path)
	}
}

func (w *planWorld) mark(r *rand.Rand, dir string, n int) {
	if chance(r, n) {
		if chance(r, 2) {
			w.file(dir+"/.fsweep-keep", 1)
		} else {
			w.tree.Dir(dir).XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
		}
		w.marked = append(w.marked, dir)
	}
}

func (w *planWorld) file(path string, days int) *imagetest.Node {
	n := w.tree.File(path, 7)
	n.MTimeMs = scriptImageTime.Add(-time.Duration(days) * 24 * time.Hour).UnixMilli()
	n.ATimeMs = n.MTimeMs
	return n
}

func (w *planWorld) unit(r *rand.Rand, u *randomUnit) {
	age := pickOne(r, planAges)
	w.tree.Dir(u.path)
	switch u.root.layout {
	case "job-run", "run":
		w.run(r, u, age)
	case "savepoints":
		if w.file(u.path+"/state", age); !chance(r, 4) {
			w.file(u.path+"/_metadata", age)
			u.metadata, u.checkpath = time.Duration(age)*24*time.Hour+1, u.path+"/_metadata"
		}
	case "ha-storage":
		w.file(u.path+"/blob/x", age)
		w.file(u.path+"/completedCheckpoint0123456789ab", age)
	case "children":
		w.file(u.path+"/deep/er", age)
	}
	switch r.IntN(30) {
	case 0:
		n := w.file(u.path+"/shared/zero", 1)
		n.MTimeMs, u.odd = 0, true
	case 1:
		w.tree.Dir(u.path).MTimeMs, u.odd = scriptImageTime.UnixMilli()+1, true
	}
	if u.root.layout == "children" || u.root.layout == "ha-storage" || u.root.layout == "savepoints" {
		// The oddities above do not fit there; what they give is one more misfit.
		u.odd = true
	}
	w.mark(r, u.path, 20)
	w.settle(r, u)
	w.units = append(w.units, u)
}

// settle gives directories times and owners, as late as the newest in them.
func (w *planWorld) settle(r *rand.Rand, u *randomUnit) {
	var walk func(n *imagetest.Node)
	owner := pickOne(r, []string{"flink", "dave\xff"})
	walk = func(n *imagetest.Node) {
		n.Own(owner, "hadoop", n.Mode)
		newest := int64(1)
		for _, c := range n.Children {
			walk(c)
			newest = max(newest, c.MTimeMs)
		}
		if n.Kind == imagetest.Directory && n.MTimeMs <= imagetest.DefaultTimeMs {
			if n.MTimeMs = newest; len(n.Children) == 0 {
				n.MTimeMs = scriptImageTime.Add(-40 * 24 * time.Hour).UnixMilli()
			}
		}
	}
	walk(w.tree.Dir(u.path))
}

func (w *planWorld) run(r *rand.Rand, u *randomUnit, age int) {
	if !chance(r, 8) {
		w.file(u.path+"/shared/"+pickOne(r, []string{"sst", "job_1_op_1/sst"}), age+r.IntN(20))
		w.tree.Dir(u.path + "/taskowned")
	} else {
		w.tree.Dir(u.path + "/shared")
	}
	numbers := r.Perm(12)[:r.IntN(5)]
	slices.Sort(numbers)
	for _, n := range numbers {
		chk, old := fmt.Sprintf("%s/chk-%d", u.path, n), age+pickOne(r, planAges)
		switch r.IntN(4) {
		case 0:
			w.file(chk+"/state", old)
		case 1:
			w.file(chk+"/_metadata", old).Blocks = nil
		default:
			w.file(chk+"/_metadata", old)
			if chance(r, 4) {
				w.file(chk+"/._metadata.inprogress.1", old)
			}
			if d := time.Duration(old)*24*time.Hour + 1; u.metadata == 0 || d <= u.metadata {
				u.metadata, u.checkpath = d, chk
			}
		}
	}
}

// policy writes the policy of the world.
func (w *planWorld) policy() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nnameservice: ns1\nlock_dir: /ops/fsweep\npreflight: %s\n", w.preflight)
	if w.belts == "" {
		b.WriteString("belts: {max_percent_of_root: 100%}\n")
	} else {
		fmt.Fprintf(&b, "belts: %s\n", w.belts)
	}
	b.WriteString("live: [{file: live, format: kubernetes}]\npins: [{file: pins}]\n")
	b.WriteString("roots:\n")
	for _, root := range w.roots {
		fmt.Fprintf(&b, "  - path: %s\n    layout: %s\n    mode: %s\n    min_age: %dd\n", root.path, root.layout, root.mode, root.minAge)
		if len(root.excluded) > 0 {
			fmt.Fprintf(&b, "    exclude_jobs: [%q]\n", strings.Join(root.excluded, `", "`))
		}
		switch root.layout {
		case "job-run", "savepoints":
			fmt.Fprintf(&b, "    keep: %d\n    keep_within: %dh\n", root.keep, max(24*root.within, 1))
			if root.ties {
				b.WriteString("    on_tie: stop\n")
			}
		case "children":
			b.WriteString("    names: [\"spark*\"]\n")
		}
		if root.layout == "job-run" || root.layout == "run" {
			if root.stale {
				b.WriteString("    stale_checkpoints: {keep_newest: 1, older_than: 5d}\n")
			}
			if root.shared {
				b.WriteString("    unreferenced_shared: {older_than: 5d}\n")
			}
		}
	}
	return b.String()
}

// plan goes through the packages as the command does.
func (w *planWorld) plan(t testing.TB, workers int) (file []byte, d *cleanup.Decision) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, w.policy())
		}
	}
	p, err := cleanup.ParsePolicy("policy", []byte(w.policy()))
	must(err)
	for _, path := range w.protect {
		p.Protect = append(p.Protect, cleanup.Path(path)) // any bytes, which no file can say
	}
	image := w.tree.Image().Bytes()
	im, err := fsimage.Open(bytes.NewReader(image), int64(len(image)))
	must(err)
	tree, err := namespace.Load(t.Context(), im, namespace.Options{Workers: workers})
	must(err)
	collector := plan.NewCollector(tree, p)
	found, err := flink.Discover(t.Context(), tree, cleanup.Declarations(p), flink.Options{Workers: workers})
	must(err)
	o := collector.Options(workers)
	o.SortLimit = len(image) % 3 // now and then all but one or two units of a job are on disk
	survey, err := flink.Look(t.Context(), tree, cleanup.Declarations(p), o)
	must(err)
	defer survey.Close()
	in := cleanup.Inputs{ImageTime: scriptImageTime, Now: scriptNow, Live: []*cleanup.LiveSet{{
		Name: "live", Format: cleanup.Kubernetes, IDs: slices.Sorted(slices.Values(w.live)), Clusters: w.clusters, HAConfigMaps: 1,
	}}}
	for _, path := range w.pins {
		in.Pins = append(in.Pins, cleanup.Path(path))
	}
	d, err = cleanup.Decide(found, p, in)
	must(err)
	decider, err := cleanup.NewDecider(t.Context(), survey, p, in)
	must(err)
	var b bytes.Buffer
	result, err := plan.Write(t.Context(), &b, &plan.Request{
		Tree: tree, Collector: collector, Survey: survey, Decider: decider, Policy: p, Inputs: in, Tool: "fsweep", Version: "test", PolicyName: "policy", Workers: workers, TempDir: t.TempDir(),
		Source: planfile.Source{
			Image: "fsimage", MD5: fmt.Sprintf("%x", md5.Sum(image)), SizeBytes: int64(len(image)), TxID: 1, NamespaceID: 1, LayoutVersion: -67,
			ImageTimeMs: scriptImageTime.UnixMilli(), ImageTimeSource: "test",
		},
		Live: []planfile.Input{{File: "live", Format: "kubernetes", MaxAgeMs: 1000, IDs: 1}},
		Pins: []planfile.Input{{File: "pins", Format: "lines", MaxAgeMs: 1000, Paths: 1}},
	})
	must(err)
	result.Close()
	return b.Bytes(), d
}

// randomPlanWorlds calls a test with many worlds; again makes the same one once more.
func randomPlanWorlds(t *testing.T, n int, test func(t *testing.T, r *rand.Rand, again func() *planWorld)) {
	t.Helper()
	seed := uint64(1)
	if os.Getenv("FSWEEP_RANDOM_SEED") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	if testing.Short() {
		n /= 5
	}
	for i := range uint64(n) {
		test(t, rand.New(rand.NewPCG(seed+i, 2)), func() *planWorld { return newPlanWorld(rand.New(rand.NewPCG(seed+i, 1))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed+i)
		}
	}
}

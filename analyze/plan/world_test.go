package plan

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
	"fsweep/proto/planfile"
)

const hour = int64(3_600_000)

// imageTime is that of all images.
var imageTime = time.UnixMilli(imagetest.DefaultTimeMs)

// world is an image, a policy and what else decides.
type world struct {
	it       *imagetest.Tree
	policy   string
	live     []string // ids and clusters of the one live source; nil: no source
	pins     []cleanup.Path
	jobMap   map[cleanup.Path]string
	now      time.Time
	warnings []string
	tempDir  string
	// sortLimit is how many bytes stay in memory, to write temporary files soon; 0: many.
	sortLimit int
	image     *imagetest.Image // nil: that of it
	files     map[string]*imagetest.Node
}

func newWorld(policy string) *world {
	return &world{files: map[string]*imagetest.Node{}, it: imagetest.NewTree(), policy: "version: 1\nnameservice: ns1\nlock_dir: /ops/fsweep\n" + policy, now: imageTime.Add(time.Hour)}
}

// put makes a file of a length, or with a slash at the end a directory. Directories
// on the way are a thousand hours old.
func (w *world) put(path string, ageHours int64, length ...uint64) *imagetest.Node {
	var n *imagetest.Node
	old := imageTime.UnixMilli() - 1000*hour
	for i := range path {
		if i > 0 && path[i] == '/' {
			before := w.it.NextID
			if d := w.it.Dir(path[:i]); d.ID >= before {
				d.MTimeMs = old
			}
		}
	}
	if dir, ok := strings.CutSuffix(path, "/"); ok {
		n = w.it.Dir(dir)
	} else if n = w.files[path]; n == nil {
		n = w.it.File(path, length...)
		n.ATimeMs, w.files[path] = 0, n
	}
	n.MTimeMs = imageTime.UnixMilli() - ageHours*hour
	return n
}

// snapshot puts everything in a directory into a snapshot.
func (w *world) snapshot(path string) {
	d := w.it.Dir(path)
	w.it.Snapshot(d, 1, "s1")
	w.it.Diff(d, &pb.SnapshotDiffSection_DirectoryDiff{SnapshotId: proto.Uint32(1), IsSnapshotRoot: proto.Bool(true)})
}

// made is a plan with all that it was made from.
type made struct {
	*Result
	tree     *namespace.Tree
	decision *cleanup.Decision // made in memory, apart from the plan
	policy   *cleanup.Policy
	bytes    []byte
	written  map[cleanup.Path]Written       // by item of the decision
	Sweeps   map[*cleanup.Sweep]SweepTotals // of which files were looked at
	plan     plan
}

// plan is what a reader sees.
type plan struct {
	planfile.Header
	known  []planfile.Known
	guards []planfile.Guard
	items  []planfile.Item
	dirs   map[uint64][]planfile.Directory
	quotas []planfile.Quota
}

func (w *world) request(t testing.TB, workers int) (*Request, *made) {
	t.Helper()
	image := w.it.Image().Bytes()
	if w.image != nil {
		image = w.image.Bytes()
	}
	im, err := fsimage.Open(bytes.NewReader(image), int64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	m := &made{}
	if m.tree, err = namespace.Load(t.Context(), im, namespace.Options{Workers: workers}); err != nil {
		t.Fatal(err)
	}
	if m.policy, err = cleanup.ParsePolicy("policy.yaml", []byte(w.policy)); err != nil {
		t.Fatal(err)
	}
	collector := NewCollector(m.tree, m.policy)
	o := collector.Options(workers)
	o.TempDir, o.SortLimit = w.tempDir, w.sortLimit
	survey, err := flink.Look(t.Context(), m.tree, cleanup.Declarations(m.policy), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(survey.Close)
	in := cleanup.Inputs{ImageTime: imageTime, Now: w.now, Pins: w.pins, JobMaps: map[cleanup.Path]*cleanup.JobMap{}}
	for _, l := range m.policy.Live {
		in.Live = append(in.Live, &cleanup.LiveSet{Name: string(l.File), Format: l.Format, IDs: w.live, Clusters: w.live, HAConfigMaps: 1})
	}
	for root, text := range w.jobMap {
		if in.JobMaps[root], err = cleanup.ReadJobMap(cleanup.Input{Name: "map", Reader: strings.NewReader(text), ModTime: imageTime}); err != nil {
			t.Fatal(err)
		}
	}
	discovery, err := flink.Discover(t.Context(), m.tree, cleanup.Declarations(m.policy), flink.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	if m.decision, err = cleanup.Decide(discovery, m.policy, in); err != nil {
		t.Fatal(err)
	}
	decider, err := cleanup.NewDecider(t.Context(), survey, m.policy, in)
	if err != nil {
		t.Fatal(err)
	}
	return &Request{
		Tree: m.tree, Collector: collector, Survey: survey, Decider: decider, Policy: m.policy, Inputs: in,
		Source: planfile.Source{Image: "fsimage_1", SizeBytes: int64(len(image)), TxID: 1, NamespaceID: 1, LayoutVersion: -67, ImageTimeSource: "flag"},
		Tool:   "fsweep", Version: "1", PolicyName: "policy.yaml", Warnings: w.warnings, Workers: workers, TempDir: w.tempDir, sortMemory: w.sortLimit,
	}, m
}

// write makes the plan and reads it.
func (w *world) write(t testing.TB, workers int) *made {
	t.Helper()
	r, m := w.request(t, workers)
	var out bytes.Buffer
	var err error
	if m.Result, err = Write(t.Context(), &out, r); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	m.bytes = out.Bytes()
	m.read(t)
	m.look(t)
	return m
}

func (m *made) read(t testing.TB) {
	t.Helper()
	r, digest, err := planfile.Open(bytes.NewReader(m.bytes))
	if err != nil {
		t.Fatal(err)
	}
	if digest != m.Digest {
		t.Error("another digest")
	}
	m.plan = plan{Header: r.Header(), known: all(t, r.Known()), guards: all(t, r.Guards()), items: all(t, r.Items()), quotas: all(t, r.Quotas()), dirs: map[uint64][]planfile.Directory{}}
	for i := range m.plan.items {
		m.plan.dirs[m.plan.items[i].InodeID] = all(t, r.Directories(&m.plan.items[i]))
	}
}

func all[T any](t testing.TB, seq iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// Names of runs and savepoints.
const (
	runA  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1"
	runB  = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb2"
	runC  = "cccccccccccccccccccccccccccccccc"
	runD  = "0123abcd-89ab-cdef-0123-456789abcdef"
	runE  = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
	spA   = "savepoint-aaaaaa-000000000001"
	spB   = "savepoint-bbbbbb-000000000002"
	spC   = "savepoint-cccccc-000000000003"
	spDot = "savepoint-aaaaaa-00000000000f"
)

// randomWorlds calls a test with many worlds. again makes the same world once more.
func randomWorlds(t *testing.T, n int, test func(t *testing.T, w *world, again func() *world)) {
	t.Helper()
	first := uint64(1)
	if os.Getenv("FSWEEP_RANDOM_SEED") != "" {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", first)
	if testing.Short() {
		n = max(n/10, 10)
	}
	for i := range uint64(n) {
		again := func() *world { return randomWorld(rand.New(rand.NewPCG(first+i, 7))) }
		if test(t, again(), again); t.Failed() {
			t.Fatalf("seed %d", first+i)
		}
	}
}

// random makes worlds. Most of what it makes fits the layouts: a root that is stopped
// shows little.
type random struct {
	*rand.Rand
	w *world
}

func pick[T any](r random, list []T) T { return list[r.IntN(len(list))] }

func (r random) oneIn(n int) bool { return r.IntN(n) == 0 }

var (
	manyJobs  = []string{"job", "job-2", "job2", "job*", "a b", "line\nbreak", "bad\xff", "zażółć", "%41", "job.x", "[a]", `b\s`}
	manyRuns  = []string{runA, runB, runC, runD, runE}
	manyPaths = []string{"/q", "/q/cp", "/q/cp/job", "/user", "/user/flink", "/user/flink/sp", "/q/cp-runs", "/ha", "/tmp", "/tmp/deep", "/q/cp/inner"}
)

func randomWorld(rnd *rand.Rand) *world {
	r := random{Rand: rnd}
	mode := func() string { return pick(r, []string{"observe", "execute", "execute"}) }
	policy := "belts: {max_percent_of_root: 100%}\n"
	if r.oneIn(2) {
		policy = fmt.Sprintf("belts: {max_items: %d, max_inodes_per_move: %d, max_inodes: %d, max_bytes: %dB, max_percent_of_root: %d%%}\n",
			1+r.IntN(30), 3+r.IntN(20), 30+r.IntN(400), r.IntN(2)*r.IntN(100000), 10+r.IntN(91))
	}
	if r.oneIn(4) {
		policy += "preflight: all\n"
	}
	if r.oneIn(4) {
		policy += "removal: quarantine:" + pick(r, []string{"/trash/box", "/q/box", "/user/flink/box"}) + "\n"
	}
	optIn := "    unreferenced_shared: {older_than: 168h}\n    stale_checkpoints: {keep_newest: 1, older_than: 200h}\n"
	run := func() string { return pick(r, []string{"", optIn, optIn}) }
	policy += "live: [{file: k8s, format: kubernetes}]\nroots:\n" +
		"  - path: /q/cp\n    layout: job-run\n    exclude_jobs: [inner, left]\n    ignore: [README]\n    mode: " + mode() + "\n" + run() +
		"  - path: /q/cp/inner/a/deep\n    layout: job-run\n    mode: " + mode() + "\n" + run() +
		"  - path: /q/cp-runs\n    layout: run\n    mode: " + mode() + "\n" + run() +
		"  - path: /user/flink/sp\n    layout: savepoints\n    job_map: map\n    mode: " + mode() + "\n" +
		"  - path: /ha\n    layout: ha-storage\n    mode: " + mode() + "\n" +
		"  - path: /tmp/deep\n    layout: children\n    names: [spark-*]\n    min_age: 100h\n    mode: " + mode() + "\n"
	w := newWorld(policy)
	r.w = w
	w.live = []string{pick(r, manyRuns), pick(r, manyJobs)}
	w.jobMap = map[cleanup.Path]string{"/user/flink/sp": spA + " mapped job\ncccccc other\n"}
	if r.oneIn(2) {
		w.pins = []cleanup.Path{cleanup.Path("/q/cp/job/" + pick(r, manyRuns)), cleanup.Path("/user/flink/sp/" + spB)}
	}
	w.put("/q/cp/README", 5, 3)
	w.put("/q/cp/left/", 500)
	w.put("/q/cp/left/old/", 500)
	w.put("/elsewhere/a/_metadata", 10, 5)
	w.put("/ops/fsweep/", 10)
	for _, dir := range []string{"/q/cp", "/q/cp/inner/a/deep"} {
		w.put(dir+"/", 900)
		for _, j := range rnd.Perm(len(manyJobs))[:rnd.IntN(5)] {
			for _, n := range rnd.Perm(len(manyRuns))[:1+rnd.IntN(4)] {
				r.run(dir + "/" + manyJobs[j] + "/" + manyRuns[n])
			}
		}
	}
	w.put("/q/cp-runs/", 900)
	for _, n := range rnd.Perm(len(manyRuns))[:rnd.IntN(5)] {
		r.run("/q/cp-runs/" + manyRuns[n])
	}
	r.rest()
	r.attributes()
	for _, n := range w.it.Nodes() {
		n.Owner, n.Group = pick(r, []string{"flink", "hdfs", "o\xfe"}), pick(r, []string{"hadoop", "g h"})
	}
	return w
}

// rest makes savepoints, clusters and children.
func (r random) rest() {
	w := r.w
	w.put("/user/flink/sp/", 900)
	for _, sp := range []string{spA, spB, spC, "j/" + spA, "j/" + spB, "j/" + spC, "j-/" + spDot} {
		if r.oneIn(2) {
			age := r.age()
			w.put("/user/flink/sp/"+sp+"/_metadata", age, uint64(r.IntN(3)*50))
			w.put("/user/flink/sp/"+sp+"/x", age, 7, 8)
		}
	}
	w.put("/ha/", 900)
	for _, c := range []string{"c1", "job", "c-3"} {
		age := r.age()
		if r.oneIn(2) {
			w.put("/ha/"+c+"/completedCheckpoint0123", age, uint64(r.IntN(50)))
			w.put("/ha/"+c+"/submittedJobGraph0123", age, 9)
			w.put("/ha/"+c+"/blob/job_1/b", age, 9)
		}
	}
	w.put("/tmp/deep/", 900)
	for range r.IntN(5) {
		dir := fmt.Sprintf("/tmp/deep/spark-%d", r.IntN(9))
		for range r.IntN(6) {
			w.put(dir+"/"+pick(r, []string{"a", "a-b", "a.b", "ab", "z\xff"})+"/"+pick(r, []string{"a", "b", "c/d", "c-/d"})+fmt.Sprint("/", r.IntN(3)), r.age(), uint64(r.IntN(900)))
		}
	}
	if r.oneIn(3) {
		w.it.Symlink("/tmp/deep/spark-1/link", "/x").MTimeMs = imageTime.UnixMilli() - 500*hour
	}
}

func (r random) age() int64 { return pick(r, []int64{1, 30, 100, 150, 200, 300, 300, 400, 500, 600}) }

func (r random) run(dir string) {
	w, age := r.w, r.age()
	for range r.IntN(4) {
		chk := fmt.Sprintf("%s/chk-%d", dir, pick(r, []int{1, 2, 3, 10, 11}))
		switch r.IntN(6) {
		case 0:
			w.put(chk+"/part", age+int64(r.IntN(50)), 11)
		case 1:
			w.put(chk+"/", age)
		case 2:
			w.put(chk+"/._metadata.inprogress.7", age+5, 12)
			fallthrough
		default:
			w.put(chk+"/_metadata", age+int64(r.IntN(50)), uint64(r.IntN(4)*20))
		}
	}
	for _, area := range []string{"shared", "taskowned"} {
		w.put(dir+"/"+area+"/", age)
		for range r.IntN(5) {
			name := pick(r, []string{"f1", "f2", "f-3", "job_1_op_2/m1", "job_1_op_2/m2", "completedCheckpointX"})
			if area == "shared" && r.oneIn(4) {
				name = "op_X/db/" + pick(r, []string{"1.sst", "a/2.sst", "a-/2.sst"})
			}
			n := w.put(dir+"/"+area+"/"+name, age+int64(r.IntN(200)), uint64(r.IntN(5)), 100)
			if r.oneIn(8) {
				n.ATimeMs = imageTime.UnixMilli() - pick(r, []int64{1, 170, 300})*hour
			}
			if r.oneIn(6) {
				n.Policy = pick(r, []uint32{2, 5, 7, 10, 12})
			}
			n.Replication = uint32(1 + r.IntN(3))
		}
	}
	if r.oneIn(4) {
		w.put(dir+"/dstl/x", age, 4)
	}
}

// attributes sets quotas and the like, also where they forbid much.
func (r random) attributes() {
	w := r.w
	for _, path := range manyPaths {
		n := w.put(path+"/", 900)
		if r.oneIn(2) {
			n.Quota(int64(1000+r.IntN(1000)), pick(r, []int64{-1, 1 << 40}))
		}
		if r.oneIn(4) {
			n.TypeQuota(1, 1<<40)
		}
		if r.oneIn(6) {
			n.SetPolicy(pick(r, []byte{2, 5, 7, 10, 12}))
		}
	}
	if r.oneIn(4) {
		w.snapshot(pick(r, []string{"/q", "/q/cp", "/user"}))
	}
	if r.oneIn(6) {
		w.it.Dir(pick(r, []string{"/q", "/q/cp-runs", "/"})).XAttr(imagetest.XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
	}
	if r.oneIn(8) {
		w.put("/q/cp-runs/"+runA+"/odd", 300, 1)
	}
	if r.oneIn(10) {
		w.put("/q/cp/chk-1/", 300)
	}
}

package planfile

import (
	"bytes"
	"iter"
	"strings"
	"testing"
)

const (
	imageTime = int64(1_764_300_000_000)
	now       = imageTime + 3_600_000
	day       = int64(86_400_000)
	hex32     = "a1b2c3d4e5f60718293a4b5c6d7e8f9"
)

// plan is a whole plan in memory.
type plan struct {
	Header Header
	Known  []Known
	Guards []Guard
	Items  []planItem
	Quotas []Quota
}

type planItem struct {
	Item Item
	Dirs []Directory
}

func (p *plan) write(t testing.TB) ([]byte, Digest) {
	t.Helper()
	b, d, err := p.tryWrite()
	if err != nil {
		t.Fatal(err)
	}
	return b, d
}

func (p *plan) tryWrite() ([]byte, Digest, error) { return p.tryWriteBy(func(*Writer) {}) }

// replaying is tryWrite by a writer that asks for the guards again.
func (p *plan) replaying() ([]byte, Digest, error) {
	return p.tryWriteBy(func(w *Writer) {
		n := 0
		w.Replay(func() ([]byte, uint64, bool, error) {
			if n == len(p.Guards) {
				return nil, 0, false, nil
			}
			n++
			return []byte(p.Guards[n-1].Path), p.Guards[n-1].Item, true, nil
		})
	})
}

func (p *plan) tryWriteBy(prepare func(*Writer)) ([]byte, Digest, error) {
	var b bytes.Buffer
	w, err := NewWriter(&b, p.Header)
	if err != nil {
		return nil, Digest{}, err
	}
	prepare(w)
	for _, k := range p.Known {
		_ = w.Known(k) // errors stick: Close has the first
	}
	for _, g := range p.Guards {
		_ = w.Guard(g)
	}
	for _, i := range p.Items {
		_ = w.Item(i.Item)
		for _, d := range i.Dirs {
			_ = w.Directory(d)
		}
	}
	for _, q := range p.Quotas {
		_ = w.Quota(q)
	}
	d, err := w.Close()
	return b.Bytes(), d, err
}

// readPlan opens a plan and reads it back, without the places of items.
func readPlan(b []byte) (*plan, Digest, error) {
	r, d, err := Open(bytes.NewReader(b))
	if err != nil {
		return nil, d, err
	}
	p := &plan{Header: r.Header()}
	if p.Known, err = collect(r.Known()); err != nil {
		return nil, d, err
	}
	if p.Guards, err = collect(r.Guards()); err != nil {
		return nil, d, err
	}
	for i, err := range r.Items() {
		if err != nil {
			return nil, d, err
		}
		dirs, err := collect(r.Directories(&i))
		if err != nil {
			return nil, d, err
		}
		i.ref, i.dirs = Ref{}, Ref{}
		p.Items = append(p.Items, planItem{i, dirs})
	}
	p.Quotas, err = collect(r.Quotas())
	return p, d, err
}

func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func ptr(v int64) *int64 { return &v }

func sampleHeader() Header {
	return Header{
		Format: Format, Tool: "fsweep", Version: "1.4.0",
		Source: Source{
			Image: "fsimage_0000000000000012345", MD5: "0123456789abcdef0123456789abcdef", SizeBytes: 987_654_321, Verified: true,
			TxID: 12345, NamespaceID: 1_234_567_890, ClusterID: "CID-8f6c", LayoutVersion: -66, ImageTimeMs: imageTime, ImageTimeSource: "sidecar",
		},
		Policy: Policy{Name: "policy.yaml", Digest: Digest{1, 2, 3}}, NowMs: now, ExpiresMs: imageTime + day, Nameservice: "nameservice1",
		Executable: true, Warnings: []string{"/flink-savepoints: the root was stopped"},
		Preflight: PreflightRoot, Removal: RemovalTrash, UnreadableGuard: UnreadableOwnerAndRoot, GuardAgeMs: day,
		ForeignAuthorities: []string{"other:8020"},
		LockDir:            Place{Path: "/ops/fsweep"}, HoldPaths: []Place{{Path: "/ops/fsweep/HOLD"}},
		Anchors: []Place{{"/flink-checkpoints", 16400}}, Protect: []Place{{"/flink-checkpoints/dgraph", 16900}},
		Belts: Belts{MaxItems: 500, MaxInodesPerMove: 100_000, MaxInodes: 500_000, MaxPercentOfRoot: 30, MinTrashIntervalMs: day},
		Pace:  Pace{BetweenItemsMs: 200, Batch: 50, BetweenBatchesMs: 10_000, BetweenRootsMs: 60_000, RPCTimeoutMs: 60_000, Window: "01:00-05:00", StopOn: "anomaly"},
		Live:  []Input{{"flink-k8s.json", "kubernetes", 2 * 3_600_000, 31, 8, 2}}, Pins: []Input{{"pinned-savepoints.txt", "lines", day, 0, 0, 3}},
		Roots: []Root{
			{Path: "/flink-checkpoints", InodeID: 16400, Layout: LayoutJobRun, Mode: ModeExecute, Inodes: 1000},
			{Path: "/flink-checkpoints/dgraph", InodeID: 16900, Layout: LayoutJobRun, Mode: ModeObserve, Inodes: 50},
			{Path: "/flink-savepoints", Layout: LayoutSavepoints, Mode: ModeExecute, Stopped: []Stop{{"a file where a savepoint should be", "/flink-savepoints/x", 17001}}},
			{Path: "/flink-sessions", InodeID: 17100, Layout: LayoutRun, Mode: ModeObserve, Inodes: 100},
			{Path: "/k8s-ha", InodeID: 17200, Layout: LayoutHAStorage, Mode: ModeObserve, Inodes: 100},
			{Path: "/savepoints", InodeID: 17300, Layout: LayoutSavepoints, Mode: ModeObserve, Inodes: 100},
			{Path: "/tmp", InodeID: 17400, Layout: LayoutChildren, Mode: ModeExecute, Inodes: 100},
		},
	}
}

// item fills what every item needs; rel is its path below root.
func item(kind Kind, root, rel string, id, parent uint64) Item {
	i := Item{
		Kind: kind, Path: Path(root + "/" + rel), InodeID: id, ParentID: parent, Owner: "flink", Group: "hadoop", MTimeMs: imageTime - 10*day,
		Root: Path(root), Entries: 1, Totals: Totals{Directories: 1}, Fingerprint: TreeHash{byte(id), 1}, Rule: "old-run",
	}
	return i
}

// samplePlan has every kind of line and item, in every layout.
func samplePlan() *plan {
	run0, run1, run2 := hex32+"0", hex32+"1", hex32+"2"
	const root = "/flink-checkpoints"
	p := &plan{
		Header: sampleHeader(),
		Known: []Known{
			{KnownJob, "/flink-checkpoints/orders", 16401, root},
			{KnownRun, Path("/flink-checkpoints/orders/" + run0), 16402, root},
			{KnownRun, Path("/flink-checkpoints/orders/" + run1), 16403, root},
			{KnownEntry, "/tmp/spark-\xff", 17401, "/tmp"},
		},
		Guards: []Guard{
			{GuardMetadata, Path("/flink-checkpoints/orders/" + run1 + "/chk-9/_metadata"), 16450, 9021, imageTime - day, "flink", root, 0, "", 0},
			{GuardHAPointer, "/ha/completedCheckpoint1", 18000, 777, 0, "flink", "", 0, "block lost in March, job retired", imageTime + 30*day},
		},
	}
	unit := item(KindUnit, root, "orders/"+run0, 16402, 16401)
	unit.Job, unit.Run, unit.NeedsReferenceProof = "orders", Name(run0), true
	unit.Children, unit.Entries = 2, 5
	unit.Totals = Totals{Files: 2, Directories: 3, Length: 5000, Space: 15000}
	unit.Evidence = []Fact{{"newer_runs", "", 1}, {"newest_complete", "chk-9 of " + run1, 0}, {"live", "", 0}}
	unit.Freed = Freed{AfterTrash: 15000}
	unit.QuotaEffects = []Effect{{16400, 5, 15000, TypeSpace{Disk: 15000}}}
	checkpoint := item(KindCheckpoint, root, "orders/"+run1+"/chk-7", 16460, 16403)
	checkpoint.Job, checkpoint.Run, checkpoint.Rule, checkpoint.Conditional = "orders", Name(run1), "stale-checkpoint", true
	shared := item(KindFile, root, "orders/"+run1+"/shared/0a", 16461, 16404)
	shared.Job, shared.Run, shared.Rule, shared.Deferred = "orders", Name(run1), "unreferenced-shared", "max_items"
	shared.Totals = Totals{Files: 1, Length: 10, Space: 30}
	shared.Freed = Freed{AfterTrash: 10, HeldBySnapshots: 20}
	shared.QuotaEffects = []Effect{{16400, 1, 30, TypeSpace{Disk: 30}}}
	part := item(KindFile, root, "payments/"+run2+"/shared", 16470, 16469)
	part.Job, part.Run, part.SplitOf = "payments", Name(run2), 16469
	session := item(KindUnit, "/flink-sessions", run0, 17101, 17100)
	session.Run = Name(run0)
	cluster := item(KindUnit, "/k8s-ha", "cluster-a", 17201, 17200)
	cluster.Run = "cluster-a"
	savepoint := item(KindUnit, "/savepoints", "orders/savepoint-a1b2c3-0123456789ab", 17302, 17301)
	savepoint.Job, savepoint.Run = "orders", "savepoint-a1b2c3-0123456789ab"
	child := item(KindChild, "/tmp", "spark-\xff\n\\", 17401, 17400)
	child.Owner, child.Children, child.Entries, child.Totals = "spark\xfe", 2, 3, Totals{Files: 2, Directories: 1}
	p.Items = []planItem{
		{unit, []Directory{{"chk-3", 16410, imageTime - 12*day, 1}, {"shared", 16411, 0, 1}}},
		{Item: checkpoint},
		{Item: shared},
		{Item: part},
		{Item: session},
		{Item: cluster},
		{Item: savepoint},
		{Item: child},
	}
	p.Quotas = []Quota{{
		Path: root, InodeID: 16400, NSQuota: ptr(1000), NSBefore: 1000, NSAfter: 995, DSBefore: 1 << 40, DSAfter: 1<<40 - 15000,
		TypeQuota: TypeLimit{SSD: ptr(0)}, TypesBefore: TypeSpace{Disk: 20000}, TypesAfter: TypeSpace{Disk: 5000},
	}}
	return p
}

// wantError demands an error whose text has part.
func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want one with %q", err, part)
	}
}

package check_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/check"
	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

const day = int64(86_400_000)

// world is a cluster, and what a plan made of it shall have.
type world struct {
	t      testing.TB
	fs     *fakehdfs.FS
	header planfile.Header
	items  []planned
	deep   bool
	live   check.Named
	pins   check.Named
	waive  string // path of a guard

	doubt bool // the lists are not given
	edit  func(*planfile.Header)
}

type planned struct {
	path string
	edit func(*planfile.Item)
}

// run gives a run id.
func run(n int) string { return fmt.Sprintf("a1b2c3d4e5f60718293a4b5c6d7e%04x", n) }

const (
	jobs      = "/flink/c"
	runs      = "/flink/run"
	saves     = "/flink/sp"
	clusters  = "/flink/ha"
	scratch   = "/scratch"
	savepoint = saves + "/savepoint-aaaaaa-0123456789ab"
	outside   = "/other/app/chk-1/_metadata"
)

var (
	order0, order1, order2 = jobs + "/orders/" + run(0), jobs + "/orders/" + run(1), jobs + "/orders/" + run(2)
	pay0, pay1             = jobs + "/payments/" + run(10), jobs + "/payments/" + run(11)
	single0, single1       = runs + "/" + run(20), runs + "/" + run(21)
)

// metadata is a `_metadata` file of version 3 that refers to files: each is the managed
// state of the one subtask of an operator. Those without a slash are relative.
func metadata(refs ...string) []byte {
	be := binary.BigEndian
	b := be.AppendUint32(nil, 0x4960672d)
	b = be.AppendUint32(b, 3)
	b = be.AppendUint64(b, 7)                 // checkpoint id
	b = be.AppendUint32(b, 0)                 // master states
	b = be.AppendUint32(b, uint32(len(refs))) // operators
	for i, ref := range refs {
		b = be.AppendUint64(b, 0) // id
		b = be.AppendUint64(b, uint64(i))
		b = be.AppendUint32(b, 1)   // parallelism
		b = be.AppendUint32(b, 128) // maximum
		b = append(b, 0)            // coordinator
		b = be.AppendUint32(b, 1)   // subtasks
		b = be.AppendUint32(b, 0)   // index
		b = be.AppendUint32(b, 1)
		b = append(b, 4)          // state that can be divided
		b = be.AppendUint32(b, 0) // names in it
		if strings.Contains(ref, "/") {
			b = append(b, 2)
			b = be.AppendUint64(b, 10)
			b = be.AppendUint16(b, uint16(len(ref)))
			b = append(b, ref...)
		} else {
			b = append(b, 6)
			b = be.AppendUint16(b, uint16(len(ref)))
			b = append(b, ref...)
			b = be.AppendUint64(b, 10)
		}
		b = be.AppendUint32(b, 0)                     // raw operator state
		b = append(b, 0, 0)                           // keyed state, managed and raw
		b = be.AppendUint32(be.AppendUint32(b, 0), 0) // channels, in and out
	}
	return b
}

// pointer is a stream of Java objects that holds one string.
func pointer(ref string) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0xac, 0xed, 0, 5, 0x74}, uint16(len(ref)))
	return append(b, ref...)
}

func (w *world) flinkRun(dir string, n int, refs ...string) {
	w.fs.Put(dir+"/shared/"+path.Base(dir)[28:]+"-shared-file", "flink", []byte("0123456789"))
	w.fs.Mkdir(dir+"/taskowned", "flink", 0o755)
	w.fs.Put(fmt.Sprintf("%s/chk-%d/_metadata", dir, n), "flink", metadata(append(refs, "hdfs://ns1"+dir+"/shared/"+path.Base(dir)[28:]+"-shared-file")...))
}

// newWorld has every layout, with something to move and something to stay in each.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, fs: fakehdfs.New(fakehdfs.Options{HA: true})}
	fs := w.fs
	for i, dir := range []string{order0, order1, order2, pay0, pay1, single0, single1} {
		w.flinkRun(dir, i+3)
	}
	fs.Put(order2+"/chk-2/_metadata", "flink", metadata("hdfs://ns1"+order2+"/chk-2/state-of-its-own"))
	fs.Put(order2+"/chk-2/state-of-its-own", "flink", []byte("x"))
	fs.Put(order2+"/shared/unreferenced", "flink", []byte("x"))
	fs.Put(savepoint+"/_metadata", "flink", metadata("state-file-of-savepoint"))
	fs.Put(savepoint+"/state-file-of-savepoint", "flink", []byte("x"))
	fs.Put(saves+"/savepoint-bbbbbb-0123456789ab/_metadata", "flink", metadata("state-file-b"))
	fs.Put(saves+"/savepoint-bbbbbb-0123456789ab/state-file-b", "flink", []byte("x"))
	fs.Put(clusters+"/cluster-a/blob/x", "flink", []byte("x"))
	fs.Put(clusters+"/cluster-b/completedCheckpoint0123", "flink", pointer("hdfs://ns1"+single1+"/chk-9/_metadata"))
	fs.Put(scratch+"/spark-1/deep/x", "flink", []byte("x"))
	fs.Put(scratch+"/spark-2/x", "flink", []byte("x"))
	fs.Put(outside, "other", metadata("hdfs://ns1/other/app/shared/x"))
	fs.Mkdir("/user/flink", "flink", 0o700)
	fs.Mkdir("/ops/fsweep", "flink", 0o755)
	w.old("/", 20)
	for _, p := range []string{order0, order1, order2 + "/chk-2", order2 + "/shared/unreferenced", pay0, single0, savepoint, clusters + "/cluster-a", scratch + "/spark-1"} {
		w.items = append(w.items, planned{path: p})
	}
	w.live = check.Named{IDs: []string{run(900)}, Clusters: []string{"some-cluster"}, HAConfigMaps: 1}
	fs.Advance(time.Hour)
	return w
}

// old makes everything below a directory so many days old.
func (w *world) old(dir string, days int64) {
	for _, e := range w.fs.Entries() {
		if strings.HasPrefix(e.Path+"/", strings.TrimSuffix(dir, "/")+"/") {
			if e.Kind != execute.Symlink {
				w.fs.SetTimes(e.Path, w.fs.Now().UnixMilli()-days*day, -1)
			}
		}
	}
	for _, e := range w.fs.Entries() { // the newest of a tree is at its bottom
		if e.Kind == execute.Directory && strings.HasPrefix(e.Path+"/", strings.TrimSuffix(dir, "/")+"/") {
			w.fs.SetTimes(e.Path, w.fs.Now().UnixMilli()-days*day, -1)
		}
	}
}

func (w *world) roots() []planfile.Root {
	var all []planfile.Root
	for _, r := range []planfile.Root{
		{Path: jobs, Layout: planfile.LayoutJobRun},
		{Path: clusters, Layout: planfile.LayoutHAStorage},
		{Path: runs, Layout: planfile.LayoutRun},
		{Path: saves, Layout: planfile.LayoutSavepoints},
		{Path: scratch, Layout: planfile.LayoutChildren},
	} {
		e, ok := w.fs.Lookup(string(r.Path))
		if !ok {
			continue
		}
		r.InodeID, r.Mode, r.Inodes = e.ID, planfile.ModeExecute, 10_000
		all = append(all, r)
	}
	return all
}

// plan writes a plan of the cluster as it is now, and opens it.
func (w *world) plan() (*planfile.Reader, planfile.Digest) {
	w.t.Helper()
	if w.header.Roots == nil {
		w.header.Roots = w.roots()
	}
	now := w.fs.Now().UnixMilli()
	ops, _ := w.fs.Lookup("/ops/fsweep")
	h := w.header
	h.Tool, h.Version, h.Nameservice = "fsweep", "1.0.0", "ns1"
	h.Source = planfile.Source{Image: "fsimage_1", SizeBytes: 1, TxID: 1, NamespaceID: 1, LayoutVersion: -66, ImageTimeMs: now, ImageTimeSource: "sidecar"}
	h.Policy = planfile.Policy{Name: "policy.yaml", Digest: planfile.Digest{1}}
	h.NowMs, h.ExpiresMs, h.Complete, h.Executable = now, now+day, true, true
	h.Preflight, h.Removal = planfile.PreflightRoot, planfile.RemovalTrash
	if h.UnreadableGuard == "" {
		h.UnreadableGuard = planfile.UnreadableOwnerAndRoot
	}
	h.GuardAgeMs = day
	h.LockDir = planfile.Place{Path: "/ops/fsweep", InodeID: ops.ID}
	h.HoldPaths = []planfile.Place{{Path: "/ops/HOLD"}}
	for _, r := range h.Roots {
		if r.InodeID != 0 {
			h.Anchors = append(h.Anchors, planfile.Place{Path: r.Path, InodeID: r.InodeID})
		}
	}
	h.Belts = planfile.Belts{MinTrashIntervalMs: day}
	h.Pace = planfile.Pace{Batch: 50, RPCTimeoutMs: 60_000, StopOn: "anomaly"}
	h.Live = []planfile.Input{{File: "live.json", Format: "kubernetes", MaxAgeMs: day, IDs: int64(len(w.live.IDs)), Clusters: int64(len(w.live.Clusters))}}
	h.Pins = []planfile.Input{{File: "pins.txt", Format: "lines", MaxAgeMs: day}}
	if w.edit != nil {
		w.edit(&h)
	}
	var b bytes.Buffer
	out, err := planfile.NewWriter(&b, h)
	if err != nil {
		w.t.Fatal(err)
	}
	s := snapshotOf(w)
	for _, k := range s.known() {
		_ = out.Known(k) // Close has the first error
	}
	for _, g := range s.guards() {
		_ = out.Guard(g)
	}
	for _, p := range w.items {
		item, dirs := s.item(p)
		_ = out.Item(item)
		for _, d := range dirs {
			_ = out.Directory(d)
		}
	}
	if _, err := out.Close(); err != nil {
		w.t.Fatal(err)
	}
	r, d, err := planfile.Open(bytes.NewReader(b.Bytes()))
	if err != nil {
		w.t.Fatal(err)
	}
	return r, d
}

func (w *world) session(r *planfile.Reader, d planfile.Digest, edit ...func(*check.Options)) *check.Session {
	w.t.Helper()
	c := w.fs.Client("flink")
	o := check.Options{Now: w.fs.Now, Deep: w.deep, Lists: func(_ planfile.Input, pins bool) (*check.Named, error) {
		if pins {
			return &w.pins, nil
		}
		return &w.live, nil
	}}
	if w.doubt {
		o.Lists = nil
	}
	for _, e := range edit {
		e(&o)
	}
	s, err := check.New(r, d, c, c, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// snapshot is the cluster when the plan is made.
type snapshot struct {
	w  *world
	at []fakehdfs.Entry
	by map[string]fakehdfs.Entry
}

func snapshotOf(w *world) *snapshot {
	s := &snapshot{w: w, at: w.fs.Entries(), by: map[string]fakehdfs.Entry{}}
	slices.SortFunc(s.at, func(a, b fakehdfs.Entry) int { return strings.Compare(a.Path, b.Path) })
	for _, e := range s.at {
		s.by[e.Path] = e
	}
	slices.SortFunc(w.items, func(a, b planned) int { return strings.Compare(a.path, b.path) })
	return s
}

func (s *snapshot) rootOf(p string) (planfile.Root, string) {
	for _, r := range s.w.header.Roots {
		if planfile.Path(p).Below(r.Path) {
			return r, p[len(r.Path)+1:]
		}
	}
	return planfile.Root{}, ""
}

func (s *snapshot) known() (all []planfile.Known) {
	for _, e := range s.at {
		root, rel := s.rootOf(e.Path)
		depth := strings.Count(rel, "/")
		k := planfile.Known{Path: planfile.Path(e.Path), InodeID: e.ID, Root: root.Path}
		switch {
		case rel == "" || e.Kind != execute.Directory:
			continue
		case root.Layout == planfile.LayoutJobRun && depth == 0:
			k.Kind = planfile.KnownJob
		case root.Layout == planfile.LayoutJobRun && depth == 1, root.Layout == planfile.LayoutRun && depth == 0:
			k.Kind = planfile.KnownRun
		case root.Layout == planfile.LayoutSavepoints && depth == 0 && !strings.HasPrefix(rel, "savepoint-"):
			k.Kind = planfile.KnownJob
		case root.Layout == planfile.LayoutSavepoints && strings.HasPrefix(path.Base(rel), "savepoint-"):
			k.Kind = planfile.KnownSavepoint
		case root.Layout == planfile.LayoutHAStorage && depth == 0:
			k.Kind = planfile.KnownCluster
		case root.Layout == planfile.LayoutChildren && depth == 0:
			k.Kind = planfile.KnownEntry
		default:
			continue
		}
		all = append(all, k)
	}
	return all
}

func (s *snapshot) guards() (all []planfile.Guard) {
	for _, e := range s.at {
		name := path.Base(e.Path)
		g := planfile.Guard{Kind: planfile.GuardMetadata, Path: planfile.Path(e.Path), InodeID: e.ID, Length: e.Length, MTimeMs: e.MTimeMs, Owner: planfile.Name(e.Owner)}
		if strings.HasPrefix(name, "completedCheckpoint") {
			g.Kind = planfile.GuardHAPointer
		} else if name != "_metadata" {
			continue
		}
		root, _ := s.rootOf(e.Path)
		g.Root = root.Path
		for _, i := range s.w.items {
			if strings.HasPrefix(e.Path, i.path+"/") {
				g.Item = s.by[i.path].ID
			}
		}
		if e.Path == s.w.waive {
			g.Waived, g.WaivedUntilMs = "lost in March", s.w.fs.Now().UnixMilli()+day
		}
		all = append(all, g)
	}
	return all
}

func (s *snapshot) item(p planned) (planfile.Item, []planfile.Directory) {
	e, ok := s.by[p.path]
	if !ok {
		s.w.t.Fatalf("no %s", p.path)
	}
	root, rel := s.rootOf(p.path)
	parts := strings.Split(rel, "/")
	i := planfile.Item{
		Path: planfile.Path(p.path), InodeID: e.ID, ParentID: s.by[path.Dir(p.path)].ID, Owner: planfile.Name(e.Owner), Group: planfile.Name(e.Group),
		MTimeMs: e.MTimeMs, Root: root.Path, Children: e.Children, Rule: "old-run", Kind: planfile.KindUnit, NeedsReferenceProof: true,
	}
	depth := 1
	switch root.Layout {
	case planfile.LayoutJobRun:
		i.Job, i.Run, depth = planfile.Name(parts[0]), planfile.Name(parts[1]), 2
	case planfile.LayoutRun, planfile.LayoutHAStorage:
		i.Run = planfile.Name(parts[0])
	case planfile.LayoutSavepoints:
		i.Run = planfile.Name(parts[len(parts)-1])
		if len(parts) == 2 {
			i.Job, depth = planfile.Name(parts[0]), 2
		}
	case planfile.LayoutChildren:
		i.Kind = planfile.KindChild
	}
	switch {
	case len(parts) > depth && strings.HasPrefix(parts[depth], "chk-"):
		i.Kind = planfile.KindCheckpoint
	case len(parts) > depth:
		i.Kind = planfile.KindFile
	}
	sum := planfile.Fingerprint()
	var dirs []planfile.Directory
	for _, in := range s.at {
		if in.Path != p.path && !strings.HasPrefix(in.Path, p.path+"/") {
			continue
		}
		kind := planfile.EntryFile
		i.Entries++
		switch in.Kind {
		case execute.Directory:
			kind = planfile.EntryDirectory
			i.Totals.Directories++
			if in.Path != p.path {
				dirs = append(dirs, planfile.Directory{Path: planfile.Name(in.Path[len(p.path)+1:]), InodeID: in.ID, MTimeMs: in.MTimeMs, Children: in.Children})
			}
		case execute.Symlink:
			kind = planfile.EntrySymlink
			i.Totals.Symlinks++
		case execute.File:
			i.Totals.Files++
			i.Totals.Length += in.Length
			i.Totals.Space += in.Length
		}
		sum.Add(planfile.Entry{InodeID: in.ID, ParentID: s.by[path.Dir(in.Path)].ID, Kind: kind, Length: in.Length, MTimeMs: in.MTimeMs, Name: []byte(path.Base(in.Path))})
	}
	i.Fingerprint = sum.Digest(e.ID)
	if p.edit != nil {
		p.edit(&i)
	}
	return i, dirs
}

// verdicts gives what keeps each item; "" if it may move.
func verdicts(t testing.TB, s *check.Session) map[string]check.Verdict {
	t.Helper()
	all := map[string]check.Verdict{}
	for i, v := range s.Items() {
		all[string(i.Path)] = v
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// expect compares verdicts with the rules that should keep; all others move.
func (w *world) expect(s *check.Session, want map[string]check.Rule) {
	w.t.Helper()
	got := verdicts(w.t, s)
	if len(got) != len(w.items) {
		w.t.Errorf("%d verdicts of %d items", len(got), len(w.items))
	}
	for _, p := range w.items {
		v, ok := got[p.path]
		if !ok || v.Rule != want[p.path] || v.Move != (want[p.path] == "") {
			w.t.Errorf("%s: %q %v by %q, want %q", p.path, v.Rule, v.Facts, v.Guard, want[p.path])
		}
	}
}

package flink

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

const base = imagetest.DefaultTimeMs

// at sets the times of a node, in milliseconds after base.
func at(n *imagetest.Node, ms int64) *imagetest.Node {
	n.MTimeMs, n.ATimeMs = base+ms, base+ms
	return n
}

// TestOneRun looks at all that is known about one run.
func TestOneRun(t *testing.T) {
	t.Parallel()
	it := imagetest.NewTree()
	dir := "/r/job/" + runA
	at(it.File(dir+"/chk-9/_metadata", 100), 50).ATimeMs = base + 5000 // whoever looks at checkpoints reads it
	at(it.File(dir+"/chk-9/f", 1000, 24), 40).ATimeMs = base + 900
	at(it.File(dir+"/chk-10/_metadata", 0), 70) // 0 bytes: not complete
	at(it.File(dir+"/chk-11/._metadata.inprogress.1f", 5), 80)
	at(it.File(dir+"/shared/s", 7), 90).ATimeMs = base + 500
	at(it.File(dir+"/taskowned/job_1_tm_1/m", 8), 10)
	at(it.File(dir+"/shared/op_X_1__1_2__attempt_0/db/a.sst", 9), 30)
	at(it.File(dir+"/dstl/u", 11), 20)
	run := it.Dir(dir).Own("flink", "ops", 0o750)
	at(run, 60)
	for _, d := range []string{"/chk-9", "/chk-10", "/chk-11", "/shared", "/taskowned", "/dstl", "/taskowned/job_1_tm_1", "/shared/op_X_1__1_2__attempt_0", "/shared/op_X_1__1_2__attempt_0/db"} {
		at(it.Dir(dir+d), 5)
	}
	it.Dir(dir+"/shared").Quota(10, imagetest.NoQuota)

	d := discover(t, load(t, it), decl(JobRun, "/r"))
	if n := d.Roots[0].NumMisfits; n != 0 {
		t.Fatal(texts(d.Roots[0].Misfits))
	}
	j := d.Roots[0].Jobs[0]
	u := j.Units[0]
	if j.Name != "job" || !j.Grouped() || j.INodeID != it.Dir("/r/job").ID || !j.Selected || j.Excluded || j.NumUnknown != 0 {
		t.Errorf("%+v", j)
	}
	if u.Kind != RunUnit || u.Name != runA || u.INodeID != run.ID || u.ParentID != j.INodeID ||
		u.MTimeMs != base+60 || !u.RunID || u.ConstantID || u.Skeleton || u.NumUnknown != 0 {
		t.Errorf("%+v", u)
	}
	length := int64(100 + 1024 + 5 + 7 + 8 + 9 + 11)
	if want := (Totals{Directories: 10, Files: 8, Length: length, Space: 3 * length}); u.Totals != want {
		t.Errorf("%+v, want %+v", u.Totals, want)
	}
	want := Times{
		Newest: Stamp{base + 90, SharedPlace}, Rank: Stamp{base + 90, SharedPlace}, OldestMs: base + 5,
		NewestMetadataMs: base + 50, HasMetadata: true, NewestDataATimeMs: base + 900,
	}
	if u.Times != want {
		t.Errorf("%+v, want %+v", u.Times, want)
	}
	if want := (Stamp{base + 90, SharedPlace}); u.NewestFile != want {
		t.Errorf("%+v", u.NewestFile)
	}
	if want := (Flags{QuotaInside: true}); u.Flags != want {
		t.Errorf("%+v", u.Flags)
	}
	if u.Shared.Totals.Files != 2 || u.Shared.ForSt != 1 || u.Shared.Merged != 0 || u.Taskowned.Merged != 1 || u.Taskowned.ForSt != 0 ||
		!u.Changelog.Exists() || u.Changelog.INodeID != it.Dir(dir+"/dstl").ID {
		t.Errorf("%+v %+v %+v", u.Shared, u.Taskowned, u.Changelog)
	}
	var got []string
	for _, c := range u.Checkpoints {
		got = append(got, fmt.Sprint(c.N, c.Complete(), c.Metadata != nil, len(c.InProgress), c.Totals.Files, c.Times.HasMetadata, c.Times.Newest.Ms-base, c.Times.Newest.Place))
	}
	if diff := cmp.Diff([]string{"9 true true 0 2 true 50 metadata", "10 false true 0 1 false 70 metadata", "11 false false 1 1 false 80 checkpoint"}, got); diff != "" {
		t.Error(diff)
	}
	if m := u.Checkpoints[0].Metadata; m.Length != 100 || m.MTimeMs != base+50 || m.Open {
		t.Errorf("%+v", m)
	}
	if f := u.Checkpoints[2].InProgress[0]; f.Name != "._metadata.inprogress.1f" || f.Length != 5 {
		t.Errorf("%+v", f)
	}
}

// TestUnknown: an entry that the layout does not have stops its job, not its
// root.
func TestUnknown(t *testing.T) {
	t.Parallel()
	run := "/r/j/" + runA
	for _, c := range []struct {
		name   string
		layout Layout
		plant  []string
		want   []string
		inJob  bool // not in the unit
	}{
		{name: "file in a run", plant: []string{run + "/x"}, want: []string{"unknown_file " + run + "/x"}},
		{name: "symlink in a run", plant: []string{run + "/x -> /y"}, want: []string{"unknown_symlink " + run + "/x"}},
		{name: "directory in a run", plant: []string{run + "/x/y/z"}, want: []string{"unknown_directory " + run + "/x"}},
		{name: "metadata in a run", plant: []string{run + "/_metadata"}, want: []string{"stray_metadata " + run + "/_metadata"}},
		{name: "metadata in shared", plant: []string{run + "/shared/_metadata"}, want: []string{"stray_metadata " + run + "/shared/_metadata"}},
		{name: "savepoint in a run", plant: []string{run + "/" + sp1 + "/_metadata"}, want: []string{"unknown_directory " + run + "/" + sp1, "stray_metadata " + run + "/" + sp1 + "/_metadata"}},
		{name: "directory in a checkpoint", plant: []string{run + "/chk-3/x/"}, want: []string{"unknown_directory " + run + "/chk-3/x"}},
		{name: "directory in shared", plant: []string{run + "/shared/x/"}, want: []string{"unknown_directory " + run + "/shared/x"}},
		{name: "ForSt in taskowned", plant: []string{run + "/taskowned/op_1/"}, want: []string{"unknown_directory " + run + "/taskowned/op_1"}},
		{name: "directory in the changelog", plant: []string{run + "/dstl/job_1/"}, want: []string{"unknown_directory " + run + "/dstl/job_1"}},
		{name: "checkpoint with zeros", plant: []string{run + "/chk-007/"}, want: []string{"odd_checkpoint_name " + run + "/chk-007"}},
		{name: "checkpoint beyond numbers", plant: []string{run + "/chk-99999999999999999999/"}, want: []string{"odd_checkpoint_name " + run + "/chk-99999999999999999999"}},
		{name: "run of another name", plant: []string{"/r/j/backup/chk-1/_metadata"}, want: []string{"odd_run_name /r/j/backup"}, inJob: true},
		{name: "file among runs", plant: []string{"/r/j/x"}, want: []string{"unknown_file /r/j/x"}, inJob: true},
		{name: "symlink among runs", plant: []string{"/r/j/x -> /y"}, want: []string{"unknown_symlink /r/j/x"}, inJob: true},
		{name: "known", plant: []string{run + "/dstl/x", run + "/.fsweep-keep", "/r/j/.fsweep-keep", run + "/shared/job_1/x", run + "/shared/op_1/db/x", run + "/taskowned/job_1/x", run + "/chk-3/.fsweep-keep"}},
	} {
		d := discover(t, load(t, plant(imagetest.NewTree(), slices.Concat(runAt(run), c.plant)...)), decl(JobRun, "/r"))
		j := d.Roots[0].Jobs[0]
		if d.Roots[0].NumMisfits != 0 {
			t.Errorf("%s: misfits %s", c.name, texts(d.Roots[0].Misfits))
		}
		if diff := cmp.Diff(c.want, texts(j.Unknown)); diff != "" || j.NumUnknown != int64(len(c.want)) {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, u := range j.Units {
			if u.Name == runA && (u.NumUnknown == 0) != (c.inJob || len(c.want) == 0) {
				t.Errorf("%s: %s", c.name, texts(u.Unknown))
			}
		}
	}
	// Where nothing groups units, an entry stops its unit.
	for _, c := range []struct {
		layout Layout
		plant  []string
		want   string
	}{
		{RunLayout, append(runAt("/r/"+runA), "/r/"+runA+"/x"), "unknown_file /r/" + runA + "/x"},
		{Savepoints, []string{"/r/" + sp1 + "/_metadata", "/r/" + sp1 + "/d/f"}, "unknown_directory /r/" + sp1 + "/d"},
		{Savepoints, []string{"/r/savepoint-mine/_metadata"}, "odd_savepoint_name /r/savepoint-mine"},
		{HAStorage, []string{"/r/c/x"}, "unknown_file /r/c/x"},
		{HAStorage, []string{"/r/c/d/"}, "unknown_directory /r/c/d"},
		{HAStorage, []string{"/r/c/_metadata"}, "stray_metadata /r/c/_metadata"},
		{HAStorage, []string{"/r/c/completedCheckpoint01 -> /x"}, "unknown_symlink /r/c/completedCheckpoint01"},
	} {
		r := discover(t, load(t, plant(imagetest.NewTree(), c.plant...)), decl(c.layout, "/r")).Roots[0]
		if u := r.Jobs[0].Units[0]; r.NumMisfits != 0 || !slices.Equal(texts(u.Unknown), []string{c.want}) || r.Jobs[0].NumUnknown != 0 {
			t.Errorf("%v: %s, job: %s", c.layout, texts(u.Unknown), texts(r.Jobs[0].Unknown))
		}
	}
	// A directory in a savepoint's job that is none stops that job.
	r := discover(t, load(t, plant(imagetest.NewTree(), "/r/j/mine/_metadata", "/r/j/"+sp1+"/_metadata")), decl(Savepoints, "/r")).Roots[0]
	if got := texts(r.Jobs[1].Unknown); r.NumMisfits != 0 || !slices.Equal(got, []string{"unknown_directory /r/j/mine"}) || len(r.Jobs[1].Units) != 1 {
		t.Errorf("%s", got)
	}
}

func TestManyUnknown(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), runAt("/r/j/"+runA)...)
	dir := it.Dir("/r/j/" + runA)
	for i := range 700 {
		it.FileIn(dir, fmt.Sprintf("f%03d", (i*7919)%700))
	}
	it.File("/r/j/x")
	j := discover(t, load(t, it), decl(JobRun, "/r")).Roots[0].Jobs[0]
	if u := j.Units[0]; u.NumUnknown != 700 || j.NumUnknown != 701 || len(u.Unknown) != 100 || len(j.Unknown) != 100 || string(u.Unknown[99].Path) != "/r/j/"+runA+"/f099" {
		t.Errorf("%d, %d, %d, %d", u.NumUnknown, j.NumUnknown, len(u.Unknown), len(j.Unknown))
	}
}

// TestSavepoints: right below the root they are in no job.
func TestSavepoints(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), "/r/"+sp1+"/_metadata", "/r/"+sp1+"/f", "/r/job/"+sp2+"/_metadata.inprogress.x", "/r/empty/")
	r := discover(t, load(t, it), decl(Savepoints, "/r")).Roots[0]
	if len(r.Jobs) != 3 || r.Jobs[0].Grouped() || r.Jobs[1].Name != "empty" || r.Jobs[2].Name != "job" {
		t.Fatalf("%+v", r.Jobs)
	}
	u, v := r.Jobs[0].Units[0], r.Jobs[2].Units[0]
	if u.Kind != SavepointUnit || !u.Complete() || !u.Times.HasMetadata || u.Times.NewestMetadataMs != base || u.Metadata.Length != 10 || len(u.InProgress) != 0 {
		t.Errorf("%+v", u)
	}
	if u.RunDigits() != "012345" || v.RunDigits() != "fedcba" || (&Unit{Kind: SavepointUnit, Name: "savepoint-x"}).RunDigits() != "" {
		t.Errorf("%s, %s", u.RunDigits(), v.RunDigits())
	}
	if v.Complete() || v.Metadata != nil || len(v.InProgress) != 1 || v.Times.HasMetadata {
		t.Errorf("%+v", v)
	}
}

// TestClusters: the stores of results are never clusters.
func TestClusters(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), "/ha/job-result-store/c/x.json", "/ha/application-result-store/c/", "/ha/c/completedCheckpoint0123456789ab",
		"/ha/c/submittedJobGraph0123456789ab", "/ha/c/blob/job_1/blob_p-1", "/ha/empty/")
	d := discover(t, load(t, it), decl(HAStorage, "/ha", exclude("empty")))
	r := d.Roots[0]
	if len(r.Stores) != 2 || r.NumMisfits != 0 || len(r.Jobs) != 2 || len(r.Jobs[0].Units) != 1 || !r.Jobs[1].Excluded || r.Jobs[1].Name != "empty" {
		t.Fatalf("%+v", r)
	}
	if u := r.Jobs[0].Units[0]; u.Kind != ClusterUnit || u.Name != "c" || u.Pointers != 2 || u.NumUnknown != 0 || u.Totals.Files != 3 || u.Times.NewestDataATimeMs != base {
		t.Errorf("%+v", u)
	}
}

// TestMarkers: they keep, and they never rank.
func TestMarkers(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), slices.Concat(runAt("/r/a/"+runA), runAt("/r/b/"+runA), runAt("/r/c/"+runA), runAt("/r/d/"+runA), []string{"/r/e/" + runA + "/shared/"})...)
	at(it.File("/r/a/"+runA+"/.fsweep-keep"), 1000)
	at(it.Dir("/r/a/"+runA), 1000)
	it.Dir("/r/b/"+runA+"/chk-3").XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
	for _, n := range it.Dir("/r/c/" + runA + "/shared").Children {
		n.XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
	}
	it.File("/r/d/.fsweep-keep")
	at(it.File("/r/e/"+runA+"/shared/.fsweep-keep"), 1000)
	it.Dir("/r/d").XAttr(imagetest.XAttrTrusted, "fsweep.keep", nil) // of another namespace
	var got []string
	r := discover(t, load(t, it), decl(JobRun, "/r")).Roots[0]
	for _, j := range r.Jobs {
		u := j.Units[0]
		s := fmt.Sprint(j.Name, " ", j.Marked, u.Marked, u.MarkedInside, u.Skeleton, " ", u.Times.Newest.Ms-base, u.Times.Newest.Place, " ", u.Times.Rank.Ms-base, u.Times.Rank.Place, " ", u.NewestFile.Place)
		for _, c := range u.Checkpoints {
			s += fmt.Sprint(" ", c.Marked, c.MarkedInside)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff([]string{
		"a false true false false 1000 unit 0 metadata metadata false false",
		"b false false true false 0 metadata 0 metadata metadata true false",
		"c false false true false 0 metadata 0 metadata metadata false false",
		"d true false false false 0 metadata 0 metadata metadata false false",
		"e false false true true 0 directory 0 unit none",
	}, got); diff != "" {
		t.Error(diff)
	}
	if r.Marked || r.NumMisfits != 0 {
		t.Errorf("%+v", r)
	}
	it = plant(imagetest.NewTree(), "/r/a/", "/q/a/", "/r/.fsweep-keep")
	it.Dir("/q").XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
	for _, r := range discover(t, load(t, it), decl(JobRun, "/r"), decl(JobRun, "/q")).Roots {
		if !r.Marked || r.NumMisfits != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// TestMarkedFile: a file that is to be kept keeps what it is in.
func TestMarkedFile(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), "/r/"+sp1+"/_metadata", "/r/"+sp2+"/_metadata")
	it.File("/r/"+sp1+"/f", 1).XAttr(imagetest.XAttrUser, "fsweep.keep", []byte("why"))
	it.File("/r/"+sp2+"/f", 1).XAttr(imagetest.XAttrUser, "fsweep.kept", nil)
	for _, u := range unitsOf(t, discover(t, load(t, it), decl(Savepoints, "/r"))) {
		if u.Marked || u.MarkedInside != (u.Name == sp1) {
			t.Errorf("%+v", u)
		}
	}
	it = plant(imagetest.NewTree(), runAt("/r/j/"+runA)...)
	it.File("/r/j/"+runA+"/chk-3/g", 1).XAttr(imagetest.XAttrUser, "fsweep.keep", nil)
	for _, u := range unitsOf(t, discover(t, load(t, it), decl(JobRun, "/r"))) {
		if c := u.Checkpoints[0]; u.Marked || !u.MarkedInside || c.Marked || !c.MarkedInside {
			t.Errorf("%+v", u)
		}
	}
}

// TestManyDirectories: the facts of directories whose files come in turns.
func TestManyDirectories(t *testing.T) {
	t.Parallel()
	run := "/r/j/" + runA
	it := plant(imagetest.NewTree(), runAt(run)...)
	for k := range 3 {
		for i := range 700 {
			n := it.File(fmt.Sprintf("%s/shared/job_%d/f%d", run, i, k), 1)
			n.MTimeMs, n.ATimeMs = base+int64((k+1)%3*1000+i), base+int64((k+2)%3*1000+i)
			if i%7 == 0 && k == 0 {
				n.MTimeMs = -int64(i)
			}
		}
	}
	dc := decl(JobRun, "/r")
	compareNaive(t, discover(t, load(t, it, fsimage.WithBuffer(4096)), dc), newNaive(dc, listing(it)), map[string]int{})
	if u := unitsOf(t, discover(t, load(t, it), dc))[0]; u.Shared.Merged != 700 || u.Times.UnknownMTimes != 100 || u.Times.OldestMs != -693 {
		t.Errorf("%+v", u.Times)
	}
}

// TestSnapshottable: a directory that may have snapshots, and has none, is no
// obstacle.
func TestSnapshottable(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), runAt("/r/j/"+runA)...)
	image := it.Image()
	s := image.Section(imagetest.SnapshotSection)
	s.Units = nil
	s.Add(&pb.SnapshotSection{SnapshotCounter: new(uint32(0)), NumSnapshots: new(uint32(0)), SnapshottableDir: []uint64{it.Dir("/r/j/" + runA).ID}})
	r := discover(t, loadImage(t, image), decl(JobRun, "/r")).Roots[0]
	if u := r.Jobs[0].Units[0]; u.Flags != (Flags{Snapshottable: true}) || u.Checkpoints[0].Flags != (Flags{}) || r.Jobs[0].Flags != (Flags{SnapshottableInside: true}) {
		t.Errorf("%+v", u.Flags)
	}
}

// TestFlags: what can never be moved itself.
func TestFlags(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), slices.Concat(runAt("/r/a/"+runA), runAt("/r/b/"+runA), runAt("/r/c/"+runA), runAt("/r/d/"+runA), runAt("/r/e/"+runA))...)
	it.Snapshot(it.Dir("/r/a/"+runA), 1, "s")
	it.Dir("/r/b/"+runA).Quota(10, 10)
	it.Snapshot(it.Dir("/r/c/"+runA+"/shared"), 2, "s")
	it.Dir("/r/d/"+runA+"/chk-3").XAttr(imagetest.XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
	n := it.File("/r/e/"+runA+"/chk-3/open", 1)
	n.Open = &imagetest.Open{Client: "c", Machine: "m"}
	it.Symlink("/r/e/"+runA+"/shared/l", "/x")
	at(it.Dir("/r/e/"+runA+"/chk-3"), -base)
	at(it.Dir("/r/e/"+runA+"/shared"), -base-7)
	at(it.Dir("/r/e/"+runA), 1e15)
	var flags, checkpoints []Flags
	units := unitsOf(t, discover(t, load(t, it), decl(JobRun, "/r")))
	for _, u := range units {
		flags, checkpoints = append(flags, u.Flags), append(checkpoints, u.Checkpoints[0].Flags)
	}
	if diff := cmp.Diff([]Flags{
		{Snapshottable: true, SnapshotsInside: true}, {Quota: true}, {SnapshottableInside: true, SnapshotsInside: true}, {EncryptionZoneInside: true}, {},
	}, flags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Flags{{SnapshotsAbove: true}, {}, {}, {EncryptionZone: true, Encrypted: true}, {}}, checkpoints); diff != "" {
		t.Error(diff)
	}
	e := units[4]
	if e.OpenFiles != 1 || e.Checkpoints[0].OpenFiles != 1 || e.Totals.Symlinks != 1 || e.Times.UnknownMTimes != 2 || e.Times.OldestMs != -7 ||
		e.Times.Newest != (Stamp{base + 1e15, UnitPlace}) || e.NumUnknown != 1 || e.Unknown[0].Reason != UnknownSymlink || e.Checkpoints[0].Times.UnknownMTimes != 1 || e.Checkpoints[0].Times.OldestMs != 0 {
		t.Errorf("%+v", e)
	}
}

// TestOpenFileInChild: what somebody writes to stops the root.
func TestOpenFileInChild(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), "/t/a/", "/t/b/")
	for _, p := range []string{"/t/a/x/f", "/t/b/f", "/t/g"} {
		it.File(p, 1).Open = &imagetest.Open{}
	}
	r := discover(t, load(t, it), decl(Children, "/t", names("a"))).Roots[0]
	if got := texts(r.Misfits); !slices.Equal(got, []string{"open_file /t/a/x/f"}) || r.Jobs[0].Units[0].OpenFiles != 1 {
		t.Errorf("%s", got)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	constant, zeros := "ffffffff8e2d96d90000000000000000", "00000000000000000000000000000000"
	it := plant(imagetest.NewTree(), slices.Concat(runAt("/r/"+constant), runAt("/r/"+zeros), runAt("/r/"+runA), runAt("/r/x0000000000000000"))...)
	it.Dir("/r/" + runB + "/shared")
	it.Dir("/r/" + runB + "/taskowned")
	for _, u := range unitsOf(t, discover(t, load(t, it), decl(RunLayout, "/r"))) {
		if u.ConstantID != (u.Name == constant || u.Name == zeros) || u.RunID != (u.Name[0] != 'x') || u.Skeleton != (u.Name == runB) {
			t.Errorf("%+v", u)
		}
	}
}

// TestSelection: by exact names of the first level.
func TestSelection(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), slices.Concat(runAt("/r/a/"+runA), runAt("/r/b/"+runA), runAt("/r/c/"+runA), runAt("/q/"+runA), runAt("/q/"+runB))...)
	d := discover(t, load(t, it), decl(JobRun, "/r", sel("a", "b"), exclude("b")), decl(RunLayout, "/q", sel(runA)))
	var got []string
	for _, r := range d.Roots {
		for _, j := range r.Jobs {
			got = append(got, fmt.Sprint(j.Name, j.Selected, j.Excluded, len(j.Units)))
			for _, u := range j.Units {
				got = append(got, fmt.Sprint(u.Name, u.Selected))
			}
		}
	}
	if diff := cmp.Diff([]string{
		"true false 2", runA + "true", runB + "false",
		"atrue false 1", runA + "true", "btrue true 0", "cfalse false 1", runA + "false",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestWhere finds units by directory, and directories in each other.
func TestWhere(t *testing.T) {
	t.Parallel()
	tree := load(t, plant(imagetest.NewTree(), slices.Concat(runAt("/r/job/"+runA), []string{"/other/x"})...))
	d := discover(t, tree, decl(JobRun, "/r"))
	dir := func(p string) namespace.Dir {
		x, ok := tree.Lookup([]byte(p))
		if !ok {
			t.Fatal(p)
		}
		return x
	}
	u, where := d.Roots[0].Jobs[0].Units[0], places(d)
	for p, want := range map[string]string{
		"/": "", "/other": "", "/r": "r", "/r/job": "r", "/r/job/" + runA: "ru", "/r/job/" + runA + "/chk-3": "ruc", "/r/job/" + runA + "/shared": "ru",
	} {
		got := ""
		r, unit, c := where(dir(p))
		if r == d.Roots[0] {
			got += "r"
		}
		if unit == u {
			got += "u"
		}
		if c == u.Checkpoints[0] {
			got += "c"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
	var got []string
	for s := range d.index.subdirectories(u.Dir) {
		got = append(got, string(tree.Name(s)))
	}
	for range d.index.subdirectories(dir("/")) {
		t.Error("below no root")
	}
	if !slices.Equal(got, []string{"chk-3", "shared", "taskowned"}) {
		t.Error(got)
	}
}

package flink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/namespace"
	"fsweep/fsimage/imagetest"
)

// TestMisfits has one row for each sentence about what stops a root, and about
// what does not.
func TestMisfits(t *testing.T) {
	t.Parallel()
	jobRun := slices.Concat(runAt("/r/job/"+runA), runAt("/r/job/"+runB))
	for _, c := range []struct {
		name   string
		plant  []string
		decl   Declaration
		want   []string
		detail string // in the first
		units  []string
	}{
		{name: "as it should be", decl: decl(JobRun, "/r"), plant: jobRun, units: []string{"job/" + runA, "job/" + runB}},
		{name: "an empty root", decl: decl(JobRun, "/r"), plant: []string{"/r/"}},
		{name: "an empty job", decl: decl(JobRun, "/r"), plant: []string{"/r/job/"}},
		{name: "slashes", decl: decl(JobRun, "//r//"), plant: jobRun, units: []string{"job/" + runA, "job/" + runB}},
		{name: "a run named by a uuid", decl: decl(JobRun, "/r"), plant: runAt("/r/job/01234567-89ab-cdef-0123-456789abcdef"), units: []string{"job/01234567-89ab-cdef-0123-456789abcdef"}},

		{name: "too deep: at a job", decl: decl(JobRun, "/r/job"), plant: jobRun, want: []string{"run_misplaced /r/job/" + runA, "run_misplaced /r/job/" + runB}},
		{name: "too deep: at a run", decl: decl(JobRun, "/r/job/"+runA), plant: jobRun, want: []string{
			"checkpoint_misplaced /r/job/" + runA + "/chk-3", "checkpoint_misplaced /r/job/" + runA + "/shared", "checkpoint_misplaced /r/job/" + runA + "/taskowned",
		}},
		{name: "too deep: at a checkpoint", decl: decl(JobRun, "/r/job/"+runA+"/chk-3"), plant: jobRun, want: []string{
			"file_among_jobs /r/job/" + runA + "/chk-3/_metadata", "file_among_jobs /r/job/" + runA + "/chk-3/f",
		}},
		{
			name: "too shallow", decl: decl(JobRun, "/"+"x"), plant: runAt("/x/r/job/" + runA), units: []string{"r/job"},
			want: []string{"run_without_state /x/r/job"}, detail: "one level too shallow",
		},
		{
			name: "too shallow, no checkpoint to be seen", decl: decl(JobRun, "/x"), plant: []string{"/x/r/job/" + runA + "/shared/"},
			want: []string{"run_without_state /x/r/job"}, units: []string{"r/job"},
		},
		{name: "too deep, no checkpoint to be seen", decl: decl(JobRun, "/r/job"), plant: []string{"/r/job/" + runA + "/shared/"}, want: []string{"run_misplaced /r/job/" + runA}},
		{name: "layout run, too shallow", decl: decl(RunLayout, "/r"), plant: jobRun, want: []string{"run_without_state /r/job"}, units: []string{"job"}},
		{name: "layout run, too deep", decl: decl(RunLayout, "/r"), plant: runAt("/r"), want: []string{"checkpoint_misplaced /r/chk-3", "checkpoint_misplaced /r/shared", "checkpoint_misplaced /r/taskowned"}},
		{name: "no directory for the id, layout job-run", decl: decl(JobRun, "/r"), plant: runAt("/r/job"), want: []string{
			"checkpoint_misplaced /r/job/chk-3", "checkpoint_misplaced /r/job/shared", "checkpoint_misplaced /r/job/taskowned",
		}},
		{name: "no directory for the id, layout run", decl: decl(RunLayout, "/r"), plant: runAt("/r/job"), units: []string{"job"}},
		{name: "a job named chk-1", decl: decl(JobRun, "/r"), plant: runAt("/r/chk-1/" + runA), want: []string{"checkpoint_misplaced /r/chk-1"}},
		{name: "excluding it is no excuse", decl: decl(JobRun, "/r", exclude("chk-1")), plant: runAt("/r/chk-1/" + runA), want: []string{"checkpoint_misplaced /r/chk-1"}},
		{name: "ignoring it is", decl: decl(JobRun, "/r", ignore("chk-1")), plant: runAt("/r/chk-1/" + runA)},
		{name: "names that only look alike", decl: decl(JobRun, "/r"), plant: []string{"/r/chk-/", "/r/chk-a/", "/r/xchk-1/", "/r/shared2/", "/r/" + runA[1:] + "/", "/r/sp/"}},
		{name: "a run id in capitals", decl: decl(JobRun, "/r"), plant: []string{"/r/" + strings.ToUpper(runA) + "/"}, want: []string{"run_misplaced /r/" + strings.ToUpper(runA)}},
		{name: "savepoint among jobs", decl: decl(JobRun, "/r"), plant: []string{"/r/" + sp1 + "/_metadata"}, want: []string{"savepoint_misplaced /r/" + sp1}},
		{name: "savepoint of any name", decl: decl(JobRun, "/r"), plant: []string{"/r/savepoint-old/"}, want: []string{"savepoint_misplaced /r/savepoint-old"}},
		{name: "savepoint among runs", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + sp1 + "/_metadata"}, want: []string{"savepoint_misplaced /r/job/" + sp1}},
		{name: "entropy", decl: decl(JobRun, "/r"), plant: runAt("/r/_entropy_/job/" + runA), want: []string{"reserved_name /r/_entropy_"}},
		{name: "changelog among jobs", decl: decl(JobRun, "/r"), plant: []string{"/r/dstl/x"}, want: []string{"reserved_name /r/dstl"}},
		{name: "trash", decl: decl(JobRun, "/r"), plant: []string{"/r/.Trash/"}, want: []string{"reserved_name /r/.Trash"}},
		{name: "an empty run", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/"}, units: []string{"job/" + runA}},
		{name: "an empty run named by a uuid", decl: decl(JobRun, "/r"), plant: []string{"/r/job/01234567-89AB-cdef-0123-456789abcdef/"}, units: []string{"job/01234567-89AB-cdef-0123-456789abcdef"}},
		{name: "an empty run with markers", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/.fsweep-keep", "/r/job/" + runB + "/.fsweep-keep/"}, units: []string{"job/" + runA, "job/" + runB}},
		{name: "an empty directory that is not named like a run", decl: decl(JobRun, "/r"), plant: []string{"/r/job/run/"}, want: []string{"run_without_state /r/job/run"}, units: []string{"job/run"}},
		{name: "layout run, an empty run", decl: decl(RunLayout, "/r"), plant: []string{"/r/" + runA + "/"}, units: []string{runA}},
		{name: "layout run, an empty directory", decl: decl(RunLayout, "/r"), plant: []string{"/r/job/"}, want: []string{"run_without_state /r/job"}, units: []string{"job"}},
		{name: "a run with its changelog only", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/dstl/x", "/r/other/" + runB + "/shared/"}, units: []string{"job/" + runA, "other/" + runB}},
		{name: "layout run, a run with its changelog only", decl: decl(RunLayout, "/r"), plant: []string{"/r/" + runA + "/dstl/", "/r/" + runB + "/chk-1/"}, units: []string{runA, runB}},
		{
			name: "nothing but changelogs", decl: decl(RunLayout, "/r"), plant: []string{"/r/" + runA + "/dstl/x", "/r/" + runB + "/"}, want: []string{"run_without_state /r/" + runA},
			detail: "that of changelogs", units: []string{runA, runB},
		},
		{name: "a changelog only, and no name of a run", decl: decl(RunLayout, "/r"), plant: []string{"/r/run/dstl/x"}, want: []string{"run_without_state /r/run"}, units: []string{"run"}},
		{name: "a changelog and a file", decl: decl(RunLayout, "/r"), plant: []string{"/r/" + runA + "/dstl/x", "/r/" + runA + "/f"}, want: []string{"run_without_state /r/" + runA}, units: []string{runA}},
		{name: "a changelog and a directory", decl: decl(RunLayout, "/r"), plant: []string{"/r/" + runA + "/dstl/x", "/r/" + runA + "/d/"}, want: []string{"run_without_state /r/" + runA}, units: []string{runA}},
		{name: "a run with a file", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/f"}, want: []string{"run_without_state /r/job/" + runA}, units: []string{"job/" + runA}},
		{name: "a run with a symlink", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/l -> /x"}, want: []string{"run_without_state /r/job/" + runA}, units: []string{"job/" + runA}},
		{name: "a run with a _metadata", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/_metadata"}, want: []string{"run_without_state /r/job/" + runA}, units: []string{"job/" + runA}},
		{name: "a run with a directory", decl: decl(JobRun, "/r"), plant: []string{"/r/job/" + runA + "/checkpoints/"}, want: []string{"run_without_state /r/job/" + runA}, units: []string{"job/" + runA}},
		{name: "file among jobs", decl: decl(JobRun, "/r"), plant: []string{"/r/README.txt"}, want: []string{"file_among_jobs /r/README.txt"}},
		{name: "symlink among jobs", decl: decl(JobRun, "/r"), plant: []string{"/r/job -> /x"}, want: []string{"symlink_among_jobs /r/job"}},
		{name: "ignored", decl: decl(JobRun, "/r", ignore("README.txt", "l", "d")), plant: []string{"/r/README.txt", "/r/l -> /x", "/r/d/f", "/r/d/shared/"}},
		{name: "ignored exactly", decl: decl(JobRun, "/r", ignore("README*")), plant: []string{"/r/README.txt"}, want: []string{"file_among_jobs /r/README.txt"}},
		{name: "metadata in a job", decl: decl(JobRun, "/r"), plant: []string{"/r/job/_metadata"}, want: []string{"metadata_misplaced /r/job/_metadata"}},
		{name: "marker in the root", decl: decl(JobRun, "/r"), plant: []string{"/r/.fsweep-keep"}},

		{name: "missing", decl: decl(JobRun, "/r"), plant: []string{"/rr/"}, want: []string{"missing_root /r"}},
		{name: "missing, far", decl: decl(JobRun, "/a/b/c"), plant: []string{"/a/b"}, want: []string{"missing_root /a/b/c"}},
		{name: "/a/b is not /a/bc", decl: decl(JobRun, "/a/b"), plant: []string{"/a/bc/shared/"}, want: []string{"missing_root /a/b"}},
		{name: "root is a file", decl: decl(JobRun, "/a/r"), plant: []string{"/a/r"}, want: []string{"root_is_file /a/r"}},
		{name: "root is a symlink", decl: decl(JobRun, "/r"), plant: []string{"/r -> /x"}, want: []string{"root_is_symlink /r"}},
		{
			name: "excluded, not there", decl: decl(JobRun, "/r", exclude("dgrahp")), plant: runAt("/r/dgraph/" + runA), units: []string{"dgraph/" + runA},
			want: []string{"excluded_not_found /r"}, detail: "excluded job directories were not found: ['dgrahp']",
		},
		{
			name: "several, not there", decl: decl(JobRun, "/r", exclude("z", "it's", "a", "a")), plant: []string{"/r/z/"},
			want: []string{"excluded_not_found /r"}, detail: `excluded job directories were not found: ['a', 'it\'s']`,
		},
		{name: "excluded, in another case", decl: decl(JobRun, "/r", exclude("Job")), plant: []string{"/r/job/"}, want: []string{"excluded_not_found /r"}},
		{name: "excluded, a file", decl: decl(JobRun, "/r", exclude("f"), ignore("f")), plant: []string{"/r/f"}, want: []string{"excluded_not_found /r"}},
		{
			name: "selected, not there", decl: decl(JobRun, "/r", sel("x")), plant: []string{"/r/job/"},
			want: []string{"selected_not_found /r"}, detail: "selected job directories were not found: ['x']",
		},
		{name: "excluded and selected", decl: decl(JobRun, "/r", exclude("a"), sel("b")), plant: slices.Concat(runAt("/r/a/"+runA), runAt("/r/b/"+runA)), units: []string{"b/" + runA}},

		{name: "savepoints", decl: decl(Savepoints, "/r"), plant: []string{"/r/" + sp1 + "/_metadata", "/r/job/" + sp2 + "/_metadata"}, units: []string{sp1, "job/" + sp2}},
		{name: "savepoints: a run", decl: decl(Savepoints, "/r"), plant: runAt("/r/" + runA), want: []string{"run_misplaced /r/" + runA}},
		{name: "savepoints: a run in a job", decl: decl(Savepoints, "/r"), plant: runAt("/r/job/" + runA), want: []string{"run_misplaced /r/job/" + runA}},
		{name: "savepoints: checkpoints", decl: decl(Savepoints, "/r"), plant: []string{"/r/chk-1/", "/r/job/shared/"}, want: []string{"checkpoint_misplaced /r/chk-1", "checkpoint_misplaced /r/job/shared"}},
		{name: "savepoints: file", decl: decl(Savepoints, "/r"), plant: []string{"/r/_metadata"}, want: []string{"file_among_jobs /r/_metadata"}},
		{name: "savepoints: too deep", decl: decl(Savepoints, "/r/job"), plant: []string{"/r/job/" + sp1 + "/_metadata"}, units: []string{sp1}},

		{name: "ha", decl: decl(HAStorage, "/r"), plant: []string{"/r/job-result-store/c/x.json", "/r/application-result-store/c/", "/r/c/completedCheckpoint0123", "/r/c/blob/job_x/b", "/r/d/"}, units: []string{"c", "d"}},
		{name: "ha: too deep", decl: decl(HAStorage, "/r/c"), plant: []string{"/r/c/completedCheckpoint0123", "/r/c/blob/job_x/b"}, want: []string{"reserved_name /r/c/blob", "file_among_jobs /r/c/completedCheckpoint0123"}},
		{name: "ha: a run", decl: decl(HAStorage, "/r"), plant: runAt("/r/" + runA), want: []string{"run_misplaced /r/" + runA}},
		{name: "ha: a job's directory", decl: decl(HAStorage, "/r"), plant: []string{"/r/job/chk-1/"}, want: []string{"checkpoint_misplaced /r/job/chk-1"}, units: []string{"job"}},

		{name: "children", decl: decl(Children, "/r", names("spark-*", "x[1]")), plant: []string{"/r/spark-1/a/b", "/r/x[1]/", "/r/x1/", "/r/other/", "/r/spark-file", "/r/spark-l -> /x"}, units: []string{"spark-1", "x1", "x[1]"}},
		{name: "children: metadata", decl: decl(Children, "/r", names("a*")), plant: []string{"/r/a/b/_metadata"}, want: []string{"flink_state /r/a/b/_metadata"}, units: []string{"a"}},
		{name: "children: HA file", decl: decl(Children, "/r", names("a*")), plant: []string{"/r/a/submittedJobGraph0123"}, want: []string{"flink_state /r/a/submittedJobGraph0123"}, units: []string{"a"}},
		{name: "children: shared, taskowned", decl: decl(Children, "/r", names("a*")), plant: []string{"/r/a/shared/", "/r/a/x/taskowned/"}, want: []string{"flink_state /r/a/shared", "flink_state /r/a/x/taskowned"}, units: []string{"a"}},
		{name: "children: state in another one", decl: decl(Children, "/r", names("a*")), plant: []string{"/r/a/", "/r/b/c/_metadata"}, want: []string{"flink_state /r/b/c/_metadata"}, units: []string{"a"}},
		{name: "children: state in the root itself", decl: decl(Children, "/r", names("a*")), plant: []string{"/r/a/", "/r/_metadata"}, want: []string{"flink_state /r/_metadata"}, units: []string{"a"}},
		{name: "children: ignored and excluded", decl: decl(Children, "/r", names("a*"), ignore("b", "_metadata"), exclude("ax")), plant: []string{"/r/a/", "/r/_metadata", "/r/b/_metadata", "/r/ax/_metadata"}, units: []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := discover(t, load(t, plant(imagetest.NewTree(), c.plant...)), c.decl)
			r := d.Roots[0]
			want := slices.Clone(c.want)
			if diff := cmp.Diff(want, texts(r.Misfits)); diff != "" || r.NumMisfits != int64(len(want)) {
				t.Errorf("%d misfits: %s", r.NumMisfits, diff)
			}
			for _, m := range r.Misfits {
				if (m.INodeID == 0) != (m.Reason == MissingRoot) {
					t.Errorf("%+v", m)
				}
			}
			if c.detail != "" && (len(r.Misfits) == 0 || !strings.Contains(r.Misfits[0].Detail, c.detail)) {
				t.Errorf("the first misfit is %+v", r.Misfits)
			}
			if diff := cmp.Diff(c.units, d.unitPaths(r)); diff != "" {
				t.Error("units", diff)
			}
		})
	}
}

// TestOverlaps: a root may be inside another one when the outer one excludes the
// directory of the first level that leads there.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	tree := load(t, plant(imagetest.NewTree(), slices.Concat(
		runAt("/a/job/"+runA), runAt("/a/b/c/job/"+runB), runAt("/a/b/job/"+runA), runAt("/ab/job/"+runA),
	)...))
	for _, c := range []struct {
		name  string
		decls []Declaration
		want  []string // for each root: its overlaps, and its units
	}{
		{name: "apart", decls: []Declaration{decl(JobRun, "/a/b", exclude("c")), decl(JobRun, "/ab")}, want: []string{"0 1", "0 1"}},
		{name: "inside", decls: []Declaration{decl(JobRun, "/a", ignore("b")), decl(JobRun, "/a/b", exclude("c"))}, want: []string{"1 1", "1 1"}},
		{name: "inside, excluded", decls: []Declaration{decl(JobRun, "/a", exclude("b")), decl(JobRun, "/a/b", exclude("c"))}, want: []string{"0 1", "0 1"}},
		{name: "deeper, excluded", decls: []Declaration{decl(JobRun, "/a/b/c"), decl(JobRun, "/a", exclude("b"))}, want: []string{"0 1", "0 1"}},
		{name: "deeper, not excluded", decls: []Declaration{decl(JobRun, "/a/b/c"), decl(JobRun, "/a", exclude("job"))}, want: []string{"1 0", "1 1"}},
		{name: "twice", decls: []Declaration{decl(JobRun, "/a/b/c"), decl(JobRun, "/a//b/c/")}, want: []string{"1 1", "1 0"}},
		{
			name:  "three levels, all right",
			decls: []Declaration{decl(JobRun, "/a", exclude("b")), decl(JobRun, "/a/b", exclude("c")), decl(JobRun, "/a/b/c")},
			want:  []string{"0 1", "0 1", "0 1"},
		},
	} {
		var got []string
		d := discover(t, tree, c.decls...)
		for _, r := range d.Roots {
			n := 0
			for _, m := range r.Misfits {
				if m.Reason == OverlappingRoots {
					n++
				}
			}
			if n == 0 && r.NumMisfits > 0 { // such as an excluded name that is not found
				t.Errorf("%s: %s", c.name, texts(r.Misfits))
			}
			good := 0
			for _, p := range d.unitPaths(r) {
				if strings.Contains(p, "job/") {
					good++
				}
			}
			got = append(got, fmt.Sprint(n, good))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestInnerRoot: what is found in a root is the same whatever root is around it;
// only the overlap is added.
func TestInnerRoot(t *testing.T) {
	t.Parallel()
	inner := []string{"/r/in", "/r/job/in", "/r/job/" + runA + "/in", "/r/job/" + runA + "/chk-3/in", "/r/job/" + runA + "/shared/x/in", "/r/job/chk-9"}
	it := plant(imagetest.NewTree(), slices.Concat(runAt("/r/job/"+runA), runAt("/r/job/"+runB))...)
	for _, p := range inner {
		plant(it, append(runAt(p+"/job/"+runA), p+"/job/"+runA+"/x/_metadata", p+"/stray", p+"/shared/")...)
	}
	tree := load(t, it)
	for _, p := range inner {
		for l := JobRun; l <= Children; l++ {
			outer := decl(l, "/r")
			if l == Children {
				outer.Names = []string{"*"}
			}
			alone := discover(t, tree, decl(JobRun, p)).Roots[0]
			d := discover(t, tree, outer, decl(JobRun, p))
			with := d.Roots[1]
			for _, dir := range []namespace.Dir{with.Dir, with.Jobs[0].Dir} {
				if r, u, c := places(d)(dir); r != with || u != nil || c != nil {
					t.Errorf("%s in %v: it is in %s, %+v, %+v", p, l, r.Path, u, c)
				}
			}
			if diff := cmp.Diff(alone.Jobs, with.Jobs); diff != "" {
				t.Errorf("%s in %v: %s", p, l, diff)
			}
			if with.Misfits[0].Reason != OverlappingRoots || len(alone.Jobs[0].Units) != 1 {
				t.Errorf("%s in %v: %s", p, l, texts(with.Misfits))
			}
			if diff := cmp.Diff(alone.Misfits, with.Misfits[1:]); diff != "" {
				t.Errorf("%s in %v: %s", p, l, diff)
			}
		}
	}
}

func TestDeclarationErrors(t *testing.T) {
	t.Parallel()
	tree := load(t, plant(imagetest.NewTree(), "/a/"))
	for _, d := range []Declaration{
		{},
		decl(JobRun, ""), decl(JobRun, "a"), decl(JobRun, "/"), decl(JobRun, "//"), decl(JobRun, "/a/../b"), decl(JobRun, "/a/."), decl(JobRun, "/a/.snapshot/s"),
		decl(JobRun, "/.reserved/.inodes/16386"), decl(UnknownLayout, "/a"), decl(Layout(99), "/a"),
		decl(Children, "/a"), decl(Children, "/a", names("[")), decl(Children, "/a", names("")), decl(JobRun, "/a", names("x")),
	} {
		if _, err := Discover(t.Context(), tree, []Declaration{d}, Options{}); !errors.Is(err, ErrDeclaration) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	for l := JobRun; l <= Children; l++ {
		if got, ok := ParseLayout(l.String()); got != l || !ok {
			t.Errorf("%v: %v, %v", l, got, ok)
		}
	}
	if _, ok := ParseLayout("unknown"); ok {
		t.Error("unknown is no layout")
	}
}

// TestNoMisfit: quotas, snapshots and encryption on the root or above stop
// nothing.
func TestNoMisfit(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), runAt("/a/r/job/"+runA)...)
	it.Dir("/a").Quota(1000, 1<<40)
	it.Dir("/a/r").Quota(1000, 1<<40).XAttr(imagetest.XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
	it.Snapshot(it.Dir("/a"), 1, "s1")
	d := discover(t, load(t, it), decl(JobRun, "/a/r"))
	r := d.Roots[0]
	if r.NumMisfits != 0 || len(r.Jobs[0].Units) != 1 {
		t.Errorf("%+v", r.Misfits)
	}
	if want := (Flags{Quota: true, SnapshotsAbove: true, EncryptionZone: true, Encrypted: true}); r.Flags != want {
		t.Errorf("%+v", r.Flags)
	}
	if want := (Flags{SnapshotsAbove: true, Encrypted: true}); r.Jobs[0].Units[0].Flags != want {
		t.Errorf("%+v", r.Jobs[0].Units[0].Flags)
	}
}

// TestManyMisfits: the list is bounded, the count is not.
func TestManyMisfits(t *testing.T) {
	t.Parallel()
	it := imagetest.NewTree()
	dir := it.Dir("/r")
	for i := range 5000 {
		it.FileIn(dir, fmt.Sprintf("f%05d", (i*7919)%5000))
	}
	it.Dir("/r/shared")
	r := discover(t, load(t, it), decl(JobRun, "/r", exclude("x"))).Roots[0]
	if r.NumMisfits != 5002 || len(r.Misfits) != MaxListed || r.Misfits[0].Reason != ExcludedNotFound ||
		string(r.Misfits[1].Path) != "/r/f00000" || string(r.Misfits[999].Path) != "/r/f00998" {
		t.Errorf("%d, %d listed, from %s", r.NumMisfits, len(r.Misfits), texts(r.Misfits)[:3])
	}
}

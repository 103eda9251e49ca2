package flink

import (
	"bytes"
	"strings"
	"testing"

	"fsweep/proto/flinkmeta"
)

const (
	run1   = "8413978720d4030c5d631f3b2b9c30d4"
	run2   = "b210783f7dd7a98fdbb6f3693ef0a346"
	reused = "ffffffff8e2d96d90000000000000000"
)

// runCase gives the directories that a file refers to, and what must be found.
type runCase struct {
	name     string
	location string
	kind     flinkmeta.Snapshot
	dirs     []string // with "in ", "out " or "? ", and "relative:" before relative ones
	run      string
	path     string // of the run
	folder   string // that is wrong about the run
}

func checkRuns(t *testing.T, cases []runCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := Metadata{Info: flinkmeta.Info{Version: 4, CheckpointID: 5, Kind: c.kind}}
			var want []Side
			for _, d := range c.dirs {
				side, path, _ := strings.Cut(d, " ")
				want = append(want, map[string]Side{"in": Inside, "out": Outside, "?": SideUnknown}[side])
				path, relative := strings.CutPrefix(path, "relative:")
				m.Directories = append(m.Directories, Directory{Path: path, Relative: relative})
			}
			m.findRun(c.location)
			if m.Run != c.run || m.RunPath != c.path || m.FolderRun != c.folder {
				t.Errorf("run %q at %q, not %q; want %q at %q, not %q", m.Run, m.RunPath, m.FolderRun, c.run, c.path, c.folder)
			}
			for i, d := range m.Directories {
				if d.Side != want[i] {
					t.Errorf("%s: side %d", c.dirs[i], d.Side)
				}
			}
		})
	}
}

func TestRunOfCheckpoint(t *testing.T) {
	t.Parallel()
	const checkpoint = flinkmeta.Checkpoint
	checkRuns(t, []runCase{
		{
			name: "run of another", location: "/root/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs://a/root/" + run1 + "/shared", "out hdfs://b:8020/root/" + run2 + "/shared", "? relative:."},
			run:  run1, path: "hdfs://a/root/" + run1,
		},
		{
			name: "another place and scheme", location: "/tmp/copy/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{
				"in viewfs://c/x/" + run1 + "/taskowned/job_1_tm_2", "in /x/" + run1, "in file:/x/" + run1 + "/shared/op_1/db",
				"in hdfs:/dstl/" + run1 + "/dstl", "out hdfs:/dstl/" + run2 + "/dstl",
			},
			run: run1, path: "viewfs://c/x/" + run1,
		},
		{
			name: "names are compared whole", location: "/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"out hdfs://a/" + run1 + "0/shared", "out hdfs://" + run1 + "/x/shared", "out /x/job_" + run1 + "_tm"},
			run:  run1,
		},
		{
			name: "all of other runs", location: "/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"out hdfs:/r/" + run2 + "/shared"}, run: run1,
		},
		{
			name: "a folder that somebody copied chk-5 to", location: "/home/ann/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/r/" + run1 + "/shared", "? hdfs:/r/" + run2 + "/shared", "? relative:."},
		},
		{
			name: "the same with nothing but relative ones", location: "/home/ann/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? relative:."},
		},
		{
			name: "checkpoint of another number", location: "/r/" + run1 + "/chk-6/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/r/" + run1 + "/shared"},
		},
		{
			name: "a state directory is no run", location: "/r/shared/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/r/shared/shared", "? hdfs:/r/shared"},
		},
		{
			name: "paths with ..", location: "/r/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/r/" + run1 + "/shared", "out hdfs:/r/" + run1 + "/shared/../../x", "out hdfs:/q/../r/" + run1 + "/shared", "? relative:../x"},
			run:  run1, path: "hdfs:/r/" + run1,
		},
		{
			name: "the run of another below the own", location: "/r/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/r/" + run1 + "/shared", "out hdfs:/r/" + run1 + "/x/" + run2 + "/shared", "out hdfs:/r/" + run1 + "/shared/" + run2},
			run:  run1, path: "hdfs:/r/" + run1,
		},
		{
			name: "only the run of another below the own", location: "/r/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"out hdfs:/r/" + run1 + "/shared/" + run2}, run: run1,
		},
		{name: "old version in its own place", location: "/r/" + run1 + "/chk-5/_metadata", dirs: []string{"? relative:."}, run: run1},
		{name: "old version in a checkpoint of another number", location: "/r/" + run1 + "/chk-6/_metadata", dirs: []string{"? relative:."}},
		{name: "old version, or cut before it says what it is", location: "/x/mine/_metadata", dirs: []string{"? relative:."}},
		{name: "nothing in it", location: "/x/mine/_metadata"},
		{name: "standard input", kind: checkpoint, dirs: []string{"? hdfs:/r/" + run1 + "/shared", "? relative:."}},
		{name: "at the root", location: "/chk-5/_metadata", kind: checkpoint, dirs: []string{"? hdfs:/shared"}},
	})
}

// TestRunEvidence: references into the checkpoint's own directory prove the run.
func TestRunEvidence(t *testing.T) {
	t.Parallel()
	const checkpoint = flinkmeta.Checkpoint
	checkRuns(t, []runCase{
		{
			name: "only the paths tell", location: "/home/ann/x/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/r/" + run1 + "/chk-5", "out hdfs:/r/" + run2 + "/shared", "out hdfs:/r/" + run2 + "/chk-4"},
			run:  run1, path: "hdfs:/r/" + run1,
		},
		{
			name: "the folder is another's", location: "/r/" + run2 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/r/" + run1 + "/chk-5", "in hdfs:/r/" + run1 + "/shared", "out hdfs:/r/" + run2 + "/shared"},
			run:  run1, path: "hdfs:/r/" + run1, folder: run2,
		},
		{
			name: "two that the paths could mean", location: "/r/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/r/" + run1 + "/chk-5", "? hdfs:/r/" + run2 + "/chk-5"},
		},
		{
			name: "the same id under an older root", location: "/v2/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{
				"out hdfs://nn/flink/ckpt/" + run1 + "/shared", "in hdfs://nn/flink/v2/" + run1 + "/chk-5", "in hdfs://other/flink/v2/" + run1 + "/shared",
				"in hdfs://nn/changelog/" + run1 + "/dstl", "out hdfs://nn/flink/ckpt/" + run1 + "/taskowned/x", "out hdfs://nn/flink/ckpt/" + run1 + "/chk-4",
			},
			run: run1, path: "hdfs://nn/flink/v2/" + run1,
		},
		{
			name: "the same, and the older root is where the file lies", location: "/ckpt/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"out hdfs:/flink/ckpt/" + run1 + "/shared", "in hdfs:/flink/v2/" + run1 + "/chk-5"},
			run:  run1, path: "hdfs:/flink/v2/" + run1,
		},
		{
			name: "two roots and only the place tells", location: "/v2/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"out hdfs:/flink/ckpt/" + run1 + "/shared", "in hdfs:/flink/v2/" + run1 + "/shared"},
			run:  run1, path: "hdfs:/flink/v2/" + run1,
		},
		{
			name: "two roots and nothing tells", location: "/tmp/" + run1 + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/flink/ckpt/" + run1 + "/shared", "? hdfs:/flink/v2/" + run1 + "/shared"},
		},
		{
			name: "the directory of another below chk-5", location: "/tmp/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/job/chk-5/" + run2 + "/shared"},
		},
		{
			name: "chk-5 in a state directory", location: "/tmp/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/r/shared/chk-5"},
		},
		{
			name: "below an id there can be roots", location: "/tmp/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/" + run2 + "/job/chk-5", "in hdfs:/" + run2 + "/job/shared", "out hdfs:/" + run2 + "/shared"},
			run:  "job", path: "hdfs:/" + run2 + "/job",
		},
	})
}

// TestRunSharedNames: a name that other runs can have proves nothing alone.
func TestRunSharedNames(t *testing.T) {
	t.Parallel()
	const checkpoint = flinkmeta.Checkpoint
	checkRuns(t, []runCase{
		{
			name: "no directory of a run", location: "/data/flink/job/chk-5/_metadata", kind: checkpoint,
			dirs: []string{
				"in hdfs:/flink/job/shared", "out hdfs:/flink/job/" + run2 + "/shared", "out hdfs:/job/flink/x",
				"? hdfs:/changelog/" + run2 + "/dstl", // no name says whose
			},
			run: "job", path: "hdfs:/flink/job",
		},
		{
			name: "the same in another parent", location: "/data/copy/job/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/flink/job/shared"},
		},
		{
			name: "the whole path is the same", location: "/data/job/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/job/shared", "out hdfs:/x/shared"}, run: "job", path: "hdfs:/job",
		},
		{
			name: "files in a directory that may be any", location: "/flink/job/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/flink/job"},
		},
		{
			name: "the same, and the paths tell", location: "/data/copy/job/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"in hdfs:/flink/job/shared", "in hdfs:/flink/job/chk-5", "out hdfs:/flink/old/shared"},
			run:  "job", path: "hdfs:/flink/job",
		},
		{
			name: "one id in two clusters", location: "/b/" + reused + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{
				"out hdfs:/flink/a/" + reused + "/shared", "in hdfs:/flink/b/" + reused + "/shared",
				"? hdfs:/changelog/" + reused + "/dstl", "in hdfs:/flink/b/" + reused + "/dstl",
			},
			run: reused, path: "hdfs:/flink/b/" + reused,
		},
		{
			name: "one id in two clusters, copied elsewhere", location: "/tmp/" + reused + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/flink/a/" + reused + "/shared", "? hdfs:/flink/b/" + reused + "/shared"},
		},
		{
			name: "only the other cluster's", location: "/flink/b/" + reused + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"? hdfs:/flink/a/" + reused + "/shared"},
		},
		{
			name: "the other cluster's, and the paths tell", location: "/flink/b/" + reused + "/chk-5/_metadata", kind: checkpoint,
			dirs: []string{"out hdfs:/flink/a/" + reused + "/shared", "in hdfs:/flink/b/" + reused + "/chk-5"},
			run:  reused, path: "hdfs:/flink/b/" + reused,
		},
	})
}

func TestRunOfSavepoint(t *testing.T) {
	t.Parallel()
	const savepoint, name = flinkmeta.Savepoint, "savepoint-0fdc24-005203614922"
	checkRuns(t, []runCase{
		{
			name: "with absolute paths", location: "/x/" + name + "/_metadata", kind: savepoint,
			dirs: []string{"in s3://e/sp/" + name, "out s3://e/r/" + run1 + "/taskowned", "in relative:.", "in relative:a/b", "out relative:../x", "out relative:a/../b", "out relative:/x", "out relative:x:/y", "out hdfs:/dstl/" + run1 + "/dstl"},
			run:  name, path: "s3://e/sp/" + name,
		},
		{name: "in a folder of another name", location: "/x/mine/_metadata", kind: savepoint, dirs: []string{"in relative:."}, run: "mine"},
		{
			name: "the same with absolute paths", location: "/x/mine/_metadata", kind: savepoint,
			dirs: []string{"? s3://e/sp/" + name, "? s3://e/sp/chk-5", "? s3://e/sp/mine"},
		},
		{
			name: "the same where it was", location: "/sp/mine/_metadata", kind: savepoint,
			dirs: []string{"in s3://e/sp/mine", "out s3://e/sp/mine/shared", "in relative:."}, run: "mine", path: "s3://e/sp/mine",
		},
		{
			name: "the same with files of another place", location: "/sp/mine/_metadata", kind: savepoint,
			dirs: []string{"? s3://e/sp/other", "? relative:."},
		},
		{
			name: "the same with files further below", location: "/sp/mine/_metadata", kind: savepoint,
			dirs: []string{"? s3://e/sp/mine/x/y", "? relative:."},
		},
		{name: "name of a job, all beside it", location: "/x/" + run1 + "/_metadata", kind: savepoint, dirs: []string{"? relative:."}},
		{name: "before files told what they are", location: "/x/" + name + "/_metadata", dirs: []string{"in relative:."}, run: name},
		{name: "name of a checkpoint", location: "/" + run1 + "/chk-5/_metadata", kind: savepoint, dirs: []string{"? relative:.", "? hdfs:/r/" + run1 + "/chk-5"}},
		{name: "name of a job", location: "/x/" + run1 + "/_metadata", kind: savepoint, dirs: []string{"? relative:.", "? hdfs:/r/" + run1 + "/shared"}},
		{name: "shared", location: "/x/shared/_metadata", kind: savepoint, dirs: []string{"? hdfs:/x/shared"}},
		{name: "taskowned", location: "/x/taskowned/_metadata", kind: savepoint, dirs: []string{"? hdfs:/x/taskowned"}},
		{name: "standard input", kind: savepoint, dirs: []string{"? relative:."}},
	})
}

// TestRunManyDirectories: a file with many directories takes no time in their square.
func TestRunManyDirectories(t *testing.T) {
	t.Parallel()
	m := Metadata{Info: flinkmeta.Info{CheckpointID: 5, Kind: flinkmeta.Checkpoint}}
	for i := range 300_000 {
		m.Directories = append(m.Directories, Directory{Path: "/" + string(rune('\u0100'+i)) + "/job/chk-5"})
	}
	if m.findRun(""); m.Run != "" {
		t.Errorf("run %q", m.Run)
	}
}

// TestList: the references are those of Read, and nothing else is gathered.
func TestList(t *testing.T) {
	t.Parallel()
	b := metadata(file(10, "/d/a"), file(10, "/d/a"), segment(0, 5, "/m/f"))
	var paths []string
	m, err := List(bytes.NewReader(b), func(r *Ref) error { paths = append(paths, string(r.Path)); return nil })
	if err != nil || strings.Join(paths, " ") != "/d/a /d/a /m/f" || m.References != 3 || m.Type != MetadataFile || m.Directories != nil {
		t.Errorf("%v: %q, %+v", err, paths, m)
	}
}

func TestParent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path     string
		relative bool
		want     string
	}{
		{"hdfs://nn:8020/a/b", false, "hdfs://nn:8020/a"},
		{"hdfs://nn:8020/a", false, "hdfs://nn:8020/"},
		{"hdfs://nn", false, "hdfs://nn"},
		{"file:/a/b/c", false, "file:/a/b"},
		{"file:/a", false, "file:/"},
		{"file:///a/b", false, "file:///a"},
		{"/a", false, "/"},
		{"/a:/b", false, "/a:"},
		{"a", true, "."},
		{"a/b", true, "a"},
		{"x:/y/z", true, "x:/y"},
	} {
		if got := parent([]byte(c.path), c.relative); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

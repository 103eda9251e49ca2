package flink

import (
	"slices"
	"testing"

	"fsweep/proto/flinkmeta"
)

const (
	run1   = "8413978720d4030c5d631f3b2b9c30d4"
	run2   = "b210783f7dd7a98fdbb6f3693ef0a346"
	reused = "ffffffff8e2d96d90000000000000000"
)

// relative marks a directory that relative references lead into.
const relative = "relative:"

// TestRun gives directories that are referred to, and says which of them are
// outside of which run.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		location string
		kind     flinkmeta.Snapshot
		version  int32 // 0: 4
		dirs     []string
		run      string
		outside  []string
	}{
		{
			name: "run of another", location: "/root/" + run1 + "/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs:    []string{"hdfs://a/root/" + run1 + "/shared", "hdfs://b:8020/root/" + run2 + "/shared", relative + "."},
			run:     run1,
			outside: []string{"hdfs://b:8020/root/" + run2 + "/shared"},
		},
		{
			name: "another place and scheme", location: "/tmp/copy/" + run1 + "/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"viewfs://c/x/" + run1 + "/taskowned/job_1_tm_2", "/x/" + run1, "file:/x/" + run1 + "/shared/op_1/db", "hdfs:/dstl/" + run1 + "/dstl"},
			run:  run1,
		},
		{
			name: "names are compared whole", location: "/" + run1 + "/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs:    []string{"hdfs://a/" + run1 + "0/shared", "hdfs://" + run1 + "/x/shared", "/x/job_" + run1 + "_tm"},
			run:     run1,
			outside: []string{"hdfs://a/" + run1 + "0/shared", "hdfs://" + run1 + "/x/shared", "/x/job_" + run1 + "_tm"},
		},
		{
			name: "all of other runs", location: "/" + run1 + "/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/r/" + run2 + "/shared"}, run: run1, outside: []string{"hdfs:/r/" + run2 + "/shared"},
		},
		{
			name: "no directory of a run", location: "/data/flink/job/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs:    []string{"hdfs:/flink/job/shared", "hdfs:/flink/job/" + run2 + "/shared", "hdfs:/job/flink/x"},
			run:     "job",
			outside: []string{"hdfs:/flink/job/" + run2 + "/shared", "hdfs:/job/flink/x"},
		},
		{
			name: "a folder that somebody copied chk-5 to", location: "/home/ann/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/r/" + run1 + "/shared", "hdfs:/r/" + run2 + "/shared", relative + "."},
		},
		{
			name: "the same, but the paths tell", location: "/home/ann/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/r/" + run1 + "/chk-5", "hdfs:/r/" + run2 + "/shared", "hdfs:/r/" + run2 + "/chk-4"},
			run:  run1, outside: []string{"hdfs:/r/" + run2 + "/shared", "hdfs:/r/" + run2 + "/chk-4"},
		},
		{
			name: "checkpoint of another number", location: "/r/" + run1 + "/chk-6/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/r/" + run1 + "/shared"},
		},
		{
			name: "two that the paths could mean", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/r/" + run1 + "/chk-5", "hdfs:/r/" + run2 + "/chk-5"},
		},
		{
			name: "one id in two clusters", location: "/b/" + reused + "/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/flink/a/" + reused + "/shared", "hdfs:/flink/b/" + reused + "/shared"},
			run:  reused, outside: []string{"hdfs:/flink/a/" + reused + "/shared"},
		},
		{
			name: "one id in two clusters, copied elsewhere", location: "/tmp/" + reused + "/chk-5/_metadata", kind: flinkmeta.Checkpoint,
			dirs: []string{"hdfs:/flink/a/" + reused + "/shared", "hdfs:/flink/b/" + reused + "/shared"},
		},
		{
			name: "savepoint", location: "/x/savepoint-0fdc24-005203614922/_metadata", kind: flinkmeta.Savepoint,
			dirs: []string{"s3://e/sp/savepoint-0fdc24-005203614922", "s3://e/r/" + run1 + "/taskowned", relative + ".", relative + "../x"},
			run:  "savepoint-0fdc24-005203614922", outside: []string{"s3://e/r/" + run1 + "/taskowned", relative + "../x"},
		},
		{
			name: "savepoint in a folder of another name", location: "/x/mine/_metadata", kind: flinkmeta.Savepoint,
			dirs: []string{relative + "."}, run: "mine",
		},
		{
			name: "the same with absolute paths", location: "/x/mine/_metadata", kind: flinkmeta.Savepoint,
			dirs: []string{"s3://e/sp/savepoint-0fdc24-005203614922", "s3://e/sp/chk-5"},
		},
		{
			name: "savepoint in a folder with the name of a checkpoint", location: "/" + run1 + "/chk-5/_metadata", kind: flinkmeta.Savepoint,
			dirs: []string{relative + "."}, run: "chk-5",
		},
		{
			name: "old version in its own place", location: "/r/" + run1 + "/chk-5/_metadata", version: 3,
			dirs: []string{relative + "."}, run: run1,
		},
		{
			name: "old version in a checkpoint of another number", location: "/r/" + run1 + "/chk-6/_metadata", version: 3,
			dirs: []string{relative + "."},
		},
		{
			name: "savepoint of an old version", location: "/x/mine/_metadata", version: 3,
			dirs: []string{relative + "."}, run: "mine",
		},
		{
			name: "old version, not clear", location: "/x/mine/_metadata", version: 3,
			dirs: []string{relative + ".", "hdfs:/r/" + run1 + "/shared"},
		},
		{name: "cut before it says what it is", location: "/x/mine/_metadata", dirs: []string{relative + "."}},
		{name: "nothing in it", location: "/x/mine/_metadata", version: 3},
		{name: "standard input", kind: flinkmeta.Checkpoint, dirs: []string{"hdfs:/r/" + run1 + "/shared", relative + "."}},
		{name: "at the root", location: "/chk-5/_metadata", kind: flinkmeta.Checkpoint, dirs: []string{"hdfs:/shared"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := Metadata{Info: flinkmeta.Info{Version: max(c.version, 4), CheckpointID: 5, Kind: c.kind}}
			if c.version > 0 {
				m.Info.Version = c.version
			}
			for _, d := range c.dirs {
				path, isRelative := cutRelative(d)
				m.Directories = append(m.Directories, Directory{Path: path, Relative: isRelative})
			}
			m.findRun(c.location)
			var outside []string
			for i, d := range m.Directories {
				if d.Outside {
					outside = append(outside, c.dirs[i])
				}
			}
			if m.Run != c.run || !slices.Equal(outside, c.outside) {
				t.Errorf("run %q, outside %q; want %q, %q", m.Run, outside, c.run, c.outside)
			}
		})
	}
}

func cutRelative(d string) (string, bool) {
	if len(d) > len(relative) && d[:len(relative)] == relative {
		return d[len(relative):], true
	}
	return d, false
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

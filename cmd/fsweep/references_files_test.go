package main_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestReferencesOutside: which directories of other runs these samples refer to,
// read off the paths that Flink's own classes gave.
func TestReferencesOutside(t *testing.T) {
	program, samples := buildProgram(t), unpackSamples(t)
	for _, c := range []struct {
		sample  string   // without /_metadata
		own     []string // of its directories, below …/flink/
		outside []string
	}{
		{
			sample: "1.14.6/legacy/final/checkpoints/job/ef2ac1b03db8e1b1a7abf7fb7f8e61d9/chk-13",
			own:    []string{"checkpoints/job/ef2ac1b03db8e1b1a7abf7fb7f8e61d9/shared"},
			outside: []string{
				"checkpoints/job/881d23aa2d237a052d246435dce252c3/shared", "checkpoints/job/f6c38628d3eb64c0eb9b416b1ce9d401/shared",
			},
		},
		{
			sample: "1.20.5/rocks-inc-3runs-CLAIM/r3-c3/checkpoints/job/8413978720d4030c5d631f3b2b9c30d4/chk-8",
			own:    []string{"checkpoints/job/8413978720d4030c5d631f3b2b9c30d4/shared"},
			outside: []string{
				"checkpoints/job/b210783f7dd7a98fdbb6f3693ef0a346/shared", "checkpoints/job/e2f57fd921fc93fbd197c8ea5de27a80/shared",
			},
		},
		{
			sample: "1.20.5/rocks-inc-3runs-NO_CLAIM/r3-c3/checkpoints/job/aa8d7e773e26e9b34f86b83a9868ac42/chk-8",
			own:    []string{"checkpoints/job/aa8d7e773e26e9b34f86b83a9868ac42/shared"},
		},
		{
			sample: "2.3.0/hdfs-3runs-CLAIM/r3-c1/checkpoints/job/0a5c683c37dcfe8e948281ed0e7afb9b/chk-8",
			own:    []string{"checkpoints/job/0a5c683c37dcfe8e948281ed0e7afb9b/shared"},
			outside: []string{
				"checkpoints/job/2ae035278f2f70e63719bf12b752b476/shared", "checkpoints/job/a1163708ffa28cbd88f6041631405133/shared",
			},
		},
		{ // the changelog of a run lies elsewhere, but is the run's
			sample: "1.20.5/changelog/r2-claim-c1/checkpoints/job/69de9dcc5a8e385191c5e1db4c808596/chk-4",
			own:    []string{"changelog/69de9dcc5a8e385191c5e1db4c808596/dstl"},
			outside: []string{
				"changelog/15898662a47506c469aaded5d0045b77/dstl", "checkpoints/job/15898662a47506c469aaded5d0045b77/taskowned",
			},
		},
		{
			sample:  "2.3.0/changelog/r2-claim-c2/checkpoints/job/d1857088519fd2e7c277ae863b1e0c47/chk-7",
			own:     []string{"changelog/d1857088519fd2e7c277ae863b1e0c47/dstl", "checkpoints/job/d1857088519fd2e7c277ae863b1e0c47/taskowned"},
			outside: []string{"checkpoints/job/536b331c57012e81b9b4a3996a88091b/taskowned"},
		},
		{sample: "2.3.0/nosubdir/r2-c1/checkpoints/job/chk-5", own: []string{"checkpoints/job/shared"}},
		{
			sample: "1.20.5/hdfs-ha-zk/c3/checkpoints/job/923d71b628a8bda9a4cc23c30cd082ac/chk-3",
			own:    []string{"checkpoints/job/923d71b628a8bda9a4cc23c30cd082ac/shared"},
		},
		{sample: "1.20.5/sp-NATIVE-restore-NO_CLAIM/sp/savepoints/savepoint-6c1287-89f94125c0c6"},
		{sample: "2.3.0/sp-CANONICAL-restore-CLAIM/sp/savepoints/savepoint-51e714-42629c47e00c"},
	} {
		var doc referencesDocument
		mustUnmarshal(t, runProgram(t, program, "references", "--format", "json", filepath.Join(samples, c.sample)), &doc)
		var own, outside []string
		for _, d := range doc.Files[0].Directories {
			below := d.Path[strings.LastIndex(d.Path, "/flink/")+len("/flink/"):]
			switch {
			case d.Outside == nil && d.Relative && doc.Files[0].Snapshot != "savepoint":
			case d.Outside == nil:
				t.Errorf("%s: not judged: %+v", c.sample, d)
			case *d.Outside:
				outside = append(outside, below)
			case !d.Relative:
				own = append(own, below)
			}
		}
		if len(doc.Files) != 1 || !slices.Equal(own, c.own) || !slices.Equal(outside, c.outside) {
			t.Errorf("%s: own %q, outside %q", c.sample, own, outside)
		}
	}
}

// flinkMetadata makes a _metadata file of version 3: one subtask whose in-flight
// data is in these files.
func flinkMetadata(id int64, refs ...flinkRef) []byte {
	be := binary.BigEndian
	utf := func(b []byte, s string) []byte { return append(be.AppendUint16(b, uint16(len(s))), s...) }
	b := be.AppendUint32(nil, 0x4960672d)
	b = be.AppendUint32(b, 3)
	b = be.AppendUint64(b, uint64(id))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 1)       // no master state, one operator:
	b = append(b, make([]byte, 16)...)          // its id
	b = append(b, 0, 0, 0, 1, 0, 0, 0, 1, 0)    // parallelism 1 of 1, no coordinator
	b = append(b, 0, 0, 0, 1, 0, 0, 0, 0)       // one subtask, the first:
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // no state of operator or keys
	b = be.AppendUint32(b, uint32(len(refs)))   // input channels:
	for _, r := range refs {
		b = append(b, make([]byte, 4*4+8)...) // subtask, gate, channel, no offsets, size
		switch r.kind {
		case "relative":
			b = be.AppendUint64(utf(append(b, 6), r.path), uint64(r.size))
		case "file":
			b = utf(be.AppendUint64(append(b, 2), uint64(r.size)), r.path)
		case "segment":
			b = be.AppendUint64(append(b, 15), uint64(r.start))
			b = be.AppendUint64(b, uint64(r.size))
			b = utf(append(b, 0, 0, 0, 1), r.path)
			b = utf(b, "id")
		}
	}
	return be.AppendUint32(b, 0) // no result subpartitions
}

// TestReferencesOddNames: every name, of a file as of what it refers to, comes
// through every format.
func TestReferencesOddNames(t *testing.T) {
	program, dir := buildProgram(t), t.TempDir()
	refs := []flinkRef{
		{kind: "file", path: "hdfs://nn/a\nb\tc\\d \x1b[31m\"q\" ", size: 5},
		{kind: "file", path: "hdfs://nn/a  at 5 shared  b", size: -1},
		{kind: "file", path: "hdfs:/u/\xed\xa0\x80", size: 7}, // a surrogate alone: no UTF-8
		{kind: "relative", path: "ü \u202e日", size: 1 << 40},
		{kind: "segment", path: "/no/scheme  OUTSIDE  x", size: 3, start: 1 << 33, scope: "shared"},
	}
	const run = "\xff\x01 odd\nrun"
	name := filepath.Join("-x", run, "chk-7", "_metadata")
	full := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, flinkMetadata(7, refs...), 0o600)); err != nil {
		t.Fatal(err)
	}
	sortRefs(refs)
	output := func(args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"references"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, arg := range []string{"-x", name} { // the folder, the file
		var got []flinkRef
		for line := range bytes.Lines(output("--format", "ndjson", "--", arg)) {
			var r jsonRef
			mustUnmarshal(t, line, &r)
			if string(r.MetadataB64) != name {
				t.Errorf("metadata %q, want %q", r.MetadataB64, name)
			}
			got = append(got, r.ref(t))
		}
		if sortRefs(got); !slices.Equal(got, refs) {
			t.Errorf("ndjson: got %v, want %v", got, refs)
		}
		var doc referencesDocument
		mustUnmarshal(t, output("--format", "json", "--", arg), &doc)
		got = nil
		for _, r := range doc.Files[0].References {
			got = append(got, r.ref(t))
		}
		if sortRefs(got); !slices.Equal(got, refs) {
			t.Errorf("json: got %v, want %v", got, refs)
		}
		const escaped = `-x/\xff\x01 odd\nrun/chk-7/_metadata`
		got = parseReferencesText(t, output("--", arg))[escaped]
		if sortRefs(got); !slices.Equal(got, refs) {
			t.Errorf("text: got %v, want %v", got, refs)
		}
	}
}

// TestReferencesUnreadable: what may not be read is an error, and the rest is
// there. Root may read everything, so it runs the program as somebody else.
func TestReferencesUnreadable(t *testing.T) {
	dir, err := os.MkdirTemp("", "fsweep") // t.TempDir is in one that others may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(os.Chmod(filepath.Join(dir, "closed"), 0o700), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	program := filepath.Join(dir, "fsweep")
	b, err := os.ReadFile(buildProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	metadata := flinkMetadata(1, flinkRef{kind: "file", path: "/a", size: 1})
	for _, name := range []string{"a", "closed", "z"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, "_metadata"), metadata, 0o644))
	}
	if err := errors.Join(err, os.WriteFile(program, b, 0o755), os.Chmod(filepath.Join(dir, "closed"), 0),
		os.WriteFile(filepath.Join(dir, "completedCheckpoint1"), metadata, 0), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "references", ".", "--format", "ndjson")
	cmd.Dir = dir
	if os.Getuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit code %d", code)
	}
	const row = `{"metadata":"%s/_metadata","kind":"file","path":"/a","size":1}` + "\n"
	if want := fmt.Sprintf(row, "a") + fmt.Sprintf(row, "z"); string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	const errorsWanted = "fsweep: error: closed: permission denied\nfsweep: error: completedCheckpoint1: permission denied\n" +
		"fsweep: error: 1 of 3 files could not be decoded; files or folders that could not be read: 1\n"
	if stderr.String() != errorsWanted {
		t.Errorf("got  %s\nwant %s", &stderr, errorsWanted)
	}
}

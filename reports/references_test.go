package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"fsweep/analyze/flink"
	"fsweep/proto/flinkmeta"
)

// sampleReferences are files with a value in every place, and names that need escaping.
func sampleReferences(t *testing.T, r *References) {
	t.Helper()
	ref := func(ref flinkmeta.Reference, pointer bool) {
		if err := r.Ref(&flink.Ref{Reference: ref, Pointer: pointer}); err != nil {
			t.Error(err)
		}
	}
	end := func(m *flink.Metadata, err error) {
		if err := r.End(m, err); err != nil {
			t.Error(err)
		}
	}
	r.Begin("in/\xff\n/chk-8/_metadata", "in/\xff\n/chk-8/_metadata")
	ref(flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("hdfs://nn/run2/shared/a\t b"), Size: 381105}, false)
	ref(flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("hdfs://nn/run2/shared/\xed\xa0\x80"), Size: -1}, false)
	ref(flinkmeta.Reference{Kind: flinkmeta.Relative, Path: []byte("c/d")}, false)
	ref(flinkmeta.Reference{
		Kind: flinkmeta.Segment, Path: []byte("/x/m"), Size: 3, Start: 1 << 40, Scope: flinkmeta.Shared, LogicalID: []byte("id\xfe"),
	}, false)
	ref(flinkmeta.Reference{Kind: flinkmeta.Directory, Path: []byte("/x"), Size: -1}, false)
	end(&flink.Metadata{
		Type: flink.MetadataFile, References: 5, Run: "\xff\n", RunPath: "hdfs://nn/a\t/\xff\n", FolderRun: "chk\t",
		Info: flinkmeta.Info{
			Version: 7, CheckpointID: 8, MasterStates: 1, Operators: 1234, FinishedOperators: 2, Subtasks: 5, FinishedSubtasks: 1,
			RegionalSubtasks: 2, OldestRegional: 6, Kind: flinkmeta.Checkpoint, InlineHandles: 2, InlineBytes: 5000, ChangeBytes: 77, Size: 9000,
			Properties: flinkmeta.Properties{Name: "Full Checkpoint", DiscardCancelled: true},
		},
		Directories: []flink.Directory{
			{Path: "/x", References: 2, Files: 1, Bytes: 3, Side: flink.Inside},
			{Path: "/y", References: 1, Files: 1, Bytes: 3},
			{Path: "hdfs://nn/run2/shared", References: 2, Files: 2, Bytes: 381105, Side: flink.Outside},
			{Path: "c", Relative: true, References: 1, Files: 1},
			{Path: "../d", Relative: true, References: 1, Files: 1},
		},
	}, nil)

	r.Begin("sp/_metadata", "sp/_metadata")
	end(&flink.Metadata{Type: flink.MetadataFile, Run: "sp", Info: flinkmeta.Info{
		Version: 4, CheckpointID: 9, Kind: flinkmeta.Savepoint, Format: flinkmeta.Native, Size: 900,
		Properties: flinkmeta.Properties{Name: "Terminate Savepoint"},
	}}, nil)

	r.Begin("-", "-")
	ref(flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("/r/a"), Size: 1}, false)
	end(&flink.Metadata{
		Type: flink.MetadataFile, References: 1, Info: flinkmeta.Info{Version: 3, CheckpointID: 4, Size: 500},
		Directories: []flink.Directory{{Path: "/r", References: 1, Files: 1, Bytes: 1}},
	}, fmt.Errorf("wrapped: %w", &flinkmeta.FormatError{Where: "operator 3", Offset: 500, Err: flinkmeta.ErrTruncated}))

	r.Begin("completedCheckpoint1", "completedCheckpoint1")
	ref(flinkmeta.Reference{Path: []byte("hdfs:/r/chk-4"), Size: -1}, true)
	end(&flink.Metadata{
		Type: flink.PointerFile, References: 1, Directories: []flink.Directory{{Path: "hdfs:/r", References: 1, Files: 1}},
	}, nil)

	r.Begin("missing", "missing")
	end(&flink.Metadata{}, syscall.ENOENT)
}

// TestReferencesClaims: the text says no more about what lies outside of the run
// than is certain.
func TestReferencesClaims(t *testing.T) {
	t.Parallel()
	damage := fmt.Errorf("w: %w", &flinkmeta.FormatError{Where: "operator 3", Offset: 500, Err: flinkmeta.ErrTruncated})
	in := flink.Directory{Path: "/r/shared", Side: flink.Inside}
	out := flink.Directory{Path: "/q/shared", Side: flink.Outside}
	unknown := flink.Directory{Path: "/dstl"}
	beside := flink.Directory{Path: ".", Relative: true}
	for _, c := range []struct {
		dirs   []flink.Directory
		failed error
		want   string
	}{
		{[]flink.Directory{in}, nil, "nothing is outside of it"},
		{[]flink.Directory{in, out}, nil, "1 of 2 directories are OUTSIDE of it, and needed all the same"},
		{[]flink.Directory{in}, damage, "nothing outside of it was found before the damage"},
		{[]flink.Directory{in, out}, damage, "1 of 2 directories are OUTSIDE of it, and needed all the same"},
		{[]flink.Directory{in}, syscall.EIO, "nothing outside of it was found before the error"},
		{[]flink.Directory{in, beside}, nil, "no full path leads out of it, but the relative ones may"},
		{[]flink.Directory{beside}, nil, "relative paths may lead out of it"},
		{[]flink.Directory{in, unknown, beside}, nil, "no path is certain to lead out of it, but those not known may"},
	} {
		var b bytes.Buffer
		r := NewReferences(&b, ReferencesText)
		r.Begin("x", "x")
		m := flink.Metadata{Type: flink.MetadataFile, Run: "r", Directories: c.dirs, Info: flinkmeta.Info{Kind: flinkmeta.Checkpoint}}
		if err := errors.Join(r.End(&m, c.failed), r.Close(true)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b.Bytes(), []byte("\n  own run      r; "+c.want+"\n")) {
			t.Errorf("want %q:\n%s", c.want, &b)
		}
	}
}

// TestReferencesMemory: text and NDJSON keep nothing of the references that they wrote.
func TestReferencesMemory(t *testing.T) {
	t.Parallel()
	for _, format := range []ReferencesFormat{ReferencesText, ReferencesNDJSON} {
		r := NewReferences(io.Discard, format)
		r.Begin("x", "x")
		ref := flink.Ref{Reference: flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("hdfs://nn/r/shared/f"), Size: 5}}
		for range 100_000 {
			if err := r.Ref(&ref); err != nil {
				t.Fatal(err)
			}
		}
		if cap(r.lines) > 4096 {
			t.Errorf("format %d: %d bytes kept", format, cap(r.lines))
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]ReferencesFormat{
		"references.txt": ReferencesText, "references.json": ReferencesJSON, "references.ndjson": ReferencesNDJSON,
	} {
		var b bytes.Buffer
		r := NewReferences(&b, format)
		sampleReferences(t, r)
		if err := r.Close(false); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		if format == ReferencesJSON && !json.Valid(b.Bytes()) {
			t.Error("no JSON")
		}
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestReferencesFullDisk: what cannot be written is told, at Close at the latest.
func TestReferencesFullDisk(t *testing.T) {
	t.Parallel()
	for _, format := range []ReferencesFormat{ReferencesText, ReferencesJSON, ReferencesNDJSON} {
		r := NewReferences(fullDisk{}, format)
		sampleReferences(t, r)
		if err := r.Close(true); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("format %d: %v", format, err)
		}
		r.Begin("more", "more")
		row := flink.Ref{Reference: flinkmeta.Reference{Kind: flinkmeta.File, Path: bytes.Repeat([]byte("x"), 100<<10)}}
		err := r.Ref(&row)
		if err == nil {
			err = r.End(&flink.Metadata{Type: flink.MetadataFile, Directories: []flink.Directory{{Path: "/"}}}, nil)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("format %d, later: %v", format, err)
		}
	}
}

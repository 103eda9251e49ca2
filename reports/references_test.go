package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	r.Begin("in/\xff\n/chk-8/_metadata")
	ref(flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("hdfs://nn/run2/shared/a\t b"), Size: 381105}, false)
	ref(flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("hdfs://nn/run2/shared/\xed\xa0\x80"), Size: -1}, false)
	ref(flinkmeta.Reference{Kind: flinkmeta.Relative, Path: []byte("c/d")}, false)
	ref(flinkmeta.Reference{
		Kind: flinkmeta.Segment, Path: []byte("/x/m"), Size: 3, Start: 1 << 40, Scope: flinkmeta.Shared, LogicalID: []byte("id\xfe"),
	}, false)
	ref(flinkmeta.Reference{Kind: flinkmeta.Directory, Path: []byte("/x"), Size: -1}, false)
	end(&flink.Metadata{
		Type: flink.MetadataFile, References: 5, Run: "\xff\n",
		Info: flinkmeta.Info{
			Version: 7, CheckpointID: 8, MasterStates: 1, Operators: 1234, FinishedOperators: 2, Subtasks: 5, FinishedSubtasks: 1,
			RegionalSubtasks: 2, OldestRegional: 6, Kind: flinkmeta.Checkpoint, InlineHandles: 2, InlineBytes: 5000, ChangeBytes: 77, Size: 9000,
			Properties: flinkmeta.Properties{Name: "Full Checkpoint", DiscardCancelled: true},
		},
		Directories: []flink.Directory{
			{Path: "/x", References: 2, Files: 1, Bytes: 3},
			{Path: "hdfs://nn/run2/shared", References: 2, Files: 2, Bytes: 381105, Outside: true},
			{Path: "c", Relative: true, References: 1, Files: 1},
		},
	}, nil)

	r.Begin("sp/_metadata")
	end(&flink.Metadata{Type: flink.MetadataFile, Run: "sp", Info: flinkmeta.Info{
		Version: 4, CheckpointID: 9, Kind: flinkmeta.Savepoint, Format: flinkmeta.Native, Size: 900,
		Properties: flinkmeta.Properties{Name: "Terminate Savepoint"},
	}}, nil)

	r.Begin("-")
	ref(flinkmeta.Reference{Kind: flinkmeta.File, Path: []byte("/r/a"), Size: 1}, false)
	end(&flink.Metadata{
		Type: flink.MetadataFile, References: 1, Info: flinkmeta.Info{Version: 3, CheckpointID: 4, Size: 500},
		Directories: []flink.Directory{{Path: "/r", References: 1, Files: 1, Bytes: 1}},
	}, fmt.Errorf("wrapped: %w", &flinkmeta.FormatError{Where: "operator 3", Offset: 500, Err: flinkmeta.ErrTruncated}))

	r.Begin("completedCheckpoint1")
	ref(flinkmeta.Reference{Path: []byte("hdfs:/r/chk-4"), Size: -1}, true)
	end(&flink.Metadata{
		Type: flink.PointerFile, References: 1, Directories: []flink.Directory{{Path: "hdfs:/r", References: 1, Files: 1}},
	}, nil)

	r.Begin("missing")
	end(&flink.Metadata{}, syscall.ENOENT)
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
		r.Begin("more")
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

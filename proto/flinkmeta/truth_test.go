package flinkmeta

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const samplesDir = "../../testdata/flink"

// truth is what Flink's own classes found in a _metadata file.
type truth struct {
	Snapshot     string
	Metadata     string
	File         string // in samples.tar.gz
	Version      int32
	CheckpointID int64 `json:"checkpoint_id"`
	MasterStates int64 `json:"master_states"`
	Operators    int64
	Properties   string
	Refs         [][5]any // kind, path, size, start, scope
}

// readSamples gives the sample files by name.
func readSamples(tb testing.TB) map[string][]byte {
	tb.Helper()
	return readArchive(tb, "samples.tar.gz")
}

// readArchive gives the files of an archive of samples by name.
func readArchive(tb testing.TB, name string) map[string][]byte {
	tb.Helper()
	f, err := os.Open(filepath.Join(samplesDir, name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			tb.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(archive); err != nil {
			tb.Fatal(err)
		}
	}
}

func readTruth(tb testing.TB) (all []truth) {
	tb.Helper()
	f, err := os.Open(filepath.Join(samplesDir, "truth.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var t truth
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			tb.Fatal(err)
		}
		all = append(all, t)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// sampleMetadata gives the names of the _metadata files, sorted.
func sampleMetadata(files map[string][]byte) (names []string) {
	for name := range files {
		if filepath.Base(name) == "_metadata" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// line is a reference as text, to compare multisets. It leaves Offset and
// LogicalID out, which the truth does not hold.
func line(r *Reference) string {
	scope := ""
	if r.Kind == Segment {
		scope = r.Scope.String()
	}
	return fmt.Sprintf("%v %q size %d start %d %s", r.Kind, r.Path, r.Size, r.Start, scope)
}

// decodeAll gives the references as sorted lines.
func decodeAll(r io.Reader) (lines []string, info Info, err error) {
	info, err = Decode(r, func(r *Reference) error {
		lines = append(lines, line(r))
		return nil
	})
	slices.Sort(lines)
	return lines, info, err
}

// TestTruth compares every sample with what Flink's own classes loaded from it.
func TestTruth(t *testing.T) {
	t.Parallel()
	files, all := readSamples(t), readTruth(t)
	seen, references := map[string]bool{}, 0
	for _, want := range all {
		b := files[want.File]
		if b == nil {
			t.Fatalf("no sample %s", want.File)
		}
		seen[want.File] = true
		got, info, err := decodeAll(bytes.NewReader(b))
		if err != nil {
			t.Errorf("%s: %v", want.File, err)
			continue
		}
		references += len(got)
		lines, inline, inlineBytes, empty := want.references()
		if !slices.Equal(got, lines) {
			t.Errorf("%s:\ngot  %q\nwant %q", want.File, got, lines)
		}
		if info.Version != want.Version || info.CheckpointID != want.CheckpointID || info.Operators != want.Operators ||
			info.MasterStates != want.MasterStates || info.Size != int64(len(b)) || info.References != int64(len(lines)) {
			t.Errorf("%s: got %+v\nwant %+v", want.File, info, want)
		}
		if info.InlineHandles != inline || info.InlineBytes != inlineBytes || info.EmptySegments != empty {
			t.Errorf("%s: %d inline handles of %d bytes, %d empty segments; want %d, %d, %d", want.File,
				info.InlineHandles, info.InlineBytes, info.EmptySegments, inline, inlineBytes, empty)
		}
		if got := flinkProperties(info); got != want.Properties {
			t.Errorf("%s:\ngot  %s\nwant %s", want.File, got, want.Properties)
		}
	}
	if names := sampleMetadata(files); len(seen) != 125 || len(names) != len(seen) || len(all) != 204 {
		t.Errorf("%d entries of truth about %d of %d samples", len(all), len(seen), len(names))
	}
	t.Logf("%d entries, %d files, %d references equal", len(all), len(seen), references)
}

// references gives the lines as Decode should, and what is none of it.
func (want *truth) references() (lines []string, inline, inlineBytes, empty int64) {
	for _, r := range want.Refs {
		size := int64(r[2].(float64))
		switch kind := r[0].(string); kind {
		case "bytes":
			inline++
			inlineBytes += size
		case "emptysegment":
			empty++
		default:
			lines = append(lines, fmt.Sprintf("%s %q size %d start %d %s", kind, r[1], size, int64(r[3].(float64)), r[4]))
		}
	}
	slices.Sort(lines)
	return lines, inline, inlineBytes, empty
}

// flinkProperties writes what Flink's CheckpointProperties.toString gives.
func flinkProperties(info Info) string {
	p := info.Properties
	var snapshot string
	switch info.Kind {
	case UnknownSnapshot:
		return "null"
	case Checkpoint:
		snapshot = fmt.Sprintf("CheckpointType{name='%s', sharingFilesStrategy=%s}", p.Name, p.Sharing)
	case Savepoint:
		snapshot = fmt.Sprintf("SavepointType{name='%s', postCheckpointAction=%s, formatType=%s}", p.Name, p.Action, strings.ToUpper(info.Format.String()))
	}
	return fmt.Sprintf("CheckpointProperties{forced=%t, checkpointType=%s, discardSubsumed=%t, discardFinished=%t, discardCancelled=%t, discardFailed=%t, discardSuspended=%t}",
		p.Forced, snapshot, p.DiscardSubsumed, p.DiscardFinished, p.DiscardCancelled, p.DiscardFailed, p.DiscardSuspended)
}

// TestReaders: how a reader cuts the bytes does not matter.
func TestReaders(t *testing.T) {
	t.Parallel()
	files := readSamples(t)
	for i, name := range sampleMetadata(files) {
		if i%10 != 0 {
			continue
		}
		b := files[name]
		want, info, err := decodeAll(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for how, r := range map[string]io.Reader{
			"one byte":      iotest.OneByteReader(bytes.NewReader(b)),
			"halves":        iotest.HalfReader(bytes.NewReader(b)),
			"data with EOF": iotest.DataErrReader(bytes.NewReader(b)),
		} {
			got, again, err := decodeAll(r)
			if err != nil || again != info || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, %+v, want %+v", name, how, err, again, info)
			}
		}
	}
}

// TestOffsets: what stands at the offset of a reference is its handle.
func TestOffsets(t *testing.T) {
	t.Parallel()
	files := readSamples(t)
	for _, name := range sampleMetadata(files) {
		b := files[name]
		_, err := Decode(bytes.NewReader(b), func(r *Reference) error {
			handle := encodeReference(r)
			if !bytes.HasPrefix(b[r.Offset:], handle) {
				t.Errorf("%s, offset %d: no %s", name, r.Offset, line(r))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

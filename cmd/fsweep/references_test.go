package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsweep/reports"
)

const flinkData = "../../testdata/flink"

// flinkTruth is what Flink's own classes loaded from a _metadata file.
type flinkTruth struct {
	File         string
	Version      int64
	CheckpointID int64 `json:"checkpoint_id"`
	MasterStates int64 `json:"master_states"`
	Operators    int64
	Properties   string
	Refs         []flinkRef
}

// flinkRef is one reference, as a test can compare it.
type flinkRef struct {
	kind, path  string
	size, start int64 // size -1: unknown
	scope       string
}

// UnmarshalJSON reads [kind, path, size, start, scope].
func (r *flinkRef) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.kind, &r.path, &r.size, &r.start, &r.scope})
}

// state tells whether the state is in the file itself, so that it is no reference.
func (r flinkRef) state() bool { return r.kind == "bytes" || r.kind == "emptysegment" }

// references are those of the truth that are some, sorted.
func (f *flinkTruth) references() []flinkRef {
	refs := slices.DeleteFunc(slices.Clone(f.Refs), flinkRef.state)
	sortRefs(refs)
	return refs
}

func sortRefs(refs []flinkRef) {
	slices.SortFunc(refs, func(a, b flinkRef) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// readFlinkTruth gives the truth by sample.
func readFlinkTruth(t *testing.T) map[string]*flinkTruth {
	t.Helper()
	all := map[string]*flinkTruth{}
	for line := range bytes.Lines(readMaybeGzipped(t, filepath.Join(flinkData, "truth.jsonl.gz"))) {
		truth := &flinkTruth{}
		mustUnmarshal(t, line, truth)
		all[truth.File] = truth
	}
	if len(all) != 125 {
		t.Fatalf("truth about %d samples", len(all))
	}
	return all
}

// unpackSamples gives a folder with all samples.
func unpackSamples(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join(flinkData, "samples.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, h.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// referencesDocument is what fsweep references --format json writes.
type referencesDocument struct {
	Files    []referencesFile
	Complete bool
}

type referencesFile struct {
	Metadata         string
	Type             string
	Version          int64
	CheckpointID     int64 `json:"checkpoint_id"`
	Snapshot         string
	SnapshotName     string `json:"snapshot_name"`
	Format           string
	RetainedOnCancel *bool `json:"retained_on_cancel"`
	Operators        int64
	MasterStates     int64  `json:"master_states"`
	InlineHandles    int64  `json:"inline_handles"`
	InlineStateBytes int64  `json:"inline_state_bytes"`
	EmptySegments    int64  `json:"empty_segments"`
	DecodedBytes     int64  `json:"decoded_bytes"`
	OwnRun           string `json:"own_run"`
	OwnRunPath       string `json:"own_run_path"`
	OwnRunPathB64    []byte `json:"own_run_path_b64"`
	References       []jsonRef
	Directories      []jsonDirectory
	Complete         bool
	Error            *struct {
		Message string
		Offset  *int64
	}
}

type jsonRef struct {
	Metadata    string
	MetadataB64 []byte `json:"metadata_b64"`
	Kind        string
	Path        string
	PathB64     []byte `json:"path_b64"`
	Size        *int64
	Start       *int64
	Scope       string
	LogicalID   *string `json:"logical_id"`
}

type jsonDirectory struct {
	Path       string
	PathB64    []byte `json:"path_b64"`
	Relative   bool
	References int64
	Files      int64
	Bytes      int64
	Outside    *bool
}

// ref compares: what only segments have must be absent elsewhere.
func (r *jsonRef) ref(t *testing.T) flinkRef {
	t.Helper()
	ref := flinkRef{kind: r.Kind, path: r.Path, size: -1, scope: r.Scope}
	if r.PathB64 != nil {
		ref.path = string(r.PathB64)
	}
	if r.Size != nil {
		ref.size = *r.Size
	}
	if segment := r.Kind == "segment"; segment != (r.Start != nil) || segment != (r.LogicalID != nil) {
		t.Errorf("start and logical_id of %+v", r)
	}
	if r.Start != nil {
		ref.start = *r.Start
	}
	return ref
}

// TestReferencesTruth runs the built program on every sample, in all formats, and
// requires the references that Flink's own classes load, each as often as they do.
func TestReferencesTruth(t *testing.T) {
	program, samples, truth := buildProgram(t), unpackSamples(t), readFlinkTruth(t)
	sample := func(metadata string) string { return strings.TrimPrefix(metadata, samples+"/") }
	fromJSON := map[string][]flinkRef{}
	var doc referencesDocument
	mustUnmarshal(t, runProgram(t, program, "references", "--format", "json", samples), &doc)
	if !doc.Complete || len(doc.Files) != len(truth)+3 {
		t.Errorf("%d files, complete %v", len(doc.Files), doc.Complete)
	}
	for i := range doc.Files {
		f := &doc.Files[i]
		name := sample(f.Metadata)
		for i := range f.References {
			fromJSON[name] = append(fromJSON[name], f.References[i].ref(t))
		}
		if want := truth[name]; want != nil {
			compareInfo(t, f, want)
			compareDirectorySums(t, f, want)
			compareOwnRun(t, f, want)
		} else if f.Type != "pointer" || f.OwnRun != "" {
			t.Errorf("%s: %s of run %s", name, f.Type, f.OwnRun)
		}
	}
	fromNDJSON := map[string][]flinkRef{}
	for line := range bytes.Lines(runProgram(t, program, "references", "--format", "ndjson", samples)) {
		var r jsonRef
		mustUnmarshal(t, line, &r)
		fromNDJSON[sample(r.Metadata)] = append(fromNDJSON[sample(r.Metadata)], r.ref(t))
	}
	fromText := map[string][]flinkRef{}
	for name, refs := range parseReferencesText(t, runProgram(t, program, "references", samples)) {
		fromText[sample(name)] = refs
	}
	for format, got := range map[string]map[string][]flinkRef{"json": fromJSON, "ndjson": fromNDJSON, "text": fromText} {
		n := 0
		for name, want := range truth {
			sortRefs(got[name])
			if refs := want.references(); !slices.Equal(got[name], refs) {
				t.Errorf("%s of %s:\ngot  %v\nwant %v", format, name, got[name], refs)
			}
			n += len(got[name])
			delete(got, name)
		}
		t.Logf("%s: %d references equal", format, n)
		comparePointers(t, format, got, truth)
	}
}

// comparePointers requires of each pointer file all references of the checkpoint
// that it is about, and the checkpoint itself.
func comparePointers(t *testing.T, format string, got map[string][]flinkRef, truth map[string]*flinkTruth) {
	t.Helper()
	const ha, run = "1.20.5/hdfs-ha-zk/", "/checkpoints/job/923d71b628a8bda9a4cc23c30cd082ac/"
	names := slices.Sorted(maps.Keys(got))
	want := map[string]string{ // by the order in which the checkpoints were made
		ha + "c1/ha/lab-cluster/completedCheckpointa5109d698319": ha + "c1" + run + "chk-1/_metadata",
		ha + "c3/ha/lab-cluster/completedCheckpoint11d023c5468b": ha + "c3" + run + "chk-3/_metadata",
		ha + "c3/ha/lab-cluster/completedCheckpoint7560051a1b07": ha + "c3" + run + "chk-2/_metadata",
	}
	if !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		t.Errorf("%s: also about %q", format, names)
	}
	for name, metadata := range want {
		paths := map[string]bool{}
		for _, r := range got[name] {
			if r.kind != "pointer" || r.size != -1 {
				t.Errorf("%s of %s: %v", format, name, r)
			}
			paths[r.path] = true
		}
		_, rest, _ := strings.Cut(metadata, run)
		self := "hdfs://127.0.0.1:23200/flink" + run + rest
		need := []string{self, cutName(self)}
		for _, r := range truth[metadata].references() {
			need = append(need, r.path)
		}
		for _, p := range need {
			if !paths[p] {
				t.Errorf("%s of %s lacks %s", format, name, p)
			}
		}
	}
}

func compareInfo(t *testing.T, f *referencesFile, want *flinkTruth) {
	t.Helper()
	var inline, inlineBytes, empty int64
	for _, r := range want.Refs {
		switch r.kind {
		case "bytes":
			inline++
			inlineBytes += r.size
		case "emptysegment":
			empty++
		}
	}
	got := []int64{f.Version, f.CheckpointID, f.MasterStates, f.Operators, f.InlineHandles, f.InlineStateBytes, f.EmptySegments}
	if expect := []int64{want.Version, want.CheckpointID, want.MasterStates, want.Operators, inline, inlineBytes, empty}; !slices.Equal(got, expect) {
		t.Errorf("%s: got %d, want %d", want.File, got, expect)
	}
	if fi, err := os.Stat(f.Metadata); err != nil || fi.Size() != f.DecodedBytes || !f.Complete || f.Error != nil || f.Type != "metadata" {
		t.Errorf("%s: %v, %+v", want.File, err, f)
	}
	snapshot, format, retained := "", "", ""
	switch {
	case strings.Contains(want.Properties, "checkpointType=SavepointType{name='"+f.SnapshotName+"'"):
		snapshot = "savepoint"
		_, rest, _ := strings.Cut(want.Properties, "formatType=")
		format, _, _ = strings.Cut(strings.ToLower(rest), "}")
	case strings.Contains(want.Properties, "checkpointType=CheckpointType{name='"+f.SnapshotName+"'"):
		snapshot = "checkpoint"
	}
	if f.RetainedOnCancel != nil {
		retained = fmt.Sprintf("discardCancelled=%v", !*f.RetainedOnCancel)
	}
	if f.Snapshot != snapshot || f.Format != format || (retained == "") != (snapshot == "") || !strings.Contains(want.Properties, retained) {
		t.Errorf("%s: %s, %s, %s; want %s", want.File, f.Snapshot, f.Format, retained, want.Properties)
	}
}

// directoryOf tells where Flink keeps what a reference of a sample names.
func directoryOf(r flinkRef, sample string) string {
	switch r.kind {
	case "directory":
		return r.path
	case "relative":
		return path.Dir(sample)
	}
	return cutName(r.path)
}

// cutName cuts the last name off; unlike path.Dir it leaves hdfs:// as it is.
func cutName(p string) string { return p[:strings.LastIndexByte(p, '/')] }

func compareDirectorySums(t *testing.T, f *referencesFile, want *flinkTruth) {
	t.Helper()
	type sum struct{ references, files, bytes int64 }
	expect, files, parts := map[string]sum{}, map[string]bool{}, map[flinkRef]bool{}
	for _, r := range want.references() {
		dir := directoryOf(r, f.Metadata)
		s := expect[dir]
		s.references++
		if r.kind != "directory" {
			if !files[r.path] {
				s.files++
			}
			if !parts[r] {
				s.bytes += r.size
			}
			files[r.path], parts[r] = true, true
		}
		expect[dir] = s
	}
	got := map[string]sum{}
	for _, d := range f.Directories {
		got[d.Path] = sum{d.References, d.Files, d.Bytes}
		if d.Relative != (d.Path == path.Dir(f.Metadata)) {
			t.Errorf("%s: relative: %+v", want.File, d)
		}
	}
	if !maps.Equal(got, expect) || len(f.Directories) != len(expect) {
		t.Errorf("%s: got %v, want %v", want.File, got, expect)
	}
}

// compareOwnRun judges by the place of the sample: it is still in the directories
// that Flink made, FLINK/CASE/SNAPSHOT/ stands for …/flink/ in the paths, and ids of
// jobs are found nowhere by chance.
func compareOwnRun(t *testing.T, f *referencesFile, want *flinkTruth) {
	t.Helper()
	dir := path.Dir(path.Dir(want.File))
	if f.Snapshot == "savepoint" {
		dir = path.Dir(want.File)
	}
	run, stored := path.Base(dir), ""
	below := "/flink/" + strings.SplitN(dir, "/", 4)[3] + "/"
	for _, r := range want.references() {
		if i := strings.Index(r.path, below); i >= 0 {
			stored = r.path[:i+len(below)-1]
		}
	}
	if f.OwnRun != run || f.OwnRunPath != stored {
		t.Errorf("%s: run %q at %q, want %q at %q", want.File, f.OwnRun, f.OwnRunPath, run, stored)
	}
	for _, d := range f.Directories {
		outside := !d.Relative && !strings.Contains(d.Path, "/"+run+"/")
		uncertain := d.Relative && f.Snapshot != "savepoint" // FLINK-39964
		if (d.Outside == nil) != uncertain || !uncertain && *d.Outside != outside {
			t.Errorf("%s: outside of %s: %+v", want.File, run, d)
		}
	}
}

// parseReferencesText gives the references of each file in the text output.
func parseReferencesText(t *testing.T, text []byte) map[string][]flinkRef {
	t.Helper()
	all := map[string][]flinkRef{}
	file := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, " ") && line != "" {
			file = line
			all[file] = nil
		}
		rest, ok := strings.CutPrefix(line, "    ")
		kind, _, _ := strings.Cut(rest, " ")
		if !ok || !slices.Contains([]string{"file", "relative", "segment", "directory", "pointer"}, kind) {
			continue
		}
		r := flinkRef{kind: kind, size: -1}
		columns, escaped, _ := strings.Cut(strings.TrimLeft(rest[len(kind):], " "), "  ")
		if columns != "-" {
			if _, err := fmt.Sscanf(columns, "%d", &r.size); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		if kind == "segment" {
			at, path, _ := strings.Cut(escaped, "  ")
			if _, err := fmt.Sscanf(at, "at %d %s", &r.start, &r.scope); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			escaped = path
		}
		name, ok := reports.UnescapePath(escaped)
		if !ok {
			t.Fatalf("%q is no name", escaped)
		}
		r.path = string(name)
		all[file] = append(all[file], r)
	}
	return all
}

package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/fsimage/imagetest"
)

// The memory that report may use at its peak, which docs/PERFORMANCE.md promises:
// the rates and what does not depend on the image, in bytes.
const (
	perInode     = 8
	perDirectory = 160
	perTouched   = 128
	perWorker    = 16 << 20
	fixedMemory  = 24 << 20 // the Go runtime, the binary's pages, the report itself

	// At 13 % directories the whole must also stay below this rate.
	perInodeUsual = 40

	memoryWorkers = 2
)

// TestMemory runs report on large images of different shapes. Their figures must be
// the generator's own, and the peak of resident memory within the stated bound.
// There is no bound on time.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes images of a million inodes")
	}
	program := buildProgram(t)
	measure := buildImagebench(t)
	const inodes = 1_000_000
	usual := imagetest.Spec{Inodes: inodes, Seed: 1}
	for _, c := range []struct {
		name string
		edit func(*imagetest.Spec)
	}{
		{"13 % directories", func(*imagetest.Spec) {}},
		{"50 % directories", func(s *imagetest.Spec) { s.DirPercent = 50 }},
		{"100 % directories", func(s *imagetest.Spec) { s.DirPercent = 100 }},
		{"every 4th id", func(s *imagetest.Spec) { s.Sparse = 4 }},
		{"every 300th id", func(s *imagetest.Spec) { s.Sparse = 300 }},
		{"ids up to 2^63", func(s *imagetest.Spec) { s.Sparse = 4; s.FirstID = s.LastFirstID() }},
		{"compressed, 1 % directories, ids up to 2^63", func(s *imagetest.Spec) {
			s.Inodes, s.DirPercent, s.Codec = 2*inodes, 1, imagetest.CodecLz4
			s.FirstID = s.LastFirstID()
		}},
		{"sub-sections", func(s *imagetest.Spec) { s.SubSections = 12 }},
		{"20 % touched by snapshots", func(s *imagetest.Spec) { s.SnapshotCells = inodes / 60 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := usual
			c.edit(&spec)
			image, truth, err := imagetest.WriteFile(t.TempDir(), spec, false)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "report.json")
			peak := peakMemory(t, measure, program, "report", image, "--format", "json", "-o", out)
			compareSynthetic(t, truth, out)
			checkPeak(t, truth, peak, spec.DirPercent == 0 && spec.SnapshotCells == 0)
		})
	}
}

// TestMemoryLimit: with half the memory that it takes, report ends with an error
// that says so and leaves no output.
func TestMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("writes an image of half a million inodes")
	}
	program := buildProgram(t)
	image, _, err := imagetest.WriteFile(t.TempDir(), imagetest.Spec{Inodes: 500_000, Seed: 1, DirPercent: 100}, false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "report.json")
	peak := peakMemory(t, buildImagebench(t), program, "report", image, "--format", "json", "-o", out)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "report", image, "--format", "json", "-o", out)
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMEMLIMIT=", peak/2))
	message, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 5 {
		t.Errorf("%v, want exit status 5", err)
	}
	if want := regexp.MustCompile(`^fsweep: error: not enough memory: \d+ MiB are in use and the limit is \d+ MiB \(GOMEMLIMIT\)\n`); !want.Match(message) {
		t.Errorf("stderr %q", message)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// buildImagebench builds the command that measures others.
func buildImagebench(t *testing.T) string {
	t.Helper()
	bench := filepath.Join(t.TempDir(), "imagebench")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bench, "fsweep/fsimage/imagetest/imagebench").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bench
}

// peakMemory runs a program and returns its peak resident memory in bytes. A small
// process starts it: a child begins with its parent's peak as its own, and that of
// a test which has just written an image is large.
func peakMemory(t *testing.T, measure, program string, args ...string) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), measure, append([]string{"measure", "--", program}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // memoryWorkers, on any machine
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var u struct {
		PeakBytes  int64 `json:"peak_bytes"`
		ExitStatus int   `json:"exit_status"`
	}
	mustUnmarshal(t, b, &u)
	if u.ExitStatus != 0 {
		t.Fatalf("%s: exit status %d", args[0], u.ExitStatus)
	}
	return u.PeakBytes
}

func checkPeak(t *testing.T, truth *imagetest.Truth, peak int64, usual bool) {
	t.Helper()
	limit := perInode*truth.Inodes + perDirectory*truth.Directories + perTouched*truth.SnapshotTouched +
		perWorker*memoryWorkers + fixedMemory
	t.Logf("peak %.1f MiB of %.1f MiB allowed, %.1f bytes an inode above the fixed part",
		mebibytes(peak), mebibytes(limit), float64(peak-fixedMemory)/float64(truth.Inodes))
	if peak > limit {
		t.Errorf("peak memory %d bytes, allowed %d", peak, limit)
	}
	if rate := perInodeUsual*truth.Inodes + fixedMemory; usual && peak >= rate {
		t.Errorf("peak memory %d bytes, want less than %d: %d bytes an inode", peak, rate, perInodeUsual)
	}
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// syntheticReport is what the JSON report says that the generator knows, too.
type syntheticReport struct {
	Totals         imagetest.Totals `json:"totals"`
	SnapshotTotals imagetest.Totals `json:"snapshot_totals"`
	Quotas         []syntheticQuota `json:"quotas"`
}

// syntheticQuota is one quota directory; an unset limit is absent.
type syntheticQuota struct {
	Path      string           `json:"path"`
	InodeID   uint64           `json:"inode_id"`
	NSQuota   *int64           `json:"ns_quota"`
	DSQuota   *int64           `json:"ds_quota"`
	TypeQuota map[string]int64 `json:"type_quota"`
	NSUsed    int64            `json:"ns_used"`
	DSUsed    int64            `json:"ds_used"`
	TypeUsed  map[string]int64 `json:"type_used"`
}

func compareSynthetic(t *testing.T, truth *imagetest.Truth, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got syntheticReport
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(truth.Totals, got.Totals); diff != "" {
		t.Errorf("totals, -truth +report:\n%s", diff)
	}
	if diff := cmp.Diff(truth.SnapshotTotals, got.SnapshotTotals); diff != "" {
		t.Errorf("snapshot_totals, -truth +report:\n%s", diff)
	}
	rows := map[string]syntheticQuota{}
	for _, q := range got.Quotas {
		if _, double := rows[q.Path]; double {
			t.Errorf("%s: two quota rows", q.Path)
		}
		dropZeroTypes(q.TypeUsed)
		rows[q.Path] = q
	}
	want := map[string]syntheticQuota{}
	for _, r := range truth.Rows {
		if r.Quota {
			want[r.Path] = quotaOfTruth(r)
		}
	}
	bad := 0
	for path, w := range want {
		if diff := cmp.Diff(w, rows[path]); diff != "" {
			if bad++; bad <= 5 {
				t.Errorf("quota of %s, -truth +report:\n%s", path, diff)
			}
		}
	}
	if bad > 0 || len(rows) != len(want) {
		t.Errorf("%d of %d quota rows differ; the report has %d", bad, len(want), len(rows))
	}
}

func quotaOfTruth(r imagetest.TruthRow) syntheticQuota {
	dropZeroTypes(r.TypeUsed)
	q := syntheticQuota{
		Path: r.Path, InodeID: r.InodeID, TypeQuota: r.TypeQuota,
		NSUsed: r.NSUsed, DSUsed: r.DSUsed, TypeUsed: r.TypeUsed,
	}
	if !unsetQuota(r.NSQuota) {
		q.NSQuota = &r.NSQuota
	}
	if !unsetQuota(r.DSQuota) {
		q.DSQuota = &r.DSQuota
	}
	return q
}

// dropZeroTypes makes "nothing used" and absent equal.
func dropZeroTypes(used map[string]int64) {
	for name, n := range used {
		if n == 0 {
			delete(used, name)
		}
	}
}

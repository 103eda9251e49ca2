package main_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

// TestTruth runs the built program on every image under testdata and requires
// what a NameNode answered that was started from the same image: not one
// figure of one directory, nor one attribute of one inode, may differ.
func TestTruth(t *testing.T) {
	program := buildProgram(t)
	const images = "../../testdata/images"
	judged, err := imagetest.ReadJudged(images)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range judged {
		t.Run(c.Image+" "+filepath.Base(c.Truth), func(t *testing.T) {
			compareTruth(t, program, imageIn(t, filepath.Join(images, c.Image)), filepath.Join(images, c.Truth))
		})
	}
}

// TestUnloadable reads an image that a NameNode saved and that none can load: a
// symlink that a snapshot held was deleted, and the deleted list names an inode
// that is not there. There is no truth; it is a finding, not an error.
func TestUnloadable(t *testing.T) {
	image := imageIn(t, "../../testdata/images/unloadable-3.4.2/plain")
	var report struct {
		Findings []struct {
			Code     string   `json:"code"`
			InodeIDs []uint64 `json:"inode_ids"`
		} `json:"findings"`
	}
	mustUnmarshal(t, runProgram(t, buildProgram(t), "report", image, "--format", "json"), &report)
	for _, f := range report.Findings {
		if f.Code == "missing_inode_of_snapshot" && slices.Equal(f.InodeIDs, []uint64{16804}) {
			return
		}
	}
	t.Errorf("findings %+v do not name the missing inode 16804", report.Findings)
}

// compareTruth runs the program on an image as a user would and compares all
// it says with the NameNode's answers in truthDir.
func compareTruth(t *testing.T, program, image, truthDir string) {
	t.Helper()
	want := readTruth(t, truthDir)

	directories := runProgram(t, program, "inventory", image, "--of", "directories", "--format", "ndjson", "-o", "-")
	directoryRows := parseNDJSON(t, directories)
	compareDirectories(t, want, directoryRows)
	compareCSV(t, "directories", directoryRows,
		runProgram(t, program, "inventory", image, "--of", "directories", "--format", "csv", "-o", "-"))

	inodes := runProgram(t, program, "inventory", image, "--of", "inodes", "--format", "ndjson", "-o", "-")
	inodeRows := parseNDJSON(t, inodes)
	compareInodes(t, want, inodeRows)
	compareCSV(t, "inodes", inodeRows,
		runProgram(t, program, "inventory", image, "--of", "inodes", "--format", "csv", "-o", "-"))

	compareReport(t, want, image, runProgram(t, program, "report", image, "--format", "json"))
}

// buildProgram builds fsweep from the source under test; the file is removed
// with the test's temporary directory.
func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fsweep")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "fsweep/cmd/fsweep").CombinedOutput()
	if err != nil {
		t.Fatalf("go build fsweep/cmd/fsweep: %v\n%s", err, out)
	}
	return program
}

// runProgram returns what the program writes to stdout. The time zone is one
// with an odd offset: no output may depend on it.
func runProgram(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "TZ=Asia/Kathmandu")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("fsweep %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// imageIn returns the one fsimage in dir; a gzipped one is unpacked under its
// own name into a temporary directory, with its .md5 and VERSION.
func imageIn(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "fsimage_*"))
	if err != nil {
		t.Fatal(err)
	}
	var image string
	for _, name := range names {
		if filepath.Ext(name) == ".md5" {
			continue
		}
		if image != "" {
			t.Fatalf("two images in %s", dir)
		}
		image = name
	}
	switch {
	case image == "":
		t.Fatalf("no image in %s", dir)
	case filepath.Ext(image) != ".gz":
		return image
	}
	plain := strings.TrimSuffix(image, ".gz")
	unpacked := filepath.Join(t.TempDir(), filepath.Base(plain))
	version := filepath.Join(dir, "VERSION")
	for to, from := range map[string]string{
		unpacked: image, unpacked + ".md5": plain + ".md5", filepath.Join(filepath.Dir(unpacked), "VERSION"): version,
	} {
		if err := os.WriteFile(to, readMaybeGzipped(t, from), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return unpacked
}

// readMaybeGzipped reads a whole file and unpacks it when its name ends in .gz.
func readMaybeGzipped(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".gz" {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

// differences reports what differs, at most maxDifferences a comparison: a
// wrong rule differs at every directory, and the first few say all.
type differences struct {
	t    *testing.T
	what string
	n    int
}

const maxDifferences = 20

func (d *differences) add(path, key, got, want string) {
	d.t.Helper()
	if d.n++; d.n <= maxDifferences {
		d.t.Errorf("%s: %q %s: got %s, want %s", d.what, path, key, orAbsent(got), orAbsent(want))
	}
}

func (d *differences) note(format string, args ...any) {
	d.t.Helper()
	if d.n++; d.n <= maxDifferences {
		d.t.Errorf("%s: %s", d.what, fmt.Sprintf(format, args...))
	}
}

// end says how many there were, when not all were shown.
func (d *differences) end() {
	d.t.Helper()
	if d.n > maxDifferences {
		d.t.Errorf("%s: %d differences, %d shown", d.what, d.n, maxDifferences)
	}
}

func orAbsent(s string) string {
	if s == "" {
		return "(absent)"
	}
	return s
}

package namespace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fsweep/fsimage/imagetest"
)

// truth is one line of quota.jsonl: what a NameNode answered about a directory
// that was started from the image.
type truth struct {
	Path          string `json:"path"`
	DirCount      int64  `json:"dirCount"`
	FileCount     int64  `json:"fileCount"` // symlinks included
	Length        int64  `json:"length"`
	SpaceConsumed int64  `json:"spaceConsumed"`
	SnapDirs      int64  `json:"snapDirs"`
	SnapFiles     int64  `json:"snapFiles"` // symlinks not included
	SnapLength    int64  `json:"snapLength"`
	SnapSpace     int64  `json:"snapSpace"`
	NN            struct {
		NS       int64 `json:"ns"`
		DS       int64 `json:"ds"`
		Disk     int64 `json:"t_DISK"`
		SSD      int64 `json:"t_SSD"`
		Archive  int64 `json:"t_ARCHIVE"`
		Provided int64 `json:"t_PROVIDED"`
		NVDIMM   int64 `json:"t_NVDIMM"`
	} `json:"nn"`
}

func (w *truth) usage() Usage {
	return Usage{w.NN.NS, w.NN.DS, TypeSpace{w.NN.Disk, w.NN.SSD, w.NN.Archive, w.NN.Provided, w.NN.NVDIMM}}
}

func (w *truth) summary() Summary {
	return Summary{
		Counts{Directories: w.DirCount, Files: w.FileCount, Length: w.Length, Space: w.SpaceConsumed},
		Counts{Directories: w.SnapDirs, Files: w.SnapFiles, Length: w.SnapLength, Space: w.SnapSpace},
	}
}

func readTruth(t *testing.T, dir string) []truth {
	t.Helper()
	var out []truth
	sc := bufio.NewScanner(bytes.NewReader(readFile(t, filepath.Join(images, dir, "quota.jsonl.gz"))))
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var w truth
		if err := json.Unmarshal(sc.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(w.Path, "/.snapshot") {
			out = append(out, w)
		}
	}
	if err := sc.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%d directories, %v", len(out), err)
	}
	return out
}

// TestTruth compares quota usage and content summary of every directory with the
// NameNode's. The image of Hadoop 2 needs care: see truthOfHadoop2.
func TestTruth(t *testing.T) {
	judged, err := imagetest.ReadJudged(images)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range judged {
		t.Run(c.Image+" "+filepath.Base(c.Truth), func(t *testing.T) {
			t.Parallel()
			want := readTruth(t, c.Truth)
			b := imageBytes(t, c.Image)
			if testing.Short() && len(b) > 400_000 {
				t.Skip("a large image")
			}
			for _, workers := range []int{1, 2, 5} {
				compareTruth(t, mustLoad(t, b, Options{Workers: workers}), want, c.Truth == "2.7.7/truth-plain")
			}
		})
	}
}

func compareTruth(t *testing.T, tree *Tree, want []truth, hadoop2 bool) {
	t.Helper()
	dirs := map[string]Dir{}
	for d := range tree.Dirs() {
		dirs[jsonString(t, tree.AppendPath(nil, d))] = d
	}
	wrong := 0
	differ := func(path, what string, got, want any) {
		if wrong++; wrong <= 5 {
			t.Errorf("%q: %s\ngot  %+v\nwant %+v", path, what, got, want)
		}
	}
	for _, w := range want {
		d, ok := dirs[w.Path]
		if !ok {
			if w.DirCount > 0 {
				differ(w.Path, "directory", "none", w)
			}
			continue
		}
		delete(dirs, w.Path)
		u, s := tree.Usage(d), tree.Summary(d)
		// The NameNode adds symlinks to its files, but not to those in snapshots.
		s.Files, s.Symlinks, s.Snapshot.Symlinks = s.Files+s.Symlinks, 0, 0
		usage, summary := true, true
		if hadoop2 {
			usage, summary = truthOfHadoop2(w.Path, s)
		}
		if usage && u != w.usage() {
			differ(w.Path, "usage", u, w.usage())
		}
		if summary && hadoop2 { // no snapshot parts there
			s.Snapshot = Counts{}
		}
		if summary && s != w.summary() {
			differ(w.Path, "summary", s, w.summary())
		}
	}
	for path := range dirs {
		differ(path, "directory", path, "none")
	}
	if wrong > 5 {
		t.Errorf("%d differences", wrong)
	}
	if n := len(tree.Findings()); n > 0 {
		t.Errorf("findings %+v in the image of a NameNode", tree.Findings())
	}
}

// truthOfHadoop2 tells what a NameNode 2.7.7 is right about. Its lazy-persist
// scrubber deleted the files of /policy/LAZY_PERSIST when it was started again,
// and its content summary follows other rules where snapshots are: each diff adds
// a directory, and of what was renamed away only the space counts.
func truthOfHadoop2(path string, s Summary) (usage, summary bool) {
	const scrubbed = "/policy/LAZY_PERSIST"
	usage = !strings.HasPrefix(scrubbed+"/", strings.TrimSuffix(path, "/")+"/")
	return usage, usage && s.Snapshot == Counts{} && !strings.HasPrefix(path, "/snap")
}

// jsonString is what a path that is not UTF-8 becomes in the truth.
func jsonString(t *testing.T, path []byte) string {
	t.Helper()
	b, err := json.Marshal(string(path))
	if err != nil {
		t.Fatal(err)
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestImagesAreSound: what must hold for every tree holds for those of NameNodes.
func TestImagesAreSound(t *testing.T) {
	for _, dir := range []string{"3.4.2/plain", "3.2.2/plain", "2.7.7/plain", "fuzz-3.4.2/plain", "random-3.4.2/plain", "random-3.2.2/plain"} {
		t.Run(fmt.Sprint(dir), func(t *testing.T) {
			t.Parallel()
			b := imageBytes(t, dir)
			requireSound(t, mustLoad(t, b, Options{}))
			requireSame(t, b)
		})
	}
}

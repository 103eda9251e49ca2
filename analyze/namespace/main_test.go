package namespace

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// images are those that real NameNodes saved, each in a directory of its own.
const images = "../../testdata/images"

// imageBytes gives the image in a directory below testdata/images, unpacked if
// it is stored gzipped.
func imageBytes(t testing.TB, dir string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(images, dir, "fsimage_*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".md5") {
			return readFile(t, name)
		}
	}
	t.Fatalf("no image in %s", dir)
	return nil
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func loadBytes(t testing.TB, b []byte, o Options, opts ...fsimage.Option) (*Tree, error) {
	t.Helper()
	im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return Load(t.Context(), im, o)
}

func mustLoad(t testing.TB, b []byte, o Options, opts ...fsimage.Option) *Tree {
	t.Helper()
	tree, err := loadBytes(t, b, o, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// newRand gives random numbers that are the same in every run unless the
// environment says otherwise; the seed is logged.
func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	if os.Getenv("FSWEEP_RANDOM_SEED") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func pathOf(t *Tree, d Dir) string { return string(t.AppendPath(nil, d)) }

// codes are the findings with their counts.
func codes(t *Tree) map[string]int64 {
	m := map[string]int64{}
	for _, f := range t.Findings() {
		m[f.Code] += f.Count
	}
	return m
}

// row is an inode as EachINode shows it.
type row struct {
	path              string
	id                uint64
	typ               fsimage.Type
	in, dir           Dir
	length, space     int64
	policy, ec, owner string
}

// rows lists the live inodes in the order of the image.
func rows(t testing.TB, tree *Tree, workers int) []row {
	t.Helper()
	return rowsOf(t, func(fn func(int, *EntryBatch) error) error { return tree.EachINode(t.Context(), workers, fn) }, workers)
}

func rowsOf(t testing.TB, each func(func(int, *EntryBatch) error) error, workers int) []row {
	t.Helper()
	type batch struct {
		seq  int
		rows []row
	}
	parts := make([][]batch, max(workers, 1))
	err := each(func(w int, b *EntryBatch) error {
		x := batch{seq: b.Seq}
		err := b.Each(func(e *Entry) error {
			x.rows = append(x.rows, row{
				path: string(e.AppendPath(nil)), id: e.INode.ID, typ: e.INode.Type, in: e.Parent, dir: e.Dir,
				length: e.Length(), space: e.SpaceConsumed(), policy: e.StoragePolicy(), ec: e.ECPolicy(), owner: e.Owner(),
			})
			return nil
		})
		parts[w] = append(parts[w], x)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b batch) int { return cmp.Compare(a.seq, b.seq) })
	var out []row
	for _, b := range all {
		out = append(out, b.rows...)
	}
	return out
}

// requireSound checks what must be true of every tree, however broken its image:
// each live inode is listed once and has a path of its own, sums are those of the
// list, and a path leads back to its directory.
func requireSound(t testing.TB, tree *Tree) {
	t.Helper()
	list := rows(t, tree, 1)
	requireChosen(t, tree, list)
	movedOf(t, tree)
	paths, ids := map[string]uint64{}, map[uint64]bool{}
	dirs := map[uint64]string{}
	for _, r := range list {
		if other, ok := paths[r.path]; ok {
			t.Errorf("inodes %d and %d both have the path %q", other, r.id, r.path)
		}
		paths[r.path] = r.id
		if ids[r.id] {
			t.Errorf("inode %d is listed twice", r.id)
		}
		ids[r.id] = true
		if r.path[0] != '/' || strings.Contains(r.path, "//") {
			t.Errorf("inode %d has the path %q", r.id, r.path)
		}
		if r.typ == fsimage.DirectoryType {
			dirs[r.id] = r.path
		}
	}
	requireSums(t, tree, list)
	seen := map[uint64]string{}
	for d := range tree.Dirs() {
		seen[tree.ID(d)] = pathOf(tree, d)
		if got, ok := tree.Lookup([]byte(seen[tree.ID(d)])); !ok || got != d {
			t.Errorf("looking up %q gives directory %d, %v; want %d", seen[tree.ID(d)], got, ok, d)
		}
	}
	if !maps.Equal(seen, dirs) {
		t.Errorf("Dirs gives %v, the inodes are %v", seen, dirs)
	}
}

// requireSums compares the live part of every summary with sums of the rows.
func requireSums(t testing.TB, tree *Tree, list []row) {
	t.Helper()
	want := map[Dir]*Counts{}
	for _, r := range list {
		d := r.dir
		if d == NoDir {
			d = r.in
		}
		for n := 0; d != NoDir && n <= tree.NumDirs(); n++ {
			if want[d] == nil {
				want[d] = new(Counts)
			}
			c := want[d]
			switch r.typ {
			case fsimage.DirectoryType:
				c.Directories++
			case fsimage.FileType:
				c.Files++
			case fsimage.SymlinkType:
				c.Symlinks++
			}
			c.Length += r.length
			c.Space += r.space
			d = tree.Parent(d)
		}
	}
	for d := range tree.Dirs() {
		w := want[d]
		if w == nil {
			w = new(Counts)
		}
		if got := tree.Summary(d).Live(); got != *w {
			t.Errorf("directory %d (%q): live %+v, its inodes make %+v", tree.ID(d), pathOf(tree, d), got, *w)
		}
	}
}

// portrait is all that a tree says, in a form that can be compared.
func portrait(t testing.TB, tree *Tree) string {
	t.Helper()
	var lines []string
	for d := range tree.Dirs() {
		q, _ := tree.Quota(d)
		lines = append(lines, fmt.Sprintf("%d %q %v %v %v %s %s %s %s %o %d %d", tree.ID(d), pathOf(tree, d), tree.Usage(d), tree.Summary(d), q,
			tree.StoragePolicy(d), tree.ECPolicy(d), tree.Owner(d), tree.Group(d), tree.Mode(d), tree.MTimeMs(d), tree.ChildCount(d)))
	}
	for _, f := range tree.OpenFiles() {
		lines = append(lines, fmt.Sprintf("open %q %d %d", tree.FilePath(nil, f), f.ID, f.Length))
	}
	slices.Sort(lines)
	for _, r := range rows(t, tree, 2) {
		r.in, r.dir = 0, 0 // numbers without meaning
		lines = append(lines, fmt.Sprint(r))
	}
	for _, f := range tree.Findings() {
		lines = append(lines, fmt.Sprint(f))
	}
	return strings.Join(lines, "\n")
}

// requireSame loads an image with other numbers of workers and buffers and
// requires that nothing of the tree depends on them.
func requireSame(t testing.TB, b []byte) {
	t.Helper()
	want := ""
	for _, workers := range []int{1, 2, 4} {
		for _, buffer := range []int{64, 8 << 10} {
			got := portrait(t, mustLoad(t, b, Options{Workers: workers}, fsimage.WithBuffer(buffer)))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%d workers, buffer %d: %s", workers, buffer, firstDifference(got, want))
				return
			}
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("got  %s\nwant %s", g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// image is the file of a tree.
func image(t *imagetest.Tree) []byte { return t.Image().Bytes() }

func isCorrupt(err error) bool { return errors.Is(err, fsimage.ErrCorrupt) }

func timeout(t testing.TB) <-chan time.Time {
	t.Helper()
	return time.After(300 * time.Millisecond)
}

// synthetic is a realistic image with what a NameNode would answer about it.
func synthetic(t testing.TB, spec imagetest.Spec) ([]byte, *imagetest.Truth) {
	t.Helper()
	var b bytes.Buffer
	truth, err := imagetest.Write(&b, spec)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), truth
}

// rounds is how often a random test tries: a tenth under -short, which the race
// detector goes with.
func rounds(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}

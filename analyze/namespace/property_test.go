package namespace

import (
	"fmt"
	"slices"
	"testing"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// TestTreeEqualsModel makes random namespaces, writes them as images and requires
// that Load finds the same paths and sums.
func TestTreeEqualsModel(t *testing.T) {
	r := newRand(t, 20260501)
	for run := range rounds(300) {
		n := 1 + run*100/rounds(300)
		m := newModel(r, n, run%3 == 2)
		im := m.it.Image()
		if run%5 == 4 {
			im.Codec = imagetest.WritableCodecs[r.IntN(len(imagetest.WritableCodecs))]
		} else {
			im.SubSections = r.IntN(4)
		}
		b := im.Bytes()
		workers, buffer := 1+r.IntN(4), 64<<r.IntN(8)
		tree := mustLoad(t, b, Options{Workers: workers}, fsimage.WithBuffer(buffer))
		m.compare(t, tree, workers)
		if t.Failed() {
			t.Fatalf("run %d: %d inodes, %d workers, buffer %d, layout %d", run, n, workers, buffer, m.it.Layout)
		}
	}
}

func (m *model) live(n *imagetest.Node) bool {
	for n.Parent != nil {
		n = n.Parent
	}
	return n == m.it.Root
}

func (m *model) compare(t *testing.T, tree *Tree, workers int) {
	t.Helper()
	if len(tree.Findings()) > 0 {
		t.Errorf("findings %v", tree.Findings())
	}
	byID := map[uint64]Dir{}
	for d := range tree.Dirs() {
		byID[tree.ID(d)] = d
	}
	list := rows(t, tree, workers)
	i := 0
	open := map[uint64]bool{}
	for _, n := range m.it.Nodes() {
		if !m.live(n) {
			continue
		}
		if i == len(list) {
			t.Errorf("only %d inodes are listed", i)
			return
		}
		if got, want := list[i], (row{path: n.Path(), id: n.ID, typ: fsimage.Type(n.Kind), owner: n.Owner}); got.path != want.path || got.id != want.id || got.typ != want.typ || got.owner != want.owner {
			t.Errorf("inode number %d: got %+v, want %+v", i, got, want)
			return
		}
		i++
		if n.Open != nil && n.Kind == imagetest.File {
			open[n.ID] = true
		}
		if n.Kind == imagetest.Directory {
			d, ok := byID[n.ID]
			if !ok {
				t.Errorf("no directory %q", n.Path())
				continue
			}
			delete(byID, n.ID)
			m.compareDir(t, tree, d, n)
		}
	}
	if len(byID) > 0 || i != len(list) {
		t.Errorf("%d directories too many, %d of %d inodes", len(byID), i, len(list))
	}
	for _, f := range tree.OpenFiles() {
		if !open[f.ID] {
			t.Errorf("%q is not open", tree.FilePath(nil, f))
		}
		delete(open, f.ID)
	}
	if len(open) > 0 {
		t.Errorf("open, but not listed: %v", open)
	}
}

func (m *model) compareDir(t *testing.T, tree *Tree, d Dir, n *imagetest.Node) {
	t.Helper()
	want := m.sums(n)
	if got := tree.Usage(d); got != want.usage {
		t.Errorf("%q: usage %+v, want %+v", n.Path(), got, want.usage)
	}
	if got := tree.Summary(d); got.Counts != want.all || got.Snapshot != want.held {
		t.Errorf("%q: summary %+v, want %+v and %+v", n.Path(), got, want.all, want.held)
	}
	if space, inodes := tree.Size(d); space != want.all.Space || inodes != want.all.Directories+want.all.Files+want.all.Symlinks {
		t.Errorf("%q: size %d, %d; want %+v", n.Path(), space, inodes, want.all)
	}
	if got := pathOf(tree, d); got != n.Path() || string(tree.Name(d)) != n.Name {
		t.Errorf("%q: path %q, name %q", n.Path(), got, tree.Name(d))
	}
	if got, ok := tree.Lookup(tree.AppendPath(nil, d)); !ok || got != d {
		t.Errorf("%q: looking it up gives %d, %v; want %d", n.Path(), got, ok, d)
	}
	if got, ok := tree.Lookup(fmt.Appendf(nil, "/.reserved/.inodes/%d", n.ID)); !ok || got != d {
		t.Errorf("%q: its inode path gives %d, %v; want %d", n.Path(), got, ok, d)
	}
	children := int64(len(n.Children) + len(n.RefChildren))
	if tree.ChildCount(d) != children || tree.MTimeMs(d) != n.MTimeMs || tree.Mode(d) != n.Mode || tree.Group(d) != n.Group {
		t.Errorf("%q: %d children, mtime %d, mode %o, group %q; want %d, %d, %o, %q", n.Path(),
			tree.ChildCount(d), tree.MTimeMs(d), tree.Mode(d), tree.Group(d), children, n.MTimeMs, n.Mode, n.Group)
	}
	q, ok := tree.Quota(d)
	if !ok {
		q = Quota{Namespace: Unset, Space: Unset}
	}
	ns := n.NSQuota
	if ns == imagetest.RootQuota {
		ns = Unset
	}
	if q.Namespace != ns || q.Space != n.DSQuota {
		t.Errorf("%q: quota %+v, want %d and %d", n.Path(), q, ns, n.DSQuota)
	}
}

// TestLookupFails: what is no live directory is not found.
func TestLookupFails(t *testing.T) {
	it := base()
	gone := it.DirIn(nil, "gone")
	it.DirIn(gone, "below")
	tree := mustLoad(t, image(it), Options{})
	for _, path := range []string{"", "a", "/none", "/a/one", "/link", "/gone", "/a/..", "/a/.", "/b/c/none", "/.reserved/.inodes/x", "/.reserved/.inodes/", "/.reserved/.inodes/16387", "/.reserved/.inodes/1", fmt.Sprint("/.reserved/.inodes/", gone.ID), fmt.Sprint("/.reserved/.inodes/", gone.ID, "/below")} {
		if d, ok := tree.Lookup([]byte(path)); ok {
			t.Errorf("%q is %q", path, pathOf(tree, d))
		}
	}
	for path, want := range map[string]string{"/": "/", "//": "/", "/a/": "/a", "//b//c": "/b/c", "/.reserved/.inodes/16389/c": "/b/c", "/empty": "/empty"} {
		if d, ok := tree.Lookup([]byte(path)); !ok || pathOf(tree, d) != want {
			t.Errorf("%q: %d, %v; want %q", path, d, ok, want)
		}
	}
}

// TestEachINodeStops: an error of the callback ends the pass and is returned.
func TestEachINodeStops(t *testing.T) {
	tree := mustLoad(t, image(base()), Options{}, fsimage.WithBuffer(64))
	for workers := range 4 {
		var ids []uint64
		err := tree.EachINode(t.Context(), workers, func(_ int, b *EntryBatch) error {
			if b.Seq > 0 {
				return nil
			}
			return b.Each(func(e *Entry) error {
				ids = append(ids, e.INode.ID)
				if len(ids) == 3 {
					return errDeep // any
				}
				return nil
			})
		})
		if err == nil || !slices.Equal(ids, []uint64{16385, 16386, 16387}) {
			t.Errorf("%d workers: %v after %v", workers, err, ids)
		}
	}
}

// TestWriteTruth compares a large synthetic image, hand-computed by its writer.
func TestWriteTruth(t *testing.T) {
	for i, spec := range []imagetest.Spec{
		{Inodes: 30_000, Seed: 1},
		{Inodes: 30_000, Seed: 2, DirPercent: 50, Sparse: 4, SubSections: 5},
		{Inodes: 20_000, Seed: 3, DirPercent: 100, Sparse: 300, Codec: imagetest.CodecLz4},
	} {
		if i == 1 {
			spec.FirstID = spec.LastFirstID()
		}
		b, truth := synthetic(t, spec)
		tree := mustLoad(t, b, Options{Workers: 2})
		if len(tree.Findings()) > 0 {
			t.Errorf("findings %v", tree.Findings())
		}
		dirs := map[uint64]Dir{}
		for d := range tree.Dirs() {
			dirs[tree.ID(d)] = d
		}
		for _, w := range truth.Rows {
			d, ok := dirs[w.InodeID]
			if !ok || pathOf(tree, d) != w.Path {
				t.Fatalf("no directory %q of id %d", w.Path, w.InodeID)
			}
			u, s := tree.Usage(d), tree.Summary(d)
			types := TypeSpace{}
			for k, name := range TypeNames {
				types[k] = w.TypeUsed[name]
			}
			if want := (Usage{w.NSUsed, w.DSUsed, types}); u != want {
				t.Errorf("%s: usage %+v, want %+v", w.Path, u, want)
			}
			if s.Live() != countsOf(w.Live) || s.Snapshot != countsOf(w.Snapshot) {
				t.Errorf("%s: live %+v, held %+v; want %+v and %+v", w.Path, s.Live(), s.Snapshot, w.Live, w.Snapshot)
			}
		}
		if got := int64(len(tree.OpenFiles())); got != truth.OpenFiles {
			t.Errorf("%d open files, want %d", got, truth.OpenFiles)
		}
	}
}

func countsOf(t imagetest.Totals) Counts {
	return Counts{t.Directories, t.Files, t.Symlinks, t.Length, t.SpaceConsumed}
}

// TestNoSums: without sums the tree has the same paths and inodes.
func TestNoSums(t *testing.T) {
	r := newRand(t, 20260502)
	files := [][]byte{imageBytes(t, "3.4.2/plain"), imageBytes(t, "random-3.4.2/plain")}
	for i := range rounds(50) {
		files = append(files, newModel(r, 1+i, i%2 == 0).it.Image().Bytes())
	}
	for i, b := range files {
		full, bare := mustLoad(t, b, Options{Workers: 2}), mustLoad(t, b, Options{Workers: 2, NoSums: true})
		want := map[uint64]string{}
		for d := range full.Dirs() {
			q, _ := full.Quota(d)
			want[full.ID(d)] = fmt.Sprint(pathOf(full, d), q, full.Owner(d), full.MTimeMs(d), full.ChildCount(d), full.StoragePolicy(d), full.ECPolicy(d))
		}
		for d := range bare.Dirs() {
			q, _ := bare.Quota(d)
			if got := fmt.Sprint(pathOf(bare, d), q, bare.Owner(d), bare.MTimeMs(d), bare.ChildCount(d), bare.StoragePolicy(d), bare.ECPolicy(d)); got != want[bare.ID(d)] {
				t.Errorf("file %d: got %q, want %q", i, got, want[bare.ID(d)])
			}
			delete(want, bare.ID(d))
		}
		if len(want) > 0 {
			t.Errorf("file %d: %v are missing", i, want)
		}
		a, b := rows(t, full, 2), rows(t, bare, 1)
		for k := range a {
			a[k].in, a[k].dir = 0, 0
		}
		for k := range b {
			b[k].in, b[k].dir = 0, 0
		}
		if !slices.Equal(a, b) {
			t.Errorf("file %d: the inodes differ", i)
		}
		if len(bare.Findings()) > 0 {
			t.Errorf("file %d: findings %v", i, bare.Findings())
		}
	}
}

package namespace

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// TestImpossibleNames: a name that no client can make gives a finding, and the
// inode's path beside its name: never the path of another one.
func TestImpossibleNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "/", "a/b", "/a", "a/", ".snapshot", "../b", "x/../..", "a\x00/b", "//"} {
		it := base()
		f := it.FileIn(it.Dir("/a"), name, 7)
		d := it.DirIn(it.Dir("/a"), name)
		it.FileIn(d, "below", 1)
		s := it.DirIn(it.Dir("/b"), name)
		b := image(it)
		tree := mustLoad(t, b, Options{})
		if got := codes(tree)["impossible_name"]; got != 3 {
			t.Errorf("%q: findings %v", name, tree.Findings())
		}
		want := map[uint64]string{
			f.ID: fmt.Sprint("/.reserved/.inodes/", f.ID), d.ID: fmt.Sprint("/.reserved/.inodes/", d.ID),
			d.ID + 1: fmt.Sprint("/.reserved/.inodes/", d.ID, "/below"), s.ID: fmt.Sprint("/.reserved/.inodes/", s.ID),
		}
		for _, r := range rows(t, tree, 1) {
			if w, ok := want[r.id]; ok && r.path != w {
				t.Errorf("%q: inode %d has the path %q, want %q", name, r.id, r.path, w)
			}
		}
		requireSound(t, tree)
		requireSame(t, b)
	}
}

// TestReservedName: /.reserved belongs to the NameNode. A directory of that name
// in the root, and .inodes in it, must not pass for the paths of other inodes.
func TestReservedName(t *testing.T) {
	it := base()
	bad := it.DirIn(it.Dir("/a"), "..") // has an inode path
	fake := it.Dir(fmt.Sprint("/.reserved/.inodes/", bad.ID))
	tree := mustLoad(t, image(it), Options{})
	if got := codes(tree)["impossible_name"]; got != 2 {
		t.Errorf("findings %v", tree.Findings())
	}
	d, ok := tree.Lookup([]byte(fmt.Sprint("/.reserved/.inodes/", bad.ID)))
	if !ok || tree.ID(d) != bad.ID {
		t.Errorf("the inode path leads to %d, want %d and not %d", tree.ID(d), bad.ID, fake.ID)
	}
	requireSound(t, tree)
	elsewhere := base()
	elsewhere.Dir("/a/.reserved/.inodes")
	if tree := mustLoad(t, image(elsewhere), Options{}); len(tree.Findings()) > 0 {
		t.Errorf("the name is free below other directories: %v", tree.Findings())
	}
}

// TestOddNames: what is odd, but possible, stays as it is.
func TestOddNames(t *testing.T) {
	it := base()
	names := []string{"...", ".a", "a.", ".snapshots", "snapshot", " ", "\t", "a\nb", "\r", `"`, `\`, "%2F", "%x0A", "\xff\xfe", "\u00e9", "e\u0301", "\x00", ".x", "x.", ".reserved", "＃", strings.Repeat("n", maxNameLen)}
	for _, n := range names {
		it.FileIn(it.DirIn(it.Dir("/a"), n), n, 1)
	}
	tree := mustLoad(t, image(it), Options{})
	if len(tree.Findings()) > 0 {
		t.Errorf("findings %v", tree.Findings())
	}
	paths := map[string]bool{}
	for _, r := range rows(t, tree, 2) {
		paths[r.path] = true
	}
	for _, n := range names {
		if !paths["/a/"+n+"/"+n] {
			t.Errorf("no path with %.20q", n)
		}
	}
	requireSound(t, tree)
}

// TestLongName: a name beyond what any file system makes is damage.
func TestLongName(t *testing.T) {
	for _, kind := range []string{"file", "directory", "empty directory", "symlink"} {
		it := base()
		long := strings.Repeat("n", 70_000)
		switch kind {
		case "file":
			it.FileIn(it.Root, long)
		case "directory":
			it.FileIn(it.DirIn(it.Root, long), "f")
		case "empty directory":
			it.DirIn(it.Root, long)
		case "symlink":
			it.Symlink("/"+long, "/x")
		}
		for _, buffer := range []int{64, 1 << 20} {
			tree, err := loadBytes(t, image(it), Options{Workers: 2}, fsimage.WithBuffer(buffer))
			requireCorrupt(t, kind, tree, err, "INODE, offset")
			if err != nil && (!strings.Contains(err.Error(), "record 9") || len(err.Error()) > 300) {
				t.Errorf("%s: %.400v", kind, err)
			}
		}
	}
}

// TestSameNames: two entries of a directory with one name, which no NameNode
// saves. Noticing that would take memory for the name of every inode
// (docs/DECISIONS.md); each is shown, under its own id, and counted.
func TestSameNames(t *testing.T) {
	for name, build := range map[string]func(*imagetest.Tree){
		"files": func(it *imagetest.Tree) {
			it.FileIn(it.Dir("/a"), "same", 1)
			it.FileIn(it.Dir("/a"), "same", 2)
		},
		"directories": func(it *imagetest.Tree) {
			it.FileIn(it.DirIn(it.Dir("/a"), "same"), "x", 1)
			it.FileIn(it.DirIn(it.Dir("/a"), "same"), "x", 2)
		},
		"empty directories": func(it *imagetest.Tree) {
			it.DirIn(it.Dir("/a"), "same")
			it.DirIn(it.Dir("/a"), "same")
		},
		"file and directory": func(it *imagetest.Tree) {
			it.FileIn(it.Dir("/a"), "same", 1)
			it.DirIn(it.Dir("/a"), "same")
		},
	} {
		t.Run(name, func(t *testing.T) {
			it := base()
			build(it)
			b := image(it)
			tree := mustLoad(t, b, Options{})
			ids := map[uint64]bool{}
			for _, r := range rows(t, tree, 2) {
				ids[r.id] = true
			}
			live := tree.Summary(tree.Root()).Live()
			if want := live.Directories + live.Files + live.Symlinks; int64(len(ids)) != want {
				t.Errorf("%d inodes shown, %d counted", len(ids), want)
			}
			requireSame(t, b)
		})
	}
}

// TestDeepTrees: as deep as renames can make a tree it is read; deeper is damage.
func TestDeepTrees(t *testing.T) {
	for _, c := range []struct {
		depth int
		ok    bool
	}{{1000, true}, {maxDepth, true}, {20_000, false}, {rounds(200_000), false}} {
		it := imagetest.NewTree()
		d := it.Root
		for range c.depth {
			d = it.DirIn(d, "d")
		}
		it.FileIn(d, "f", 1)
		tree, err := limited(t, image(it), 20, 512<<20)
		if !c.ok {
			requireCorrupt(t, "deep", tree, err, "INODE_DIR")
			continue
		}
		if err != nil {
			t.Errorf("%d levels: %v", c.depth, err)
			continue
		}
		if got := tree.Summary(tree.Root()); got.Directories != int64(c.depth)+1 || got.Length != 1 {
			t.Errorf("%d levels: %+v", c.depth, got)
		}
		var last row
		if c.depth < 2000 {
			requireSound(t, tree)
			list := rows(t, tree, 2)
			last = list[len(list)-1]
			if want := strings.Repeat("/d", c.depth) + "/f"; last.path != want {
				t.Errorf("%d levels: the path has %d bytes, want %d", c.depth, len(last.path), len(want))
			}
		}
	}
}

// TestUnknownIDs: of strings, storage policies and erasure coding policies.
func TestUnknownIDs(t *testing.T) {
	it := base()
	it.Dir("/a").Edit = func(n *pb.INodeSection_INode) { n.Directory.Permission = proto.Uint64(77<<40 | 88<<16 | 0o750) }
	it.Dir("/b").SetPolicy(200).SetEC("MADE-UP-9-9-1k")
	it.Dir("/b/c").Children[0].Policy = 99
	it.Striped("/ec", 63, 1000)
	tree := mustLoad(t, image(it), Options{})
	a, _ := tree.Lookup([]byte("/a"))
	if tree.Owner(a) != "#77" || tree.Group(a) != "#88" || tree.Mode(a) != 0o750 {
		t.Errorf("owner %q, group %q, mode %o", tree.Owner(a), tree.Group(a), tree.Mode(a))
	}
	b, _ := tree.Lookup([]byte("/b"))
	if tree.StoragePolicy(b) != "" || tree.ECPolicy(b) != "MADE-UP-9-9-1k" || tree.Usage(b).Type != (TypeSpace{}) {
		t.Errorf("policy %q, erasure coding %q, usage %+v", tree.StoragePolicy(b), tree.ECPolicy(b), tree.Usage(b))
	}
	// The space of a file whose policy nobody defines is not known.
	if got := codes(tree); !maps.Equal(got, map[string]int64{"unknown_erasure_coding_policy": 1}) {
		t.Errorf("findings %v", got)
	}
	requireSound(t, tree)
	garbled := base()
	garbled.Dir("/b").XAttr(imagetest.XAttrSystem, xattrECPolicy, []byte{0, 0, 0, 9, 'x'}).XAttr(imagetest.XAttrSystem, xattrStoragePolicy, []byte{7, 7})
	tree = mustLoad(t, image(garbled), Options{})
	b, _ = tree.Lookup([]byte("/b"))
	if tree.StoragePolicy(b) != "" || tree.ECPolicy(b) != "" {
		t.Errorf("garbled attributes: %q, %q", tree.StoragePolicy(b), tree.ECPolicy(b))
	}
}

// TestQuotaValues: 0 is a quota, -1 and 2^63-1 are none.
func TestQuotaValues(t *testing.T) {
	none := Quota{Unset, Unset, TypeQuota{Unset, Unset, Unset, Unset, Unset}}
	for _, c := range []struct {
		ns, ds int64
		ssd    int64
		want   Quota
		ok     bool
	}{
		{-1, -1, -1, none, false},
		{0, 0, 0, Quota{0, 0, TypeQuota{Unset, 0, Unset, Unset, Unset}}, true},
		{math.MaxInt64, -1, -1, none, false},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, none, false},
		{math.MaxInt64, -1, 5, Quota{Unset, Unset, TypeQuota{Unset, 5, Unset, Unset, Unset}}, true},
		{math.MaxInt64 - 1, 1, -1, Quota{math.MaxInt64 - 1, 1, none.Type}, true},
		{math.MinInt64, -2, math.MinInt64, none, false},
	} {
		it := base()
		for _, path := range []string{"/a", "/empty", "/"} {
			it.Dir(path).Quota(c.ns, c.ds).TypeQuota(pb.StorageTypeProto_SSD, c.ssd).TypeQuota(pb.StorageTypeProto_RAM_DISK, 7)
		}
		tree := mustLoad(t, image(it), Options{Workers: 2})
		for _, path := range []string{"/a", "/empty", "/"} {
			d, _ := tree.Lookup([]byte(path))
			if got, ok := tree.Quota(d); ok != c.ok || ok && got != c.want {
				t.Errorf("%s with %d, %d, %d: %+v, %v; want %+v, %v", path, c.ns, c.ds, c.ssd, got, ok, c.want, c.ok)
			}
		}
		if got := len(tree.QuotaDirs()); got != map[bool]int{true: 3, false: 0}[c.ok] {
			t.Errorf("%d directories with quotas", got)
		}
	}
}

// TestHugeCounts: numbers that overflow wrap around like the NameNode's, and are
// said to.
func TestHugeCounts(t *testing.T) {
	it := base()
	huge := it.File("/huge/a", 1<<63-1, 1<<63-1, 1<<63-1)
	huge.Replication = 1<<32 - 1
	it.File("/huge/b", 1<<64-1).BlockSize = 1<<64 - 1
	open := it.File("/huge/c", 5)
	open.Open, open.BlockSize = &imagetest.Open{}, 1<<63
	it.Striped("/huge/d", 1, 1<<63-1, 1<<63)
	b := image(it)
	tree := mustLoad(t, b, Options{})
	d, _ := tree.Lookup([]byte("/huge"))
	s := tree.Summary(d)
	length := uint64(math.MaxInt64) // of each block of a
	length *= 3
	length += math.MaxUint64        // b
	length += 5                     // c
	length += math.MaxInt64 + 1<<63 // d
	if s.Length != int64(length) || s.Files != 4 {
		t.Errorf("%+v, want length %d", s, int64(length))
	}
	if codes(tree)["overflow"] == 0 {
		t.Errorf("findings %v do not say that sums overflow", tree.Findings())
	}
	requireSound(t, tree)
	requireSame(t, b)
}

// replaced is a file that becomes another one after some reads.
type replaced struct {
	now, then []byte
	reads     atomic.Int64
}

func (r *replaced) ReadAt(p []byte, off int64) (int, error) {
	b := r.now
	if r.reads.Add(-1) < 0 {
		b = r.then
	}
	return bytes.NewReader(b).ReadAt(p, off)
}

// TestFileChangesMeanwhile: an image that is replaced while it is read gives an
// error or nonsense, which the checksum finds out, but no crash.
func TestFileChangesMeanwhile(t *testing.T) {
	build := func(first uint64) []byte {
		it := imagetest.NewTree()
		it.NextID = first
		for i := range 300 {
			it.File(fmt.Sprintf("/d%02d/f%d", i%10, i), 1)
		}
		return image(it)
	}
	const opening = 3                                         // reads: magic, length of the summary, summary
	for _, other := range []uint64{30_000, 70_000, 100_000} { // in the same chunk of ids, and not
		a, b := build(20_000), build(other)
		for run := range 160 {
			workers, reads := 1+run%2, run/2
			if testing.Short() {
				workers = 1 // nonsense that two goroutines write is a data race
			}
			r := &replaced{now: a, then: b}
			r.reads.Store(opening + int64(reads))
			im, err := fsimage.Open(r, int64(len(a)), fsimage.WithBuffer(512))
			if err != nil {
				t.Fatal(err)
			}
			if p := loadPanics(t, im, workers); p != nil {
				t.Fatalf("first id %d, %d workers, changed after %d reads: panic %.300v", other, workers, reads, p)
			}
		}
	}
}

// loadPanics gives what Load panics with, nil if it does not.
func loadPanics(t *testing.T, im *fsimage.Image, workers int) (p any) {
	t.Helper()
	defer func() { p = recover() }()
	if tree, err := Load(t.Context(), im, Options{Workers: workers}); err == nil {
		_ = tree.Summary(tree.Root())
	}
	return nil
}

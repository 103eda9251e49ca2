package namespace

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// usageOf loads a tree and gives the usage of a directory.
func usageOf(t *testing.T, it *imagetest.Tree, path string) Usage {
	t.Helper()
	tree := mustLoad(t, image(it), Options{Workers: 1})
	d, ok := tree.Lookup([]byte(path))
	if !ok {
		t.Fatalf("no directory %q", path)
	}
	return tree.Usage(d)
}

// TestErasureCodedSpace: sizes whose space real NameNodes gave; see
// docs/format/accounting.md.
func TestErasureCodedSpace(t *testing.T) {
	const (
		rs63, rs32, xor21, rs104, rs42 = 1, 2, 4, 5, 64
		mib                            = 1 << 20
	)
	for _, c := range []struct {
		policy uint32
		bytes  uint64
		want   int64
	}{
		{rs32, 0, 0},
		{rs32, 1, 3},
		{rs32, 1_048_577, 3_145_729},
		{rs32, 3_145_735, 5_242_901},
		{xor21, 7_340_155, 11_534_459},
		{xor21, 1_000, 2_000},
		{rs63, 1_000, 4_000},
		{rs63, 6 * mib, 9 * mib},
		{rs63, 6*mib + 1, 9*mib + 4},
		{rs104, 10 * mib, 14 * mib},
		{rs42, 64 << 10, 3 * 64 << 10},
		{rs42, 4*64<<10 + 10, 6*64<<10 + 30},
	} {
		it := imagetest.NewTree()
		it.Policies = append(it.Policies, imagetest.Policy(rs42, "RS-4-2-64k", "rs", 4, 2, 64<<10))
		it.Dir("/d").SetPolicy(12) // charges no type for striped files
		it.Striped("/d/f", c.policy, c.bytes)
		if got := usageOf(t, it, "/d"); got != (Usage{2, c.want, TypeSpace{}}) {
			t.Errorf("policy %d, %d bytes: %+v, want space %d and no types", c.policy, c.bytes, got, c.want)
		}
	}
	it := imagetest.NewTree()
	f := it.Striped("/d/open", rs32, 5, 100)
	f.Open, f.BlockSize = &imagetest.Open{}, 1000
	if got := usageOf(t, it, "/d").Space; got != 5+2*5+1000*(3+2) {
		t.Errorf("open striped file: %d", got)
	}
	// A built-in policy that the image saves by its id only, as NameNodes do.
	it = imagetest.NewTree()
	it.Policies = []*pb.ErasureCodingPolicyProto{{Id: proto.Uint32(rs32)}}
	it.Striped("/d/f", rs32, 1)
	if got := usageOf(t, it, "/d").Space; got != 3 {
		t.Errorf("policy without schema: %d", got)
	}
}

// TestOpenFile: the last block counts at its preferred size, the length does not.
func TestOpenFile(t *testing.T) {
	for _, c := range []struct {
		blocks        []uint64
		length, space int64
	}{
		{[]uint64{100}, 100, 2048},
		{[]uint64{1024, 100}, 1124, 4096},
		{[]uint64{1024, 1024}, 2048, 4096},
		{nil, 0, 0},
		{[]uint64{0}, 0, 2048},
	} {
		it := imagetest.NewTree()
		f := it.File("/d/f", c.blocks...)
		f.Replication, f.BlockSize, f.Open = 2, 1024, &imagetest.Open{Client: "c", Machine: "m"}
		it.Dir("/d").SetPolicy(10)
		tree := mustLoad(t, image(it), Options{})
		d, _ := tree.Lookup([]byte("/d"))
		want := TypeSpace{Disk: c.space / 2, SSD: c.space / 2}
		if u, s := tree.Usage(d), tree.Summary(d); u.Space != c.space || u.Type != want || s.Length != c.length || s.Space != c.space {
			t.Errorf("blocks %v: %+v, %+v; want length %d, space %d", c.blocks, u, s.Counts, c.length, c.space)
		}
		open := tree.OpenFiles()
		if len(open) != 1 || open[0].Length != c.length || open[0].ClientName != "c" || open[0].ClientMachine != "m" || string(tree.FilePath(nil, open[0])) != "/d/f" {
			t.Errorf("open files %+v", open)
		}
	}
}

// TestStoragePolicies: how the replicas of a file of 10 bytes are spread.
func TestStoragePolicies(t *testing.T) {
	const n = 10
	for policy, want := range map[byte]map[uint32]TypeSpace{
		0:  {1: {}, 2: {}, 3: {}, 5: {}}, // unspecified
		1:  {1: {Provided: n}, 2: {Provided: n, Disk: n}, 3: {Provided: n, Disk: 2 * n}, 5: {Provided: n, Disk: 4 * n}},
		2:  {1: {Archive: n}, 2: {Archive: 2 * n}, 3: {Archive: 3 * n}, 5: {Archive: 5 * n}},
		3:  {1: {}, 2: {}, 3: {}, 5: {}}, // no such policy
		5:  {1: {Disk: n}, 2: {Disk: n, Archive: n}, 3: {Disk: n, Archive: 2 * n}, 5: {Disk: n, Archive: 4 * n}},
		7:  {1: {Disk: n}, 2: {Disk: 2 * n}, 3: {Disk: 3 * n}, 5: {Disk: 5 * n}},
		10: {1: {SSD: n}, 2: {SSD: n, Disk: n}, 3: {SSD: n, Disk: 2 * n}, 5: {SSD: n, Disk: 4 * n}},
		12: {1: {SSD: n}, 2: {SSD: 2 * n}, 3: {SSD: 3 * n}, 5: {SSD: 5 * n}},
		14: {1: {NVDIMM: n}, 2: {NVDIMM: 2 * n}, 3: {NVDIMM: 3 * n}, 5: {NVDIMM: 5 * n}},
		15: {1: {Disk: n}, 2: {Disk: 2 * n}, 3: {Disk: 3 * n}, 5: {Disk: 5 * n}}, // RAM_DISK takes no slot
	} {
		for replication, types := range want {
			for _, where := range []string{"file", "directory", "above", "hidden"} {
				it := imagetest.NewTree()
				f := it.File("/x/d/f", n)
				f.Replication = replication
				switch where {
				case "file":
					f.SetPolicy(policy)
				case "directory":
					it.Dir("/x/d").SetPolicy(policy)
				case "above":
					it.Dir("/x").SetPolicy(policy)
				case "hidden": // by a number that no policy has
					it.Dir("/x").SetPolicy(policy)
					f.SetPolicy(9)
					types = TypeSpace{}
				}
				for _, path := range []string{"/", "/x", "/x/d"} {
					if got := usageOf(t, it, path); got.Type != types || got.Space != int64(n*replication) {
						t.Errorf("policy %d at the %s, replication %d: %s uses %+v, want %v", policy, where, replication, path, got, types)
					}
				}
			}
		}
	}
}

// TestPolicyInheritance: the nearest policy counts, also for what waits below.
func TestPolicyInheritance(t *testing.T) {
	it := imagetest.NewTree()
	it.Dir("/hot").SetPolicy(7)
	it.File("/hot/f", 1)
	it.Dir("/hot/cold").SetPolicy(2)
	it.File("/hot/cold/f", 10)
	it.File("/hot/cold/x/f", 100)
	own := it.File("/hot/cold/x/own", 1000)
	own.SetPolicy(12)
	it.File("/none/f", 10_000)
	for path, want := range map[string]TypeSpace{
		"/":           {Disk: 3, Archive: 330, SSD: 3000},
		"/hot":        {Disk: 3, Archive: 330, SSD: 3000},
		"/hot/cold":   {Archive: 330, SSD: 3000},
		"/hot/cold/x": {Archive: 300, SSD: 3000},
		"/none":       {},
	} {
		if got := usageOf(t, it, path).Type; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	tree := mustLoad(t, image(it), Options{})
	for path, want := range map[string]string{"/": "", "/hot": "HOT", "/hot/cold": "COLD", "/hot/cold/x": "COLD", "/none": ""} {
		d, _ := tree.Lookup([]byte(path))
		if got := tree.StoragePolicy(d); got != want {
			t.Errorf("%s: policy %q, want %q", path, got, want)
		}
	}
}

// TestWrapAround: a truncated file of a snapshot can hold a block of 2^63-1 bytes,
// and the NameNode then reports negative space. So must we.
func TestWrapAround(t *testing.T) {
	it := imagetest.NewTree()
	f := it.File("/s/f", 5)
	f.Replication = 2
	it.File("/s/g", 100)
	it.Dir("/s").SetPolicy(7)
	it.Snapshot(it.Dir("/s"), 1, "s")
	c := it.FileCopy(f)
	c.Replication = proto.Uint32(3)
	it.Diff(f, &pb.SnapshotDiffSection_FileDiff{
		SnapshotId: proto.Uint32(1), FileSize: proto.Uint64(1<<63 - 1), SnapshotCopy: c,
		Blocks: []*pb.BlockProto{{BlockId: proto.Uint64(77), GenStamp: proto.Uint64(1), NumBytes: proto.Uint64(1<<63 - 1)}},
	})
	space := int64(math.MaxInt64)
	space = (space+5)*3 + 300 // wraps
	if space > 0 {
		t.Fatal("this test wraps nothing")
	}
	for _, path := range []string{"/s", "/"} {
		if got := usageOf(t, it, path); got.Space != space || got.Type[Disk] != space {
			t.Errorf("%s: %+v, want space %d", path, got, space)
		}
	}
}

// TestReplication: the highest of the file and its snapshot copies counts; a
// deleted file has only the copies.
func TestReplication(t *testing.T) {
	for _, c := range []struct {
		now     uint32
		copies  []uint32
		deleted bool
		want    int64 // replicas
	}{
		{3, nil, false, 3},
		{2, []uint32{3}, false, 3},
		{3, []uint32{2}, false, 3},
		{1, []uint32{2, 5, 3}, false, 5},
		{3, nil, true, 3}, // no diff: as it is
		{3, []uint32{2}, true, 2},
		{1, []uint32{2, 5}, true, 5},
	} {
		it := imagetest.NewTree()
		f := it.File("/s/f", 10)
		f.Replication = c.now
		var ms []proto.Message
		for i, r := range c.copies {
			ms = append(ms, &pb.SnapshotDiffSection_FileDiff{
				SnapshotId: proto.Uint32(uint32(9 - i)), FileSize: proto.Uint64(10), SnapshotCopy: &pb.INodeSection_INodeFile{Replication: proto.Uint32(r)},
			})
		}
		if len(ms) > 0 {
			it.Diff(f, ms...)
		}
		if c.deleted {
			it.Detach(f)
			it.Diff(it.Dir("/s"), dirDiffOf([]uint64{f.ID}))
		}
		if got := usageOf(t, it, "/s"); got.Space != 10*c.want || got.Namespace != 2 {
			t.Errorf("%+v: %+v, want space %d", c, got, 10*c.want)
		}
	}
}

// TestSymlinks: each is an inode and takes no space.
func TestSymlinks(t *testing.T) {
	it := imagetest.NewTree()
	it.Symlink("/d/l", "/nowhere")
	tree := mustLoad(t, image(it), Options{})
	d, _ := tree.Lookup([]byte("/d"))
	if u, s := tree.Usage(d), tree.Summary(d); u != (Usage{Namespace: 2}) || s.Counts != (Counts{Directories: 1, Symlinks: 1}) {
		t.Errorf("%+v, %+v", u, s)
	}
}

// TestEmptyRoot is the namespace of a NameNode that was just formatted.
func TestEmptyRoot(t *testing.T) {
	tree := mustLoad(t, image(imagetest.NewTree()), Options{})
	if tree.NumDirs() != 1 || pathOf(tree, tree.Root()) != "/" || tree.ID(tree.Root()) != rootID || tree.ChildCount(tree.Root()) != 0 {
		t.Errorf("%d directories, root %q", tree.NumDirs(), pathOf(tree, tree.Root()))
	}
	if u, s := tree.Usage(tree.Root()), tree.Summary(tree.Root()); u != (Usage{Namespace: 1}) || s != (Summary{Counts: Counts{Directories: 1}}) {
		t.Errorf("%+v, %+v", u, s)
	}
	requireSound(t, tree)
	if len(tree.Findings()) > 0 {
		t.Error(tree.Findings())
	}
}

// TestObserve: every live inode once, with the sums of the content summary.
func TestObserve(t *testing.T) {
	for _, b := range [][]byte{image(base()), imageBytes(t, "3.4.2/plain"), imageBytes(t, "fuzz-3.4.2/plain")} {
		for _, workers := range []int{1, 4} {
			parts := make([]Counts, workers)
			ids := make([][]uint64, workers)
			tree := mustLoad(t, b, Options{Workers: workers, Observe: func(w int) Observer {
				return func(_ Dir, n *fsimage.INode, s FileSums) {
					ids[w] = append(ids[w], n.ID)
					c := &parts[w]
					switch n.Type {
					case fsimage.DirectoryType:
						c.Directories++
					case fsimage.FileType:
						c.Files++
					case fsimage.SymlinkType:
						c.Symlinks++
					}
					c.Length += s.Length
					c.Space += s.Space
				}
			}}, fsimage.WithBuffer(256))
			var got Counts
			for _, p := range parts {
				got = Counts{got.Directories + p.Directories, got.Files + p.Files, got.Symlinks + p.Symlinks, got.Length + p.Length, got.Space + p.Space}
			}
			if want := tree.Summary(tree.Root()).Live(); got != want {
				t.Errorf("%d workers: observed %+v, want %+v", workers, got, want)
			}
			var want []uint64
			for _, r := range rows(t, tree, 1) {
				want = append(want, r.id)
			}
			all := slices.Concat(ids...)
			slices.Sort(all)
			slices.Sort(want)
			if !slices.Equal(all, want) {
				t.Errorf("%d workers: observed %d inodes, want %d", workers, len(all), len(want))
			}
		}
	}
}

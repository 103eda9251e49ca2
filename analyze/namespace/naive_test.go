package namespace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// TestSumsEqualNaive compares every live directory with naiveINode's sums in
// namespaces where snapshots hold whole subtrees: renamed directories with diffs
// of their own below them, directories deleted in deleted directories, names
// that were deleted and created again. TestTreeEqualsModel renames only files.
//
// Structure i of a row has the seed of the row plus i: to repeat one that
// failed, put its seed into the table.
func TestSumsEqualNaive(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 60
	}
	for _, c := range []struct {
		name       string
		seed       uint64
		structures int
	}{
		{"fixed", 20260503, n * 4 / 5},
		{"random", rand.Uint64(), n / 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Logf("%d structures with seeds from %d", c.structures, c.seed)
			for i := range c.structures {
				seed := c.seed + uint64(i)
				compareNaive(t, seed)
				if t.Failed() {
					t.Fatalf("structure %d: seed %d", i, seed)
				}
			}
		})
	}
}

func compareNaive(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	it, root := newNaive(r, 3+r.IntN(40))
	tree := mustLoad(t, image(it), Options{Workers: 1 + r.IntN(3)}, fsimage.WithBuffer(4<<10))
	if len(tree.Findings()) > 0 {
		t.Errorf("findings %v", tree.Findings())
	}
	live := map[uint64]modelSums{}
	naiveEntry{inode: root}.sums(unspecified, imagetest.SnapshotCurrent, live)
	for d := range tree.Dirs() {
		want, ok := live[tree.ID(d)]
		if !ok {
			t.Errorf("%s is not live", pathOf(tree, d))
		}
		delete(live, tree.ID(d))
		if got := tree.Usage(d); got != want.usage {
			t.Errorf("%s: usage %+v, want %+v", pathOf(tree, d), got, want.usage)
		}
		if got := tree.Summary(d); got.Counts != want.all || got.Snapshot != want.held {
			t.Errorf("%s: summary %+v, want %+v and %+v", pathOf(tree, d), got, want.all, want.held)
		}
	}
	if len(live) > 0 {
		t.Errorf("missing directories: %v", live)
	}
}

// naiveMaker makes a random structure.
type naiveMaker struct {
	r       *rand.Rand
	it      *imagetest.Tree
	all     []*naiveINode // parents come before their children
	dirs    []*naiveINode
	deleted []*naiveINode // in no directory, and in no deleted list yet
}

// newNaive makes a namespace of at most n inodes below the root.
func newNaive(r *rand.Rand, n int) (*imagetest.Tree, *naiveINode) {
	m := &naiveMaker{r: r, it: imagetest.NewTree()}
	root := &naiveINode{node: m.it.Root}
	m.all, m.dirs = []*naiveINode{root}, []*naiveINode{root}
	for range n {
		m.add()
	}
	for i, d := range m.all {
		if d.node.Kind == imagetest.Directory && (d == root || r.IntN(3) > 0) {
			m.history(i)
		}
	}
	// A snapshot must hold what is left, or it would be unreachable.
	oldest := &root.dirDiffs[len(root.dirDiffs)-1]
	for _, x := range m.deleted {
		x.node.Name = fmt.Sprint("left", x.node.ID)
		oldest.deleted = append(oldest.deleted, naiveEntry{inode: x})
	}
	for _, x := range m.all {
		m.write(x)
	}
	return m.it, root
}

// name is one of few, so that histories use the same again and again.
func (m *naiveMaker) name() string { return fmt.Sprint("n", m.r.IntN(40)) }

// policy is an own storage policy. No policy has the ids 3 and 9: they hide
// those above, and charge nothing.
func (m *naiveMaker) policy() byte {
	if m.r.IntN(3) == 0 {
		return unspecified
	}
	return []byte{1, 2, 3, 5, 7, 9, 10, 12, 14, 15}[m.r.IntN(10)]
}

// add makes an inode: as a child, as the target of a rename, or to be deleted.
func (m *naiveMaker) add() {
	r := m.r
	var parent *naiveINode
	name := m.name()
	if r.IntN(4) > 0 {
		parent = m.dirs[r.IntN(len(m.dirs))]
		if slices.ContainsFunc(parent.children, func(e naiveEntry) bool { return e.entryName() == name }) {
			return
		}
	}
	x := &naiveINode{}
	switch k := r.IntN(10); {
	case k < 5:
		x.node = m.it.DirIn(nil, name)
		if p := m.policy(); p != unspecified {
			x.node.SetPolicy(p)
		}
		m.dirs = append(m.dirs, x)
	case k < 6:
		x.node = m.it.FileIn(nil, name)
		x.node.Kind, x.node.Target = imagetest.Symlink, "/x"
	default:
		x.node = m.it.FileIn(nil, name)
		m.fill(x)
	}
	m.all = append(m.all, x)
	if parent == nil {
		m.deleted = append(m.deleted, x)
		return
	}
	x.node.Parent = parent.node
	parent.children = append(parent.children, naiveEntry{inode: x})
	if r.IntN(5) == 0 {
		m.it.DstReference(parent.node, x.node, imagetest.SnapshotCurrent)
	} else {
		parent.node.Children = append(parent.node.Children, x.node)
	}
}

// fill gives a file blocks, a policy and diffs, the newest first.
func (m *naiveMaker) fill(x *naiveINode) {
	r, f := m.r, x.node
	for range r.IntN(4) {
		f.Blocks = append(f.Blocks, m.it.Block(r.Uint64N(7_000_000)))
	}
	f.Policy, f.Replication = uint32(m.policy()), 1+r.Uint32N(4)
	if r.IntN(5) == 0 {
		f.EC, f.Replication = []uint32{1, 2, 4, 5}[r.IntN(4)], 0
	}
	for s := r.IntN(20); s < 10; s += 1 + r.IntN(4) {
		d := modelDiff{snapshot: uint32(9 - s), size: r.Uint64N(7_000_000)}
		if f.EC == 0 && r.IntN(2) == 0 {
			d.copied, d.replication = true, 1+r.Uint32N(5)
		}
		if r.IntN(2) == 0 {
			d.blocks = append(d.blocks, m.it.Block(r.Uint64N(100_000)))
			d.blocks = append(d.blocks, f.Blocks[:r.IntN(len(f.Blocks)+1)]...)
		}
		x.fileDiffs = append(x.fileDiffs, d)
	}
}

// history gives directory i diffs, the newest first. names are those that it had
// after a diff's snapshot, then before: only these can have been created, and
// only others deleted.
func (m *naiveMaker) history(i int) {
	d, names := m.all[i], map[string]bool{}
	for _, e := range d.children {
		names[e.entryName()] = true
	}
	for s := 9; s >= 0; s -= 1 + m.r.IntN(3) {
		diff := naiveDirDiff{snapshot: uint32(s)}
		for _, name := range slices.Sorted(maps.Keys(names)) { // the same order for the same seed
			if m.r.IntN(4) == 0 {
				delete(names, name)
				diff.created = append(diff.created, name)
			}
		}
		for range m.r.IntN(3) {
			if e, ok := m.entry(i, diff.snapshot, names); ok {
				names[e.entryName()] = true
				diff.deleted = append(diff.deleted, e)
			}
		}
		d.dirDiffs = append(d.dirDiffs, diff)
		if m.r.IntN(3) == 0 {
			break
		}
	}
}

// entry makes one for a deleted list of directory i: an inode that is deleted,
// perhaps after it was renamed to here, or one that was renamed away. Only what
// comes after the directory can be there, so that nothing lies below itself.
func (m *naiveMaker) entry(i int, snapshot uint32, taken map[string]bool) (e naiveEntry, ok bool) {
	later := m.all[i+1:]
	if m.r.IntN(2) == 0 && len(m.deleted) > 0 {
		k := m.r.IntN(len(m.deleted))
		e.inode = m.deleted[k]
		if taken[e.entryName()] || !slices.Contains(later, e.inode) {
			return e, false
		}
		m.deleted = slices.Delete(m.deleted, k, k+1)
		if m.r.IntN(3) == 0 {
			e.isRef, e.ref = true, m.it.Reference(&pb.INodeReferenceSection_INodeReference{
				ReferredId: &e.inode.node.ID, DstSnapshotId: proto.Uint32(imagetest.SnapshotCurrent),
			})
		}
		return e, true
	}
	if len(later) == 0 {
		return e, false
	}
	e = naiveEntry{inode: later[m.r.IntN(len(later))], withName: true, name: m.name(), last: snapshot, isRef: true}
	if taken[e.name] {
		return e, false
	}
	e.ref = m.it.WithName(e.inode.node, e.name, snapshot)
	return e, true
}

// write turns an inode's diffs into messages.
func (m *naiveMaker) write(x *naiveINode) {
	var ms []proto.Message
	for _, d := range x.dirDiffs {
		diff := &pb.SnapshotDiffSection_DirectoryDiff{SnapshotId: &d.snapshot, CreatedListSize: proto.Uint32(uint32(len(d.created)))}
		for _, e := range d.deleted {
			if e.isRef {
				diff.DeletedINodeRef = append(diff.DeletedINodeRef, e.ref)
			} else {
				diff.DeletedINode = append(diff.DeletedINode, e.inode.node.ID)
			}
		}
		ms = append(ms, diff)
		for _, name := range d.created {
			ms = append(ms, &pb.SnapshotDiffSection_CreatedListEntry{Name: []byte(name)})
		}
	}
	for _, d := range x.fileDiffs {
		diff := &pb.SnapshotDiffSection_FileDiff{SnapshotId: &d.snapshot, FileSize: &d.size}
		if d.copied {
			diff.SnapshotCopy = m.it.FileCopy(x.node)
			diff.SnapshotCopy.Replication = &d.replication
		}
		for _, b := range d.blocks {
			diff.Blocks = append(diff.Blocks, &pb.BlockProto{BlockId: &b.ID, GenStamp: &b.GenStamp, NumBytes: &b.Bytes})
		}
		ms = append(ms, diff)
	}
	if len(ms) > 0 {
		m.it.Diff(x.node, ms...)
	}
}

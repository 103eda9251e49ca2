package namespace

import (
	"math/rand/v2"
	"slices"
	"testing"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// TestMovedEqualsNaive moves every inode of random namespaces out of its place
// the way a NameNode does: if the newest snapshot on its path shows it, a WithName
// reference stays behind, which counts as of that snapshot.
func TestMovedEqualsNaive(t *testing.T) {
	r := newRand(t, 20261201)
	stay := 0
	for range rounds(200) {
		seed := r.Uint64()
		it, root := newNaive(rand.New(rand.NewPCG(seed, 0)), 3+r.IntN(40))
		tree := mustLoad(t, image(it), Options{}, fsimage.WithBuffer(4<<10))
		got := map[uint64]Moved{}
		err := tree.EachINode(t.Context(), 1, func(_ int, b *EntryBatch) error {
			return b.Each(func(e *Entry) error {
				m, err := e.IfMoved()
				got[e.INode.ID] = m
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		eachNaive([]*naiveINode{root}, func(path []*naiveINode) {
			x := path[len(path)-1]
			want, stays := naiveMoved(path)
			if stays {
				stay++
			}
			if u := got[x.node.ID].Usage; u != want {
				t.Errorf("seed %d: %q gives back %+v, want %+v (in the newest snapshot: %v)", seed, x.node.Path(), u, want, stays)
			}
		})
		if t.Failed() {
			return
		}
	}
	if stay == 0 {
		t.Error("nothing was in a snapshot")
	}
}

// eachNaive calls fn with the way to every inode below the root.
func eachNaive(path []*naiveINode, fn func(path []*naiveINode)) {
	for _, e := range path[len(path)-1].children {
		below := append(slices.Clone(path), e.inode)
		fn(below)
		eachNaive(below, fn)
	}
}

// naiveMoved gives what the quotas above the last inode of path lose, and whether
// a reference stays.
func naiveMoved(path []*naiveINode) (Usage, bool) {
	x := path[len(path)-1]
	policy := byte(unspecified)
	for _, d := range path[:len(path)-1] {
		if own := ownPolicy(d.node); own != unspecified {
			policy = own
		}
	}
	usage := naiveEntry{inode: x}.sums(policy, imagetest.SnapshotCurrent, map[uint64]modelSums{}).usage
	latest := naiveLatest(path)
	if latest < 0 || !naiveInLatest(path, latest) {
		return usage, false
	}
	y := *x
	if n := y.node; n.Kind == imagetest.File && (len(y.fileDiffs) == 0 || int64(y.fileDiffs[0].snapshot) < latest) {
		now := modelDiff{snapshot: uint32(latest), replication: n.Replication, copied: n.EC == 0}
		for _, b := range n.Blocks {
			now.size += b.Bytes
		}
		y.fileDiffs = append([]modelDiff{now}, y.fileDiffs...)
	}
	stays := naiveEntry{inode: &y, withName: true, last: uint32(latest)}.sums(policy, imagetest.SnapshotCurrent, nil).usage
	usage.sub(stays)
	return usage, true
}

// isReference tells whether path[i] is a DstReference in path[i-1]. All of them
// say that there was no snapshot when they were made.
func isReference(path []*naiveINode, i int) bool {
	return i > 0 && !slices.Contains(path[i-1].node.Children, path[i].node)
}

// naiveLatest is INodesInPath.resolve, -1 for no snapshot.
func naiveLatest(path []*naiveINode) int64 {
	latest := int64(-1)
	for i, d := range path {
		own := int64(-1)
		if len(d.dirDiffs) > 0 {
			own = int64(d.dirDiffs[0].snapshot)
		}
		switch last := i == len(path)-1; {
		case d.node.Kind != imagetest.Directory:
		case !isReference(path, i):
			latest = max(latest, own)
		case !last && latest < 0:
			latest = own
		}
	}
	return latest
}

// naiveInLatest is INode.isInLatestSnapshot: every directory had the next one as
// a child then, from the last one on that was renamed.
func naiveInLatest(path []*naiveINode, latest int64) bool {
	for i := len(path) - 1; i > 0; i-- {
		then := path[i-1].childrenAt(uint32(latest))
		if !slices.ContainsFunc(then, func(e naiveEntry) bool { return e.inode == path[i] && !e.withName }) {
			return false
		}
		if isReference(path, i-1) {
			return true
		}
	}
	return true
}

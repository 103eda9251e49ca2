package namespace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// wreck is an image whose sections are well formed, but say at random which
// inodes there are and which is in which.
func wreck(r *rand.Rand, snapshots bool) []byte {
	n := 2 + r.Uint64N(20)
	id := func() uint64 { return rootID + r.Uint64N(n+2) } // some have no record
	m := imagetest.NewTree().Image()
	inodes := m.Section(imagetest.INode)
	inodes.Units = inodes.Units[:2]
	for i := uint64(1); i < n; i++ {
		inode := wreckedINode(r, rootID+i)
		switch r.IntN(12) {
		case 0: // no record
		case 1:
			inodes.Add(inode, wreckedINode(r, id())) // perhaps a second one
		default:
			inodes.Add(inode)
		}
	}
	announce(m, uint64(len(inodes.Units)-1))
	dirs := m.Section(imagetest.INodeDir)
	for range n {
		e := dirEntry(id())
		for range r.IntN(5) {
			e.Children = append(e.Children, id())
		}
		if snapshots && r.IntN(3) == 0 {
			e.RefChildren = []uint32{r.Uint32N(4)}
		}
		dirs.Add(e)
	}
	if snapshots {
		wreckSnapshots(r, m, id)
	}
	return m.Bytes()
}

func wreckedINode(r *rand.Rand, id uint64) *pb.INodeSection_INode {
	m := &pb.INodeSection_INode{Id: &id, Name: fmt.Appendf(nil, "n%d", id)}
	switch r.IntN(5) {
	case 0:
		m.Type = pb.INodeSection_INode_SYMLINK.Enum()
		m.Symlink = &pb.INodeSection_INodeSymlink{}
	case 1, 2:
		m.Type = pb.INodeSection_INode_FILE.Enum()
		m.File = &pb.INodeSection_INodeFile{Replication: proto.Uint32(r.Uint32N(4)), Blocks: []*pb.BlockProto{
			{BlockId: proto.Uint64(r.Uint64N(20)), GenStamp: proto.Uint64(1), NumBytes: proto.Uint64(r.Uint64N(100))},
		}}
	default:
		m.Type = pb.INodeSection_INode_DIRECTORY.Enum()
		m.Directory = &pb.INodeSection_INodeDirectory{NsQuota: proto.Uint64(1<<64 - 1), DsQuota: proto.Uint64(1<<64 - 1)}
	}
	return m
}

func wreckSnapshots(r *rand.Rand, m *imagetest.Image, id func() uint64) {
	refs := m.Section(imagetest.INodeReference)
	for range 4 {
		x := &pb.INodeReferenceSection_INodeReference{ReferredId: proto.Uint64(id())}
		if r.IntN(2) == 0 {
			x.Name, x.LastSnapshotId = []byte("old"), proto.Uint32(r.Uint32N(4))
		} else {
			x.DstSnapshotId = proto.Uint32(imagetest.SnapshotCurrent)
		}
		refs.Add(x)
	}
	diffs := m.Section(imagetest.SnapshotDiff)
	for range r.IntN(8) {
		kind := pb.SnapshotDiffSection_DiffEntry_Type(1 + r.IntN(2))
		n := r.Uint32N(3)
		ms := []proto.Message{&pb.SnapshotDiffSection_DiffEntry{Type: &kind, InodeId: proto.Uint64(id()), NumOfDiff: &n}}
		for range n {
			if kind == pb.SnapshotDiffSection_DiffEntry_FILEDIFF {
				ms = append(ms, &pb.SnapshotDiffSection_FileDiff{
					SnapshotId: proto.Uint32(r.Uint32N(4)), FileSize: proto.Uint64(r.Uint64N(100)),
					SnapshotCopy: &pb.INodeSection_INodeFile{Replication: proto.Uint32(r.Uint32N(4))},
				})
				continue
			}
			d := &pb.SnapshotDiffSection_DirectoryDiff{SnapshotId: proto.Uint32(r.Uint32N(4)), CreatedListSize: proto.Uint32(1)}
			for range r.IntN(3) {
				d.DeletedINode = append(d.DeletedINode, id())
			}
			for range r.IntN(3) {
				d.DeletedINodeRef = append(d.DeletedINodeRef, r.Uint32N(4))
			}
			ms = append(ms, d, &pb.SnapshotDiffSection_CreatedListEntry{Name: fmt.Appendf(nil, "n%d", id())})
		}
		diffs.AddUnit(ms...)
	}
}

// TestWrecks: whatever an image says, the tree is sound, the same with any
// number of workers, and there soon.
func TestWrecks(t *testing.T) {
	for name, snapshots := range map[string]bool{"plain": false, "snapshots": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRand(t, 20260601)
			for run := range rounds(100) {
				b := wreck(r, snapshots)
				began := time.Now()
				requireSound(t, mustLoad(t, b, Options{Workers: 1}))
				requireSame(t, b)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
				if t.Failed() {
					t.Fatalf("run %d, image %x", run, b)
				}
			}
		})
	}
}

// FuzzLoad: no bytes make Load crash or run on.
func FuzzLoad(f *testing.F) {
	f.Add(image(base()))
	r := newRand(f, 1)
	for i := range 10 {
		f.Add(wreck(r, i%2 == 0))
		f.Add(newModel(r, 20, i%2 == 0).it.Image().Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)), fsimage.WithBuffer(4<<10), fsimage.WithMaxRecord(1<<20))
		if err != nil || im.Summary().Codec != "" {
			return // the codecs have targets of their own
		}
		began := time.Now()
		tree, err := Load(t.Context(), im, Options{Workers: 2})
		if err == nil {
			requireSums(t, tree, rows(t, tree, 2))
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%d bytes took %v", len(b), took)
		}
	})
}

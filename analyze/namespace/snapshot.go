package namespace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"fsweep/fsimage"
	pb "fsweep/proto/fsimage"
)

// snapshotState is what an image says about snapshots: who has diffs, and which
// inodes are reached by references. It is read before the inodes, because it
// tells which of them must be kept.
type snapshotState struct {
	dirs          lists[dirDiff]  // newest first
	files         lists[fileDiff] // newest first
	refs          []reference
	snapshottable []uint64
	roots         lists[Snapshot] // by snapshottable directory, in the order of the image
	snapshots     int64
}

type dirDiff struct {
	snapshot uint32
	created  []string // names
	deleted  []entry
}

type fileDiff struct {
	snapshot    uint32
	hasCopy     bool
	size        int64
	replication int64 // of the copy
	blocks      []fsimage.Block
}

// entry is a child of a directory: an inode, or a reference to one.
type entry struct {
	id  uint64
	ref int32 // position in refs, -1 for a plain child
}

// reference is how an inode is reached that was renamed after a snapshot was
// taken: under its old name (WithName), by that snapshot only, or at its new
// place (DstReference).
type reference struct {
	id       uint64
	name     []byte // of a WithName reference
	withName bool
	last     uint32 // a WithName reference shows the inode as of this snapshot
	dst      uint32 // of a DstReference: the newest snapshot of its place when the inode came
}

// Snapshot is one snapshot of a directory.
type Snapshot struct {
	ID      uint32
	Name    []byte
	MTimeMs int64 // of the directory when the snapshot was taken
}

func loadSnapshots(ctx context.Context, im *fsimage.Image) (*snapshotState, error) {
	s := &snapshotState{}
	err := im.References(ctx, func(r *pb.INodeReferenceSection_INodeReference) error {
		if r.ReferredId == nil {
			return fmt.Errorf("%w: a reference to nothing", fsimage.ErrCorrupt)
		}
		s.refs = append(s.refs, reference{
			id: r.GetReferredId(), name: r.GetName(), withName: r.DstSnapshotId == nil, last: r.GetLastSnapshotId(),
			dst: r.GetDstSnapshotId(),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.refs = slices.Clone(s.refs) // without the room that it grew by
	var roots listBuilder[Snapshot]
	h, err := im.Snapshots(ctx, func(p *pb.SnapshotSection_Snapshot) error {
		roots.add(p.GetRoot().GetId(), Snapshot{
			p.GetSnapshotId(), p.GetRoot().GetName(), int64(p.GetRoot().GetDirectory().GetModificationTime()),
		})
		s.snapshots++
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.snapshottable, s.roots = h.GetSnapshottableDir(), roots.lists()
	return s, s.loadDiffs(ctx, im)
}

func (s *snapshotState) loadDiffs(ctx context.Context, im *fsimage.Image) error {
	var files listBuilder[fileDiff]
	var dirs listBuilder[dirDiff]
	err := im.SnapshotDiffs(ctx, fsimage.Diffs{
		File: func(id uint64, d *pb.SnapshotDiffSection_FileDiff) error {
			files.add(id, newFileDiff(d))
			return nil
		},
		Directory: func(id uint64, d *pb.SnapshotDiffSection_DirectoryDiff, created [][]byte) error {
			x := dirDiff{
				snapshot: d.GetSnapshotId(), created: stringsOf(created),
				deleted: make([]entry, 0, len(d.GetDeletedINode())+len(d.GetDeletedINodeRef())),
			}
			for _, c := range d.GetDeletedINode() {
				x.deleted = append(x.deleted, entry{c, -1})
			}
			for _, r := range d.GetDeletedINodeRef() {
				if int64(r) >= int64(len(s.refs)) {
					return badReference(r, len(s.refs))
				}
				x.deleted = append(x.deleted, entry{s.refs[r].id, int32(r)})
			}
			dirs.add(id, x)
			return nil
		},
	})
	s.files, s.dirs = files.lists(), dirs.lists()
	return err
}

func badReference(r uint32, n int) error {
	return fmt.Errorf("%w: reference %d of %d", fsimage.ErrCorrupt, r, n)
}

func newFileDiff(d *pb.SnapshotDiffSection_FileDiff) fileDiff {
	x := fileDiff{
		snapshot: d.GetSnapshotId(), size: int64(d.GetFileSize()),
		hasCopy: d.GetSnapshotCopy() != nil, replication: int64(d.GetSnapshotCopy().GetReplication()),
	}
	for _, b := range d.GetBlocks() {
		x.blocks = append(x.blocks, fsimage.Block{ID: b.GetBlockId(), GenStamp: b.GetGenStamp(), NumBytes: b.GetNumBytes()})
	}
	return x
}

// stringsOf copies names into one piece of memory.
func stringsOf(names [][]byte) []string {
	if len(names) == 0 {
		return nil
	}
	all := string(bytes.Join(names, nil))
	out := make([]string, len(names))
	for i, n := range names {
		out[i], all = all[:len(n)], all[len(n):]
	}
	return out
}

// touched lists the inodes that the pass over INODE must keep whole: those with
// diffs, those in deleted lists and those that references lead to.
func (s *snapshotState) touched() []uint64 {
	n := s.files.len() + s.dirs.len() + len(s.refs)
	for i := range s.dirs.all {
		n += len(s.dirs.all[i].deleted)
	}
	ids := make([]uint64, 0, n)
	for _, id := range s.files.ids.all() {
		ids = append(ids, id)
	}
	for _, id := range s.dirs.ids.all() {
		ids = append(ids, id)
	}
	for i := range s.dirs.all {
		for _, e := range s.dirs.all[i].deleted {
			ids = append(ids, e.id)
		}
	}
	for _, r := range s.refs {
		ids = append(ids, r.id)
	}
	return ids
}

// createdNames gives the names that a directory's diffs call created, sorted.
func createdNames(ds []dirDiff) []string {
	var names []string
	for _, d := range ds {
		names = append(names, d.created...)
	}
	slices.Sort(names)
	return names
}

var errDeep = errors.New("directories are nested too deeply")

// maxDepth bounds the nesting of directories. A path has at most 8,000
// characters when it is made; renames can bring a subtree somewhat deeper.
const maxDepth = 4096

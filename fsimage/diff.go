package fsimage

import (
	"context"
	"errors"
	"io"

	pb "fsweep/proto/fsimage"
)

// Diffs receives what section SNAPSHOT_DIFF holds, in the order of the file: an
// inode's diffs follow each other, the newest first.
type Diffs struct {
	// File is called for every diff of a file. The message is the callee's.
	File func(inode uint64, d *pb.SnapshotDiffSection_FileDiff) error
	// Directory is called for every diff of a directory, with the names that
	// were created after the snapshot. Message and names are the callee's.
	Directory func(inode uint64, d *pb.SnapshotDiffSection_DirectoryDiff, created [][]byte) error
}

// SnapshotDiffs reads section SNAPSHOT_DIFF, which images without snapshots
// lack.
func (im *Image) SnapshotDiffs(ctx context.Context, fn Diffs) error {
	return im.section(ctx, SectionSnapshotDiff, func(r *records) error {
		for {
			e := new(pb.SnapshotDiffSection_DiffEntry)
			if err := r.decode(e); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			for range e.GetNumOfDiff() {
				if err := readDiff(r, e, fn); err != nil {
					return err
				}
			}
		}
	})
}

func readDiff(r *records, e *pb.SnapshotDiffSection_DiffEntry, fn Diffs) error {
	if e.GetType() == pb.SnapshotDiffSection_DiffEntry_FILEDIFF {
		d := new(pb.SnapshotDiffSection_FileDiff)
		if err := r.must(d, "a file diff"); err != nil {
			return err
		}
		return r.error(fn.File(e.GetInodeId(), d))
	}
	d := new(pb.SnapshotDiffSection_DirectoryDiff)
	if err := r.must(d, "a directory diff"); err != nil {
		return err
	}
	var created [][]byte // grows with the records, not with the announced size
	for range d.GetCreatedListSize() {
		c := new(pb.SnapshotDiffSection_CreatedListEntry)
		if err := r.must(c, "a created name"); err != nil {
			return err
		}
		created = append(created, c.GetName())
	}
	return r.error(fn.Directory(e.GetInodeId(), d, created))
}

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
	// File is called for every diff of a file. The message is re-used; slices of
	// bytes in it are not.
	File func(inode uint64, d *pb.SnapshotDiffSection_FileDiff) error
	// Directory is called for every diff of a directory, with the names that
	// were created after the snapshot. Message and slice of names are re-used.
	Directory func(inode uint64, d *pb.SnapshotDiffSection_DirectoryDiff, created [][]byte) error
}

// SnapshotDiffs reads section SNAPSHOT_DIFF, which images without snapshots
// lack.
func (im *Image) SnapshotDiffs(ctx context.Context, fn Diffs) error {
	return im.section(ctx, SectionSnapshotDiff, func(r *records) error {
		d := diffReader{records: r, fn: fn}
		for {
			e := &d.entry
			if err := r.decode(e); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if t := e.GetType(); t != pb.SnapshotDiffSection_DiffEntry_FILEDIFF && t != pb.SnapshotDiffSection_DiffEntry_DIRECTORYDIFF {
				return r.error(corruptf("a diff entry of type %d", t))
			}
			for range e.GetNumOfDiff() {
				if err := d.read(); err != nil {
					return err
				}
			}
		}
	})
}

// diffReader holds the messages that are re-used.
type diffReader struct {
	*records
	fn      Diffs
	entry   pb.SnapshotDiffSection_DiffEntry
	file    pb.SnapshotDiffSection_FileDiff
	dir     pb.SnapshotDiffSection_DirectoryDiff
	name    pb.SnapshotDiffSection_CreatedListEntry
	created [][]byte
}

func (r *diffReader) read() error {
	if r.entry.GetType() == pb.SnapshotDiffSection_DiffEntry_FILEDIFF {
		if err := r.must(&r.file, "a file diff"); err != nil {
			return err
		}
		return r.error(r.fn.File(r.entry.GetInodeId(), &r.file))
	}
	if err := r.must(&r.dir, "a directory diff"); err != nil {
		return err
	}
	r.created = r.created[:0] // grows with the records, not with the announced size
	for range r.dir.GetCreatedListSize() {
		if err := r.must(&r.name, "a created name"); err != nil {
			return err
		}
		r.created = append(r.created, r.name.GetName())
	}
	return r.error(r.fn.Directory(r.entry.GetInodeId(), &r.dir, r.created))
}

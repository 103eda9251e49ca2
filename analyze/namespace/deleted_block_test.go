package namespace

import (
	"math"
	"testing"

	"fsweep/fsimage"
)

// TestDeletedBlockInDiff: an image that a NameNode saved after an open file was
// truncated and deleted had a diff with these blocks. A NameNode that loads it
// keeps the first block alone, because its size makes up the file's, and charges
// 3 x (2^63-1) bytes, wrapped around; the 139 bytes after it are charged nothing.
func TestDeletedBlockInDiff(t *testing.T) {
	t.Parallel()
	f := file{replication: 3, blockSize: 1024, open: true}
	diffs := []fileDiff{{snapshot: 22, hasCopy: true, size: 1163, replication: 3, blocks: []fsimage.Block{
		{ID: 1073742088, GenStamp: 1301, NumBytes: math.MaxInt64},
		{ID: 1073742089, GenStamp: 1302, NumBytes: 139},
	}}}
	if got := f.vecWithDiffs(diffs, true); got.space != math.MaxInt64-2 || got.length != 0 {
		t.Errorf("space %d, length %d", got.space, got.length)
	}
	// Without the mark of deletion both count.
	diffs[0].blocks[0].NumBytes = 1024
	if got := f.vecWithDiffs(diffs, true); got.space != 3*1163 {
		t.Errorf("space %d", got.space)
	}
}

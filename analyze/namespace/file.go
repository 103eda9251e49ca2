package namespace

import (
	"slices"

	"fsweep/fsimage"
)

// FileSums is what a file adds to the content summary of its directory, in
// bytes.
type FileSums struct {
	Length int64
	Space  int64 // disk space of all replicas, or with parity
}

// file is what accounting needs of a file. The NameNode's rules for each figure
// stand in docs/format/accounting.md.
type file struct {
	blocks      []fsimage.Block
	ec          *ecPolicy // if striped
	replication int64
	blockSize   int64 // preferred
	striped     bool
	open        bool
	policy      uint8 // its own storage policy
}

func (t *Tree) file(f *fsimage.INodeFile) file {
	var x file
	t.setFile(&x, f)
	return x
}

// setFile makes x that of f, field by field: a whole new value would be made elsewhere
// first and copied.
func (t *Tree) setFile(x *file, f *fsimage.INodeFile) {
	x.blocks, x.ec = f.Blocks, nil
	x.replication, x.blockSize = int64(f.Replication), int64(f.PreferredBlockSize)
	x.striped, x.open, x.policy = f.Striped, f.UnderConstruction, localPolicy(f.StoragePolicy)
	if f.Striped {
		if x.ec = t.ec[f.ECPolicy]; x.ec == nil {
			x.ec = &ecPolicy{} // one that the image does not define: no parity is known
		}
	}
}

// length is the sum of the sizes of the current blocks.
func (f *file) length() int64 {
	var n int64
	for i := range f.blocks {
		n += int64(f.blocks[i].NumBytes)
	}
	return n
}

// charged is the size at which a block counts: that of an open file's last
// block is the preferred block size, because it may still grow to it.
func (f *file) charged(i int) int64 {
	if f.open && i == len(f.blocks)-1 {
		return f.blockSize
	}
	return int64(f.blocks[i].NumBytes)
}

func (f *file) stripedSpace(i int) int64 {
	if f.open && i == len(f.blocks)-1 {
		return f.blockSize * (f.ec.data + f.ec.parity)
	}
	return f.ec.space(int64(f.blocks[i].NumBytes))
}

// sums gives the contribution of a file that no snapshot touches; one is the
// sum of its charged lengths.
func (f *file) sums() (s FileSums, one int64) {
	if f.striped {
		for i := range f.blocks {
			s.Length += int64(f.blocks[i].NumBytes)
			s.Space += f.stripedSpace(i)
		}
		return s, 0
	}
	for i := range f.blocks {
		s.Length += int64(f.blocks[i].NumBytes)
		one += f.charged(i)
	}
	s.Space = one * f.replication
	return s, one
}

// size is about what the file takes on disk, as a number that does not wrap
// around.
func (f *file) size() float64 {
	var n float64
	for i := range f.blocks {
		n += float64(f.blocks[i].NumBytes)
	}
	if f.open {
		n += float64(uint64(f.blockSize))
	}
	return n * float64(max(f.replication, 1))
}

// vec gives the same for sparse sums.
func (f *file) vec() vec {
	s, one := f.sums()
	v := vec{files: 1, length: s.Length, space: s.Space}
	f.spread(&v, one)
	return v
}

// spread charges one bytes in each replica to storage types. Erasure coded
// files are never charged to any.
func (f *file) spread(v *vec, one int64) {
	if f.striped || f.replication <= 0 {
		return
	}
	if f.policy != unspecified {
		spread(&v.types, f.policy, one, one*f.replication)
		return
	}
	v.one += one
	v.all += one * f.replication
}

// forgetsDeleted tells whether the NameNode that loads the image knows that a
// file in a deleted list has no replication of its own any more. Hadoop 3.4 does
// (INodeFile.loadSnapshotFeature); 3.3 and older ones count it all the same.
func (t *Tree) forgetsDeleted() bool { return t.im.Summary().LayoutVersion <= -67 }

// vecWithDiffs is the contribution of a file that has diffs, in its current
// state: every distinct block of the file and its diffs counts once, at the
// highest replication that the file or a snapshot copy of it has. A deleted
// file has no replication of its own any more.
func (f *file) vecWithDiffs(diffs []fileDiff, deleted bool) vec {
	v := vec{files: 1, length: f.length()}
	g := *f
	if deleted && !f.striped {
		g.replication = 0
	}
	sizes := map[uint64]int64{} // of blocks that count
	var one, striped int64
	for i, b := range f.blocks {
		if _, again := sizes[b.ID]; again {
			continue
		}
		sizes[b.ID] = int64(b.NumBytes)
		if one += f.charged(i); f.striped {
			striped += f.stripedSpace(i)
		}
	}
	for _, d := range diffs {
		if d.hasCopy {
			g.replication = max(g.replication, d.replication)
		}
		// The NameNode keeps of a diff's blocks only as many, from the first on, as
		// make up the file's size at the snapshot. A block that was deleted since
		// has 2^63-1 bytes in an image, and then there is none after it.
		sum := int64(0) // wraps around like the NameNode's
		for i := 0; i < len(d.blocks) && sum < d.size; i++ {
			b := &d.blocks[i]
			n, known := sizes[b.ID]
			if !known {
				n = int64(b.NumBytes)
				sizes[b.ID] = n
				if one += n; f.striped {
					striped += f.ec.space(n)
				}
			}
			sum += n
		}
	}
	if f.striped {
		v.space = striped
		return v
	}
	v.space = one * g.replication
	g.spread(&v, one)
	return v
}

// vecAt is the contribution of a file with diffs as of a snapshot.
func (f *file) vecAt(diffs []fileDiff, snapshot uint32) vec {
	g := *f
	length := f.length()
	// Diffs are newest first; the oldest one that is not older than the
	// snapshot holds its state.
	for _, d := range slices.Backward(diffs) {
		if d.snapshot >= snapshot {
			length = d.size
			break
		}
	}
	if f.striped {
		v := f.vecWithDiffs(diffs, false)
		// The NameNode adds such a file twice to the namespace.
		v.length, v.extra = length, 1
		return v
	}
	for _, d := range slices.Backward(diffs) {
		if d.snapshot >= snapshot && d.hasCopy {
			g.replication = d.replication
			break
		}
	}
	v := vec{files: 1, length: length, space: length * g.replication}
	g.spread(&v, length)
	return v
}

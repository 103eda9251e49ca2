package imagetest

import (
	"bufio"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Spec describes a large image. Only Inodes is required.
type Spec struct {
	Inodes int    // all inodes, those that only snapshots hold included; at least MinInodes
	Seed   uint64 // the same Spec gives the same bytes

	// DirPercent is the share of directories, 1 to 100; 0 means 13, as in clusters.
	// At 100 only the snapshot area has files.
	DirPercent int
	// Sparse is the number of ids for each inode, the inverse of the density: 1 (0)
	// for dense ids, 4 or 300 as in old clusters.
	Sparse int
	// FirstID is the id of the first inode after the root, which is always RootID;
	// 0 means RootID+1. LastFirstID gives the highest that fits.
	FirstID uint64
	// Buckets is the size of the NameNode's inode table, a power of two. Inodes are
	// in its order. 0 means the largest power of two that is not above Inodes.
	Buckets int
	// SnapshotCells is the number of snapshottable directories, each with two
	// snapshots and cellInodes inodes; 0 means one for each 20,000 inodes, at
	// most 2,000; negative means no snapshots at all.
	SnapshotCells int

	// Flink is how many times their usual share of the inodes, a tenth, the trees of
	// Flink get, at the cost of all others; 0 means 1. With 8 it is half of all.
	Flink int
	// RunInodes is about how many inodes a run of Flink has: 5 directories, of which two
	// are checkpoints, the rest files, most of them in shared. Jobs then have 100 runs. 0:
	// as DirPercent gives it, which with 13 is 40 inodes, and 6 or 7 runs a job.
	RunInodes int

	SubSections int    // see Image.SubSections; not together with Codec
	Codec       string // see Image.Codec
	NamespaceID uint32 // 0 means 1
	TxID        int64  // 0 means 1
}

// Limits of Spec.Inodes. The upper one leaves room for block ids.
const (
	MinInodes = 1000
	MaxInodes = 120_000_000
)

// LastFirstID returns the FirstID with which the highest id comes close to 2^63-1,
// the highest the NameNode can hold.
func (s Spec) LastFirstID() uint64 {
	return 1<<63 - 1 - idSpan(uint32(s.Inodes))*uint64(max(s.Sparse, 1))
}

func (s Spec) withDefaults() (Spec, error) {
	if s.Inodes < MinInodes || s.Inodes > MaxInodes {
		return s, fmt.Errorf("imagetest: %d inodes, want %d to %d", s.Inodes, MinInodes, MaxInodes)
	}
	if s.DirPercent == 0 {
		s.DirPercent = 13
	}
	if s.DirPercent < 1 || s.DirPercent > 100 {
		return s, fmt.Errorf("imagetest: %d %% directories", s.DirPercent)
	}
	s.Sparse = max(s.Sparse, 1)
	if s.Flink = max(s.Flink, 1); s.Flink > 100 {
		return s, fmt.Errorf("imagetest: %d times the share of Flink", s.Flink)
	}
	if s.RunInodes != 0 && (s.RunInodes <= runDirs || flinkDirs(s) >= 1) {
		return s, fmt.Errorf("imagetest: no runs of %d inodes with %d %% directories", s.RunInodes, s.DirPercent)
	}
	if s.FirstID == 0 {
		s.FirstID = RootID + 1
	}
	if s.FirstID <= RootID || s.FirstID > s.LastFirstID() {
		return s, fmt.Errorf("imagetest: first id %d does not fit", s.FirstID)
	}
	if s.Buckets == 0 {
		s.Buckets = 1
		for s.Buckets*2 <= s.Inodes {
			s.Buckets *= 2
		}
	}
	if s.Buckets&(s.Buckets-1) != 0 || s.Buckets < 0 || s.Buckets > 1<<30 {
		return s, fmt.Errorf("imagetest: %d buckets are not a power of two", s.Buckets)
	}
	if s.SnapshotCells == 0 {
		s.SnapshotCells = min(max(s.Inodes/20_000, 1), 2000)
	}
	s.SnapshotCells = max(s.SnapshotCells, 0)
	if s.SnapshotCells*cellInodes > s.Inodes/4 {
		return s, fmt.Errorf("imagetest: %d snapshot cells do not fit", s.SnapshotCells)
	}
	if s.Codec != "" && s.SubSections > 1 {
		return s, errors.New("imagetest: the NameNode writes no sub-sections when it compresses")
	}
	if s.Codec != "" && !writable(s.Codec) {
		return s, fmt.Errorf("imagetest: codec %q cannot be written", s.Codec)
	}
	if s.NamespaceID == 0 {
		s.NamespaceID = 1
	}
	if s.TxID == 0 {
		s.TxID = 1
	}
	return s, nil
}

// Write streams the image to w and returns what a NameNode would answer about it.
// Memory at the peak: about 25 bytes an inode.
func Write(w io.Writer, spec Spec) (*Truth, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	p := newPlan(spec)
	p.build()
	acc := newAccount(p)
	out := newImageStream(w, spec)
	e := &emitter{plan: p, out: out, acc: acc, order: p.hashOrder()}
	e.image()
	if out.err != nil {
		return nil, out.err
	}
	return acc.truth(), nil
}

// WriteFile writes the image into dir under its NameNode name and returns its path;
// with sum, the .md5 file is written beside it.
func WriteFile(dir string, spec Spec, sum bool) (string, *Truth, error) {
	if spec.TxID == 0 {
		spec.TxID = 1
	}
	path := filepath.Join(dir, FileName(spec.TxID))
	f, err := os.Create(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	hash := md5.New()
	buf := bufio.NewWriterSize(f, 1<<20)
	var w io.Writer = buf
	if sum {
		w = io.MultiWriter(buf, hash)
	}
	truth, err := Write(w, spec)
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil && sum {
		err = writeMD5(path, hash.Sum(nil))
	}
	if err != nil {
		return "", nil, err
	}
	return path, truth, nil
}

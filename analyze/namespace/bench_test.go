package namespace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// liveBytes is the memory in use.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTreeMemory: what a loaded tree holds. The limits are what
// docs/PERFORMANCE.md promises without the part of the workers: 8 bytes an inode, 160 a directory and 128 an
// inode that snapshots touch, and some fixed size.
func TestTreeMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	const n = 300_000
	for _, spec := range []imagetest.Spec{
		{DirPercent: 13},
		{DirPercent: 50},
		{DirPercent: 100},
		{DirPercent: 13, Sparse: 4},
		{DirPercent: 13, Sparse: 300},
		{DirPercent: 50, Sparse: 300, SnapshotCells: -1},
	} {
		spec.Inodes, spec.Seed = n, 1
		if spec.Sparse == 300 {
			spec.FirstID = spec.LastFirstID()
		}
		b, truth := synthetic(t, spec)
		before := liveBytes()
		tree := mustLoad(t, b, Options{Workers: 2})
		used := liveBytes() - before
		most := 8*truth.Inodes + 160*truth.Directories + 128*truth.SnapshotTouched + 2<<20
		if used > most {
			t.Errorf("%d %% directories, one id in %d: %d bytes, more than %d", spec.DirPercent, max(spec.Sparse, 1), used, most)
		}
		t.Logf("%d %% directories, one id in %d: %.1f bytes an inode, of at most %.1f", spec.DirPercent, max(spec.Sparse, 1), float64(used)/n, float64(most)/n)
		runtime.KeepAlive(tree)
		runtime.KeepAlive(b)
	}
}

// TestPathsDoNotAllocate once the buffer is long enough.
func TestPathsDoNotAllocate(t *testing.T) {
	b, _ := synthetic(t, imagetest.Spec{Inodes: 5000, Seed: 1})
	tree := mustLoad(t, b, Options{})
	buf := make([]byte, 0, 1<<12)
	if a := testing.AllocsPerRun(5, func() {
		for d := range tree.Dirs() {
			buf = tree.AppendPath(buf[:0], d)
		}
	}); a > 2 { // the iterator's
		t.Errorf("%v allocations for the paths of %d directories", a, tree.NumDirs())
	}
}

// TestLoadCancels: whichever stage a load is in when its context ends.
func TestLoadCancels(t *testing.T) {
	b, _ := synthetic(t, imagetest.Spec{Inodes: 5000, Seed: 1})
	for _, workers := range []int{1, 3} {
		for reads := range rounds(60) {
			ctx, cancel := context.WithCancel(t.Context())
			r := &cancelling{r: bytes.NewReader(b), cancel: cancel, left: 3 + reads}
			im, err := fsimage.Open(r, int64(len(b)), fsimage.WithBuffer(32<<10))
			if err != nil {
				t.Fatal(err)
			}
			tree, err := Load(ctx, im, Options{Workers: workers})
			if err == nil && r.left > 0 {
				cancel()
				break // all was read
			}
			if err != nil && !errors.Is(err, context.Canceled) || err == nil && tree == nil {
				t.Errorf("%d workers, ended at read %d: %v", workers, reads, err)
			}
			cancel()
		}
	}
}

// cancelling ends a context at some read.
type cancelling struct {
	r      *bytes.Reader
	cancel context.CancelFunc
	left   int
}

func (c *cancelling) ReadAt(p []byte, off int64) (int, error) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.r.ReadAt(p, off)
}

// TestProgress: it grows to the number of inodes and bytes, and is told by one
// goroutine at a time. What it counts is every byte that Load reads of the large
// sections: INODE once, and INODE_DIR twice unless it is compressed.
func TestProgress(t *testing.T) {
	for codec, passes := range map[string]int64{"": 2, imagetest.CodecGzip: 1} { // what was decompressed is kept
		b, truth := synthetic(t, imagetest.Spec{Inodes: 5000, Seed: 1, Codec: codec})
		im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		inodes, _ := im.Section(fsimage.SectionINode)
		dirs, _ := im.Section(fsimage.SectionDirectory)
		var last Progress
		mustLoad(t, b, Options{Workers: 3, Progress: func(p Progress) {
			if p.INodes < last.INodes || p.Bytes < last.Bytes || p.Stage == "" {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		}}, fsimage.WithBuffer(4096))
		want := Progress{Stage: "reading", INodes: truth.Inodes, Bytes: inodes.Length + passes*dirs.Length}
		want.Total = want.Bytes
		if last != want {
			t.Errorf("%s: %+v at the end, want %+v", codec, last, want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	const n = 200_000
	for _, dirs := range []int{13, 100} {
		file, _ := synthetic(b, imagetest.Spec{Inodes: n, Seed: 1, DirPercent: dirs})
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("directories=%d%%/workers=%d", dirs, workers), func(b *testing.B) {
				b.SetBytes(int64(len(file)))
				b.ReportAllocs()
				for b.Loop() {
					mustLoad(b, file, Options{Workers: workers})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/inode")
			})
		}
	}
}

func BenchmarkEachINode(b *testing.B) {
	const n = 200_000
	file, _ := synthetic(b, imagetest.Spec{Inodes: n, Seed: 1})
	tree := mustLoad(b, file, Options{})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			bufs := make([][]byte, workers)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				err := tree.EachINode(b.Context(), workers, func(w int, x *EntryBatch) error {
					return x.Each(func(e *Entry) error {
						bufs[w] = e.AppendPath(bufs[w][:0])
						return nil
					})
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/inode")
		})
	}
}

func BenchmarkIDSetRank(b *testing.B) {
	for _, sparse := range []uint64{1, 4, 300} {
		ids := make([]uint64, 1_000_000)
		for i := range ids {
			ids[i] = 16385 + uint64(i)*sparse
		}
		s := idSetOf(ids)
		b.Run(fmt.Sprintf("sparse=%d", sparse), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % len(ids)
				if _, ok := s.rank(ids[i]); !ok {
					b.Fatal(i)
				}
			}
		})
	}
}

package fsimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

// manyINodes is an image of n files and one directory.
func manyINodes(n int, codec string) []byte {
	t := imagetest.NewTree()
	for i := range n {
		t.FileIn(t.Root, fmt.Sprintf("file-%07d", i), uint64(i))
	}
	m := t.Image()
	m.Codec = codec
	return m.Bytes()
}

// TestBatches: however many workers and however small the buffer, every record
// comes exactly once, in batches that say rightly where they are.
func TestBatches(t *testing.T) {
	n := rounds(3000)
	b := manyINodes(n, "")
	compressed := manyINodes(n, imagetest.CodecLz4)
	for _, buffer := range []int{1, 64, 100, 4096, 1 << 20} {
		for workers := range 9 {
			for _, file := range [][]byte{b, compressed} {
				checkBatches(t, openBytes(t, file, WithBuffer(buffer)), workers, n+1)
			}
		}
	}
}

func checkBatches(t *testing.T, im *Image, workers, want int) {
	t.Helper()
	type batch struct {
		seq, count int
		first      int64
		ids        []uint64
	}
	var mu sync.Mutex
	var all []batch
	last := make([]int, max(workers, 1))
	for i := range last {
		last[i] = -1
	}
	inodes := make([]INode, len(last))
	announced, seen, err := im.INodes(t.Context(), workers, func(w int, b *Batch) error {
		if b.Seq <= last[w] {
			return fmt.Errorf("worker %d got batch %d after %d", w, b.Seq, last[w])
		}
		last[w] = b.Seq
		x := batch{seq: b.Seq, first: b.First, count: b.Len()}
		err := b.INodes(&inodes[w], func(n *INode) error {
			x.ids = append(x.ids, n.ID)
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		all = append(all, x)
		return err
	})
	if err != nil || announced != int64(want) || seen != int64(want) {
		t.Fatalf("%d workers: %d announced, %d seen, %v", workers, announced, seen, err)
	}
	slices.SortFunc(all, func(a, b batch) int { return a.seq - b.seq })
	next := imagetest.RootID
	first := int64(0)
	for i, x := range all {
		if x.seq != i || x.first != first || len(x.ids) != x.count {
			t.Fatalf("%d workers: batch %d is number %d, starts at %d (want %d), has %d of %d records", workers, i, x.seq, x.first, first, len(x.ids), x.count)
		}
		for _, id := range x.ids {
			if id != next {
				t.Fatalf("%d workers: inode %d, want %d", workers, id, next)
			}
			next++
		}
		first += int64(x.count)
	}
	if first != int64(want) {
		t.Fatalf("%d workers: %d records", workers, first)
	}
}

// TestEarliestError: with several errors it is the first in the file that is
// reported, whatever the timing.
func TestEarliestError(t *testing.T) {
	b := manyINodes(2000, "")
	im := openBytes(t, b, WithBuffer(256))
	for run := range 40 {
		workers := 1 + run%8
		inodes := make([]INode, workers)
		_, _, err := im.INodes(t.Context(), workers, func(w int, b *Batch) error {
			return b.INodes(&inodes[w], func(n *INode) error {
				if at := n.ID - imagetest.RootID; at >= 700 {
					if at < 710 {
						time.Sleep(time.Millisecond) // the later ones come first
					}
					return fmt.Errorf("%w: %d", ErrCorrupt, at)
				}
				return nil
			})
		})
		fe := requireFormatError(t, err, ErrCorrupt)
		if fe.Record != 700 || fe.Section != SectionINode || fe.Err.Error() != "corrupt: 700" {
			t.Fatalf("run %d, %d workers: %v", run, workers, err)
		}
	}
}

// TestDamageBeforeError: bytes that are no record, behind a record that is
// refused: the latter is the earlier error.
func TestDamageBeforeError(t *testing.T) {
	m := imagetest.NewTree()
	for i := range 500 {
		m.FileIn(m.Root, fmt.Sprintf("%04d", i))
	}
	image := m.Image()
	s := image.Section(SectionINode)
	s.Units[300] = []byte{1, 0xff}
	s.AddRaw([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	im := openBytes(t, image.Bytes(), WithBuffer(512))
	for workers := range 5 {
		var c census
		fe := requireFormatError(t, c.readINodes(t.Context(), im, workers), ErrCorrupt)
		if fe.Record != 299 {
			t.Errorf("%d workers: %v, want record 299", workers, fe)
		}
	}
}

func TestCancel(t *testing.T) {
	im := openBytes(t, manyINodes(20_000, ""), WithBuffer(1024))
	for workers := 1; workers <= 4; workers++ {
		ctx, cancel := context.WithCancel(t.Context())
		var batches atomic.Int64
		_, _, err := im.INodes(ctx, workers, func(int, *Batch) error {
			if batches.Add(1) == 10 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%d workers: %v", workers, err)
		}
		if n := batches.Load(); n > int64(10+workers) {
			t.Errorf("%d workers: %d batches after the end", workers, n-10)
		}
		cancel()
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Nanosecond, errors.New("too slow"))
	defer cancel()
	<-ctx.Done()
	if _, _, err := im.INodes(ctx, 2, func(int, *Batch) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// failing is a disk that fails from some offset on.
type failing struct {
	r   io.ReaderAt
	at  int64
	err error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.at {
		n, _ := f.r.ReadAt(p[:max(0, min(int64(len(p)), f.at-off))], off)
		return n, f.err
	}
	return f.r.ReadAt(p, off)
}

// TestDiskError: an error of the disk stays what it is. It must not be called
// damage of the image, which would have somebody throw a good image away.
func TestDiskError(t *testing.T) {
	for name, b := range smallImages() {
		t.Run(name, func(t *testing.T) {
			im := openBytes(t, b, WithBuffer(512))
			s, _ := im.Section(SectionINode)
			for _, cause := range []error{&fs.PathError{Op: "read", Path: "f", Err: syscall.EIO}, syscall.EIO, errors.New("the tape is torn")} {
				for _, at := range []int64{s.Offset, s.Offset + 1, s.Offset + s.Length/2, s.Offset + s.Length - 1} {
					broken := *im
					broken.r = &failing{im.r, at, cause}
					var c census
					err := c.readINodes(t.Context(), &broken, 2)
					if !errors.Is(err, cause) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTruncated) || errors.Is(err, ErrUnsupported) {
						t.Fatalf("disk error %#v at %d became: %v", cause, at, err)
					}
				}
			}
		})
	}
	b := smallImages()["plain"]
	for _, at := range []int64{0, 4, int64(len(b)) - 100, int64(len(b)) - 2} {
		_, err := Open(&failing{bytes.NewReader(b), at, syscall.EIO}, int64(len(b)))
		if !errors.Is(err, syscall.EIO) || errors.Is(err, ErrTruncated) || errors.Is(err, ErrNotImage) {
			t.Errorf("opening with a disk error at %d: %v", at, err)
		}
	}
	im := openBytes(t, b)
	im.r = &failing{im.r, 100, syscall.EIO}
	if _, err := im.Checksum(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("checksum: %v", err)
	}
}

// eager is a reader that says EOF together with the last bytes, which
// io.ReaderAt allows.
type eager struct{ b []byte }

func (e eager) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(e.b).ReadAt(p, off)
	if off+int64(n) == int64(len(e.b)) {
		err = io.EOF
	}
	return n, err
}

func TestEagerEOF(t *testing.T) {
	for name, b := range smallImages() {
		want, err := readDamaged(t, b)
		if err != nil {
			t.Fatal(err)
		}
		im, err := Open(eager{b}, int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := takeCensus(t.Context(), im, 1); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, err := im.Checksum(t.Context()); err != nil {
			t.Errorf("%s: checksum: %v", name, err)
		}
	}
}

// TestBatchLifetime: a batch's bytes are not overwritten while its callback runs.
func TestBatchLifetime(t *testing.T) {
	im := openBytes(t, manyINodes(2000, ""), WithBuffer(300))
	const workers = 4
	inodes := make([]INode, workers)
	_, _, err := im.INodes(t.Context(), workers, func(w int, b *Batch) error {
		type named struct{ name, copied []byte }
		var kept []named
		err := b.INodes(&inodes[w], func(n *INode) error {
			kept = append(kept, named{n.Name, bytes.Clone(n.Name)})
			return nil
		})
		time.Sleep(10 * time.Microsecond) // others read meanwhile
		for _, k := range kept {
			if !bytes.Equal(k.name, k.copied) {
				return fmt.Errorf("%q became %q", k.copied, k.name)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

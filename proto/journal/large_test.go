package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"testing/iotest"
	"time"

	"fsweep/proto/planfile"
)

// heap watches the memory that the program has from the system.
type heap struct {
	before, peak uint64
	n            int
}

func newHeap() *heap {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return &heap{before: m.Sys - m.HeapReleased}
}

// look is cheap enough for every line.
func (h *heap) look() {
	if h.n++; h.n%5_000 != 0 {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.peak = max(h.peak, m.Sys-m.HeapReleased)
}

func (h *heap) mib() float64 { return float64(h.peak-min(h.peak, h.before)) / (1 << 20) }

// writeMany makes a journal of n items, every fourth skipped, each with paths of its own.
func writeMany(out io.Writer, n int, each func()) (Hash, error) {
	e := NewEncoder()
	put := func(l Line) error {
		b, err := e.Encode(l)
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		each()
		return err
	}
	if err := put(header()); err != nil {
		return Hash{}, err
	}
	for i := range n {
		id := uint64(20_000 + i)
		p := root + "/job-" + planfile.Path(strconv.Itoa(i/100)) + "/a1b2c3d4e5f60718293a4b5c" + planfile.Path(strconv.Itoa(10_000_000+i))
		if i%4 == 0 {
			if err := put(skipped(p, id)); err != nil {
				return Hash{}, err
			}
			continue
		}
		v := move(p, id, call(client1, int64(i)))
		if err := put(v); err != nil {
			return Hash{}, err
		}
		if err := put(done(v.Seq, 17003, 17002, 17001, 17000)); err != nil {
			return Hash{}, err
		}
	}
	return e.Last(), put(end(4, int64(n)))
}

// TestManyItems: a journal of 200,000 items is written, opened, read and gone through
// from its end in less than 64 MiB each. It does not run beside other tests, whose memory
// it would count.
func TestManyItems(t *testing.T) {
	if testing.Short() {
		t.Skip("200,000 items take seconds")
	}
	const items = 200_000
	f, err := os.Create(filepath.Join(t.TempDir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	began, h := time.Now(), newHeap()
	if _, err := writeMany(f, items, h.look); err != nil {
		t.Fatal(err)
	}
	size, _ := f.Seek(0, io.SeekEnd)
	t.Logf("written: %d MB in %v, %.1f MiB", size/1e6, time.Since(began), h.mib())
	if h.mib() > 64 {
		t.Errorf("the encoder took %.1f MiB", h.mib())
	}

	began, h = time.Now(), newHeap()
	r, err := Open(&looking{f, h})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("opened in %v, %.1f MiB", time.Since(began), h.mib())
	began = time.Now()
	lines := 0
	for _, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		lines++
		h.look()
	}
	t.Logf("read in %v, %.1f MiB", time.Since(began), h.mib())
	began = time.Now()
	next := uint64(20_000 + items)
	moved := 0
	for m, err := range r.Moved() {
		if err != nil {
			t.Fatal(err)
		}
		if m.Intent.InodeID >= next {
			t.Fatalf("inode %d behind %d", m.Intent.InodeID, next)
		}
		next = m.Intent.InodeID
		moved++
		h.look()
	}
	t.Logf("backwards in %v, %.1f MiB", time.Since(began), h.mib())
	if h.mib() > 64 || moved != items*3/4 || lines != 2+items*7/4 {
		t.Errorf("the reader took %.1f MiB for %d lines, %d moved", h.mib(), lines, moved)
	}
}

// looking counts reads as occasions to look.
type looking struct {
	f *os.File
	h *heap
}

func (l *looking) Read(p []byte) (int, error)                { l.h.n += 99; l.h.look(); return l.f.Read(p) }
func (l *looking) Seek(off int64, whence int) (int64, error) { return l.f.Seek(off, whence) }

// changing is a file that can change.
type changing struct {
	b   []byte
	off int64
	at  int64 // where reading fails; 0: nowhere
}

func (c *changing) Seek(off int64, _ int) (int64, error) { c.off = off; return off, nil }

func (c *changing) Read(p []byte) (int, error) {
	if c.at > 0 && c.off >= c.at {
		return 0, iotest.ErrTimeout
	}
	if c.off >= int64(len(c.b)) {
		return 0, io.EOF
	}
	n := copy(p, c.b[c.off:])
	c.off += int64(n)
	return n, nil
}

func many(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := writeMany(&b, n, func() {}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestChangedAfterOpen: a line that was changed after Open is never yielded; lines that
// were appended are not seen.
func TestChangedAfterOpen(t *testing.T) {
	t.Parallel()
	b := many(t, 1000)
	for _, how := range []string{"changed", "cut", "longer"} {
		f := &changing{b: bytes.Clone(b)}
		r, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		at := len(b) / 2
		switch how {
		case "changed":
			f.b[bytes.LastIndexByte(f.b[:at], ':')+1] ^= 1
		case "cut":
			f.b = f.b[:at]
		case "longer":
			f.b = append(f.b, "more\n"...)
		}
		lines, err := collect(r)
		if how == "longer" {
			if err != nil || len(lines) != r.Len() {
				t.Errorf("%s: %d lines, %v", how, len(lines), err)
			}
			continue
		}
		var line *LineError
		if !errors.Is(err, ErrChanged) || !errors.As(err, &line) || len(lines) == 0 || line.Line != len(lines)+1 {
			t.Errorf("%s: %d lines, %v", how, len(lines), err)
		}
		n := 0
		for m, err := range r.Moved() {
			if err != nil {
				if !errors.Is(err, ErrChanged) || m != nil {
					t.Errorf("%s: moved %v", how, err)
				}
				n = -n
				continue
			}
			if n < 0 || how == "cut" && m.Intent.InodeID < 20_900 {
				t.Fatalf("%s: inode %d", how, m.Intent.InodeID)
			}
			n++
		}
		if n > 0 {
			t.Errorf("%s: moved, and no error", how)
		}
	}
}

// TestReadErrors: errors of the file below stay themselves, whenever they come.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	b := many(t, 500)
	for at := int64(1); at < int64(len(b)); at += 30_000 {
		r, err := Open(&changing{b: b, at: at})
		if r != nil || !errors.Is(err, iotest.ErrTimeout) || isContent(err) {
			t.Errorf("at %d: %v", at, err)
		}
	}
}

// TestGrowing: a journal that is written to while it is read is whole up to some line.
func TestGrowing(t *testing.T) {
	t.Parallel()
	b := many(t, 500)
	for n := 2000; n < len(b); n += 12_345 {
		f := &changing{b: b[:n]}
		r, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		f.b = b
		lines, err := collect(r)
		whole, torn := pieces(b[:n])
		if err != nil || len(lines) != len(whole) || r.Torn() != int64(len(torn)) {
			t.Errorf("%d bytes: %d lines, torn %d, %v", n, len(lines), r.Torn(), err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = len(many(b, 1000))
	}
	b.SetBytes(int64(n))
}

func BenchmarkOpen(b *testing.B) {
	p := many(b, 1000)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(bytes.NewReader(p)); err != nil {
			b.Fatal(err)
		}
	}
}

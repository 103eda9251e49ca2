package planfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// heap watches the memory that the program has from the system.
type heap struct {
	before uint64
	peak   uint64
	n      int
}

func newHeap() *heap {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return &heap{before: m.Sys - m.HeapReleased}
}

// look is cheap enough for every item.
func (h *heap) look() {
	if h.n++; h.n%20_000 != 0 {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.peak = max(h.peak, m.Sys-m.HeapReleased)
}

func (h *heap) mib() float64 { return float64(h.peak-min(h.peak, h.before)) / (1 << 20) }

// looking counts writes, and reads, as occasions to look.
type looking struct {
	f *os.File
	h *heap
}

func (l looking) Write(p []byte) (int, error) { l.h.n += 499; l.h.look(); return l.f.Write(p) }
func (l looking) Read(p []byte) (int, error)  { l.h.n += 499; l.h.look(); return l.f.Read(p) }
func (l looking) Seek(off int64, whence int) (int64, error) {
	return l.f.Seek(off, whence)
}

// writeChildren makes items with short lines, for numbers.
func writeChildren(out io.Writer, n int) (Digest, error) {
	h := sampleHeader()
	h.Belts, h.Roots = Belts{}, h.Roots[6:]
	w, err := NewWriter(out, h)
	if err != nil {
		return Digest{}, err
	}
	v := item(KindChild, "/tmp", "", 0, 17400)
	for i := range n {
		v.Path, v.InodeID = "/tmp/"+runPath(i)[53:], uint64(20000+i)
		v.Children, v.Entries, v.Totals.Directories = 0, 1, 1
		if i%10 == 0 {
			v.Children, v.Entries, v.Totals.Directories = 1, 2, 2
		}
		if err := w.Item(v); err != nil {
			return Digest{}, err
		}
		if i%10 == 0 {
			if err := w.Directory(Directory{"d", 7, 0, 0}); err != nil {
				return Digest{}, err
			}
		}
	}
	return w.Close()
}

// TestMillionItems: writing and reading a million items takes less than 64 MiB each.
// It does not run beside other tests, whose memory it would count.
func TestMillionItems(t *testing.T) {
	if testing.Short() {
		t.Skip("a million items take seconds")
	}
	const items = 1_000_000
	f, err := os.Create(filepath.Join(t.TempDir(), "plan.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	began, h := time.Now(), newHeap()
	want, err := writeChildren(looking{f, h}, items)
	if err != nil {
		t.Fatal(err)
	}
	size, _ := f.Seek(0, io.SeekEnd)
	t.Logf("written: %d MB in %v, %.1f MiB", size/1e6, time.Since(began), h.mib())
	if h.mib() > 64 {
		t.Errorf("the writer took %.1f MiB", h.mib())
	}

	began, h = time.Now(), newHeap()
	r, got, err := Open(looking{f, h})
	if err != nil || got != want {
		t.Fatal(got, err)
	}
	t.Logf("opened in %v, %.1f MiB", time.Since(began), h.mib())
	began = time.Now()
	n := 0
	for i, err := range r.Items() {
		if err != nil {
			t.Fatal(err)
		}
		if n%1000 == 0 {
			if dirs, err := collect(r.Directories(&i)); err != nil || len(dirs) != 1 {
				t.Fatal(dirs, err)
			}
		}
		n++
		h.look()
	}
	t.Logf("read in %v, %.1f MiB", time.Since(began), h.mib())
	if h.mib() > 64 || n != items {
		t.Errorf("the reader took %.1f MiB for %d items", h.mib(), n)
	}
}

// TestAllocations bounds what each item costs.
func TestAllocations(t *testing.T) {
	const items = 2000
	var b bytes.Buffer
	b.Grow(4 << 20)
	write := func() {
		b.Reset()
		if _, err := writeMany(&b, items); err != nil {
			t.Fatal(err)
		}
	}
	write()
	perItem := testing.AllocsPerRun(3, write) / items
	// One is the path that this test makes.
	if perItem > 1.1 {
		t.Errorf("writing: %.2f allocations an item", perItem)
	}
	open := testing.AllocsPerRun(3, func() {
		if _, _, err := Open(bytes.NewReader(b.Bytes())); err != nil {
			t.Fatal(err)
		}
	}) / items
	r, _, err := Open(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	read := testing.AllocsPerRun(3, func() {
		for _, err := range r.Items() {
			if err != nil {
				t.Fatal(err)
			}
		}
	}) / items
	t.Logf("allocations an item: writing %.2f, Open %.2f, Items %.2f", perItem, open, read)
	// Path and name of the run; in Open those of the directories too.
	if open > 2.5 || read > 2.1 {
		t.Errorf("allocations an item: Open %.2f, Items %.2f", open, read)
	}
}

func BenchmarkWrite(b *testing.B) {
	var size writeCounter
	b.ReportAllocs()
	for b.Loop() {
		size = 0
		if _, err := writeMany(&size, 10_000); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size))
}

type writeCounter int64

func (w *writeCounter) Write(p []byte) (int, error) { *w += writeCounter(len(p)); return len(p), nil }

func BenchmarkOpen(b *testing.B) {
	p, _ := manyItems(b, 10_000)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Open(bytes.NewReader(p)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkItems(b *testing.B) {
	p, _ := manyItems(b, 10_000)
	r, _, err := Open(bytes.NewReader(p))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range r.Items() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestManyJobs: jobs, runs and guards stream; a guard costs no more than its hashes.
func TestManyJobs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("122,000 lines take seconds with the race detector")
	}
	const jobs, runs, guards = 2_000, 50, 20_000
	h := sampleHeader()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs * runs {
		path := runPath(i * 2) // fifty runs a job
		if i%runs == 0 {
			err = w.Known(Known{KnownJob, path[:28], 1, h.Roots[0].Path})
		}
		if err == nil {
			err = w.Known(Known{KnownRun, path, 1, h.Roots[0].Path})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range guards {
		if err := w.Guard(Guard{Kind: GuardMetadata, Path: runPath(i*2) + "/chk-1/_metadata", InodeID: 1, Length: 1, Owner: "flink", Root: h.Roots[0].Path}); err != nil {
			t.Fatal(err)
		}
	}
	if bytes := 8 * len(w.check.guarded.slots) / guards; bytes > 64 {
		t.Errorf("%d bytes a guard", bytes)
	}
	want, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	r, got, err := Open(bytes.NewReader(b.Bytes()))
	if err != nil || got != want {
		t.Fatal(got, err)
	}
	n := 0
	for _, err := range r.Known() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	for _, err := range r.Guards() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != jobs+jobs*runs+guards {
		t.Errorf("%d lines", n)
	}
}

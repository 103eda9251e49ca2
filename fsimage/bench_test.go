package fsimage

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"fsweep/fsimage/imagetest"
)

// syntheticImage is a realistic image of some size.
func syntheticImage(t testing.TB, spec imagetest.Spec) ([]byte, *imagetest.Truth) {
	t.Helper()
	var b bytes.Buffer
	truth, err := imagetest.Write(&b, spec)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), truth
}

// TestDecodersDoNotAllocate once their memory has grown to the largest record.
func TestDecodersDoNotAllocate(t *testing.T) {
	inodes, entries := realINodes(t), realDirEntries(t)
	var n INode
	var e DirEntry
	all := func() {
		for _, b := range inodes {
			if err := UnmarshalINode(b, &n); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range entries {
			if err := UnmarshalDirEntry(b, &e); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	if a := testing.AllocsPerRun(10, all); a != 0 {
		t.Errorf("%v allocations for %d records", a, len(inodes)+len(entries))
	}
}

// TestReadingDoesNotAllocate: a whole image takes buffers only.
func TestReadingDoesNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("counts allocations of the whole process")
	}
	const n = 50_000
	b, _ := syntheticImage(t, imagetest.Spec{Inodes: n, Seed: 1})
	im := openBytes(t, b)
	for _, workers := range []int{1, 2} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if seen := countINodes(t, im, workers); seen != n {
			t.Errorf("%d inodes seen", seen)
		}
		if err := countChildren(t, im, workers); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if per := float64(after.Mallocs-before.Mallocs) / n; per >= 0.01 {
			t.Errorf("%d workers: %.4f allocations an inode", workers, per)
		}
	}
}

func countINodes(t testing.TB, im *Image, workers int) int64 {
	t.Helper()
	inodes := make([]INode, workers)
	_, seen, err := im.INodes(t.Context(), workers, func(w int, b *Batch) error {
		return b.INodes(&inodes[w], func(*INode) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func countChildren(t testing.TB, im *Image, workers int) error {
	t.Helper()
	entries := make([]DirEntry, workers)
	return im.Directories(t.Context(), workers, func(w int, b *Batch) error {
		return b.Directories(&entries[w], func(*DirEntry) error { return nil })
	})
}

func BenchmarkUnmarshalINode(b *testing.B) {
	records := inodeRecords(b, openBytes(b, imageBytes(b, "3.4.2/plain")))
	size := int64(0)
	for _, r := range records {
		size += int64(len(r))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	var n INode
	for b.Loop() {
		for _, r := range records {
			if err := UnmarshalINode(r, &n); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(records)), "ns/inode")
}

func BenchmarkUnmarshalDirEntry(b *testing.B) {
	image, _ := syntheticImage(b, imagetest.Spec{Inodes: 20_000, Seed: 1})
	records := dirRecords(b, openBytes(b, image))
	size, children := int64(0), 0
	var e DirEntry
	for _, r := range records {
		size += int64(len(r))
		if err := UnmarshalDirEntry(r, &e); err != nil {
			b.Fatal(err)
		}
		children += len(e.Children)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range records {
			if err := UnmarshalDirEntry(r, &e); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(children), "ns/child")
}

// BenchmarkINodes reads section INODE of an image of 200,000 inodes; MB/s are of
// decompressed bytes.
func BenchmarkINodes(b *testing.B) {
	const n = 200_000
	for _, codec := range append([]string{""}, imagetest.WritableCodecs...) {
		image, _ := syntheticImage(b, imagetest.Spec{Inodes: n, Seed: 1, Codec: codec})
		im := openBytes(b, image)
		size := int64(len(sectionBytes(b, im, SectionINode)))
		name := "plain"
		if codec != "" {
			name = codec[len(codecPackage):]
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					if seen := countINodes(b, im, workers); seen != n {
						b.Fatal(seen)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/inode")
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	image := imageBytes(b, "3.4.2/parallel")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(bytes.NewReader(image), int64(len(image))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	image, _ := syntheticImage(b, imagetest.Spec{Inodes: 100_000, Seed: 1})
	im := openBytes(b, image)
	b.SetBytes(im.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := im.Checksum(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

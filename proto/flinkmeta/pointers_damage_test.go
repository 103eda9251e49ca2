package flinkmeta

import (
	"bytes"
	"errors"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// pointerFiles gives the files that Pointers is for.
func pointerFiles(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := javaStreams(tb)
	maps.DeleteFunc(files, func(name string, _ []byte) bool {
		return strings.HasSuffix(name, ".ser") && name != "odd-paths.ser"
	})
	return files
}

// TestPointersTruncated: a file that is cut gives the paths before the cut, and
// is an error. TestJavaStreams has the cuts that are left out here.
func TestPointersTruncated(t *testing.T) {
	t.Parallel()
	cuts := 0
	for name, b := range pointerFiles(t) {
		whole := pointers(t, b)
		for n := range b {
			if n > 300 && n < len(b)-300 && n%(19*raceFactor) != 0 {
				continue
			}
			cuts++
			cut, err := damagedPointers(t, b[:n])
			if !errors.Is(err, ErrTruncated) {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(b), err)
			}
			if len(cut) > len(whole) || !slices.Equal(cut, whole[:len(cut)]) {
				t.Fatalf("%s, %d bytes: %q, want some of %q", name, n, cut, whole)
			}
		}
		if got, err := damagedPointers(t, append(slices.Clip(b), 0)); !errors.Is(err, ErrCorrupt) || !slices.Equal(got, whole) {
			t.Errorf("%s and a zero: %v, %q", name, err, got)
		}
	}
	t.Logf("%d cuts", cuts)
}

// pointersHash is all that Pointers gives, to compare.
func pointersHash(b []byte) (hash uint64, paths int, err error) {
	h := fnv.New64a()
	err = Pointers(bytes.NewReader(b), func(p []byte, _ int64) error {
		_, _ = h.Write(append(p, 0))
		paths++
		return nil
	})
	return h.Sum64(), paths, err
}

// TestPointersChanged: after a change of a byte there is an error, or there are
// other paths, or the byte was of those that mean nothing here: names of classes
// and fields, strings that are no paths, numbers, versions, which object of all
// a reference leads to, and which type of one size a field has.
//
// Very few changes of the structure itself make another that is whole, like a
// class in place of an object without data.
func TestPointersChanged(t *testing.T) {
	t.Parallel()
	smallest, _ := smallestPointer(t)
	for name, b := range pointerFiles(t) {
		changes := randomChanges / raceFactor
		if name != smallest && name != "odd-paths.ser" {
			changes /= 4 // there is little in these that is not in the smallest
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, uint64(len(b))))
			kinds, err := whole(b)
			if err != nil {
				t.Fatal(err)
			}
			wantHash, wantPaths, _ := pointersHash(b)
			changed, refused, different := bytes.Clone(b), 0, 0
			var same [kindsOfBytes]int
			for range changes {
				i := r.IntN(len(b))
				changed[i] ^= byte(1 + r.IntN(255))
				hash, paths, err := pointersHash(changed)
				switch {
				case err != nil:
					requireClass(t, err)
					refused++
				case hash != wantHash:
					different++
				default:
					same[kinds[i]]++
				}
				if i >= 4 && paths < wantPaths-2 { // one, in two forms
					t.Fatalf("byte %d from %#x to %#x lost %d paths", i, b[i], changed[i], wantPaths-paths)
				}
				changed[i] = b[i]
			}
			if same[structure] > randomChanges/1000 {
				t.Errorf("%d changes of the structure made no difference", same[structure])
			}
			t.Logf("%d bytes: %d refused, %d with other paths, without meaning: %v %v", len(b), refused, different, kindNames, same)
		})
	}
}

// TestPointersMemory: damage makes no large allocations.
//
// It is not parallel, so that what others allocate is not counted.
func TestPointersMemory(t *testing.T) {
	const most = startBuffer + 2*(maxLongString+9) + 256<<10 // the longest string, and the walk
	_, b := smallestPointer(t)
	r := rand.New(rand.NewPCG(6, 6))
	changed, worst := bytes.Clone(b), uint64(0)
	for range 1000 / raceFactor {
		i := r.IntN(len(b))
		changed[i] ^= byte(1 + r.IntN(255))
		worst = max(worst, allocated(func() { _, _, _ = pointersHash(changed) }))
		changed[i] = b[i]
	}
	if worst > most {
		t.Errorf("%d bytes allocated", worst)
	}
	t.Logf("at most %d bytes allocated", worst)
}

// lyingReader claims more than it was asked for.
type lyingReader struct{ io.Reader }

func (r lyingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n + len(p), err
}

// TestPointersReaders: an error of the reader is never one about the file, and
// how a reader cuts the bytes does not matter.
func TestPointersReaders(t *testing.T) {
	t.Parallel()
	name, b := smallestPointer(t)
	want := pointers(t, b)
	broken := errors.New("disk on fire")
	for what, r := range map[string]io.Reader{
		"lying":                lyingReader{bytes.NewReader(b)},
		"failing at the end":   io.MultiReader(bytes.NewReader(b), iotest.ErrReader(broken)),
		"failing when damaged": io.MultiReader(bytes.NewReader(append(b[:500:500], 0xff)), iotest.ErrReader(broken)),
	} {
		err := Pointers(r, func([]byte, int64) error { return nil })
		var format *FormatError
		if err == nil || errors.As(err, &format) || what != "lying" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, r := range map[string]io.Reader{
		"one byte":      iotest.OneByteReader(bytes.NewReader(b)),
		"data with EOF": iotest.DataErrReader(bytes.NewReader(b)),
	} {
		var got []string
		err := Pointers(r, func(p []byte, _ int64) error {
			got = append(got, string(p))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s, %s: %v, %d paths, want %d", name, what, err, len(got), len(want))
		}
	}
}

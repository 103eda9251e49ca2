package namespace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// requireChosen compares EachINodeIn with what of all inodes is in some
// directories. list is all of them.
func requireChosen(t testing.TB, tree *Tree, list []row) {
	t.Helper()
	for parts := range 4 { // none, all, every other, one in three
		want := func(d Dir) bool { return parts > 0 && int(d)%parts == 0 }
		var left []row
		for _, r := range list {
			if r.in != NoDir && want(r.in) {
				left = append(left, r)
			}
		}
		for workers := 1; workers <= 2; workers++ {
			got := rowsOf(t, func(fn func(int, *EntryBatch) error) error {
				return tree.EachINodeIn(t.Context(), workers, want, fn)
			}, workers)
			if !slices.Equal(got, left) {
				t.Errorf("one directory in %d, %d workers: %d inodes, want %d", parts, workers, len(got), len(left))
			}
		}
	}
}

// TestChosenEqualAll in images of NameNodes and random ones. Those of
// requireSound are compared as well.
func TestChosenEqualAll(t *testing.T) {
	for _, dir := range []string{"3.4.2/plain", "3.4.2/rawname", "2.7.7/plain", "random-3.4.2/DefaultCodec", "random-3.4.2/parallel"} {
		tree := mustLoad(t, imageBytes(t, dir), Options{}, fsimage.WithBuffer(1<<10))
		requireChosen(t, tree, rows(t, tree, 1))
	}
	r := newRand(t, 20261129)
	for range rounds(60) {
		b := newModel(r, 1+r.IntN(200), r.IntN(2) == 0).it.Image().Bytes()
		tree := mustLoad(t, b, Options{NoSums: r.IntN(2) == 0}, fsimage.WithBuffer(64<<r.IntN(8)))
		requireChosen(t, tree, rows(t, tree, 1))
		if t.Failed() {
			return
		}
	}
}

// TestChosenStops: an error of the callback, and the end of the context.
func TestChosenStops(t *testing.T) {
	tree := mustLoad(t, image(base()), Options{}, fsimage.WithBuffer(64))
	all := func(Dir) bool { return true }
	seen := 0
	err := tree.EachINodeIn(t.Context(), 1, all, func(_ int, b *EntryBatch) error {
		return b.Each(func(*Entry) error {
			if seen++; seen == 3 {
				return errDeep // any
			}
			return nil
		})
	})
	if !errors.Is(err, errDeep) || seen != 3 {
		t.Errorf("%v after %d", err, seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = tree.EachINodeIn(ctx, 2, all, func(_ int, b *EntryBatch) error { return b.Each(func(*Entry) error { return nil }) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestChosenDoNotAllocate for each inode, whether it is wanted or not.
func TestChosenDoNotAllocate(t *testing.T) {
	var allocs [2]float64
	for i, n := range []int{2000, 20_000} {
		b, _ := synthetic(t, imagetest.Spec{Inodes: n, Seed: 1})
		tree := mustLoad(t, b, Options{}, fsimage.WithBuffer(8<<20)) // one batch
		allocs[i] = testing.AllocsPerRun(3, func() { countChosen(t, tree, 1, 2) })
	}
	if allocs[1] > allocs[0]+10 {
		t.Errorf("%v allocations for 2,000 inodes, %v for 20,000", allocs[0], allocs[1])
	}
}

// countChosen sees the inodes in one directory of so many.
func countChosen(t testing.TB, tree *Tree, workers, of int) int64 {
	t.Helper()
	counts := make([]fsimage.Apart[int64], workers)
	err := tree.EachINodeIn(t.Context(), workers, func(d Dir) bool { return int(d)%of == 0 }, func(w int, x *EntryBatch) error {
		return x.Each(func(*Entry) error {
			counts[w].V++
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for i := range counts {
		n += counts[i].V
	}
	return n
}

// BenchmarkEachINodeIn: compare with all inodes, which is the first of them.
func BenchmarkEachINodeIn(b *testing.B) {
	const n = 200_000
	file, _ := synthetic(b, imagetest.Spec{Inodes: n, Seed: 1})
	tree := mustLoad(b, file, Options{})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := tree.EachINode(b.Context(), 1, func(_ int, x *EntryBatch) error { return x.Each(func(*Entry) error { return nil }) }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/inode")
	})
	for _, of := range []int{1, 10, n} {
		b.Run(fmt.Sprintf("one in %d", of), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				countChosen(b, tree, 1, of)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/inode")
		})
	}
}

package namespace

import (
	"bytes"
	"slices"
	"testing"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// requireNamed compares EachNamed with what of all inodes is wanted: all of
// it comes, in the same order, and nothing that does not exist. What is left out is not
// wanted.
func requireNamed(t *testing.T, tree *Tree, list []row) {
	t.Helper()
	for parts := range 4 { // none, all, every other, one in three
		want := func(d Dir, _ fsimage.Type, _ []byte) bool { return parts > 0 && int(d)%parts == 0 }
		for workers := 1; workers <= 2; workers++ {
			got := rowsOf(t, func(fn func(int, *EntryBatch) error) error {
				return tree.EachNamed(t.Context(), workers, want, fn)
			}, workers)
			i := 0
			for _, r := range list {
				switch {
				case i < len(got) && got[i] == r:
					i++
				case r.in == NoDir || want(r.in, r.typ, nil):
					t.Fatalf("one in %d, %d workers: %q is not shown", parts, workers, r.path)
				}
			}
			if i < len(got) {
				t.Fatalf("one in %d, %d workers: %q is none of the others, or comes out of order", parts, workers, got[i].path)
			}
		}
	}
}

// TestNamedEqualAll in images of NameNodes and random ones.
func TestNamedEqualAll(t *testing.T) {
	for _, dir := range []string{"3.4.2/plain", "3.4.2/rawname", "2.7.7/plain", "random-3.4.2/DefaultCodec", "random-3.4.2/parallel"} {
		tree := mustLoad(t, imageBytes(t, dir), Options{}, fsimage.WithBuffer(1<<10))
		requireNamed(t, tree, rows(t, tree, 1))
	}
	r := newRand(t, 20261130)
	for range rounds(60) {
		b := newModel(r, 1+r.IntN(200), r.IntN(2) == 0).it.Image().Bytes()
		tree := mustLoad(t, b, Options{NoSums: r.IntN(2) == 0}, fsimage.WithBuffer(64<<r.IntN(8)))
		requireNamed(t, tree, rows(t, tree, 1))
	}
}

// TestNamedByName asks with the names that the files have, and leaves out what
// has another.
func TestNamedByName(t *testing.T) {
	b, _ := synthetic(t, imagetest.Spec{Inodes: 20_000, Seed: 1})
	tree := mustLoad(t, b, Options{})
	odd := func(name []byte) bool { return len(name)%2 == 1 }
	names := func(each func(func(int, *EntryBatch) error) error) (all []string) {
		err := each(func(_ int, b *EntryBatch) error {
			return b.Each(func(e *Entry) error {
				if e.INode.Type == fsimage.FileType && odd(e.INode.Name) {
					all = append(all, string(bytes.Clone(e.INode.Name)))
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	got := names(func(fn func(int, *EntryBatch) error) error {
		return tree.EachNamed(t.Context(), 1, func(_ Dir, typ fsimage.Type, name []byte) bool { return typ == fsimage.FileType && odd(name) }, fn)
	})
	want := names(func(fn func(int, *EntryBatch) error) error { return tree.EachINode(t.Context(), 1, fn) })
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	none := rowsOf(t, func(fn func(int, *EntryBatch) error) error {
		return tree.EachNamed(t.Context(), 1, func(Dir, fsimage.Type, []byte) bool { return false }, fn)
	}, 1)
	if len(none) > 20_000/100 || none[0].path != "/" { // long names have a form of their own
		t.Errorf("%d inodes that nobody wants, the first is %q", len(none), none[0].path)
	}
}

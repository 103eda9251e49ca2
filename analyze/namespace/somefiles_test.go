package namespace

import (
	"bytes"
	"slices"
	"testing"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// requireSomeFiles compares EachSomeFiles with what of all inodes is wanted: all of
// it comes, in the same order, and nothing that does not exist. What is left out are
// files that are not wanted.
func requireSomeFiles(t *testing.T, tree *Tree, list []row) {
	t.Helper()
	for parts := range 4 { // none, all, every other, one in three
		want := func(d Dir, _ []byte) bool { return parts > 0 && int(d)%parts == 0 }
		for workers := 1; workers <= 2; workers++ {
			got := rowsOf(t, func(fn func(int, *EntryBatch) error) error {
				return tree.EachSomeFiles(t.Context(), workers, want, fn)
			}, workers)
			i := 0
			for _, r := range list {
				switch {
				case i < len(got) && got[i] == r:
					i++
				case r.typ != fsimage.FileType || want(r.in, nil):
					t.Fatalf("one in %d, %d workers: %q is not shown", parts, workers, r.path)
				}
			}
			if i < len(got) {
				t.Fatalf("one in %d, %d workers: %q is none of the others, or comes out of order", parts, workers, got[i].path)
			}
		}
	}
}

// TestSomeFilesEqualAll in images of NameNodes and random ones.
func TestSomeFilesEqualAll(t *testing.T) {
	for _, dir := range []string{"3.4.2/plain", "3.4.2/rawname", "2.7.7/plain", "random-3.4.2/DefaultCodec", "random-3.4.2/parallel"} {
		tree := mustLoad(t, imageBytes(t, dir), Options{}, fsimage.WithBuffer(1<<10))
		requireSomeFiles(t, tree, rows(t, tree, 1))
	}
	r := newRand(t, 20261130)
	for range rounds(60) {
		b := newModel(r, 1+r.IntN(200), r.IntN(2) == 0).it.Image().Bytes()
		tree := mustLoad(t, b, Options{NoSums: r.IntN(2) == 0}, fsimage.WithBuffer(64<<r.IntN(8)))
		requireSomeFiles(t, tree, rows(t, tree, 1))
	}
}

// TestSomeFilesByName asks with the names that the files have, and leaves out what
// has another: of a synthetic image nothing has an odd form.
func TestSomeFilesByName(t *testing.T) {
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
		return tree.EachSomeFiles(t.Context(), 1, func(_ Dir, name []byte) bool { return odd(name) }, fn)
	})
	want := names(func(fn func(int, *EntryBatch) error) error { return tree.EachINode(t.Context(), 1, fn) })
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	none := rowsOf(t, func(fn func(int, *EntryBatch) error) error {
		return tree.EachSomeFiles(t.Context(), 1, func(Dir, []byte) bool { return false }, fn)
	}, 1)
	if slices.ContainsFunc(none, func(r row) bool { return r.typ == fsimage.FileType }) {
		t.Error("a file is shown that nobody wants")
	}
}

package flink

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// TestRealImages: whatever a NameNode saved, looked at as any layout, gives the
// same result with one goroutine and with several, and every file in a unit is
// in its totals.
func TestRealImages(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../testdata/images/*/*/fsimage_*")
	if err != nil || len(names) == 0 {
		t.Fatal("no images", err)
	}
	for _, name := range names {
		if filepath.Ext(name) != "" || strings.Contains(name, "big50k") {
			continue
		}
		t.Run(strings.TrimPrefix(filepath.Dir(name), "../../testdata/images/"), func(t *testing.T) {
			t.Parallel()
			im, err := fsimage.OpenFile(name, fsimage.WithBuffer(4096))
			if err != nil {
				t.Fatal(err)
			}
			defer im.Close()
			tree, err := namespace.Load(t.Context(), im.Image, namespace.Options{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			for l := JobRun; l <= Children; l++ {
				var decls []Declaration
				for d := range tree.Dirs() {
					p := string(tree.AppendPath(nil, d))
					if tree.Parent(d) != tree.Root() || strings.HasPrefix(p, "/.reserved") {
						continue
					}
					c := decl(l, p)
					if l == Children {
						c.Names = []string{"*"}
					}
					decls = append(decls, c)
				}
				one, err := Discover(t.Context(), tree, decls, Options{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				many, err := Discover(t.Context(), tree, decls, Options{Workers: 4})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(one.Roots, many.Roots) + cmp.Diff(one.Guards, many.Guards); diff != "" {
					t.Errorf("%v: %s", l, diff)
				}
				checkTotals(t, tree, one)
			}
		})
	}
}

// checkTotals adds up the files of every unit once more, one by one.
func checkTotals(t *testing.T, tree *namespace.Tree, d *Discovery) {
	t.Helper()
	sums, where := map[*Unit]*Totals{}, places(d)
	err := tree.EachINode(t.Context(), 1, func(_ int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			in := e.Parent
			if e.Dir != namespace.NoDir {
				in = e.Dir
			}
			_, u, _ := where(in)
			if u == nil {
				return nil
			}
			s := sums[u]
			if s == nil {
				s = &Totals{}
				sums[u] = s
			}
			switch e.INode.Type {
			case fsimage.DirectoryType:
				s.Directories++
			case fsimage.FileType:
				s.Files++
				s.Length += e.Length()
				s.Space += e.SpaceConsumed()
			case fsimage.SymlinkType:
				s.Symlinks++
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Roots {
		for _, j := range r.Jobs {
			for _, u := range j.Units {
				if s := sums[u]; s == nil || *s != u.Totals {
					t.Errorf("%s: %+v, one by one %+v", tree.AppendPath(nil, u.Dir), u.Totals, s)
				}
			}
		}
	}
}

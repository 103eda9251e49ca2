package namespace

import (
	"testing"

	"fsweep/fsimage/imagetest"
)

// TestUsageIn compares what is said before a rename with what is charged after it.
func TestUsageIn(t *testing.T) {
	t.Parallel()
	for _, from := range []byte{0, 2, 7, 10} {
		for _, to := range []byte{0, 2, 5, 12} {
			tree := func(moved bool) *imagetest.Tree {
				it := imagetest.NewTree()
				it.Dir("/there/in")
				if from != 0 {
					it.Dir("/here").SetPolicy(from)
				}
				if to != 0 {
					it.Dir("/there").SetPolicy(to)
				}
				top := "/here/x"
				if moved {
					top = "/there/in/x"
				}
				it.File(top+"/a", 10, 20).Replication = 3
				it.File(top+"/b", 7).Policy = 5
				it.Dir(top + "/cold").SetPolicy(2)
				it.File(top+"/cold/c", 9).Replication = 2
				it.Symlink(top+"/link", "/y")
				it.Striped(top+"/striped", 2, 1<<20)
				return it
			}
			before, after := mustLoad(t, tree(false).Image().Bytes(), Options{}), mustLoad(t, tree(true).Image().Bytes(), Options{})
			lookup := func(n *Tree, path string) Dir {
				d, ok := n.Lookup([]byte(path))
				if !ok {
					t.Fatal(path)
				}
				return d
			}
			in := lookup(before, "/there/in")
			want := after.Usage(lookup(after, "/there/in/x"))
			if got := before.UsageIn(lookup(before, "/here/x"), in); got != want {
				t.Errorf("from policy %d to %d: %+v, want %+v", from, to, got, want)
			}
			var sum Usage
			err := before.EachINode(t.Context(), 1, func(_ int, b *EntryBatch) error {
				return b.Each(func(e *Entry) error {
					if path := string(e.AppendPath(nil)); len(path) > 8 && path[:8] == "/here/x/" && path != "/here/x/cold/c" {
						u := e.UsageIn(in)
						sum.Namespace, sum.Space = sum.Namespace+u.Namespace, sum.Space+u.Space
						for i := range u.Type {
							sum.Type[i] += u.Type[i]
						}
					}
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Namespace++; sum != want { // and x itself
				t.Errorf("from policy %d to %d, by entries: %+v, want %+v", from, to, sum, want)
			}
		}
	}
}

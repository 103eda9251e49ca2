package namespace

import (
	"fmt"
	"strings"
	"testing"
)

// movedCase is a line of testdata/moved/VERSION/measured.tsv.
type movedCase struct {
	name, moved                string
	before, running, restarted Usage
	freed                      int64
}

func movedCases(t *testing.T, version string) []movedCase {
	t.Helper()
	var cases []movedCase
	for line := range strings.Lines(string(readFile(t, "testdata/moved/"+version+"/measured.tsv"))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := movedCase{name: f[0], moved: f[1]}
		for i, u := range []*Usage{&c.before, &c.running, &c.restarted} {
			if _, err := fmt.Sscanf(f[2+i], "%d,%d,%d,%d", &u.Namespace, &u.Space, &u.Type[Disk], &u.Type[Archive]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fmt.Sscan(f[5], &c.freed); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// movedOf asks about every live inode.
func movedOf(t testing.TB, tree *Tree) map[string]Moved {
	t.Helper()
	all := map[string]Moved{}
	err := tree.EachINode(t.Context(), 1, func(_ int, b *EntryBatch) error {
		return b.Each(func(e *Entry) error {
			m, err := e.IfMoved()
			if err != nil {
				return err
			}
			path := string(e.AppendPath(nil))
			all[path] = m
			if m.Held < 0 || m.Freed < 0 || e.Dir == NoDir && m.Held > 0 && !e.InSnapshot() {
				t.Errorf("%q: %+v; in a snapshot: %v", path, m, e.InSnapshot())
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMovedEqualsNameNode compares with what NameNodes did; see
// testdata/moved/README.md.
func TestMovedEqualsNameNode(t *testing.T) {
	for _, version := range []string{"3.4.2", "2.10.2"} {
		t.Run(version, func(t *testing.T) {
			tree := mustLoad(t, readFile(t, "testdata/moved/"+version+"/fsimage.gz"), Options{})
			moved := movedOf(t, tree)
			cases := movedCases(t, version)
			if len(cases) < 55 {
				t.Errorf("only %d cases", len(cases))
			}
			for _, c := range cases {
				m, ok := moved[c.moved]
				if !ok {
					t.Errorf("%s: no %s", c.name, c.moved)
					continue
				}
				d, _ := tree.Lookup([]byte("/c/" + c.name))
				if u := tree.Usage(d); u != c.before {
					t.Errorf("%s: %+v before, want %+v", c.name, u, c.before)
				}
				after := c.before
				after.sub(m.Usage)
				if after != c.restarted {
					t.Errorf("%s: %+v after, want %+v", c.name, after, c.restarted)
				}
				if after.Namespace != c.running.Namespace || after.Space != c.running.Space {
					t.Errorf("%s: %+v after, but the running NameNode has %+v", c.name, after, c.running)
				}
				if m.Undeletable != (c.name == "ec_file_wholly") {
					t.Errorf("%s: undeletable: %v", c.name, m.Undeletable)
				}
				if m.Freed != c.freed {
					t.Errorf("%s: %d bytes freed and %d held, want %d freed", c.name, m.Freed, m.Held, c.freed)
				}
			}
		})
	}
}

// requireMovedSound: what is freed and what is held are all that live files take,
// and a directory's figures are the sums of its files', which are found in another
// way.
func requireMovedSound(t *testing.T, tree *Tree) {
	t.Helper()
	type sum struct{ freed, held int64 }
	files := map[Dir]sum{}
	dirs := map[Dir]Moved{}
	err := tree.EachINode(t.Context(), 1, func(_ int, b *EntryBatch) error {
		return b.Each(func(e *Entry) error {
			m, err := e.IfMoved()
			if e.Dir != NoDir {
				dirs[e.Dir] = m
			}
			if e.Dir == NoDir && m.Held+m.Freed != e.SpaceConsumed() {
				t.Errorf("%q: %+v of %d bytes", e.AppendPath(nil), m, e.SpaceConsumed())
			}
			for d := e.Parent; d != NoDir && e.Dir == NoDir; d = tree.Parent(d) {
				s := files[d]
				files[d] = sum{s.freed + m.Freed, s.held + m.Held}
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for d, m := range dirs {
		if got, want := (sum{m.Freed, m.Held}), files[d]; got != want {
			t.Errorf("%q: freed and held %+v, its files %+v", pathOf(tree, d), got, want)
		}
		if d != tree.Root() && tree.snaps.dirs.len() == 0 && (m.Held != 0 || m.Usage != tree.Usage(d)) {
			t.Errorf("%q: %+v without any snapshot", pathOf(tree, d), m)
		}
	}
}

func TestMovedSound(t *testing.T) {
	for _, dir := range []string{"3.4.2/plain", "3.4.2/rawname", "3.2.2/plain", "2.7.7/plain", "random-3.4.2/plain", "random-3.2.2/plain", "deleted-file-3.2.2/plain"} {
		requireMovedSound(t, mustLoad(t, imageBytes(t, dir), Options{}))
	}
	for _, version := range []string{"3.4.2", "2.10.2"} {
		requireMovedSound(t, mustLoad(t, readFile(t, "testdata/moved/"+version+"/fsimage.gz"), Options{}))
	}
	r := newRand(t, 20261130)
	for range rounds(100) {
		it, _ := newNaive(r, 3+r.IntN(60))
		for _, b := range [][]byte{newModel(r, 1+r.IntN(100), r.IntN(3) > 0).it.Image().Bytes(), image(it)} {
			tree := mustLoad(t, b, Options{})
			movedOf(t, tree)
			requireMovedSound(t, tree)
		}
		if t.Failed() {
			return
		}
	}
}

// TestMovedInParallel: many goroutines may ask, the first question included.
func TestMovedInParallel(t *testing.T) {
	tree := mustLoad(t, readFile(t, "testdata/moved/3.4.2/fsimage.gz"), Options{})
	want := movedOf(t, mustLoad(t, readFile(t, "testdata/moved/3.4.2/fsimage.gz"), Options{}))
	err := tree.EachINode(t.Context(), 4, func(_ int, b *EntryBatch) error {
		return b.Each(func(e *Entry) error {
			m, err := e.IfMoved()
			if path := string(e.AppendPath(nil)); m != want[path] {
				t.Errorf("%s: %+v, want %+v", path, m, want[path])
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

package namespace

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// base is a small sound tree to break.
func base() *imagetest.Tree {
	t := imagetest.NewTree()
	t.File("/a/one", 10)
	t.File("/a/two", 20, 30)
	t.File("/b/c/three", 5)
	t.Dir("/empty")
	t.Symlink("/link", "/a")
	return t
}

// dirEntry is a record of INODE_DIR.
func dirEntry(parent uint64, children ...uint64) *pb.INodeDirectorySection_DirEntry {
	return &pb.INodeDirectorySection_DirEntry{Parent: &parent, Children: children}
}

// again writes the record of a node once more, changed, at the end of INODE.
func again(m *imagetest.Image, change func(*pb.INodeSection_INode), id uint64) {
	inodes := m.Section(imagetest.INode)
	for _, u := range inodes.Units[1:] {
		r := new(pb.INodeSection_INode)
		if err := proto.Unmarshal(u[len(u)-size(u):], r); err != nil {
			panic(err)
		}
		if r.GetId() == id {
			change(r)
			inodes.Add(r)
			return
		}
	}
	panic("no such inode")
}

// size is the length of the message in a unit.
func size(unit []byte) int {
	if unit[0] < 0x80 {
		return int(unit[0])
	}
	return int(unit[0]&0x7f) | int(unit[1])<<7
}

func announce(m *imagetest.Image, n uint64) {
	m.Section(imagetest.INode).Units[0] = imagetest.Unit(&pb.INodeSection{NumInodes: &n})
}

func TestBrokenTree(t *testing.T) {
	type want map[string]int64
	for _, c := range []struct {
		name    string
		tree    func(*imagetest.Tree)
		image   func(*imagetest.Image)
		want    want // findings with their counts
		live    int  // inodes that the root leads to; base has 9
		missing []string
	}{
		{name: "nothing", want: want{}, live: 9},
		{name: "dangling child", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Units[1] = imagetest.Unit(dirEntry(16386, 16387, 16388, 99999))
		}, want: want{"dangling_child": 1}, live: 9},
		{name: "dangling child with children", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Units[1] = imagetest.Unit(dirEntry(16386, 16387, 99999))
			m.Section(imagetest.INodeDir).Add(dirEntry(99999, 16388))
		}, want: want{"dangling_child": 1, "children_of_no_directory": 1}, live: -1},
		{name: "unreachable directory", tree: func(t *imagetest.Tree) {
			d := t.DirIn(nil, "lost")
			t.FileIn(d, "f", 1)
			t.DirIn(d, "below")
		}, want: want{"unreachable_directory": 1}, live: 9, missing: []string{"/lost", "/lost/below"}},
		{name: "unreachable empty directory", tree: func(t *imagetest.Tree) { t.DirIn(nil, "lost") }, want: want{"unreachable_directory": 1}, live: 9},
		{name: "unreachable file and symlink", tree: func(t *imagetest.Tree) {
			t.FileIn(nil, "lost", 100)
			t.Detach(t.Symlink("/x", "/y"))
		}, want: want{"unreachable_inode": 2}, live: 9},
		{name: "directory of many without its list", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Units[1] = nil // /a lost one and two
		}, want: want{"unreachable_inode": 2}, live: 7},
		{name: "file in two directories", tree: func(t *imagetest.Tree) {
			b := t.Dir("/b")
			b.Children = append(b.Children, t.Dir("/a").Children[0])
		}, want: want{"several_parents": 1}, live: 9},
		{name: "directory in two directories", tree: func(t *imagetest.Tree) {
			a := t.Dir("/a")
			a.Children = append(a.Children, t.Dir("/b/c"))
		}, want: want{"several_parents": 1}, live: 9},
		{name: "child listed twice", tree: func(t *imagetest.Tree) {
			a := t.Dir("/a")
			a.Children = append(a.Children, a.Children[0])
		}, want: want{"several_parents": 1}, live: 9},
		{name: "two lists of one directory", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Units[1] = imagetest.Unit(dirEntry(16386, 16387), dirEntry(16386, 16388))
		}, want: want{"several_child_lists": 1}, live: 9},
		{name: "two lists that say the same", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Add(dirEntry(16386, 16387, 16388))
		}, want: want{"several_child_lists": 1, "several_parents": 2}, live: 9},
		{name: "directory in itself and in the root", tree: func(t *imagetest.Tree) {
			a := t.Dir("/a")
			a.Children = append(a.Children, a)
		}, want: want{"several_parents": 1, "impossible_child": 1}, live: 9},
		{name: "directory only in itself", tree: func(t *imagetest.Tree) {
			d := t.DirIn(nil, "self")
			d.Children = append(d.Children, d)
		}, want: want{"impossible_child": 1, "unreachable_directory": 1}, live: 9},
		{name: "two directories in each other", tree: func(t *imagetest.Tree) { circle(t, 2) }, want: want{"directory_circle": 2}, live: 9},
		{name: "long circle", tree: func(t *imagetest.Tree) { circle(t, 1000) }, want: want{"directory_circle": 1000}, live: 9},
		{name: "circle with subtrees", tree: func(t *imagetest.Tree) {
			for i, d := range circle(t, 3) {
				t.FileIn(t.DirIn(t.DirIn(d, "x"), "y"), "f", uint64(i))
			}
		}, want: want{"directory_circle": 3}, live: 9, missing: []string{"/x/y/f"}},
		{name: "directory in its grandchild, root first", tree: func(t *imagetest.Tree) {
			c := t.Dir("/b/c")
			c.Children = append(c.Children, t.Dir("/b"))
		}, want: want{"several_parents": 1}, live: 9},
		{name: "directory in its grandchild, grandchild first", tree: func(t *imagetest.Tree) {
			c := t.Dir("/b/c")
			c.Children = append(c.Children, t.Dir("/b"))
		}, image: func(m *imagetest.Image) {
			s := m.Section(imagetest.INodeDir)
			s.Units[0], s.Units[3] = s.Units[3], s.Units[0]
		}, want: want{"several_parents": 1, "directory_circle": 2}, live: 6},
		{name: "root as a child", tree: func(t *imagetest.Tree) {
			c := t.Dir("/b/c")
			c.Children = append(c.Children, t.Root)
		}, want: want{"impossible_child": 1}, live: 9},
		{name: "root in itself", tree: func(t *imagetest.Tree) { t.Root.Children = append(t.Root.Children, t.Root) }, want: want{"impossible_child": 1}, live: 9},
		{name: "root in itself twice", tree: func(t *imagetest.Tree) { t.Root.Children = append(t.Root.Children, t.Root, t.Root) }, want: want{"several_parents": 1, "impossible_child": 2}, live: 9},
		{name: "file with children", tree: func(t *imagetest.Tree) {}, image: func(m *imagetest.Image) {
			s := m.Section(imagetest.INodeDir)
			s.Units[1] = imagetest.Unit(dirEntry(16386, 16387)) // /a/one …
			s.Add(dirEntry(16387, 16388))                       // … holds two
		}, want: want{"children_of_no_directory": 1}, live: -1},
		{name: "symlink with children", image: func(m *imagetest.Image) {
			s := m.Section(imagetest.INodeDir)
			s.Units[1] = imagetest.Unit(dirEntry(16386, 16387))
			s.Add(dirEntry(16393, 16388))
		}, want: want{"children_of_no_directory": 1}, live: -1},
		{name: "list of children without a directory", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Add(dirEntry(99999, 16385))
		}, want: want{"children_of_no_directory": 1, "impossible_child": 1}, live: 9},
		{name: "list without children", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Add(dirEntry(16392))
		}, want: want{}, live: 9},
		{name: "entry with neither parent nor children", image: func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Add(&pb.INodeDirectorySection_DirEntry{})
		}, want: want{}, live: 9},
		{name: "more inodes announced", image: func(m *imagetest.Image) { announce(m, 10) }, want: want{"inode_count": 1}, live: 9},
		{name: "fewer inodes announced", image: func(m *imagetest.Image) { announce(m, 8) }, want: want{"inode_count": 1}, live: 9},
		{name: "no inodes announced", image: func(m *imagetest.Image) { announce(m, 0) }, want: want{"inode_count": 1}, live: 9},
		{name: "2^64-1 inodes announced", image: func(m *imagetest.Image) { announce(m, 1<<64-1) }, want: want{"inode_count": 1}, live: 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := base()
			if c.tree != nil {
				c.tree(tree)
			}
			m := tree.Image()
			if c.image != nil {
				c.image(m)
			}
			b := m.Bytes()
			got := mustLoad(t, b, Options{Workers: 1})
			if got := codes(got); !maps.Equal(got, c.want) {
				t.Errorf("findings %v, want %v", got, c.want)
			}
			requireSound(t, got)
			requireSame(t, b)
			list := rows(t, got, 1)
			if c.live >= 0 && len(list) != c.live {
				t.Errorf("%d live inodes, want %d: %v", len(list), c.live, list)
			}
			for _, p := range c.missing {
				if d, ok := got.Lookup([]byte(p)); ok {
					t.Errorf("%q is found: %d", p, d)
				}
			}
			for _, f := range got.Findings() {
				if strings.Contains(f.Message, "-1") {
					t.Errorf("finding %q", f.Message)
				}
			}
		})
	}
}

// circle adds n directories each of which is in the one before, the first in the
// last.
func circle(t *imagetest.Tree, n int) []*imagetest.Node {
	first := t.DirIn(nil, "circle0")
	ds := []*imagetest.Node{first}
	for i := 1; i < n; i++ {
		ds = append(ds, t.DirIn(ds[i-1], fmt.Sprint("circle", i)))
	}
	last := ds[n-1]
	last.Children = append(last.Children, first)
	return ds
}

// TestBrokenRoot: without a root there is no tree.
func TestBrokenRoot(t *testing.T) {
	for name, change := range map[string]func(*pb.INodeSection_INode){
		"missing": func(n *pb.INodeSection_INode) { n.Id = proto.Uint64(5) },
		"file": func(n *pb.INodeSection_INode) {
			n.Type, n.Directory, n.File = pb.INodeSection_INode_FILE.Enum(), nil, &pb.INodeSection_INodeFile{}
		},
		"symlink": func(n *pb.INodeSection_INode) { n.Type = pb.INodeSection_INode_SYMLINK.Enum() },
	} {
		for _, empty := range []bool{true, false} {
			tree := imagetest.NewTree()
			if !empty {
				tree = base()
			}
			tree.Root.Edit = change
			for _, workers := range []int{1, 3} {
				got, err := loadBytes(t, image(tree), Options{Workers: workers})
				requireCorrupt(t, name, got, err, "INODE")
			}
		}
	}
}

// requireCorrupt fails unless err is damage that names its section.
func requireCorrupt(t *testing.T, name string, tree *Tree, err error, section string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: loaded, findings %v", name, tree.Findings())
	case !isCorrupt(err) || !strings.Contains(err.Error(), "section "+section):
		t.Errorf("%s: %v; want damage of section %s", name, err, section)
	}
}

// TestDuplicateRecords: the first record of an id counts, in sums and in lists.
func TestDuplicateRecords(t *testing.T) {
	length := func(n uint64) func(*pb.INodeSection_INode) {
		return func(r *pb.INodeSection_INode) {
			r.Name = []byte("other")
			if r.File != nil {
				r.File.Blocks = []*pb.BlockProto{{BlockId: proto.Uint64(1), GenStamp: proto.Uint64(1), NumBytes: &n}}
			}
		}
	}
	turn := func(k pb.INodeSection_INode_Type) func(*pb.INodeSection_INode) {
		return func(r *pb.INodeSection_INode) { r.Type = &k }
	}
	const one, a, c, empty, link, root = 16387, 16386, 16390, 16392, 16393, 16385
	for name, build := range map[string]func(*imagetest.Image){
		"file":                 func(m *imagetest.Image) { again(m, length(1000), one) },
		"directory":            func(m *imagetest.Image) { again(m, length(0), a) },
		"empty directory":      func(m *imagetest.Image) { again(m, length(0), empty) },
		"root":                 func(m *imagetest.Image) { again(m, length(0), root) },
		"symlink":              func(m *imagetest.Image) { again(m, length(0), link) },
		"file as directory":    func(m *imagetest.Image) { again(m, turn(2), one) },
		"directory as file":    func(m *imagetest.Image) { again(m, turn(1), a) },
		"empty one as file":    func(m *imagetest.Image) { again(m, turn(1), empty) },
		"directory as symlink": func(m *imagetest.Image) { again(m, turn(3), c) },
		"root as file":         func(m *imagetest.Image) { again(m, turn(1), root) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := base().Image()
			build(m)
			announce(m, 10)
			b := m.Bytes()
			tree := mustLoad(t, b, Options{Workers: 1})
			if got := codes(tree); !maps.Equal(got, map[string]int64{"duplicate_inode": 1}) {
				t.Errorf("findings %v", got)
			}
			requireSound(t, tree)
			requireSame(t, b)
			want := mustLoad(t, image(base()), Options{})
			if got, want := tree.Summary(tree.Root()), want.Summary(want.Root()); got != want {
				t.Errorf("root %+v, want %+v", got, want)
			}
		})
	}
}

// TestDuplicateRecordsInParallel forces the later record of an id to be read
// before the first one: another file holds its goroutine up until then.
func TestDuplicateRecordsInParallel(t *testing.T) {
	tree := imagetest.NewTree()
	hold := tree.File("/hold")
	first := tree.File("/twice", 1)
	for i := range 300 { // more than the reader takes at once
		tree.File(fmt.Sprintf("/f%02d", i))
	}
	m := tree.Image()
	again(m, func(r *pb.INodeSection_INode) { r.File.Blocks[0].NumBytes = proto.Uint64(1000) }, first.ID)
	b := m.Bytes()
	passed := make(chan bool, 100)
	observe := func(int) Observer {
		return func(_ Dir, n *fsimage.INode, _ FileSums) {
			switch n.ID {
			case first.ID:
				passed <- true
			case hold.ID:
				select {
				case <-passed:
				case <-t.Context().Done():
				case <-timeout(t):
				}
			}
		}
	}
	got := mustLoad(t, b, Options{Workers: 2, Observe: observe}, fsimage.WithBuffer(200))
	if s := got.Summary(got.Root()); s.Length != 1 {
		t.Errorf("length %d, the first record has 1", s.Length)
	}
	requireSound(t, got)
}

// TestObserveStartsOver: where records stand twice all is read again in order,
// and the observers are made anew, from number 0 on.
func TestObserveStartsOver(t *testing.T) {
	m := base().Image()
	again(m, func(r *pb.INodeSection_INode) { r.File.Blocks[0].NumBytes = proto.Uint64(1000) }, 16387)
	var mu sync.Mutex
	seen := map[uint64]int{}
	length := int64(0)
	tree := mustLoad(t, m.Bytes(), Options{Workers: 3, Observe: func(worker int) Observer {
		if worker == 0 {
			clear(seen)
			length = 0
		}
		return func(_ Dir, n *fsimage.INode, s FileSums) {
			mu.Lock()
			defer mu.Unlock()
			seen[n.ID]++
			length += s.Length
		}
	}}, fsimage.WithBuffer(64))
	if want := tree.Summary(tree.Root()).Length; length != want || len(seen) != 9 {
		t.Errorf("observed %d bytes of %d inodes, want %d of 9", length, len(seen), want)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("inode %d was observed %d times", id, n)
		}
	}
}

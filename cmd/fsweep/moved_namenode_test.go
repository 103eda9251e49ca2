package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// TestNameNodeMoves has a real NameNode change many small trees at random, with
// snapshots of two directories of each, then move something out of each and
// delete it. What analyze/namespace says in advance about quotas and bytes freed,
// from the image saved before, must come true.
func TestNameNodeMoves(t *testing.T) {
	if os.Getenv("FSWEEP_NAMENODE") != "1" {
		t.Skip("needs a JDK and Maven: scripts/test turns it on (FSWEEP_NAMENODE=1)")
	}
	seed := nameNodeSeed(t)
	versions := []string{"3.4.2", "3.2.2"}
	if s := os.Getenv("FSWEEP_HADOOP"); s != "" {
		versions = strings.Fields(s)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Logf("FSWEEP_SEED=%d", seed)
			m := newMoves(seed)
			before := t.TempDir()
			runScript(t, version, m.operations.String(), before)
			m.choose(t, filepath.Join(before, "image", "plain"))
			after := t.TempDir()
			runScript(t, version, m.moves(), after, filepath.Join(before, "image", "plain"))
			m.compare(t, after)
		})
	}
}

// runScript has scripts/rigs/hadoop/rig carry out operations, in an empty
// namespace or in that of an image.
func runScript(t *testing.T, version, operations, out string, image ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "operations")
	if err := os.WriteFile(file, []byte(operations), 0o600); err != nil {
		t.Fatal(err)
	}
	runRig(t, append([]string{"script", version, file, out}, image...)...)
}

const movesTrees = 40

// moves makes trees /c/N, each with directories s and t that have snapshots.
type moves struct {
	r          *rand.Rand
	operations strings.Builder
	items      []movedItem
	shown      map[uint64]bool // what namespace says of all inodes below /c
}

type movedItem struct {
	tree, path string
	moved      namespace.Moved
	shown      bool
}

func newMoves(seed int64) *moves {
	m := &moves{r: rand.New(rand.NewPCG(uint64(seed), 1)), shown: map[uint64]bool{}}
	m.op("mkdir /trash")
	for i := range movesTrees {
		m.tree(fmt.Sprint("/c/", i))
	}
	m.op("save image")
	return m
}

func (m *moves) op(format string, args ...any) {
	fmt.Fprintf(&m.operations, format+"\n", args...)
}

// randomTree remembers what may be in one of the trees: the NameNode refuses some
// of the operations.
type randomTree struct {
	*moves
	top         string
	dirs, files []string
	snapshots   []string
}

func (m *moves) tree(top string) {
	t := &randomTree{moves: m, top: top, dirs: []string{top + "/s", top + "/t"}}
	for _, d := range t.dirs {
		m.op("mkdir %s", d)
		m.op("allow %s", d)
	}
	for range 8 {
		t.mkdir()
	}
	if m.r.IntN(2) == 0 {
		m.op("policy %s %s", top, []string{"HOT", "COLD", "WARM", "ONE_SSD"}[m.r.IntN(4)])
	}
	for i := range 50 {
		t.change(i)
	}
	m.op("quota %s 100000 1000000000000", top)
	m.op("typequota %s DISK 1000000000000", top)
}

func (t *randomTree) mkdir() {
	d := fmt.Sprint(t.dir(), "/d", t.r.IntN(4))
	t.op("try mkdir %s", d)
	t.dirs = append(t.dirs, d)
}

func (t *randomTree) dir() string { return t.dirs[t.r.IntN(len(t.dirs))] }

func (t *randomTree) file() string {
	if len(t.files) == 0 {
		return t.dir() + "/none"
	}
	return t.files[t.r.IntN(len(t.files))]
}

// below is a directory that is not one with snapshots.
func (t *randomTree) below() string { return t.dirs[2+t.r.IntN(len(t.dirs)-2)] }

func (t *randomTree) change(i int) {
	switch k := t.r.IntN(24); {
	case k < 2:
		t.mkdir()
	case k < 9:
		f := fmt.Sprint(t.dir(), "/f", t.r.IntN(5))
		t.op("try write %s %d %d", f, t.r.IntN(3000), 1+t.r.IntN(3))
		t.files = append(t.files, f)
	case k < 11:
		t.op("try append %s %d", t.file(), 1+t.r.IntN(2000))
	case k < 12:
		t.op("try truncate %s %d", t.file(), 1024*t.r.IntN(3)) // within a block it takes a second
	case k < 13:
		t.op("try delete %s", []string{t.file(), t.below()}[t.r.IntN(2)])
	case k < 14:
		t.op("try replication %s %d", t.file(), 1+t.r.IntN(3))
	case k < 16:
		t.rename(t.file(), fmt.Sprint(t.dir(), "/f", t.r.IntN(5)))
	case k < 19:
		t.rename(t.below(), fmt.Sprint(t.dir(), "/d", t.r.IntN(4)))
	case k < 22:
		t.snapshots = append(t.snapshots, fmt.Sprintf("%s x%d", t.dirs[t.r.IntN(2)], i))
		t.op("snapshot %s", t.snapshots[len(t.snapshots)-1])
	case len(t.snapshots) > 0:
		j := t.r.IntN(len(t.snapshots))
		t.op("unsnapshot %s", t.snapshots[j])
		t.snapshots = slices.Delete(t.snapshots, j, j+1)
	}
}

func (t *randomTree) rename(from, to string) {
	t.op("try rename %s %s", from, to)
	if strings.HasPrefix(to+"/", from+"/") {
		return
	}
	for _, list := range [][]string{t.dirs, t.files} {
		for i, x := range list {
			if x == from || strings.HasPrefix(x, from+"/") {
				list[i] = to + x[len(from):]
			}
		}
	}
}

// choose takes one inode of each tree, mostly a directory, and asks in advance.
func (m *moves) choose(t *testing.T, dir string) {
	t.Helper()
	tree := loadNamespace(t, dir)
	byTree := map[string][]movedItem{}
	err := tree.EachINode(t.Context(), 1, func(_ int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			path := string(e.AppendPath(nil))
			parts := strings.SplitN(path, "/", 5)
			if len(parts) < 5 || parts[1] != "c" {
				return nil
			}
			moved, err := e.IfMoved()
			item := movedItem{tree: strings.Join(parts[:3], "/"), path: path, moved: moved, shown: e.InSnapshot()}
			byTree[item.tree] = append(byTree[item.tree], item)
			m.shown[e.INode.ID] = item.shown
			if e.Dir != namespace.NoDir {
				byTree[item.tree] = append(byTree[item.tree], item, item)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	shown, partly, held, freed := 0, 0, 0, 0
	for i := range movesTrees {
		if items := byTree[fmt.Sprint("/c/", i)]; len(items) > 0 {
			x := items[m.r.IntN(len(items))]
			m.items = append(m.items, x)
			if x.shown {
				shown++
			}
			if x.moved.Held > 0 {
				held++
			}
			if x.moved.Freed > 0 {
				freed++
			}
			if x.moved.Held > 0 && x.moved.Freed > 0 {
				partly++
			}
		}
	}
	t.Logf("%d items, %d in snapshots; deleting %d of them frees something, %d are held, %d partly", len(m.items), shown, freed, held, partly)
}

func loadNamespace(t *testing.T, dir string) *namespace.Tree {
	t.Helper()
	b, err := os.ReadFile(imageIn(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := namespace.Load(t.Context(), im, namespace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func (m *moves) moves() string {
	var b strings.Builder
	fmt.Fprintln(&b, "ask before")
	for _, x := range m.items {
		fmt.Fprintf(&b, "rename %s /trash/%s\n", x.path, filepath.Base(x.tree))
	}
	fmt.Fprintln(&b, "ask moved\nsave moved\ndelete /trash\nblocks deleted")
	return b.String()
}

func (m *moves) compare(t *testing.T, out string) {
	t.Helper()
	before, moved := quotaUsages(t, filepath.Join(out, "before")), quotaUsages(t, filepath.Join(out, "moved"))
	restarted := loadNamespace(t, filepath.Join(out, "moved", "plain"))
	space, left := blockSpace(t, filepath.Join(out, "before")), blockSpace(t, filepath.Join(out, "deleted"))
	blocks := liveBlocks(t, filepath.Join(out, "before"))
	m.compareShown(t, filepath.Join(out, "before"))
	less := 0
	for _, x := range m.items {
		want := before[x.tree]
		want.Namespace -= x.moved.Usage.Namespace
		want.Space -= x.moved.Usage.Space
		if got := moved[x.tree]; got.Namespace != want.Namespace || got.Space != want.Space {
			t.Errorf("%s: %d inodes and %d bytes are charged after the move, want %d and %d", x.path, got.Namespace, got.Space, want.Namespace, want.Space)
		}
		freed := int64(0)
		for path, ids := range blocks {
			if path != x.path && !strings.HasPrefix(path, x.path+"/") {
				continue
			}
			for _, id := range ids {
				if _, ok := left[id]; !ok {
					freed += space[id]
				}
			}
		}
		if freed != x.moved.Freed {
			t.Errorf("%s: its deletion frees %d bytes, want %d; %d held", x.path, freed, x.moved.Freed, x.moved.Held)
		}
		for k := range want.Type {
			want.Type[k] -= x.moved.Usage.Type[k]
		}
		// A reference goes on naming a snapshot that was deleted, and then counts what
		// came later as well: of what leaves, more is gone when all is counted anew.
		d, ok := restarted.Lookup([]byte(x.tree))
		if got := restarted.Usage(d); ok && (got.Namespace < want.Namespace || got.Space < want.Space) {
			t.Logf("%s: a NameNode charges %+v, and started again %+v", x.path, moved[x.tree], got)
			less++
			continue
		}
		if got := restarted.Usage(d); !ok || got != want {
			t.Errorf("%s: a NameNode started again charges %+v, want %+v", x.path, got, want)
		}
	}
	if less > len(m.items)/10 {
		t.Errorf("a NameNode started again charges less than was said in %d of %d trees", less, len(m.items))
	}
}

// compareShown compares with the inodes that the NameNode lists below snapshots.
func (m *moves) compareShown(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "snapshots.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[uint64]bool{}
	for line := range bytes.Lines(b) {
		var row struct{ FileID uint64 }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		listed[row.FileID] = true
	}
	for id, got := range m.shown {
		if got != listed[id] {
			t.Errorf("inode %d: in a snapshot: %v, want %v", id, got, listed[id])
		}
	}
}

// quotaUsages gives what a rig's quota.jsonl says about directories with quotas.
func quotaUsages(t *testing.T, dir string) map[string]namespace.Usage {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "quota.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]namespace.Usage{}
	for line := range bytes.Lines(b) {
		var row struct {
			Path string
			NN   map[string]int64
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if _, ok := row.NN["cachedNs"]; !ok {
			continue
		}
		u := namespace.Usage{Namespace: row.NN["cachedNs"], Space: row.NN["cachedDs"]}
		for k, name := range namespace.TypeNames {
			u.Type[k] = row.NN["cached_t_"+name]
		}
		all[row.Path] = u
	}
	return all
}

// blockSpace gives what each block takes on disk that a rig's blocks.json lists.
func blockSpace(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "blocks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks map[string][2]int64
	if err := json.Unmarshal(b, &blocks); err != nil {
		t.Fatal(err)
	}
	space := map[string]int64{}
	for id, x := range blocks {
		space[id] = x[1]
	}
	return space
}

// liveBlocks gives the ids of each live file's blocks from a rig's listing.jsonl.
func liveBlocks(t *testing.T, dir string) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "listing.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range bytes.Lines(b) {
		var row struct {
			Path   string
			Blocks [][3]int64
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		for _, x := range row.Blocks {
			all[row.Path] = append(all[row.Path], fmt.Sprint(x[0]))
		}
	}
	return all
}

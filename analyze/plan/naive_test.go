package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fsweep/analyze/cleanup"
	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
)

// naive is the tree of an image by path, and what a person would work out from it.
type naive struct {
	nodes map[string]*imagetest.Node
	paths []string // sorted
}

func newNaive(it *imagetest.Tree) *naive {
	n := &naive{nodes: map[string]*imagetest.Node{}}
	var walk func(prefix string, d *imagetest.Node)
	walk = func(prefix string, d *imagetest.Node) {
		for _, c := range d.Children {
			path := prefix + "/" + c.Name
			n.nodes[path] = c
			n.paths = append(n.paths, path)
			walk(path, c)
		}
	}
	n.nodes["/"] = it.Root
	walk("", it.Root)
	slices.Sort(n.paths)
	return n
}

// subtree gives a path and all below it.
func (n *naive) subtree(top string) (paths []string) {
	for _, p := range n.paths {
		if p == top || top == "/" || strings.HasPrefix(p, top+"/") {
			paths = append(paths, p)
		}
	}
	return paths
}

func length(n *imagetest.Node) (sum int64) {
	for _, b := range n.Blocks {
		sum += int64(b.Bytes)
	}
	return sum
}

func (n *naive) totals(top string) (t planfile.Totals) {
	for _, p := range n.subtree(top) {
		switch c := n.nodes[p]; c.Kind {
		case imagetest.Directory:
			t.Directories++
		case imagetest.File:
			t.Files++
			t.Length += length(c)
			t.Space += length(c) * int64(c.Replication)
		default:
			t.Symlinks++
		}
	}
	return t
}

func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }

// fingerprint follows the words of docs/format/plan.md.
func (n *naive) fingerprint(top string) (out planfile.TreeHash) {
	sum, count := new(big.Int), uint64(0)
	be := binary.BigEndian
	for _, p := range n.subtree(top) {
		c := n.nodes[p]
		b := []byte("fsweep.e1")
		b = be.AppendUint64(b, c.ID)
		b = be.AppendUint64(b, c.Parent.ID)
		kind := map[bool]byte{true: 2, false: 1}[c.Kind == imagetest.Directory]
		if c.Kind == imagetest.Symlink {
			kind = 3
		}
		b = append(b, kind)
		b = be.AppendUint64(b, uint64(length(c)))
		b = be.AppendUint64(b, uint64(c.MTimeMs))
		b = be.AppendUint32(b, uint32(len(c.Name)))
		h := sha256.Sum256(append(b, c.Name...))
		sum.Add(sum, new(big.Int).SetBytes(h[:]))
		count++
	}
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 256))
	b := be.AppendUint64([]byte("fsweep.f1"), n.nodes[top].ID)
	b = be.AppendUint64(b, count)
	b = append(b, sum.FillBytes(make([]byte, 32))...)
	return sha256.Sum256(b)
}

// spaceByType is what a file is charged, by the policy of the nearest that has one.
func (n *naive) spaceByType(path string) (t planfile.TypeSpace) {
	f := n.nodes[path]
	policy := f.Policy
	for d := f.Parent; d != nil && policy == 0; d = d.Parent {
		for _, x := range d.XAttrs {
			if x.Name == "hsm.block.storage.policy.id" {
				policy = uint32(x.Value[0])
			}
		}
	}
	one, others := length(f), length(f)*int64(f.Replication-1)
	switch policy {
	case 2:
		t.Archive = one + others
	case 5:
		t.Disk, t.Archive = one, others
	case 7:
		t.Disk = one + others
	case 10:
		t.SSD, t.Disk = one, others
	case 12:
		t.SSD = one + others
	}
	return t
}

// used is what a directory is charged without some subtrees.
func (n *naive) used(dir string, without map[string]bool) (e planfile.Effect) {
	gone := func(p string) bool {
		for ; p != "/"; p = parent(p) {
			if without[p] {
				return true
			}
		}
		return false
	}
	if dir == "/" {
		e.Inodes = 1
	}
	for _, p := range n.subtree(dir) {
		if gone(p) {
			continue
		}
		e.Inodes++
		if c := n.nodes[p]; c.Kind == imagetest.File {
			e.Space += length(c) * int64(c.Replication)
			e.Types = addTypes(e.Types, n.spaceByType(p))
		}
	}
	return e
}

// check compares a plan with the tree.
func (n *naive) check(t *testing.T, m *made) {
	t.Helper()
	n.checkItems(t, m)
	n.checkGuards(t, m)
	n.checkKnown(t, m)
	n.checkQuotas(t, m)
}

// wantedItems are the paths of items by the decision, and files of sweeps.
func (n *naive) wantedItems(m *made) map[string]*cleanup.Item {
	want := map[string]*cleanup.Item{}
	for _, list := range [][]*cleanup.Item{m.decision.Items, m.decision.Deferred} {
		for _, i := range list {
			want[string(i.Path)] = i
		}
	}
	for _, s := range m.decision.Sweeps {
		for _, p := range n.subtree(string(s.Path)) {
			f := n.nodes[p]
			if f.Kind == imagetest.File && f.MTimeMs > 0 && f.MTimeMs < s.BeforeMs && f.ATimeMs < s.BeforeMs && guardName(f.Name) == "" {
				want[p] = nil
			}
		}
	}
	return want
}

func guardName(name string) planfile.GuardKind {
	switch {
	case name == "_metadata":
		return planfile.GuardMetadata
	case strings.HasPrefix(name, "completedCheckpoint"), strings.HasPrefix(name, "submittedJobGraph"), strings.HasPrefix(name, "submittedExecutionPlan"), strings.HasPrefix(name, "submittedApplication"):
		return planfile.GuardHAPointer
	}
	return ""
}

func (n *naive) checkItems(t *testing.T, m *made) {
	t.Helper()
	want := n.wantedItems(m)
	for _, i := range m.plan.items {
		path := string(i.Path)
		decided, ok := want[path]
		if !ok {
			t.Errorf("item %q is not wanted", path)
			continue
		}
		delete(want, path)
		c := n.nodes[path]
		got := planfile.Item{InodeID: c.ID, ParentID: c.Parent.ID, Owner: planfile.Name(c.Owner), Group: planfile.Name(c.Group), MTimeMs: c.MTimeMs, Children: int64(len(c.Children))}
		if got.InodeID != i.InodeID || got.ParentID != i.ParentID || got.Owner != i.Owner || got.Group != i.Group || got.MTimeMs != i.MTimeMs || got.Children != i.Children {
			t.Errorf("%q: %+v, want %+v", path, i, got)
		}
		if entries := int64(len(n.subtree(path))); i.Entries != entries || i.Totals != n.totals(path) || i.Fingerprint != n.fingerprint(path) {
			t.Errorf("%q: %d entries, %+v, %v; want %d, %+v, %v", path, i.Entries, i.Totals, i.Fingerprint, entries, n.totals(path), n.fingerprint(path))
		}
		n.checkDirs(t, m, &i)
		n.checkFreed(t, m, &i)
		if decided != nil && (i.Deferred != "") != (len(decided.Deferred) > 0) {
			t.Errorf("%q: deferred %q, want %v", path, i.Deferred, decided.Deferred)
		}
		if decided != nil {
			w, ok := m.written[decided.Path]
			if !ok || w.Left || w.MTimeMs != i.MTimeMs || w.Entries != i.Entries || w.Totals != i.Totals || w.Deferred != i.Deferred || w.Freed != i.Freed {
				t.Errorf("%q: another item in the result", path)
			}
		}
	}
	for path := range want {
		t.Errorf("item %q is missing", path)
	}
}

func (n *naive) checkDirs(t *testing.T, m *made, i *planfile.Item) {
	t.Helper()
	var want []planfile.Directory
	for _, p := range n.subtree(string(i.Path)) {
		if c := n.nodes[p]; c.Kind == imagetest.Directory && p != string(i.Path) {
			want = append(want, planfile.Directory{Path: planfile.Name(p[len(i.Path)+1:]), InodeID: c.ID, MTimeMs: c.MTimeMs, Children: int64(len(c.Children))})
		}
	}
	slices.SortFunc(want, func(a, b planfile.Directory) int { return cmp.Compare(a.Path, b.Path) })
	if diff := gocmp.Diff(want, m.plan.dirs[i.InodeID], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("directories of %q: %s", i.Path, diff)
	}
}

func (n *naive) checkFreed(t *testing.T, m *made, i *planfile.Item) {
	t.Helper()
	want := planfile.Freed{AfterTrash: i.Totals.Space}
	switch {
	case m.plan.Removal == planfile.RemovalQuarantine:
		want = planfile.Freed{} // nobody empties it
	case snapshotAbove(m, string(i.Path)):
		want = planfile.Freed{HeldBySnapshots: i.Totals.Space}
	}
	if i.Freed != want {
		t.Errorf("%q: freed %+v, want %+v", i.Path, i.Freed, want)
	}
}

// snapshotAbove asks the tree, which other tests compare with NameNodes.
func snapshotAbove(m *made, path string) bool {
	for _, s := range m.tree.Snapshottable() {
		dir := string(m.tree.AppendPath(nil, s.Dir))
		if strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") && len(s.Snapshots) > 0 {
			return true
		}
	}
	return false
}

func (n *naive) checkGuards(t *testing.T, m *made) {
	t.Helper()
	var want []planfile.Guard
	for _, p := range n.paths {
		c := n.nodes[p]
		kind := guardName(c.Name)
		if c.Kind != imagetest.File || kind == "" {
			continue
		}
		g := planfile.Guard{Kind: kind, Path: planfile.Path(p), InodeID: c.ID, Length: length(c), MTimeMs: c.MTimeMs, Owner: planfile.Name(c.Owner)}
		for _, r := range m.plan.Roots {
			if strings.HasPrefix(p, string(r.Path)+"/") && len(r.Path) > len(g.Root) {
				g.Root = r.Path
			}
		}
		for _, i := range m.plan.items {
			if strings.HasPrefix(p, string(i.Path)+"/") {
				g.Item = i.InodeID
			}
		}
		want = append(want, g)
	}
	if diff := gocmp.Diff(want, m.plan.guards, cmpopts.EquateEmpty()); diff != "" {
		t.Error("guards: ", diff)
	}
}

// checkKnown: each directory of the first level is known, those of the second where
// there are jobs, and nothing else but files that the policy ignores.
func (n *naive) checkKnown(t *testing.T, m *made) {
	t.Helper()
	got := map[string]planfile.Known{}
	for _, k := range m.plan.known {
		got[string(k.Path)] = k
	}
	for _, p := range n.paths {
		root := ""
		for _, r := range m.plan.Roots {
			if strings.HasPrefix(p, string(r.Path)+"/") && len(r.Path) > len(root) {
				root = string(r.Path)
			}
		}
		if root == "" {
			continue
		}
		i := slices.IndexFunc(m.plan.Roots, func(r planfile.Root) bool { return string(r.Path) == root })
		r, c := m.plan.Roots[i], n.nodes[p]
		names := strings.Split(p[len(root)+1:], "/")
		jobs := r.Layout == planfile.LayoutJobRun || r.Layout == planfile.LayoutSavepoints
		want := c.Kind == imagetest.Directory && (len(names) == 1 || len(names) == 2 && jobs)
		if c.Name == "README" && len(names) == 1 && len(r.Stopped) == 0 {
			want = true
		}
		k, ok := got[p]
		delete(got, p)
		if ok != want || ok && (k.InodeID != c.ID || string(k.Root) != root) {
			t.Errorf("known %q: %v, want %v: %+v", p, ok, want, k)
		}
		if !ok {
			continue
		}
		kind := planfile.KnownEntry
		switch excluded := len(names) > 1 && (names[0] == "inner" || names[0] == "left"); {
		case jobs && len(names) == 1 && c.Kind == imagetest.Directory && !strings.HasPrefix(names[0], "savepoint-") && names[0] != "chk-1":
			kind = planfile.KnownJob
		case r.Layout == planfile.LayoutSavepoints:
			kind = planfile.KnownSavepoint
		case r.Layout == planfile.LayoutJobRun && len(names) == 2 && !excluded, r.Layout == planfile.LayoutRun:
			kind = planfile.KnownRun
		case r.Layout == planfile.LayoutHAStorage:
			kind = planfile.KnownCluster
		}
		if k.Kind != kind {
			t.Errorf("known %q is a %s, want %s", p, k.Kind, kind)
		}
	}
	for p := range got {
		t.Errorf("known %q, but nothing is there", p)
	}
}

// checkQuotas: before and after are what the tree with and without the items is
// charged. Directories in which the trash can be are not promised anything.
func (n *naive) checkQuotas(t *testing.T, m *made) {
	t.Helper()
	if m.plan.Removal == planfile.RemovalQuarantine {
		return // see TestQuarantine
	}
	moved := map[string]map[string]bool{} // by directory that gains; false: deferred
	for _, i := range m.plan.items {
		if snapshotAbove(m, string(i.Path)) {
			continue
		}
		for d := parent(string(i.Path)); d != "/" && parent(d) != "/user" && !n.isZone(d); d = parent(d) {
			if moved[d] == nil {
				moved[d] = map[string]bool{}
			}
			moved[d][string(i.Path)] = i.Deferred == ""
		}
	}
	got := map[string]planfile.Quota{}
	for _, q := range m.plan.quotas {
		got[string(q.Path)] = q
	}
	for path, c := range n.nodes {
		limited := c.NSQuota > 0 && c.NSQuota != imagetest.RootQuota || c.DSQuota > 0 || len(c.TypeQuotas) > 0
		want := limited && moved[path] != nil && c.Kind == imagetest.Directory
		q, ok := got[path]
		if ok != want {
			t.Errorf("quota line of %q: %v, want %v", path, ok, want)
		}
		if !ok {
			continue
		}
		before, after := n.used(path, nil), n.used(path, moved[path])
		for _, v := range [][2]any{{before.Inodes, q.NSBefore}, {after.Inodes, q.NSAfter}, {before.Space, q.DSBefore}, {after.Space, q.DSAfter}, {before.Types, q.TypesBefore}, {after.Types, q.TypesAfter}} {
			if v[0] != v[1] {
				t.Errorf("quota of %q: %v, want %v; %+v", path, v[1], v[0], q)
			}
		}
	}
}

func (n *naive) isZone(path string) bool {
	return slices.ContainsFunc(n.nodes[path].XAttrs, func(x imagetest.XAttr) bool { return strings.Contains(x.Name, "encryption.zone") })
}

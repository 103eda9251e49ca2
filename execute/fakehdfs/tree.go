package fakehdfs

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"fsweep/execute"
)

// rootID is the id of / on every NameNode; the first inode below it gets the next.
const rootID = 16385

// inode is one object of the namespace. One that belongs to another revision than the
// tree's is shared with a clone or a snapshot and is never written to.
type inode struct {
	rev          *revision
	id, parent   uint64
	name         string
	kind         execute.Kind
	owner, group string
	perm         uint16
	mtime, atime int64
	acl          bool
	xattrs       []execute.XAttr

	content    []byte // of a file; the target of a symlink
	open       bool
	ec         bool // a file's own; a directory's policy, which what is below inherits
	repl       uint32
	unreadable string

	children      []child // in the order of their names
	nsQuota       int64   // -1: none
	dsQuota       int64
	zone          bool // root of an encryption zone
	snapshottable bool
	snapshots     []*snapshot
}

type child struct {
	name string
	id   uint64
}

// revision is an identity; two of them must not have the same address.
type revision struct{ _ byte }

// snapshot holds what stood below a directory, as shared inodes.
type snapshot struct {
	name   string
	root   uint64
	inodes map[uint64]*inode
}

// held is a deleted inode that a snapshot still knows: the NameNode keeps its recorded
// path, or loses it if the inode had been moved first.
type held struct {
	parent uint64
	name   string
	moved  bool
}

type tree struct {
	rev    *revision
	inodes map[uint64]*inode
	held   map[uint64]held
	last   uint64
}

func newTree(now int64) *tree {
	t := &tree{rev: new(revision), inodes: make(map[uint64]*inode), held: make(map[uint64]held), last: rootID}
	t.inodes[rootID] = &inode{
		rev: t.rev, id: rootID, kind: execute.Directory, owner: superuser, group: supergroup, perm: 0o755, mtime: now,
		nsQuota: -1, dsQuota: -1,
	}
	return t
}

// clone shares all inodes, and makes both sides copy what they change.
func (t *tree) clone() *tree {
	t.rev = new(revision)
	return &tree{rev: new(revision), inodes: maps.Clone(t.inodes), held: maps.Clone(t.held), last: t.last}
}

// mut gives an inode to write to.
func (t *tree) mut(id uint64) *inode {
	n := t.inodes[id]
	if n.rev == t.rev {
		return n
	}
	c := *n
	c.rev = t.rev
	c.children = slices.Clone(n.children)
	c.xattrs = slices.Clone(n.xattrs)
	c.snapshots = slices.Clone(n.snapshots)
	t.inodes[id] = &c
	return &c
}

func (n *inode) find(name string) (int, bool) {
	return slices.BinarySearchFunc(n.children, name, func(c child, name string) int { return order(c.name, name) })
}

// order compares names as NameNodes do, byte by byte as signed numbers.
func order(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return cmp.Compare(int8(a[i]), int8(b[i]))
		}
	}
	return cmp.Compare(len(a), len(b))
}

// child gives the id of an entry, 0 if there is none.
func (n *inode) child(name string) uint64 {
	if i, ok := n.find(name); ok {
		return n.children[i].id
	}
	return 0
}

// attach puts an inode without parent into a directory; the directory's mtime moves.
func (t *tree) attach(id, parent uint64, name string, now int64) {
	n, p := t.mut(id), t.mut(parent)
	n.parent, n.name = parent, name
	i, _ := p.find(name)
	p.children = slices.Insert(p.children, i, child{name, id})
	p.mtime = now
}

// detach takes an inode out of its directory; the directory's mtime moves.
func (t *tree) detach(id uint64, now int64) {
	n := t.inodes[id]
	p := t.mut(n.parent)
	if i, ok := p.find(n.name); ok {
		p.children = slices.Delete(p.children, i, i+1)
	}
	p.mtime = now
}

// add makes a new inode; the group is the directory's, as on HDFS.
func (t *tree) add(parent uint64, name string, kind execute.Kind, owner string, perm uint16, now int64) *inode {
	t.last++
	n := &inode{
		rev: t.rev, id: t.last, kind: kind, owner: owner, group: t.inodes[parent].group, perm: perm, mtime: now,
		nsQuota: -1, dsQuota: -1,
	}
	if kind != execute.Directory {
		n.atime = now
	}
	if kind == execute.File {
		n.repl = 1
	}
	t.inodes[n.id] = n
	t.attach(n.id, parent, name, now)
	return n
}

// path gives the path of a live inode.
func (t *tree) path(id uint64) string {
	if id == rootID {
		return "/"
	}
	var names []string
	for ; id != rootID; id = t.inodes[id].parent {
		names = append(names, t.inodes[id].name)
	}
	slices.Reverse(names)
	return "/" + strings.Join(names, "/")
}

// walk calls f with an inode and all below it, parents first; look gives inodes.
func walk(look func(uint64) *inode, id uint64, f func(*inode)) {
	todo := []uint64{id}
	for len(todo) > 0 {
		n := look(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		f(n)
		for _, c := range n.children {
			todo = append(todo, c.id)
		}
	}
}

func (t *tree) look(id uint64) *inode { return t.inodes[id] }

// above calls f with an inode and all above it until it answers false.
func (t *tree) above(id uint64, f func(*inode) bool) {
	for {
		n := t.inodes[id]
		if !f(n) || id == rootID {
			return
		}
		id = n.parent
	}
}

// below tells whether an inode is another or lies below it.
func (t *tree) below(id, dir uint64) bool {
	found := false
	t.above(id, func(n *inode) bool {
		found = n.id == dir
		return !found
	})
	return found
}

// remove deletes a subtree. What a snapshot knows stays as held.
func (t *tree) remove(id uint64, now int64) {
	var all []*inode
	walk(t.look, id, func(n *inode) { all = append(all, n) })
	roots := t.snapshotted()
	for _, n := range all {
		if s := knownBy(roots, n.id); s != nil && n.kind != execute.Symlink { // NameNodes forget symlinks
			was := s.inodes[n.id]
			moved := was.parent != n.parent || was.name != n.name
			t.held[n.id] = held{parent: was.parent, name: was.name, moved: moved}
		}
	}
	t.detach(id, now)
	for _, n := range all {
		delete(t.inodes, n.id)
	}
}

// knownBy gives the newest snapshot that knows an inode below its root.
func knownBy(roots []*inode, id uint64) *snapshot {
	for _, n := range roots {
		for _, s := range slices.Backward(n.snapshots) {
			if _, ok := s.inodes[id]; ok && id != s.root {
				return s
			}
		}
	}
	return nil
}

// snapshotted gives the directories that have snapshots, by id.
func (t *tree) snapshotted() []*inode {
	var all []*inode
	for _, n := range t.inodes {
		if len(n.snapshots) > 0 {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *inode) int { return cmp.Compare(a.id, b.id) })
	return all
}

// snapshot keeps what stands below a directory; the directory's mtime moves.
func (t *tree) snapshot(dir uint64, name string, now int64) {
	n := t.mut(dir)
	n.mtime = now
	s := &snapshot{name: name, root: dir, inodes: make(map[uint64]*inode)}
	walk(t.look, dir, func(n *inode) { s.inodes[n.id] = n })
	t.rev = new(revision)
	n = t.mut(dir)
	n.snapshots = append(n.snapshots, s)
}

func (t *tree) dropSnapshot(dir uint64, name string, now int64) bool {
	n := t.mut(dir)
	before := len(n.snapshots)
	n.snapshots = slices.DeleteFunc(n.snapshots, func(s *snapshot) bool { return s.name == name })
	n.mtime = now
	roots := t.snapshotted()
	for id := range t.held {
		if knownBy(roots, id) == nil {
			delete(t.held, id)
		}
	}
	return len(n.snapshots) < before
}

// sums counts a subtree as NameNodes do: what stands there and what only snapshots
// still have there, deleted or, if movedOut is set, moved out.
func (t *tree) sums(dir uint64, movedOut bool) execute.Summary {
	var sum execute.Summary
	add := func(n *inode) {
		if n.kind == execute.Directory {
			sum.Directories++
			return
		}
		sum.Files++
		if n.kind == execute.File {
			sum.Length += int64(len(n.content))
			sum.Space += n.space()
		}
	}
	walk(t.look, dir, add)
	seen := make(map[uint64]bool)
	for _, root := range t.snapshotted() {
		for _, s := range slices.Backward(root.snapshots) {
			for id, n := range s.inodes {
				live := t.inodes[id] != nil && t.below(id, dir)
				if live || seen[id] || id == dir || !s.below(id, dir, t) || !movedOut && s.left(id, t) {
					continue
				}
				seen[id] = true
				add(n)
			}
		}
	}
	return sum
}

// below tells whether an inode stood below a directory when the snapshot was taken, or
// was deleted from a directory that stands there now.
func (s *snapshot) below(id, dir uint64, t *tree) bool {
	gone := t.inodes[id] == nil
	for id != s.root {
		if id = s.inodes[id].parent; id == dir || gone && t.inodes[id] != nil && t.below(id, dir) {
			return true
		}
		gone = gone && t.inodes[id] == nil
	}
	return t.inodes[s.root] != nil && t.below(s.root, dir)
}

// left tells whether an inode, or one above it, lives outside of the snapshot's directory.
func (s *snapshot) left(id uint64, t *tree) bool {
	for ; id != s.root; id = s.inodes[id].parent {
		if t.inodes[id] != nil && !t.below(id, s.root) {
			return true
		}
	}
	return false
}

// space is what a file takes on disk: all replicas, or the parity cells of RS-3-2.
func (n *inode) space() int64 {
	size := int64(len(n.content))
	if !n.ec {
		return size * int64(n.repl)
	}
	const cell = 1 << 20
	stripes := (size + 3*cell - 1) / (3 * cell)
	parity := min(size, cell)
	if stripes > 1 {
		last := size - (stripes-1)*3*cell
		parity = (stripes-1)*cell + min(last, cell)
	}
	return size + 2*parity
}

// inZone gives the root of the encryption zone of an inode, 0 if there is none.
func (t *tree) inZone(id uint64) uint64 {
	var root uint64
	t.above(id, func(n *inode) bool {
		if n.zone {
			root = n.id
		}
		return root == 0
	})
	return root
}

// codedAt tells whether a directory has a policy of erasure coding or inherits one.
func (t *tree) codedAt(id uint64) bool {
	coded := false
	t.above(id, func(n *inode) bool {
		coded = coded || n.ec
		return !coded
	})
	return coded
}

package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fsweep/fsimage"
)

// emptyDir is the record of a directory without children; they become
// directories of the tree when the pass is over and their number is known.
type emptyDir struct {
	id         uint64
	permission fsimage.Permission
	mtime      int64
	parent     Dir
	name       uint32
	quota      int32 // index + 1 in scanner.emptyQuotas
	attr       attributes
}

// scanner is one goroutine of the pass over INODE, with sums of its own.
type scanner struct {
	l           *loader
	record      fsimage.INode // the one at hand
	file        file          // of record, if it is one
	ids, dirs   rankCache
	seen        seenSet // by rank
	observe     Observer
	names       nameWriter
	slots       []slot
	types       map[Dir]*TypeSpace // of files with a storage policy of their own
	own         map[ownPolicyKey]*FileTotals
	empty       [][]emptyDir
	emptyQuotas []Quota
	quotas      map[Dir]Quota
	open        []OpenFile
	kept        keptINodes
	ecIDs       map[string]uint16
	newest      int64
	counts      problemCounts
}

// slot collects the sums of one directory until another one needs the slot.
// Files of one directory mostly lie close together in an image, so few sums go
// to the shared column each on its own.
type slot struct {
	dir Dir
	sums
	striped FileTotals // of its files, those with a storage policy of their own not
	state   uint8
}

const numSlots = 1 << 11

func (s *scanner) init(l *loader, worker int, seen seenSet) {
	*s = scanner{
		l: l, ids: rankCache{set: l.ids}, dirs: rankCache{set: l.dirSet}, seen: seen, names: nameWriter{to: &l.names}, slots: make([]slot, numSlots), types: map[Dir]*TypeSpace{}, own: map[ownPolicyKey]*FileTotals{},
		quotas: map[Dir]Quota{}, ecIDs: map[string]uint16{},
	}
	for i := range s.slots {
		s.slots[i].dir = NoDir
	}
	if l.o.Observe != nil {
		s.observe = l.o.Observe(worker)
	}
}

// readINodes is the pass over INODE.
func (l *loader) readINodes(ctx context.Context) error {
	scanners := make([]*scanner, l.o.Workers)
	sets := newSeenSets(l.o.Workers, l.ids.len)
	for i := range scanners {
		apart := &fsimage.Apart[scanner]{}
		scanners[i] = &apart.V
		scanners[i].init(l, i, sets[i])
	}
	announced, seen, err := l.im.INodes(ctx, l.o.Workers, func(w int, b *fsimage.Batch) error {
		var err error
		if s := scanners[w]; l.o.NoSums {
			err = b.SomeINodes(&s.record, s.skip, s.inode)
		} else {
			err = b.INodes(&s.record, s.inode)
		}
		l.report(b.Len())
		return err
	})
	if err != nil {
		return err
	}
	if l.names.full {
		l.tooMany = "names of directories"
	}
	if l.tooMany != "" {
		return fmt.Errorf("%w: section %s: too many %s", fsimage.ErrUnsupported, fsimage.SectionINode, l.tooMany)
	}
	l.created = nil
	l.counts.announced, l.counts.records = announced, seen
	all, repeated := joined(sets)
	l.seen = all
	l.counts.duplicate += int64(repeated) // Load reads it again then
	for _, s := range scanners {
		s.flush()
		l.kept.chunks = append(l.kept.chunks, s.kept.chunks...)
	}
	l.counts.duplicate += l.kept.sort()
	for _, s := range scanners {
		l.merge(s)
	}
	return nil
}

// skip takes down all of a file that a tree without sums needs; false if that is
// not enough.
func (s *scanner) skip(id uint64, name []byte) bool {
	l := s.l
	if l.keep.has(id) {
		return false
	}
	r, ok := s.ids.rank(id)
	if !ok {
		s.homeless(id, false)
		return true
	}
	if s.seen.add(r) {
		s.counts.duplicate++
	} else if p := l.parentOf[r]; p != NoDir && l.badName(p, name) && l.Live(p) {
		s.counts.badNames.add(id)
	}
	return true
}

func (s *scanner) inode(n *fsimage.INode) error {
	if len(n.Name) > maxNameLen {
		return fmt.Errorf("%w: inode %d has a name of %d bytes", fsimage.ErrCorrupt, n.ID, len(n.Name))
	}
	parent := NoDir
	if n.ID == rootID && n.Type != fsimage.DirectoryType {
		s.counts.duplicate++ // if it is not, there is no root, and rollUp says so
		return nil
	}
	if r, ok := s.ids.rank(n.ID); ok {
		if s.seen.add(r) {
			s.counts.duplicate++
			return nil
		}
		parent = s.l.parentOf[r]
	}
	switch n.Type {
	case fsimage.DirectoryType:
		s.directory(n, parent)
	case fsimage.FileType:
		s.addFile(n, parent)
	case fsimage.SymlinkType:
		s.symlink(n, parent)
	}
	return nil
}

func (s *scanner) symlink(n *fsimage.INode, parent Dir) {
	s.newest = max(s.newest, int64(n.Symlink.MTimeMs), int64(n.Symlink.ATimeMs))
	keeps := s.keeps(n, parent)
	if keeps {
		s.keep(n, parent, s.names.add(n.Name))
	}
	if parent == NoDir {
		s.homeless(n.ID, keeps)
		return
	}
	c := s.slot(parent)
	c.symlinks++
	s.live(n, parent, c.state, FileSums{})
}

// homeless takes down an inode that is in no directory, which is right only for
// what snapshots hold.
func (s *scanner) homeless(id uint64, kept bool) {
	if !kept {
		s.counts.unreachable.add(id)
	}
}

func (s *scanner) addFile(n *fsimage.INode, parent Dir) {
	l, f := s.l, &s.file
	l.setFile(f, &n.File)
	s.newest = max(s.newest, int64(n.File.MTimeMs), int64(n.File.ATimeMs))
	var c *slot
	keeps := l.keep.has(n.ID)
	if parent != NoDir {
		c = s.slot(parent)
		keeps = keeps || s.created(n, parent, c.state)
	}
	if keeps {
		s.keep(n, parent, s.names.add(n.Name)).file = s.kept.addFile(*f)
	}
	if parent == NoDir {
		s.homeless(n.ID, keeps)
		return
	}
	sum, one := f.sums()
	// About what it takes, to notice sums that wrap around: all of them are parts
	// of the sum over all files.
	s.counts.bytes += f.size()
	if f.striped && f.ec.name == "" {
		s.counts.unknownEC.add(n.ID)
	}
	if keeps {
		if ds := l.snaps.files.of(n.ID); len(ds) > 0 {
			// Its sums need its diffs and are added when the pass is over.
			v := f.vecWithDiffs(ds, c.state&stateLive == 0)
			s.live(n, parent, c.state, FileSums{v.length, v.space})
			return
		}
	}
	c.files++
	c.length += sum.Length
	c.space += sum.Space
	if f.policy != unspecified {
		addOwnPolicy(s.own, parent, f, FileTotals{1, sum.Length, sum.Space})
	} else if f.striped {
		c.striped.add(FileTotals{1, sum.Length, sum.Space})
	}
	switch {
	case f.striped || f.replication <= 0:
	case f.policy == unspecified:
		c.one += one
		c.all += sum.Space
	default:
		s.ownPolicy(parent, f, one)
	}
	s.live(n, parent, c.state, sum)
}

func (s *scanner) ownPolicy(d Dir, f *file, one int64) {
	t := s.types[d]
	if t == nil {
		t = new(TypeSpace)
		s.types[d] = t
	}
	spread(t, f.policy, one, one*f.replication)
}

// live hands a live inode on and counts what is wrong with it.
func (s *scanner) live(n *fsimage.INode, parent Dir, state uint8, sum FileSums) {
	if state&stateLive == 0 {
		return
	}
	if s.l.badName(parent, n.Name) {
		s.counts.badNames.add(n.ID)
	}
	if n.Type == fsimage.FileType && n.File.UnderConstruction {
		s.open = append(s.open, OpenFile{
			parent, slices.Clone(n.Name), n.ID, sum.Length, int64(n.File.MTimeMs),
			string(n.File.UC.ClientName), string(n.File.UC.ClientMachine),
		})
	}
	if s.observe != nil {
		s.observe(parent, n, sum)
	}
}

// keeps tells whether snapshots touch an inode: by its id, or because the diffs
// of its directory name it.
func (s *scanner) keeps(n *fsimage.INode, parent Dir) bool {
	return s.l.keep.has(n.ID) || parent != NoDir && len(s.l.created) > 0 && s.created(n, parent, s.slot(parent).state)
}

// created tells whether the diffs of the parent, which is in a state, name the inode.
func (s *scanner) created(n *fsimage.INode, parent Dir, state uint8) bool {
	if state&stateCreated == 0 {
		return false
	}
	_, ok := slices.BinarySearchFunc(s.l.created[parent], n.Name, func(a string, b []byte) int { return strings.Compare(a, string(b)) })
	return ok
}

func (s *scanner) keep(n *fsimage.INode, parent Dir, name uint32) *keptINode {
	return s.kept.add(keptINode{id: n.ID, name: name, parent: parent, dir: NoDir, typ: n.Type})
}

// slot finds the sums of a directory.
func (s *scanner) slot(d Dir) *slot {
	c := &s.slots[d%numSlots]
	if c.dir != d {
		s.evict(c)
		*c = slot{dir: d, state: *s.l.state.at(d)}
	}
	return c
}

func (s *scanner) evict(c *slot) {
	if c.dir == NoDir {
		return
	}
	mu := &s.l.locks[c.dir>>6%64]
	mu.Lock()
	to := s.l.sums.at(c.dir)
	to.length += c.length
	to.space += c.space
	to.one += c.one
	to.all += c.all
	to.files += c.files
	to.symlinks += c.symlinks
	mu.Unlock()
	if c.striped.Files > 0 {
		s.l.mu.Lock()
		s.l.striped.at(c.dir).add(c.striped)
		s.l.mu.Unlock()
	}
}

func (s *scanner) flush() {
	for i := range s.slots {
		s.evict(&s.slots[i])
		s.slots[i].dir = NoDir
	}
}

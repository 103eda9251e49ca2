package namespace

import (
	"fmt"
	"maps"
	"slices"

	"fsweep/fsimage"
)

// linkDirs finds the parents of the directories that have children, puts them
// in an order in which each comes before those above it, and marks those that
// the root leads to. Directories in a circle lose their parent.
func (l *loader) linkDirs() error {
	n := l.dirSet.len
	l.dirSeen = newBitSet(n)
	l.ecName = []string{""}
	l.root = NoDir
	pending := make([]uint32, n)
	for d := range Dir(n) {
		id := l.ID(d)
		if id == rootID {
			l.root = d
			continue
		}
		if r, ok := l.ids.rank(id); ok {
			if p := l.parentOf[r]; p != NoDir {
				*l.parent.at(d) = p
				pending[p]++
			}
		}
	}
	l.order = make([]Dir, 0, n)
	for d := range Dir(n) {
		l.release(d, pending)
	}
	if len(l.order) < n {
		l.cutCircles(pending)
	}
	return l.markLive()
}

// release appends d and then every directory above it whose children are all in
// the order by now. A directory leaves with pending one below zero.
func (l *loader) release(d Dir, pending []uint32) {
	const done = ^uint32(0)
	for d != NoDir && pending[d] == 0 {
		pending[d] = done
		l.order = append(l.order, d)
		p := l.Parent(d)
		if p != NoDir {
			pending[p]--
		}
		d = p
	}
}

// cutCircles separates the directories that are their own ancestors: those that
// release could not reach.
func (l *loader) cutCircles(pending []uint32) {
	var circle []Dir
	l.circle = map[Dir]bool{}
	for d, p := range pending {
		if p != ^uint32(0) {
			circle = append(circle, Dir(d))
			l.circle[Dir(d)] = true
			l.counts.circles.add(l.ID(Dir(d)))
		}
	}
	for _, d := range circle {
		r, _ := l.ids.rank(l.ID(d))
		*l.childCount.at(l.Parent(d))--
		l.parentOf[r] = NoDir
		*l.parent.at(d) = NoDir
		l.order = append(l.order, d)
	}
}

// markLive fills the column state.
func (l *loader) markLive() error {
	depth := make([]uint16, l.dirSet.len)
	for _, d := range slices.Backward(l.order) {
		p := l.Parent(d)
		if d == l.root || p != NoDir && *l.state.at(p)&stateLive != 0 {
			*l.state.at(d) = stateLive
		}
		if p == NoDir {
			continue
		}
		if depth[d] = depth[p] + 1; depth[d] > maxDepth {
			return fmt.Errorf("%w: section %s: inode %d: %w (more than %d levels)", fsimage.ErrCorrupt, fsimage.SectionDirectory, l.ID(d), errDeep, maxDepth)
		}
	}
	for id, ds := range l.snaps.dirs.each() {
		if r, ok := l.dirSet.rank(id); ok {
			if m := createdNames(ds); len(m) > 0 {
				l.created[Dir(r)] = m
				*l.state.at(Dir(r)) |= stateCreated
			}
		}
	}
	return nil
}

// merge adds what one goroutine of the pass over INODE found to the tree.
func (l *loader) merge(s *scanner) {
	if l.quotas == nil {
		l.quotas = map[Dir]Quota{}
	}
	maps.Copy(l.quotas, s.quotas)
	l.open = append(l.open, s.open...)
	l.newestMs = max(l.newestMs, s.newest)
	l.counts.merge(&s.counts)
	for k, t := range s.own {
		if l.ownPolicy[k] == nil {
			l.ownPolicy[k] = new(FileTotals)
		}
		l.ownPolicy[k].add(*t)
	}
	if len(s.types) > 0 {
		l.needTypes()
	}
	for i, chunk := range s.empty {
		for j := range chunk {
			l.addEmpty(&chunk[j], s)
		}
		s.empty[i] = nil
	}
	for d, t := range s.types {
		for i, v := range t {
			l.types.at(d)[i] += v
		}
	}
}

// addEmpty makes a directory of the record of one without children.
func (l *loader) addEmpty(rec *emptyDir, s *scanner) {
	d := Dir(l.numDirs)
	l.setNumDirs(l.numDirs + 1)
	*l.id.at(d), *l.parent.at(d), *l.name.at(d) = rec.id, rec.parent, rec.name
	*l.permission.at(d), *l.mtime.at(d), *l.attr.at(d) = rec.permission, rec.mtime, rec.attr
	if rec.id == rootID {
		l.root = d
	}
	if d == l.root || rec.parent != NoDir && *l.state.at(rec.parent)&stateLive != 0 {
		*l.state.at(d) = stateLive
	}
	if rec.quota > 0 {
		l.quotas[d] = s.emptyQuotas[rec.quota-1]
	}
	if k := l.kept.get(rec.id); k != nil {
		k.dir = d
	}
}

// needTypes makes room for space by storage type, which most images have no use
// for.
func (l *loader) needTypes() {
	if l.types == nil {
		l.types = &column[TypeSpace]{}
	}
	l.types.grow(l.numDirs)
}

// dirOf finds a directory by inode id.
func (t *Tree) dirOf(id uint64) Dir {
	if r, ok := t.dirSet.rank(id); ok {
		return Dir(r)
	}
	if k := t.kept.get(id); k != nil && k.dir != NoDir {
		return k.dir
	}
	t.empty.Do(t.indexEmpty)
	if r, ok := t.emptySet.rank(id); ok {
		return t.emptyDir[r]
	}
	return NoDir
}

// indexEmpty makes directories without children findable by id. Few uses of a
// tree need that.
func (t *Tree) indexEmpty() {
	b := newIDBuilder()
	for d := Dir(t.dirSet.len); d < Dir(t.numDirs); d++ {
		b.add(t.ID(d))
	}
	t.emptySet = newIDSet(b)
	t.emptyDir = make([]Dir, t.emptySet.len)
	for d := Dir(t.dirSet.len); d < Dir(t.numDirs); d++ {
		r, _ := t.emptySet.rank(t.ID(d))
		t.emptyDir[r] = d
	}
}

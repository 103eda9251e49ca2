package namespace

import (
	"cmp"
	"slices"
	"strings"
)

// shown knows which live inodes can be reached through snapshots as well. Only
// directories that have diffs, that references lead to, or that are above such
// ones differ from what is around them; all others are as the nearest one above
// them that is in places. shown does not change once it is made.
type shown struct {
	held                         // what asOf needs of it
	named  map[uint64]snapshotID // the newest snapshot that a WithName reference to an inode names
	dst    map[uint64]snapshotID // of inodes that a DstReference leads to; see reference
	places map[Dir]place         // live directories

	undeletable map[Dir]bool // directories above erasure coded files that were renamed
}

// snapshotID is the id of a snapshot, or none. Later snapshots have larger ids,
// whatever directory they are of.
type snapshotID int64

const none snapshotID = -1

// currentState is Snapshot.CURRENT_STATE_ID: in a reference it means that there
// was no snapshot of the new place.
const currentState snapshotID = 1<<31 - 2

// place is a directory with regard to snapshots.
type place struct {
	newest snapshotID // newest one that shows the directory, here or under an old name

	// What the NameNode finds on its way down a path: the snapshot in which it would
	// record a change of a child, and from when on the path led here, which is none
	// if it always did. The child is in that snapshot if it came after both.
	latest, since snapshotID

	created []createdChild // by name
}

// createdChild says that a child was created, or renamed to here, after a
// snapshot.
type createdChild struct {
	name  string
	after snapshotID
}

// snapshots gives what is known; the first call makes it.
func (t *Tree) snapshots() *shown {
	t.shownOnce.Do(func() { t.shown = newShown(t) })
	return t.shown
}

func newShown(t *Tree) *shown {
	s := &shown{
		held:  *newHeld(&loader{Tree: t}),
		named: map[uint64]snapshotID{}, dst: map[uint64]snapshotID{}, places: map[Dir]place{}, undeletable: map[Dir]bool{},
	}
	s.kept = t.kept.byParent()
	for _, id := range t.snaps.dirs.ids.all() {
		s.touchID(id)
	}
	for _, id := range t.snaps.roots.ids.all() {
		s.touchID(id)
	}
	for i := range t.snaps.refs {
		r := &t.snaps.refs[i]
		s.touchID(r.id)
		if !r.withName {
			s.dst[r.id] = snapshotID(r.dst)
		} else if newest, ok := s.named[r.id]; !ok || snapshotID(r.last) > newest {
			s.named[r.id] = snapshotID(r.last)
		}
	}
	for _, k := range s.kept {
		if len(t.snaps.files.of(k.id)) > 0 {
			s.touch(k.parent)
		}
	}
	for id := range s.dst {
		if k := t.kept.get(id); k != nil && k.file != nil && k.file.striped {
			for d := k.parent; d != NoDir && !s.undeletable[d]; d = t.Parent(d) {
				s.undeletable[d] = true
			}
		}
	}
	s.put(t.root, place{newest: none, latest: none, since: none})
	return s
}

// touchID notes the way down to a directory, or to that of a file.
func (s *shown) touchID(id uint64) {
	if d := s.dirOf(id); d != NoDir {
		s.touch(d)
	} else if k := s.Tree.kept.get(id); k != nil {
		s.touch(k.parent)
	}
}

// put finds the places of d, which is in up, and of all below it.
func (s *shown) put(d Dir, up place) {
	if !s.seenDir.has(uint32(d)) {
		return
	}
	id := s.ID(d)
	p := up.child(s.Name(d))
	p.newest = max(p.newest, s.own(id, newestDiff(s.snaps.dirs.of(id))))
	for _, x := range s.snaps.roots.of(id) {
		p.newest = max(p.newest, snapshotID(x.ID))
	}
	p.latest = s.latest(id, up)
	if dst, renamed := s.dst[id]; renamed {
		p.since = none // the NameNode looks no further up
		if p.latest = up.latest; p.latest == none || dst != currentState && dst >= p.latest {
			p.latest = newestDiff(s.snaps.dirs.of(id))
		}
	}
	p.created = createdChildren(s.snaps.dirs.of(id))
	s.places[d] = p
	for _, c := range s.children[d] {
		s.put(c, p)
	}
}

// child gives the place of a directory in p that has no diffs and no reference,
// and so has everything below it.
func (p place) child(name []byte) place {
	c := place{newest: p.newest, latest: p.latest, since: p.since}
	after := p.createdAfter(name)
	c.since = max(c.since, after)
	if after >= p.newest {
		c.newest = none
	}
	return c
}

// createdChildren gives what the diffs of a directory call created, each name with
// the newest snapshot.
func createdChildren(ds []dirDiff) []createdChild {
	n := 0
	for i := range ds {
		n += len(ds[i].created)
	}
	if n == 0 {
		return nil
	}
	all := make([]createdChild, 0, n)
	for i := range ds {
		for _, name := range ds[i].created {
			all = append(all, createdChild{name, snapshotID(ds[i].snapshot)})
		}
	}
	slices.SortFunc(all, func(a, b createdChild) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(b.after, a.after))
	})
	return slices.CompactFunc(all, func(a, b createdChild) bool { return a.name == b.name })
}

// createdAfter is the newest snapshot after which a child was created, none if
// that is not known of any.
func (p *place) createdAfter(name []byte) snapshotID {
	i, ok := slices.BinarySearchFunc(p.created, name, func(c createdChild, name []byte) int {
		return strings.Compare(c.name, string(name))
	})
	if !ok {
		return none
	}
	return p.created[i].after
}

// latest is the snapshot in which the NameNode records a change of the
// directory with an id itself.
func (s *shown) latest(id uint64, up place) snapshotID {
	if _, renamed := s.dst[id]; renamed {
		return up.latest
	}
	return max(up.latest, newestDiff(s.snaps.dirs.of(id)))
}

// own is the newest snapshot that shows an inode because of its own history.
// newestDiff is that of its newest diff. A rename makes one, which moves on to an
// earlier snapshot when its own is deleted, while the reference keeps the number;
// so only what has no diff needs it.
func (s *shown) own(id uint64, newestDiff snapshotID) snapshotID {
	if last, ok := s.named[id]; ok && newestDiff == none {
		return last
	}
	return newestDiff
}

// newestDiff is the newest snapshot that has a diff of a directory.
func newestDiff(ds []dirDiff) snapshotID {
	newest := none
	for i := range ds {
		newest = max(newest, snapshotID(ds[i].snapshot))
	}
	return newest
}

func newestFileDiff(ds []fileDiff) snapshotID {
	newest := none
	for i := range ds {
		newest = max(newest, snapshotID(ds[i].snapshot))
	}
	return newest
}

// place finds that of a live directory.
func (s *shown) place(d Dir) place {
	if p, ok := s.places[d]; ok {
		return p
	}
	for c := d; c != NoDir && len(s.places) > 0; {
		up := s.Parent(c)
		if p, ok := s.places[up]; ok {
			return p.child(s.Name(c))
		}
		c = up
	}
	return place{newest: none, latest: none, since: none} // there are no snapshots at all
}

// inNewest is INode.isInLatestSnapshot: whether a child of p is in the snapshot in
// which the NameNode would record its change.
func (p *place) inNewest(name []byte, latest snapshotID) bool {
	return latest != none && latest > max(p.since, p.createdAfter(name))
}

// file gives the newest snapshot that shows a file or symlink in p.
func (s *shown) file(p *place, id uint64, name []byte) snapshotID {
	c := p.child(name)
	return max(c.newest, s.own(id, newestFileDiff(s.snaps.files.of(id))))
}

// InSnapshot tells whether some snapshot shows the live directory d as well, at
// its path or at one that it had before. If the image contradicts itself, it is
// rather true. Whoever deletes d frees nothing of what a snapshot shows.
func (t *Tree) InSnapshot(d Dir) bool { return t.snapshots().place(d).newest != none }

// InSnapshot tells whether some snapshot shows the inode as well, be it with other
// content; see [Tree.InSnapshot].
func (e *Entry) InSnapshot() bool {
	s := e.t.snapshots()
	switch {
	case e.Dir != NoDir:
		return s.place(e.Dir).newest != none
	case e.Parent == NoDir || len(s.places) == 0:
		return false
	}
	p := s.place(e.Parent)
	return s.file(&p, e.INode.ID, e.INode.Name) != none
}

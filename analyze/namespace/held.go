package namespace

import (
	"fmt"
	"maps"
	"slices"

	"fsweep/fsimage"
)

// held computes what the snapshots of a directory hold in addition to the live
// tree: its deleted inodes, and those that were renamed away as they were when
// the last snapshot of them was taken. The NameNode charges all of that to the
// directory that owns the diff and to those above it.
//
// Most of a tree is untouched by snapshots, and there the sums of the current
// state are right at any snapshot. Only where a diff lies below a directory is
// its sum taken apart: touched holds the way down to those places.
type held struct {
	*loader
	children map[Dir][]Dir // directories on the way to a diff
	seenDir  bitSet        // directories in children
	kept     []*keptINode  // by directory
	done     map[Dir]*vec
	active   map[Dir]bool
	at       map[atKey]*vec // nil while it is being computed
	depth    int
	work     int // sums and diffs looked at

	nothing vec // what most directories hold: they share it
}

type atKey struct {
	id       uint64
	snapshot uint32
}

// maxWork bounds the product of snapshots and diffs that a hostile image can
// make large with few bytes. A directory renamed every day for a year, with
// 50,000 changed directories below it, comes to half of it.
const maxWork = 1 << 25

// maxRecursion bounds the nesting of deleted directories in deleted
// directories, which only a hostile image makes deep.
const maxRecursion = 8 * maxDepth

func newHeld(l *loader) *held {
	return &held{
		loader: l, children: map[Dir][]Dir{}, seenDir: newBitSet(l.numDirs),
		done: map[Dir]*vec{}, active: map[Dir]bool{}, at: map[atKey]*vec{},
	}
}

func (h *held) run() error {
	if h.snaps.dirs.len() == 0 {
		return nil
	}
	// The order decides which figures a circle gives, which only a broken image
	// has.
	for _, id := range h.snaps.dirs.ids.all() {
		if d := h.dirOf(id); d != NoDir {
			h.touch(d)
		} else {
			h.counts.missing.add(id)
		}
	}
	h.kept = h.Tree.kept.byParent()
	for _, k := range h.kept {
		if len(h.snaps.files.of(k.id)) > 0 {
			h.touch(k.parent)
		}
	}
	_, err := h.of(h.root)
	return err
}

// touch notes the way from the top down to d.
func (h *held) touch(d Dir) {
	for d != NoDir && !h.seenDir.add(uint32(d)) {
		p := h.Parent(d)
		if p != NoDir {
			h.children[p] = append(h.children[p], d)
		}
		d = p
	}
}

func (h *held) enter() error {
	if h.depth++; h.depth > maxRecursion {
		return fmt.Errorf("%w: section %s: %w", fsimage.ErrCorrupt, fsimage.SectionSnapshotDiff, errDeep)
	}
	return nil
}

// of gives what snapshots hold in d's subtree.
func (h *held) of(d Dir) (*vec, error) {
	if v := h.done[d]; v != nil {
		return v, nil
	}
	if h.active[d] { // d is deleted below itself
		h.counts.circles.add(h.ID(d))
		return &h.nothing, nil
	}
	if !h.seenDir.has(uint32(d)) {
		return &h.nothing, nil
	}
	if err := h.enter(); err != nil {
		return nil, err
	}
	defer func() { h.depth-- }()
	h.active[d] = true
	defer delete(h.active, d)
	var v vec
	for _, diff := range h.snaps.dirs.of(h.ID(d)) {
		for _, e := range diff.deleted {
			x, err := h.deleted(e)
			if err != nil {
				return nil, err
			}
			v.add(&x)
		}
	}
	for _, c := range h.children[d] {
		x, err := h.of(c)
		if err != nil {
			return nil, err
		}
		y := *x
		y.resolve(h.attr.at(c).policy)
		v.add(&y)
	}
	if v == h.nothing {
		h.done[d] = &h.nothing
	} else {
		own := v // so that only these are allocated
		h.done[d] = &own
	}
	return h.done[d], nil
}

// deleted gives what an entry of a deleted list adds: the inode as it was last,
// or as of a snapshot if it lives on elsewhere.
func (h *held) deleted(e entry) (vec, error) {
	if e.ref >= 0 && h.snaps.refs[e.ref].withName {
		v, err := h.asOf(e.id, h.snaps.refs[e.ref].last)
		clear(h.at) // another reference shows another inode or snapshot
		return v, err
	}
	k := h.Tree.kept.get(e.id)
	if k == nil {
		h.counts.missing.add(e.id)
		return vec{}, nil
	}
	if k.typ != fsimage.DirectoryType {
		return h.current(k, true), nil
	}
	if k.dir == NoDir {
		return vec{}, nil
	}
	v := h.subtree(k.dir)
	x, err := h.of(k.dir)
	if err != nil {
		return vec{}, err
	}
	v.add(x)
	v.resolve(h.attr.at(k.dir).policy)
	return v, nil
}

// current gives the contribution of a kept file or symlink in its last state.
func (h *held) current(k *keptINode, deleted bool) vec {
	if k.typ == fsimage.SymlinkType {
		return vec{symlinks: 1}
	}
	if ds := h.snaps.files.of(k.id); len(ds) > 0 {
		return k.file.vecWithDiffs(ds, deleted && h.forgetsDeleted())
	}
	return k.file.vec()
}

// asOf gives the contribution of an inode as of a snapshot.
func (h *held) asOf(id uint64, snapshot uint32) (vec, error) {
	k := h.Tree.kept.get(id)
	switch {
	case k == nil:
		if d := h.dirOf(id); d != NoDir {
			return h.dirAsOf(d, snapshot)
		}
		h.counts.missing.add(id)
		return vec{}, nil
	case k.typ == fsimage.SymlinkType:
		return vec{symlinks: 1}, nil
	case k.typ == fsimage.DirectoryType:
		if k.dir == NoDir {
			return vec{}, nil
		}
		return h.dirAsOf(k.dir, snapshot)
	}
	if ds := h.snaps.files.of(id); len(ds) > 0 {
		return k.file.vecAt(ds, snapshot), nil
	}
	return k.file.vec(), nil
}

// dirAsOf takes the current sum of a directory, removes those children that
// were different or absent at the snapshot, and adds what was there instead.
func (h *held) dirAsOf(d Dir, snapshot uint32) (vec, error) {
	if !h.seenDir.has(uint32(d)) {
		return h.resolved(d), nil
	}
	if len(h.children[d]) == 0 && !h.hasDeleted(d) {
		v, err := h.childrenAsOf(d, snapshot) // goes no deeper
		v.resolve(h.attr.at(d).policy)
		return v, err
	}
	key := atKey{h.ID(d), snapshot}
	if v, ok := h.at[key]; ok {
		if v == nil {
			h.counts.circles.add(key.id)
			return vec{}, nil
		}
		return *v, nil
	}
	if err := h.enter(); err != nil {
		return vec{}, err
	}
	defer func() { h.depth-- }()
	h.at[key] = nil
	v, err := h.childrenAsOf(d, snapshot)
	if err != nil {
		return vec{}, err
	}
	v.resolve(h.attr.at(d).policy)
	h.at[key] = &v
	return v, nil
}

func (h *held) hasDeleted(d Dir) bool {
	for _, diff := range h.snaps.dirs.of(h.ID(d)) {
		if len(diff.deleted) > 0 {
			return true
		}
	}
	return false
}

func (h *held) childrenAsOf(d Dir, snapshot uint32) (vec, error) {
	v := h.subtree(d)
	if h.work += 1 + len(h.snaps.dirs.of(h.ID(d))); h.work > maxWork {
		return v, fmt.Errorf("%w: section %s: renamed directories have too many diffs below them", fsimage.ErrUnsupported, fsimage.SectionSnapshotDiff)
	}
	gone, back := h.undo(d, snapshot)
	add := func(id uint64) error {
		x, err := h.asOf(id, snapshot)
		v.add(&x)
		return err
	}
	for _, c := range h.children[d] {
		x := h.resolved(c)
		v.sub(&x)
		if !gone[string(h.Name(c))] {
			if err := add(h.ID(c)); err != nil {
				return v, err
			}
		}
	}
	for _, k := range in(h.kept, d) {
		isGone := gone[string(h.names.get(k.name))]
		if k.typ == fsimage.DirectoryType {
			if isGone && k.dir != NoDir && !h.seenDir.has(uint32(k.dir)) {
				x := h.resolved(k.dir)
				v.sub(&x)
			}
			continue
		}
		if !isGone && len(h.snaps.files.of(k.id)) == 0 {
			continue // the same then as now
		}
		x := h.current(k, !h.Live(d))
		v.sub(&x)
		if !isGone {
			if err := add(k.id); err != nil {
				return v, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(back)) { // see run
		if err := add(back[name].id); err != nil {
			return v, err
		}
	}
	return v, nil
}

// undo applies d's diffs back to a snapshot, the newest first: which of the
// current children were not there under their name, and which entries were that
// are not any more.
func (h *held) undo(d Dir, snapshot uint32) (gone map[string]bool, back map[string]entry) {
	for _, diff := range h.snaps.dirs.of(h.ID(d)) {
		if diff.snapshot < snapshot {
			break
		}
		for _, name := range diff.created {
			if _, ok := back[name]; ok {
				delete(back, name)
				continue
			}
			if gone == nil {
				gone = map[string]bool{}
			}
			gone[name] = true
		}
		for _, e := range diff.deleted {
			if back == nil {
				back = map[string]entry{}
			}
			back[h.entryName(e)] = e
		}
	}
	return gone, back
}

func (h *held) entryName(e entry) string {
	if e.ref >= 0 && h.snaps.refs[e.ref].withName {
		return string(h.snaps.refs[e.ref].name)
	}
	if k := h.Tree.kept.get(e.id); k != nil {
		return string(h.names.get(k.name))
	}
	return ""
}

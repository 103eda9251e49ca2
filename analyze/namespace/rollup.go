package namespace

import (
	"fmt"
	"slices"

	"fsweep/fsimage"
)

// rollUp turns the sums of each directory into those of its subtree, hands
// properties down, and adds what snapshots hold.
func (l *loader) rollUp() error {
	if l.root == NoDir || l.attr.at(l.root).flags&flagRecord == 0 {
		return fmt.Errorf("%w: section %s: the root (inode %d) is missing or no directory", fsimage.ErrCorrupt, fsimage.SectionINode, rootID)
	}
	if l.types != nil || l.hasPolicies() {
		l.needTypes()
	}
	l.addDiffedFiles()
	l.inherit()
	l.sumPolicies()
	for d := Dir(l.dirSet.len); d < Dir(l.numDirs); d++ {
		*l.dirs.at(d) = 1
		if p := l.Parent(d); p != NoDir {
			*l.dirs.at(p)++
		}
	}
	for _, d := range l.order {
		if l.attr.at(d).flags&flagRecord != 0 {
			*l.dirs.at(d)++
		}
		if p := l.Parent(d); p != NoDir {
			l.addUp(d, p)
		}
	}
	l.order = nil
	h := newHeld(l)
	err := h.run()
	l.held, l.holds = h.done, h.seenDir
	return err
}

func (l *loader) hasPolicies() bool {
	for d := range Dir(l.numDirs) {
		if l.attr.at(d).policy != unspecified {
			return true
		}
	}
	return false
}

// resolved is what d's subtree adds to the directory that d is in.
func (t *Tree) resolved(d Dir) vec {
	v := t.subtree(d)
	v.resolve(t.attr.at(d).policy)
	return v
}

// addTo adds to the sums of d. The caller knows that types has room if v needs
// it: space is charged to types only where a policy is.
func (l *loader) addTo(d Dir, v *vec) {
	s := l.sums.at(d)
	*l.dirs.at(d) += uint32(v.dirs)
	s.files += uint32(v.files)
	s.symlinks += uint32(v.symlinks)
	s.length += v.length
	s.space += v.space
	s.one += v.one
	s.all += v.all
	if l.types != nil {
		t := l.types.at(d)
		for i := range t {
			t[i] += v.types[i]
		}
	}
}

// addUp adds what resolved gives for d to p, in place: there are many directories.
func (l *loader) addUp(d, p Dir) {
	from, to := l.sums.at(d), l.sums.at(p)
	*l.dirs.at(p) += *l.dirs.at(d)
	to.files += from.files
	to.symlinks += from.symlinks
	to.length += from.length
	to.space += from.space
	policy := l.attr.at(d).policy
	if policy == unspecified {
		to.one += from.one
		to.all += from.all
	}
	if l.types == nil {
		return
	}
	if own := l.types.at(d); *own != (TypeSpace{}) {
		t := l.types.at(p)
		for i := range t {
			t[i] += own[i]
		}
	}
	if policy != unspecified {
		spread(l.types.at(p), policy, from.one, from.all)
	}
}

// addDiffedFiles adds the files that have diffs to their directories.
func (l *loader) addDiffedFiles() {
	for id, ds := range l.snaps.files.each() {
		k := l.kept.get(id)
		if k == nil || k.typ != fsimage.FileType {
			l.counts.missing.add(id)
			continue
		}
		if k.parent != NoDir {
			if k.file.policy != unspecified {
				l.needTypes()
			}
			v := k.file.vecWithDiffs(ds, !l.Live(k.parent) && l.forgetsDeleted())
			l.addTo(k.parent, &v)
			if t := (FileTotals{1, v.length, v.space}); k.file.policy != unspecified {
				addOwnPolicy(l.ownPolicy, k.parent, k.file, t)
			} else if k.file.striped {
				l.striped.at(k.parent).add(t)
			}
		}
	}
}

// inherit hands down what a directory has from those above it.
func (l *loader) inherit() {
	down := func(d Dir) {
		a := l.attr.at(d)
		a.effective = a.policy
		p := l.Parent(d)
		if p == NoDir {
			return
		}
		up := l.attr.at(p)
		if a.effective == unspecified {
			a.effective = up.effective
		}
		if a.ec == 0 {
			a.ec = up.ec
		}
		a.flags |= up.flags & flagEncrypted
	}
	for _, d := range slices.Backward(l.order) {
		down(d)
	}
	for d := Dir(l.dirSet.len); d < Dir(l.numDirs); d++ {
		down(d)
	}
}

package fakehdfs

import (
	"strings"

	"fsweep/execute"
)

// rename2 moves what stands at a path, never over something else. A call that
// succeeded before answers success again and does nothing, whatever it says now.
func (s *state) rename2(c *caller, key retryKey, src, dst string, trash bool) error {
	src, dst = asJava(src), asJava(dst)
	if err := pathLength("rename", dst); err != nil {
		return err
	}
	if until, ok := s.retries[key]; ok {
		if s.now < until {
			return nil
		}
		delete(s.retries, key)
	}
	if err := s.writable("rename", src); err != nil {
		return err
	}
	if err := s.rename(c, src, dst, trash); err != nil {
		return err
	}
	if !s.opts.NoRetries {
		s.retries[key] = s.now + retryFor
	}
	return nil
}

func (s *state) rename(c *caller, src, dst string, trash bool) error {
	if !validName(dst) {
		return refuse(invalidPath, execute.ErrInvalid, "Invalid path name Invalid file name: %s", dst)
	}
	t := s.tree
	from, err := t.reach(c, src, false)
	if err != nil {
		return err
	}
	to, err := t.locate(dst)
	if err != nil {
		return err
	}
	if err := t.traverse(c, to, false, true); err != nil {
		return err
	}
	if from.snapshot || to.snapshot {
		return refuse(snapshotAccess, execute.ErrSnapshot, "Modification on a read-only snapshot is disallowed")
	}
	for _, check := range []func() error{
		func() error { return s.mayRename(c, from, to, trash) },
		func() error { return s.movable(from) },
		func() error { return apart(from, to) },
		func() error { return s.sameZone(from.last(), to) },
		func() error { return free(from, to) },
		func() error { return s.unnested(from, to) },
		func() error { return s.room(from, to) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	id := from.last().id
	t.detach(id, s.now)
	t.attach(id, to.parent().id, to.names[len(to.names)-1], s.now)
	return nil
}

// mayRename checks permissions: WRITE on both directories, sticky bits, and for moves
// to the trash the whole subtree.
func (s *state) mayRename(c *caller, from, to *located, trash bool) error {
	n, p := from.last(), from.parent()
	if n != nil && p != nil {
		if err := s.tree.sticky(c, p, n); err != nil {
			return err
		}
	}
	if p != nil {
		if err := s.tree.need(c, p, write); err != nil {
			return err
		}
	}
	if n != nil && trash {
		if err := s.tree.subtree(c, n, !s.opts.before(3, 0)); err != nil {
			return err
		}
	}
	return s.tree.need(c, to.deepest(), write)
}

// movable checks that the source is there and that nothing holds it.
func (s *state) movable(from *located) error {
	n := from.last()
	switch {
	case n == nil:
		return refuse(fileNotFound, execute.ErrNotFound, "rename source %s is not found.", from.path)
	case n.id == rootID:
		return refuse(ioException, nil, "rename source cannot be the root")
	}
	if path := s.guarded(n); path != "" {
		return refuse(accessControl, execute.ErrPermission, "Cannot delete/rename non-empty protected directory %s", path)
	}
	var err error
	walk(s.tree.look, n.id, func(d *inode) {
		if err == nil && len(d.snapshots) > 0 {
			path := s.tree.path(d.id)
			err = refuse(snapshotRefusal, execute.ErrSnapshot,
				"The directory %s cannot be deleted since %s is snapshottable and already has snapshots", path, path)
		}
	})
	return err
}

// guarded gives the protected directory that a rename would move, if it is not empty.
// Before Hadoop 3.3 renames are not refused.
func (s *state) guarded(n *inode) string {
	if s.opts.before(3, 3) {
		return ""
	}
	top := s.tree.path(n.id)
	for _, p := range s.protected {
		if p != top && !strings.HasPrefix(p, top+"/") {
			continue
		}
		if l, err := s.tree.locate(p); err == nil && l.last() != nil && len(l.last().children) > 0 {
			return p
		}
	}
	return ""
}

// apart checks that the target is no part of the source.
func apart(from, to *located) error {
	n := from.last()
	switch {
	case from.path == to.path:
		return refuse(alreadyExists, execute.ErrExists, "The source %s and destination %s are the same", from.path, to.path)
	case n.kind == execute.Symlink && string(n.content) == to.path:
		return refuse(alreadyExists, execute.ErrExists, "Cannot rename symlink %s to its target %s", from.path, to.path)
	case strings.HasPrefix(to.path, from.path+"/"):
		return refuse(ioException, nil, "Rename destination %s is a directory or file under source %s", to.path, from.path)
	case len(to.names) == 0:
		return refuse(ioException, nil, "rename destination cannot be the root")
	}
	return nil
}

// free checks that the target does not exist and that its directory does.
func free(from, to *located) error {
	n, there := from.last(), to.last()
	switch {
	case there != nil && (there.kind == execute.Directory) != (n.kind == execute.Directory):
		return refuse(ioException, execute.ErrExists, "Source %s and destination %s must both be directories", from.path, to.path)
	case there != nil:
		return refuse(alreadyExists, execute.ErrExists, "rename destination %s already exists", to.path)
	case to.parent() == nil || to.names[0] == ".reserved":
		return refuse(fileNotFound, execute.ErrNoParent, "rename destination parent %s not found.", to.path)
	}
	return nil
}

// unnested refuses to bring a snapshottable directory below another one. Before Hadoop
// 3 it goes through.
func (s *state) unnested(from, to *located) error {
	if s.opts.before(3, 0) {
		return nil
	}
	within, below := false, false
	s.tree.above(to.parent().id, func(n *inode) bool {
		within = within || n.snapshottable
		return !within
	})
	if !within {
		return nil
	}
	walk(s.tree.look, from.last().id, func(n *inode) { below = below || n.snapshottable })
	if !below {
		return nil
	}
	return refuse(snapshotRefusal, execute.ErrSnapshot, "Unable to rename because %s has snapshottable descendant directories and %s is a descent of a snapshottable directory, and HDFS does not support nested snapshottable directory.",
		from.path, s.tree.path(to.parent().id))
}

// sameZone refuses moves into, out of and between encryption zones. The root of a zone
// itself may be moved.
func (s *state) sameZone(n *inode, to *located) error {
	a, b := s.tree.inZone(n.id), s.tree.inZone(to.deepest().id)
	path := s.tree.path(n.id)
	switch {
	case a == b || a == n.id && b == 0:
		return nil
	case b == 0:
		return refuse(ioException, nil, "%s can't be moved from an encryption zone.", path)
	case a == 0:
		return refuse(ioException, nil, "%s can't be moved into an encryption zone.", path)
	}
	return refuse(ioException, nil, "%s can't be moved from encryption zone %s to encryption zone %s.", path, s.tree.path(a), s.tree.path(b))
}

// room checks the new name and the quotas above it.
func (s *state) room(from, to *located) error {
	if err := newName(to.path, to.names[len(to.names)-1:]); err != nil {
		return err
	}
	quotas := false
	s.tree.above(to.parent().id, func(n *inode) bool {
		quotas = quotas || n.nsQuota >= 0 || n.dsQuota >= 0
		return !quotas
	})
	if !quotas {
		return nil // counting is slow
	}
	id := from.last().id
	sum := s.tree.sums(id, true)
	return s.tree.quotaRoom(to.parent().id, id, sum.Inodes(), sum.Space)
}

package fakehdfs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsweep/execute"
)

// admin runs a change as the superuser.
func (f *FS) admin(change func(*state)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.now++
	change(f.state)
}

// must gives what stands at a path.
func (s *state) must(path string) *inode {
	l, err := s.tree.locate(path)
	if err != nil {
		panic(fmt.Sprintf("fakehdfs: %v", err))
	}
	if l.last() == nil || l.snapshot {
		panic(fmt.Sprintf("fakehdfs: nothing to change at %q", path))
	}
	return s.tree.mut(l.last().id)
}

// make makes what is missing at and above a path, as root, with 0755.
func (s *state) make(path string) *inode {
	at := s.tree.inodes[rootID]
	for _, name := range components(path) {
		id := at.child(name)
		if id == 0 {
			id = s.tree.add(at.id, name, execute.Directory, superuser, 0o755, s.now).id
		}
		if at = s.tree.inodes[id]; at.kind != execute.Directory {
			panic(fmt.Sprintf("fakehdfs: %q is no directory", s.tree.path(id)))
		}
	}
	return s.tree.mut(at.id)
}

// file makes a new file in the place of what stands there.
func (s *state) file(path, owner string, content []byte) *inode {
	if s.opts.NoContent && len(content) > 0 {
		panic(fmt.Sprintf("fakehdfs: no DataNodes for the bytes of %q", path))
	}
	i := strings.LastIndexByte(path, '/')
	dir, name := s.make(path[:i]), path[i+1:]
	if old := dir.child(name); old != 0 {
		s.tree.remove(old, s.now)
	}
	n := s.tree.add(dir.id, name, execute.File, owner, 0o644, s.now)
	n.content, n.ec = slices.Clone(content), s.tree.codedAt(dir.id)
	return n
}

// Mkdir makes a directory and what is missing above it (as root, 0755), or gives one
// that exists another owner and permission.
func (f *FS) Mkdir(path, owner string, permission uint16) {
	f.admin(func(s *state) { n := s.make(path); n.owner, n.perm = owner, permission })
}

// Put makes a closed file, a new one also where something stands.
func (f *FS) Put(path, owner string, content []byte) {
	f.admin(func(s *state) { s.file(path, owner, content) })
}

// PutErasureCoded makes a closed file in erasure coding (RS-3-2-1024k).
func (f *FS) PutErasureCoded(path string, content []byte) {
	f.admin(func(s *state) { s.file(path, superuser, content).ec = true })
}

// Open makes a file that is under construction.
func (f *FS) Open(path string) {
	f.admin(func(s *state) { n := s.file(path, superuser, nil); n.open = true })
}

// Close ends the construction of a file; its mtime moves.
func (f *FS) Close(path string) {
	f.admin(func(s *state) { n := s.must(path); n.open, n.mtime = false, s.now })
}

// Append adds to a file; its mtime moves, its directory's does not.
func (f *FS) Append(path string, content []byte) {
	f.admin(func(s *state) { n := s.must(path); n.content, n.mtime = slices.Concat(n.content, content), s.now })
}

// Unreadable makes reads of a file end in [execute.ErrUnreadable].
func (f *FS) Unreadable(path, reason string) {
	f.admin(func(s *state) { s.must(path).unreadable = reason })
}

// Delete deletes a subtree for good.
func (f *FS) Delete(path string) {
	f.admin(func(s *state) { s.tree.remove(s.must(path).id, s.now) })
}

// Rename moves something, not over anything.
func (f *FS) Rename(from, to string) {
	f.admin(func(s *state) {
		if err := s.rename(s.caller(superuser), from, to, false); err != nil {
			panic(fmt.Sprintf("fakehdfs: %v", err))
		}
	})
}

// Symlink makes a symbolic link.
func (f *FS) Symlink(path, target string) {
	f.admin(func(s *state) {
		i := strings.LastIndexByte(path, '/')
		s.tree.add(s.make(path[:i]).id, path[i+1:], execute.Symlink, superuser, 0o777, s.now).content = []byte(target)
	})
}

// Chmod sets a permission.
func (f *FS) Chmod(path string, permission uint16) {
	f.admin(func(s *state) { s.must(path).perm = permission })
}

// Chown sets owner and group; "" leaves one as it is.
func (f *FS) Chown(path, owner, group string) {
	f.admin(func(s *state) {
		n := s.must(path)
		n.owner, n.group = cmp.Or(owner, n.owner), cmp.Or(group, n.group)
	})
}

// Groups says in which groups a user is.
func (f *FS) Groups(user string, groups ...string) {
	f.admin(func(s *state) { s.groups[user] = groups })
}

// SetTimes sets times (ms since 1970); -1 leaves one as it is.
func (f *FS) SetTimes(path string, mtimeMs, atimeMs int64) {
	f.admin(func(s *state) {
		n := s.must(path)
		if mtimeMs != -1 {
			n.mtime = mtimeMs
		}
		if atimeMs != -1 {
			n.atime = atimeMs
		}
	})
}

// SetXAttr sets an extended attribute; the name begins with its namespace.
func (f *FS) SetXAttr(path, name string, value []byte) {
	space, name, ok := strings.Cut(name, ".")
	if !ok {
		panic("fakehdfs: an extended attribute needs a namespace")
	}
	f.admin(func(s *state) {
		n := s.must(path)
		n.xattrs = slices.DeleteFunc(n.xattrs, func(x execute.XAttr) bool { return x.Namespace == space && x.Name == name })
		n.xattrs = append(n.xattrs, execute.XAttr{Namespace: space, Name: name, Value: slices.Clone(value)})
	})
}

// SetACL gives something an access control list, which is shown and has no effect.
func (f *FS) SetACL(path string) { f.admin(func(s *state) { s.must(path).acl = true }) }

// SetQuota sets quotas of a directory, inodes and bytes on disk; -1: none.
func (f *FS) SetQuota(path string, namespace, space int64) {
	f.admin(func(s *state) { n := s.must(path); n.nsQuota, n.dsQuota = namespace, space })
}

// EncryptionZone makes an empty directory the root of an encryption zone.
func (f *FS) EncryptionZone(path string) {
	f.admin(func(s *state) {
		n := s.must(path)
		if len(n.children) > 0 {
			panic("fakehdfs: an encryption zone begins as an empty directory")
		}
		n.zone = true
	})
}

// AllowSnapshots makes a directory snapshottable.
func (f *FS) AllowSnapshots(path string) {
	f.admin(func(s *state) { s.must(path).snapshottable = true })
}

// Snapshot takes a snapshot of a snapshottable directory.
func (f *FS) Snapshot(path, name string) {
	f.admin(func(s *state) {
		n := s.must(path)
		if !n.snapshottable || n.named(name) != nil {
			panic(fmt.Sprintf("fakehdfs: no snapshot %q of %q can be made", name, path))
		}
		s.tree.snapshot(n.id, name, s.now)
	})
}

// DeleteSnapshot deletes one.
func (f *FS) DeleteSnapshot(path, name string) {
	f.admin(func(s *state) {
		if !s.tree.dropSnapshot(s.must(path).id, name, s.now) {
			panic(fmt.Sprintf("fakehdfs: %q has no snapshot %q", path, name))
		}
	})
}

// Protect sets fs.protected.directories.
func (f *FS) Protect(paths ...string) { f.admin(func(s *state) { s.protected = slices.Clone(paths) }) }

// SetSafeMode enters or leaves safe mode.
func (f *FS) SetSafeMode(on bool) { f.admin(func(s *state) { s.safe = on }) }

// SetTrash sets the interval of the trash; 0: there is none.
func (f *FS) SetTrash(interval time.Duration) { f.admin(func(s *state) { s.trash = interval }) }

// Failover makes the other NameNode ACTIVE, or the first one if none is.
func (f *FS) Failover() {
	f.admin(func(s *state) {
		if s.active == 0 && s.opts.HA {
			s.active = 1
		} else {
			s.active = 0
		}
	})
}

// AllStandby leaves no NameNode ACTIVE until Failover.
func (f *FS) AllStandby() { f.admin(func(s *state) { s.active = -1 }) }

// snapshotTrash is known to Hadoop 3.3 and later.
func (s *state) snapshotTrash() bool { return !s.opts.NoSnapshot && !s.opts.before(3, 3) }

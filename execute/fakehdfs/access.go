package fakehdfs

import (
	"slices"

	"fsweep/execute"
)

// caller is the user of a call.
type caller struct {
	name   string
	groups []string
}

func (c *caller) super() bool { return c.name == superuser || slices.Contains(c.groups, supergroup) }

// may tells whether a user has all the bits of rwx on an inode.
func (c *caller) may(n *inode, rwx uint16) bool {
	if c.super() {
		return true
	}
	bits := n.perm
	switch {
	case c.name == n.owner:
		bits >>= 6
	case slices.Contains(c.groups, n.group):
		bits >>= 3
	}
	return bits&rwx == rwx
}

var actions = [8]string{"NONE", "EXECUTE", "WRITE", "WRITE_EXECUTE", "READ", "READ_EXECUTE", "READ_WRITE", "ALL"}

// need refuses when a user lacks a bit.
func (t *tree) need(c *caller, n *inode, rwx uint16) error {
	if c.may(n, rwx) {
		return nil
	}
	return refuse(accessControl, execute.ErrPermission, `Permission denied: user=%s, access=%s, inode="%s":%s:%s:%s`,
		c.name, actions[rwx], t.pathOf(n), n.owner, n.group, mode(n))
}

// pathOf also serves inodes of snapshots, by their last path alone.
func (t *tree) pathOf(n *inode) string {
	if t.inodes[n.id] == nil {
		return n.name
	}
	return t.path(n.id)
}

func mode(n *inode) string {
	s := []byte("-rwxrwxrwx")
	if n.kind == execute.Directory {
		s[0] = 'd'
	}
	for i := range 9 {
		if n.perm&(1<<i) == 0 {
			s[9-i] = '-'
		}
	}
	if n.perm&0o1000 != 0 {
		s[9] = 'T' + byte(n.perm&1)*('t'-'T')
	}
	return string(s)
}

// traverse walks a path as a user: all above the last must be directories that it may
// pass, and no symlink. The last may be a link only where links are not followed. To
// look below a file is another error than to make something there.
func (t *tree) traverse(c *caller, l *located, followLast, create bool) error {
	for i, n := range l.nodes {
		last := i == len(l.names)
		if n.kind == execute.Symlink && (!last || followLast) {
			return refuse(unresolvedPath, execute.ErrSymlink, "%s", n.content)
		}
		if last {
			break
		}
		if n.kind != execute.Directory {
			if create {
				return refuse(parentNotDir, execute.ErrNotDirectory, "%s (is not a directory)", t.pathOf(n))
			}
			return refuse(accessControl, execute.ErrNotDirectory, "%s (is not a directory)", t.pathOf(n))
		}
		if err := t.need(c, n, run); err != nil {
			return err
		}
	}
	return nil
}

// reach locates a path and walks it.
func (t *tree) reach(c *caller, path string, followLast bool) (*located, error) {
	l, err := t.locate(asJava(path))
	if err != nil {
		return nil, err
	}
	return l, t.traverse(c, l, followLast, false)
}

// sticky refuses to take a foreign entry out of a foreign directory with a sticky bit.
func (t *tree) sticky(c *caller, parent, n *inode) error {
	if parent.perm&0o1000 == 0 || c.super() || c.name == parent.owner || c.name == n.owner {
		return nil
	}
	return refuse(accessControl, execute.ErrPermission, `Permission denied by sticky bit: user=%s, path="%s":%s:%s:%s, parent="%s":%s:%s:%s`,
		c.name, t.pathOf(n), n.owner, n.group, mode(n), t.pathOf(parent), parent.owner, parent.group, mode(parent))
}

// subtree is the check of moves to the trash: all of rwx on each directory that is not
// empty, and sticky bits (not before Hadoop 3).
func (t *tree) subtree(c *caller, top *inode, stickyInside bool) error {
	if c.super() {
		return nil
	}
	var first error
	walk(t.look, top.id, func(n *inode) {
		if first != nil || n.kind != execute.Directory || len(n.children) == 0 {
			return
		}
		if first = t.need(c, n, read|write|run); first != nil || !stickyInside {
			return
		}
		for _, e := range n.children {
			if first = t.sticky(c, n, t.inodes[e.id]); first != nil {
				return
			}
		}
	})
	return first
}

// readable refuses when a directory of a subtree cannot be listed.
func (t *tree) readable(c *caller, top *inode) error {
	var first error
	walk(t.look, top.id, func(n *inode) {
		if first == nil && n.kind == execute.Directory {
			first = t.need(c, n, read|run)
		}
	})
	return first
}

// quotaRoom refuses what would exceed the quota of a directory or of one above it, as
// far as the inodes do not already lie below it. A quota that is exceeded already refuses
// only what adds to it: a directory, or an empty file, takes no space.
func (t *tree) quotaRoom(into uint64, moved uint64, inodes, space int64) error {
	var first error
	t.above(into, func(n *inode) bool {
		if n.nsQuota < 0 && n.dsQuota < 0 || moved != 0 && t.below(moved, n.id) {
			return true
		}
		used := t.sums(n.id, true)
		if count := used.Inodes() + inodes; n.nsQuota >= 0 && inodes > 0 && count > n.nsQuota {
			first = refuse(nsQuota, execute.ErrQuota,
				"The NameSpace quota (directories and files) of directory %s is exceeded: quota=%d file count=%d", t.path(n.id), n.nsQuota, count)
		} else if size := used.Space + space; n.dsQuota >= 0 && space > 0 && size > n.dsQuota {
			first = refuse(dsQuota, execute.ErrQuota,
				"The DiskSpace quota of %s is exceeded: quota = %d B but diskspace consumed = %d B", t.path(n.id), n.dsQuota, size)
		}
		return first == nil
	})
	return first
}

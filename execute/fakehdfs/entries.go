package fakehdfs

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"fsweep/execute"
)

// Entry is one inode of the namespace with all that a test may compare.
type Entry struct {
	Path string
	execute.Status
	Open      bool
	Content   string // of a file; the target of a symlink
	XAttrs    string
	NSQuota   int64 // -1: none
	DSQuota   int64
	Zone      bool     // the root of an encryption zone
	Snapshots []string // names
}

// Entries gives all inodes, / too, each directory before what is below it, and
// entries of a directory in the NameNode's order.
func (f *FS) Entries() []Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Entry
	var add func(n *inode, at string)
	add = func(n *inode, at string) {
		all = append(all, f.state.entry(n, at))
		for _, c := range n.children {
			add(f.state.tree.inodes[c.id], path.Join(at, c.name))
		}
	}
	add(f.state.tree.inodes[rootID], "/")
	return all
}

func (s *state) entry(n *inode, at string) Entry {
	e := Entry{
		Path: at, Status: *s.status(n), Open: n.open, Content: string(n.content),
		NSQuota: n.nsQuota, DSQuota: n.dsQuota, Zone: n.zone,
	}
	e.Name = []byte(n.name)
	var xattrs []string
	for _, x := range n.xattrs {
		xattrs = append(xattrs, fmt.Sprintf("%s.%s=%q", x.Namespace, x.Name, x.Value))
	}
	slices.Sort(xattrs)
	e.XAttrs = strings.Join(xattrs, " ")
	for _, s := range n.snapshots {
		e.Snapshots = append(e.Snapshots, s.name)
	}
	return e
}

// Dump gives one line for each entry, for comparison: path, id, kind, length, mtime,
// owner, permission and the rest. Two clusters in the same state give the same.
func (f *FS) Dump() string {
	var b strings.Builder
	for _, e := range f.Entries() {
		fmt.Fprintf(&b, "%q id=%d kind=%d length=%d mtime=%d atime=%d %s:%s %o replication=%d acl=%t encrypted=%t coded=%t snapshottable=%t open=%t content=%q xattrs=[%s] quota=%d/%d zone=%t snapshots=%q\n",
			e.Path, e.ID, e.Kind, e.Length, e.MTimeMs, e.ATimeMs, e.Owner, e.Group, e.Permission, e.Replication,
			e.ACL, e.Encrypted, e.ErasureCoded, e.Snapshottable, e.Open, e.Content, e.XAttrs, e.NSQuota, e.DSQuota, e.Zone, e.Snapshots)
	}
	return b.String()
}

// Lookup gives the entry at a path, false if nothing stands there.
func (f *FS) Lookup(at string) (Entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := f.state.tree.locate(at)
	if err != nil || l.last() == nil || l.snapshot {
		return Entry{}, false
	}
	return f.state.entry(l.last(), l.path), true
}

// ByID gives the entry of an inode id, false if it does not exist.
func (f *FS) ByID(id uint64) (Entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.state.tree.inodes[id]
	if n == nil {
		return Entry{}, false
	}
	return f.state.entry(n, f.state.tree.path(id)), true
}

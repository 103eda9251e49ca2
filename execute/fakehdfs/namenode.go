package fakehdfs

import (
	"errors"
	"slices"
	"time"

	"fsweep/execute"
)

// state is what NameNodes share: the namespace, the retry cache, the clock.
type state struct {
	opts      Options
	tree      *tree
	now       int64 // ms since 1970
	active    int   // which NameNode is ACTIVE; -1: none
	safe      bool
	trash     time.Duration
	groups    map[string][]string
	protected []string
	retries   map[retryKey]int64 // until when (ms) a success is remembered
	late      []late             // changes that are still on their way
}

// late is a change that takes effect at a time, long after its client gave up.
type late struct {
	at     int64 // ms
	op     Op
	effect func(*state) error
}

// catchUp carries out what was on its way until now, and gives those that had an effect.
func (s *state) catchUp() (done []Op) {
	waiting := s.late
	s.late = nil
	for _, l := range waiting {
		switch {
		case l.at > s.now:
			s.late = append(s.late, l)
		case l.op.nameNode == s.active && l.effect(s) == nil:
			l.op.At, l.op.Effect, l.op.Err = time.UnixMilli(s.now).UTC(), true, nil
			done = append(done, l.op)
		}
	}
	return done
}

// retryKey is all that a NameNode looks at to recognise a call that is sent again.
type retryKey struct {
	client [16]byte
	call   int32
}

// retryFor is how long a NameNode remembers successful calls, in ms.
const retryFor = 600_000

func (s *state) caller(user string) *caller { return &caller{user, s.groups[user]} }

func (s *state) status(n *inode) *execute.Status {
	st := &execute.Status{
		ID: n.id, Kind: n.kind, MTimeMs: n.mtime, ATimeMs: n.atime, Owner: n.owner, Group: n.group,
		Permission: n.perm, ACL: n.acl, Snapshottable: (n.snapshottable || n.id == rootID) && !s.opts.before(3, 0),
	}
	switch n.kind {
	case execute.File:
		st.Length, st.Replication, st.BlockSize, st.ErasureCoded = int64(len(n.content)), n.repl, s.opts.BlockSize, n.ec
	case execute.Directory:
		st.Children = int64(len(n.children))
		st.ErasureCoded = s.tree.inodes[n.id] != nil && s.tree.codedAt(n.id)
	case execute.Symlink:
	}
	st.Encrypted = s.tree.inodes[n.id] != nil && s.tree.inZone(n.id) != 0
	return st
}

// getFileLinkInfo answers nil where nothing stands.
func (s *state) getFileLinkInfo(c *caller, path string) (*execute.Status, error) {
	l, err := s.tree.reach(c, path, false)
	if errors.Is(err, execute.ErrNotDirectory) && c.super() {
		return nil, nil // only ordinary users are told that a file stands above
	}
	if err != nil || l.last() == nil {
		return nil, err
	}
	return s.status(l.last()), nil
}

// getListing answers nil where nothing stands, and a file as its own only entry.
func (s *state) getListing(c *caller, path string, after []byte) (*execute.Page, error) {
	l, err := s.tree.reach(c, path, true)
	if err != nil || l.last() == nil {
		return nil, err
	}
	dir := l.last()
	if dir.kind != execute.Directory {
		return &execute.Page{Entries: []execute.Status{*s.status(dir)}}, nil
	}
	if err := s.tree.need(c, dir, read|run); err != nil {
		return nil, err
	}
	from, found := dir.find(string(after))
	if found {
		from++
	}
	to := min(from+s.opts.PageSize, len(dir.children))
	page := &execute.Page{Left: int64(len(dir.children) - to)}
	for _, e := range dir.children[from:to] {
		n := s.tree.inodes[e.id]
		if n == nil || l.snapshot {
			continue // lists inside of snapshots are not needed by anybody
		}
		st := s.status(n)
		st.Name = []byte(e.name)
		page.Entries = append(page.Entries, *st)
	}
	return page, nil
}

func (s *state) getContentSummary(c *caller, path string) (*execute.Summary, error) {
	l, err := s.tree.reach(c, path, false)
	if err != nil {
		return nil, err
	}
	n := l.last()
	if n == nil {
		return nil, refuse(fileNotFound, execute.ErrNotFound, "File does not exist: %s", l.path)
	}
	if err := s.tree.readable(c, n); err != nil {
		return nil, err
	}
	sum := s.tree.sums(n.id, !s.opts.before(3, 0))
	return &sum, nil
}

func (s *state) getXAttrs(c *caller, path string) ([]execute.XAttr, error) {
	if s.opts.NoXAttrs {
		return nil, refuse(ioException, execute.ErrUnsupported,
			"The XAttr operation has been rejected.  Support for XAttrs has been disabled by setting dfs.namenode.xattrs.enabled to false.")
	}
	l, err := s.tree.reach(c, path, true)
	if err != nil {
		return nil, err
	}
	n := l.last()
	if n == nil {
		return nil, refuse(fileNotFound, execute.ErrNotFound, "cannot find %s", l.path)
	}
	if err := s.tree.need(c, n, read); err != nil {
		return nil, err
	}
	var seen []execute.XAttr
	for _, x := range n.xattrs {
		if x.Namespace == "user" || x.Namespace == "trusted" && c.super() {
			x.Value = slices.Clone(x.Value)
			seen = append(seen, x)
		}
	}
	return seen, nil
}

func (s *state) isFileClosed(c *caller, path string) (bool, error) {
	l, err := s.tree.reach(c, path, true)
	if err != nil {
		return false, err
	}
	n := l.last()
	switch {
	case n == nil:
		return false, refuse(fileNotFound, execute.ErrNotFound, "File does not exist: %s", l.path)
	case n.kind != execute.File:
		return false, refuse(fileNotFound, execute.ErrNotFound, "Path is not a file: %s", l.path)
	}
	return !n.open, nil
}

// getEZForPath answers "" outside of all zones, whether or not something stands there.
func (s *state) getEZForPath(c *caller, path string) (string, error) {
	l, err := s.tree.reach(c, path, true)
	if err != nil {
		return "", err
	}
	if n := l.last(); n != nil {
		if err := s.tree.need(c, n, read); err != nil {
			return "", err
		}
	}
	if root := s.tree.inZone(l.nodes[len(l.nodes)-1].id); root != 0 {
		return s.tree.path(root), nil
	}
	return "", nil
}

// getSnapshottableDirListing gives the snapshottable directories of a user, all of them
// to the superuser.
func (s *state) getSnapshottableDirListing(c *caller) []string {
	var all []string
	for id, n := range s.tree.inodes {
		if n.snapshottable && (c.super() || n.owner == c.name) {
			all = append(all, s.tree.path(id))
		}
	}
	slices.Sort(all)
	return all
}

// writable refuses all changes in safe mode.
func (s *state) writable(what, path string) error {
	if s.safe {
		return refuse(safeMode, execute.ErrSafeMode, "Cannot %s %s. Name node is in safe mode.", what, path)
	}
	return nil
}

func pathLength(what, path string) error {
	if len([]rune(path)) > maxPath || len(components(path)) > maxDepth {
		return refuse(ioException, nil, "%s: Pathname too long.  Limit %d characters, %d levels.", what, maxPath, maxDepth)
	}
	return nil
}

// newName checks the name of something that is to be made.
func newName(path string, names []string) error {
	if len(names) > 0 && names[0] == ".reserved" {
		return refuse(illegalName, nil, `File name ".reserved" is reserved and cannot be created.`)
	}
	for _, name := range names {
		if name == snapshotDir {
			return refuse(illegalName, nil, `"%s" is a reserved name.`, snapshotDir)
		}
		if len(name) > maxName {
			return refuse(nameTooLong, execute.ErrInvalid, "The maximum path component name limit of %s in directory %s is exceeded: limit=%d length=%d",
				name, path, maxName, len(name))
		}
	}
	return nil
}

// mkdirs makes a directory and those above, one by one: those made before a refusal
// stay. The ones above can always be written and entered by their owner.
func (s *state) mkdirs(c *caller, path string, perm uint16) error {
	path = asJava(path)
	if err := pathLength("mkdirs", path); err != nil {
		return err
	}
	if err := s.writable("create directory", path); err != nil {
		return err
	}
	if !validName(path) {
		return refuse(invalidPath, execute.ErrInvalid, "Invalid path name Invalid file name: %s", path)
	}
	t := s.tree
	l, err := t.locate(path)
	if err != nil {
		return err
	}
	if err := t.traverse(c, l, true, true); err != nil {
		return err
	}
	switch n := l.last(); {
	case l.snapshot:
		return refuse(snapshotAccess, execute.ErrSnapshot, "Modification on a read-only snapshot is disallowed")
	case n != nil && n.kind != execute.Directory:
		return refuse(alreadyExists, execute.ErrExists, "Path is not a directory: %s", path)
	case n != nil:
		return nil
	}
	have := len(l.nodes) - 1
	at := l.nodes[have]
	if err := t.need(c, at, write); err != nil {
		return err
	}
	for i, name := range l.names[have:] {
		p := perm
		if have+i+1 < len(l.names) {
			p = perm&0o777 | 0o300
		}
		if err := newName(path, l.names[:have+i+1]); err != nil {
			return err
		}
		if err := t.quotaRoom(at.id, 0, 1, 0); err != nil {
			return err
		}
		at = t.add(at.id, name, execute.Directory, c.name, p, s.now)
	}
	return nil
}

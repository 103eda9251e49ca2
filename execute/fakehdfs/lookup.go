package fakehdfs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
)

const (
	superuser  = "root"
	supergroup = "supergroup"

	snapshotDir    = ".snapshot"
	reservedInodes = "/.reserved/.inodes"
)

// Limits of NameNodes: bytes of a name, characters and depth of a path.
const (
	maxName  = 255
	maxPath  = 8000
	maxDepth = 1000
)

// Bits of a permission, for one of owner, group and others.
const (
	read  = 4
	write = 2
	run   = 1
)

// Classes of exceptions, as NameNodes name them.
const (
	accessControl   = "org.apache.hadoop.security.AccessControlException"
	alreadyExists   = "org.apache.hadoop.fs.FileAlreadyExistsException"
	assertion       = "java.lang.AssertionError"
	fileNotFound    = "java.io.FileNotFoundException"
	illegalArgument = "java.lang.IllegalArgumentException"
	illegalName     = "org.apache.hadoop.HadoopIllegalArgumentException"
	invalidPath     = "org.apache.hadoop.fs.InvalidPathException"
	ioException     = "java.io.IOException"
	nameTooLong     = "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException"
	nsQuota         = "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"
	dsQuota         = "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException"
	parentNotDir    = "org.apache.hadoop.fs.ParentNotDirectoryException"
	retriable       = "org.apache.hadoop.ipc.RetriableException"
	safeMode        = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
	snapshotAccess  = "org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException"
	snapshotRefusal = "org.apache.hadoop.hdfs.protocol.SnapshotException"
	standby         = "org.apache.hadoop.ipc.StandbyException"
	unresolvedPath  = "org.apache.hadoop.hdfs.protocol.UnresolvedPathException"
)

// refuse makes the answer of a NameNode that refuses.
func refuse(class string, kind error, format string, args ...any) *execute.RemoteError {
	return &execute.RemoteError{Class: class, Message: fmt.Sprintf(format, args...), Kind: kind}
}

// located is a path and the inodes along it, as far as they exist.
type located struct {
	path     string // as resolved
	names    []string
	nodes    []*inode // nodes[0] is /; nodes[i] is names[i-1]; shorter if something is missing
	snapshot bool     // the path leads into a snapshot
}

// last gives what stands at the path, nil if nothing does.
func (l *located) last() *inode {
	if len(l.nodes) == len(l.names)+1 {
		return l.nodes[len(l.nodes)-1]
	}
	return nil
}

// parent gives the directory that holds or would hold what stands at the path.
func (l *located) parent() *inode {
	if len(l.names) > 0 && len(l.nodes) >= len(l.names) {
		return l.nodes[len(l.names)-1]
	}
	return nil
}

// deepest gives the last inode that exists and is not the path's own.
func (l *located) deepest() *inode { return l.nodes[min(len(l.nodes), max(len(l.names), 1))-1] }

// locate resolves a path as NameNodes do: an inode path becomes the recorded path of
// the inode, which then is looked up like any other.
func (t *tree) locate(path string) (*located, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, refuse(assertion, nil, "Absolute path required, but got '%s'", path)
	}
	names := components(path)
	if len(names) > 2 && names[0] == ".reserved" && names[1] == ".inodes" {
		var err error
		if names, err = t.recorded(path, names[2:]); err != nil {
			return nil, err
		}
	}
	l := &located{path: "/" + strings.Join(names, "/"), names: names, nodes: []*inode{t.inodes[rootID]}}
	look := t.look
	for i := 0; i < len(names); i++ {
		at := l.nodes[len(l.nodes)-1]
		if at.kind != execute.Directory {
			break
		}
		if names[i] == snapshotDir && at.snapshottable {
			l.snapshot = true
			s := at.named(names[min(i+1, len(names)-1)])
			if i+1 == len(names) || s == nil {
				break
			}
			look = func(id uint64) *inode { return s.inodes[id] }
			l.nodes = append(l.nodes, look(at.id), look(at.id))
			i++
			continue
		}
		id := at.child(names[i])
		if id == 0 {
			break
		}
		l.nodes = append(l.nodes, look(id))
	}
	return l, nil
}

func (n *inode) named(snapshot string) *snapshot {
	for _, s := range n.snapshots {
		if s.name == snapshot {
			return s
		}
	}
	return nil
}

// recorded turns what follows /.reserved/.inodes into the names of a path.
func (t *tree) recorded(path string, names []string) ([]string, error) {
	id, err := strconv.ParseInt(names[0], 10, 64)
	if err != nil {
		return nil, refuse(fileNotFound, execute.ErrNotFound, "Invalid inode path: %s", path)
	}
	up := len(names) > 1 && names[1] == ".."
	var at []string
	switch {
	case t.inodes[uint64(id)] != nil:
		if n := t.inodes[uint64(id)]; up && n.parent != 0 {
			id = int64(n.parent)
		}
		at = components(t.path(uint64(id)))
	case t.known(uint64(id)):
		if at, err = t.heldPath(uint64(id), up); err != nil {
			return nil, err
		}
	default:
		return nil, refuse(fileNotFound, execute.ErrNotFound, "File for given inode path does not exist: %s", path)
	}
	if up {
		return at, nil
	}
	return append(at, names[1:]...), nil
}

func (t *tree) known(id uint64) bool { _, ok := t.held[id]; return ok }

// heldPath gives the recorded path of a deleted inode, or of its directory. There is
// none when the inode or a directory above it was moved before.
func (t *tree) heldPath(id uint64, up bool) ([]string, error) {
	var names []string
	for first := true; t.inodes[id] == nil; first = false {
		h, ok := t.held[id]
		if !ok || h.moved && (!first || !up) {
			return nil, refuse(illegalArgument, execute.ErrNotFound, illegalArgument)
		}
		if !first || !up {
			names = append([]string{h.name}, names...)
		}
		id = h.parent
	}
	return append(components(t.path(id)), names...), nil
}

// components splits a path; empty ones do not count.
func components(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// asJava is what a NameNode makes of the bytes of a path: it decodes them as UTF-8.
func asJava(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return string([]rune(path))
}

// validName tells whether a NameNode makes something at such a path.
func validName(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	names := strings.Split(path[1:], "/")
	inodes := strings.HasPrefix(path, reservedInodes+"/")
	for i, name := range names {
		if name == "." || name == ".." && !inodes || strings.Contains(name, ":") || name == "" && i < len(names)-1 {
			return false
		}
	}
	return true
}

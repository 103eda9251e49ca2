package namespace

import (
	"bytes"
	"strconv"
)

// inodePath is the prefix of the path that HDFS gives every inode beside its
// ordinary one.
const inodePath = "/.reserved/.inodes/"

// AppendPath appends the path of d. A directory whose name no client can make
// or use ("..", or with a slash) has no path of names; its inode path
// /.reserved/.inodes/<id> stands for it, which HDFS understands too.
func (t *Tree) AppendPath(dst []byte, d Dir) []byte {
	if d == t.root {
		return append(dst, '/')
	}
	var chain [64]Dir // from the last component up
	n := 0
	for d != t.root {
		p := *t.parent.at(d)
		if t.attr.at(d).flags&(flagBadName|flagRecord) != flagRecord || p == NoDir {
			dst = append(dst, inodePath...)
			dst = strconv.AppendUint(dst, t.ID(d), 10)
			break
		}
		if n == len(chain) {
			dst = t.AppendPath(dst, d)
			break
		}
		chain[n] = d
		n++
		d = p
	}
	for ; n > 0; n-- {
		dst = append(dst, '/')
		dst = append(dst, t.Name(chain[n-1])...)
	}
	return dst
}

// appendChild appends the path of the inode with a name and id in d.
func (t *Tree) appendChild(dst []byte, d Dir, name []byte, id uint64) []byte {
	if t.badName(d, name) {
		dst = append(dst, inodePath...)
		return strconv.AppendUint(dst, id, 10)
	}
	if d != t.root {
		dst = t.AppendPath(dst, d)
	}
	dst = append(dst, '/')
	return append(dst, name...)
}

// FilePath appends the path of the file of an [OpenFile].
func (t *Tree) FilePath(dst []byte, f OpenFile) []byte {
	return t.appendChild(dst, f.Parent, f.Name, f.ID)
}

// badName tells whether no client can make or use a name in d: it cannot be a
// component of a path, or HDFS keeps it for itself.
func (t *Tree) badName(d Dir, name []byte) bool {
	return impossible(name) || d == t.root && string(name) == ".reserved"
}

func impossible(name []byte) bool {
	switch len(name) {
	case 0:
		return true
	case 1, 2:
		return name[0] == '.' && name[len(name)-1] == '.' || bytes.IndexByte(name, '/') >= 0
	}
	return bytes.IndexByte(name, '/') >= 0 || string(name) == ".snapshot"
}

// Lookup finds the live directory with a path, which must be absolute; an inode
// path is understood as well.
func (t *Tree) Lookup(path []byte) (Dir, bool) {
	if len(path) == 0 || path[0] != '/' {
		return NoDir, false
	}
	d := t.root
	rest := path
	if b, ok := bytes.CutPrefix(path, []byte(inodePath)); ok {
		first, after, _ := bytes.Cut(b, []byte("/"))
		id, err := strconv.ParseUint(string(first), 10, 64)
		if err != nil {
			return NoDir, false
		}
		if d = t.dirOf(id); d == NoDir || !t.Live(d) {
			return NoDir, false
		}
		rest = after
	}
	for name := range bytes.SplitSeq(rest, []byte("/")) {
		if len(name) == 0 {
			continue
		}
		if d = t.child(d, name); d == NoDir {
			return NoDir, false
		}
	}
	return d, true
}

// child finds a directory in d by name. It looks at all directories: few
// look-ups are made, and an index would cost every tree memory.
func (t *Tree) child(d Dir, name []byte) Dir {
	for c := range Dir(t.NumDirs()) {
		if *t.parent.at(c) == d && c != d && bytes.Equal(t.Name(c), name) && t.attr.at(c).flags&flagBadName == 0 {
			return c
		}
	}
	return NoDir
}

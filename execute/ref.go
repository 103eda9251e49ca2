package execute

import "strconv"

// Ref names an inode in a question: by path or by id.
type Ref struct {
	path string
	id   uint64
	up   bool
}

// At is what stands at an absolute path now.
func At(path string) Ref { return Ref{path: path} }

// ByID is the inode with an id, wherever it is.
func ByID(id uint64) Ref { return Ref{id: id} }

// ParentOf is the directory that holds an inode now.
func ParentOf(id uint64) Ref { return Ref{id: id, up: true} }

// Path gives the path to ask a NameNode for.
func (r Ref) Path() string {
	if r.path != "" {
		return r.path
	}
	p := "/.reserved/.inodes/" + strconv.FormatUint(r.id, 10)
	if r.up {
		p += "/.."
	}
	return p
}

// ID gives the id that the answer must have, false if any is right.
func (r Ref) ID() (uint64, bool) { return r.id, r.path == "" && !r.up }

// Named gives the id that r is about, its own or that of the entry whose parent it
// is, and 0 for a path.
func (r Ref) Named() uint64 { return r.id }

// String gives the path.
func (r Ref) String() string { return r.Path() }

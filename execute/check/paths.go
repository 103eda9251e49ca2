package check

import (
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
)

// cutSlash gives the first component of a relative path, and what is behind it.
func cutSlash(rel string) (first, rest string) {
	first, rest, _ = strings.Cut(rel, "/")
	return first, rest
}

// after gives what is behind the first component with a name.
func after(p, name string) string {
	if i := strings.Index(p+"/", "/"+name+"/"); i >= 0 {
		return strings.TrimPrefix(p[min(len(p), i+1+len(name)):], "/")
	}
	return p
}

// within gives a name as a part of a path that has it, so that it needs no memory of its own.
func within(p, name string) string {
	if i := strings.Index(p, name); i >= 0 {
		return p[i : i+len(name)]
	}
	return name
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// at names an inode by path where a NameNode can be asked for the path, else by id.
func at(p string, id uint64) execute.Ref {
	if utf8.ValidString(p) || id == 0 {
		return execute.At(p)
	}
	return execute.ByID(id)
}

// referred gives the path that a reference means, and whether it means one of this
// cluster. Scheme and authority are not compared: a name of this cluster that nobody knows
// any more must protect, too. Only the policy says which authorities are others.
func (s *Session) referred(ref string) (clean string, ours bool) {
	foreign := false
	i := strings.IndexAny(ref, ":/")
	if i > 0 && ref[i] == ':' {
		rest := ref[i+1:]
		if strings.HasPrefix(rest, "//") {
			authority, tail, _ := strings.Cut(rest[2:], "/")
			foreign = slices.Contains(s.header.ForeignAuthorities, authority)
			rest = "/" + tail
		}
		ref = rest
	}
	if !strings.HasPrefix(ref, "/") {
		return "", false
	}
	p := path.Clean(ref)
	return strings.TrimPrefix(p, "/.reserved/raw"), !foreign
}

// holding gives the items that hold p; there is at most one.
func (s *Session) holding(p string) (int32, bool) {
	for end := len(p); end > 0; end = strings.LastIndexByte(p[:end], '/') {
		if i, ok := s.find(p[:end]); ok {
			return int32(i), true
		}
	}
	return 0, false
}

func (s *Session) find(p string) (int, bool) {
	return sort.Find(len(s.items), func(i int) int { return strings.Compare(p, s.items[i].path) })
}

// below gives the items that lie below a directory.
func (s *Session) below(dir string) (from, to int32) {
	inside := strings.TrimSuffix(dir, "/") + "/"
	i := sort.Search(len(s.items), func(i int) bool { return s.items[i].path >= inside })
	j := i
	for j < len(s.items) && strings.HasPrefix(s.items[j].path, inside) {
		j++
	}
	return int32(i), int32(j)
}

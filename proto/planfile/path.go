package planfile

import "strings"

// Path is an absolute path: any bytes, clean. In a plan it is `path`, verbatim where
// it is UTF-8; else `path` shows it escaped and `path_b64` has the exact bytes.
type Path string

// Name is a name of any bytes, or a path below an item; written like a [Path].
type Name string

// Clean says what is wrong with a path of a plan, or nothing: it starts with one
// slash, ends without, and no component is empty, `.`, `..` or `.snapshot`; `/` and
// what lies in `/.reserved` are none. The error wraps [ErrInvalid].
func (p Path) Clean() error {
	s := string(p)
	if s == "" || s[0] != '/' {
		return invalidf("path %q is not absolute", s)
	}
	if s == "/.reserved" || strings.HasPrefix(s, "/.reserved/") {
		return invalidf("path %q is reserved", s)
	}
	return cleanNames(s, s[1:])
}

// Below reports whether p lies in dir, at any depth.
func (p Path) Below(dir Path) bool {
	return len(p) > len(dir) && p[:len(dir)] == dir && p[len(dir)] == '/'
}

// cleanNames checks the components of rel, which is shown as full.
func cleanNames(full, rel string) error {
	for from := 0; from <= len(rel); {
		end := strings.IndexByte(rel[from:], '/')
		if end < 0 {
			end = len(rel) - from
		}
		switch name := rel[from : from+end]; name {
		case "", ".", "..", ".snapshot":
			return invalidf("path %q has the component %q", full, name)
		}
		from += end + 1
	}
	return nil
}

// component gives the i-th name of a relative path, "" behind the last.
func component(rel string, i int) string {
	for ; i > 0; i-- {
		_, after, ok := strings.Cut(rel, "/")
		if !ok {
			return ""
		}
		rel = after
	}
	name, _, _ := strings.Cut(rel, "/")
	return name
}

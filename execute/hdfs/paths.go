package hdfs

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
)

// rootPath is /.
const rootPath = "/"

// checkPath refuses a path that a NameNode would take for another one, or not take at all. One
// that is not UTF-8 is the worst of them: the NameNode would replace what it cannot
// read, and look up that name.
func checkPath(path string) error {
	refuse := func(why string) error {
		return fmt.Errorf("path %q: %s: %w", path, why, execute.ErrInvalid)
	}
	switch {
	case !strings.HasPrefix(path, "/"):
		return refuse("not absolute")
	case path == rootPath:
		return nil
	case !utf8.ValidString(path):
		return refuse("not UTF-8, which a NameNode cannot be asked for by name")
	case strings.IndexByte(path, 0) >= 0:
		return refuse("has a NUL")
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		switch part {
		case "":
			return refuse("has an empty component")
		case ".", "..":
			return refuse("has a component " + part)
		}
	}
	return nil
}

// checkRef refuses what cannot be asked for.
func checkRef(ref execute.Ref) error {
	if ref.Named() != 0 {
		return nil
	}
	if ref == execute.ByID(0) || ref == execute.ParentOf(0) {
		return fmt.Errorf("inode 0, or an empty path: %w", execute.ErrInvalid)
	}
	return checkPath(ref.Path())
}

// checkTarget refuses paths to which nothing may be made or moved.
func checkTarget(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	refuse := func(why string) error {
		return fmt.Errorf("target %q: %s: %w", path, why, execute.ErrInvalid)
	}
	if path == rootPath {
		return refuse("is the root")
	}
	for i, part := range strings.Split(path[1:], "/") {
		if part == ".snapshot" || i == 0 && part == ".reserved" {
			return refuse("is inside of " + part)
		}
	}
	return nil
}

// checkName refuses what is no name of a directory's entry.
func checkName(name []byte) error {
	if bytes.IndexByte(name, '/') >= 0 {
		return fmt.Errorf("name %q has a slash: %w", name, execute.ErrInvalid)
	}
	return nil
}

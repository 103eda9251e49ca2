package flink

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"

	"fsweep/analyze/namespace"
)

// Layout is how a root is laid out. It is declared, never guessed.
type Layout uint8

// The layouts.
const (
	// UnknownLayout is none.
	UnknownLayout Layout = iota
	// JobRun is ROOT/JOB/RUN/{chk-N, shared, taskowned}.
	JobRun
	// RunLayout is ROOT/RUN/{chk-N, shared, taskowned}. Jobs that write without a
	// directory for their id (create-subdir=false) have it too: there a RUN is
	// named as the user likes.
	RunLayout
	// Savepoints is ROOT/savepoint-… or ROOT/JOB/savepoint-….
	Savepoints
	// HAStorage is ROOT/CLUSTER-ID/{blob, completedCheckpoint*, submittedJobGraph*, …}.
	HAStorage
	// Children is ROOT/NAME, where NAME matches a list.
	Children
)

var layoutNames = [...]string{"unknown", "job-run", "run", "savepoints", "ha-storage", "children"}

// String gives the name that policies use.
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return layoutNames[UnknownLayout]
}

// ParseLayout finds a layout by the name that policies use.
func ParseLayout(name string) (Layout, bool) {
	i := slices.Index(layoutNames[:], name)
	if i <= 0 {
		return UnknownLayout, false
	}
	return Layout(i), true
}

// Declaration says where a root is and how it is laid out. Names are those of
// the first level below the root, exact unless said otherwise.
type Declaration struct {
	Path        []byte // absolute
	Layout      Layout
	Jobs        []string // if any: only these are selected
	ExcludeJobs []string
	Ignore      []string // no misfits, directories or not
	Names       []string // of Children: names or globs as of [path.Match]
}

// ErrDeclaration is wrapped by errors about a declaration that no image can make
// right.
var ErrDeclaration = errors.New("declaration of a root")

// prepare checks a declaration and gives the components of its path. Doubled
// slashes and one at the end are no part of a path.
func (d *Declaration) prepare() ([]string, error) {
	bad := func(what string) error { return fmt.Errorf("%w %q: %s", ErrDeclaration, d.Path, what) }
	if len(d.Path) == 0 || d.Path[0] != '/' {
		return nil, bad("the path is not absolute")
	}
	var names []string
	for name := range bytes.SplitSeq(d.Path, []byte("/")) {
		if len(name) == 0 {
			continue
		}
		if impossible(string(name)) {
			return nil, bad(fmt.Sprintf("%q cannot be a part of the path", name))
		}
		names = append(names, string(name))
	}
	if len(names) == 0 || names[0] == ".reserved" {
		return nil, bad("this can be no root")
	}
	if d.Layout == UnknownLayout || int(d.Layout) >= len(layoutNames) {
		return nil, bad("it has no layout")
	}
	if (d.Layout == Children) != (len(d.Names) > 0) {
		return nil, bad("names are required in layout children, and right only there")
	}
	for _, pattern := range d.Names {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return nil, bad(fmt.Sprintf("%q is no glob", pattern))
		}
	}
	return names, nil
}

// matches tells whether a name is one of Names.
func (d *Declaration) matches(name string) bool {
	return slices.ContainsFunc(d.Names, func(pattern string) bool {
		// A name is itself even if it would be a glob of others: a[1].
		ok, err := path.Match(pattern, name)
		return pattern == name || err == nil && ok
	})
}

// target is a path on the way to being found.
type target struct {
	rest  []string // names that are left
	dir   namespace.Dir
	twice bool // two directories have this very path
	gone  bool
}

// resolve finds directories by path: all of them with one look at the tree for
// each level, since the tree has no index by name.
func resolve(t *namespace.Tree, paths [][]string) []target {
	all := make([]target, len(paths))
	for i, p := range paths {
		all[i] = target{rest: p, dir: t.Root()}
	}
	for {
		wanted := map[namespace.Dir][]int{}
		for i := range all {
			if !all[i].gone && len(all[i].rest) > 0 {
				wanted[all[i].dir] = append(wanted[all[i].dir], i)
			}
		}
		if len(wanted) == 0 {
			return all
		}
		found := map[int]namespace.Dir{}
		in := make([]namespace.Dir, 0, len(wanted)) // far fewer than there are directories
		for d := range wanted {
			in = append(in, d)
		}
		slices.Sort(in)
		for c := range t.Dirs() {
			up := t.Parent(c)
			if _, ok := slices.BinarySearch(in, up); !ok {
				continue
			}
			for _, i := range wanted[up] {
				if c == t.Root() || string(t.Name(c)) != all[i].rest[0] {
					continue
				}
				if other, ok := found[i]; ok {
					all[i].twice = true
					if t.ID(other) < t.ID(c) {
						continue
					}
				}
				found[i] = c
			}
		}
		for _, list := range wanted {
			for _, i := range list {
				if c, ok := found[i]; ok {
					all[i].dir, all[i].rest = c, all[i].rest[1:]
				} else {
					all[i].gone = true // dir stays: where the way ends
				}
			}
		}
	}
}

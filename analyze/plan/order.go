package plan

import (
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
)

// walker goes over directories in the order of the bytes of their paths. That is not
// the order of their names: a-b stands before a/c.
type walker struct {
	s *flink.Survey
	t *namespace.Tree
	// visit is called for each directory with its path below the top, which is valid
	// until it returns. Where it answers no, what is below is left out.
	visit func(rel []byte, d namespace.Dir) (deeper bool, err error)

	rel  []byte
	open []opened // directories whose contents come later
}

type opened struct {
	name []byte
	dir  namespace.Dir
}

// below visits all directories below one.
func (w *walker) below(top namespace.Dir) error {
	base, prefix := len(w.open), len(w.rel)
	for d := range w.s.Subdirectories(top) {
		name := w.t.Name(d)
		if len(w.open) > base {
			if err := w.contents(base, prefix, name); err != nil {
				return err
			}
		}
		w.rel = append(w.rel[:prefix], name...)
		deeper, err := w.visit(w.rel, d)
		if err != nil {
			return err
		}
		if deeper {
			w.open = append(w.open, opened{name, d})
		}
	}
	return w.contents(base, prefix, nil)
}

// contents visits what is in the directories that were opened since there were base of them,
// as far as it stands before a name; nil: all of it.
func (w *walker) contents(base, prefix int, before []byte) error {
	for len(w.open) > base {
		last := w.open[len(w.open)-1]
		if before != nil && compareInside(last.name, before) >= 0 {
			return nil
		}
		w.open = w.open[:len(w.open)-1]
		w.rel = append(append(w.rel[:prefix], last.name...), '/')
		if err := w.below(last.dir); err != nil {
			return err
		}
	}
	return nil
}

// compareInside compares what is in a directory of one name with another name beside
// the directory.
func compareInside(name, other []byte) int {
	n := min(len(name), len(other))
	for i := range n {
		if name[i] != other[i] {
			return int(name[i]) - int(other[i])
		}
	}
	if len(other) <= len(name) {
		return 1
	}
	if c := int('/') - int(other[n]); c != 0 {
		return c
	}
	return 1
}

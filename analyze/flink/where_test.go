package flink

import (
	"testing"

	"fsweep/analyze/namespace"
)

// unitsOf gives all units, of which there has to be one.
func unitsOf(t *testing.T, d *Discovery) (all []*Unit) {
	t.Helper()
	for _, r := range d.Roots {
		for _, j := range r.Jobs {
			all = append(all, j.Units...)
		}
	}
	if len(all) == 0 {
		t.Fatal("no unit")
	}
	return all
}

// places tells of directories where they are: in which root, and if in a unit and a
// checkpoint, in which. All are nil if it is below no root. A directory in two roots is in
// the inner one.
func places(d *Discovery) func(namespace.Dir) (*Root, *Unit, *Checkpoint) {
	roots, units, checkpoints := map[namespace.Dir]*Root{}, map[namespace.Dir]*Unit{}, map[namespace.Dir]*Checkpoint{}
	for _, r := range d.Roots {
		roots[r.Dir] = r
		for _, j := range r.Jobs {
			for _, u := range j.Units {
				units[u.Dir] = u
				for _, c := range u.Checkpoints {
					checkpoints[c.Dir] = c
				}
			}
		}
	}
	return func(dir namespace.Dir) (r *Root, u *Unit, c *Checkpoint) {
		for ; dir != namespace.NoDir; dir = d.index.t.Parent(dir) {
			if roots[dir] != nil {
				return roots[dir], u, c
			}
			if u == nil {
				u = units[dir]
			}
			if c == nil {
				c = checkpoints[dir]
			}
		}
		return nil, nil, nil
	}
}

package fakehdfs

import (
	"strconv"
	"time"
)

// checkpointName is the format of names that the emptier gives: yyMMddHHmmss. Here the
// NameNode's time zone is UTC.
const checkpointName = "060102150405"

// RenameCurrent does what the emptier does with the directory Current of a trash: it
// gets the time as its name, or that and -1, -2, … if the name is taken. The new path is
// the answer; "" if there is no Current.
func (f *FS) RenameCurrent(trash string) string {
	to := ""
	f.admin(func(s *state) {
		l, err := s.tree.locate(trash + "/Current")
		if err != nil || l.last() == nil {
			return
		}
		base := time.UnixMilli(s.now).UTC().Format(checkpointName)
		name := base
		for i := 1; l.parent().child(name) != 0; i++ {
			name = base + "-" + strconv.Itoa(i)
		}
		to = trash + "/" + name
		s.tree.detach(l.last().id, s.now)
		s.tree.attach(l.last().id, l.parent().id, name, s.now)
	})
	return to
}

// DeleteCheckpoints does what the emptier does with what it has renamed: it deletes, for
// good, each that was given its name more than the interval of the trash ago. Current and
// all that has no such name stay. Their paths are the answer.
func (f *FS) DeleteCheckpoints(trash string) []string {
	var deleted []string
	f.admin(func(s *state) {
		l, err := s.tree.locate(trash)
		if err != nil || l.last() == nil || s.trash <= 0 {
			return
		}
		oldest := time.UnixMilli(s.now).Add(-s.trash)
		for _, c := range append([]child(nil), l.last().children...) {
			if len(c.name) < len(checkpointName) {
				continue
			}
			named, err := time.Parse(checkpointName, c.name[:len(checkpointName)])
			if err != nil || !named.Before(oldest) {
				continue
			}
			s.tree.remove(c.id, s.now)
			deleted = append(deleted, trash+"/"+c.name)
		}
	})
	return deleted
}

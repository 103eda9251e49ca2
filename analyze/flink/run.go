package flink

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"fsweep/proto/flinkmeta"
)

// run is the run of a file, as a directory.
type run struct {
	name string
	// unique: no other run has this name, so it may be looked for anywhere in a
	// path: the changelog of a run lies elsewhere, under the same name.
	unique bool
	// dir is where the run is, in the paths as they are stored: names without
	// scheme and authority, which can differ between references to one HDFS.
	dir []string
}

// holds tells whether a directory is the run's or below it.
func (r *run) holds(dir []string) bool {
	if r.unique {
		return slices.Contains(dir, r.name)
	}
	n := len(r.dir)
	if n == 0 || len(dir) < n || !slices.Equal(r.dir, dir[:n]) {
		return false
	}
	// In a directory without an id in its name there can be other runs.
	return isJobID(r.name) || len(dir) == n || isState(dir[n])
}

// findRun finds the file's own run and marks the directories outside of it.
//
// People copy files from HDFS to where they please, so neither the place of the
// file alone nor the paths in it alone tell. A wrong run would mark all or
// nothing; where it is not clear, it stays unknown.
func (m *Metadata) findRun(location string) {
	own, ok := m.ownRun(location)
	if !ok {
		return
	}
	m.Run = own.name
	for i := range m.Directories {
		d := &m.Directories[i]
		if d.Relative {
			// What lies beside the file is its own.
			d.Outside = strings.HasPrefix(path.Clean(d.Path)+"/", "../")
		} else {
			d.Outside = !own.holds(components(d.Path))
		}
	}
}

func (m *Metadata) ownRun(location string) (run, bool) {
	names := components(path.Dir(location)) // of the directory that holds the file
	if n := len(names); location != "" && n > 0 {
		switch last := names[n-1]; {
		case last == m.checkpointName() && m.Info.Kind != flinkmeta.Savepoint:
			if r, ok := m.runAt(names[:n-1]); ok {
				return r, true
			}
		case m.mayBeSavepoint(last):
			return m.runAt(names)
		}
	}
	if m.Info.Kind == flinkmeta.Savepoint {
		return run{}, false
	}
	return m.runInPaths()
}

// mayBeSavepoint tells whether the file can be a savepoint's, given the name of
// the directory that holds it. The first versions do not say; there all files of
// a savepoint lie beside its own.
func (m *Metadata) mayBeSavepoint(directory string) bool {
	if m.Info.Kind != flinkmeta.UnknownSnapshot {
		return m.Info.Kind == flinkmeta.Savepoint
	}
	const firstToTell = 4
	return isSavepoint(directory) ||
		m.Info.Version < firstToTell && !isCheckpoint(directory) && len(m.Directories) > 0 && m.allRelative()
}

func (m *Metadata) checkpointName() string {
	return "chk-" + strconv.FormatInt(m.Info.CheckpointID, 10)
}

func (m *Metadata) allRelative() bool {
	return !slices.ContainsFunc(m.Directories, func(d Directory) bool { return !d.Relative })
}

// runAt looks whether a directory on this machine is a run, and which of the
// stored paths are those of this run. at is the way there.
func (m *Metadata) runAt(at []string) (run, bool) {
	if len(at) == 0 {
		return run{}, false
	}
	name := at[len(at)-1]
	r := run{name: name, unique: isJobID(name) && !isReused(name) || isSavepoint(name)}
	if r.unique || m.allRelative() {
		return r, true
	}
	// Nothing tells that the name is a run's but that paths lead there. If they
	// lead to several places of that name, the one counts whose way is most alike.
	best, tie := 0, false
	for _, d := range m.Directories {
		for _, place := range placesOf(name, d) {
			switch n := commonEnd(place, at); {
			case n > best:
				best, tie, r.dir = n, false, place
			case n == best && !slices.Equal(place, r.dir):
				tie = true
			}
		}
	}
	// An id is a run even where nothing leads into it.
	return r, !tie && (best > 0 || isJobID(name))
}

// placesOf gives the directories called name on the way to d that can be runs.
func placesOf(name string, d Directory) (places [][]string) {
	if d.Relative {
		return nil
	}
	names := components(d.Path)
	for i, s := range names {
		if s == name && (isJobID(name) || i+1 == len(names) || isState(names[i+1])) {
			places = append(places, names[:i+1])
		}
	}
	return places
}

func commonEnd(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// runInPaths gives the run that holds this checkpoint's directory according to
// the paths, if they lead to exactly one.
func (m *Metadata) runInPaths() (run, bool) {
	var found []string
	for _, d := range m.Directories {
		if d.Relative {
			continue
		}
		names := components(d.Path)
		for i, s := range names {
			if i == 0 || s != m.checkpointName() {
				continue
			}
			if found != nil && !slices.Equal(found, names[:i]) {
				return run{}, false
			}
			found = names[:i]
		}
	}
	if found == nil {
		return run{}, false
	}
	name := found[len(found)-1]
	return run{name: name, unique: isJobID(name) && !isReused(name), dir: found}, true
}

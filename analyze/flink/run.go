package flink

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"fsweep/proto/flinkmeta"
)

// Side tells where a directory is, seen from the file's own run.
type Side uint8

// The sides.
const (
	// SideUnknown: nothing tells, as of what a checkpoint has relative paths for:
	// it can be beside the file, and it can be in a native savepoint (FLINK-39964).
	SideUnknown Side = iota
	Inside
	Outside
)

// spot is a directory in the paths as they are stored.
type spot struct {
	names  []string // without scheme and authority, which differ between references to one HDFS
	stored string   // with those of one reference
}

// ownRun is the run of a file, or nothing if it is unknown.
type ownRun struct {
	name string
	spot // empty if no reference leads there
	// savepoint: it is one, whose files lie in no directories of their own.
	savepoint bool
	// folder is the name of the run by the place of the file, where references prove another.
	folder string
}

// findRun finds the file's own run and tells on which side of it each directory is.
//
// People copy files from HDFS to where they please, jobs get the id of an earlier
// one, and roots are moved: neither the place of the file alone nor one name alone
// tells. A wrong run would mark all or nothing; where it is not clear, it stays unknown.
func (m *Metadata) findRun(location string) {
	at := components(path.Dir(location)) // of the directory that holds the file
	if location == "" {
		at = nil
	}
	folder := ""
	if len(at) > 0 {
		folder = at[len(at)-1]
	}
	var own ownRun
	savepoint := m.Info.Kind == flinkmeta.Savepoint || m.Info.Kind == flinkmeta.UnknownSnapshot && isSavepoint(folder)
	if savepoint {
		own = m.savepointAt(at, folder)
	} else {
		own = m.checkpointAt(at, folder)
	}
	if own.name == "" {
		return
	}
	m.Run, m.RunPath, m.FolderRun = own.name, own.stored, own.folder
	for i := range m.Directories {
		d := &m.Directories[i]
		switch {
		case !d.Relative:
			d.Side = own.side(components(d.Path))
		case !savepoint:
			d.Side = SideUnknown
		case d.Beside():
			d.Side = Inside
		default:
			d.Side = Outside
		}
	}
}

// Beside tells whether a relative directory is the file's own or below it.
func (d *Directory) Beside() bool {
	return d.Relative && !strings.HasPrefix(d.Path, "/") && len(prefix([]byte(d.Path))) == 0 && !leadsUp(strings.Split(d.Path, "/"))
}

// savepointAt gives the savepoint whose directory is folder, at the end of at.
func (m *Metadata) savepointAt(at []string, folder string) ownRun {
	if folder == "" || isState(folder) || isJobID(folder) {
		return ownRun{}
	}
	named := isSavepoint(folder)
	spots := m.spots(func(names []string, n int) bool {
		return names[n-1] == folder && (named || n == len(names))
	})
	own := ownRun{name: folder, savepoint: true}
	if len(spots) == 0 {
		if !named && !m.allRelative() {
			return ownRun{}
		}
		return own
	}
	var ok bool
	if own.spot, ok = nearest(spots, at, named); !ok {
		return ownRun{}
	}
	return own
}

// checkpointAt gives the run of a checkpoint in folder, at the end of at.
func (m *Metadata) checkpointAt(at []string, folder string) ownRun {
	chk := "chk-" + strconv.FormatInt(m.Info.CheckpointID, 10)
	name := ""
	if n := len(at); folder == chk && n > 1 && !isState(at[n-2]) {
		name = at[n-2]
	}
	// State in the checkpoint's own directory proves where that is.
	proved := m.spots(func(names []string, n int) bool {
		return n < len(names) && names[n] == chk && !isState(names[n-1])
	})
	switch {
	case len(proved) > 1:
		return ownRun{}
	case len(proved) == 1:
		own := ownRun{name: proved[0].names[len(proved[0].names)-1], spot: proved[0]}
		if name != own.name {
			own.folder = name
		}
		return own
	case name == "":
		return ownRun{}
	}
	spots := m.spots(func(names []string, n int) bool {
		return names[n-1] == name && (n == len(names) && isJobID(name) || n < len(names) && isState(names[n]))
	})
	if len(spots) == 0 {
		if isJobID(name) { // a run even where nothing leads into it
			return ownRun{name: name}
		}
		return ownRun{}
	}
	own := ownRun{name: name}
	var ok bool
	if own.spot, ok = nearest(spots, at[:len(at)-1], isJobID(name) && !isReused(name)); !ok {
		return ownRun{}
	}
	return own
}

// spots gives, each once, the directories on the way to those of the file that can
// be a run's and that match accepts. It is asked about the first n names of a path;
// n is not below the last id of a job, which would be of the run in that.
func (m *Metadata) spots(match func(names []string, n int) bool) (found []spot) {
	seen := map[string]bool{}
	for _, d := range m.Directories {
		names := components(d.Path)
		if d.Relative || leadsUp(names) {
			continue
		}
		for n := max(lastID(names), 1); n <= len(names); n++ {
			if !match(names, n) {
				continue
			}
			if dir := "/" + strings.Join(names[:n], "/"); !seen[dir] {
				seen[dir] = true
				found = append(found, spot{names[:n], string(prefix([]byte(d.Path))) + dir})
			}
		}
	}
	return found
}

// nearest chooses the spot that ends most like at, the way to the file on this
// machine. A name that others can have as well is no proof: the name before it
// must be the same too, unless the whole spot is.
func nearest(spots []spot, at []string, unique bool) (spot, bool) {
	best, tie := 0, false
	var chosen spot
	for _, s := range spots {
		switch n := commonEnd(s.names, at); {
		case n > best:
			best, tie, chosen = n, false, s
		case n == best:
			tie = true
		}
	}
	return chosen, !tie && (unique || best > 1 || best == len(chosen.names))
}

// side tells where the directory of these names is.
func (r *ownRun) side(names []string) Side {
	if leadsUp(names) {
		return Outside
	}
	n, id := len(r.names), lastID(names)
	if n > 0 && len(names) >= n && slices.Equal(r.names, names[:n]) && id <= n {
		// In a directory without an id in its name there can be other runs.
		if isJobID(r.name) || isSavepoint(r.name) || len(names) == n || !r.savepoint && isState(names[n]) {
			return Inside
		}
	}
	// The changelog of a run lies elsewhere, below the same id.
	if id == 0 || id == len(names) || names[id] != "dstl" || r.savepoint {
		return Outside
	}
	switch {
	case !isJobID(r.name):
		return SideUnknown
	case names[id-1] != r.name:
		return Outside
	case isReused(r.name):
		return SideUnknown
	}
	return Inside
}

func (m *Metadata) allRelative() bool {
	return !slices.ContainsFunc(m.Directories, func(d Directory) bool { return !d.Relative })
}

// lastID gives the number of names up to and including the last id of a job.
func lastID(names []string) int {
	n := len(names)
	for n > 0 && !isJobID(names[n-1]) {
		n--
	}
	return n
}

// leadsUp tells whether a path does not simply lead down. Flink writes none.
func leadsUp(names []string) bool { return slices.Contains(names, "..") }

func commonEnd(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

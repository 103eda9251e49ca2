package act

import (
	"path"
	"slices"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

// scene is a world that takes every branch of a move.
type scene struct {
	name  string
	world func(t *testing.T) *world
	state string // of the items in the end
}

// every says how many operations a sweep goes on at a time. The scenes are alike, so only the first
// one, the trash, is gone through densely; the others take what time allows.
type every struct{ first, short, others, othersShort int }

func (e every) of(k int) int {
	switch {
	case k == 0 && testing.Short():
		return e.short
	case k == 0:
		return e.first
	case testing.Short():
		return e.othersShort
	}
	return e.others
}

// scenes are what every sweep goes through: the trash and a quarantine, one NameNode and two,
// those that remember what they did and those that do not.
func scenes() []scene {
	return []scene{
		{"trash", func(t *testing.T) *world { return busy(t, fakehdfs.Options{}) }, busyState},
		{"quarantine", secluded, secludedState},
		{"two NameNodes", func(t *testing.T) *world { return busy(t, fakehdfs.Options{HA: true}) }, busyState},
		{"no retry cache", func(t *testing.T) *world { return busy(t, fakehdfs.Options{HA: true, NoRetries: true}) }, busyState},
	}
}

// busy is a world in which names are taken, something is refused, and something turns out in
// the end to be referred to.
func busy(t *testing.T, o fakehdfs.Options) *world {
	t.Helper()
	w := newWorld(t, o)
	w.forgetful = o.NoRetries
	w.referred = []uint64{w.id("/data/a/taken")}
	return w
}

const busyState = `"/data/a/plain" trash
"/data/a/taken" home
"/data/b/below-a-file" trash
"/data/b/kept" home
"/data/c/nnnnnnnnnnnn" trash
"/data/c/two words\n*" trash
"/data/c/foreign" home
"/zone/d/sealed" trash
`

// secluded is busy with a quarantine in place of the trash.
func secluded(t *testing.T) *world {
	t.Helper()
	w := busy(t, fakehdfs.Options{})
	w.fs.Put("/quarantine/data/a/taken/x", user, nil)
	w.fs.Put("/quarantine/data/b", user, nil)
	w.fs.Put("/quarantine/data/c/"+longName, user, nil)
	for _, p := range []string{"/quarantine/data/a/taken", "/quarantine/data/c"} {
		for ; p != "/"; p = path.Dir(p) {
			w.fs.Mkdir(p, user, 0o700)
		}
	}
	w.plan.Header.Removal = planfile.RemovalQuarantine
	w.plan.Header.Quarantine = []planfile.Place{{Path: "/quarantine", InodeID: w.id("/quarantine")}}
	w.keep[w.id("/zone/d/sealed")] = "encryption-zone" // nothing leaves one
	return w
}

// A quarantine is no trash: who may write the directory above may move a directory whatever is
// in it.
const secludedState = `"/data/a/plain" trash
"/data/a/taken" home
"/data/b/below-a-file" trash
"/data/b/kept" home
"/data/c/nnnnnnnnnnnn" trash
"/data/c/two words\n*" trash
"/data/c/foreign" trash
"/zone/d/sealed" home
`

// left gives the files that can be there when a process, or the power of its machine, is gone:
// all that was written, and what was synced with any part of the rest, or with zeros in its place.
func (d *disk) left() [][]byte {
	n, rest := d.durable, len(d.data)-d.durable
	all := [][]byte{slices.Clone(d.data)}
	if rest <= 0 {
		return all
	}
	return append(all,
		slices.Clone(d.data[:n]), slices.Clone(d.data[:n+rest/2]), slices.Clone(d.data[:len(d.data)-1]),
		append(slices.Clone(d.data[:n]), make([]byte, min(rest, 4096))...),
	)
}

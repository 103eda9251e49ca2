package main

import (
	"bytes"
	"hash/maphash"
	"slices"

	"fsweep/analyze/flink"
	"fsweep/cmd/internal/cli"
	"fsweep/proto/flinkmeta"
	"fsweep/reports"
)

// twins finds relative names of a checkpoint that are those of a savepoint's files.
// Flink makes names at random, so these files are in the savepoint: FLINK-39964.
type twins struct {
	seed        maphash.Seed
	names       []uint64 // hashes of the base names in this file
	kept        int
	savepoints  map[uint64]string // the file of the savepoint by name
	checkpoints []twinsOf
}

type twinsOf struct {
	file  string
	names []uint64
}

// twinsLimit is how many names are kept: with more, what they would tell is not
// told, and every relative path is as uncertain as it says.
const twinsLimit = 2 << 20

func newTwins() *twins {
	return &twins{seed: maphash.MakeSeed(), savepoints: map[uint64]string{}}
}

func (t *twins) ref(r *flink.Ref) {
	if r.Pointer || r.Kind != flinkmeta.Relative || t.kept >= twinsLimit {
		return
	}
	t.kept++
	t.names = append(t.names, maphash.Bytes(t.seed, r.Path[bytes.LastIndexByte(r.Path, '/')+1:]))
}

// end ends a file.
func (t *twins) end(file string, m *flink.Metadata) {
	certain := slices.ContainsFunc(m.Directories, func(d flink.Directory) bool { return d.Relative && d.Side == flink.Inside })
	switch {
	case len(t.names) == 0:
	case certain: // only a savepoint's are
		for _, n := range t.names {
			t.savepoints[n] = file
		}
		t.names = t.names[:0]
	default:
		t.checkpoints = append(t.checkpoints, twinsOf{file, t.names})
		t.names = nil
	}
}

// warn tells what was found in all files.
func (t *twins) warn(env *cli.Env) {
	for _, c := range t.checkpoints {
		found := map[string]int{}
		var order []string
		for _, n := range c.names {
			if file, ok := t.savepoints[n]; ok {
				if found[file]++; found[file] == 1 {
					order = append(order, file)
				}
			}
		}
		for _, file := range order {
			env.Warn("%s: relative paths that are those of a savepoint, %s, and most likely lead there (FLINK-39964): %d",
				reports.Escape(c.file), reports.Escape(file), found[file])
		}
	}
}

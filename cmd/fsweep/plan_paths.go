package main

import (
	"context"
	"strings"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// place is what the image has at a path.
type place struct {
	path    cleanup.Path
	dir     namespace.Dir // NoDir: no directory
	file    *flink.File   // nil: no file
	inodeID uint64        // of a file or symlink; 0: there is none
	atimeMs int64         // of a file
}

// exists tells whether the image has anything there.
func (p *place) exists() bool { return p.dir != namespace.NoDir || p.inodeID != 0 }

// pathFinder finds paths in an image: directories with one look at the tree for each
// level, since the tree has no index by name, and files with one pass over the
// inodes, which is left out when all are directories.
type pathFinder struct {
	t      *namespace.Tree
	places []place
	rest   [][]string // what is left of each path
}

// findPaths looks for paths, which are clean; "/" is one. The result is in their order.
func findPaths(ctx context.Context, t *namespace.Tree, workers int, paths []cleanup.Path) ([]place, error) {
	f := pathFinder{t: t, places: make([]place, len(paths)), rest: make([][]string, len(paths))}
	for i, p := range paths {
		f.places[i] = place{path: p, dir: t.Root()}
		if p != "/" {
			f.rest[i] = strings.Split(string(p[1:]), "/")
		}
	}
	for f.descend() {
	}
	wanted := map[namespace.Dir]map[string][]int{}
	for i := range f.places {
		p := &f.places[i]
		if len(f.rest[i]) == 0 {
			continue
		}
		if len(f.rest[i]) == 1 { // its directory is there
			if wanted[p.dir] == nil {
				wanted[p.dir] = map[string][]int{}
			}
			wanted[p.dir][f.rest[i][0]] = append(wanted[p.dir][f.rest[i][0]], i)
		}
		p.dir = namespace.NoDir
	}
	return f.places, f.files(ctx, workers, wanted)
}

// descend goes one level down wherever there is one, and tells whether it did.
func (f *pathFinder) descend() bool {
	wanted := map[namespace.Dir]map[string][]int{}
	for i, rest := range f.rest {
		if len(rest) == 0 {
			continue
		}
		d := f.places[i].dir
		if wanted[d] == nil {
			wanted[d] = map[string][]int{}
		}
		wanted[d][rest[0]] = append(wanted[d][rest[0]], i)
	}
	if len(wanted) == 0 {
		return false
	}
	went := false
	for c := range f.t.Dirs() {
		names := wanted[f.t.Parent(c)]
		if names == nil || c == f.t.Root() {
			continue
		}
		list := names[string(f.t.Name(c))]
		delete(names, string(f.t.Name(c))) // of two with one name the first is taken
		for _, i := range list {
			f.places[i].dir, f.rest[i] = c, f.rest[i][1:]
			went = true
		}
	}
	return went
}

// files looks for what is no directory.
func (f *pathFinder) files(ctx context.Context, workers int, wanted map[namespace.Dir]map[string][]int) error {
	if len(wanted) == 0 {
		return nil
	}
	type hit struct {
		at []int
		place
	}
	hits := make([][]hit, workers)
	holds := func(d namespace.Dir) bool { return wanted[d] != nil }
	err := f.t.EachINodeIn(ctx, workers, holds, func(worker int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			if e.Dir != namespace.NoDir {
				return nil
			}
			if at := wanted[e.Parent][string(e.INode.Name)]; at != nil {
				hits[worker] = append(hits[worker], hit{at, found(e)})
			}
			return nil
		})
	})
	for _, list := range hits {
		for _, h := range list {
			for _, i := range h.at {
				// Two can have one name in a broken image; the order of workers must not
				// tell which is taken.
				if p := &f.places[i]; p.inodeID == 0 || h.inodeID < p.inodeID {
					p.file, p.inodeID, p.atimeMs = h.file, h.inodeID, h.atimeMs
				}
			}
		}
	}
	return err
}

// found gives what a file or symlink is.
func found(e *namespace.Entry) place {
	p := place{inodeID: e.INode.ID}
	if e.INode.Type == fsimage.FileType {
		p.atimeMs = e.ATimeMs()
		p.file = &flink.File{
			Name: string(e.INode.Name), INodeID: e.INode.ID, Length: e.Length(), MTimeMs: e.MTimeMs(), Open: e.INode.File.UnderConstruction,
		}
	}
	return p
}

// missingPins gives a warning for pinned paths that the image does not have: they
// pin nothing. Guards are known already, so that files among pins rarely need a pass.
func missingPins(ctx context.Context, t *namespace.Tree, survey *flink.Survey, workers int, pins []cleanup.Path) ([]string, error) {
	if len(pins) == 0 {
		return nil, nil
	}
	guards := make(map[string]bool, len(pins)) // whether pins are guards
	for _, p := range pins {
		guards[string(p)] = false
	}
	err := survey.EachGuard(ctx, func(_ *flink.Guard, path []byte) error {
		if _, pinned := guards[string(path)]; pinned {
			guards[string(path)] = true
		}
		return nil
	})
	if err != nil {
		return nil, tempHint(err)
	}
	var ask []cleanup.Path
	for _, p := range pins {
		if !guards[string(p)] {
			ask = append(ask, p)
		}
	}
	places, err := findPaths(ctx, t, workers, ask)
	if err != nil {
		return nil, err
	}
	var missing []cleanup.Path
	for i := range places {
		if !places[i].exists() {
			missing = append(missing, places[i].path)
		}
	}
	return pinWarnings(missing), nil
}

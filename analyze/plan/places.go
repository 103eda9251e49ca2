package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
)

// maxAnchors is how many directories prove the cluster; more prove nothing more.
const maxAnchors = 32

// placed are the places of the header.
type placed struct {
	lock, quarantine *place
	holds, protect   []*place
}

// place is a path of the policy, which can be in the image or not.
type place struct {
	planfile.Place
	dir     namespace.Dir // the directory, or the last one on the way to it
	missing bool          // what it is of is no directory
	rest    []string      // components that are still to be found
}

// watch is a file that is looked for in a directory.
type watch struct {
	item  *work  // an item
	place *place // a path of the policy
	known string // the root of which all files of the first level are known
	name  string // of place
}

func (b *builder) watch(d namespace.Dir, w *watch) {
	b.watched[d] = append(b.watched[d], w)
	b.column[d] |= watchBit
}

// watch looks whether an inode is one that was looked for.
func (p *pass) watch(e *namespace.Entry) error {
	b := p.b
	for _, w := range b.watched[e.Parent] {
		switch {
		case w.item != nil && w.item.item.INodeID == e.INode.ID && e.INode.Type == fsimage.FileType:
			f, err := b.fileFacts(e)
			if err != nil {
				return err
			}
			sum := planfile.Fingerprint()
			sum.Add(fingerprinted(b.t, e))
			p.found.Lock()
			w.item.file, w.item.sum = &f, *sum
			p.found.Unlock()
		case w.place != nil && w.name == string(e.INode.Name):
			p.found.Lock()
			w.place.InodeID = e.INode.ID
			p.found.Unlock()
		case w.known != "" && !impossible(e.INode.Name):
			p.found.Lock()
			b.ignored = append(b.ignored, planfile.Known{
				Kind: planfile.KnownEntry, Path: planfile.Path(w.known + "/" + string(e.INode.Name)), InodeID: e.INode.ID, Root: planfile.Path(w.known),
			})
			p.found.Unlock()
		}
	}
	return nil
}

// places finds the paths of the policy, and asks for files right below roots.
func (b *builder) places() {
	var all []*place
	add := func(path cleanup.Path) *place {
		p := &place{Place: planfile.Place{Path: planfile.Path(path)}, dir: b.t.Root(), rest: strings.Split(string(path[1:]), "/")}
		all = append(all, p)
		return p
	}
	p := b.r.Policy
	b.at.lock = add(p.LockDir)
	if p.Removal.Quarantine != "" {
		b.at.quarantine = add(p.Removal.Quarantine)
	}
	for _, path := range p.HoldPaths {
		b.at.holds = append(b.at.holds, add(path))
	}
	for _, path := range p.Protect {
		b.at.protect = append(b.at.protect, add(path))
	}
	b.resolve(all)
	for _, p := range all {
		if !p.missing {
			p.InodeID = b.t.ID(p.dir)
		} else if len(p.rest) == 1 {
			b.watch(p.dir, &watch{place: p, name: p.rest[0]})
		}
	}
	for _, r := range b.r.Decision.Roots {
		// Only names that the policy ignores are there; in a root that is stopped it
		// can be anything.
		if len(r.Stopped) == 0 && r.Policy.Layout != cleanup.Children && r.Root.Dir != namespace.NoDir && len(r.Policy.Ignore) > 0 {
			b.watch(r.Root.Dir, &watch{known: string(r.Policy.Path)})
		}
	}
}

// resolve finds directories by path, all at once: the tree has no index of names.
func (b *builder) resolve(all []*place) {
	open := map[namespace.Dir][]*place{b.t.Root(): slices.Clone(all)}
	for len(open) > 0 {
		next := map[namespace.Dir][]*place{}
		for d := range open {
			b.column[d] |= watchBit // borrowed: a look-up costs less so
		}
		for d := range b.t.Dirs() {
			up := b.t.Parent(d)
			if up == namespace.NoDir || b.column[up]&watchBit == 0 {
				continue
			}
			name := b.t.Name(d)
			for _, p := range open[up] {
				if p.dir == up && string(name) == p.rest[0] && !impossible(name) {
					if p.dir, p.rest = d, p.rest[1:]; len(p.rest) > 0 {
						next[d] = append(next[d], p)
					}
				}
			}
		}
		for d := range open {
			if b.watched[d] == nil {
				b.column[d] &^= watchBit
			}
		}
		open = next
	}
	for _, p := range all {
		p.missing = len(p.rest) > 0
	}
}

// missing tells which protected paths are nowhere in the image.
func (b *builder) missing() error {
	var names []string
	for _, p := range b.at.protect {
		if p.InodeID == 0 {
			names = append(names, string(pathtext.Append(nil, string(p.Path))))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("%w: ['%s']", ErrNotFound, strings.Join(names, "', '"))
}

func listed(places []*place) []planfile.Place {
	var out []planfile.Place
	for _, p := range places {
		out = append(out, p.Place)
	}
	slices.SortFunc(out, func(a, b planfile.Place) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// anchors are directories that live as long as the cluster: the roots, the lock
// directory, and what is above them. No item is one of them, or above one.
func (b *builder) anchors() []planfile.Place {
	var dirs []namespace.Dir
	for _, r := range b.r.Decision.Roots {
		if r.Root.Dir != namespace.NoDir {
			dirs = append(dirs, r.Root.Dir)
		}
	}
	if !b.at.lock.missing {
		dirs = append(dirs, b.at.lock.dir)
	}
	if len(dirs) == 0 {
		dirs = b.oldest()
	}
	seen := map[namespace.Dir]bool{b.t.Root(): true} // no plan may have it, and all clusters do
	var out []planfile.Place
	for level := dirs; len(level) > 0 && len(out) < maxAnchors; {
		var up []namespace.Dir
		for _, d := range level {
			if d == namespace.NoDir || seen[d] {
				continue
			}
			seen[d] = true
			up = append(up, b.t.Parent(d))
			p := planfile.Place{Path: planfile.Path(b.t.AppendPath(nil, d)), InodeID: b.t.ID(d)}
			if p.Path.Clean() == nil && len(out) < maxAnchors {
				out = append(out, p)
			}
		}
		level = up
	}
	slices.SortFunc(out, func(a, b planfile.Place) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// oldest gives some directories of the first level where the policy names none that
// exists. Nothing can be executed then, but the plan still says of which cluster.
func (b *builder) oldest() []namespace.Dir {
	var dirs []namespace.Dir
	for d := range b.t.Dirs() {
		if b.t.Parent(d) == b.t.Root() {
			dirs = append(dirs, d)
		}
	}
	slices.SortFunc(dirs, func(x, y namespace.Dir) int { return cmp.Compare(b.t.ID(x), b.t.ID(y)) })
	return dirs[:min(len(dirs), 4)]
}

// rootOf gives the innermost root of the plan that holds a path.
func (b *builder) rootOf(path []byte) planfile.Path {
	var found []byte
	for _, r := range b.d.Roots {
		if len(path) > len(r.Path) && path[len(r.Path)] == '/' && bytes.HasPrefix(path, r.Path) && len(r.Path) > len(found) {
			found = r.Path
		}
	}
	return planfile.Path(found)
}

var guardKinds = map[flink.GuardKind]planfile.GuardKind{
	flink.MetadataGuard: planfile.GuardMetadata, flink.CheckpointPointer: planfile.GuardHAPointer, flink.JobPointer: planfile.GuardHAPointer,
}

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
	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
)

// maxAnchors is how many directories prove the cluster; more prove nothing more.
const maxAnchors = 32

// placed are the places of the header.
type placed struct {
	lock, quarantine *place
	holds, protect   []*place
	ignored          []ignored
}

// ignored is a name that a root ignores.
type ignored struct {
	*place
	root cleanup.Path
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
	place *place // a path of the policy
	name  string
}

// places finds the paths of the policy, and asks for those that are no directories.
func (c *Collector) places() {
	var all []*place
	add := func(path cleanup.Path) *place {
		p := &place{Place: planfile.Place{Path: planfile.Path(path)}, dir: c.t.Root(), rest: strings.Split(string(path[1:]), "/")}
		all = append(all, p)
		return p
	}
	c.at.lock = add(c.p.LockDir)
	if c.p.Removal.Quarantine != "" {
		c.at.quarantine = add(c.p.Removal.Quarantine)
	}
	for _, path := range c.p.HoldPaths {
		c.at.holds = append(c.at.holds, add(path))
	}
	for _, path := range c.p.Protect {
		c.at.protect = append(c.at.protect, add(path))
	}
	for i := range c.p.Roots {
		r := &c.p.Roots[i]
		if r.Layout == cleanup.Children {
			continue
		}
		for _, name := range r.Ignore {
			c.at.ignored = append(c.at.ignored, ignored{add(r.Path + cleanup.Path("/"+string(name))), r.Path})
		}
	}
	c.resolve(all)
	for _, p := range all {
		if !p.missing {
			p.InodeID = c.t.ID(p.dir)
		} else if len(p.rest) == 1 {
			c.watch(p.dir, &watch{place: p, name: p.rest[0]})
		}
	}
}

// resolve finds directories by path, all at once: the tree has no index of names.
func (c *Collector) resolve(all []*place) {
	open := map[namespace.Dir][]*place{c.t.Root(): slices.Clone(all)}
	for len(open) > 0 {
		next := map[namespace.Dir][]*place{}
		for d := range open {
			c.near.set(d) // borrowed: a look-up costs less so
		}
		for d := range c.t.Dirs() {
			up := c.t.Parent(d)
			if up == namespace.NoDir || !c.near.has(up) {
				continue
			}
			name := c.t.Name(d)
			for _, p := range open[up] {
				if p.dir == up && string(name) == p.rest[0] {
					if p.dir, p.rest = d, p.rest[1:]; len(p.rest) > 0 {
						next[d] = append(next[d], p)
					}
				}
			}
		}
		for d := range open {
			c.near.clear(d)
		}
		open = next
	}
	for _, p := range all {
		p.missing = len(p.rest) > 0
	}
}

// ignored gives the files right below roots that the policy tells to ignore. In a root
// that is stopped anything can be, so nothing there is known.
func (b *builder) ignored() (known []planfile.Known) {
	stopped := map[cleanup.Path]bool{}
	for _, r := range b.r.Decider.Decision().Roots {
		stopped[r.Policy.Path] = len(r.Stopped) > 0
	}
	for _, i := range b.at.ignored {
		if i.missing && i.InodeID != 0 && !stopped[i.root] {
			known = append(known, planfile.Known{Kind: planfile.KnownEntry, Path: i.Path, InodeID: i.InodeID, Root: planfile.Path(i.root)})
		}
	}
	return known
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

// unusable warns of what keeps any executor from carrying the plan out, as far as the
// image shows it. A lock directory that is not there may still be made.
func (b *builder) unusable() (out []string) {
	warn := func(format string, p *place) {
		out = append(out, fmt.Sprintf(format, pathtext.Append(nil, string(p.Path))))
	}
	if p := b.at.lock; p.missing && p.InodeID != 0 {
		warn("the lock directory %s is no directory: nothing can be executed", p)
	}
	switch p := b.at.quarantine; {
	case p == nil || !p.missing:
	case p.InodeID != 0:
		warn("the quarantine %s is no directory: nothing can be executed", p)
	default:
		warn("the quarantine %s is not in the image: nothing of this plan can be executed; make it, and plan from an image that has it", p)
	}
	for _, p := range b.at.holds {
		if p.InodeID != 0 {
			warn("the hold path %s exists: nothing is executed while it does", p)
		}
	}
	return out
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
	for _, r := range b.r.Decider.Decision().Roots {
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
	seen := map[namespace.Dir]bool{}
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
			if p.Path.Clean() == nil && len(out) < maxAnchors { // not /, which all clusters have
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
	for _, r := range b.s.Roots {
		if len(path) > len(r.Path) && path[len(r.Path)] == '/' && bytes.HasPrefix(path, r.Path) && len(r.Path) > len(found) {
			found = r.Path
		}
	}
	return planfile.Path(found)
}

var guardKinds = map[flink.GuardKind]planfile.GuardKind{
	flink.MetadataGuard: planfile.GuardMetadata, flink.CheckpointPointer: planfile.GuardHAPointer, flink.JobPointer: planfile.GuardHAPointer,
}

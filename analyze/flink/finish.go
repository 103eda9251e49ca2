package flink

import (
	"bytes"
	"cmp"
	"slices"

	"fsweep/analyze/namespace"
)

// finish turns what the passes saw into the result.
func (b *builder) finish(s *scan) {
	b.guards(s)
	b.unfinished(s)
	b.strays(s)
	b.bareRuns()
	b.openFiles()
	b.markFlags()
	for i := range b.nodes {
		if n := &b.nodes[i]; n.unit != noUnit {
			b.addTimes(n, &b.facts[i])
			b.addMarks(n, &b.facts[i])
		}
	}
	for i, u := range b.units {
		b.finishUnit(int32(i), u)
	}
	for i, r := range b.roots {
		b.finishRoot(uint32(i), r)
	}
	b.facts = nil
}

// guards sorts them, and gives those in units to these.
func (b *builder) guards(s *scan) {
	all := b.sorted(s)
	for i := range all {
		if n := b.at(all[i].Parent); n != noNode {
			b.guardBelow(&all[i], n)
		}
	}
	b.out.Guards = all
}

// sorted gives the guards by path.
func (b *builder) sorted(s *scan) []Guard {
	type one struct {
		path []byte
		g    *Guard
	}
	var found blocks[one]
	var arena []byte
	n := 0
	for i := range s.workers {
		for _, list := range s.workers[i].V.guards {
			for k := range list {
				if len(arena) > cap(arena)-maxUsualPath {
					arena = make([]byte, 0, 64<<10)
				}
				at := len(arena)
				arena = b.guardPath(arena, &list[k])
				found.add(one{arena[at:], &list[k]})
				n++
			}
		}
		s.workers[i].V.guards = nil
	}
	order := slices.Concat(found...)
	slices.SortFunc(order, func(x, y one) int {
		return cmp.Or(bytes.Compare(x.path, y.path), cmp.Compare(x.g.INodeID, y.g.INodeID))
	})
	all := make([]Guard, n)
	for i := range order {
		all[i] = *order[i].g
	}
	return all
}

// maxUsualPath is room for a path; a longer one, which no client can make, only
// takes a copy.
const maxUsualPath = 8 << 10

// guardBelow sorts in a guard below a root.
func (b *builder) guardBelow(g *Guard, i uint32) {
	n := &b.nodes[i]
	metadata := g.Kind == MetadataGuard
	switch n.class {
	case child, otherChild:
		b.misfit(n.root, Misfit{Reason: FlinkState, Path: b.guardPath(nil, g), INodeID: g.INodeID, Detail: "a file of Flink"})
	case rootClass: // of all other layouts, it is a file among jobs
		if b.roots[n.root].Declared.Layout == Children && !b.ignored[n.root][g.Name] {
			b.misfit(n.root, Misfit{Reason: FlinkState, Path: b.guardPath(nil, g), INodeID: g.INodeID, Detail: "a file of Flink"})
		}
	case jobClass:
		if metadata {
			b.misfit(n.root, Misfit{Reason: MetadataMisplaced, Path: b.guardPath(nil, g), INodeID: g.INodeID, Detail: "a directory of a run or a savepoint: the root may be declared one level too deep"})
		}
	case outside:
	default:
		if metadata {
			b.metadata(g, n)
		} else if n.class == cluster {
			b.units[n.unit].Pointers++
		}
	}
}

// metadata gives a `_metadata` to the checkpoint or savepoint that it is of.
func (b *builder) metadata(g *Guard, n *node) {
	u := b.units[n.unit]
	f := b.fileRoom.next()
	*f = File{metadataName, g.INodeID, g.Length, g.MTimeMs, g.Open}
	switch {
	case n.class == savepoint && u.Metadata == nil:
		u.Metadata = f
	case n.class == checkpoint && b.checkpoints[n.checkpoint].Metadata == nil:
		c := b.checkpoints[n.checkpoint]
		c.Metadata = f
		c.Times.addMetadata(f)
	default:
		b.unknownIn(n.unit, Misfit{Reason: StrayMetadata, Path: b.guardPath(nil, g), INodeID: g.INodeID})
		return
	}
	u.Times.addMetadata(f)
	u.NewestFile.later(f.MTimeMs, MetadataPlace)
}

func (b *builder) unfinished(s *scan) {
	var all []unfinished
	for i := range s.workers {
		all = append(all, s.workers[i].V.unfinished...)
	}
	slices.SortFunc(all, func(x, y unfinished) int {
		return cmp.Or(cmp.Compare(x.file.Name, y.file.Name), cmp.Compare(x.file.INodeID, y.file.INodeID))
	})
	for _, f := range all {
		if n := &b.nodes[f.node]; n.class == checkpoint {
			c := b.checkpoints[n.checkpoint]
			c.InProgress = append(c.InProgress, f.file)
		} else {
			b.units[n.unit].InProgress = append(b.units[n.unit].InProgress, f.file)
		}
	}
}

// strays gives files and symlinks where there should be none to their root, job
// or unit.
func (b *builder) strays(s *scan) {
	all := map[uint32]*shortest[stray]{}
	for i := range s.workers {
		w := &s.workers[i].V
		for j, r := range w.fileRoots {
			r.INodeID = w.files[j].INodeID
			b.misfit(uint32(slices.Index(b.roots, r)), w.files[j])
		}
		for n, l := range w.strays {
			if all[n] == nil {
				all[n] = l
			} else {
				all[n].merge(l, w.limit(&b.nodes[n]), compareStrays)
			}
		}
	}
	for i, l := range all {
		n := &b.nodes[i]
		limit := s.workers[0].V.limit(n)
		l.cut(limit, compareStrays)
		more := l.n - int64(len(l.list)) // counted, not listed
		for _, f := range l.list {
			b.stray(i, n, f)
		}
		switch n.class {
		case rootClass, child, otherChild:
			b.misfits[n.root].n += more
		case jobClass:
			b.jobUnknown[b.jobNode[i]].n += more
		default:
			b.unknown[n.unit].n += more
		}
	}
}

// bareRuns looks at runs without state. An empty one stops no root, nor does one that
// has only its changelog, if others have state: a run that is too large for one move
// goes in parts, and this is what stays. Markers are ours, and say nothing about the
// layout.
func (b *builder) bareRuns() {
	for _, i := range b.bare {
		n := &b.nodes[i]
		switch u := b.units[n.unit]; {
		case b.facts[i].data > 0:
			b.misfitAt(i, RunWithoutState, noState)
		case u.Changelog.Exists() && !b.stateful[n.root]:
			b.misfitAt(i, RunWithoutState, onlyChangelog)
		}
	}
	b.bare = nil
}

func (b *builder) stray(i uint32, n *node, f stray) {
	path := append(b.path(i), '/')
	if impossible(f.name) {
		path = b.t.FilePath(nil, namespace.OpenFile{Parent: n.dir, Name: []byte(f.name), ID: f.id})
	} else {
		path = append(path, f.name...)
	}
	m := Misfit{Reason: f.reason, Path: path, INodeID: f.id}
	switch n.class {
	case rootClass:
		if m.Detail = "only directories are expected here"; m.Reason == FlinkState {
			m.Detail = "a file of Flink"
		}
		b.misfit(n.root, m)
	case child, otherChild:
		m.Detail = "a file of Flink"
		b.misfit(n.root, m)
	case jobClass:
		b.unknownInJob(b.jobNode[i], m)
	default:
		b.unknownIn(n.unit, m)
	}
}

func (b *builder) openFiles() {
	for _, f := range b.t.OpenFiles() {
		i := b.at(f.Parent)
		if i == noNode || b.nodes[i].unit == noUnit {
			continue
		}
		n := &b.nodes[i]
		b.units[n.unit].OpenFiles++
		if n.checkpoint != noUnit {
			b.checkpoints[n.checkpoint].OpenFiles++
		}
		if n.class == child {
			b.misfit(n.root, Misfit{Reason: OpenFileInChild, Path: b.t.FilePath(nil, f), INodeID: f.ID, Detail: "somebody is writing"})
		}
	}
}

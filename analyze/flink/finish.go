package flink

import (
	"context"
	"iter"
	"slices"

	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
)

// finish turns what the pass saw into what is known of roots as a whole.
func (s *Survey) finish(b *classifier) {
	s.strays(b)
	var data nodeSet
	for i := range s.scan.workers {
		w := &s.scan.workers[i].V
		data = append(data, w.data...)
		for r := range w.misfits {
			b.misfits[r].merge(&w.misfits[r], MaxListed, compareMisfits)
		}
		w.misfits, w.data, w.path = nil, nil, nil
	}
	slices.Sort(data)
	b.bareRuns(data)
	s.openFiles(b)
	s.findFlags()
	for i, r := range s.Roots {
		if r.Dir == namespace.NoDir && r.INodeID == 0 {
			b.misfit(uint32(i), Misfit{Reason: MissingRoot, Path: r.Path, INodeID: 0, Detail: "the root does not exist"})
		}
		r.Misfits, r.NumMisfits = done(&b.misfits[i], MaxListed)
		r.Flags = s.flags(r.Dir)
		if n := s.index.at(r.Dir); n != noNode {
			bits := s.scan.rootBits(n)
			r.Marked = bits&(markerBit|markedBit) != 0
		}
		s.stores(i, r)
	}
}

// rootBits gives the bits of facts of a node that is a root.
func (s *scan) rootBits(n uint32) (bits uint8) {
	if s.x.bits[n]&markerDir != 0 {
		bits = markerBit
	}
	for i := range s.workers {
		bits |= s.workers[i].V.rootBits[n]
	}
	return bits
}

// stores finds the directories with results of what ended.
func (s *Survey) stores(i int, r *Root) {
	if r.Declared.Layout != HAStorage || s.index.start[i] == s.index.start[i+1] {
		return
	}
	n := s.index.start[i]
	for c := range s.index.children(n) {
		if s.index.class(c) == storeClass {
			r.Stores = append(r.Stores, s.index.dirs[c])
		}
	}
}

// strays gives files and symlinks right in a root, and roots that are files, to the root.
func (s *Survey) strays(b *classifier) {
	all := map[uint32]*shortest[stray]{}
	for i := range s.scan.workers {
		w := &s.scan.workers[i].V
		for j, r := range w.fileRoots {
			if id := &s.Roots[r].INodeID; *id == 0 || w.files[j].INodeID < *id {
				*id = w.files[j].INodeID
			}
			b.misfit(uint32(r), w.files[j])
		}
		for n, l := range w.strays {
			if all[n] == nil {
				all[n] = l
			} else {
				all[n].merge(l, MaxListed, compareStrays)
			}
		}
		w.strays = nil
	}
	for n, l := range all {
		l.cut(MaxListed, compareStrays)
		i := s.index.rootOf(n)
		for k := range l.list {
			f := &l.list[k]
			m := Misfit{Reason: f.reason, Path: s.index.strayPath(n, f), INodeID: f.id, Detail: "only directories are expected here"}
			if m.Reason == FlinkState {
				m.Detail = ofFlinkFile
			}
			b.misfit(i, m)
		}
		b.misfits[i].n += l.n - int64(len(l.list)) // counted, not listed
	}
}

func (s *Survey) openFiles(b *classifier) {
	for _, f := range s.index.t.OpenFiles() {
		n := s.index.at(f.Parent)
		if n == noNode || !s.index.class(n).ofUnit() {
			continue
		}
		s.open.add(n)
		if s.index.class(n) == child {
			b.misfit(s.index.rootOf(n), Misfit{Reason: OpenFileInChild, Path: s.index.t.FilePath(nil, f), INodeID: f.ID, Detail: "somebody is writing"})
		}
	}
	slices.Sort(s.open)
}

// GuardReader goes over the guards of the image, by path, on one goroutine.
type GuardReader struct {
	t *namespace.Tree
	r *extsort.Reader
	g Guard
}

// Guards begins to read the guards, from the first one on.
func (s *Survey) Guards() (*GuardReader, error) {
	r, err := s.scan.guards.Read()
	return &GuardReader{t: s.index.t, r: r}, err
}

// Next gives the next guard and its path, which is that of [Discovery.AppendPath]; ok is false
// at the end. Both are valid until the next call.
func (r *GuardReader) Next() (g *Guard, path []byte, ok bool, err error) {
	path, rest, ok, err := r.r.Next()
	if ok {
		unpackGuard(r.t, rest, &r.g)
	}
	return &r.g, path, ok, err
}

// EachGuard calls fn for all guards. Both of its arguments are valid until fn returns; an
// error of it ends that.
func (s *Survey) EachGuard(ctx context.Context, fn func(g *Guard, path []byte) error) error {
	r, err := s.Guards()
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		g, path, ok, err := r.Next()
		if err == nil && n%1024 == 0 {
			err = ctx.Err()
		}
		if err != nil || !ok {
			return err
		}
		if err := fn(g, path); err != nil {
			return err
		}
	}
}

// ForgetUnits gives up what [Survey.Each] needs.
func (s *Survey) ForgetUnits() { s.scan.facts.Close() }

// Below tells whether a directory is a root or below one.
func (s *Survey) Below(d namespace.Dir) bool { return s.index.at(d) != noNode }

// Subdirectories gives the directories in one that is a root or below one, by name.
func (s *Survey) Subdirectories(d namespace.Dir) iter.Seq[namespace.Dir] {
	return s.index.subdirectories(d)
}

// Subtree gives a directory that is a root or below one and all of the same root below it,
// each before what is in it, by name; and for each how many of them it and what is below it
// are. Neither may be changed.
func (s *Survey) Subtree(d namespace.Dir) (dirs []namespace.Dir, sizes []uint32) {
	n := s.index.at(d)
	if n == noNode {
		return nil, nil
	}
	end := n + s.index.size[n]
	return s.index.dirs[n:end:end], s.index.size[n:end:end]
}

// Kind tells what a directory below a root is: that of a job, excluded ones too, or of a unit,
// of which the kind is. It is NoUnit if it is neither.
func (s *Survey) Kind(d namespace.Dir) (job bool, unit UnitKind) {
	x := s.index
	n := x.at(d)
	if n == noNode {
		return false, NoUnit
	}
	switch c := x.class(n); c {
	case jobClass, excludedClass:
		return true, NoUnit
	case runClass, savepoint, cluster:
		return false, unitKind(c)
	case child:
		if p := x.at(x.t.Parent(d)); p != noNode && x.class(p) == rootClass {
			return false, ChildUnit
		}
	case rootClass: // in another one
		up := x.at(x.t.Parent(d))
		if up == noNode || x.class(up) != rootClass {
			return false, NoUnit
		}
		i := x.rootOf(up)
		name := x.name(n)
		c, reason, _ := x.roots[i].Declared.level(name)
		return reason == "" && (c == excludedClass || c == jobClass) && !s.scan.ignore[i][name], NoUnit
	default:
	}
	return false, NoUnit
}

// Holder gives the root that a directory is in, of several the inner one, and the directory of
// the unit; nil and NoDir if it is in none.
func (s *Survey) Holder(d namespace.Dir) (root *Root, unit namespace.Dir) {
	x := s.index
	n := x.at(d)
	if n == noNode {
		return nil, namespace.NoDir
	}
	root = x.roots[x.rootOf(n)]
	if !x.class(n).ofUnit() {
		return root, namespace.NoDir
	}
	for ; d != namespace.NoDir && x.at(d) != noNode && x.class(x.at(d)) != rootClass; d = x.t.Parent(d) {
		if _, kind := s.Kind(d); kind != NoUnit {
			return root, d
		}
	}
	return root, namespace.NoDir
}

// IsGuard tells by name whether a file is a guard.
func IsGuard(name []byte) bool { return looksLikeGuard(name) && guardKind(name) != NoGuard }

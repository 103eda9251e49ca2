package flink

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// facts are what the files and symlinks of one directory add up to. All of it is
// the same in whatever order they come. Markers are in none of the times.
type facts struct {
	newest, oldest int64 // mtime; if times
	atime          int64 // of files that are no guards; 0 if none
	unknown        int32 // mtimes that are 0 or negative
	data           int32 // files and symlinks that are no markers
	bits           uint8
}

// Bits of facts.
const (
	timesBit      = 1 << iota // there is something with a time
	markerBit                 // there is a marker file
	markedBit                 // the directory itself has the attribute
	markedFileBit             // a file in it has the attribute
	zoneBit                   // the directory is the root of an encryption zone
)

func (f *facts) add(mtime, atime int64) {
	if f.bits&timesBit == 0 {
		f.newest, f.oldest = mtime, mtime
	}
	f.newest, f.oldest, f.atime = max(f.newest, mtime), min(f.oldest, mtime), max(f.atime, atime)
	f.bits |= timesBit
	f.data++
	if mtime <= 0 {
		f.unknown++
	}
}

func (f *facts) merge(o *facts) {
	if o.bits&timesBit != 0 {
		if f.bits&timesBit == 0 {
			f.newest, f.oldest = o.newest, o.oldest
		}
		f.newest, f.oldest, f.atime = max(f.newest, o.newest), min(f.oldest, o.oldest), max(f.atime, o.atime)
	}
	f.bits |= o.bits
	f.unknown += o.unknown
	f.data += o.data
}

// stray is a file or symlink in a directory that should have only directories.
type stray struct {
	name   string
	id     uint64
	reason Reason
}

func compareStrays(a, b stray) int {
	return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.id, b.id), cmp.Compare(a.reason, b.reason))
}

// unfinished is a `_metadata.inprogress` file.
type unfinished struct {
	node uint32
	file File
}

// watched is the last part of the path of a root that no directory has: it may
// be a file.
type watched struct {
	name string
	root *Root
}

// scan is the pass over all inodes.
type scan struct {
	x       *index
	ignore  []map[string]bool // of roots
	watch   map[namespace.Dir][]watched
	holds   map[namespace.Dir]bool // a root is directly in it
	also    func(namespace.Dir, []byte) bool
	locks   [64]sync.Mutex // of facts, by node
	workers []fsimage.Apart[scanWorker]
}

// scanWorker is what one goroutine finds. The facts of a directory are
// collected here until another one needs the place: a directory's files lie
// close together in an image, so that is rare, and no worker has a copy of all.
type scanWorker struct {
	s          *scan
	seen       func(e *namespace.Entry, inRoot bool) error
	slots      [256]scanSlot
	guards     blocks[Guard]
	unfinished []unfinished
	strays     map[uint32]*shortest[stray]
	files      []Misfit // roots that are files; see watch
	fileRoots  []*Root
}

type scanSlot struct {
	node uint32
	f    facts
}

func newScan(x *index, o Options) *scan {
	s := &scan{x: x, watch: map[namespace.Dir][]watched{}, holds: map[namespace.Dir]bool{}, workers: make([]fsimage.Apart[scanWorker], o.workers()), also: o.Also}
	for _, r := range x.roots {
		names := map[string]bool{}
		for _, name := range r.Declared.Ignore {
			names[name] = true
		}
		s.ignore = append(s.ignore, names)
		if r.Dir != namespace.NoDir && r.Dir != x.t.Root() {
			s.holds[x.t.Parent(r.Dir)] = true
		}
	}
	for i := range s.workers {
		w := &s.workers[i].V
		if w.s, w.strays = s, map[uint32]*shortest[stray]{}; o.Seen != nil {
			w.seen = o.Seen(i)
		}
		for j := range w.slots {
			w.slots[j].node = noNode
		}
	}
	return s
}

func (s *scan) run(ctx context.Context) error {
	err := s.x.t.EachNamed(ctx, len(s.workers), s.wants, func(worker int, b *namespace.EntryBatch) error {
		w := &s.workers[worker].V
		return b.Each(w.entry)
	})
	for i := range s.workers {
		w := &s.workers[i].V
		for j := range w.slots {
			w.evict(&w.slots[j])
		}
	}
	return err
}

// wants tells of which inodes more than the name matters: of those below roots, of the
// roots themselves, of guards, and of what should be a root.
func (s *scan) wants(parent namespace.Dir, typ fsimage.Type, name []byte) bool {
	i := s.x.at(parent)
	if typ == fsimage.DirectoryType {
		return i != noNode || s.holds[parent] // of the others no attribute matters
	}
	if i != noNode && s.x.nodes[i].class != outside {
		return true
	}
	return looksLikeGuard(name) || len(s.watch) > 0 && len(s.watch[parent]) > 0 || s.also != nil && s.also(parent, name)
}

// looksLikeGuard is quick: by far most names do not get beyond their first byte.
func looksLikeGuard(name []byte) bool {
	return len(name) > 8 && (name[0] == '_' || name[0] == 'c' || name[0] == 's')
}

func (w *scanWorker) entry(e *namespace.Entry) error {
	if e.INode.Type == fsimage.DirectoryType {
		if len(e.INode.Directory.XAttrs) > 0 {
			w.attributes(e)
		}
		return nil
	}
	if e.Parent == namespace.NoDir {
		return nil
	}
	if len(w.s.watch) > 0 {
		w.watch(e)
	}
	kind := NoGuard
	if e.INode.Type == fsimage.FileType {
		if name := e.INode.Name; looksLikeGuard(name) {
			if kind = guardKind(string(name)); kind != NoGuard {
				w.guard(e, kind)
			}
		}
	}
	i := w.s.x.at(e.Parent)
	inRoot := i != noNode && w.s.x.nodes[i].class != outside
	if inRoot {
		w.below(e, i, kind)
	}
	if w.seen == nil {
		return nil
	}
	return w.seen(e, inRoot)
}

// attributes looks at those of a directory below a root.
func (w *scanWorker) attributes(e *namespace.Entry) {
	i := w.s.x.at(e.Dir)
	if i == noNode {
		return
	}
	for _, name := range e.XAttrs() {
		switch name {
		case MarkerXAttr:
			w.slot(i).bits |= markedBit
		case zoneXAttr:
			w.slot(i).bits |= zoneBit
		}
	}
}

// guard takes down a guard.
func (w *scanWorker) guard(e *namespace.Entry, kind GuardKind) {
	name := metadataName // nearly all
	if string(e.INode.Name) != name {
		name = string(e.INode.Name)
	}
	w.guards.add(Guard{
		Kind: kind, Open: e.INode.File.UnderConstruction, Parent: e.Parent, Name: name,
		INodeID: e.INode.ID, Length: e.Length(), MTimeMs: e.MTimeMs(), Owner: e.Owner(),
	})
}

// blocks is a list that grows without copying.
type blocks[T any] [][]T

func (l *blocks[T]) add(v T) {
	last := len(*l) - 1
	if last < 0 || len((*l)[last]) == cap((*l)[last]) {
		*l = append(*l, make([]T, 0, 256))
		last++
	}
	(*l)[last] = append((*l)[last], v)
}

// below adds a file or symlink in a directory below a root.
func (w *scanWorker) below(e *namespace.Entry, i uint32, kind GuardKind) {
	f, n := w.slot(i), &w.s.x.nodes[i]
	name := e.INode.Name
	if string(name) == MarkerName {
		f.bits |= markerBit
		return
	}
	atime := int64(0)
	if e.INode.Type == fsimage.FileType && kind == NoGuard {
		atime = e.ATimeMs()
	}
	f.add(e.MTimeMs(), atime)
	if e.INode.Type == fsimage.FileType && len(e.INode.File.XAttrs) > 0 && slices.Contains(e.XAttrs(), MarkerXAttr) {
		f.bits |= markedFileBit
	}
	if reason := w.reason(e, n, kind); reason != "" {
		l := w.strays[i]
		if l == nil {
			l = &shortest[stray]{}
			w.strays[i] = l
		}
		l.add(stray{string(name), e.INode.ID, reason}, w.limit(n), compareStrays)
	}
	if n.class.hasMetadata() && e.INode.Type == fsimage.FileType && len(name) > 0 && (name[0] == '.' || name[0] == '_') && isInProgress(string(name)) {
		w.unfinished = append(w.unfinished, unfinished{i, File{string(name), e.INode.ID, e.Length(), e.MTimeMs(), e.INode.File.UnderConstruction}})
	}
}

// limit is how many strays of a directory are kept. Those of a root are misfits.
func (w *scanWorker) limit(n *node) int {
	if n.class == rootClass {
		return MaxListed
	}
	return maxUnknown
}

// reason says why a file or symlink is not one that the layout has; empty if it
// is. A `_metadata` in the wrong place is seen among the guards.
func (w *scanWorker) reason(e *namespace.Entry, n *node, kind GuardKind) Reason {
	name := e.INode.Name // not a string: nearly all inodes come here
	odd := UnknownFile
	if e.INode.Type == fsimage.SymlinkType {
		odd = UnknownSymlink
	}
	switch n.class {
	case rootClass:
		layout := w.s.x.roots[n.root].Declared.Layout
		switch {
		case w.s.ignore[n.root][string(name)]:
			return ""
		case layout == Children && kind == NoGuard && ofFlink(name):
			return FlinkState
		case layout == Children:
			return ""
		}
		if odd == UnknownSymlink {
			return SymlinkAmongJobs
		}
		return FileAmongJobs
	case jobClass, runClass:
		if kind != MetadataGuard {
			return odd
		}
	case cluster:
		if kind == NoGuard {
			return odd
		}
	case otherChild, child:
		if kind == NoGuard && ofFlink(name) {
			return FlinkState
		}
		return ""
	case outside:
		return ""
	case checkpoint, savepoint, shared, taskowned, changelog, inside:
		// Flink makes none, and what is behind it nobody can see.
		if odd == UnknownSymlink {
			return odd
		}
		if n.class == inside {
			return ""
		}
	}
	if impossible(name) {
		return ImpossibleName
	}
	return ""
}

// watch looks whether what should be a root is a file.
func (w *scanWorker) watch(e *namespace.Entry) {
	for _, c := range w.s.watch[e.Parent] {
		if c.name != string(e.INode.Name) {
			continue
		}
		m := Misfit{Reason: RootIsFile, Path: c.root.Path, INodeID: e.INode.ID, Detail: "the root is a file"}
		if e.INode.Type == fsimage.SymlinkType {
			m.Reason, m.Detail = RootIsSymlink, "the root is a symbolic link"
		}
		w.files, w.fileRoots = append(w.files, m), append(w.fileRoots, c.root)
	}
}

// slot finds the facts of a node.
func (w *scanWorker) slot(i uint32) *facts {
	c := &w.slots[i%uint32(len(w.slots))]
	if c.node != i {
		w.evict(c)
		*c = scanSlot{node: i}
	}
	return &c.f
}

func (w *scanWorker) evict(c *scanSlot) {
	if c.node == noNode {
		return
	}
	mu := &w.s.locks[c.node%uint32(len(w.s.locks))]
	mu.Lock()
	w.s.x.facts[c.node].merge(&c.f)
	mu.Unlock()
	c.node = noNode
}

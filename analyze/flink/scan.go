package flink

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// stray is a file or symlink in a directory that should have only directories.
type stray struct {
	name   string
	id     uint64
	reason Reason
}

func compareStrays(a, b stray) int {
	return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.id, b.id), cmp.Compare(a.reason, b.reason))
}

// watched is the last part of the path of a root that no directory has: it may
// be a file.
type watched struct {
	name string
	root int
}

// Bytes of records that wait in memory, of all workers.
const (
	factMemory  = 4 << 20
	guardMemory = 4 << 20
)

// scan is the pass over all inodes.
type scan struct {
	x       *index
	o       *Options
	ignore  []map[string]bool // of roots
	bare    nodeSet
	watch   map[namespace.Dir][]watched
	holds   []namespace.Dir // a root is directly in it; sorted
	facts   *extsort.Sorter
	guards  *extsort.Sorter
	workers []fsimage.Apart[scanWorker]
}

// scanWorker is what one goroutine finds. The facts of a directory are
// collected here until another one needs the place: a directory's files lie
// close together in an image, so that is rare.
type scanWorker struct {
	s      *scan
	slots  [256]scanSlot
	facts  *extsort.Writer
	guards *extsort.Writer

	misfits   []misfits                   // of roots
	strays    map[uint32]*shortest[stray] // right in roots, by node
	files     []Misfit                    // roots that are files; see watch
	fileRoots []int                       // which
	zones     nodeSet                     // roots of encryption zones
	data      nodeSet                     // bare runs with files
	rootBits  map[uint32]uint8            // bits of facts, of nodes that are roots

	path, b []byte
}

type scanSlot struct {
	node uint32
	f    facts
}

func newScan(x *index, o *Options, ignore []map[string]bool, bare nodeSet) *scan {
	s := &scan{
		x: x, o: o, ignore: ignore, bare: bare, watch: map[namespace.Dir][]watched{},
		workers: make([]fsimage.Apart[scanWorker], o.workers()),
	}
	s.facts = extsort.New(extsort.Options{Dir: o.TempDir, Writers: len(s.workers), Memory: factMemory, Limit: o.SortLimit})
	s.guards = extsort.New(extsort.Options{Dir: o.TempDir, Writers: len(s.workers), Memory: guardMemory, Limit: o.SortLimit})
	for _, r := range x.roots {
		if r.Dir != namespace.NoDir && r.Dir != x.t.Root() {
			s.holds = append(s.holds, x.t.Parent(r.Dir))
		}
	}
	slices.Sort(s.holds)
	for i := range s.workers {
		w := &s.workers[i].V
		w.s, w.facts, w.guards = s, s.facts.Writer(i), s.guards.Writer(i)
		w.misfits, w.strays = make([]misfits, len(x.roots)), map[uint32]*shortest[stray]{}
		w.rootBits = map[uint32]uint8{}
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
	if err != nil {
		return err
	}
	for i := range s.workers {
		w := &s.workers[i].V
		for j := range w.slots {
			if err := w.evict(&w.slots[j]); err != nil {
				return err
			}
		}
	}
	if err := s.guards.Finish(); err != nil {
		return err
	}
	return s.facts.Finish()
}

// wants tells of which inodes more than the name matters: of those below roots, of the
// roots themselves, of guards, and of what should be a root.
func (s *scan) wants(parent namespace.Dir, typ fsimage.Type, name []byte) bool {
	i := s.x.at(parent)
	if typ == fsimage.DirectoryType {
		if i != noNode {
			return true
		}
		_, holds := slices.BinarySearch(s.holds, parent)
		return holds // of the others no attribute matters
	}
	if i != noNode && s.x.class(i).looked() {
		return true
	}
	return looksLikeGuard(name) || len(s.watch) > 0 && len(s.watch[parent]) > 0 || s.o.Also != nil && s.o.Also(parent, name)
}

// looksLikeGuard is quick: by far most names do not get beyond their first byte.
func looksLikeGuard(name []byte) bool {
	return len(name) > 8 && (name[0] == '_' || name[0] == 'c' || name[0] == 's')
}

func (w *scanWorker) entry(e *namespace.Entry) error {
	if e.INode.Type == fsimage.DirectoryType {
		if len(e.INode.Directory.XAttrs) > 0 {
			return w.attributes(e)
		}
		return nil
	}
	if e.Parent == namespace.NoDir {
		return nil
	}
	if len(w.s.watch) > 0 {
		w.watch(e)
	}
	i, c := w.s.x.at(e.Parent), outside
	if i != noNode {
		c = w.s.x.class(i)
	}
	kind := NoGuard
	if name := e.INode.Name; e.INode.Type == fsimage.FileType && looksLikeGuard(name) {
		if kind = guardKind(name); kind != NoGuard {
			if err := w.guard(e, kind, i, c); err != nil {
				return err
			}
		}
	}
	if c.looked() {
		if err := w.below(e, i, c, kind); err != nil {
			return err
		}
	}
	if w.s.o.Also != nil && w.s.o.Also(e.Parent, e.INode.Name) {
		return w.s.o.Seen(e)
	}
	return nil
}

// attributes looks at those of a directory below a root.
func (w *scanWorker) attributes(e *namespace.Entry) error {
	i := w.s.x.at(e.Dir)
	if i == noNode {
		return nil
	}
	for _, name := range e.XAttrs() {
		switch name {
		case MarkerXAttr:
			f, err := w.slot(i)
			if err != nil {
				return err
			}
			f.bits |= markedBit
		case zoneXAttr:
			w.zones.add(i)
		}
	}
	return nil
}

// guard takes down a guard, and for the directory that it is in what it is there.
func (w *scanWorker) guard(e *namespace.Entry, kind GuardKind, i uint32, c class) error {
	w.path = e.AppendPath(w.path[:0])
	g := Guard{
		Kind: kind, Open: e.INode.File.UnderConstruction, Parent: e.Parent,
		INodeID: e.INode.ID, Length: e.Length(), MTimeMs: e.MTimeMs(),
	}
	if err := w.guards.Add(w.path, w.packGuard(&g, e)); err != nil {
		return err
	}
	misfit := func(reason Reason, detail string) {
		w.misfit(i, Misfit{Reason: reason, Path: slices.Clone(w.path), INodeID: g.INodeID, Detail: detail})
	}
	switch {
	case !c.looked():
	case c == child || c == otherChild:
		misfit(FlinkState, ofFlinkFile)
	case c == rootClass: // of all other layouts, it is a file among jobs
		if r := w.s.x.rootOf(i); w.s.x.roots[r].Declared.Layout == Children && !w.s.ignore[r][string(e.INode.Name)] {
			misfit(FlinkState, ofFlinkFile)
		}
	case c == jobClass:
		if kind == MetadataGuard {
			misfit(MetadataMisplaced, "a directory of a run or a savepoint: the root may be declared one level too deep")
		}
	case kind == MetadataGuard:
		k := recordKey(i, metadataRecord)
		w.b = packFile(w.b[:0], &File{INodeID: g.INodeID, Length: g.Length, MTimeMs: g.MTimeMs, Open: g.Open})
		return w.facts.Add(k[:], w.b)
	case c == cluster:
		f, err := w.slot(i)
		if err != nil {
			return err
		}
		f.pointers++
	}
	return nil
}

const ofFlinkFile = "a file of Flink"

func (w *scanWorker) misfit(node uint32, m Misfit) {
	w.misfits[w.s.x.rootOf(node)].add(m, MaxListed, compareMisfits)
}

// packGuard appends a guard but its path. Of several with one path, the one with the
// lowest id comes first.
func (w *scanWorker) packGuard(g *Guard, e *namespace.Entry) []byte {
	b := binary.BigEndian.AppendUint64(w.b[:0], g.INodeID)
	b = extsort.AppendBool(append(b, byte(g.Kind)), g.Open)
	b = binary.AppendUvarint(b, uint64(g.Parent))
	b = extsort.AppendSigned(b, g.Length, g.MTimeMs)
	b = binary.AppendUvarint(b, uint64(e.Permission()))
	if g.Kind != MetadataGuard {
		b = append(b, e.INode.Name...)
	}
	w.b = b
	return b
}

// unpackGuard is its reverse.
func unpackGuard(t *namespace.Tree, b []byte, g *Guard) {
	r := extsort.Unpacker{Rest: b}
	*g = Guard{Name: metadataName, INodeID: r.Fixed(), Kind: GuardKind(r.Byte()), Open: r.Bool()}
	g.Parent, g.Length, g.MTimeMs = namespace.Dir(r.Unsigned()), r.Signed(), r.Signed()
	g.Owner = t.OwnerName(fsimage.Permission(r.Unsigned()))
	if g.Kind != MetadataGuard {
		g.Name = string(r.Rest)
	}
}

// below adds a file or symlink in a directory below a root.
func (w *scanWorker) below(e *namespace.Entry, i uint32, c class, kind GuardKind) error {
	f, err := w.slot(i)
	if err != nil {
		return err
	}
	if w.s.o.Sum != nil && c.ofUnit() {
		s := w.s.o.Sum(e)
		f.sum.Add(&Sum{1, s[0], s[1], s[2], s[3]})
	}
	name := e.INode.Name
	if string(name) == MarkerName {
		f.bits |= markerBit
		return nil
	}
	atime := int64(0)
	if e.INode.Type == fsimage.FileType && kind == NoGuard {
		atime = e.ATimeMs()
	}
	f.add(e.MTimeMs(), atime)
	if e.INode.Type == fsimage.FileType && len(e.INode.File.XAttrs) > 0 && slices.Contains(e.XAttrs(), MarkerXAttr) {
		f.bits |= markedFileBit
	}
	if c == runClass && w.s.bare.has(i) {
		w.data.add(i)
	}
	if reason := w.reason(e, i, c, kind); reason != "" {
		if err := w.stray(stray{string(name), e.INode.ID, reason}, i, c); err != nil {
			return err
		}
	}
	if c.hasMetadata() && e.INode.Type == fsimage.FileType && len(name) > 0 && (name[0] == '.' || name[0] == '_') && isInProgress(name) {
		return w.unfinished(e, i)
	}
	return nil
}

// unfinished takes down a file that was to become a `_metadata`.
func (w *scanWorker) unfinished(e *namespace.Entry, i uint32) error {
	k := recordKey(i, unfinishedRecord)
	b := packFile(w.b[:0], &File{INodeID: e.INode.ID, Length: e.Length(), MTimeMs: e.MTimeMs(), Open: e.INode.File.UnderConstruction})
	b = extsort.AppendBytes(b, e.INode.Name)
	var extra []byte
	if w.s.o.Extra != nil {
		var err error
		if extra, err = w.s.o.Extra(e); err != nil {
			return err
		}
	}
	w.b = extsort.AppendBytes(b, extra)
	return w.facts.Add(k[:], w.b)
}

// stray takes down a file where none should be. Those right in a root, or anywhere in
// layout children, are misfits.
func (w *scanWorker) stray(f stray, i uint32, c class) error {
	switch c {
	case rootClass:
		l := w.strays[i]
		if l == nil {
			l = &shortest[stray]{}
			w.strays[i] = l
		}
		l.add(f, MaxListed, compareStrays)
	case child, otherChild:
		w.misfit(i, Misfit{Reason: f.reason, Path: w.s.x.strayPath(i, &f), INodeID: f.id, Detail: ofFlinkFile})
	default:
		k := recordKey(i, strayRecord)
		w.b = extsort.AppendBytes(extsort.AppendBytes(binary.AppendUvarint(w.b[:0], f.id), f.reason), f.name)
		return w.facts.Add(k[:], w.b)
	}
	return nil
}

func (x *index) strayPath(i uint32, f *stray) []byte {
	if impossible(f.name) {
		return x.t.FilePath(nil, namespace.OpenFile{Parent: x.dirs[i], Name: []byte(f.name), ID: f.id})
	}
	return append(append(x.path(i), '/'), f.name...)
}

// reason says why a file or symlink is not one that the layout has; empty if it
// is. A `_metadata` in the wrong place is seen among the guards.
func (w *scanWorker) reason(e *namespace.Entry, i uint32, c class, kind GuardKind) Reason {
	name := e.INode.Name // not a string: nearly all inodes come here
	odd := UnknownFile
	if e.INode.Type == fsimage.SymlinkType {
		odd = UnknownSymlink
	}
	switch c {
	case rootClass:
		return w.amongJobs(name, w.s.x.rootOf(i), odd, kind)
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
	case outside, excludedClass, storeClass, oddInJob:
		return ""
	case checkpoint, savepoint, shared, taskowned, changelog, inside:
		// Flink makes none, and what is behind it nobody can see.
		if odd == UnknownSymlink {
			return odd
		}
		if c == inside {
			return ""
		}
	}
	if impossible(name) {
		return ImpossibleName
	}
	return ""
}

// amongJobs is reason of what is right in a root.
func (w *scanWorker) amongJobs(name []byte, root uint32, odd Reason, kind GuardKind) Reason {
	layout := w.s.x.roots[root].Declared.Layout
	switch {
	case w.s.ignore[root][string(name)]:
		return ""
	case layout == Children && kind == NoGuard && ofFlink(name):
		return FlinkState
	case layout == Children:
		return ""
	case odd == UnknownSymlink:
		return SymlinkAmongJobs
	}
	return FileAmongJobs
}

// watch looks whether what should be a root is a file.
func (w *scanWorker) watch(e *namespace.Entry) {
	for _, c := range w.s.watch[e.Parent] {
		if c.name != string(e.INode.Name) {
			continue
		}
		r := w.s.x.roots[c.root]
		m := Misfit{Reason: RootIsFile, Path: r.Path, INodeID: e.INode.ID, Detail: "the root is a file"}
		if e.INode.Type == fsimage.SymlinkType {
			m.Reason, m.Detail = RootIsSymlink, "the root is a symbolic link"
		}
		w.files, w.fileRoots = append(w.files, m), append(w.fileRoots, c.root)
	}
}

// slot finds the facts of a node.
func (w *scanWorker) slot(i uint32) (*facts, error) {
	c := &w.slots[i%uint32(len(w.slots))]
	if c.node != i {
		if err := w.evict(c); err != nil {
			return nil, err
		}
		c.node = i
	}
	return &c.f, nil
}

func (w *scanWorker) evict(c *scanSlot) error {
	if c.node == noNode {
		return nil
	}
	if w.s.x.class(c.node) == rootClass {
		w.rootBits[c.node] |= c.f.bits
	}
	k := recordKey(c.node, factsRecord)
	w.b = c.f.pack(w.b[:0])
	c.node, c.f = noNode, facts{}
	return w.facts.Add(k[:], w.b)
}

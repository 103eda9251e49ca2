package namespace

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"fsweep/fsimage"
	pb "fsweep/proto/fsimage"
)

const rootID = 16385 // INodeId.ROOT_INODE_ID

// Options of [Load].
type Options struct {
	// Workers is the number of goroutines that decode (default GOMAXPROCS).
	Workers int
	// NoSums leaves most files out: the tree has directories and paths, and
	// EachINode works, but Usage, Summary, PolicyTotals and OpenFiles mean nothing
	// and Observe must not be set.
	NoSums bool
	// Progress, if set, is told how far reading came. It is called from several
	// goroutines, one at a time.
	Progress func(Progress)
	// Observe, if set, is called for every worker from 0 on and gives the function
	// that this worker calls for each live inode, so that sums of any kind need
	// no pass of their own. The INode is valid during the call only. When it is
	// called with 0 once more, reading starts over, and what was seen before does
	// not count.
	Observe func(worker int) Observer
}

// Observer sees a live inode and the directory that it is in (NoDir for the
// root). Sums are zero for what is not a file.
type Observer func(parent Dir, n *fsimage.INode, s FileSums)

// Progress tells how far a command came.
type Progress struct {
	Stage  string // one word
	INodes int64  // of section INODE, that are done
	Bytes  int64  // of the file that this stage has read
	Total  int64  // bytes that this stage will read
}

// Load reads an image. Errors of the file's format wrap those of package
// fsimage; a tree that contradicts itself is loaded and gives findings.
func Load(ctx context.Context, im *fsimage.Image, o Options) (*Tree, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	t, err := load(ctx, im, o)
	if err == nil && t.duplicate && o.Workers > 1 {
		// The first record of an id counts. Which one is first is known only to
		// one goroutine that reads them in order.
		o.Workers = 1
		return load(ctx, im, o)
	}
	return t, err
}

func load(ctx context.Context, im *fsimage.Image, o Options) (*Tree, error) {
	t := &Tree{im: im}
	if err := t.loadSmall(ctx); err != nil {
		return nil, err
	}
	l := newLoader(t, o)
	for _, pass := range []func(context.Context) error{l.collectChildren, l.assignParents} {
		if err := pass(ctx); err != nil {
			return nil, err
		}
	}
	if err := l.linkDirs(); err != nil {
		return nil, err
	}
	if err := l.readINodes(ctx); err != nil {
		return nil, err
	}
	if err := l.rollUp(); err != nil {
		return nil, err
	}
	l.check()
	return t, nil
}

// loadSmall reads all sections but the two large ones.
func (t *Tree) loadSmall(ctx context.Context) error {
	ns, err := t.im.NameSystem(ctx)
	if err != nil {
		return err
	}
	strings, err := t.im.Strings(ctx)
	if err != nil {
		return err
	}
	ec, err := t.im.ErasureCoding(ctx)
	if err != nil {
		return err
	}
	snaps, err := loadSnapshots(ctx, t.im)
	if err != nil {
		return err
	}
	t.nameSystem, t.strings, t.ec, t.snaps = ns, strings, ecPolicies(ec), snaps
	return t.im.UnderConstruction(ctx, func(*pb.FilesUnderConstructionSection_FileUnderConstructionEntry) error {
		t.leases++
		return nil
	})
}

// loader holds what is needed only while a tree is made.
type loader struct {
	*Tree
	o        Options
	unpacked []*fsimage.Batch // section INODE_DIR of a compressed image

	unpackedRoom int64 // below zero: how much of unpackedFixed is used up
	keepNone     bool  // there is not room enough for unpacked

	order     []Dir        // directories with children, each before those above it
	circle    map[Dir]bool // directories that were below themselves
	ecIDs     map[string]uint16
	ownPolicy map[ownPolicyKey]*FileTotals
	striped   stripedFiles
	created   map[Dir][]string // sorted names that the diffs of a directory call created

	tooMany  string      // what there is more of than fits
	rootSeen atomic.Bool // a root without children
	mu       sync.Mutex  // protects what follows, and the tree while empty directories are added
	locks    [64]sync.Mutex
	counts   problemCounts
	progress Progress
	before   int64 // bytes read before Load
}

func newLoader(t *Tree, o Options) *loader {
	l := &loader{Tree: t, o: o, created: map[Dir][]string{}, ownPolicy: map[ownPolicyKey]*FileTotals{}, ecIDs: map[string]uint16{}}
	l.keep = newKeepSet(t.snaps.touched())
	inodes, _ := t.im.Section(fsimage.SectionINode)
	dirs, _ := t.im.Section(fsimage.SectionDirectory)
	l.progress = Progress{Stage: "reading", Total: inodes.Length + 2*dirs.Length}
	if l.compressed() { // until it turns out that it cannot be kept
		l.progress.Total -= dirs.Length
	}
	l.before = t.im.BytesRead()
	return l
}

// report tells that so many inodes more are done.
func (l *loader) report(inodes int) {
	if l.o.Progress == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress.INodes += int64(inodes)
	l.progress.Bytes = l.im.BytesRead() - l.before
	l.o.Progress(l.progress)
}

// dirPass runs one pass over section INODE_DIR. Each worker calls fn, with its
// number, for every directory, after it replaced children that are references
// by what they refer to: all children are in e.Children then.
//
// Decompressing takes longer than anything else, so what was decompressed once is
// kept for the second pass, as long as it takes no more memory than what follows.
func (l *loader) dirPass(ctx context.Context, workers int, fn func(worker int, e *fsimage.DirEntry)) error {
	entries := make([]fsimage.Apart[fsimage.DirEntry], workers)
	if l.keepNone {
		dirs, _ := l.im.Section(fsimage.SectionDirectory)
		l.progress.Total += dirs.Length
	}
	pass, keep := l.im.Directories, l.compressed() && l.unpacked == nil && !l.keepNone
	if l.unpacked != nil {
		pass = func(ctx context.Context, workers int, fn func(int, *fsimage.Batch) error) error {
			return l.im.Replay(ctx, l.unpacked, workers, fn)
		}
	}
	return pass(ctx, workers, func(w int, b *fsimage.Batch) error {
		l.report(0)
		children := 0
		err := b.Directories(&entries[w].V, func(e *fsimage.DirEntry) error {
			children += len(e.Children)
			for _, r := range e.RefChildren {
				if int64(r) >= int64(len(l.snaps.refs)) {
					return badReference(r, len(l.snaps.refs))
				}
				e.Children = append(e.Children, l.snaps.refs[r].id)
			}
			fn(w, e)
			return nil
		})
		if keep && err == nil {
			l.keepUnpacked(b, children)
		}
		return err
	})
}

func (l *loader) compressed() bool { return l.im.Summary().Codec != "" }

// What is kept of section INODE_DIR may take this many bytes, and as many for each
// entry.
const (
	unpackedFixed    = 32 << 20
	unpackedPerEntry = 3
)

// keepUnpacked keeps a copy of a batch, unless that would be too much: then nothing
// is kept at all.
func (l *loader) keepUnpacked(b *fsimage.Batch, children int) {
	if b = l.roomFor(b, children); b == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.keepNone {
		l.unpacked = append(l.unpacked, b)
	}
}

// roomFor gives a copy of the batch if there is room for it.
func (l *loader) roomFor(b *fsimage.Batch, children int) *fsimage.Batch {
	l.mu.Lock()
	l.unpackedRoom += unpackedPerEntry*int64(children) - int64(b.Size())
	if l.unpackedRoom < -unpackedFixed {
		l.unpacked, l.keepNone = nil, true
	}
	none := l.keepNone
	l.mu.Unlock()
	if none {
		return nil
	}
	return b.Clone()
}

// collectChildren is the first pass over INODE_DIR: which directories have
// children, and the set of all ids with a parent.
func (l *loader) collectChildren(ctx context.Context) error {
	type part struct {
		ids, parents    *idBuilder
		lists, children int // lists of children that are not empty, and entries in them
	}
	// More would not be faster, as reading is the limit, and each has a set of ids.
	workers := min(l.o.Workers, 8)
	parts := make([]fsimage.Apart[part], workers)
	for i := range parts {
		parts[i].V = part{ids: newIDBuilder(), parents: newIDBuilder()}
	}
	err := l.dirPass(ctx, workers, func(w int, e *fsimage.DirEntry) {
		if len(e.Children) == 0 {
			return
		}
		p := &parts[w].V
		p.parents.add(e.Parent)
		p.lists++
		p.children += len(e.Children)
		for _, id := range e.Children {
			p.ids.add(id)
		}
	})
	if err != nil {
		return err
	}
	var ids, parents []*idBuilder
	lists, children := 0, 0
	for i := range parts {
		p := &parts[i].V
		ids, parents = append(ids, p.ids), append(parents, p.parents)
		lists, children = lists+p.lists, children+p.children
	}
	if int64(children) >= int64(NoDir) {
		return fmt.Errorf("%w: more than %d inodes", fsimage.ErrUnsupported, uint32(NoDir)-1)
	}
	l.ids, l.dirSet = newIDSet(ids...), newIDSet(parents...)
	l.counts.doubleParent = int64(children - l.ids.len)
	l.counts.doubleDirectory = int64(lists - l.dirSet.len)
	l.parentOf = make([]Dir, l.ids.len)
	for i := range l.parentOf {
		l.parentOf[i] = NoDir
	}
	return nil
}

// assignParents is the second pass: the directory of every id. Where an
// inconsistent image gives several, the first one in the file counts, and only
// then the order of the pass matters.
func (l *loader) assignParents(ctx context.Context) error {
	l.setNumDirs(l.dirSet.len)
	for d := range Dir(l.numDirs) {
		*l.parent.at(d) = NoDir
	}
	for rank, id := range l.dirSet.all() {
		*l.id.at(Dir(rank)) = id
	}
	workers := l.o.Workers
	if l.counts.doubleParent > 0 || l.counts.doubleDirectory > 0 {
		workers = 1
	}
	type part struct {
		ids, dirs rankCache
		loops     int64
		unknown   int // ids that the first pass did not meet
	}
	parts := make([]fsimage.Apart[part], workers)
	for i := range parts {
		parts[i].V.ids.set, parts[i].V.dirs.set = l.ids, l.dirSet
	}
	defer func() { l.unpacked = nil }()
	err := l.dirPass(ctx, workers, func(w int, e *fsimage.DirEntry) {
		p := &parts[w].V
		r, ok := p.dirs.rank(e.Parent)
		if !ok {
			p.unknown += len(e.Children)
			return
		}
		dir, n := Dir(r), uint32(0)
		for _, id := range e.Children {
			r, ok := p.ids.rank(id)
			switch {
			case !ok:
				p.unknown++
			case id == rootID || id == e.Parent:
				p.loops++
			case l.parentOf[r] == NoDir:
				l.parentOf[r] = dir
				n++
			}
		}
		*l.childCount.at(dir) += n
	})
	unknown := 0
	for i := range parts {
		l.counts.loop += parts[i].V.loops
		unknown += parts[i].V.unknown
	}
	if err == nil && unknown > 0 {
		err = fmt.Errorf("%w: section %s: the file changed while it was read", fsimage.ErrCorrupt, fsimage.SectionDirectory)
	}
	return err
}

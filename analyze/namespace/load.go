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
	// Progress, if set, is told how many records of a stage are done; total is 0
	// if unknown. It is called from several goroutines, one at a time.
	Progress func(stage string, done, total int64)
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
	for _, pass := range []func(context.Context) error{l.countChildren, l.collectChildren, l.assignParents} {
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
	o         Options
	counter   *idCounter
	parents   []uint64 // ids of directories with children, in the order of INODE_DIR
	children  int      // entries of INODE_DIR, references included
	order     []Dir    // directories with children, each before those above it
	keep      keepSet
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
	progress int64
}

func newLoader(t *Tree, o Options) *loader {
	l := &loader{Tree: t, o: o, counter: newIDCounter(), created: map[Dir][]string{}, ownPolicy: map[ownPolicyKey]*FileTotals{}, ecIDs: map[string]uint16{}}
	l.keep = newKeepSet(t.snaps.touched())
	return l
}

func (l *loader) report(stage string, n, total int64) {
	if l.o.Progress == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress += n
	l.o.Progress(stage, l.progress, total)
}

// dirPass runs one pass over section INODE_DIR. Each worker calls fn, with its
// number, for every directory, after it replaced children that are references
// by what they refer to: all children are in e.Children then.
func (l *loader) dirPass(ctx context.Context, workers int, fn func(worker int, e *fsimage.DirEntry)) error {
	entries := make([]fsimage.DirEntry, workers)
	return l.im.Directories(ctx, workers, func(w int, b *fsimage.Batch) error {
		return b.Directories(&entries[w], func(e *fsimage.DirEntry) error {
			for _, r := range e.RefChildren {
				if int64(r) >= int64(len(l.snaps.refs)) {
					return badReference(r, len(l.snaps.refs))
				}
				e.Children = append(e.Children, l.snaps.refs[r].id)
			}
			fn(w, e)
			return nil
		})
	})
}

// countChildren is the first pass over INODE_DIR: which directories have
// children, and how many ids each chunk of the id set will hold.
func (l *loader) countChildren(ctx context.Context) error {
	type part struct {
		ids      *idCounter
		parents  []uint64
		children int
	}
	parts := make([]part, l.o.Workers)
	for i := range parts {
		parts[i].ids = newIDCounter()
	}
	err := l.dirPass(ctx, l.o.Workers, func(w int, e *fsimage.DirEntry) {
		if len(e.Children) == 0 {
			return
		}
		p := &parts[w]
		p.parents = append(p.parents, e.Parent)
		p.children += len(e.Children)
		for _, id := range e.Children {
			p.ids.add(id)
		}
	})
	for i := range parts {
		l.counter.merge(parts[i].ids)
		l.parents = append(l.parents, parts[i].parents...)
		l.children += parts[i].children
		parts[i] = part{}
	}
	return err
}

// collectChildren is the second pass: the set of all ids with a parent.
func (l *loader) collectChildren(ctx context.Context) error {
	if l.children >= int(NoDir) {
		return fmt.Errorf("%w: more than %d inodes", fsimage.ErrUnsupported, uint32(NoDir)-1)
	}
	l.ids = newIDSet(l.counter)
	l.counter = nil
	add := l.ids.add
	if l.o.Workers > 1 {
		add = l.ids.addShared
	}
	unknown := make([]int, l.o.Workers)
	err := l.dirPass(ctx, l.o.Workers, func(w int, e *fsimage.DirEntry) {
		for _, id := range e.Children {
			if !add(id) {
				unknown[w]++
			}
		}
	})
	if err != nil {
		return err
	}
	if err := changed(unknown); err != nil {
		return err
	}
	l.counts.doubleParent = int64(l.ids.finish(l.children))
	l.dirSet = idSetOf(l.parents)
	l.counts.doubleDirectory = int64(len(l.parents) - l.dirSet.len)
	l.seen = newBitSet(l.ids.len)
	l.parentOf = make([]Dir, l.ids.len)
	for i := range l.parentOf {
		l.parentOf[i] = NoDir
	}
	return nil
}

// assignParents is the third pass: the directory of every id. Where an
// inconsistent image gives several, the first one in the file counts, and only
// then the order of the pass matters.
func (l *loader) assignParents(ctx context.Context) error {
	l.setNumDirs(l.dirSet.len)
	for d := range Dir(l.numDirs) {
		*l.parent.at(d) = NoDir
	}
	for _, id := range l.parents {
		d, _ := l.dirSet.rank(id)
		*l.id.at(Dir(d)) = id
	}
	l.parents = nil
	workers := l.o.Workers
	if l.counts.doubleParent > 0 || l.counts.doubleDirectory > 0 {
		workers = 1
	}
	loops, unknown := make([]int64, workers), make([]int, workers)
	err := l.dirPass(ctx, workers, func(w int, e *fsimage.DirEntry) {
		r, ok := l.dirSet.rank(e.Parent)
		if !ok {
			unknown[w] += len(e.Children)
			return
		}
		dir, n := Dir(r), uint32(0)
		for _, id := range e.Children {
			r, ok := l.ids.rank(id)
			switch {
			case !ok:
				unknown[w]++
			case id == rootID || id == e.Parent:
				loops[w]++
			case l.parentOf[r] == NoDir:
				l.parentOf[r] = dir
				n++
			}
		}
		*l.childCount.at(dir) += n
	})
	for _, n := range loops {
		l.counts.loop += n
	}
	if err != nil {
		return err
	}
	return changed(unknown)
}

// changed gives an error if a pass over INODE_DIR met ids that the first one did
// not.
func changed(unknown []int) error {
	for _, n := range unknown {
		if n > 0 {
			return fmt.Errorf("%w: section %s: the file changed while it was read", fsimage.ErrCorrupt, fsimage.SectionDirectory)
		}
	}
	return nil
}

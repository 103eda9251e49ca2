package plan

import (
	"context"
	"sync"

	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// pass is the look at all inodes.
type pass struct {
	b       *builder
	locks   [64]sync.Mutex // of the sums of items
	found   sync.Mutex     // of what is watched, of which there is little
	told    sync.Mutex
	done    int64
	workers []fsimage.Apart[passWorker]
}

// passWorker is what one goroutine collects. The sum of an item is made here until
// another item needs the place: what lies in one item is close together in an image,
// so that is rare, and no worker has sums of all items.
type passWorker struct {
	p     *pass
	spool *spoolWorker
	slots [256]struct {
		code uint32
		sum  planfile.Sum
	}
}

// read reads section INODE, if anything is to be known about inodes.
func (b *builder) read(ctx context.Context) error {
	if len(b.items) == 0 && len(b.sweeps) == 0 && len(b.watched) == 0 {
		return ctx.Err()
	}
	p := &pass{b: b, workers: make([]fsimage.Apart[passWorker], b.workers())}
	for i := range p.workers {
		w := &p.workers[i].V
		if w.p = p; b.spool != nil {
			w.spool = b.spool.worker(i)
		}
	}
	marked := func(parent namespace.Dir) bool { return b.column[parent] != 0 }
	err := b.t.EachINodeIn(ctx, len(p.workers), marked, func(worker int, batch *namespace.EntryBatch) error {
		err := batch.Each(p.workers[worker].V.entry)
		p.tell(int64(batch.Len()))
		return err
	})
	if err != nil {
		return err
	}
	for i := range p.workers {
		w := &p.workers[i].V
		for s := range w.slots {
			w.evict(uint32(s))
		}
	}
	if b.spool != nil {
		return b.spool.finish()
	}
	return nil
}

func (p *pass) tell(n int64) {
	if p.b.r.Progress == nil {
		return
	}
	p.told.Lock()
	defer p.told.Unlock()
	p.done += n
	p.b.r.Progress(namespace.Progress{Stage: "planning", INodes: p.done})
}

// entry looks at a file or symlink in a directory that has a code. Of directories the
// tree knows everything.
func (w *passWorker) entry(e *namespace.Entry) error {
	if e.Dir != namespace.NoDir {
		return nil
	}
	b := w.p.b
	mark := b.column[e.Parent]
	if mark&watchBit != 0 {
		if err := w.p.watch(e); err != nil {
			return err
		}
	}
	code := mark & codeMask
	switch {
	case code == 0:
	case int(code) <= len(b.items):
		w.add(code, e)
	case e.INode.Type == fsimage.FileType && !b.guardIDs[e.INode.ID]:
		return w.sweep(code, e)
	}
	return nil
}

// add adds an inode to the sums of its item.
func (w *passWorker) add(code uint32, e *namespace.Entry) {
	s := &w.slots[code%uint32(len(w.slots))]
	if s.code != code {
		w.evict(code % uint32(len(w.slots)))
		s.code = code
	}
	s.sum.Add(fingerprinted(w.p.b.t, e))
}

// fingerprinted is a file or symlink as a fingerprint takes it.
func fingerprinted(t *namespace.Tree, e *namespace.Entry) planfile.Entry {
	kind := planfile.EntryFile
	if e.INode.Type == fsimage.SymlinkType {
		kind = planfile.EntrySymlink
	}
	return planfile.Entry{InodeID: e.INode.ID, ParentID: t.ID(e.Parent), Kind: kind, Length: e.Length(), MTimeMs: e.MTimeMs(), Name: e.INode.Name}
}

func (w *passWorker) evict(slot uint32) {
	s := &w.slots[slot]
	if s.code == 0 {
		return
	}
	lock := &w.p.locks[s.code%uint32(len(w.p.locks))]
	lock.Lock()
	w.p.b.items[s.code-1].sum.Merge(&s.sum)
	lock.Unlock()
	s.sum.Reset()
	s.code = 0
}

// sweep takes down a file of a sweep. What can be said at once to be none is only
// counted: that is the rule of [cleanup.Decision.File], which decides.
func (w *passWorker) sweep(code uint32, e *namespace.Entry) error {
	n := int(code) - len(w.p.b.items) - 1
	s := w.p.b.sweeps[n]
	if mtime := e.MTimeMs(); e.INode.File.UnderConstruction || mtime <= 0 || mtime >= s.BeforeMs || e.ATimeMs() >= s.BeforeMs {
		w.spool.passOver(n, e.Length())
		return nil
	}
	dir, name, ok := e.SplitPath()
	if !ok || len(dir) <= len(s.Path) || string(dir[:len(s.Path)]) != string(s.Path) || dir[len(s.Path)] != '/' {
		w.spool.passOver(n, e.Length())
		return nil
	}
	f, err := w.p.b.fileFacts(e)
	if err != nil {
		return err
	}
	return w.spool.add(n, dir[len(s.Path)+1:], name, &f)
}

// fileFacts are those of the file that an entry is.
func (b *builder) fileFacts(e *namespace.Entry) (fileFacts, error) {
	f := fileFacts{
		id: e.INode.ID, parent: b.t.ID(e.Parent), parentDir: e.Parent, length: e.Length(), space: e.SpaceConsumed(), mtime: e.MTimeMs(), atime: e.ATimeMs(),
		permission: e.Permission(), open: e.INode.File.UnderConstruction,
	}
	if d := b.effects.destination; d != namespace.NoDir {
		f.there = e.UsageIn(d)
	}
	var err error
	f.moved, err = e.IfMoved()
	return f, err
}

// flinkFile is the same as the decision wants it.
func (f *fileFacts) flinkFile(name string) flink.File {
	return flink.File{Name: name, INodeID: f.id, Length: f.length, MTimeMs: f.mtime, Open: f.open}
}

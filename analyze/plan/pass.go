package plan

import (
	"context"
	"sync"

	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// pass is the look at the files of sweeps. All else was seen by the Collector, before
// it was known what is a sweep.
type pass struct {
	b    *builder
	told sync.Mutex
	done int64
}

// read reads section INODE, if there are sweeps.
func (b *builder) read(ctx context.Context) error {
	if b.spool == nil {
		return ctx.Err()
	}
	p := &pass{b: b}
	swept := func(parent namespace.Dir) bool { return b.sweeps.column[parent] != 0 }
	err := b.t.EachINodeIn(ctx, b.workers(), swept, func(worker int, batch *namespace.EntryBatch) error {
		w := b.spool.worker(worker)
		err := batch.Each(func(e *namespace.Entry) error {
			if e.INode.Type != fsimage.FileType || flink.IsGuard(e.INode.Name) {
				return nil
			}
			return b.sweep(w, e)
		})
		p.tell(int64(batch.Len()))
		return err
	})
	if err != nil {
		return err
	}
	return b.spool.finish()
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

// fingerprinted is a file or symlink as a fingerprint takes it.
func fingerprinted(t *namespace.Tree, e *namespace.Entry) planfile.Entry {
	kind := planfile.EntryFile
	if e.INode.Type == fsimage.SymlinkType {
		kind = planfile.EntrySymlink
	}
	return planfile.Entry{InodeID: e.INode.ID, ParentID: t.ID(e.Parent), Kind: kind, Length: e.Length(), MTimeMs: e.MTimeMs(), Name: e.INode.Name}
}

// sweep takes down a file of a sweep. What can be said at once to be none is only
// counted: that is the rule of [cleanup.Decision.File], which decides, and of
// [Undeletable].
func (b *builder) sweep(w *spoolWorker, e *namespace.Entry) error {
	n := int(b.sweeps.column[e.Parent]) - 1
	s := &b.sweeps.takes[b.sweeps.roots[n]]
	if !s.Takes(e.MTimeMs(), e.ATimeMs(), e.INode.File.UnderConstruction) {
		return w.passOver(n, e.Length())
	}
	length := int64(b.sweeps.lengths[n])
	dir, name, ok := e.SplitPath()
	if !ok || int64(len(dir)) <= length || dir[length] != '/' {
		return w.passOver(n, e.Length())
	}
	f, err := factsOf(b.t, b.effects.destination, e)
	if err != nil {
		return err
	}
	if f.moved.Undeletable || !f.sound() {
		return w.passOver(n, e.Length())
	}
	return w.add(n, dir[length+1:], name, &f)
}

// factsOf gives what is said of the file that an entry is. destination is where
// quarantined items go, NoDir if nowhere.
func factsOf(t *namespace.Tree, destination namespace.Dir, e *namespace.Entry) (fileFacts, error) {
	f := fileFacts{
		id: e.INode.ID, parent: t.ID(e.Parent), parentDir: e.Parent, length: e.Length(), space: e.SpaceConsumed(), mtime: e.MTimeMs(), atime: e.ATimeMs(),
		permission: e.Permission(), open: e.INode.File.UnderConstruction,
	}
	if destination != namespace.NoDir {
		f.there = e.UsageIn(destination)
	}
	var err error
	f.moved, err = e.IfMoved()
	return f, err
}

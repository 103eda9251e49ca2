package plan

import (
	"cmp"
	"slices"
	"strconv"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/namespace"
)

// addSweeps marks the directories whose files may become items.
func (b *builder) addSweeps() {
	if len(b.sweeps) == 0 {
		return
	}
	// The order of what lies in them: none is in another.
	slices.SortFunc(b.sweeps, func(x, y *sweep) int { return cmp.Compare(x.Path+"/", y.Path+"/") })
	b.column = make([]uint32, b.t.NumDirs())
	for n, s := range b.sweeps {
		b.out.Swept = append(b.out.Swept, s.Sweep)
		if dir, ok := b.find(s.INodeID); ok {
			b.mark(dir, uint32(n)+1)
		}
	}
	b.spool = newSpool(b.r.TempDir, b.workers(), b.sweeps)
	if b.r.sortMemory > 0 {
		b.spool.limit(b.r.sortMemory)
	}
}

// find gives the directory with an inode id.
func (b *builder) find(id uint64) (namespace.Dir, bool) {
	return b.t.Lookup(strconv.AppendUint([]byte("/.reserved/.inodes/"), id, 10))
}

// mark gives a directory and all below it a number.
func (b *builder) mark(top namespace.Dir, number uint32) {
	inside, _ := b.s.Subtree(top)
	for _, d := range inside {
		b.column[d] = number
	}
}

// writeSwept asks whether a file of a sweep is an item, and writes it.
func (b *builder) writeSwept(s *swept) error {
	sweep := b.sweeps[s.sweep]
	if b.bad[sweep.job] {
		return nil
	}
	sums := b.out.Sweeps[sweep.Sweep]
	defer func() { b.out.Sweeps[sweep.Sweep] = sums }()
	if s.path.Clean() != nil || !b.around.apart(s.path) {
		sums.PassedOver.add(s.facts.length)
		return nil
	}
	d := b.r.Decider.Decision()
	i := d.File(sweep.Sweep, cleanup.Path(s.path), s.facts.parent, s.facts.flinkFile(string(s.path[lastSlash(s.path)+1:])), s.facts.atime)
	if i == nil {
		sums.PassedOver.add(s.facts.length)
		return nil
	}
	out := b.line(i)
	if len(i.Deferred) > 0 {
		out.Deferred = string(i.Deferred[0].Rule)
	} else if why := b.belts.belts.admit(i, 1, s.facts.length); len(why) > 0 {
		out.Deferred = string(why[0].Rule)
	}
	b.fileLine(&out, &s.facts)
	if out.Deferred != "" {
		sums.Deferred.add(s.facts.length)
	} else {
		sums.Planned.add(s.facts.length)
		sums.Freed.Now += out.Freed.Now
		sums.Freed.AfterTrash += out.Freed.AfterTrash
		sums.Freed.HeldBySnapshots += out.Freed.HeldBySnapshots
	}
	return b.file.Item(out)
}

// passedOver adds what the pass found to be no item at first sight.
func (b *builder) passedOver() {
	for n, t := range b.spool.passed() {
		if s := b.sweeps[n]; !b.bad[s.job] {
			b.out.Sweeps[s.Sweep] = SweepTotals{PassedOver: t}
		}
	}
}

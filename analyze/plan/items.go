package plan

import (
	"context"
	"fmt"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// writeItems writes the items and, between them, the files of sweeps.
func (b *builder) writeItems(ctx context.Context) error {
	var files *merge
	if b.spool != nil {
		b.passedOver()
		var err error
		if files, err = b.spool.merge(); err != nil {
			return err
		}
	}
	next := 0
	for {
		for next < len(b.items) && b.items[next].left {
			next++
		}
		swept, more, err := files.peek()
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case next == len(b.items) && !more:
			return nil
		case next < len(b.items) && (!more || b.items[next].path < swept.path):
			if err := b.writeItem(ctx, b.items[next]); err != nil {
				return err
			}
			next++
		default:
			if err := b.writeSwept(swept); err != nil {
				return err
			}
			if err := files.next(); err != nil {
				return err
			}
		}
	}
}

// line fills what all items have, but the evidence.
func line(i *cleanup.Item) planfile.Item {
	out := planfile.Item{
		Kind: planfile.Kind(i.Kind), Path: planfile.Path(i.Path), InodeID: i.INodeID, ParentID: i.ParentID,
		Root: planfile.Path(i.Root.Policy.Path), SplitOf: i.SplitOf,
		Rule: string(i.Rule), NeedsReferenceProof: i.NeedsReferenceProof, Conditional: i.Conditional,
	}
	if i.Unit.Unit.Kind != flink.ChildUnit {
		out.Job, out.Run = planfile.Name(i.Job.Name), planfile.Name(i.Unit.Unit.Name)
	}
	return out
}

// note takes down what was written for an item.
func (b *builder) note(i *cleanup.Item, out *planfile.Item) {
	if b.out.items == nil {
		b.out.items = make([]itemWritten, 0, len(b.items))
	}
	b.out.items = append(b.out.items, itemWritten{i, Written{out.MTimeMs, out.Entries, out.Totals, out.Deferred, out.Freed}})
}

// line is an item with its evidence, which is valid until the next one.
func (b *builder) line(i *cleanup.Item) planfile.Item {
	b.evidence = appendEvidence(b.evidence[:0], i)
	out := line(i)
	out.Evidence = b.evidence
	return out
}

func (b *builder) writeItem(ctx context.Context, w *work) error {
	b.written.apart(w.path)
	out := b.line(w.item)
	out.Deferred = w.deferred
	if w.dir == namespace.NoDir {
		b.fileLine(&out, w.file)
		b.note(w.item, &out)
		return b.file.Item(out)
	}
	summary := b.t.Summary(w.dir)
	moved, err := b.t.IfMoved(w.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImage, err)
	}
	out.Owner, out.Group, out.MTimeMs = owner(b.t.Owner(w.dir)), owner(b.t.Group(w.dir)), b.t.MTimeMs(w.dir)
	out.Children, out.Entries = b.t.ChildCount(w.dir), int64(w.sum.Count())
	out.Totals, out.Fingerprint = totals(summary.Counts), w.sum.Digest(out.InodeID)
	c := charge{here: moved.Usage}
	if there := b.effects.destination; there != namespace.NoDir {
		c.there = b.t.UsageIn(w.dir, there)
	}
	out.Freed = b.effects.freed(&moved)
	out.QuotaEffects = b.effects.count(b.effects.of(b.t.Parent(w.dir)), c, out.Deferred != "")
	b.note(w.item, &out)
	if err := b.file.Item(out); err != nil {
		return err
	}
	return b.writeDirs(ctx, w.dir)
}

// fileLine fills what is said of a file.
func (b *builder) fileLine(out *planfile.Item, f *fileFacts) {
	out.Owner, out.Group, out.MTimeMs = owner(b.t.OwnerName(f.permission)), owner(b.t.GroupName(f.permission)), f.mtime
	out.Entries, out.Totals = 1, planfile.Totals{Files: 1, Length: f.length, Space: f.space}
	out.Freed = b.effects.freed(&f.moved)
	out.QuotaEffects = b.effects.count(b.effects.of(f.parentDir), charge{f.moved.Usage, f.there}, out.Deferred != "")
	var sum planfile.Sum
	sum.Add(planfile.Entry{InodeID: f.id, ParentID: f.parent, Kind: planfile.EntryFile, Length: f.length, MTimeMs: f.mtime, Name: []byte(out.Path[lastSlash(out.Path)+1:])})
	out.Fingerprint = sum.Digest(f.id)
}

func lastSlash(p planfile.Path) int {
	i := len(p) - 1
	for i >= 0 && p[i] != '/' {
		i--
	}
	return i
}

// writeSwept asks whether a file of a sweep is an item, and writes it.
func (b *builder) writeSwept(s *swept) error {
	sweep := b.sweeps[s.sweep]
	if b.bad[sweep.Job] {
		return nil
	}
	sums := b.out.Sweeps[sweep]
	defer func() { b.out.Sweeps[sweep] = sums }()
	if s.path.Clean() != nil || !b.written.apart(s.path) {
		sums.PassedOver.add(s.facts.length)
		return nil
	}
	i := b.r.Decision.File(sweep, cleanup.Path(s.path), s.facts.parent, s.facts.flinkFile(string(s.path[lastSlash(s.path)+1:])), s.facts.atime)
	if i == nil {
		sums.PassedOver.add(s.facts.length)
		return nil
	}
	out := b.line(i)
	if len(i.Deferred) > 0 {
		out.Deferred = string(i.Deferred[0].Rule)
	} else {
		if why := b.belts.admit(i, 1, s.facts.length); len(why) > 0 {
			out.Deferred = string(why[0].Rule)
		}
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
		if s := b.sweeps[n]; !b.bad[s.Job] {
			b.out.Sweeps[s] = SweepTotals{PassedOver: t}
		}
	}
}

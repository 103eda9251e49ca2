package plan

import (
	"context"
	"encoding/binary"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// weighItems finds out what of the items is deferred, and sorts those that are not left out
// by path.
func (b *builder) weighItems(ctx context.Context) error {
	b.items = extsort.New(extsort.Options{Dir: b.r.TempDir, Memory: itemMemory, Limit: b.r.sortMemory})
	out := b.items.Writer(0)
	w := b.newWeighed(false)
	b.belts = w
	var rest []byte
	err := w.each(ctx, func() error {
		if w.unit == nil || w.left() {
			return nil
		}
		w.unit.Keeps = nil
		for n, i := range w.unit.Items {
			deferred := ""
			if len(w.why[n]) > 0 {
				deferred = string(w.why[n][0].Rule)
			}
			i.Deferred = nil
			if w.weights[n].dir != namespace.NoDir {
				b.tops.set(w.weights[n].dir)
			}
			rest = extsort.AppendBytes(extsort.AppendBytes(binary.AppendUvarint(rest[:0], uint64(w.key.root)), w.job.Name), deferred)
			rest = cleanup.AppendUnit(rest, w.unit, []*cleanup.Item{i}, false)
			rest = w.weights[n].pack(rest)
			if err := out.Add([]byte(i.Path), rest); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.items.Finish()
}

// itemReader gives items by path.
type itemReader struct {
	b     *builder
	r     *extsort.Reader
	u     cleanup.Unpacker
	roots []*cleanup.RootDecision

	more     bool
	item     *cleanup.Item
	job      cleanup.JobDecision
	weight   weight
	deferred string
}

func (b *builder) readItems() (*itemReader, error) {
	r, err := b.items.Read()
	if err != nil {
		return nil, err
	}
	i := &itemReader{b: b, r: r, u: cleanup.Unpacker{Survey: b.s}, roots: b.r.Decider.Decision().Roots}
	return i, i.next()
}

// next goes to the next item; there is one if more is true.
func (i *itemReader) next() error {
	_, rest, ok, err := i.r.Next()
	if i.more = ok; !ok {
		return err
	}
	r := &extsort.Unpacker{Rest: rest}
	root, job := i.roots[r.Unsigned()], r.Bytes()
	if i.job.Name != string(job) {
		i.job.Name = string(job)
	}
	i.deferred = i.u.Text(r.Bytes())
	u, rest := i.u.Unit(r.Rest, root, &i.job)
	i.item = u.Items[0]
	r.Rest = rest
	i.weight.unpack(r)
	return nil
}

// writeItems writes the items and, between them, the files of sweeps.
func (b *builder) writeItems(ctx context.Context) error {
	var files *merge
	if b.spool != nil {
		var err error
		if files, err = b.spool.merge(); err != nil {
			return err
		}
	}
	items, err := b.readItems()
	if err != nil {
		return err
	}
	b.around = b.around[:0]
	for {
		swept, more, err := files.peek()
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !items.more && !more:
			return b.sweeps.finish()
		case items.more && (!more || planfile.Path(items.item.Path) < swept.path):
			if err := b.writeItem(ctx, items); err != nil {
				return err
			}
			if err := items.next(); err != nil {
				return err
			}
		default:
			if err := b.writeSwept(swept); err != nil {
				return err
			}
			files.next()
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

// line is an item with its evidence, which is valid until the next one.
func (b *builder) line(i *cleanup.Item) planfile.Item {
	b.evidence = appendEvidence(b.evidence[:0], i)
	out := line(i)
	out.Evidence = b.evidence
	return out
}

// written gives what becomes of an item.
func (b *builder) written(w *weight, why []cleanup.Fact, left bool) Written {
	out := Written{Left: left, Counted: w.counted, Why: why, Entries: w.entries()}
	if len(why) > 0 {
		out.Deferred = string(why[0].Rule)
	}
	if left {
		return out
	}
	if w.dir == namespace.NoDir {
		out.MTimeMs, out.Totals, out.Freed = w.file.mtime, planfile.Totals{Files: 1, Length: w.file.length, Space: w.file.space}, b.effects.freed(&w.file.moved)
		return out
	}
	out.MTimeMs, out.Totals, out.Freed = b.t.MTimeMs(w.dir), totals(w.totals), b.effects.freed(&w.moved)
	return out
}

func (b *builder) writeItem(ctx context.Context, r *itemReader) error {
	w := &r.weight
	out := b.line(r.item)
	b.around.apart(out.Path)
	out.Deferred = r.deferred
	if w.dir == namespace.NoDir {
		b.fileLine(&out, &w.file)
		return b.file.Item(out)
	}
	out.Owner, out.Group, out.MTimeMs = owner(b.t.Owner(w.dir)), owner(b.t.Group(w.dir)), b.t.MTimeMs(w.dir)
	out.Children, out.Entries = b.t.ChildCount(w.dir), int64(w.sum.Count())
	out.Totals, out.Fingerprint = totals(w.totals), w.sum.Digest(out.InodeID)
	out.Freed = b.effects.freed(&w.moved)
	out.QuotaEffects = b.effects.count(b.effects.of(b.t.Parent(w.dir)), charge{w.moved.Usage, w.there}, out.Deferred != "")
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

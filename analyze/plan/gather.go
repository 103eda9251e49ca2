package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
	"fsweep/proto/planfile"
)

// Bytes of records that wait in memory.
const (
	unitMemory = 2 << 20
	itemMemory = 2 << 20
)

// jobKey names a job: its root, and its place there.
type jobKey struct{ root, number int }

// Records of jobs and units are sorted in the order of the decision: by root and job, and
// of a job first itself, then its units, the newest first. Behind a unit follow those of its
// items that are more than one record has.
const (
	jobRecord byte = iota
	unitRecord
)

// Records of units begin with what they are.
const (
	wholeUnit      byte = iota
	openUnit            // more items follow
	moreOfUnit          // such items
	itemsPerRecord = 256
)

func appendJobKey(b []byte, k jobKey, what byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(k.root))
	b = binary.BigEndian.AppendUint32(b, uint32(k.number))
	return append(b, what)
}

// gather decides about all units, finds out what a plan says of their items, and puts both
// on disk. What is known only when all units are, belts and what is left out, comes later.
func (b *builder) gather(ctx context.Context) error {
	b.units = extsort.New(extsort.Options{Dir: b.r.TempDir, Memory: unitMemory, Limit: b.r.sortMemory})
	begun := map[int]bool{} // roots of which what is not grouped has its record
	err := b.r.Decider.Each(ctx, func(s *cleanup.Step) error {
		k := jobKey{s.Root, s.Number}
		if s.First == 0 && (!s.Alone || !begun[s.Root]) {
			begun[s.Root] = begun[s.Root] || s.Alone
			if b.ask != nil {
				b.ask.job(k, s)
			}
			b.key, b.rest = appendJobKey(b.key[:0], k, jobRecord), packJob(b.rest[:0], s.Job)
			if err := b.units.Writer(0).Add(b.key, b.rest); err != nil {
				return err
			}
		}
		return b.addUnits(ctx, k, s)
	})
	if err != nil {
		return err
	}
	return b.units.Finish()
}

// addUnits puts the units of a job on disk, which can be very many.
func (b *builder) addUnits(ctx context.Context, k jobKey, s *cleanup.Step) error {
	sweeps := s.Sweeps
	for n, u := range s.Job.Units {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.Job.Job.Grouped() && u.Unit.NumUnknown > 0 {
			b.unknown[k] += u.Unit.NumUnknown
		}
		b.key = appendJobKey(b.key[:0], k, unitRecord)
		if s.Alone {
			// A later time comes first: turned around, the sign bit too.
			b.key = binary.BigEndian.AppendUint64(b.key, ^(uint64(u.Unit.Times.Newest.Ms) ^ 1<<63))
			b.key = appendEnded(b.key, string(u.Path))
		} else {
			b.key = binary.BigEndian.AppendUint32(b.key, uint32(s.First+n))
		}
		of := 0
		for of < len(sweeps) && sweeps[of].Unit.Path == u.Path {
			of++
		}
		if err := b.addSweeps(k, s, u, sweeps[:of]); err != nil {
			return err
		}
		sweeps = sweeps[of:]
		if err := b.addUnit(ctx, k, u); err != nil {
			return err
		}
	}
	return nil
}

// addSweeps puts the sweeps of a unit on disk, or tells whoever asks for paths of both.
func (b *builder) addSweeps(k jobKey, s *cleanup.Step, u *cleanup.UnitDecision, list []*cleanup.Sweep) error {
	if b.ask != nil {
		return b.ask.add(k, s, u, list)
	}
	for _, w := range list {
		if err := b.sweeps.add(k.root, b.key, w); err != nil {
			return err
		}
	}
	return nil
}

// appendEnded appends a text so that what is behind it does not change its order among
// others.
func appendEnded(b []byte, text string) []byte {
	for i := range len(text) {
		if b = append(b, text[i]); text[i] == 0 {
			b = append(b, 0xff)
		}
	}
	return append(b, 0, 0)
}

// addUnit puts a unit, of which b.key is the key, with the weights of its items on disk.
func (b *builder) addUnit(ctx context.Context, k jobKey, u *cleanup.UnitDecision) error {
	out := b.units.Writer(0)
	what := wholeUnit
	if u.Many() {
		what = openUnit
	}
	b.rest = append(b.rest[:0], what)
	b.rest = binary.AppendUvarint(b.rest, uint64(len(u.Items)))
	b.rest = cleanup.AppendUnit(b.rest, u, u.Items, b.r.Contents)
	var err error
	if b.rest, err = b.appendWeights(b.rest, k, u.Items); err != nil {
		return err
	}
	if err = out.Add(b.key, b.rest); err != nil || !u.Many() {
		return err
	}
	return b.addMany(ctx, k, u)
}

// addMany puts the items of a unit on disk that are too many for one record.
func (b *builder) addMany(ctx context.Context, k jobKey, u *cleanup.UnitDecision) error {
	unit := len(b.key)
	var list []*cleanup.Item
	records := uint32(0)
	flush := func() (err error) {
		b.key = binary.BigEndian.AppendUint32(b.key[:unit], records)
		records++
		b.rest = cleanup.AppendItems(append(b.rest[:0], moreOfUnit), list)
		if b.rest, err = b.appendWeights(b.rest, k, list); err != nil {
			return err
		}
		list = list[:0]
		return b.units.Writer(0).Add(b.key, b.rest)
	}
	err := u.EachItem(func(i *cleanup.Item) error {
		// What can have one path, in a broken image, is not torn apart: it has one number.
		if len(list) >= itemsPerRecord && !sameNumber(list[len(list)-1], i) {
			if err := cmp.Or(ctx.Err(), flush()); err != nil {
				return err
			}
		}
		list = append(list, i)
		return nil
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return flush()
}

// sameNumber tells whether two items are of checkpoints of one number.
func sameNumber(x, y *cleanup.Item) bool {
	return x.Checkpoint != nil && y.Checkpoint != nil && x.Checkpoint.N == y.Checkpoint.N
}

// appendWeights packs the weights of items or, for whoever asks for paths, what discovery
// counted for checkpoints.
func (b *builder) appendWeights(rest []byte, k jobKey, items []*cleanup.Item) ([]byte, error) {
	if b.ask != nil {
		for _, i := range items {
			if i.Kind == cleanup.CheckpointItem {
				t := &i.Checkpoint.Totals
				rest = extsort.AppendSigned(rest, t.Files, t.Directories, t.Symlinks, t.Length, t.Space)
			}
		}
		return rest, nil
	}
	alone := b.alone(items)
	for n, i := range items {
		sound, err := b.weigh(i, &b.weight)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrImage, err)
		}
		if !sound || !alone[n] {
			b.bad[k] = true
			b.unsound++
		}
		rest = b.weight.pack(rest)
	}
	return rest, nil
}

// alone tells which items of a unit have a path that is none of the others' before it, in
// the order of paths, nor in one of those.
func (b *builder) alone(items []*cleanup.Item) []bool {
	if len(items) < 2 {
		return one[:len(items)]
	}
	order := b.order[:0]
	for n := range items {
		order = append(order, n)
	}
	slices.SortStableFunc(order, func(x, y int) int { return strings.Compare(string(items[x].Path), string(items[y].Path)) })
	alone := slices.Grow(b.apart[:0], len(items))[:len(items)]
	around := b.around[:0]
	for _, n := range order {
		alone[n] = around.apart(planfile.Path(items[n].Path))
	}
	b.order, b.apart, b.around = order, alone, around
	return alone
}

var one = []bool{true}

// packJob packs a job without its units.
func packJob(b []byte, j *cleanup.JobDecision) []byte {
	d := j.Job
	b = extsort.AppendBool(extsort.AppendBytes(b, j.Name), j.Mapped)
	b = extsort.AppendBool(extsort.AppendBytes(b, d.Name), d.Excluded)
	b = binary.AppendUvarint(b, d.INodeID)
	b = extsort.AppendSigned(b, d.Totals.Files, d.Totals.Directories, d.Totals.Symlinks, d.Totals.Length, d.Totals.Space)
	b = binary.AppendUvarint(extsort.AppendSigned(b, d.NumUnknown), uint64(len(d.Unknown)))
	for i := range d.Unknown {
		m := &d.Unknown[i]
		b = binary.AppendUvarint(extsort.AppendBytes(extsort.AppendBytes(extsort.AppendBytes(b, m.Reason), m.Path), m.Detail), m.INodeID)
	}
	return cleanup.AppendFacts(b, j.Stopped)
}

func unpackJob(b []byte, u *cleanup.Unpacker) *cleanup.JobDecision {
	r := &extsort.Unpacker{Rest: b}
	j := &cleanup.JobDecision{Name: string(r.Bytes()), Mapped: r.Bool(), Job: &flink.Job{}}
	d := j.Job
	d.Name, d.Excluded, d.INodeID = string(r.Bytes()), r.Bool(), r.Unsigned()
	d.Totals = flink.Totals{Files: r.Signed(), Directories: r.Signed(), Symlinks: r.Signed(), Length: r.Signed(), Space: r.Signed()}
	d.NumUnknown = r.Signed()
	for range r.Len() {
		d.Unknown = append(d.Unknown, flink.Misfit{Reason: flink.Reason(r.Bytes()), Path: bytes.Clone(r.Bytes()), Detail: string(r.Bytes()), INodeID: r.Unsigned()})
	}
	j.Stopped, _ = u.Facts(r.Rest)
	return j
}

// weighed goes over all jobs and units in the order of the decision, and holds the items
// against the belts of the decision and of the plan.
type weighed struct {
	b     *builder
	tally *cleanup.Tally
	belts belts
	u     cleanup.Unpacker
	all   bool // units without items, too

	key  jobKey
	full []byte // the key of the record
	job  *cleanup.JobDecision
	// The present unit, its items' weights, and why each is deferred: by the decision or,
	// if that does not defer it, by the plan.
	unit    *cleanup.UnitDecision
	more    bool // it is the one before, with more of its items
	weights []weight
	why     [][]cleanup.Fact
}

func (b *builder) newWeighed(all bool) *weighed {
	d := b.r.Decider.Decision()
	return &weighed{b: b, u: cleanup.Unpacker{Survey: b.s}, tally: d.StartTally(b.r.Policy), belts: b.newBelts(), all: all}
}

// each calls fn for every job, with no unit, and every unit.
func (w *weighed) each(ctx context.Context, fn func() error) error {
	r, err := w.b.units.Read()
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		key, rest, ok, err := r.Next()
		if err == nil && n%256 == 0 {
			err = ctx.Err()
		}
		if err != nil || !ok {
			return err
		}
		w.full, w.key = key, jobKey{int(binary.BigEndian.Uint32(key)), int(binary.BigEndian.Uint32(key[4:]))}
		if key[8] == jobRecord {
			w.job, w.unit = unpackJob(rest, &w.u), nil
			w.tally.Job()
			w.belts.job()
		} else if !w.take(rest) {
			continue
		}
		if err := fn(); err != nil {
			return err
		}
	}
}

// take unpacks a unit, or more items of one, and decides what of them is deferred. It is
// false if nobody asks for what this has.
func (w *weighed) take(rest []byte) bool {
	root := w.b.r.Decider.Decision().Roots[w.key.root]
	if w.more = rest[0] == moreOfUnit; w.more {
		w.weigh(w.u.More(rest[1:], w.job))
		return true
	}
	items, n := binary.Uvarint(rest[1:])
	if rest[0] == wholeUnit && items == 0 && !w.all {
		return false
	}
	w.unit, rest = w.u.Unit(rest[1+n:], root, w.job)
	w.tally.Begin()
	w.belts.unit()
	w.weigh(rest)
	return true
}

// weigh decides what of the items of the present unit is deferred.
func (w *weighed) weigh(rest []byte) {
	u := w.unit
	w.tally.More(w.job, u)
	r := &extsort.Unpacker{Rest: rest}
	if w.b.ask != nil {
		for _, i := range u.Items {
			if i.Kind == cleanup.CheckpointItem {
				t := flink.Totals{Files: r.Signed(), Directories: r.Signed(), Symlinks: r.Signed(), Length: r.Signed(), Space: r.Signed()}
				i.Checkpoint = &flink.Checkpoint{INodeID: i.INodeID, Totals: t}
			}
		}
		return
	}
	w.weights, w.why = w.weights[:0], w.why[:0]
	for _, i := range u.Items {
		var x weight
		x.unpack(r)
		why := i.Deferred
		if len(why) == 0 && !w.left() {
			why = w.belts.weigh(i, &x)
		}
		w.weights, w.why = append(w.weights, x), append(w.why, why)
	}
}

// unknownOf gives the first of the entries that are not Flink's in the units of a job.
func (b *builder) unknownOf(ctx context.Context, k jobKey) ([]flink.Misfit, error) {
	r, err := b.units.Read()
	if err != nil {
		return nil, err
	}
	var list []flink.Misfit
	p := cleanup.Unpacker{Survey: b.s}
	for n := 0; ; n++ {
		key, rest, ok, err := r.Next()
		if err == nil && n%256 == 0 {
			err = ctx.Err()
		}
		if err != nil || !ok {
			return list, err
		}
		at := jobKey{int(binary.BigEndian.Uint32(key)), int(binary.BigEndian.Uint32(key[4:]))}
		if at != k || key[8] != unitRecord || rest[0] == moreOfUnit {
			continue
		}
		_, items := binary.Uvarint(rest[1:])
		u, _ := p.Unit(rest[1+items:], nil, nil)
		if list = append(list, u.Unit.Unknown...); len(list) >= flink.MaxListed {
			return list[:flink.MaxListed], nil
		}
	}
}

// left tells whether the items of the present job are left out.
func (w *weighed) left() bool { return w.b.bad[w.key] }

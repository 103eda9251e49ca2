package plan

import (
	"context"
	"errors"
	"fmt"
	"io"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// ErrImage is wrapped by errors about an image that no plan can be made from, though
// it could be read.
var ErrImage = errors.New("no plan can be made from this image")

// ErrNotFound is wrapped by the error about paths under protect that the image does
// not have: one that is written wrong would protect nothing.
var ErrNotFound = errors.New("protected paths were not found")

// TempError says that a temporary file could not be made, written or read.
type TempError = extsort.TempError

// Request is what a plan is made from. Nothing in it is changed, but Survey and Decider are
// used up.
type Request struct {
	Tree      *namespace.Tree  // loaded with its sums
	Collector *Collector       // of Tree and Policy, that saw the pass of Survey
	Survey    *flink.Survey    // with the options of Collector
	Decider   *cleanup.Decider // of Survey; used for one Write only
	Policy    *cleanup.Policy  // in force
	Inputs    cleanup.Inputs

	Source     planfile.Source // its ImageTimeMs is that of Inputs
	Tool       string
	Version    string
	PolicyName string // of the file

	Live, Pins []planfile.Input
	Warnings   []string // in front of those that Write adds

	Contents bool   // Result.Each tells what is in units, too
	Workers  int    // goroutines that decode (default 1)
	TempDir  string // where what does not fit in memory is sorted; "": os.TempDir
	// Progress, if set, is told how many records were gone over; what was read of the
	// file the caller knows. It is called from several goroutines, one at a time.
	Progress func(namespace.Progress)

	sortMemory int // bytes, for tests
}

// Result is what was written. It has to be closed.
type Result struct {
	Digest planfile.Digest
	Header planfile.Header
	Footer planfile.Footer
	Quotas []planfile.Quota // by path
	// GuardsInItems is how many of the guards lie in items.
	GuardsInItems int64

	b *builder
}

// Close gives up what [Result.Each] needs. It can be called again, and of nil.
func (r *Result) Close() {
	if r != nil && r.b != nil {
		r.b.close()
	}
}

// Entry is a job, or a unit of it, as [Result.Each] gives it.
type Entry struct {
	Root *cleanup.RootDecision
	// Job has what was decided of it, but no Units.
	Job *cleanup.JobDecision
	// Unit is nil of the job itself. Its Items are those of the decision.
	Unit *cleanup.UnitDecision
	// More: it is the unit of the entry before, and Items are more of its items, because
	// there are too many for one entry.
	More bool
	// Items has for each of Unit.Items what became of it.
	Items []Written
	// Sweeps are the directories in the unit whose files may be items, by path.
	Sweeps []Swept

	// Of a job without a directory of its own: how many entries its units have that the
	// layout does not, and the first of them, at most [flink.MaxListed].
	Unknown    []flink.Misfit
	NumUnknown int64
}

// Each goes over all jobs, in the order of the decision, each followed by its units. An
// entry is valid until fn returns. What fn returns ends it; other errors are those of
// reading the temporary file. It can be called again until the result is closed.
func (r *Result) Each(ctx context.Context, fn func(e *Entry) error) error {
	w := r.b.newWeighed(true)
	sums, err := r.b.sweeps.readSums()
	if err != nil {
		return err
	}
	e := &Entry{}
	return w.each(ctx, func() error {
		e.Root, e.Job, e.Unit, e.Items = r.b.r.Decider.Decision().Roots[w.key.root], w.job, w.unit, e.Items[:0]
		e.Unknown, e.NumUnknown, e.Sweeps, e.More = nil, 0, e.Sweeps[:0], w.unit != nil && w.more
		if n := r.b.unknown[w.key]; n > 0 && w.unit == nil {
			var err error
			if e.Unknown, err = r.b.unknownOf(ctx, w.key); err != nil {
				return err
			}
			e.NumUnknown = n
		}
		if w.unit != nil {
			if !e.More {
				var err error
				if e.Sweeps, err = sums.of(e.Sweeps, w.full); err != nil {
					return err
				}
			}
			for n := range w.unit.Items {
				e.Items = append(e.Items, r.b.written(&w.weights[n], w.why[n], w.left()))
			}
		}
		return fn(e)
	})
}

// Written is what was found out about an item and is counted, or shown; see
// [planfile.Item].
type Written struct {
	Left     bool // left out of the plan: the image contradicts itself
	MTimeMs  int64
	Entries  int64
	Totals   planfile.Totals
	Deferred string
	Freed    planfile.Freed
	// Counted is what discovery counted, without what only snapshots hold.
	Counted flink.Totals
	Why     []cleanup.Fact // all reasons why it is deferred
}

// Item gives what is known of the item of the plan that i became, without its
// evidence: see [Evidence].
func (w *Written) Item(i *cleanup.Item) planfile.Item {
	out := line(i)
	out.MTimeMs, out.Entries, out.Totals, out.Deferred, out.Freed = w.MTimeMs, w.Entries, w.Totals, w.Deferred, w.Freed
	return out
}

// SweepTotals says what became of the files of a sweep.
type SweepTotals struct {
	Planned, Deferred FileTotals
	PassedOver        FileTotals     // not old enough, open, of unknown age, or read lately
	Freed             planfile.Freed // by those that are planned
}

// FileTotals counts files and the sum of their lengths.
type FileTotals struct{ Files, Bytes int64 }

func (t *FileTotals) add(bytes int64) {
	t.Files++
	t.Bytes += max(bytes, 0) // a size beyond 64 bits is none
}

// Write writes the plan to w. It reads section INODE once if there are sweeps. The
// bytes depend on the request alone, not on Workers, TempDir or timing.
//
// Memory, beside the request: some MiB and a bit for each directory of the image; where files of
// units may become items, 4 bytes for each directory, and 8 for each that has such files.
// What is beyond is sorted in temporary files, which have no name and are gone when the
// result is closed. What has reached w when Write fails is no plan.
//
// Errors wrap [ErrNotFound], [ErrImage], a [TempError], the error of w or of reading, or
// [planfile.ErrInvalid], which would be a mistake of this package. It is not to be
// called twice with one Decider.
func Write(ctx context.Context, w io.Writer, r *Request) (*Result, error) {
	b := newBuilder(r)
	if err := b.write(ctx, w); err != nil {
		b.close()
		return nil, err
	}
	return b.out, nil
}

func (b *builder) write(ctx context.Context, w io.Writer) error {
	if err := b.missing(); err != nil {
		return err
	}
	if err := b.gather(ctx); err != nil {
		return err
	}
	b.r.Survey.ForgetUnits()
	if err := b.sweeps.start(); err != nil {
		return err
	}
	if err := b.read(ctx); err != nil {
		return err
	}
	if b.unsound > 0 {
		b.warn(fmt.Sprintf("The image contradicts itself about %s: with all others of their jobs they are left out.", plural(b.unsound, "item", "items")))
	}
	if err := b.weighItems(ctx); err != nil {
		return err
	}
	waived, err := b.guards(ctx)
	if err != nil {
		return err
	}
	return b.writeLines(ctx, w, waived)
}

// writeLines writes the plan, of which all is known.
func (b *builder) writeLines(ctx context.Context, w io.Writer, waived map[uint64]*cleanup.Waiver) (err error) {
	b.out.Header = b.header()
	if b.file, err = planfile.NewWriter(w, b.out.Header); err != nil {
		return err
	}
	if err := b.replayGuards(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		b.writeKnown,
		func(ctx context.Context) error { return b.writeGuards(ctx, waived) },
		b.writeItems,
		b.writeQuotas,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if b.out.Digest, err = b.file.Close(); err != nil {
		return err
	}
	b.out.Footer = b.file.Footer()
	b.file = nil
	return nil
}

// builder makes one plan.
type builder struct {
	r   *Request
	t   *namespace.Tree
	s   *flink.Survey
	out *Result
	at  *placed

	file  *planfile.Writer
	units *extsort.Sorter // jobs and units, in the order of the decision
	items *extsort.Sorter // those that are not left out, by path
	tops  bitSet          // directories that are such items

	bad     map[jobKey]bool  // jobs whose items are left out
	unknown map[jobKey]int64 // entries that are not Flink's, in units that are in no directory of a job
	unsound int              // items for which they are

	ask *Answers // nil: a plan is made

	sweeps *sweeps
	spool  *spool // nil: there are no sweeps

	warnings []string
	effects  *effects
	evidence []planfile.Fact // of the item that is written
	belts    *weighed        // files of sweeps are held against the same
	around   enclosing
	inside   walker // of items

	// Scratch of gather.
	key, rest []byte
	weight    weight
	order     []int
	apart     []bool
}

func newBuilder(r *Request) *builder {
	b := &builder{
		r: r, t: r.Tree, s: r.Survey, out: &Result{}, at: &r.Collector.at,
		tops: newBitSet(r.Tree), bad: map[jobKey]bool{}, unknown: map[jobKey]int64{},
	}
	b.out.b = b
	b.sweeps = newSweeps(b)
	b.effects = newEffects(b)
	return b
}

// close gives up the temporary files.
func (b *builder) close() {
	b.units.Close()
	b.items.Close()
	b.sweeps.close()
	if b.spool != nil {
		b.spool.close()
	}
}

func (b *builder) warn(s string) { b.warnings = append(b.warnings, s) }

func (b *builder) workers() int { return max(b.r.Workers, 1) }

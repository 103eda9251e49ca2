package plan

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// ErrImage is wrapped by errors about an image that no plan can be made from, though
// it could be read.
var ErrImage = errors.New("no plan can be made from this image")

// ErrNotFound is wrapped by the error about paths under protect that the image does
// not have: one that is written wrong would protect nothing.
var ErrNotFound = errors.New("protected paths were not found")

// Request is what a plan is made from. Nothing in it is changed, except that
// Decision counts the files of its sweeps.
type Request struct {
	Tree      *namespace.Tree // loaded with its sums
	Collector *Collector      // of Tree and Policy, that saw the pass of Discovery
	Discovery *flink.Discovery
	Decision  *cleanup.Decision // of Discovery; used for one Write only
	Policy    *cleanup.Policy   // in force
	Inputs    cleanup.Inputs

	Source     planfile.Source // its ImageTimeMs is that of Inputs
	Tool       string
	Version    string
	PolicyName string // of the file

	Live, Pins []planfile.Input
	Warnings   []string // in front of those that Write adds

	Workers int    // goroutines that decode (default 1)
	TempDir string // where files of sweeps are sorted that do not fit in memory; "": os.TempDir
	// Progress, if set, is told how many records were gone over; what was read of the
	// file the caller knows. It is called from several goroutines, one at a time.
	Progress func(namespace.Progress)

	sortMemory int // bytes, for tests
}

// Result is what was written.
type Result struct {
	Digest planfile.Digest
	Header planfile.Header
	Footer planfile.Footer
	Quotas []planfile.Quota // by path
	// Deferrals says of items that the decision did not defer, but the plan does, why.
	Deferrals map[*cleanup.Item][]cleanup.Fact
	// Sweeps has a value for each of Decision.Sweeps that was looked at.
	Sweeps map[*cleanup.Sweep]SweepTotals
	// GuardsInItems is how many of the guards lie in items.
	GuardsInItems int64

	items []itemWritten // by path
}

// Item tells what was written for one of Decision.Items or Decision.Deferred; false if
// it was left out.
func (r *Result) Item(i *cleanup.Item) (Written, bool) {
	at, ok := slices.BinarySearchFunc(r.items, i.Path, func(x itemWritten, p cleanup.Path) int { return cmp.Compare(x.item.Path, p) })
	if !ok || r.items[at].item != i {
		return Written{}, false
	}
	return r.items[at].Written, true
}

// itemWritten is what was written for an item.
type itemWritten struct {
	item *cleanup.Item
	Written
}

// Written is what was found out about an item and is counted, or shown; see
// [planfile.Item]. It is small, as there is one for each item.
type Written struct {
	MTimeMs  int64
	Entries  int64
	Totals   planfile.Totals
	Deferred string
	Freed    planfile.Freed
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
// Memory, beside the request and the result: 4 bytes for each directory of the image,
// some 250 for each item and 24 more for each file of a sweep; files of sweeps beyond
// some MiB are sorted in a temporary file, which has no name and is gone when Write
// returns. What has reached w when Write fails is no plan.
//
// Errors wrap [ErrNotFound], [ErrImage], a [TempError], the error of w or of reading, or
// [planfile.ErrInvalid], which would be a mistake of this package. It is not to be
// called twice with one Decision.
func Write(ctx context.Context, w io.Writer, r *Request) (*Result, error) {
	r.Collector.finish()
	b := newBuilder(r)
	b.addItems()
	r.Collector.release()
	b.addSweeps()
	b.effects = newEffects(b)
	defer b.close()
	if err := b.read(ctx); err != nil {
		return nil, err
	}
	if err := b.missing(); err != nil {
		return nil, err
	}
	b.judge()
	waived := b.guards()
	b.out.Header = b.header()
	p, err := planfile.NewWriter(w, b.out.Header)
	if err != nil {
		return nil, err
	}
	b.file = p
	for _, step := range []func(context.Context) error{
		b.writeKnown,
		func(ctx context.Context) error { return b.writeGuards(ctx, waived) },
		b.writeItems,
		b.writeQuotas,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if b.out.Digest, err = p.Close(); err != nil {
		return nil, err
	}
	b.out.Footer = p.Footer()
	return b.out, nil
}

// builder makes one plan.
type builder struct {
	r   *Request
	t   *namespace.Tree
	d   *flink.Discovery
	out *Result

	file *planfile.Writer
	// column has for each directory the number of the item that it is or lies in, from
	// 1 on, or, behind those, of the sweep.
	column []uint32
	items  []*work                       // by path
	sweeps []*cleanup.Sweep              // by path
	bad    map[*cleanup.JobDecision]bool // left out
	spool  *spool

	at       *placed
	guardIDs map[uint64]bool // in directories of sweeps
	warnings []string

	effects  *effects
	evidence []planfile.Fact // of the item that is written
	belts    belts
	written  enclosing // items, and files of sweeps that were looked at
}

func newBuilder(r *Request) *builder {
	return &builder{
		r: r, t: r.Tree, d: r.Discovery,
		out:    &Result{Sweeps: map[*cleanup.Sweep]SweepTotals{}, Deferrals: map[*cleanup.Item][]cleanup.Fact{}},
		column: make([]uint32, r.Tree.NumDirs()), at: &r.Collector.at,
		guardIDs: map[uint64]bool{},
	}
}

// close gives up the temporary file.
func (b *builder) close() {
	if b.spool != nil {
		b.spool.close()
	}
}

func (b *builder) warn(s string) { b.warnings = append(b.warnings, s) }

package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// run is one process that carries out a plan.
type run struct {
	*actor
	moved     map[uint64]arrival // what the journal has moved, by inode id
	goals     []goal             // where that is
	inodes    int64              // moved by this process
	spent     int64              // by earlier ones, in the present trash interval
	attempted bool               // a rename of an item was announced
	lastRoot  planfile.Path      // of the item before
}

func newRun(p *Params) *run {
	r := &run{actor: newActor(p), moved: map[uint64]arrival{}}
	r.pace.plan = p.Plan.Header.Pace
	return r
}

// Run carries out a plan. The end of the context lets the item at work come to its end.
//
// Errors: a [*Refusal] if nothing was begun; ErrInterrupted, ErrWindow, ErrHeld, ErrExpired,
// ErrSlow and ErrMismatch if it stopped between two items, [Resume] goes on if the plan still may be carried
// out; else an [*Anomaly] or what the
// journal said. The Result has the exit code in any case; without an error it is 0 if all items
// were moved, 4 if some were kept, 5 if some failed or had to be moved back.
func Run(ctx context.Context, p *Params) (*Result, error) {
	r := newRun(p)
	if err := r.before(ctx); err != nil {
		return notBegun(ctx, err)
	}
	h := &journal.Header{
		Command: journal.CommandRun,
		Plan:    &journal.Plan{File: planfile.Name(p.Plan.File), Digest: p.Plan.Digest},
	}
	if err := r.create(ctx, h); err != nil {
		return notBegun(ctx, err)
	}
	// From here on an end of ctx is seen between items only.
	act := context.WithoutCancel(ctx)
	err := r.take(act, false)
	if err == nil {
		err = r.all(ctx)
	}
	return r.end(act, err)
}

// before looks at all that can be refused before a journal is made.
func (r *run) before(ctx context.Context) error {
	if err := r.window(); err != nil {
		return refuse("window", "%s", err)
	}
	if err := r.lockFree(ctx, false); err != nil {
		return err
	}
	if err := r.p.Check.Preflight(ctx); err != nil {
		return err
	}
	return r.earlier(ctx)
}

func (r *run) window() error {
	ok, err := inWindow(r.pace.plan.Window, r.p.Clock.Now())
	if err == nil && !ok {
		err = ErrWindow
	}
	return err
}

// earlier counts what earlier runs moved in the present trash interval: the emptier deletes
// all of it at once.
func (r *run) earlier(ctx context.Context) error {
	if r.p.Spent == nil {
		return nil
	}
	d, err := r.p.Look.Defaults(ctx)
	if err != nil {
		return err
	}
	r.spent, err = r.p.Spent(r.p.Clock.Now().Add(-d.TrashInterval))
	return err
}

// all checks everything, and moves what may be moved.
func (r *run) all(ctx context.Context) error {
	if err := r.p.Check.Check(ctx); err != nil {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		return err
	}
	err := r.items(ctx)
	if err == nil {
		err = r.p.Check.Failed()
	} else if !between(err) {
		return err
	}
	if err != nil && len(r.moved) == 0 {
		return err
	}
	// However it ended, this was the last move: nobody may come back to look once more.
	return errors.Join(err, r.guards(context.WithoutCancel(ctx), true))
}

func (r *run) items(ctx context.Context) error {
	var root planfile.Path
	act := context.WithoutCancel(ctx)
	for i, v := range r.p.Check.Items() {
		if err := r.wait(ctx, 0); err != nil {
			return err
		}
		if i.Root != root {
			if root != "" {
				r.watch(Event{Kind: RootEnds, Path: root})
			}
			root = i.Root
			r.watch(Event{Kind: RootBegins, Path: root})
		}
		if v.Listed {
			r.watch(Event{Kind: ItemListed, Path: i.Path, Item: i, Rule: v.Rule, Facts: v.Facts})
			continue
		}
		if err := r.pauseBefore(ctx, root); err != nil {
			return err
		}
		if err := r.visit(ctx, act, i, v); err != nil {
			return err
		}
	}
	if root != "" {
		r.watch(Event{Kind: RootEnds, Path: root})
	}
	return nil
}

// pauseBefore waits between two roots that have something to be done.
func (r *run) pauseBefore(ctx context.Context, root planfile.Path) error {
	last := r.lastRoot
	r.lastRoot = root
	if last == "" || last == root {
		return nil
	}
	return r.wait(ctx, r.pace.pause(r.pace.plan.BetweenRootsMs))
}

func (r *run) visit(ctx, act context.Context, i *planfile.Item, v Verdict) error {
	switch r.j.State().Outcome(i.InodeID) {
	case journal.OutcomeDone: // by an earlier process
		if v.Restored { // its line is written
			r.restored = true
			r.watch(Event{Kind: ItemSkipped, Path: i.Path, Item: i, Rule: v.Rule, Facts: v.Facts})
			return nil
		}
		r.p.Check.Moved(i)
		return nil
	case journal.OutcomeUndone, journal.OutcomeUnknown:
		return nil
	case journal.OutcomeNone, journal.OutcomeSkipped, journal.OutcomeFailed:
	}
	if !v.Move {
		return r.skip(i, 0, v)
	}
	return r.one(ctx, act, i)
}

// one does all that is to be done for an item that the checks let go.
func (r *run) one(ctx, act context.Context, i *planfile.Item) error {
	if err := r.mayGoOn(act); err != nil {
		return err
	}
	doubled, err := r.pace.judge(r.p.Clock.Now())
	if err != nil {
		return err
	}
	if doubled {
		r.watch(Event{Kind: PausesDouble})
	}
	// Before the guards: what stays is one, and to look at them for each of very many takes long.
	if limit := r.p.Plan.Header.Belts.MaxInodes; limit > 0 && r.spent > limit-r.inodes-i.Entries { // sums of a plan do not overflow
		return r.skip(i, 0, Verdict{Rule: "belt-trash-interval", Facts: []planfile.Fact{
			{Name: "inodes_moved", Number: max(r.spent, r.spent+r.inodes)}, {Name: "max_inodes", Number: limit},
		}})
	}
	if err := r.guards(act, false); err != nil {
		return err
	}
	before := r.inodes
	if err := r.item(act, i); err != nil {
		return err
	}
	if r.inodes == before {
		return nil
	}
	return r.wait(ctx, r.pace.next())
}

// mayGoOn looks at what can forbid the rest of a run: the time, and a hold.
func (r *run) mayGoOn(ctx context.Context) error {
	if err := r.window(); err != nil {
		return err
	}
	if ms := r.p.Plan.Header.ExpiresMs; ms > 0 && r.now() >= ms {
		return ErrExpired
	}
	held, err := r.p.Check.Held(ctx)
	if err != nil {
		return anomaly(err, "whether a hold path exists is not known")
	}
	if held != "" {
		return fmt.Errorf("%w: %q", ErrHeld, held)
	}
	return nil
}

// guards reads guards again, and moves back what turns out to be referred to. Then the
// run ends: what it rested on was not so.
func (r *run) guards(ctx context.Context, all bool) error {
	referred, err := r.p.Check.Guards(ctx, all)
	if err != nil {
		return anomaly(err, "the guards could not be read again")
	}
	var errs []error
	for _, i := range referred {
		m, ok := r.recall(i)
		if !ok {
			continue
		}
		errs = append(errs, anomaly(nil, "%q was moved, and is referred to", i.Path))
		if err := r.holds(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
		v, err := r.back(ctx, m, false)
		switch {
		case err != nil:
			return errors.Join(append(errs, err)...)
		case v.Rule != "":
			errs = append(errs, anomaly(nil, "%q could not be moved back: %s", i.Path, v.Rule))
		default:
			r.watch(Event{Kind: ItemUndone, Path: i.Path, Item: i, Target: m.to})
		}
	}
	return errors.Join(errs...)
}

// end gives the lock back and writes the last line, if the journal can be written.
func (r *run) end(ctx context.Context, err error) (*Result, error) {
	t := r.j.State().Totals()
	executed := err == nil || r.attempted || t.Done+t.Undone+t.Unknown > 0
	return r.finish(ctx, err, executed, "unused", r.p.Plan.Items)
}

// finish ends a command: lock, totals, exit code, last line.
func (a *actor) finish(ctx context.Context, err error, executed bool, what string, planned int64) (*Result, error) {
	if a.j.Sync() == nil {
		if e := a.release(ctx, executed, what); e != nil { // whatever else ended the command
			err = errors.Join(err, anomaly(e, "the lock was not given back"))
		}
	}
	t := a.j.State().Totals()
	t.Planned = max(planned, t.Done+t.Undone+t.Skipped+t.Failed+t.Unknown)
	res := &Result{ExitCode: exitCode(err), Totals: t}
	code := ofTotals(t)
	if code == ExitDone && (a.partly || a.restored) {
		code = ExitIncomplete
	}
	if err == nil {
		res.ExitCode = code
	} else if code == ExitAnomaly || res.ExitCode == ExitRefused && a.sent {
		res.ExitCode = ExitAnomaly // what earlier processes moved is no anomaly: a resume can be refused
	}
	if e := a.j.Append(&journal.End{
		Stamp: a.stamp(), ExitCode: int64(res.ExitCode), Totals: journal.Totals{Planned: t.Planned},
	}); e != nil {
		res.ExitCode = ExitAnomaly
		if err == nil || !errors.Is(err, e) {
			err = errors.Join(err, e)
		}
	}
	res.Last = a.j.Last()
	return res, err
}

// text makes a text valid UTF-8, as facts must be.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// since gives the time since a moment of the journal, never negative.
func (a *actor) since(ms int64) time.Duration {
	return max(0, a.p.Clock.Now().Sub(time.UnixMilli(ms)))
}

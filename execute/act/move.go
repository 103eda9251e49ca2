package act

import (
	"context"
	"errors"
	"path"
	"time"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

const (
	maxStale = 60 * time.Second // between the checks of an item and its rename
	tries    = 4                // of one item, each with a new place in the trash
)

// moved is what has to be known to move an item back.
type moved struct {
	intent int64 // that moved it; 0: not known
	kind   planfile.Kind
	id     uint64
	from   planfile.Path // where it was
	to     planfile.Path // where it went
	trash  planfile.Path // "" of the quarantine
	dir    uint64        // the directory that holds it now; 0: not known
	into   uint64        // the trash, or the quarantine if only the plan is known; 0: it is at to
	inodes int64
	length int64
	space  int64
}

// errDrift says that the last reads did not find an item as it was checked.
var errDrift = errors.New("not as it was checked")

// item does all that belongs to one item. With an error the run must stop.
func (r *run) item(ctx context.Context, i *planfile.Item) error {
	for range tries {
		v, err := r.p.Check.Again(ctx, i)
		if err != nil {
			return anomaly(err, "%q could not be checked again", i.Path)
		}
		if !v.Move {
			return r.skip(i, 0, v)
		}
		if err := r.holds(ctx); err != nil {
			return err
		}
		t, err := r.target(ctx, i.Path)
		if stop, err := r.noTarget(i, err); stop || err != nil {
			return err
		}
		again, err := r.move(ctx, i, t, v.At)
		if err != nil || !again {
			return err
		}
	}
	return r.fail(i, 0, "tries", errors.New("no try came to an end"))
}

// noTarget says what an error about the place in the trash means: for the item, or for
// the run.
func (r *run) noTarget(i *planfile.Item, err error) (bool, error) {
	var refused *execute.RemoteError
	var rule *Refusal
	var stop *Anomaly
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &stop): // whatever it wraps: something is not known
		return true, err
	case errors.Is(err, errNoPlace):
		return true, r.skip(i, 0, Verdict{Rule: "no-place-in-trash"})
	case errors.Is(err, errNotText):
		return true, r.skip(i, 0, Verdict{Rule: "not-text"})
	case errors.As(err, &rule):
		return true, r.skip(i, 0, Verdict{Rule: rule.Rule, Facts: []planfile.Fact{{Name: "reason", Text: text(rule.Text)}}})
	case errors.As(err, &refused) && own(err):
		return true, r.fail(i, 0, class(err), err)
	}
	return true, anomaly(err, "no place in the trash for %q", i.Path)
}

// own tells refusals that concern one item from those that all would meet.
func own(err error) bool {
	return errors.Is(err, execute.ErrPermission) || errors.Is(err, execute.ErrSnapshot) || errors.Is(err, execute.ErrSymlink)
}

// lastReads looks once more whether the id answers, lies in its directory, and stands at
// its path.
func (r *run) lastReads(ctx context.Context, i *planfile.Item) error {
	for _, look := range []struct {
		ref  execute.Ref
		want uint64
	}{
		{execute.ByID(i.InodeID), i.InodeID},
		{execute.ParentOf(i.InodeID), i.ParentID},
		{execute.At(string(i.Path)), i.InodeID},
	} {
		s, err := r.stat(ctx, look.ref)
		if err != nil {
			return err
		}
		if s == nil || s.ID != look.want {
			return errDrift
		}
	}
	return nil
}

// errStale says that the checks of an item are too old for its rename, which was not sent.
var errStale = errors.New("the checks are too old")

// stale tells whether checks of a time are too old for a rename, or from the future: then
// the clock was set back.
func (r *run) stale(at time.Time) bool {
	d := r.p.Clock.Now().Sub(at)
	return d > maxStale || d < 0
}

// mayAgain tells whether the rename of an item that was not answered may be sent once more. To the
// item it is as the first time: the lock is needed, the run must be allowed to go on, and the
// checks, of the time at, must be young.
func (r *run) mayAgain(ctx context.Context, i *planfile.Item, in *journal.Intent, into uint64, at *time.Time) bool {
	if r.holds(ctx) != nil || r.mayGoOn(ctx) != nil {
		return false
	}
	// It is sent without a look, to wherever the inode is; what arrived would not pass the checks.
	if place, _, err := r.where(ctx, in, into); err != nil || place != atSource {
		return false
	}
	if !r.stale(*at) {
		return true
	}
	v, err := r.p.Check.Again(ctx, i)
	*at = v.At
	return err == nil && v.Move && !r.stale(v.At)
}

// move moves an item to its place, if its checks, of the time at, are young enough. It says
// whether to try again.
func (r *run) move(ctx context.Context, i *planfile.Item, t *target, at time.Time) (bool, error) {
	in := &journal.Intent{
		Purpose: journal.PurposeMove, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID, ParentID: i.ParentID,
		Target: t.path, TrashRoot: t.trashRoot, Inodes: i.Entries, Length: i.Totals.Length, Space: i.Totals.Space,
		Context: r.context(),
	}
	f, err := r.carry(ctx, in, t.into, before{
		look: func(ctx context.Context) error {
			if r.stale(at) {
				return errStale
			}
			return r.lastReads(ctx, i)
		},
		send:  func() bool { return !r.stale(at) },
		again: func(ctx context.Context) bool { return r.mayAgain(ctx, i, in, t.into, &at) },
	})
	switch {
	case errors.Is(err, errStale):
		return true, nil
	case errors.Is(err, errDrift):
		return false, r.skip(i, 0, Verdict{Rule: "changed-at-last", Drift: true})
	}
	r.attempted = true
	if f.moved && err == nil {
		r.remember(movedBy(in, f.chain))
		r.inodes += i.Entries
		r.p.Check.Moved(i)
		r.watch(Event{Kind: ItemDone, Path: i.Path, Item: i, Target: t.path})
	}
	if err != nil || f.moved {
		return false, err
	}
	if f.lost { // settled as not happened
		return true, nil
	}
	switch {
	case errors.Is(f.err, errStale):
		return true, r.settle(in, &journal.Settled{How: journal.NotHappened, Evidence: evidence(0, nil, f.err)})
	case errors.Is(f.err, execute.ErrExists), errors.Is(f.err, execute.ErrNoParent):
		// The name was taken meanwhile, or the emptier renamed Current.
		return true, r.settle(in, &journal.Settled{How: journal.NotHappened, Evidence: evidence(0, nil, f.err)})
	case errors.Is(f.err, execute.ErrChanged), errors.Is(f.err, execute.ErrNotFound):
		return false, r.skip(i, in.Seq, Verdict{Rule: "changed-at-last", Drift: true})
	case own(f.err):
		return false, r.fail(i, in.Seq, class(f.err), f.err)
	}
	return false, errors.Join(r.fail(i, in.Seq, class(f.err), f.err), anomaly(f.err, "%q was not moved", i.Path))
}

func movedBy(i *journal.Intent, chain []uint64) moved {
	m := moved{
		intent: i.Seq, kind: i.Kind, id: i.InodeID, from: i.Path, to: i.Target, trash: i.TrashRoot,
		inodes: i.Inodes, length: i.Length, space: i.Space,
	}
	if len(chain) > 0 {
		m.dir = chain[0]
		if i.TrashRoot != "" {
			m.into = chain[len(chain)-1]
		}
	}
	return m
}

// arrival is what a run keeps of each item that was moved; the rest is in the item. There
// can be 200,000.
type arrival struct {
	intent int64
	goal   int32 // in the goals of the run
}

// goal is where items arrived, mostly many of one job.
type goal struct {
	dir, into uint64
	trash     planfile.Path
	to        planfile.Path // "" where it is the usual one
}

func (r *run) remember(m moved) {
	g := goal{m.dir, m.into, m.trash, m.to}
	if g.to == usual(m.trash, m.from) {
		g.to = ""
	}
	if n := len(r.goals); n == 0 || r.goals[n-1] != g {
		r.goals = append(r.goals, g)
	}
	r.moved[m.id] = arrival{m.intent, int32(len(r.goals) - 1)}
}

// usual is where an item goes if nothing is in the way.
func usual(trash, from planfile.Path) planfile.Path { return trash + "/" + current + from }

// recall gives what is needed to move an item back.
func (r *run) recall(i *planfile.Item) (moved, bool) {
	a, ok := r.moved[i.InodeID]
	if !ok || r.j.State().Outcome(i.InodeID) != journal.OutcomeDone {
		return moved{}, false
	}
	g := r.goals[a.goal]
	if g.to == "" {
		g.to = usual(g.trash, i.Path)
	}
	return moved{
		intent: a.intent, kind: i.Kind, id: i.InodeID, from: i.Path, to: g.to, trash: g.trash, dir: g.dir, into: g.into,
		inodes: i.Entries, length: i.Totals.Length, space: i.Totals.Space,
	}, true
}

func (r *run) skip(i *planfile.Item, intent int64, v Verdict) error {
	if v.Rule == "" {
		v.Rule = "kept"
	}
	err := r.j.Append(&journal.Skipped{
		Stamp: r.stamp(), Intent: intent, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID, Rule: v.Rule, Facts: v.Facts,
	})
	if err != nil {
		return err
	}
	r.p.Check.Stays(i)
	r.watch(Event{Kind: ItemSkipped, Path: i.Path, Item: i, Rule: v.Rule, Facts: v.Facts})
	if !v.Drift {
		return nil
	}
	return r.pace.drifted(r.p.Plan.Items)
}

func (r *run) fail(i *planfile.Item, intent int64, class string, cause error) error {
	err := r.j.Append(&journal.Failed{
		Stamp: r.stamp(), Intent: intent, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID, Class: class,
		Message: planfile.Name(cause.Error()),
	})
	if err == nil {
		r.p.Check.Stays(i)
		r.watch(Event{Kind: ItemFailed, Path: i.Path, Item: i, Rule: class, Message: cause.Error()})
	}
	return err
}

// parentOf gives the directory of a path.
func parentOf(p planfile.Path) string { return path.Dir(string(p)) }

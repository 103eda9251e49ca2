package act

import (
	"context"
	"errors"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// history is what a journal says beside its state.
type history struct {
	lock    *journal.Intent           // the lock that was taken last and not given back
	strays  map[int64]*journal.Intent // what moved something by mistake
	settled map[uint64]*journal.Settled
}

// read goes over a journal once.
func read(j *journal.Reader) (*history, error) {
	h := &history{strays: map[int64]*journal.Intent{}, settled: map[uint64]*journal.Settled{}}
	var open *journal.Intent
	happened := func() {
		switch {
		case open == nil:
		case open.Purpose == journal.PurposeLock:
			h.lock = open
		case open.Purpose == journal.PurposeUnlock:
			h.lock = nil
		}
		open = nil
	}
	for l, err := range j.Lines() {
		if err != nil {
			return nil, err
		}
		switch l := l.(type) {
		case *journal.Intent:
			open = l
		case *journal.Done:
			happened()
		case *journal.Settled:
			switch {
			case l.How == journal.Arrived:
				happened()
			case l.How == journal.OtherInode && open != nil:
				h.strays[open.Seq], h.settled[l.InodeID] = open, l
			}
		}
	}
	return h, nil
}

// Resume goes on with a journal of the same plan that was reopened. It first settles what
// the journal does not know, then does what Run does. Errors are those of Run.
func Resume(ctx context.Context, p *Params, j Journal) (*Result, error) {
	r := newRun(p)
	r.j = j
	h, err := r.reopen(ctx)
	if err != nil {
		return notBegun(ctx, err)
	}
	act := context.WithoutCancel(ctx)
	pending, _ := j.State().Pending()
	// The checks come first: whether a lost rename may be asked for again depends on them.
	checked := interrupted(ctx, r.recheck(ctx))
	err = r.settlePending(act, func(i *journal.Intent) (bool, error) { return r.wanted(act, i, h, checked) })
	if err == nil {
		r.noteLock(h, pending)
		err = r.straysBack(act, h)
	}
	if err == nil {
		err = r.loadMoved(pending)
	}
	if err == nil {
		err = r.relock(act, h, checked)
	}
	if err == nil {
		err = r.all(ctx)
	}
	return r.end(act, err)
}

// Resumable gives a [*Refusal] if a journal is not of a run, which says what to do in place of
// resuming it.
func Resumable(h *journal.Header) error {
	if h.Command == journal.CommandRun {
		return nil
	}
	return refuse("other-command", "the journal is of %q; only a run can be resumed: %s", h.Command, instead[h.Command])
}

// instead is what to do where a process of a command ended before its end.
var instead = map[journal.Command]string{
	journal.CommandRun:      "resume its journal, which settles it",
	journal.CommandUndo:     "once its process is gone, unlock, and undo again; what is back already is found to be so",
	journal.CommandRehearse: "look where the directory " + rehearsal + " is, and rehearse again",
	journal.CommandUnlock:   "look who holds the lock, and unlock again",
}

// reopen demands that a journal is of this plan and of a run, and says in it that this
// process goes on.
func (a *actor) reopen(ctx context.Context) (*history, error) {
	read1 := a.j.Journal()
	if read1 == nil {
		return nil, errors.New("a new journal cannot be resumed")
	}
	head := read1.Header()
	if err := Resumable(&head); err != nil {
		return nil, err
	}
	a.command = head.Command
	if head.Plan == nil || head.Plan.Digest != a.p.Plan.Digest {
		return nil, refuse("other-plan", "the journal is of another plan")
	}
	if err := a.ownJournal(ctx, &head); err != nil {
		return nil, err
	}
	h, err := read(read1)
	if err != nil {
		return nil, err
	}
	if err := a.hello(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ErrInterrupted
	}
	p := a.p.Process
	return h, a.j.Append(&journal.Resumed{
		Stamp: a.stamp(), Version: p.Version, NameNode: nameNode(a.node), User: planfile.Name(p.User),
		Host: p.Host, PID: int64(p.PID), ClientID: a.client,
	})
}

// sameUser demands that a journal is of the user who acts now: what it moved lies in the trash of
// that one, and rests on what that one may see.
func (a *actor) sameUser(h *journal.Header) error {
	if string(h.User) == a.p.Process.User {
		return nil
	}
	return refuse("other-user", "the journal is of user %q, and this is %q", h.User, a.p.Process.User)
}

func (r *run) recheck(ctx context.Context) error {
	if err := r.window(); err != nil {
		return err
	}
	if err := r.p.Check.Preflight(ctx); err != nil {
		return err
	}
	return r.earlier(ctx)
}

// wanted says whether a rename of an earlier process may be asked for again.
func (r *run) wanted(ctx context.Context, i *journal.Intent, h *history, checked error) (bool, error) {
	if i.Purpose == journal.PurposeUnlock || i.Purpose == journal.PurposeUndo {
		return true, nil
	}
	if checked != nil {
		return false, nil
	}
	if i.Purpose == journal.PurposeLock {
		return true, nil
	}
	if held, err := r.stillLocked(ctx, h); err != nil || !held {
		return false, err
	}
	if err := r.p.Check.Check(ctx); err != nil {
		return false, nil //nolint:nilerr // it is not asked for again then, and the error comes again
	}
	for item, v := range r.p.Check.Items() {
		if item.InodeID != i.InodeID {
			continue
		}
		if !v.Move || item.Path != i.Path || item.ParentID != i.ParentID {
			return false, nil
		}
		if r.mayGoOn(ctx) != nil {
			return false, nil
		}
		v, err := r.p.Check.Again(ctx, item)
		if err != nil || !v.Move {
			return false, nil //nolint:nilerr // what cannot be looked at is not moved
		}
		held, err := r.stillLocked(ctx, h)
		return held && !r.stale(v.At), err
	}
	return false, nil
}

// stillLocked tells whether the lock is still the one of the process that this one goes on
// for: somebody can have taken it away.
func (r *run) stillLocked(ctx context.Context, h *history) (bool, error) {
	s, err := r.stat(ctx, execute.At(r.lockPath()))
	return err == nil && s != nil && h.lock != nil && s.ID == h.lock.InodeID, err
}

// straysBack moves back what earlier processes moved by mistake, and then ends the run.
func (r *run) straysBack(ctx context.Context, h *history) error {
	var errs []error
	for id, seq := range r.j.State().Strays() {
		i, s := h.strays[seq], h.settled[id]
		if i == nil || s == nil {
			return anomaly(nil, "inode %d was moved by mistake and is still there", id)
		}
		if i.Purpose != journal.PurposeMove {
			errs = append(errs, anomaly(nil, "inode %d was moved by mistake", id))
			continue
		}
		errs = append(errs, anomaly(nil, "inode %d was moved in place of %d", id, i.InodeID))
		if err := r.backAgain(ctx, i, id, s.Chain[0]); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

// loadMoved remembers what earlier processes moved, the last intent too, if it was
// settled so: a guard may still want it back.
func (r *run) loadMoved(last *journal.Intent) error {
	for m, err := range r.j.Journal().Moved() {
		if err != nil {
			return err
		}
		r.remember(movedBy(m.Intent, m.Chain))
	}
	if last != nil && last.Purpose == journal.PurposeMove && r.j.State().Outcome(last.InodeID) == journal.OutcomeDone {
		r.remember(movedBy(last, r.settledChain))
	}
	return nil
}

// relock puts the lock of the process away that this one goes on for, and takes a new one. The
// old process, should it wake up, finds its lock gone.
func (r *run) relock(ctx context.Context, h *history, checked error) error {
	dir, err := r.lockDirectory(ctx)
	if err != nil {
		return err
	}
	s, err := r.stat(ctx, execute.At(r.lockPath()))
	if err != nil {
		return err
	}
	if s != nil && h.lock != nil && s.ID == h.lock.InodeID {
		if err := r.putAway(ctx, s.ID, dir.ID, brokenName, r.digest()+"-"+r.p.Random()); err != nil {
			return err
		}
	}
	if checked != nil {
		return checked
	}
	if err := r.unheld(ctx); err != nil {
		return err
	}
	return r.take(ctx, true)
}

// noteLock notes what settling the last intent says about the lock: relock looks whether
// it stands there.
func (r *run) noteLock(h *history, i *journal.Intent) {
	if i != nil && i.Purpose == journal.PurposeLock {
		h.lock = i
	}
}

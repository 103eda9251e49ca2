package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

const (
	resends  = 5                // of a rename whose answer was lost
	lookGap  = 30 * time.Second // between two looks that show that something did not happen
	replayed = 8 * time.Minute  // NameNodes remember calls for ten
)

// place says where an inode is, seen from a rename.
type place int

const (
	atSource  place = iota + 1 // in the directory from which it was to go
	arrived                    // where it was to go
	gone                       // nowhere
	elsewhere                  // somewhere else
)

// where looks where the inode of an intent is. What moves within one directory, and what
// goes to a place that stays, is found by its path; what goes to a trash by climbing to
// the directory into, as the emptier may rename Current at any time.
func (a *actor) where(ctx context.Context, i *journal.Intent, into uint64) (place, []uint64, error) {
	parent, err := a.stat(ctx, execute.ParentOf(i.InodeID))
	switch {
	case err != nil:
		return 0, nil, err
	case parent == nil:
		return gone, nil, nil
	}
	if i.TrashRoot == "" {
		there, err := a.stat(ctx, execute.At(string(i.Target)))
		if err != nil {
			return 0, nil, err
		}
		if there != nil && there.ID == i.InodeID {
			return arrived, []uint64{parent.ID}, nil
		}
	}
	if parent.ID == i.ParentID {
		// What lies in a trash may have another path by now; anything else has not.
		if i.Purpose == journal.PurposeUndo {
			return atSource, nil, nil
		}
		there, err := a.stat(ctx, execute.At(string(i.Path)))
		if err != nil {
			return 0, nil, err
		}
		if there != nil && there.ID == i.InodeID {
			return atSource, nil, nil
		}
		return elsewhere, []uint64{parent.ID}, nil
	}
	if i.TrashRoot == "" {
		return elsewhere, []uint64{parent.ID}, nil
	}
	chain, err := a.climb(ctx, i.InodeID, into)
	switch {
	case err != nil:
		return 0, nil, err
	case len(chain) == 0:
		return gone, nil, nil
	case chain[len(chain)-1] != into:
		return elsewhere, chain, nil
	}
	return arrived, chain, nil
}

// climb gives the ids of the directories above an inode, up to one that is asked for or
// to the root. It is empty if the inode is gone.
func (a *actor) climb(ctx context.Context, id, into uint64) ([]uint64, error) {
	var chain []uint64
	for at := id; len(chain) < maxDepth; {
		parent, err := a.stat(ctx, execute.ParentOf(at))
		switch {
		case err != nil:
			return nil, err
		case parent == nil:
			if len(chain) == 0 {
				return nil, nil
			}
			return chain, nil // it went while it was looked for
		case parent.ID == at: // the root is its own parent
			return chain, nil
		}
		chain = append(chain, parent.ID)
		if parent.ID == into {
			return chain, nil
		}
		at = parent.ID
	}
	return nil, fmt.Errorf("inode %d is more than %d directories deep", id, maxDepth)
}

// fate is what became of a rename.
type fate struct {
	moved bool
	err   error    // the refusal, if it was not moved
	chain []uint64 // if it was
	lost  bool     // an answer was lost on the way
}

// before is what is looked at before a rename; either can be nil.
type before struct {
	look func(context.Context) error // the last reads; an error of it is that of carry, and nothing was announced
	send func() bool                 // when it is announced: whether it may still be sent
	// again says whether it may be sent once more, when no answer came: much can have happened meanwhile.
	again func(context.Context) bool
}

// carry announces a rename, asks for it, and finds out what became of it; it notes all of
// it down. With an error but that of b.look the run must stop: the journal cannot be written, or the end is not known, or
// something happened that was not asked for. A refusal leaves the intent open, for the caller to close: only
// he knows what it means.
func (a *actor) carry(ctx context.Context, i *journal.Intent, into uint64, b before) (fate, error) {
	var call execute.Call
	err := a.insist(ctx, func(ctx context.Context) (err error) {
		call, err = a.p.Move.NewCall(ctx)
		return err
	})
	if err != nil {
		return fate{}, anomaly(err, "no NameNode to move %q", i.Path)
	}
	if err := a.proper(call); err != nil {
		return fate{}, err
	}
	if b.look != nil {
		if err := b.look(ctx); errors.Is(err, errStale) || errors.Is(err, errDrift) {
			return fate{}, err
		} else if err != nil {
			return fate{}, anomaly(err, "%q could not be looked at", i.Path)
		}
	}
	i.Call = &journal.Call{ClientID: call.ClientID, CallID: int64(call.CallID), NameNode: nameNode(call.NameNode)}
	i.Stamp = a.stamp()
	if err := a.j.Append(i); err != nil {
		return fate{}, err
	}
	if b.send != nil && !b.send() { // the disk took too long
		return fate{err: errStale}, nil
	}
	move := a.moveOf(i)
	err = a.timed(ctx, func(ctx context.Context) error { return a.p.Move.Rename(ctx, move, call) })
	f := fate{err: err}
	if errors.Is(err, execute.ErrUnknown) {
		f.lost = true
		f.err = a.resend(ctx, move, call, b.again)
	}
	if errors.Is(f.err, errNotAgain) { // it can have happened all the same, and then it is known
		if at, chain, err := a.where(ctx, i, into); err == nil && at == arrived {
			f.moved, f.chain = true, chain
			return f, a.settle(i, &journal.Settled{How: journal.Arrived, Chain: chain, Evidence: evidence(at, chain, f.err)})
		}
	}
	if errors.Is(f.err, execute.ErrUnknown) {
		return f, a.unknown(i, f.err)
	}
	return a.conclude(ctx, i, into, f)
}

// errNotAgain says that a rename without an answer is not wanted any more.
var errNotAgain = errors.New("it must not be asked for again now")

// proper demands that a call is one of this client.
func (a *actor) proper(call execute.Call) error {
	if journal.ClientID(call.ClientID) != a.client || call.NameNode.Address == "" {
		return anomaly(nil, "call %d of client %x to %q is not of client %s", call.CallID, call.ClientID, call.NameNode.Address, a.client)
	}
	return nil
}

// resend asks again, the very same, until there is an answer, or until it may not (nil: it
// always may).
func (a *actor) resend(ctx context.Context, move execute.Move, call execute.Call, may func(context.Context) bool) error {
	err := execute.ErrUnknown
	for range resends {
		if slept := a.p.Clock.Sleep(ctx, lookPause); slept != nil {
			return fmt.Errorf("%w: %w", execute.ErrUnknown, slept)
		}
		if may != nil && !may(ctx) {
			return fmt.Errorf("%w: %w", execute.ErrUnknown, errNotAgain)
		}
		err = a.timed(ctx, func(ctx context.Context) error { return a.p.Move.Resend(ctx, move, call) })
		var remote *execute.RemoteError
		switch {
		case err == nil, errors.As(err, &remote), errors.Is(err, execute.ErrInvalid):
			return err
		}
		// Whatever else went wrong says nothing about the first request.
	}
	return fmt.Errorf("%w: %w", execute.ErrUnknown, err)
}

// moveOf gives what is going to be asked for.
func (a *actor) moveOf(i *journal.Intent) execute.Move {
	a.sent = a.sent || i.Purpose == journal.PurposeMove || i.Purpose == journal.PurposeUndo
	return execute.Move{
		ID: i.InodeID, ParentID: i.ParentID, From: string(i.Path), To: string(i.Target),
		Trash: i.TrashRoot != "", Context: string(i.Context),
	}
}

// conclude looks where the inode is now, and closes the intent unless it was plainly refused.
func (a *actor) conclude(ctx context.Context, i *journal.Intent, into uint64, f fate) (fate, error) {
	at, chain, err := a.where(ctx, i, into)
	if err == nil && at != arrived && (f.lost || f.err == nil) {
		// The request may still be at work, or it moved something else.
		if err = a.p.Clock.Sleep(ctx, lookGap); err == nil {
			at, chain, err = a.where(ctx, i, into)
		}
	}
	if err != nil {
		return f, a.unknown(i, err)
	}
	if at == arrived {
		f.moved, f.chain = true, chain
		if f.err == nil {
			return f, a.j.Append(&journal.Done{Stamp: a.stamp(), Intent: i.Seq, Chain: chain})
		}
		return f, a.settle(i, &journal.Settled{How: journal.Arrived, Chain: chain, Evidence: evidence(at, chain, f.err)})
	}
	if f.err == nil {
		return f, a.stray(ctx, i, at, chain)
	}
	if !f.lost {
		return f, nil
	}
	how := journal.NotHappened
	if at != atSource {
		how = journal.Gone
	}
	if err := a.settle(i, &journal.Settled{How: how, Evidence: evidence(at, chain, f.err)}); err != nil || how == journal.NotHappened {
		return f, err
	}
	return f, anomaly(f.err, "inode %d, %q, is not where it was, nor where it was to go", i.InodeID, i.Path)
}

// stray is about a rename that the NameNode calls a success, after which the inode is
// not where it was to go. An id is a look-up of a path: while a snapshot alone holds the inode,
// another one can have been moved. An inode that lives is no such one: then what stands at the target is
// somebody else's, and stays. Whatever it is, the run ends.
func (a *actor) stray(ctx context.Context, i *journal.Intent, at place, chain []uint64) error {
	other, err := a.stat(ctx, execute.At(string(i.Target)))
	if err != nil {
		return a.unknown(i, err)
	}
	if at != gone || other == nil || other.ID == i.InodeID { // nothing shows whether it was moved, and by whom after that
		return errors.Join(
			anomaly(nil, "the NameNode says that it moved inode %d, %q, and it did not arrive", i.InodeID, i.Path),
			a.settle(i, &journal.Settled{How: journal.Gone, Evidence: evidence(at, chain, nil)}),
		)
	}
	above, err := a.climb(ctx, other.ID, 0)
	if err != nil || len(above) == 0 {
		return a.unknown(i, errors.Join(err, fmt.Errorf("inode %d came in place of %d", other.ID, i.InodeID)))
	}
	s := &journal.Settled{How: journal.OtherInode, Path: i.Target, InodeID: other.ID, Chain: above, Evidence: evidence(at, chain, nil)}
	if err := a.settle(i, s); err != nil {
		return err
	}
	stop := anomaly(nil, "inode %d was moved in place of %d, %q", other.ID, i.InodeID, i.Path)
	if i.Purpose != journal.PurposeMove {
		return stop
	}
	return errors.Join(stop, a.backAgain(ctx, i, other.ID, above[0]))
}

// backAgain moves back what was moved by mistake.
func (a *actor) backAgain(ctx context.Context, i *journal.Intent, id, parent uint64) error {
	b := &journal.Intent{
		Purpose: journal.PurposeUndo, Kind: i.Kind, Path: i.Target, InodeID: id, ParentID: parent, Target: i.Path,
		Undoes: i.Seq, Inodes: i.Inodes, Length: i.Length, Space: i.Space, Context: i.Context,
	}
	f, err := a.carry(ctx, b, 0, before{})
	if err != nil || f.moved {
		return err
	}
	return errors.Join(anomaly(f.err, "inode %d could not be moved back to %q", id, i.Path), a.close(b, f))
}

// close notes that a rename was refused, if that was not settled.
func (a *actor) close(i *journal.Intent, f fate) error {
	if f.lost {
		return nil
	}
	return a.failed(i, f.err)
}

func (a *actor) settle(i *journal.Intent, s *journal.Settled) error {
	s.Stamp, s.Intent, a.settledChain = a.stamp(), i.Seq, s.Chain
	if err := a.j.Append(s); err != nil {
		return err
	}
	a.watch(Event{Kind: SettledNow, Path: i.Path, Target: i.Target, Rule: string(s.How), Facts: s.Evidence})
	return nil
}

// evidence tells what was seen when an intent was settled; place 0: nothing was looked for.
func evidence(at place, chain []uint64, err error) []planfile.Fact {
	words := map[place]string{atSource: "where it was", arrived: "where it was to go", gone: "nowhere", elsewhere: "elsewhere"}
	var facts []planfile.Fact
	if at != 0 {
		facts = append(facts, planfile.Fact{Name: "found", Text: words[at]})
	}
	if len(chain) > 0 && at == elsewhere {
		facts = append(facts, planfile.Fact{Name: "in_directory", Text: strconv.FormatUint(chain[0], 10)})
	}
	answer := "success"
	if err != nil {
		answer = class(err)
	}
	return append(facts, planfile.Fact{Name: "answer", Text: answer})
}

// contains tells whether an inode was found below a directory.
func contains(chain []uint64, id uint64) bool { return id != 0 && slices.Contains(chain, id) }

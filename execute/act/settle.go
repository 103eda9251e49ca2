package act

import (
	"context"
	"errors"

	"fsweep/execute"
	"fsweep/proto/journal"
)

// settlePending finds out what became of the intent that the journal ends with. A
// rename that can be wanted still, and that NameNodes still remember, is asked for once
// more with its own ids; wanted says whether it is, by what it looked at just now. Otherwise it is waited until no NameNode
// can be at work on it any more.
func (a *actor) settlePending(ctx context.Context, wanted func(*journal.Intent) (bool, error)) error {
	i, _ := a.j.State().Pending()
	if i == nil {
		return nil
	}
	if i.Purpose == journal.PurposeMkdirs {
		return a.settleMkdirs(ctx, i)
	}
	into, err := a.intoOf(ctx, i)
	if err != nil {
		return a.unknown(i, err)
	}
	at, chain, err := a.where(ctx, i, into)
	if err != nil {
		return a.unknown(i, err)
	}
	if at == arrived {
		return a.settle(i, &journal.Settled{How: journal.Arrived, Chain: chain, Evidence: evidence(at, chain, errLost)})
	}
	answer := errLost
	if a.since(i.AtMs) < replayed && at == atSource {
		if answer, err = a.askAgain(ctx, i, wanted); err != nil {
			return a.unknown(i, err)
		}
	}
	return a.settleByLooks(ctx, i, into, answer)
}

// askAgain sends a rename of an earlier process once more, as long as it is wanted. It gives the
// answer, errLost if it was not asked for, and an error if there is no telling.
func (a *actor) askAgain(ctx context.Context, i *journal.Intent, wanted func(*journal.Intent) (bool, error)) (answer, err error) {
	// To say so can take a while, and NameNodes forget.
	may := func() (bool, error) {
		ok, err := wanted(i)
		return ok && a.since(i.AtMs) < replayed, err
	}
	if ok, err := may(); err != nil || !ok {
		return errLost, err
	}
	first := true
	call := execute.Call{ClientID: i.Call.ClientID, CallID: int32(i.Call.CallID), NameNode: execute.NameNode(i.Call.NameNode)} //nolint:gosec // the format allows no more than 2^31-1
	answer = a.resend(ctx, a.moveOf(i), call, func(context.Context) bool {
		if first {
			first = false
			return true
		}
		ok, err := may()
		return ok && err == nil
	})
	switch {
	case errors.Is(answer, errNotAgain):
		return errLost, nil
	case errors.Is(answer, execute.ErrUnknown):
		return errLost, answer
	}
	return answer, nil
}

// errLost stands for an answer that an earlier process did not see.
var errLost = errors.New("no answer was seen")

// settleByLooks decides by two looks, 30 s apart, when the call can be at work no more.
func (a *actor) settleByLooks(ctx context.Context, i *journal.Intent, into uint64, answer error) error {
	at, chain, err := a.where(ctx, i, into)
	if err == nil && at != arrived {
		wait := lookGap
		if errors.Is(answer, errLost) {
			wait = max(wait, replayed-a.since(i.AtMs)+lookGap)
		}
		if err = a.p.Clock.Sleep(ctx, wait); err == nil {
			at, chain, err = a.where(ctx, i, into)
		}
	}
	if err != nil {
		return a.unknown(i, err)
	}
	s := &journal.Settled{Evidence: evidence(at, chain, answer)}
	switch at {
	case arrived:
		s.How, s.Chain = journal.Arrived, chain
	default:
		s.How = journal.Gone
		if at == atSource && answer != nil {
			s.How = journal.NotHappened
		}
	}
	if err := a.settle(i, s); err != nil {
		return err
	}
	if s.How == journal.Gone {
		return anomaly(nil, "inode %d, %q, did not arrive, and nothing shows whether it was moved", i.InodeID, i.Path)
	}
	return nil
}

// settleMkdirs looks for a directory that was asked for. It is not asked for again: what
// is above may be missing now. One that appears later does no harm.
func (a *actor) settleMkdirs(ctx context.Context, i *journal.Intent) error {
	for try := range 2 {
		if try > 0 {
			if err := a.p.Clock.Sleep(ctx, lookGap); err != nil {
				return a.unknown(i, err)
			}
		}
		s, err := a.stat(ctx, execute.At(string(i.Path)))
		if err != nil {
			return a.unknown(i, err)
		}
		if s != nil && s.Kind == execute.Directory {
			return a.settle(i, &journal.Settled{How: journal.Arrived, Chain: []uint64{s.ID}})
		}
	}
	return a.settle(i, &journal.Settled{How: journal.NotHappened, Evidence: evidence(gone, nil, errLost)})
}

// intoOf gives the id of the trash that an intent goes to; 0 if there is none.
func (a *actor) intoOf(ctx context.Context, i *journal.Intent) (uint64, error) {
	if i.TrashRoot == "" {
		return 0, nil
	}
	s, err := a.stat(ctx, execute.At(string(i.TrashRoot)))
	if err != nil || s == nil {
		return 0, err
	}
	return s.ID, nil
}

package act

import (
	"context"
	"strconv"

	"fsweep/execute"
	"fsweep/proto/journal"
)

// Holder gives who holds the lock, "" if nobody does.
func Holder(ctx context.Context, p *Params) (string, error) {
	a := newActor(p)
	if _, err := a.lockDirectory(ctx); err != nil {
		return "", err
	}
	s, err := a.stat(ctx, execute.At(a.lockPath()))
	if err != nil || s == nil {
		return "", err
	}
	return a.holderOf(ctx, s.ID), nil
}

// Unlock takes the lock away from a holder, who is named by the name in the lock, and
// keeps it below broken/. A process that still runs stops before its next item.
func Unlock(ctx context.Context, p *Params, holder string) (*Result, error) {
	a := newActor(p)
	dir, s, err := a.mayUnlock(ctx, holder)
	if err != nil {
		return &Result{ExitCode: exitCode(err)}, err
	}
	if err := a.create(ctx, &journal.Header{Command: journal.CommandUnlock}); err != nil {
		return &Result{ExitCode: ExitAnomaly}, err
	}
	act := context.WithoutCancel(ctx)
	err = a.putAway(act, s.ID, dir.ID, brokenName, holder+"-"+strconv.FormatInt(a.now(), 10))
	return a.finish(act, err, false, "", 0)
}

func (a *actor) mayUnlock(ctx context.Context, holder string) (dir, lock *execute.Status, err error) {
	if dir, err = a.lockDirectory(ctx); err != nil {
		return nil, nil, err
	}
	if lock, err = a.stat(ctx, execute.At(a.lockPath())); err != nil {
		return nil, nil, err
	}
	if lock == nil {
		return nil, nil, refuse("not-locked", "nobody holds the lock %q", a.lockPath())
	}
	if is := a.holderOf(ctx, lock.ID); is != holder {
		return nil, nil, refuse("other-holder", "%s holds the lock %q, not %s", is, a.lockPath(), holder)
	}
	return dir, lock, nil
}

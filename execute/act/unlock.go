package act

import (
	"cmp"
	"context"
	"strconv"

	"fsweep/execute"
	"fsweep/proto/journal"
)

// nameless is who holds a lock that has no name in it: no process of fsweep-exec made it.
const nameless = "somebody"

// Holder gives who holds the lock, "" if nobody does, and "somebody" if it does not say.
func Holder(ctx context.Context, p *Params) (string, error) {
	a := newActor(p)
	if _, err := a.lockDirectory(ctx); err != nil {
		return "", err
	}
	s, err := a.stat(ctx, execute.At(a.lockPath()))
	if err != nil || s == nil {
		return "", err
	}
	holder, err := a.holderOf(ctx, s.ID)
	return cmp.Or(holder, nameless), err
}

// Unlock takes the lock away from a holder, who is named by the name in the lock, and
// keeps it below broken/. A process that still runs stops before its next item.
func Unlock(ctx context.Context, p *Params, holder string) (*Result, error) {
	a := newActor(p)
	dir, s, err := a.mayUnlock(ctx, holder)
	if err != nil {
		return notBegun(ctx, err)
	}
	if err := a.create(ctx, &journal.Header{Command: journal.CommandUnlock}); err != nil {
		return notBegun(ctx, err)
	}
	act := context.WithoutCancel(ctx)
	err = a.putAway(act, s.ID, dir.ID, brokenName, holder+"-"+strconv.FormatInt(a.now(), 10))
	return a.finish(act, err, false, "", 0)
}

func (a *actor) mayUnlock(ctx context.Context, holder string) (dir, lock *execute.Status, err error) {
	if err = a.samePlan(ctx); err != nil {
		return nil, nil, err
	}
	if dir, err = a.lockDirectory(ctx); err != nil {
		return nil, nil, err
	}
	if lock, err = a.stat(ctx, execute.At(a.lockPath())); err != nil {
		return nil, nil, err
	}
	if lock == nil {
		return nil, nil, refuse("not-locked", "nobody holds the lock %q", a.lockPath())
	}
	is, err := a.holderOf(ctx, lock.ID)
	if err != nil {
		return nil, nil, err
	}
	if is = cmp.Or(is, nameless); is != holder {
		return nil, nil, refuse("other-holder", "%s holds the lock %q, not %s", is, a.lockPath(), holder)
	}
	return dir, lock, nil
}

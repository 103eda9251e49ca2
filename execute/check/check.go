package check

import (
	"context"
	"errors"
	"fmt"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

// Check looks at all items, roots and jobs, and then reads the guards until nothing
// changes. [Session.Preflight] comes before; without it the lists are read here, and
// one that cannot be trusted is an error.
//
// A session is checked once: another call gives what the first one gave.
func (s *Session) Check(ctx context.Context) error {
	if !s.began {
		s.began, s.outcome = true, s.checkAll(ctx)
	}
	return s.outcome
}

func (s *Session) checkAll(ctx context.Context) error {
	if s.live == nil {
		if p := s.readLists(); len(p) > 0 {
			return fmt.Errorf("list %v: %s", p[0].Facts, p[0].Code)
		}
	}
	for _, step := range []func() error{
		s.load, s.prepare, s.searchPaths,
		func() error { return each(ctx, s.o.Workers, s.movedBefore(), s.isBack) },
		func() error { return each(ctx, s.o.Workers, s.tasks(), s.look) },
		func() error { return s.listRoots(ctx, 0) },
		func() error { return s.settle(ctx, 0) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("check: %w", err)
		}
	}
	s.arrange()
	return nil
}

// settle reads guards until no further item stays. Guards that were seen since count as
// they were.
func (s *Session) settle(ctx context.Context, since int64) error {
	began := s.nowMs()
	for {
		s.fresh, s.newPlace = nil, false
		for _, step := range []func() error{
			func() error { return s.visitAll(ctx, since) },
			func() error { return s.planned(ctx, since) },
			func() error { return s.suspects(ctx) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		if len(s.fresh) == 0 {
			s.settled = min(since, began)
			return nil
		}
	}
}

// settleDue is settle if there is something to do: an item stays since, a place is new, or
// what some guard said is older than 15 minutes. Going over all guards takes a while, so
// those that are nearly as old are read again with it.
func (s *Session) settleDue(ctx context.Context) error {
	now := s.nowMs()
	if len(s.fresh) == 0 && !s.newPlace && now-s.settled < guardsFor.Milliseconds() && now >= s.settled {
		return nil
	}
	return s.settle(ctx, now-guardsFor.Milliseconds()*2/3)
}

// Again looks at one item once more, at its root and job, and at runs that are new
// there. What was looked at less than half a minute ago is as it was: the verdict says how old
// the oldest answer is that it rests on, but for those about guards.
func (s *Session) Again(ctx context.Context, item *planfile.Item) (Verdict, error) {
	i, ok := s.byID.find(item.InodeID)
	if !ok {
		return Verdict{}, fmt.Errorf("%q is no item of this plan", item.Path)
	}
	r := &s.items[i]
	var listed int64
	for _, step := range []func() error{
		func() error { return s.lookAgain(ctx, i) },
		func() (err error) { listed, err = s.listAround(ctx, r); return err },
		func() error { return s.settleDue(ctx) },
	} {
		if !s.mayMove(i) {
			return s.verdict(i), nil
		}
		if err := step(); err != nil {
			return Verdict{}, fmt.Errorf("check again: %w", err)
		}
	}
	if listed == 0 { // what it lies in was gone: the item tells whether it went with it
		r.checked = 0
		if err := s.lookAgain(ctx, i); err != nil {
			return Verdict{}, fmt.Errorf("check again: %w", err)
		}
	}
	v := s.verdict(i)
	v.AtMs = min(r.checked, listed)
	return v, nil
}

func (s *Session) lookAgain(ctx context.Context, i int32) error {
	if s.isFresh(s.items[i].checked) {
		return nil
	}
	t, err := s.task(i)
	if err != nil {
		return err
	}
	return s.look(ctx, t)
}

// isFresh tells whether an answer of a time is still good enough. One from the future is not:
// the clock was set back.
func (s *Session) isFresh(atMs int64) bool {
	age := s.nowMs() - atMs
	return age >= 0 && age < freshFor.Milliseconds()
}

// seen tells whether something was looked at since a time, in ms. What was in the future does not
// count: the clock was set back, and nobody knows how long ago it was.
func (s *Session) seen(atMs, since int64) bool {
	return atMs > 0 && atMs >= since && atMs <= s.nowMs()
}

// Held gives a hold path that exists now, or of which it is not known whether it does; "" if
// there is none. What was seen less than half a minute ago is as it was.
func (s *Session) Held(ctx context.Context) (planfile.Path, error) {
	if s.isFresh(s.unheldAt) {
		return "", nil
	}
	at := s.nowMs()
	for _, hold := range s.header.HoldPaths {
		st, err := s.stat(ctx, execute.At(string(hold.Path)))
		switch {
		case errors.Is(err, errHidden), st != nil:
			return hold.Path, nil
		case err != nil:
			return "", fmt.Errorf("hold path: %w", err)
		}
	}
	s.unheldAt = at
	return "", nil
}

// Guards looks once more at roots, runs and guards if some were not looked at for 15
// minutes, or at all of them, and reads what is new or changed. It gives the items that
// were moved and turn out to be referred to, each once: they must come back.
func (s *Session) Guards(ctx context.Context, everything bool) ([]*planfile.Item, error) {
	var err error
	if everything {
		if err = s.listRoots(ctx, 0); err == nil {
			err = s.settle(ctx, s.nowMs()+1)
		}
	} else if err = s.listRoots(ctx, guardsFor.Milliseconds()); err == nil {
		err = s.settleDue(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	if s.owed == 0 { // so that what every move takes does not grow with the plan
		return nil, nil
	}
	var back []*planfile.Item
	for _, i := range s.order {
		r := &s.items[i]
		if !r.moved || r.late || r.verdict == nil {
			continue
		}
		item, err := s.plan.Item(r.ref)
		if err != nil {
			return nil, err
		}
		r.late = true
		s.owed--
		back = append(back, &item)
	}
	return back, nil
}

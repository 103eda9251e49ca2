package check

import (
	"context"
	"fmt"

	"fsweep/proto/planfile"
)

// Check looks at all items, roots and jobs, and then reads the guards until nothing
// changes. [Session.Preflight] comes before; without it the lists are read here, and
// one that cannot be trusted is an error.
func (s *Session) Check(ctx context.Context) error {
	if s.live == nil {
		if p := s.readLists(); len(p) > 0 {
			return fmt.Errorf("list %v: %s", p[0].Facts, p[0].Code)
		}
	}
	for _, step := range []func() error{
		s.load, s.prepare, s.searchPaths,
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
	for {
		s.fresh = nil
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
			return nil
		}
	}
}

// Again looks at one item once more, at its root and job, and at runs that are new
// there. What was looked at less than a minute ago is as it was.
func (s *Session) Again(ctx context.Context, item *planfile.Item) (Verdict, error) {
	i, ok := s.byID[item.InodeID]
	if !ok {
		return Verdict{}, fmt.Errorf("%q is no item of this plan", item.Path)
	}
	r := &s.items[i]
	if !s.mayMove(i) || s.nowMs()-r.checked < freshFor.Milliseconds() {
		return s.verdict(i), nil
	}
	t, err := s.task(i)
	if err == nil {
		err = s.listAround(ctx, r)
	}
	if err == nil {
		err = s.look(ctx, t)
	}
	if err == nil {
		err = s.settle(ctx, s.nowMs()-guardsFor.Milliseconds())
	}
	if err != nil {
		return Verdict{}, fmt.Errorf("check again: %w", err)
	}
	return s.verdict(i), nil
}

// Guards looks once more at roots, runs and guards that were not looked at for 15
// minutes, or at all of them, and reads what is new or changed. It gives the items that
// were moved and turn out to be referred to, each once: they must come back.
func (s *Session) Guards(ctx context.Context, everything bool) ([]*planfile.Item, error) {
	age := guardsFor.Milliseconds()
	since := s.nowMs() - age
	if everything {
		age, since = 0, s.nowMs()+1
	}
	err := s.listRoots(ctx, age)
	if err == nil {
		err = s.settle(ctx, since)
	}
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
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
		back = append(back, &item)
	}
	return back, nil
}

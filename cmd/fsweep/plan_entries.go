package main

import (
	"context"
	"errors"
	"iter"
	"slices"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/plan"
	view "fsweep/reports/cleanup"
)

// entries are the jobs and units of a plan that was written, which are read one after the
// other: there can be more of them than memory.
type entries struct {
	ctx    context.Context
	result *plan.Result
	err    error // of the reading that failed; then what is shown is not all
}

func newEntries(ctx context.Context, r *plan.Result) *entries { return &entries{ctx: ctx, result: r} }

var errEnough = errors.New("enough")

// all goes over all entries. Each is valid until the next.
func (e *entries) all() iter.Seq[*plan.Entry] {
	return func(yield func(*plan.Entry) bool) {
		err := e.result.Each(e.ctx, func(x *plan.Entry) error {
			if !yield(x) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			e.err = err
		}
	}
}

// cursor goes over entries on behalf of those who want roots, jobs and units.
type cursor struct {
	s    *planSource
	next func() (*plan.Entry, bool)
	stop func()
	at   *plan.Entry // nil: there is none any more
	unit *unitView
	rest *unitView // shows items that are more than one entry has
	n    int       // entries that were read
	item int       // of the present unit, the one asked for last
}

// cursor begins to read; of nil there is nothing to read.
func (e *entries) cursor(s *planSource) *cursor {
	c := &cursor{s: s, stop: func() {}}
	if e == nil {
		return c
	}
	c.next, c.stop = iter.Pull(e.all())
	c.unit, c.rest = newUnitView(s), newUnitView(s)
	s.written = c.written
	c.advance()
	return c
}

func (c *cursor) advance() {
	var ok bool
	c.n++
	if c.at, ok = c.next(); !ok {
		c.at = nil
	}
}

// written tells what became of an item of the present unit. They are asked for one
// after the other, and a unit can have a hundred thousand.
func (c *cursor) written(i *cleanup.Item) (plan.Written, bool) {
	items := c.at.Unit.Items
	if c.item++; c.item >= len(items) || items[c.item] != i {
		c.item = slices.Index(items, i)
	}
	return c.at.Items[c.item], true
}

// jobs gives those of a root, to be gone through once.
func (c *cursor) jobs(root *cleanup.RootDecision) iter.Seq[*view.Job] {
	return func(yield func(*view.Job) bool) {
		for c.at != nil && c.at.Root == root {
			if c.at.Unit != nil { // of a job of which nobody wanted the units
				c.advance()
				continue
			}
			j := c.s.job(root, c.at.Job)
			if len(c.at.Unknown) > 0 {
				j.NumUnknown = c.at.NumUnknown
				for i := range c.at.Unknown {
					j.Unknown = append(j.Unknown, misfit(&c.at.Unknown[i]))
				}
			}
			c.advance()
			j.Units = c.units
			if !yield(j) {
				return
			}
		}
	}
}

// units gives those of a job.
func (c *cursor) units(yield func(*view.Unit) bool) {
	for c.at != nil && c.at.Unit != nil {
		c.unit.show(c.at.Unit)
		for i := range c.at.Sweeps {
			c.unit.Sweeps = append(c.unit.Sweeps, sweepView(&c.at.Sweeps[i]))
		}
		if c.at.Unit.Many() {
			c.unit.MoreItems = c.more
		}
		n := c.n
		if !yield(&c.unit.Unit) {
			return
		}
		if c.n == n {
			c.advance()
		}
		for c.at != nil && c.at.More { // nobody wanted them
			c.advance()
		}
	}
}

// more gives the items of the present unit that its entry does not have. The unit as it is
// shown is that of the entry before.
func (c *cursor) more(yield func(*view.Item) bool) {
	for c.advance(); c.at != nil && c.at.More; c.advance() {
		c.rest.show(c.at.Unit)
		c.rest.evidence()
		for _, i := range c.rest.Items {
			if !yield(i) {
				return
			}
		}
	}
}

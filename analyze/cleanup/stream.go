package cleanup

import (
	"context"

	"fsweep/analyze/flink"
)

// Decider decides as [Decide] does, about one job after the other: there can be more of
// them than memory.
type Decider struct {
	b      *decider
	survey *flink.Survey
	roots  map[*flink.Root]int
}

// Step is a job that was decided, or a part of one that is too large for memory. Its items are not held against belts: see [Tally].
type Step struct {
	Root   int // in Decision.Roots
	Number int // of the job in its root: they rise in the order of jobs
	Job    *JobDecision
	// First is how many units of the job came in the steps before. A job that is too large
	// for memory comes in many steps, one behind the other: the value of Job is the same in
	// all, and each has the units that follow.
	First int
	// Alone: the units belong to no job. Job then first has none of them, and in each step
	// that follows another one.
	Alone bool
	// Sweeps are the directories of kept units whose files may become items.
	Sweeps []*Sweep
}

// NewDecider checks the inputs and finds what stops roots; see [Decide] for its arguments
// and errors. A root that is to be stopped for ties takes one look at all units.
func NewDecider(ctx context.Context, s *flink.Survey, p *Policy, in Inputs) (*Decider, error) {
	b, err := newDecider(s.Roots, p, in)
	if err != nil {
		return nil, err
	}
	d := &Decider{b: b, survey: s, roots: map[*flink.Root]int{}}
	ask := false
	for i, r := range b.out.Roots {
		d.roots[r.Root] = i
		ask = ask || r.asksTies()
	}
	if ask {
		if err := d.stopTies(ctx); err != nil {
			return nil, err
		}
	}
	b.preflight()
	return d, nil
}

// stopTies stops roots as [decider.stopTie] does: of several jobs the first counts.
func (d *Decider) stopTies(ctx context.Context) error {
	type tied struct {
		number int
		fact   Fact
	}
	first := map[*RootDecision]tied{}
	err := d.each(ctx, false, func(r *RootDecision, number int, j *JobDecision, large *pile) error {
		if at, ok := first[r]; !r.asksTies() || ok && at.number < number {
			return nil
		}
		var known *standing
		if large != nil {
			known = large.known
		} else {
			known = d.b.stand(r, j)
		}
		if f, tie := known.tie(); tie {
			first[r] = tied{number, f}
		}
		return nil
	})
	for r, t := range first {
		r.Stopped = append(r.Stopped, t.fact)
	}
	return err
}

// Decision gives what was decided of roots. It has neither jobs nor items.
func (d *Decider) Decision() *Decision { return d.b.out }

// eachJob is called with a job and its number in its root. One that is too large for memory
// has no units; they are in the pile.
type eachJob func(r *RootDecision, number int, j *JobDecision, large *pile) error

// each groups the units of all roots, and gives jobs with their numbers. What is not grouped
// comes one by one, first none of it. all: piles are asked for units.
func (d *Decider) each(ctx context.Context, all bool, fn eachJob) error {
	var of *RootDecision
	number := 0 // of the next job of the root
	var m *mapped
	var large *pile
	defer func() {
		m.close()
		large.close()
	}()
	err := d.survey.EachPart(ctx, d.survey.Part(partUnits), func(root *flink.Root, j *flink.Job, more bool) error {
		if r := d.b.out.Roots[d.roots[root]]; r != of {
			if err := m.each(ctx, fn); err != nil {
				return err
			}
			m.close()
			of, number, m = r, 0, d.newMapped(r, all)
		}
		if !j.Grouped() {
			number = max(number, 1) // what is not grouped has the first one
			if took, err := m.take(j); took || err != nil {
				return err
			}
			return fn(of, 0, d.b.group(of, j)[0], nil)
		}
		if took, err := d.takePart(ctx, of, j, &large, more, all); err != nil || took && more {
			return err
		}
		number++
		at := number - 1 + m.before(j.Name)
		if large == nil {
			return fn(of, at, d.b.group(of, j)[0], nil)
		}
		err := large.give(at, fn)
		large = nil
		return err
	})
	if err != nil {
		return err
	}
	return m.each(ctx, fn)
}

// takePart takes the units of a job that comes in parts into its pile, which the first one
// makes; false: it is a job in memory.
func (d *Decider) takePart(ctx context.Context, r *RootDecision, j *flink.Job, large **pile, more, all bool) (bool, error) {
	if *large == nil && !more {
		return false, nil
	}
	if *large == nil {
		*large = d.newPile(r, &JobDecision{Name: j.Name, Job: j}, all)
	}
	units := j.Units
	j.Units = nil
	return true, (*large).take(ctx, units)
}

// Each decides about all jobs, root by root. The numbers of a root's jobs rise in their
// order; those that a job map makes come last. A step is valid until fn returns, but for its
// Sweeps. It can be called again, and gives the same.
func (d *Decider) Each(ctx context.Context, fn func(s *Step) error) error {
	var last *RootDecision
	var alone *JobDecision
	return d.each(ctx, true, func(r *RootDecision, number int, j *JobDecision, large *pile) error {
		if r != last {
			last, alone = r, nil
		}
		s := &Step{Root: d.roots[r.Root], Number: number, Job: j, Alone: !j.grouped()}
		if large != nil {
			return large.each(ctx, func(u *UnitDecision, before int) error {
				j.Units, s.First, s.Sweeps = append(j.Units[:0], u), before, d.b.takeSweeps()
				return fn(s)
			})
		}
		switch {
		case !s.Alone:
		case alone == nil:
			alone = j
		default:
			alone.Units, alone.Stopped = j.Units, nil
			s.Job = alone
		}
		d.b.job(r, s.Job)
		s.Sweeps = d.b.takeSweeps()
		return fn(s)
	})
}

// takeSweeps gives the sweeps of a job, and lets the job and its units go.
func (b *decider) takeSweeps() []*Sweep {
	list := b.out.Sweeps
	b.out.Sweeps = nil
	var job *JobDecision
	var of, unit *UnitDecision // the last one, and what is left of it
	for _, s := range list {
		if job == nil {
			job = &JobDecision{Name: s.Job.Name, Mapped: s.Job.Mapped, Job: &flink.Job{Name: s.Job.Job.Name}}
		}
		if u := s.Unit; u != of {
			of, unit = u, &UnitDecision{
				Unit: &flink.Unit{Kind: u.Unit.Kind, Name: u.Unit.Name, INodeID: u.Unit.INodeID}, Path: u.Path, NeedsReferenceProof: u.NeedsReferenceProof, root: u.root,
			}
		}
		s.Job, s.Unit = job, unit
	}
	return list
}

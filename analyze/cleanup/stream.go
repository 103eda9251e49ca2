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

// Step is a job that was decided. Its items are not held against belts: see [Tally].
type Step struct {
	Root   int // in Decision.Roots
	Number int // of the job in its root, in their order
	Job    *JobDecision
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
		err := d.each(ctx, func(r *RootDecision, jobs []*JobDecision) error {
			for _, j := range jobs {
				b.stopTie(r, j)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	b.preflight()
	return d, nil
}

// Decision gives what was decided of roots. It has neither jobs nor items.
func (d *Decider) Decision() *Decision { return d.b.out }

// each groups the units of all roots. Of a root with a job map all units are in memory at a
// time, since any of them may belong together; else those of a job, or one that is in none.
func (d *Decider) each(ctx context.Context, fn func(r *RootDecision, jobs []*JobDecision) error) error {
	var of *RootDecision // whose units wait
	var wait []*flink.Job
	flush := func() error {
		var jobs []*JobDecision
		for _, j := range wait {
			jobs = append(jobs, d.b.group(of, j)...)
		}
		sortJobs(jobs)
		wait = nil
		return fn(of, jobs)
	}
	err := d.survey.Each(ctx, func(root *flink.Root, j *flink.Job) error {
		r := d.b.out.Roots[d.roots[root]]
		if of != nil && of != r {
			if err := flush(); err != nil {
				return err
			}
			of = nil
		}
		if d.b.in.JobMaps[r.Policy.Path] == nil {
			return fn(r, d.b.group(r, j))
		}
		if of = r; j.Grouped() || len(wait) == 0 {
			own := *j
			wait = append(wait, &own)
		} else {
			wait[0].Units = append(wait[0].Units, j.Units...)
		}
		return nil
	})
	if err == nil && of != nil {
		err = flush()
	}
	return err
}

// Each decides about all jobs, root by root. Those of a root come in their order. A step is
// valid until fn returns, but for its Sweeps. It can be called again, and gives the same.
func (d *Decider) Each(ctx context.Context, fn func(s *Step) error) error {
	var last *RootDecision
	number := 0
	var alone *JobDecision
	return d.each(ctx, func(r *RootDecision, jobs []*JobDecision) error {
		if r != last {
			last, number, alone = r, 0, nil
		}
		for _, j := range jobs {
			s := &Step{Root: d.roots[r.Root], Job: j}
			if s.Alone = j.Name == "" && len(jobs) == 1; s.Alone {
				if alone == nil {
					alone = j
					number++
				} else {
					alone.Units, alone.Stopped = j.Units, nil
					s.Job = alone
				}
			} else {
				s.Number = number
				number++
			}
			d.b.job(r, s.Job)
			s.Sweeps = d.b.takeSweeps()
			if err := fn(s); err != nil {
				return err
			}
		}
		return nil
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

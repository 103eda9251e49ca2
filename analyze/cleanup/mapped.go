package cleanup

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
)

// mappedMemory is how many bytes of units of a job map wait in memory.
const mappedMemory = 4 << 20

// mapped sorts the units of a root by the jobs that a job map gives them: those of one can
// stand anywhere in the root. A nil one takes none.
//
// Jobs of directories and of the map are numbered in one order. Of what the map names it is
// not known before the end which have units, so all have numbers.
type mapped struct {
	d     *Decider
	r     *RootDecision
	lists *JobMap
	names []string // of the jobs of the map, sorted
	dirs  []int    // how many directories stand before each of names, as far as that is known
	seen  int      // directories
	job   flink.Job
	all   bool // piles are asked for units
	units *extsort.Sorter
	n     uint32 // units
	key   []byte
	rest  []byte
}

func (d *Decider) newMapped(r *RootDecision, all bool) *mapped {
	lists := d.b.in.JobMaps[r.Policy.Path]
	if lists == nil || r.Policy.Layout != Savepoints {
		return nil
	}
	return &mapped{d: d, r: r, lists: lists, names: lists.jobs(), all: all, units: d.survey.Sorter(mappedMemory)}
}

// jobs gives the names of all jobs, sorted.
func (m *JobMap) jobs() []string {
	names := slices.AppendSeq(slices.Collect(maps.Values(m.dirs)), maps.Values(m.runs))
	slices.Sort(names)
	return slices.Clone(slices.Compact(names)) // of many lines there are few jobs
}

// before tells how many jobs of the map stand before the directory of a job, the next one
// in the order of names. Of two with one name that of the map is the first.
func (m *mapped) before(name string) int {
	if m == nil {
		return 0
	}
	for len(m.dirs) < len(m.names) && m.names[len(m.dirs)] <= name {
		m.dirs = append(m.dirs, m.seen)
	}
	m.seen++
	return len(m.dirs)
}

// take takes the unit of a job if the map gives it another one.
func (m *mapped) take(j *flink.Job) (bool, error) {
	if m == nil || len(j.Units) == 0 {
		return false, nil
	}
	u := j.Units[0]
	name, ok := m.lists.Job(u.Name)
	if !ok {
		return false, nil
	}
	i, _ := slices.BinarySearch(m.names, name)
	m.job = *j
	m.key = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(m.key[:0], uint32(i)), m.n)
	m.n++
	m.rest = flink.AppendUnit(m.rest[:0], u)
	return true, m.units.Writer(0).Add(m.key, m.rest)
}

// each gives the jobs of the map.
func (m *mapped) each(ctx context.Context, fn eachJob) error {
	if m == nil {
		return nil
	}
	if err := m.units.Finish(); err != nil {
		return err
	}
	r, err := m.units.Read()
	if err != nil {
		return err
	}
	for len(m.dirs) < len(m.names) {
		m.dirs = append(m.dirs, m.seen)
	}
	job := newMappedJob(m, 0)
	defer func() { job.large.close() }()
	for {
		key, rest, ok, err := r.Next()
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if !ok {
			return job.flush(ctx, fn)
		}
		if next := int(binary.BigEndian.Uint32(key)); next != job.at {
			if err := job.flush(ctx, fn); err != nil {
				return err
			}
			job = newMappedJob(m, next)
		}
		if err := job.add(ctx, m.d.survey.ReadUnit(rest)); err != nil {
			return err
		}
	}
}

// mappedJob is the job of a map whose units are read.
type mappedJob struct {
	m     *mapped
	at    int // in the names of the map
	job   flink.Job
	large *pile
}

func newMappedJob(m *mapped, at int) *mappedJob {
	j := &mappedJob{m: m, at: at, job: m.job}
	j.job.Units = nil
	return j
}

func (j *mappedJob) add(ctx context.Context, u *flink.Unit) error {
	if len(j.job.Units) < j.m.d.survey.Part(partUnits) {
		j.job.Units = append(j.job.Units, u)
		return nil
	}
	if j.large == nil {
		of := j.job
		of.Units = nil
		j.large = j.m.d.newPile(j.m.r, &JobDecision{Name: j.m.names[j.at], Mapped: true, Job: &of}, j.m.all)
	}
	err := j.large.take(ctx, j.job.Units)
	j.job.Units = append(j.job.Units[:0], u)
	return err
}

// flush gives the job, of which all units were added.
func (j *mappedJob) flush(ctx context.Context, fn eachJob) error {
	number := 1 + j.at + j.m.dirs[j.at]
	switch {
	case len(j.job.Units) == 0:
		return nil
	case j.large != nil:
		if err := j.large.take(ctx, j.job.Units); err != nil {
			return err
		}
		return j.large.give(number, fn)
	}
	jobs := j.m.d.b.group(j.m.r, &j.job)
	last := jobs[len(jobs)-1] // the first is without a name, and empty
	j.job.Units = nil
	return fn(j.m.r, number, last, nil)
}

func (m *mapped) close() {
	if m != nil {
		m.units.Close()
	}
}

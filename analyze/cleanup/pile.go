package cleanup

import (
	"cmp"
	"context"
	"encoding/binary"

	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
)

const (
	// partUnits is how many units and checkpoints of a job are in memory at once.
	partUnits = 1000
	// pileMemory is how many bytes of units of a job wait in memory.
	pileMemory = 4 << 20
)

// pile is a job with more units than are to be in memory. When it has taken all, what each
// needs to know of the others is known, and they are decided about one by one.
type pile struct {
	r      *RootDecision
	job    *JobDecision // without units
	survey *flink.Survey
	known  *standing
	units  *extsort.Sorter // newest first; nil: nobody asks for them
	n      uint32          // units
	key    []byte
	rest   []byte
}

// newPile makes one for a job without units. all: they will be asked for.
func (d *Decider) newPile(r *RootDecision, j *JobDecision, all bool) *pile {
	p := &pile{r: r, job: j, survey: d.survey, known: d.b.newStanding(r, j)}
	if all {
		p.units = d.survey.Sorter(pileMemory)
	}
	return p
}

// take takes the next units of the job, in the order of names.
func (p *pile) take(ctx context.Context, list []*flink.Unit) error {
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := newUnit(p.r, p.job.Job, f)
		u.nth = p.n
		p.n++
		p.known.add(u)
		if p.units == nil {
			continue
		}
		// A later time comes first: turned around, the sign bit too.
		p.key = binary.BigEndian.AppendUint64(p.key[:0], ^(uint64(f.Times.Newest.Ms) ^ 1<<63))
		p.key = binary.BigEndian.AppendUint32(p.key, u.nth)
		p.rest = flink.AppendUnit(p.rest[:0], f)
		if err := p.units.Writer(0).Add(p.key, p.rest); err != nil {
			return err
		}
	}
	return nil
}

// give gives the job, of which no more units come, and closes the pile.
func (p *pile) give(number int, fn eachJob) error {
	defer p.close()
	p.known.finish()
	if p.units != nil {
		if err := p.units.Finish(); err != nil {
			return err
		}
	}
	return fn(p.r, number, p.job, p)
}

// each decides about the job and its units, and gives these one by one, newest first, with
// how many came before.
func (p *pile) each(ctx context.Context, fn func(u *UnitDecision, before int) error) error {
	p.known.stopJob()
	r, err := p.units.Read()
	if err != nil {
		return err
	}
	var newer, last int64
	for n := 0; ; n++ {
		key, rest, ok, err := r.Next()
		if err = cmp.Or(err, ctx.Err()); err != nil || !ok {
			return err
		}
		u := newUnit(p.r, p.job.Job, p.survey.ReadUnit(rest))
		u.nth = binary.BigEndian.Uint32(key[8:])
		if now := u.Unit.Times.Newest.Ms; n == 0 || now != last {
			newer, last = int64(n), now
		}
		u.Newer = newer
		p.known.decide(u)
		if err := fn(u, n); err != nil {
			return err
		}
	}
}

func (p *pile) close() {
	if p != nil {
		p.units.Close()
	}
}

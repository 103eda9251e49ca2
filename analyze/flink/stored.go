package flink

import (
	"encoding/binary"
	"slices"

	"fsweep/analyze/internal/extsort"
)

const (
	// mostCheckpoints is how many of a run are in memory at once.
	mostCheckpoints = 1000
	// checkpointMemory is how many bytes of the others of one run wait in memory.
	checkpointMemory = 1 << 20
)

// Stored are the checkpoints of a run that has too many for memory. They can be read until
// the survey is closed.
type Stored struct {
	N      int64       // how many
	Newest *Checkpoint // of those that are complete; nil: there is none
	At     extsort.Range
	in     *extsort.Store
}

// EachCheckpoint calls fn for all checkpoints of a run, the highest number first. Those
// that are stored are the caller's. An error of fn ends that; others are a
// [*extsort.TempError].
func (u *Unit) EachCheckpoint(fn func(c *Checkpoint) error) error {
	if u.Stored == nil {
		for _, c := range slices.Backward(u.Checkpoints) {
			if err := fn(c); err != nil {
				return err
			}
		}
		return nil
	}
	return u.Stored.in.Each(u.Stored.At, func(record []byte) error {
		return fn(unpackCheckpoint(&extsort.Unpacker{Rest: record}))
	})
}

// storing sorts the checkpoints of one run that are beyond those in memory.
type storing struct {
	to     *extsort.Sorter
	n      uint32
	key, b []byte
}

// store puts the checkpoints in memory away if there are too many. all: whatever is left.
func (b *unitBuilder) store(all bool) error {
	u := b.u
	if len(u.Checkpoints) <= b.keep && !all {
		return nil
	}
	if b.rest == nil {
		b.rest = &storing{to: b.Sorter(checkpointMemory)}
	}
	r := b.rest
	for _, c := range u.Checkpoints {
		// A higher number comes first: turned around. There is none below zero. Of one number,
		// in a broken image, the last comes first, as in memory.
		r.key = binary.BigEndian.AppendUint64(r.key[:0], ^uint64(c.N))
		r.key = binary.BigEndian.AppendUint32(r.key, ^r.n)
		r.b = c.pack(r.b[:0])
		r.n++
		if err := r.to.Writer(0).Add(r.key, r.b); err != nil {
			return err
		}
	}
	u.Checkpoints = u.Checkpoints[:0]
	return nil
}

// closeStored gives up what was sorted.
func (b *unitBuilder) closeStored() {
	if b.rest != nil {
		b.rest.to.Close()
	}
}

// finishStored ends that.
func (b *unitBuilder) finishStored() error {
	if b.rest == nil {
		return nil
	}
	if err := b.store(true); err != nil {
		return err
	}
	if err := b.rest.to.Finish(); err != nil {
		return err
	}
	r, err := b.rest.to.Read()
	if err != nil {
		return err
	}
	in := b.checkpointStore()
	s, begin := &Stored{N: int64(b.rest.n), in: in}, in.Begin()
	for {
		_, rest, ok, err := r.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if s.Newest == nil {
			if c := unpackCheckpoint(&extsort.Unpacker{Rest: rest}); c.Complete() {
				s.Newest = c
			}
		}
		if err := in.Add(rest); err != nil {
			return err
		}
	}
	s.At = in.Since(begin)
	b.u.Checkpoints, b.u.Stored = nil, s
	return nil
}

// checkpointStore gives the one of the survey.
func (s *Survey) checkpointStore() *extsort.Store {
	if s.stored == nil {
		s.stored = extsort.NewStore(s.scan.o.TempDir)
	}
	return s.stored
}

// ReadUnit makes a unit of this survey again that [AppendUnit] packed.
func (s *Survey) ReadUnit(b []byte) *Unit {
	u := ReadUnit(b)
	s.attach(u.Stored)
	return u
}

func (s *Survey) attach(stored *Stored) {
	if stored != nil {
		stored.in = s.checkpointStore()
	}
}

// AppendStored appends stored checkpoints, or that there are none, for [Survey.ReadStored].
func AppendStored(b []byte, s *Stored) []byte {
	b = extsort.AppendBool(b, s != nil)
	if s == nil {
		return b
	}
	b = extsort.AppendSigned(b, s.N, s.At.Off, s.At.End)
	b = extsort.AppendBool(b, s.Newest != nil)
	if s.Newest != nil {
		b = s.Newest.pack(b)
	}
	return b
}

func unpackStored(r *extsort.Unpacker) *Stored {
	if !r.Bool() {
		return nil
	}
	s := &Stored{N: r.Signed(), At: extsort.Range{Off: r.Signed(), End: r.Signed()}}
	if r.Bool() {
		s.Newest = unpackCheckpoint(r)
	}
	return s
}

// ReadStored is the reverse of [AppendStored], and gives what stands behind it.
func (s *Survey) ReadStored(b []byte) (*Stored, []byte) {
	r := &extsort.Unpacker{Rest: b}
	stored := unpackStored(r)
	s.attach(stored)
	return stored, r.Rest
}

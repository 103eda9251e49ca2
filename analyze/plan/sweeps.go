package plan

import (
	"encoding/binary"
	"math"
	"strconv"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
)

// sweepMemory is how many bytes of records wait in memory, of sweeps and of their sums each.
const sweepMemory = 1 << 20

// Swept is a directory whose files may be items, and what became of them.
type Swept struct {
	*cleanup.Sweep
	SweepTotals
	Looked bool // files were looked at, in a job that is not left out
}

// sweeps are the directories whose files may become items. There can be more than memory:
// they are numbered in the order of what lies in them, none of which is in another, and
// nothing else of them is in memory than what the pass must know.
type sweeps struct {
	b     *builder
	list  *extsort.Sorter // by path
	sums  *extsort.Sorter // by unit
	added int

	column []uint32 // of directories: the number of the sweep that holds it, from 1 on
	// Of sweeps: the length of the path, and the number of the root.
	lengths, roots []uint32
	// takes has a sweep for each root: ages are of the root.
	takes []cleanup.Sweep

	r        *sweepReader
	at       int // the number of the present one
	present  Swept
	of       jobKey
	unit     []byte // its key
	key, out []byte
}

func newSweeps(b *builder) *sweeps {
	o := extsort.Options{Dir: b.r.TempDir, Memory: sweepMemory, Limit: b.r.sortMemory}
	return &sweeps{b: b, list: extsort.New(o), sums: extsort.New(o), takes: make([]cleanup.Sweep, len(b.r.Decider.Decision().Roots)), at: -1}
}

func (s *sweeps) close() {
	s.list.Close()
	s.sums.Close()
}

// add takes a sweep of the unit that has a key.
func (s *sweeps) add(root int, unit []byte, w *cleanup.Sweep) error {
	s.added++
	s.takes[root] = cleanup.Sweep{Rule: w.Rule, BeforeMs: w.BeforeMs}
	s.key = append(append(s.key[:0], w.Path...), '/')
	s.out = cleanup.AppendSweep(extsort.AppendBytes(s.out[:0], unit), w)
	return s.list.Writer(0).Add(s.key, s.out)
}

// sweepReader gives sweeps in their order.
type sweepReader struct {
	r     *extsort.Reader
	roots []*cleanup.RootDecision
}

func (s *sweeps) read() (*sweepReader, error) {
	r, err := s.list.Read()
	return &sweepReader{r, s.b.r.Decider.Decision().Roots}, err
}

// next gives the next one and the key of its unit, which is valid until the next call.
func (r *sweepReader) next() (w *cleanup.Sweep, unit []byte, err error) {
	_, rest, ok, err := r.r.Next()
	if !ok {
		return nil, nil, err
	}
	u := extsort.Unpacker{Rest: rest}
	unit = u.Bytes()
	w, _ = cleanup.ReadSweep(u.Rest, r.roots[binary.BigEndian.Uint32(unit)])
	return w, unit, nil
}

// start numbers the sweeps and marks the directories in them.
func (s *sweeps) start() error {
	if err := s.list.Finish(); err != nil || s.added == 0 {
		return err
	}
	r, err := s.read()
	if err != nil {
		return err
	}
	s.column = make([]uint32, s.b.t.NumDirs())
	var path []byte
	for {
		w, unit, err := r.next()
		if err != nil {
			return err
		}
		if w == nil {
			break
		}
		length := uint32(math.MaxUint32) // no file lies in one that the image has elsewhere
		if dir, ok := s.b.find(w.INodeID); ok {
			if path = s.b.t.AppendPath(path[:0], dir); string(path) == string(w.Path) {
				length = uint32(len(path))
			}
			s.mark(dir, uint32(len(s.lengths))+1)
		}
		s.lengths, s.roots = append(s.lengths, length), append(s.roots, binary.BigEndian.Uint32(unit))
	}
	s.r, err = s.read()
	s.b.spool = newSpool(s.b.r.TempDir, s.b.workers())
	s.b.spool.path, s.b.spool.passed = s.path, s.passedOver
	if s.b.r.sortMemory > 0 {
		s.b.spool.limit(s.b.r.sortMemory)
	}
	return err
}

// find gives the directory with an inode id.
func (b *builder) find(id uint64) (namespace.Dir, bool) {
	return b.t.Lookup(strconv.AppendUint([]byte("/.reserved/.inodes/"), id, 10))
}

// mark gives a directory and all below it a number.
func (s *sweeps) mark(top namespace.Dir, number uint32) {
	inside, _ := s.b.s.Subtree(top)
	for _, d := range inside {
		s.column[d] = number
	}
}

// advance makes the sweep with a number the present one, and writes down what became of the
// files of those before it.
func (s *sweeps) advance(n int) error {
	for s.at < n {
		if err := s.put(); err != nil {
			return err
		}
		w, unit, err := s.r.next()
		if err != nil {
			return err
		}
		if w == nil {
			return &TempError{Dir: s.b.r.TempDir, Err: errSpool}
		}
		s.at++
		s.present = Swept{Sweep: w}
		s.of = jobKey{int(binary.BigEndian.Uint32(unit)), int(binary.BigEndian.Uint32(unit[4:]))}
		s.unit = append(s.unit[:0], unit...)
	}
	return nil
}

// put writes down what became of the files of the present sweep.
func (s *sweeps) put() error {
	if s.at < 0 {
		return nil
	}
	w := &s.present
	s.out = extsort.AppendBool(cleanup.AppendSweep(s.out[:0], w.Sweep), w.Looked)
	for _, t := range [...]*FileTotals{&w.Planned, &w.Deferred, &w.PassedOver} {
		s.out = extsort.AppendSigned(s.out, t.Files, t.Bytes)
	}
	s.out = extsort.AppendSigned(s.out, w.Freed.Now, w.Freed.AfterTrash, w.Freed.HeldBySnapshots)
	return s.sums.Writer(0).Add(s.unit, s.out)
}

// finish ends that.
func (s *sweeps) finish() error {
	if s.added > 0 {
		if err := s.advance(len(s.lengths) - 1); err != nil {
			return err
		}
		if err := s.put(); err != nil {
			return err
		}
	}
	return s.sums.Finish()
}

// path gives that of a sweep, not before that of the last call.
func (s *sweeps) path(n int) (cleanup.Path, error) {
	if n >= len(s.lengths) {
		return "", &TempError{Dir: s.b.r.TempDir, Err: errSpool}
	}
	err := s.advance(n)
	if err != nil {
		return "", err
	}
	return s.present.Path, nil
}

// passedOver adds what the pass found to be no item at first sight.
func (s *sweeps) passedOver(n int, t FileTotals) error {
	if _, err := s.path(n); err != nil {
		return err
	}
	if !s.b.bad[s.of] {
		s.present.Looked = true
		s.present.PassedOver.Files += t.Files
		s.present.PassedOver.Bytes += t.Bytes
	}
	return nil
}

// writeSwept asks whether a file of the present sweep is an item, and writes it.
func (b *builder) writeSwept(s *swept) error {
	if b.bad[b.sweeps.of] {
		return nil
	}
	w := &b.sweeps.present
	w.Looked = true
	if s.path.Clean() != nil || !b.around.apart(s.path) {
		w.PassedOver.add(s.facts.length)
		return nil
	}
	d := b.r.Decider.Decision()
	i := d.File(w.Sweep, cleanup.Path(s.path), s.facts.parent, s.facts.flinkFile(string(s.path[lastSlash(s.path)+1:])), s.facts.atime)
	if i == nil {
		w.PassedOver.add(s.facts.length)
		return nil
	}
	out := b.line(i)
	if len(i.Deferred) > 0 {
		out.Deferred = string(i.Deferred[0].Rule)
	} else if why := b.belts.belts.admit(i, 1, s.facts.length); len(why) > 0 {
		out.Deferred = string(why[0].Rule)
	}
	b.fileLine(&out, &s.facts)
	if out.Deferred != "" {
		w.Deferred.add(s.facts.length)
	} else {
		w.Planned.add(s.facts.length)
		w.Freed.Now += out.Freed.Now
		w.Freed.AfterTrash += out.Freed.AfterTrash
		w.Freed.HeldBySnapshots += out.Freed.HeldBySnapshots
	}
	return b.file.Item(out)
}

// sumReader gives what became of sweeps, unit by unit.
type sumReader struct {
	r     *extsort.Reader
	roots []*cleanup.RootDecision
	key   []byte // of the next record; nil: there is none
	rest  []byte
}

func (s *sweeps) readSums() (*sumReader, error) {
	r, err := s.sums.Read()
	if err != nil {
		return nil, err
	}
	x := &sumReader{r: r, roots: s.b.r.Decider.Decision().Roots}
	return x, x.next()
}

func (x *sumReader) next() (err error) {
	var ok bool
	if x.key, x.rest, ok, err = x.r.Next(); !ok {
		x.key = nil
	}
	return err
}

// of appends those of the unit that has a key, which come in the order of keys.
func (x *sumReader) of(list []Swept, unit []byte) ([]Swept, error) {
	for x.key != nil && string(x.key) <= string(unit) {
		if string(x.key) == string(unit) {
			var w Swept
			r := &extsort.Unpacker{}
			w.Sweep, r.Rest = cleanup.ReadSweep(x.rest, x.roots[binary.BigEndian.Uint32(unit)])
			w.Looked = r.Bool()
			for _, t := range [...]*FileTotals{&w.Planned, &w.Deferred, &w.PassedOver} {
				t.Files, t.Bytes = r.Signed(), r.Signed()
			}
			w.Freed.Now, w.Freed.AfterTrash, w.Freed.HeldBySnapshots = r.Signed(), r.Signed(), r.Signed()
			list = append(list, w)
		}
		if err := x.next(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

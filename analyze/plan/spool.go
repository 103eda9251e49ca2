package plan

import (
	"encoding/binary"
	"errors"

	"fsweep/analyze/internal/extsort"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// spoolMemory is how many bytes of records wait in memory, of all workers.
const spoolMemory = 16 << 20

// spool sorts the files of sweeps by path, whatever their number.
type spool struct {
	sweeps  []*sweep
	options extsort.Options
	sorter  *extsort.Sorter
	workers []fsimage.Apart[spoolWorker]
}

// spoolWorker collects the records of one goroutine.
type spoolWorker struct {
	out       *extsort.Writer
	key, rest []byte
	passed    map[int]FileTotals
}

func newSpool(dir string, workers int, sweeps []*sweep) *spool {
	s := &spool{sweeps: sweeps, workers: make([]fsimage.Apart[spoolWorker], workers), options: extsort.Options{Dir: dir, Writers: workers, Memory: spoolMemory}}
	s.limit(0)
	return s
}

// limit bounds the bytes that one worker has in memory. Nothing may have been added.
func (s *spool) limit(n int) {
	s.options.Limit = n
	s.sorter = extsort.New(s.options)
	for i := range s.workers {
		s.workers[i].V = spoolWorker{out: s.sorter.Writer(i), passed: map[int]FileTotals{}}
	}
}

func (s *spool) worker(i int) *spoolWorker { return &s.workers[i].V }

func (s *spool) finish() error { return s.sorter.Finish() }

func (s *spool) close() { s.sorter.Close() }

// passOver counts a file that is no item.
func (w *spoolWorker) passOver(sweep int, bytes int64) {
	t := w.passed[sweep]
	t.add(bytes)
	w.passed[sweep] = t
}

// passed adds up what all workers passed over, by sweep.
func (s *spool) passed() map[int]FileTotals {
	all := map[int]FileTotals{}
	for i := range s.workers {
		for n, t := range s.workers[i].V.passed {
			sum := all[n]
			sum.Files += t.Files
			sum.Bytes += t.Bytes
			all[n] = sum
		}
	}
	return all
}

// add takes down a file by the two parts of its path below the sweep. Sweeps stand in the
// order of what is in them, so their number and the path below give the order of whole paths.
func (w *spoolWorker) add(sweep int, dir, name []byte, f *fileFacts) error {
	w.key = append(append(binary.BigEndian.AppendUint32(w.key[:0], uint32(sweep)), dir...), name...)
	w.rest = f.pack(w.rest[:0])
	return w.out.Add(w.key, w.rest)
}

// swept is a record as it is read.
type swept struct {
	sweep int
	path  planfile.Path
	facts fileFacts
}

var errSpool = errors.New("a record of the temporary file is damaged")

// merge reads the records of a spool in their order. A nil merge has none.
type merge struct {
	s    *spool
	r    *extsort.Reader
	head swept
	read bool // head is the next record
	more bool
}

// merge begins to read.
func (s *spool) merge() (*merge, error) {
	r, err := s.sorter.Read()
	return &merge{s: s, r: r}, err
}

// peek gives the next record; false: there is none. It is valid until next.
func (m *merge) peek() (*swept, bool, error) {
	if m == nil {
		return nil, false, nil
	}
	if !m.read {
		key, rest, ok, err := m.r.Next()
		if m.read, m.more = true, ok; err != nil {
			return nil, false, err
		}
		if ok {
			n := int(binary.BigEndian.Uint32(key))
			if n >= len(m.s.sweeps) {
				return nil, false, &TempError{Dir: m.s.options.Dir, Err: errSpool}
			}
			m.head.sweep, m.head.path = n, planfile.Path(string(m.s.sweeps[n].Path)+"/"+string(key[4:]))
			m.head.facts.unpack(&extsort.Unpacker{Rest: rest})
		}
	}
	return &m.head, m.more, nil
}

// next goes beyond the record that peek gave.
func (m *merge) next() { m.read = false }

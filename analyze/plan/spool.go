package plan

import (
	"encoding/binary"
	"errors"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/internal/extsort"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// spoolMemory is how many bytes of records wait in memory, of all workers.
const spoolMemory = 16 << 20

// spool sorts the files of sweeps by path, whatever their number.
type spool struct {
	options extsort.Options
	sorter  *extsort.Sorter
	workers []fsimage.Apart[spoolWorker]

	// path gives that of a sweep, and passed is told of files that were passed over. They
	// are asked in the order of sweeps.
	path   func(sweep int) (cleanup.Path, error)
	passed func(sweep int, t FileTotals) error
}

// spoolWorker collects the records of one goroutine.
type spoolWorker struct {
	out       *extsort.Writer
	key, rest []byte
	passed    map[int]FileTotals // that have no record yet
}

const maxPassed = 1024 // sweeps of which a worker counts in memory

func newSpool(dir string, workers int) *spool {
	s := &spool{workers: make([]fsimage.Apart[spoolWorker], workers), options: extsort.Options{Dir: dir, Writers: workers, Memory: spoolMemory}}
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

func (s *spool) finish() error {
	for i := range s.workers {
		if err := s.workers[i].V.flush(); err != nil {
			return err
		}
	}
	return s.sorter.Finish()
}

func (s *spool) close() { s.sorter.Close() }

// passOver counts a file that is no item.
func (w *spoolWorker) passOver(sweep int, bytes int64) error {
	t, ok := w.passed[sweep]
	if !ok && len(w.passed) == maxPassed {
		if err := w.flush(); err != nil {
			return err
		}
	}
	t.add(bytes)
	w.passed[sweep] = t
	return nil
}

// flush makes records of what was counted: with the number of the sweep alone as key they
// come before its files.
func (w *spoolWorker) flush() error {
	for n, t := range w.passed {
		w.key = binary.BigEndian.AppendUint32(w.key[:0], uint32(n))
		w.rest = extsort.AppendSigned(w.rest[:0], t.Files, t.Bytes)
		if err := w.out.Add(w.key, w.rest); err != nil {
			return err
		}
	}
	clear(w.passed)
	return nil
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
	for !m.read {
		key, rest, ok, err := m.r.Next()
		if m.read, m.more = true, ok; err != nil {
			return nil, false, err
		}
		if !ok {
			break
		}
		n, r := int(binary.BigEndian.Uint32(key)), extsort.Unpacker{Rest: rest}
		if len(key) == 4 {
			if err := m.s.passed(n, FileTotals{r.Signed(), r.Signed()}); err != nil {
				return nil, false, err
			}
			m.read = false
			continue
		}
		path, err := m.s.path(n)
		if err != nil {
			return nil, false, err
		}
		m.head.sweep, m.head.path = n, planfile.Path(string(path)+"/"+string(key[4:]))
		m.head.facts.unpack(&r)
	}
	return &m.head, m.more, nil
}

// next goes beyond the record that peek gave.
func (m *merge) next() { m.read = false }

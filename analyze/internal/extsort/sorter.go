// Package extsort sorts more records than fit in memory. Up to a bound they are
// sorted there; beyond it sorted runs go to a temporary file, which loses its name at
// once, so that nothing of it is left however the program ends, and are merged when
// they are read.
//
// Records are sorted by the bytes of their keys, and those with equal keys by the
// bytes of what they hold, so the order does not depend on who added what when.
package extsort

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"fsweep/fsimage"
)

const (
	minRun      = 64 << 10  // bytes of a writer's records
	mergeMemory = 2 << 20   // bytes of the buffers that read the file, of one reader
	maxBuffer   = 128 << 10 // of one of them
	minBuffer   = 8 << 10
)

// Options of a [Sorter].
type Options struct {
	Dir     string // of the temporary file; "": os.TempDir
	Writers int    // how many goroutines add records (default 1)
	Memory  int    // bytes of records that stay in memory, of all writers
	// Limit, if set, is the same of one writer, however small; for tests.
	Limit int
}

// Sorter sorts records. First its writers add them, each on one goroutine; then
// [Sorter.Finish] ends that, and any number of readers, one after the other or
// several at a time, go over all.
type Sorter struct {
	dir     string
	limit   int
	writers []fsimage.Apart[Writer]

	mu   sync.Mutex
	file *os.File
	name string // of the file, where it could not be removed while open
	end  int64
	runs []extent
}

// extent is a sorted run in the file.
type extent struct{ off, length int64 }

// New makes a sorter. It makes a file only when it needs one.
func New(o Options) *Sorter {
	n := max(o.Writers, 1)
	s := &Sorter{dir: o.Dir, limit: max(o.Memory/n, minRun), writers: make([]fsimage.Apart[Writer], n)}
	if o.Limit > 0 {
		s.limit = o.Limit
	}
	for i := range s.writers {
		s.writers[i].V.s = s
	}
	return s
}

// Writer gives one of the writers.
func (s *Sorter) Writer(i int) *Writer { return &s.writers[i].V }

// Writer takes the records of one goroutine.
type Writer struct {
	s  *Sorter
	b  []byte
	at []entry
}

// entry finds a record in memory. The prefix, eight bytes of its key, decides nearly all
// comparisons.
type entry struct {
	prefix uint64
	at     uint32
}

// A record: the length of what is behind these four bytes, the length of the key, the
// key, the rest.
const headBytes = 8

// Add takes a record. It keeps neither slice.
func (w *Writer) Add(key, rest []byte) error {
	n := headBytes + len(key) + len(rest)
	if len(w.b) > 0 && len(w.b)+n > w.s.limit {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if len(w.b)+n > cap(w.b) { // as append does it, but for room beyond the limit
		more := max(min(2*cap(w.b), w.s.limit), len(w.b)+n)
		w.b = append(make([]byte, 0, more), w.b...)
	}
	w.at = append(w.at, entry{prefix(key), uint32(len(w.b))})
	w.b = binary.BigEndian.AppendUint32(w.b, uint32(n-4))
	w.b = binary.BigEndian.AppendUint32(w.b, uint32(len(key)))
	w.b = append(append(w.b, key...), rest...)
	return nil
}

// prefix is the start of a key as a number: where two differ, the keys have their order.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// record is what is behind the first length.
type record []byte

func (r record) key() []byte  { return r[4 : 4+binary.BigEndian.Uint32(r)] }
func (r record) rest() []byte { return r[4+binary.BigEndian.Uint32(r):] }

func compare(a, b record) int {
	if c := bytes.Compare(a.key(), b.key()); c != 0 {
		return c
	}
	return bytes.Compare(a.rest(), b.rest())
}

func (w *Writer) record(at uint32) record {
	return record(w.b[at+4 : at+4+binary.BigEndian.Uint32(w.b[at:])])
}

// sort brings the records into their order. What all keys begin with, as paths below one
// root do, says nothing, so the prefixes are of what is behind it.
func (w *Writer) sort() {
	if n := w.common(); n > 0 {
		for i := range w.at {
			w.at[i].prefix = prefix(w.record(w.at[i].at).key()[n:])
		}
	}
	slices.SortFunc(w.at, func(x, y entry) int {
		switch {
		case x.prefix < y.prefix:
			return -1
		case x.prefix > y.prefix:
			return 1
		}
		return compare(w.record(x.at), w.record(y.at))
	})
}

// common is how many bytes all keys begin with.
func (w *Writer) common() int {
	if len(w.at) == 0 {
		return 0
	}
	first := w.record(w.at[0].at).key()
	n := len(first)
	for _, e := range w.at[1:] {
		key := w.record(e.at).key()
		for n = min(n, len(key)); n > 0 && string(key[:n]) != string(first[:n]); {
			n--
		}
		if n == 0 {
			break
		}
	}
	return n
}

// spill writes the records as a sorted run.
func (w *Writer) spill() error {
	w.sort()
	f, off, err := w.s.reserve(int64(len(w.b)))
	if err != nil {
		return err
	}
	out := io.NewOffsetWriter(f, off)
	buf := make([]byte, 0, 64<<10)
	flush := func() error {
		_, err := out.Write(buf)
		buf = buf[:0]
		return w.s.error(err)
	}
	for _, e := range w.at {
		r := w.b[e.at : e.at+4+binary.BigEndian.Uint32(w.b[e.at:])]
		if len(buf)+len(r) > cap(buf) {
			if err := flush(); err != nil {
				return err
			}
		}
		buf = append(buf, r...)
	}
	if err := flush(); err != nil {
		return err
	}
	w.b, w.at = w.b[:0], w.at[:0]
	return nil
}

// TempError says that the temporary file could not be made, written or read.
type TempError struct {
	Dir string // where it is
	Err error
}

// Error says what the file is for.
func (e *TempError) Error() string { return fmt.Sprintf("sorting in %s: %v", e.Dir, e.Err) }

// Unwrap gives the cause.
func (e *TempError) Unwrap() error { return e.Err }

var errDamaged = errors.New("the temporary file is damaged")

// error names the directory. The name of the file says nothing: it is gone at once.
func (s *Sorter) error(err error) error {
	if err == nil {
		return nil
	}
	dir := s.dir
	if dir == "" {
		dir = os.TempDir()
	}
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return &TempError{dir, err}
}

// reserve gives room in the file, which it makes when it is first needed.
func (s *Sorter) reserve(n int64) (*os.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "fsweep-plan-*")
		if err != nil {
			return nil, 0, s.error(err)
		}
		s.file = f
		if os.Remove(f.Name()) != nil {
			s.name = f.Name() // a system that keeps names of open files: Close removes it
		}
	}
	off := s.end
	s.end += n
	s.runs = append(s.runs, extent{off, n})
	return s.file, off, nil
}

// Finish sorts what is still in memory. Where a file was needed this goes there, too.
// The writers must have ended. An error is a [*TempError], as all errors of a Sorter.
func (s *Sorter) Finish() error {
	for i := range s.writers {
		w := &s.writers[i].V
		switch {
		case len(w.at) == 0:
		case s.file == nil:
			w.sort()
			continue
		default:
			if err := w.spill(); err != nil {
				return err
			}
		}
		w.b, w.at = nil, nil
	}
	return nil
}

// Close gives up all records. Nothing that was written to the file is missed. It can be
// called again.
func (s *Sorter) Close() {
	if s == nil {
		return
	}
	for i := range s.writers {
		s.writers[i].V.b, s.writers[i].V.at = nil, nil
	}
	s.runs = nil
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	if s.name != "" {
		_ = os.Remove(s.name)
	}
	s.file = nil
}

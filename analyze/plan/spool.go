package plan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// Bounds of memory, in bytes.
const (
	spoolMemory = 16 << 20 // records that are not in the file yet, of all workers
	mergeMemory = 8 << 20  // buffers that read the file
	minRun      = 64 << 10 // of one worker
)

// spool sorts the files of sweeps by path, whatever their number: sorted runs go to a
// temporary file and are merged when they are read.
type spool struct {
	dir     string
	sweeps  []*cleanup.Sweep
	workers []fsimage.Apart[spoolWorker]
	limit   int // bytes of a worker's records

	mu   sync.Mutex
	file *os.File
	name string // of the file, where it could not be removed while open
	end  int64
	runs []extent
}

// extent is a sorted run in the file.
type extent struct{ off, length int64 }

// spoolWorker collects the records of one goroutine.
type spoolWorker struct {
	s      *spool
	b      []byte
	at     []uint32 // where records start
	passed map[int]FileTotals
}

func newSpool(dir string, workers int, sweeps []*cleanup.Sweep) *spool {
	s := &spool{dir: dir, sweeps: sweeps, workers: make([]fsimage.Apart[spoolWorker], workers), limit: max(spoolMemory/workers, minRun)}
	for i := range s.workers {
		s.workers[i].V = spoolWorker{s: s, passed: map[int]FileTotals{}}
	}
	return s
}

func (s *spool) worker(i int) *spoolWorker { return &s.workers[i].V }

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

// add takes down a file by the two parts of its path below the sweep.
//
// A record: its length behind these four bytes, the number of the sweep, the length
// of the path, the path, then the facts as varints.
func (w *spoolWorker) add(sweep int, dir, name []byte, f *fileFacts) error {
	if len(w.b) >= w.s.limit {
		if err := w.spill(); err != nil {
			return err
		}
	}
	start := len(w.b)
	w.at = append(w.at, uint32(start))
	b := append(w.b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(sweep))
	b = binary.BigEndian.AppendUint32(b, uint32(len(dir)+len(name)))
	b = append(append(b, dir...), name...)
	for _, v := range [...]uint64{f.id, f.parent, uint64(f.parentDir), uint64(f.permission)} {
		b = binary.AppendUvarint(b, v)
	}
	for _, v := range [...]int64{f.length, f.space, f.mtime, f.atime, f.moved.Freed, f.moved.Held} {
		b = binary.AppendVarint(b, v)
	}
	for _, u := range [...]*namespace.Usage{&f.moved.Usage, &f.there} {
		b = binary.AppendVarint(binary.AppendVarint(b, u.Namespace), u.Space)
		for _, v := range u.Type {
			b = binary.AppendVarint(b, v)
		}
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	w.b = b
	return nil
}

// swept is a record as it is read.
type swept struct {
	sweep int
	path  planfile.Path
	facts fileFacts
}

var errSpool = errors.New("the temporary file is damaged")

// decode reads a record without its length.
func (s *spool) decode(b []byte, r *swept) error {
	if len(b) < 8 || len(b)-8 < int(binary.BigEndian.Uint32(b[4:])) {
		return errSpool
	}
	n := 8 + int(binary.BigEndian.Uint32(b[4:]))
	r.sweep = int(binary.BigEndian.Uint32(b))
	if r.sweep >= len(s.sweeps) {
		return errSpool
	}
	r.path = planfile.Path(string(s.sweeps[r.sweep].Path) + "/" + string(b[8:n]))
	rest, bad := b[n:], false
	unsigned := func() uint64 {
		v, k := binary.Uvarint(rest)
		bad = bad || k <= 0
		rest = rest[max(k, 0):]
		return v
	}
	signed := func() int64 {
		v, k := binary.Varint(rest)
		bad = bad || k <= 0
		rest = rest[max(k, 0):]
		return v
	}
	f := &r.facts
	*f = fileFacts{id: unsigned(), parent: unsigned(), parentDir: namespace.Dir(unsigned()), permission: fsimage.Permission(unsigned())}
	f.length, f.space, f.mtime, f.atime, f.moved.Freed, f.moved.Held = signed(), signed(), signed(), signed(), signed(), signed()
	for _, u := range [...]*namespace.Usage{&f.moved.Usage, &f.there} {
		u.Namespace, u.Space = signed(), signed()
		for i := range u.Type {
			u.Type[i] = signed()
		}
	}
	if bad || len(rest) > 0 {
		return errSpool
	}
	return nil
}

// compareRecords compares by the sweep, then by the path. Sweeps stand in the order of what is in them, so that is the order of whole paths.
// Equal paths, which only a broken image has, are told apart by what follows.
func compareRecords(a, b []byte) int {
	return cmp.Or(bytes.Compare(a[:4], b[:4]), bytes.Compare(pathIn(a), pathIn(b)), bytes.Compare(a[8:], b[8:]))
}

func pathIn(record []byte) []byte {
	return record[8 : 8+binary.BigEndian.Uint32(record[4:])]
}

// record gives the one that starts at an offset.
func (w *spoolWorker) record(at uint32) []byte {
	return w.b[at+4 : at+4+binary.BigEndian.Uint32(w.b[at:])]
}

func (w *spoolWorker) sort() {
	slices.SortFunc(w.at, func(x, y uint32) int { return compareRecords(w.record(x), w.record(y)) })
}

// spill writes the records as a sorted run.
func (w *spoolWorker) spill() error {
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
	for _, at := range w.at {
		r := w.b[at : at+4+binary.BigEndian.Uint32(w.b[at:])]
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
func (e *TempError) Error() string {
	return fmt.Sprintf("sorting the files of sweeps in %s: %v", e.Dir, e.Err)
}

// Unwrap gives the cause.
func (e *TempError) Unwrap() error { return e.Err }

// error names the directory. The name of the file says nothing: it is gone at once.
func (s *spool) error(err error) error {
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

// reserve gives room in the file, which it makes when it is first needed. The file
// loses its name at once, so that nothing of it is left, however the program ends.
func (s *spool) reserve(n int64) (*os.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "fsweep-plan-*")
		if err != nil {
			return nil, 0, s.error(err)
		}
		s.file = f
		if os.Remove(f.Name()) != nil {
			s.name = f.Name() // a system that keeps names of open files: close removes it
		}
	}
	off := s.end
	s.end += n
	s.runs = append(s.runs, extent{off, n})
	return s.file, off, nil
}

// finish sorts what is still in memory. Where a file was needed this goes there too.
func (s *spool) finish() error {
	for i := range s.workers {
		w := &s.workers[i].V
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

// close gives up the file. Nothing that was written to it is missed.
func (s *spool) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	if s.name != "" {
		_ = os.Remove(s.name)
	}
	s.file = nil
}

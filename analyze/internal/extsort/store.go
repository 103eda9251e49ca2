package extsort

import (
	"encoding/binary"
	"io"
	"os"
)

// storeBuffer is how many bytes of a store wait in memory, and how many are read at once.
const storeBuffer = 32 << 10

// Store keeps lists of records in a temporary file, which it makes when it needs one, and
// which loses its name at once. One list is written at a time; those that are ended can be
// read in any order. For one goroutine.
type Store struct {
	s   Sorter // of which only the file is used
	f   *os.File
	buf []byte // what is not in the file yet
	end int64  // of the file
}

// Range is a list of records in a store.
type Range struct{ Off, End int64 }

// NewStore makes one. dir is that of the temporary file; "": os.TempDir.
func NewStore(dir string) *Store { return &Store{s: Sorter{dir: dir}} }

// Begin gives where the next record will be.
func (s *Store) Begin() int64 { return s.end + int64(len(s.buf)) }

// Since gives the list of the records that were added since Begin gave a place.
func (s *Store) Since(begin int64) Range { return Range{begin, s.Begin()} }

// Add appends a record, which it does not keep.
func (s *Store) Add(record []byte) error {
	s.buf = append(binary.AppendUvarint(s.buf, uint64(len(record))), record...)
	if len(s.buf) < storeBuffer {
		return nil
	}
	return s.flush()
}

func (s *Store) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	f, off, err := s.s.reserve(int64(len(s.buf)))
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(s.buf, off); err != nil {
		return s.s.error(err)
	}
	s.f, s.end, s.buf = f, off+int64(len(s.buf)), s.buf[:0]
	s.s.runs = s.s.runs[:0] // nobody merges them
	return nil
}

// Each calls fn for the records of a list in their order. A record is valid until fn
// returns; its error ends that. Other errors are a [*TempError].
func (s *Store) Each(list Range, fn func(record []byte) error) error {
	if err := s.flush(); err != nil {
		return err
	}
	buf, off := make([]byte, 0, min(storeBuffer, list.End-list.Off)), list.Off
	for p := 0; p < len(buf) || off < list.End; {
		n, k := binary.Uvarint(buf[p:])
		if k > 0 && n <= uint64(len(buf)-p-k) {
			if err := fn(buf[p+k : p+k+int(n)]); err != nil {
				return err
			}
			p += k + int(n)
			continue
		}
		if k < 0 || off >= list.End || k > 0 && n > uint64(list.End-off)+uint64(len(buf)) {
			return s.s.error(errDamaged)
		}
		rest := buf[p:]
		if k > 0 && cap(buf) < k+int(n) { // a record that is larger than the buffer
			buf = append(make([]byte, 0, k+int(n)), rest...)
		} else {
			buf = buf[:copy(buf[:cap(buf)], rest)]
		}
		at := len(buf)
		more := min(int64(cap(buf)-at), list.End-off)
		buf = buf[:at+int(more)]
		if k, err := s.f.ReadAt(buf[at:], off); int64(k) < more {
			if err == io.EOF {
				err = errDamaged
			}
			return s.s.error(err)
		}
		p, off = 0, off+more
	}
	return nil
}

// Close gives up all records. It can be called again, and of nil.
func (s *Store) Close() {
	if s != nil {
		s.s.Close()
	}
}

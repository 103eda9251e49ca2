package extsort

import (
	"encoding/binary"
	"io"
	"os"
)

// Reader goes over the records of a finished [Sorter] in their order, on one goroutine.
// A nil Reader has none.
type Reader struct {
	s     *Sorter
	runs  []*run // a heap: the run with the first record is the first
	begun bool
}

// run is a sorted run while it is merged.
type run struct {
	record record // the next one
	prefix uint64
	// Of a run in the file: what is left of it, and a part that was read.
	file      *os.File
	off, left int64
	buf       []byte
	p         int
	// Of a writer's memory.
	w  *Writer
	at []entry
}

// Read begins to read, from the first record on.
func (s *Sorter) Read() (*Reader, error) {
	r := &Reader{s: s}
	size := min(max(mergeMemory/max(len(s.runs), 1), minBuffer), maxBuffer)
	for _, e := range s.runs {
		r.runs = append(r.runs, &run{file: s.file, off: e.off, left: e.length, buf: make([]byte, 0, min(int64(size), e.length))})
	}
	for i := range s.writers {
		if w := &s.writers[i].V; len(w.at) > 0 {
			r.runs = append(r.runs, &run{w: w, at: w.at})
		}
	}
	all := r.runs
	r.runs = r.runs[:0]
	for _, x := range all {
		more, err := x.advance()
		if err != nil {
			return nil, s.error(err)
		}
		if more {
			r.runs = append(r.runs, x)
		}
	}
	for i := len(r.runs)/2 - 1; i >= 0; i-- {
		r.down(i)
	}
	return r, nil
}

// Next gives the next record: its key, and the rest of it. Both are valid until the next
// call. There is none any more if ok is false.
func (r *Reader) Next() (key, rest []byte, ok bool, err error) {
	if r == nil {
		return nil, nil, false, nil
	}
	if r.begun && len(r.runs) > 0 {
		more, err := r.runs[0].advance()
		if err != nil {
			return nil, nil, false, r.s.error(err)
		}
		if !more {
			last := len(r.runs) - 1
			r.runs[0], r.runs = r.runs[last], r.runs[:last]
		}
		r.down(0)
	}
	r.begun = true
	if len(r.runs) == 0 {
		return nil, nil, false, nil
	}
	first := r.runs[0].record
	return first.key(), first.rest(), true, nil
}

func (x *run) before(y *run) bool {
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	return compare(x.record, y.record) < 0
}

// down brings a run to its place in the heap.
func (r *Reader) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(r.runs) {
			return
		}
		if c+1 < len(r.runs) && r.runs[c+1].before(r.runs[c]) {
			c++
		}
		if !r.runs[c].before(r.runs[i]) {
			return
		}
		r.runs[i], r.runs[c] = r.runs[c], r.runs[i]
		i = c
	}
}

// advance goes to the next record of a run.
func (x *run) advance() (bool, error) {
	if x.w != nil {
		if len(x.at) == 0 {
			return false, nil
		}
		x.record, x.at = x.w.record(x.at[0].at), x.at[1:]
		x.prefix = prefix(x.record.key())
		return true, nil
	}
	if x.left == 0 && x.p == len(x.buf) {
		return false, nil
	}
	if err := x.need(4); err != nil {
		return false, err
	}
	n := int64(binary.BigEndian.Uint32(x.buf[x.p:]))
	if n < 4 || n > x.left+int64(len(x.buf)-x.p-4) {
		return false, errDamaged
	}
	if err := x.need(4 + int(n)); err != nil {
		return false, err
	}
	x.record = record(x.buf[x.p+4 : x.p+4+int(n)])
	if int64(binary.BigEndian.Uint32(x.record)) > n-4 {
		return false, errDamaged
	}
	x.p += 4 + int(n)
	x.prefix = prefix(x.record.key())
	return true, nil
}

// need reads until n bytes lie ahead.
func (x *run) need(n int) error {
	if len(x.buf)-x.p >= n {
		return nil
	}
	rest := x.buf[x.p:]
	if cap(x.buf) < n {
		x.buf = append(make([]byte, 0, n), rest...)
	} else {
		x.buf = x.buf[:copy(x.buf[:cap(x.buf)], rest)]
	}
	x.p = 0
	more := min(int64(cap(x.buf)-len(x.buf)), x.left)
	if more <= 0 {
		return errDamaged
	}
	at := len(x.buf)
	x.buf = x.buf[:at+int(more)]
	if k, err := x.file.ReadAt(x.buf[at:], x.off); k < int(more) {
		if err == io.EOF {
			err = errDamaged
		}
		return err
	}
	x.off += more
	x.left -= more
	if len(x.buf) < n {
		return errDamaged
	}
	return nil
}

package fsimage

import (
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// stream cuts the bytes of one section into batches of whole delimited
// messages. It is used by one goroutine at a time.
type stream struct {
	ctx       context.Context
	im        *Image
	sec       Section
	src       *source
	failed    error  // why there is nothing after what was handed out
	carry     []byte // read, but not handed out: the start of an unfinished message
	offset    int64  // in the section, of the first byte not handed out
	record    int64  // index of the first message not handed out
	seq       int
	eof       bool
	maxRecord int
}

func (im *Image) stream(ctx context.Context, s Section) (*stream, error) {
	st := &stream{ctx: ctx, im: im, sec: s, maxRecord: im.opt.maxRecord}
	src, err := im.open(s)
	if err != nil {
		return nil, st.error(0, -1, st.readCause(err))
	}
	st.src = src
	return st, nil
}

func (s *stream) close() { _ = s.src.Close() } // only releases memory

// error places err at an offset that counts from the start of the section.
func (s *stream) error(offset, record int64, err error) error {
	var fe *FormatError
	if errors.As(err, &fe) || s.ctx.Err() != nil && errors.Is(err, s.ctx.Err()) {
		return err
	}
	compressed := s.im.sum.Codec != ""
	if !compressed {
		offset += s.sec.Offset
	}
	return &FormatError{Section: s.sec.Name, Offset: offset, Decompressed: compressed, Record: record, Err: err}
}

// readCause classifies an error of the source: the operating system's stay what
// they are, a decompressor's mean damaged data.
func (s *stream) readCause(err error) error {
	var fe *fileError
	switch {
	case errors.As(err, &fe), errors.Is(err, ErrCorrupt), errors.Is(err, ErrTruncated), errors.Is(err, ErrUnsupported):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return truncatedf("the compressed data ends early")
	case s.im.sum.Codec != "":
		return corruptf("decompression failed: %v", err)
	}
	return err
}

// Batch is a run of whole consecutive records of a section. Its bytes are valid
// until the callback that received it returns.
type Batch struct {
	Seq    int   // number of the batch in its section, from 0
	First  int64 // index of its first record in the section
	count  int
	data   []byte
	offset int64
	s      *stream
}

// fill reads into buf and gives the longest run of whole records, growing buf
// only for a record that does not fit. It gives io.EOF after the last one.
func (s *stream) fill(buf []byte) (*Batch, []byte, error) {
	if s.failed != nil {
		return nil, buf, s.failed
	}
	n := 0
	if len(buf) < len(s.carry) {
		buf = make([]byte, len(s.carry)+s.im.opt.buffer)
	}
	n = copy(buf, s.carry)
	for {
		if err := s.ctx.Err(); err != nil {
			return nil, buf, err
		}
		for n < len(buf) && !s.eof {
			k, err := s.src.Read(buf[n:])
			n += k
			if errors.Is(err, io.EOF) {
				s.eof = true
			} else if err != nil {
				return nil, buf, s.error(s.offset+int64(n), s.record, s.readCause(err))
			}
		}
		end, count, need, err := wholeRecords(buf[:n], s.maxRecord)
		if err == nil && s.eof && end < n {
			err = truncatedf("%d bytes of a record are there, %d are missing", n-end, max(need-(n-end), 1))
		}
		if err != nil {
			// Whole records before the fault come first: one of them may be bad too,
			// and the first fault in the file is the one to report.
			if s.failed = s.error(s.offset+int64(end), s.record+int64(count), err); end == 0 {
				return nil, buf, s.failed
			}
		}
		if end == 0 && n == 0 {
			return nil, buf, io.EOF
		}
		if end > 0 {
			return s.cut(buf, n, end, count), buf, nil
		}
		buf = append(buf, make([]byte, min(max(need-n, 1), max(n, s.im.opt.buffer)))...)
	}
}

func (s *stream) cut(buf []byte, n, end, count int) *Batch {
	b := &Batch{Seq: s.seq, First: s.record, count: count, data: buf[:end], offset: s.offset, s: s}
	s.carry = append(s.carry[:0], buf[end:n]...)
	s.offset += int64(end)
	s.record += int64(count)
	s.seq++
	return b
}

// wholeRecords finds where the last complete delimited message of b ends and
// how many there are; need is the size with prefix of the incomplete one after
// it, 0 if not even its length is complete.
func wholeRecords(b []byte, maxRecord int) (end, count, need int, err error) {
	for end < len(b) {
		size, k := uint64(b[end]), end+1
		if size >= 0x80 {
			size, k = uvarint(b, end)
		}
		if k < 0 {
			if unfinished(b[end:]) {
				return end, count, 0, nil
			}
			return end, count, 0, corruptf("bad record length")
		}
		if size > uint64(maxRecord) {
			return end, count, 0, corruptf("record of %d bytes (at most %d)", size, maxRecord)
		}
		if size > uint64(len(b)-k) {
			return end, count, k - end + int(size), nil
		}
		end = k + int(size)
		count++
	}
	return end, count, 0, nil
}

// unfinished tells whether b is the start of a varint that goes on.
func unfinished(b []byte) bool {
	_, n := protowire.ConsumeVarint(b)
	return errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF)
}

// Size is the number of bytes, after decompression.
func (b *Batch) Size() int { return len(b.data) }

// Len is the number of records.
func (b *Batch) Len() int { return b.count }

// each calls fn for every record of the batch; an error is placed at it.
func (b *Batch) each(fn func(msg []byte) error) error {
	record := b.First
	for i := 0; i < len(b.data); record++ {
		size, k := uint64(b.data[i]), i+1
		if size >= 0x80 {
			size, k = uvarint(b.data, i)
		}
		end := k + int(size)
		if err := fn(b.data[k:end]); err != nil {
			return b.s.error(b.offset+int64(i), record, err)
		}
		i = end
	}
	return nil
}

// records reads a section one message at a time.
type records struct {
	s   *stream
	buf []byte
	b   *Batch
	i   int
	n   int64 // index of the message that next gave last
	at  int64 // its offset in the section
}

func (im *Image) records(ctx context.Context, name string) (*records, error) {
	sec, ok := im.Section(name)
	if !ok {
		return nil, io.EOF // an optional section that is not there is empty
	}
	s, err := im.stream(ctx, sec)
	if err != nil {
		return nil, err
	}
	return &records{s: s, buf: make([]byte, min(im.opt.buffer, 64<<10)), n: -1}, nil
}

func (r *records) close() { r.s.close() }

// next gives the next message, valid until the following call, or io.EOF.
func (r *records) next() ([]byte, error) {
	for r.b == nil || r.i == len(r.b.data) {
		b, buf, err := r.s.fill(r.buf)
		r.b, r.buf, r.i = b, buf, 0
		if err != nil {
			return nil, err
		}
	}
	size, k := uvarint(r.b.data, r.i)
	r.at, r.n = r.b.offset+int64(r.i), r.n+1
	r.i = k + int(size)
	return r.b.data[k:r.i], nil
}

// error places err at the message that next gave last.
func (r *records) error(err error) error {
	if err == nil {
		return nil
	}
	return r.s.error(r.at, r.n, err)
}

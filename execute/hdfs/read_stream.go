package hdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Streams that failed. They match neither io.EOF nor io.ErrUnexpectedEOF: what reads
// from them must not take a cut connection for the end of a file.
var (
	errShort = errors.New("the stream ended too early")
	errLong  = errors.New("the stream has more bytes than the file")
)

// exactReader gives length bytes of a stream and then io.EOF, or an error. The first
// error stays.
type exactReader struct {
	ctx    context.Context // ends it; a stream lives no longer than one Read of a file
	from   io.Reader
	length int64
	left   int64
	end    error
}

func newExactReader(ctx context.Context, from io.Reader, length int64) *exactReader {
	return &exactReader{ctx: ctx, from: from, length: length, left: length}
}

// Read implements [io.Reader].
func (e *exactReader) Read(p []byte) (int, error) {
	if e.end != nil {
		return 0, e.end
	}
	if len(p) == 0 {
		return 0, nil
	}
	if e.left == 0 {
		return 0, e.fail(e.last())
	}
	if int64(len(p)) > e.left {
		p = p[:e.left]
	}
	n, err := e.from.Read(p)
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: after %d of %d bytes", errShort, e.length-e.left, e.length)
	}
	if err != nil {
		err = e.fail(err)
	}
	return n, err
}

// last looks for the end of the stream behind the last byte.
func (e *exactReader) last() error {
	var more [1]byte
	switch n, err := io.ReadFull(e.from, more[:]); {
	case n > 0:
		return fmt.Errorf("%w: %d", errLong, e.length)
	case errors.Is(err, io.EOF):
		return io.EOF
	default:
		return err
	}
}

// fail ends the stream. A context that is done is the reason of whatever failed.
func (e *exactReader) fail(err error) error {
	if e.ctx.Err() != nil && !errors.Is(err, io.EOF) {
		err = context.Cause(e.ctx)
	}
	e.end = err
	return err
}

// failed gives the error that ended it, nil if there is none or the file ended.
func (e *exactReader) failed() error {
	if errors.Is(e.end, io.EOF) {
		return nil
	}
	return e.end
}

// openStream is a file of which the first bytes are here.
type openStream struct {
	head  []byte
	exact *exactReader
	from  io.Closer
}

// start opens a file and reads its first bytes: what fails so far, another way may do.
func start(ctx context.Context, w way, f *foundFile) (*openStream, error) {
	from, err := w.open(ctx, f)
	if err != nil {
		return nil, err
	}
	s := &openStream{exact: newExactReader(ctx, from, f.Length), from: from}
	// One byte more than the file has, so that the end of a small one is seen, too.
	s.head, err = io.ReadAll(io.LimitReader(s.exact, min(f.Length+1, readAhead)))
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// pass gives the bytes to use. A stream that failed is an error, whatever use says.
func (s *openStream) pass(use func(io.Reader) error) error {
	err := use(io.MultiReader(bytes.NewReader(s.head), s.exact))
	if broken := s.exact.failed(); broken != nil && !errors.Is(err, broken) {
		if err == nil {
			return broken
		}
		return fmt.Errorf("%w (and then: %w)", broken, err)
	}
	return err
}

// close ends the connections. What was only read loses nothing by an error here.
func (s *openStream) close() { _ = s.from.Close() }

package flinkmeta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// startBuffer is what a reader has for a start: most _metadata files fit in one
	// or two of it.
	startBuffer = 16 << 10
	// maxString is the longest string that two bytes can announce.
	maxString = 1<<16 - 1
	// maxEmptyReads is how often a reader may give nothing, and no error either.
	maxEmptyReads = 100
)

// cursor reads big endian values from a stream. The first error stays: what is
// read after it is zero, so that only loops have to look.
type cursor struct {
	r     io.Reader
	buf   []byte // b[pos:end] is read and not yet consumed
	pos   int
	end   int
	base  int64 // offset in the stream of buf[0]
	eof   bool  // r has no more
	err   error // the first error
	where func() string
}

func newCursor(r io.Reader, where func() string) cursor {
	return cursor{r: r, buf: make([]byte, startBuffer), where: where}
}

// offset of the next byte.
func (c *cursor) offset() int64 { return c.base + int64(c.pos) }

// fail records an error in the bytes at an offset, unless there is one already.
func (c *cursor) fail(offset int64, err error) {
	if c.err == nil {
		c.err = &FormatError{Where: c.where(), Offset: offset, Err: err}
	}
}

// stop records an error that is not about the bytes.
func (c *cursor) stop(err error) {
	if c.err == nil {
		c.err = err
	}
}

// fill reads once more, into a buffer that has room for n bytes from pos on.
func (c *cursor) fill(n int) {
	if c.pos > 0 {
		c.base += int64(c.pos)
		c.end = copy(c.buf, c.buf[c.pos:c.end])
		c.pos = 0
	}
	if n > len(c.buf) { // a string, of at most maxString or maxLongString
		c.buf = append(make([]byte, 0, 2*n), c.buf[:c.end]...)[:2*n]
	}
	for range maxEmptyReads {
		m, err := c.r.Read(c.buf[c.end:])
		if m < 0 || m > len(c.buf)-c.end {
			c.stop(fmt.Errorf("read at offset %d: the reader claims %d bytes", c.base+int64(c.end), m))
			return
		}
		c.end += m
		switch {
		case errors.Is(err, io.EOF):
			c.eof = true
			return
		case err != nil:
			c.stop(fmt.Errorf("read at offset %d: %w", c.base+int64(c.end), err))
			return
		case m > 0:
			return
		}
	}
	c.stop(fmt.Errorf("read at offset %d: %w", c.base+int64(c.end), io.ErrNoProgress))
}

// next gives the next n bytes, at most maxString, and passes over them; nil
// after an error. They are valid until the next call.
func (c *cursor) next(n int) []byte {
	for c.end-c.pos < n {
		if c.err != nil {
			return nil
		}
		if c.eof {
			c.truncated()
			return nil
		}
		c.fill(n)
	}
	if c.err != nil {
		return nil
	}
	b := c.buf[c.pos : c.pos+n]
	c.pos += n
	return b
}

// peek gives the next n bytes and stays where it is; fewer where the stream
// ends or fails. They are valid until the next call.
func (c *cursor) peek(n int) []byte {
	for c.end-c.pos < n && !c.eof && c.err == nil {
		c.fill(n)
	}
	return c.buf[c.pos:min(c.pos+n, c.end)]
}

// truncated: the file ends where more was announced.
func (c *cursor) truncated() {
	c.fail(c.base+int64(c.end), ErrTruncated)
	c.pos = c.end
}

// skip passes over n bytes without keeping any.
func (c *cursor) skip(n int64) {
	for c.err == nil {
		have := int64(c.end - c.pos)
		if n <= have {
			c.pos += int(n)
			return
		}
		n -= have
		c.pos = c.end
		if c.eof {
			c.truncated()
			return
		}
		c.fill(0)
	}
}

// atEnd tells whether the stream ends here.
func (c *cursor) atEnd() bool {
	for c.err == nil && c.pos == c.end && !c.eof {
		c.fill(0)
	}
	return c.err == nil && c.pos == c.end
}

func (c *cursor) u8() byte {
	if b := c.next(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() int {
	if b := c.next(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) i32() int32 {
	if b := c.next(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) i64() int64 {
	if b := c.next(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// count reads a number of things, or a length, of which there are none less
// than zero.
func (c *cursor) count(what string) int32 {
	at := c.offset()
	n := c.i32()
	if n < 0 {
		c.fail(at, corruptf("%d %s", n, what))
		return 0
	}
	return n
}

// flag reads a boolean of one byte.
func (c *cursor) flag(what string) bool {
	at := c.offset()
	b := c.u8()
	if b > 1 {
		c.fail(at, corruptf("%s is %d, neither 0 nor 1", what, b))
	}
	return b == 1
}

// appendString reads a string and appends it, as UTF-8, to dst.
func (c *cursor) appendString(dst []byte) []byte {
	at := c.offset()
	raw := c.next(c.u16())
	dst, ok := appendModifiedUTF8(dst, raw)
	if !ok {
		c.fail(at, corruptf("a string that is not modified UTF-8"))
	}
	return dst
}

// skipString passes over a string; it must be one.
func (c *cursor) skipString() {
	at := c.offset()
	raw := c.next(c.u16())
	if !asciiOnly(raw) && modifiedPrefix(raw) != len(raw) {
		c.fail(at, corruptf("a string that is not modified UTF-8"))
	}
}

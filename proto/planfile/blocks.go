package planfile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
)

const (
	blockSize = 64 << 10
	// maxLine bounds a line, its newline included.
	maxLine = 16 << 20
)

// blocks reads a file in blocks of 64 KiB: once in order, which makes the digest
// and notes the SHA-256 of each block, and then any of them again, which compares
// them before it hands out a byte.
type blocks struct {
	f    io.ReadSeeker
	sums [][sha256.Size]byte

	held int64 // index of the block in buf, -1: none
	buf  []byte
}

// read fills buf with block i. A block is short only at the end of the file, and
// then the next one is empty.
func (b *blocks) read(i int64) error {
	b.held = -1
	if _, err := b.f.Seek(i*blockSize, io.SeekStart); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	if b.buf == nil {
		b.buf = make([]byte, blockSize)
	}
	n, err := io.ReadFull(b.f, b.buf[:blockSize])
	b.buf = b.buf[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("reading the plan: %w", err)
	}
	b.held = i
	return nil
}

// verified gives block i as it was when the file was opened; valid until the next
// call.
func (b *blocks) verified(i int64) ([]byte, error) {
	if i == b.held {
		return b.buf, nil
	}
	if i >= int64(len(b.sums)) {
		return nil, nil
	}
	if err := b.read(i); err != nil {
		return nil, err
	}
	if sha256.Sum256(b.buf) != b.sums[i] {
		b.held = -1
		return nil, fmt.Errorf("%w: the file changed since it was opened, at offset %d or up to %d bytes behind it", ErrDigest, i*blockSize, blockSize)
	}
	return b.buf, nil
}

// lines cuts blocks into lines.
type lines struct {
	block func(int64) ([]byte, error)
	off   int64  // of the next line
	n     int    // number of the line that next returned last
	long  []byte // a line that lies in several blocks
}

// next gives a line without its newline, valid until the next call, or io.EOF.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	l.n++
	for {
		b, err := l.block(l.off / blockSize)
		if err != nil {
			return nil, err
		}
		b = b[min(len(b), int(l.off%blockSize)):]
		if len(b) == 0 && len(l.long) > 0 {
			return nil, invalidf("the last line is torn: it has no newline")
		} else if len(b) == 0 {
			return nil, io.EOF
		}
		end := bytes.IndexByte(b, '\n')
		part := b[:max(end, 0)]
		if end < 0 {
			part = b
		}
		if len(l.long)+len(part) >= maxLine {
			return nil, invalidf("the line is longer than %d bytes", maxLine)
		}
		if end >= 0 && len(l.long) == 0 {
			l.off += int64(end) + 1
			return part, nil
		}
		l.long = append(l.long, part...)
		l.off += int64(len(part))
		if end >= 0 {
			l.off++
			return l.long, nil
		}
	}
}

package canonical

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// BlockSize is the size of the blocks of a file, in bytes.
const BlockSize = 64 << 10

// Blocks reads a file in blocks of 64 KiB: once in order ([Blocks.First]), which notes
// the SHA-256 of each block, and then any of them again ([Blocks.Verified]), which
// compares them before it hands out a byte. It keeps 32 bytes for each block.
type Blocks struct {
	f      io.ReadSeeker
	format string    // for messages
	digest hash.Hash // of the first reading; nil: not wanted
	sums   [][sha256.Size]byte
	size   int64 // of what First has given, in bytes
	end    bool  // the last block was read
	grows  bool  // what is behind size is not looked at

	held int64 // index of the block in buf, -1: none
	buf  []byte
}

// NewBlocks reads f, which is called what messages call it. The first reading goes
// through digest, too, if there is one.
func NewBlocks(f io.ReadSeeker, called string, digest hash.Hash) *Blocks {
	return &Blocks{f: f, format: called, digest: digest, held: -1}
}

// read fills buf with block i. A block is short only at the end of the file, and
// then the next one is empty.
func (b *Blocks) read(i int64) error {
	b.held = -1
	if _, err := b.f.Seek(i*BlockSize, io.SeekStart); err != nil {
		return fmt.Errorf("reading the %s: %w", b.format, err)
	}
	if b.buf == nil {
		b.buf = make([]byte, BlockSize)
	}
	size := int64(BlockSize)
	if b.grows {
		size = min(size, b.size-i*BlockSize)
	}
	n, err := io.ReadFull(b.f, b.buf[:size])
	b.buf = b.buf[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("reading the %s: %w", b.format, err)
	}
	b.held = i
	return nil
}

// First gives block i, which is the last one given or the next one; empty behind the
// end. It is valid until the next call.
func (b *Blocks) First(i int64) ([]byte, error) {
	if i == b.held {
		return b.buf, nil
	}
	if b.end {
		return nil, nil
	}
	if err := b.read(i); err != nil {
		return nil, err
	}
	b.end = len(b.buf) < BlockSize
	b.size += int64(len(b.buf))
	if len(b.buf) > 0 {
		if b.digest != nil {
			b.digest.Write(b.buf)
		}
		b.sums = append(b.sums, sha256.Sum256(b.buf))
	}
	return b.buf, nil
}

// Rest reads for the first time what First has not given yet.
func (b *Blocks) Rest() error {
	for !b.end {
		if _, err := b.First(int64(len(b.sums))); err != nil {
			return err
		}
	}
	return nil
}

// Size gives the length of what First has given, in bytes.
func (b *Blocks) Size() int64 { return b.size }

// Grows allows the file to become longer after the first reading. What is behind the
// end that it had then is never given.
func (b *Blocks) Grows() { b.grows = true }

// Verified gives block i as it was the first time, or a [*ChangedError]; nothing
// behind the end. It is valid until the next call.
func (b *Blocks) Verified(i int64) ([]byte, error) {
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
		return nil, &ChangedError{i * BlockSize}
	}
	return b.buf, nil
}

package fsimage

import (
	"bufio"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const codecPackage = "org.apache.hadoop.io.compress."

// A codec opens the decompressed form of one section.
type codec func(r io.Reader) (io.ReadCloser, error)

// codecFor finds the codec of a Java class name; the empty name is no
// compression, and gives nil.
func codecFor(class string) (codec, error) {
	switch strings.TrimPrefix(class, codecPackage) {
	case "":
		return nil, nil
	case "DefaultCodec", "DeflateCodec": // both are zlib streams
		return func(r io.Reader) (io.ReadCloser, error) { return zlib.NewReader(r) }, nil
	case "GzipCodec":
		return func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }, nil
	case "BZip2Codec":
		return func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }, nil
	case "SnappyCodec":
		return func(r io.Reader) (io.ReadCloser, error) {
			return &blockReader{r: r, decode: decodeSnappy}, nil
		}, nil
	case "Lz4Codec":
		return func(r io.Reader) (io.ReadCloser, error) {
			return &blockReader{r: r, decode: lz4.UncompressBlock}, nil
		}, nil
	case "ZStandardCodec":
		return openZstd, nil
	}
	if strings.Contains(strings.ToLower(class), "lzo") {
		return nil, unsupportedf("compression codec %q: LZO images cannot be read; set dfs.image.compression.codec to another codec, or turn compression off, and save the namespace again", class)
	}
	return nil, unsupportedf("compression codec %q", class)
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxBlock))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func decodeSnappy(src, dst []byte) (int, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return 0, err
	}
	if n > len(dst) {
		return 0, errors.New("block is larger than announced")
	}
	_, err = s2.Decode(dst, src)
	return n, err
}

// blockReader reads Hadoop's block stream: blocks of a big-endian uncompressed
// length followed by chunks, each a big-endian compressed length and its data,
// until the chunks have given the uncompressed length.
type blockReader struct {
	r      io.Reader
	decode func(src, dst []byte) (int, error)
	src    []byte
	dst    []byte
	out    []byte // the part of dst not handed out yet
	left   int    // uncompressed bytes of the block not decoded yet
}

func (b *blockReader) Close() error { return nil }

func (b *blockReader) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

func (b *blockReader) next() error {
	for b.left == 0 {
		n, err := b.length()
		if err != nil {
			return err // io.EOF between blocks is the end
		}
		b.left = n
	}
	n, err := b.length()
	if err != nil {
		return noEOF(err)
	}
	if b.src, err = readGrowing(b.r, b.src[:0], n); err != nil {
		return noEOF(err)
	}
	// A block is decoded into at most what is left of its uncompressed length,
	// but no chunk expands more than 255-fold (LZ4's bound, above Snappy's).
	size := min(b.left, 255*n+64)
	if cap(b.dst) < size {
		b.dst = make([]byte, size)
	}
	m, err := b.decode(b.src, b.dst[:size])
	if err != nil {
		return corruptf("compressed block: %v", err)
	}
	if m == 0 {
		return corruptf("compressed block holds nothing, %d bytes are missing", b.left)
	}
	b.out, b.left = b.dst[:m], b.left-m
	return nil
}

func (b *blockReader) length() (int, error) {
	var h [4]byte
	if _, err := io.ReadFull(b.r, h[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(h[:])
	if n > maxBlock {
		return 0, corruptf("block length %d (at most %d)", n, maxBlock)
	}
	return int(n), nil
}

// readGrowing reads n bytes into b, reserving memory as they arrive.
func readGrowing(r io.Reader, b []byte, n int) ([]byte, error) {
	const step = 1 << 20
	for len(b) < n {
		k := min(n-len(b), max(step, len(b)))
		if cap(b)-len(b) < k {
			b = append(make([]byte, 0, len(b)+k), b...)
		}
		b = b[:len(b)+k]
		if m, err := io.ReadFull(r, b[len(b)-k:]); err != nil {
			return b[:len(b)-k+m], err
		}
	}
	return b, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// open gives the plain bytes of a section.
func (im *Image) open(s Section) (*source, error) {
	c, err := codecFor(im.sum.Codec)
	if err != nil {
		return nil, err
	}
	raw := &exactReader{r: io.NewSectionReader(im.r, s.Offset, s.Length), n: s.Length, count: im.read}
	if c == nil || s.Length == 0 { // an empty section has no stream at all
		return &source{Reader: raw, raw: raw}, nil
	}
	d, err := c(bufio.NewReaderSize(raw, 256<<10))
	if err != nil {
		if raw.err != nil {
			err = raw.err
		}
		return nil, err
	}
	return &source{Reader: d, raw: raw, closer: d, limit: expansionFloor + maxExpansion*s.Length}, nil
}

// Bounds of decompression. Real sections grow three to twenty times; a few
// kilobytes that become gigabytes are made to hurt.
const (
	expansionFloor = 64 << 20
	maxExpansion   = 256
)

// source is the plain bytes of a section.
type source struct {
	io.Reader
	raw    *exactReader
	closer io.Closer // nil without compression
	limit  int64     // bytes that may come, if compressed
	n      int64
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.n += int64(n); s.closer != nil && s.n > s.limit {
		return 0, unsupportedf("the section grows to more than %d bytes, %d times its size", s.limit, maxExpansion)
	}
	if err != nil && s.raw.err != nil {
		err = s.raw.err // the file's, not what the decompressor makes of it
	}
	return n, err
}

func (s *source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// exactReader turns an end of input before n bytes into an error: the table of
// sections was checked against the file's size, so the file shrank. It remembers
// what was wrong with the file.
type exactReader struct {
	r     io.Reader
	n     int64
	err   error
	count *atomic.Int64 // of bytes read
}

func (e *exactReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.n -= int64(n)
	e.count.Add(int64(n))
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		e.err = &fileError{err}
		err = e.err
	case e.n > 0:
		e.err = truncatedf("the file is shorter than when it was opened")
		err = e.err
	}
	return n, err
}

// fileError is an error of reading the file, not of its contents.
type fileError struct{ error }

func (e *fileError) Unwrap() error { return e.error }

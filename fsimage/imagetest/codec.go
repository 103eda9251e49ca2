package imagetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec names as they stand in an image. BZip2 and LZO cannot be written here:
// with CodecLzo the sections stay plain, which is enough to test its refusal.
const (
	CodecDefault = "org.apache.hadoop.io.compress.DefaultCodec"
	CodecDeflate = "org.apache.hadoop.io.compress.DeflateCodec"
	CodecGzip    = "org.apache.hadoop.io.compress.GzipCodec"
	CodecSnappy  = "org.apache.hadoop.io.compress.SnappyCodec"
	CodecLz4     = "org.apache.hadoop.io.compress.Lz4Codec"
	CodecZstd    = "org.apache.hadoop.io.compress.ZStandardCodec"
	CodecBzip2   = "org.apache.hadoop.io.compress.BZip2Codec"
	CodecLzo     = "com.hadoop.compression.lzo.LzoCodec"
)

// WritableCodecs lists the codecs that images can be compressed with.
var WritableCodecs = []string{CodecDefault, CodecDeflate, CodecGzip, CodecSnappy, CodecLz4, CodecZstd}

func writable(codec string) bool {
	return slices.Contains(WritableCodecs, codec)
}

// compress returns b as one stream of the codec.
func compress(codec string, b []byte) []byte {
	var out bytes.Buffer
	w, err := newStream(codec, &out)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a buffer never fails
		panic(fmt.Sprintf("imagetest: %v", err))
	}
	return out.Bytes()
}

// newStream starts one compressed stream; closing it does not close w.
func newStream(codec string, w io.Writer) (io.WriteCloser, error) {
	switch codec {
	case CodecDefault, CodecDeflate:
		return zlib.NewWriter(w), nil
	case CodecGzip:
		return gzip.NewWriter(w), nil
	case CodecZstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	case CodecSnappy:
		return &blockStream{w: w, encode: func(b []byte) ([]byte, error) { return snappy.Encode(nil, b), nil }}, nil
	case CodecLz4:
		return &blockStream{w: w, encode: lz4Block}, nil
	}
	return nil, fmt.Errorf("codec %q cannot be written", codec)
}

// lz4Block compresses one raw LZ4 block, as Hadoop stores it: no frame, and never
// "stored", so what does not shrink still needs the destination's full bound.
func lz4Block(b []byte) ([]byte, error) {
	dst := make([]byte, lz4.CompressBlockBound(len(b)))
	var c lz4.Compressor
	n, err := c.CompressBlock(b, dst)
	if err != nil {
		return nil, err
	}
	if n == 0 && len(b) > 0 {
		return nil, fmt.Errorf("lz4: %d bytes gave no block", len(b))
	}
	return dst[:n], nil
}

// Sizes of Hadoop's block streams in bytes of raw data. A block holds several
// chunks, so that readers meet both levels.
const (
	streamBlock = 192 << 10
	streamChunk = 64 << 10
)

// blockStream is Hadoop's BlockCompressorStream: [BE32 raw length] and then, until
// that much is there, [BE32 compressed length][data]. An empty stream is one zero.
type blockStream struct {
	w      io.Writer
	encode func([]byte) ([]byte, error)
	buf    []byte
	wrote  bool
}

func (s *blockStream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), streamBlock-len(s.buf))
		s.buf = append(s.buf, p[:k]...)
		p = p[k:]
		if len(s.buf) == streamBlock {
			if err := s.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (s *blockStream) Close() error {
	if len(s.buf) == 0 && s.wrote {
		return nil
	}
	return s.flush()
}

func (s *blockStream) flush() error {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(s.buf)))
	for b := s.buf; len(b) > 0; {
		k := min(len(b), streamChunk)
		c, err := s.encode(b[:k])
		if err != nil {
			return err
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(c)))
		out = append(out, c...)
		b = b[k:]
	}
	s.buf, s.wrote = s.buf[:0], true
	_, err := s.w.Write(out)
	return err
}

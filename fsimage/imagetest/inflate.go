package imagetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// inflateBuffer is the size of the reads from the file, the same as fsimage's.
const inflateBuffer = 256 << 10

// Inflate decompresses every section of an image on one thread and throws the
// bytes away, whose number it returns. With the library that fsimage uses, it is
// the lower bound for a compressed image.
func Inflate(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum, err := readSummary(f)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, s := range sum.GetSections() {
		if strings.HasSuffix(s.GetName(), "_SUB") {
			continue
		}
		raw := io.NewSectionReader(f, int64(s.GetOffset()), int64(s.GetLength()))
		n, err := inflate(sum.GetCodec(), bufio.NewReaderSize(raw, inflateBuffer))
		if err != nil {
			return total, fmt.Errorf("imagetest: section %s of %s: %w", s.GetName(), path, err)
		}
		total += n
	}
	return total, nil
}

func inflate(codec string, raw io.Reader) (int64, error) {
	var r io.ReadCloser
	var err error
	switch codec {
	case CodecDefault, CodecDeflate:
		r, err = zlib.NewReader(raw)
	case CodecGzip:
		r, err = gzip.NewReader(raw)
	case CodecZstd:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1)); err == nil {
			r = d.IOReadCloser()
		}
	default:
		return 0, fmt.Errorf("no reader for codec %q", codec)
	}
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, r)
	return n, errors.Join(err, r.Close())
}

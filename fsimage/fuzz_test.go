package fsimage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"

	"fsweep/fsimage/imagetest"
)

// What a reader may use for an image of n bytes that decompress to m. The
// factors are those of the worst valid records (a message of one byte becomes a
// struct of generated code), not those of real images.
const (
	fuzzFixedBytes   = 96 << 20 // buffers; a Snappy or LZ4 block may announce 64 MiB
	fuzzBytesPerByte = 600
	fuzzDecompressed = 4 << 20 // do not follow bombs further
	fuzzTime         = 5 * time.Second
)

// allocated tells how many bytes fn allocates, freed ones included.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// requireClassified fails for an error that says neither what class nor where.
func requireClassified(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	requireClass(t, err, ErrNotImage, ErrTruncated, ErrCorrupt, ErrUnsupported)
}

func FuzzOpen(f *testing.F) {
	m := smallTree().Image()
	f.Add(m.Bytes())
	m.SubSections = 3
	f.Add(m.Bytes())
	m.SubSections = 0
	for _, m.Codec = range imagetest.WritableCodecs {
		f.Add(m.Bytes())
	}
	f.Add(imageBytes(f, "3.4.2/BZip2Codec"))
	f.Add(imageBytes(f, "2.7.7/plain"))
	f.Add([]byte(imagetest.Magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		began := time.Now()
		var plain int64
		bytes := allocated(func() { plain = readFuzzed(t, b) })
		if limit := uint64(fuzzFixedBytes + fuzzBytesPerByte*(int64(len(b))+plain)); bytes > limit {
			t.Errorf("%d bytes of image (%d decompressed) allocated %d, more than %d", len(b), plain, bytes, limit)
		}
		if took := time.Since(began); took > fuzzTime {
			t.Errorf("%d bytes of image took %v", len(b), took)
		}
	})
}

// readFuzzed reads all that can be read of b and gives the number of
// decompressed bytes.
func readFuzzed(t *testing.T, b []byte) (plain int64) {
	im, err := Open(bytes.NewReader(b), int64(len(b)), WithBuffer(4<<10), WithMaxRecord(1<<20))
	if err != nil {
		requireClassified(t, err)
		return 0
	}
	for _, s := range im.Summary().Sections {
		plain += drain(im, s)
	}
	if plain > fuzzDecompressed {
		return plain
	}
	one, errOne := takeCensus(t.Context(), im, 1)
	requireClassified(t, errOne)
	two, errTwo := takeCensus(t.Context(), im, 2)
	if (errOne == nil) != (errTwo == nil) || errOne != nil && errOne.Error() != errTwo.Error() {
		t.Fatalf("one worker: %v; two: %v", errOne, errTwo)
	}
	if errOne == nil && one != two {
		t.Fatalf("one worker: %+v; two: %+v", one, two)
	}
	return 2 * plain // it was read twice
}

// drain decompresses a section, up to the limit, and ignores errors: reading it
// by record reports them.
func drain(im *Image, s Section) int64 {
	r, err := im.open(s)
	if err != nil {
		return 0
	}
	defer r.Close()
	n, _ := io.Copy(io.Discard, io.LimitReader(r, fuzzDecompressed+1))
	return n
}

func FuzzINode(f *testing.F) {
	records := append(realINodes(f), oddINodes()...)
	for i, b := range records {
		if i%11 == 0 || i >= len(records)-len(oddINodes()) { // enough of the many that are alike
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var n INode
		for range 2 { // the second time with used memory
			if err := compareINode(b, &n); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzDirEntry(f *testing.F) {
	records := append(realDirEntries(f), oddDirEntries()...)
	for i, b := range records {
		if len(b) < 500 && (i%7 == 0 || i >= len(records)-len(oddDirEntries())) {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e DirEntry
		for range 2 {
			if err := compareDirEntry(b, &e); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// block is one block of a Hadoop block stream: the length that it announces and
// its chunks.
func block(announced int, chunks ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(announced))
	for _, c := range chunks {
		b = binary.BigEndian.AppendUint32(b, uint32(len(c)))
		b = append(b, c...)
	}
	return b
}

func snappyChunk(b []byte) []byte { return s2.EncodeSnappy(nil, b) }

func lz4Chunk(t testing.TB, b []byte) []byte {
	t.Helper()
	dst := make([]byte, lz4.CompressBlockBound(len(b)))
	var c lz4.Compressor
	n, err := c.CompressBlock(b, dst)
	if err != nil {
		t.Fatal(err)
	}
	return dst[:n]
}

// readBlocks decodes a block stream.
func readBlocks(b []byte, snappy bool, chunk int) ([]byte, error) {
	r := &blockReader{r: bytes.NewReader(b), decode: lz4.UncompressBlock}
	if snappy {
		r.decode = decodeSnappy
	}
	var out []byte
	p := make([]byte, chunk)
	for {
		n, err := r.Read(p)
		out = append(out, p[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		}
	}
}

func FuzzBlocks(f *testing.F) {
	text := bytes.Repeat([]byte("block of text "), 50)
	for _, snappy := range []bool{true, false} {
		c := lz4Chunk(f, text)
		if snappy {
			c = snappyChunk(text)
		}
		n := len(text)
		f.Add(block(n, c), snappy)
		f.Add(append(block(2*n, c, c), block(n, c)...), snappy)
		f.Add(block(0), snappy)
		f.Add(block(0, c), snappy)                        // announces nothing
		f.Add(block(n-1, c), snappy)                      // less than there is
		f.Add(block(n+1, c), snappy)                      // more
		f.Add(block(maxBlock, c), snappy)                 // far more
		f.Add(block(maxBlock+1, c), snappy)               // above the limit
		f.Add(block(1<<32-1, c), snappy)                  //
		f.Add(block(n, c[:len(c)-3]), snappy)             // chunk cut short
		f.Add(block(n, c)[:9], snappy)                    // file cut short
		f.Add(block(n, nil), snappy)                      // empty chunk
		f.Add(append(block(n), 0xff, 0xff, 0xff), snappy) // half a length
		f.Add(append(block(n), 0x7f, 0xff, 0xff, 0xff, 1), snappy)
	}
	dst := make([]byte, maxBlock) // once: clearing it takes longer than all the rest
	f.Fuzz(func(t *testing.T, b []byte, snappy bool) {
		var out []byte
		var err error
		used := allocated(func() { out, err = readBlocks(b, snappy, 4096) })
		if limit := uint64(2*maxBlock + 600*len(b)); used > limit {
			t.Errorf("%d bytes allocated %d", len(b), used)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error %v is not classified", err)
		}
		again, errAgain := readBlocks(b, snappy, 7)
		if (err == nil) != (errAgain == nil) || !bytes.Equal(out, again) {
			t.Errorf("small reads differ: %d bytes, %v; %d bytes, %v", len(out), err, len(again), errAgain)
		}
		if want, ok := referenceBlocks(b, dst, snappy); ok != (err == nil) || ok && !bytes.Equal(out, want) {
			t.Errorf("got %d bytes, %v; want %d, %v", len(out), err, len(want), ok)
		}
	})
}

// referenceBlocks decodes a block stream in the plainest way, all of it in
// memory. It gives false for a stream that is not valid.
// dst has room for any block.
func referenceBlocks(b, dst []byte, snappy bool) (out []byte, ok bool) {
	next := func() (n int, ok bool) {
		if len(b) < 4 {
			return 0, false
		}
		n = int(binary.BigEndian.Uint32(b))
		b = b[4:]
		return n, n <= maxBlock
	}
	for len(b) > 0 {
		left, ok := next()
		if !ok {
			return nil, false
		}
		for left > 0 {
			size, ok := next()
			if !ok || size > len(b) {
				return nil, false
			}
			n, err := lz4.UncompressBlock(b[:size], dst)
			if snappy {
				n, err = decodeSnappy(b[:size], dst)
			}
			if err != nil || n == 0 || n > left {
				return nil, false
			}
			out = append(out, dst[:n]...)
			b, left = b[size:], left-n
		}
	}
	return out, true
}

func FuzzMD5File(f *testing.F) {
	const digits = "0123456789abcdef0123456789ABCDEF"
	for _, s := range []string{
		"", "\n", digits, digits + "\n", digits + " *fsimage_0000000000000000001\n", digits + "  fsimage\n", digits + " *f\r\n", digits + " *\n",
		digits[:31] + " *f\n", digits + "0 *f\n", strings.Repeat("g", 32) + " *f\n", digits + " *f\n" + digits + " *g\n", digits + " *f\n\n \t",
		"\x00", digits + " *" + strings.Repeat("x", 5000), "* " + digits, "\ufeff" + digits + " *f\n",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(dir, "fsimage.md5")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := ReadMD5File(name)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%q: %v is not ErrCorrupt", b, err)
			}
			return
		}
		if want := strings.ToLower(string(b[:min(len(b), 32)])); sum.String() != want {
			t.Errorf("%q gave %s", b, sum)
		}
		if len(b) < 35 || b[32] != ' ' {
			t.Errorf("%q was accepted", b)
		}
	})
}

// TestReadingStops: a context that is done stops every section.
func TestReadingStops(t *testing.T) {
	im := openBytes(t, smallTree().Image().Bytes())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := takeCensus(ctx, im, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for name, read := range map[string]func() error{
		"strings":    func() error { _, err := im.Strings(ctx); return err },
		"diffs":      func() error { return im.SnapshotDiffs(ctx, Diffs{}) },
		"references": func() error { return im.References(ctx, nil) },
		"checksum":   func() error { _, err := im.Checksum(ctx); return err },
	} {
		if err := read(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

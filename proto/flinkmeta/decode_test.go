package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// TestCallbackError: it ends the decoding and comes back as it is.
func TestCallbackError(t *testing.T) {
	t.Parallel()
	b, stop := everyHandle(6), errors.New("stop")
	total := decodeHash(b).info.References
	for limit := int64(1); limit <= total; limit++ {
		calls := int64(0)
		info, err := Decode(bytes.NewReader(b), func(*Reference) error {
			if calls++; calls == limit {
				return stop
			}
			return nil
		})
		if err != stop || calls != limit || info.References != limit { //nolint:errorlint // that very error, unchanged
			t.Errorf("%v after %d calls of %d, %+v", err, calls, limit, info)
		}
	}
}

// TestReadError: a reader that fails is no file that ends.
func TestReadError(t *testing.T) {
	t.Parallel()
	b, broken := everyHandle(6), errors.New("disk on fire")
	for n := 0; n < len(b); n += raceFactor {
		for _, want := range []error{broken, io.ErrUnexpectedEOF} {
			_, err := Decode(&failing{bytes.NewReader(b[:n]), want}, func(*Reference) error { return nil })
			var format *FormatError
			if !errors.Is(err, want) || errors.As(err, &format) {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	}
	_, err := Decode(idle{}, func(*Reference) error { return nil })
	if !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	_, err = Decode(boastful{}, func(*Reference) error { return nil })
	if err == nil {
		t.Error("a reader may not claim more than it was given")
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

type boastful struct{}

func (boastful) Read(p []byte) (int, error) { return len(p) + 1, nil }

// zeros reads a head and then zeros for ever, as cheaply as can be.
type zeros struct {
	head []byte
	left int64
}

func (z *zeros) Read(p []byte) (int, error) {
	n := copy(p, z.head)
	if z.head = z.head[n:]; n > 0 {
		return n, nil
	}
	p = p[:min(int64(len(p)), z.left)]
	clear(p)
	z.left -= int64(len(p))
	return len(p), nil
}

// TestLargeFile: more than 4 GiB of state in the file itself are passed over.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	const each, n = 1<<31 - 1, 3
	e := new(encoder).head(3).i32(0).i32(n)
	readers := []io.Reader{}
	for range n {
		e.i64(0).i64(0).i32(1).i32(1).u8(1).utf("").i32(each)
		readers = append(readers, &zeros{head: e.b, left: each})
		readers[len(readers)-1] = io.LimitReader(readers[len(readers)-1], int64(len(e.b))+each)
		e = new(encoder).i32(0)
	}
	readers = append(readers, bytes.NewReader(e.b))
	began := time.Now()
	info, err := Decode(io.MultiReader(readers...), func(*Reference) error { return nil })
	if err != nil || info.InlineBytes != n*each || info.InlineHandles != n || info.Size < n*each {
		t.Errorf("%v, %+v", err, info)
	}
	took := time.Since(began)
	t.Logf("%d bytes in %v", info.Size, took)
	if took > 30*time.Second {
		t.Errorf("%d bytes took %v", info.Size, took)
	}
}

// manyFiles is a file with n references.
func manyFiles(n int) []byte {
	e := begin(6).i32(0).i32(0).u8(5).i64(1).utf("uuid").i32(0).i32(64).relative("meta", 1).i32(int32(n))
	for range n {
		e.utf("000016.sst").file(fileA, 12345)
	}
	return e.i32(0).finish(6, inRawKeyedState)
}

// TestAllocations: their number does not depend on that of references, and no
// length in a file makes the decoder reserve that much.
func TestAllocations(t *testing.T) {
	decode := func(b []byte) func() {
		return func() {
			if _, err := Decode(bytes.NewReader(b), func(*Reference) error { return nil }); err != nil {
				t.Error(err)
			}
		}
	}
	few, many := testing.AllocsPerRun(10, decode(manyFiles(10))), testing.AllocsPerRun(10, decode(manyFiles(10_000)))
	if few != many || few > 100 {
		t.Errorf("%v allocations for 10 references, %v for 10,000", few, many)
	}
	t.Logf("%v allocations for any number of references", few)
	huge := int32(1<<31 - 1)
	for name, e := range map[string]*encoder{
		"master states":  new(encoder).head(6).i32(huge),
		"master state":   new(encoder).head(6).i32(1).i32(-0x3694e96a).i32(huge),
		"operators":      new(encoder).head(6).i32(0).i32(huge),
		"subtasks":       new(encoder).head(6).i32(0).i32(1).utf("").utf("").i64(0).i64(0).i32(huge).i32(huge).u8(0).i32(huge),
		"states":         begin(6).i32(1).u8(4).i32(huge),
		"offsets":        begin(6).i32(1).u8(4).i32(1).utf("").u8(0).i32(huge),
		"key groups":     begin(6).i32(0).i32(0).u8(3).i32(0).i32(huge),
		"inline":         begin(6).i32(0).i32(0).u8(3).i32(0).i32(0).u8(1).utf("").i32(huge),
		"changes":        begin(6).i32(0).i32(0).u8(9).i32(0).i32(0).i64(0).i64(0).i32(huge),
		"string":         begin(6).i32(0).i32(0).u8(3).i32(0).i32(0).u8(2).i64(0).u8(255).u8(255),
		"channels":       begin(6).i32(0).i32(0).u8(0).u8(0).i32(huge),
		"Java fields":    new(encoder).head(6).i32(0).i32(0).raw(properties(plainCheckpoint)[:70]).u8(2).u8(255).u8(255),
		"long name":      new(encoder).head(6).i32(0).i32(0).raw([]byte{0xac, 0xed, 0, 5, 0x74, 255, 255}),
		"every handle 6": new(encoder).raw(everyHandle(6)),
	} {
		for _, more := range []int{0, 100_000} {
			b := append(bytes.Clone(e.b), make([]byte, more)...)
			began := time.Now()
			if n := allocated(func() { decodeHash(b) }); n > mostBytes || time.Since(began) > mostTime {
				t.Errorf("%s and %d bytes: %d bytes allocated in %v", name, more, n, time.Since(began))
			}
		}
	}
}

// TestModifiedUTF8 compares with what Java's specification says, by way of UTF-16.
func TestModifiedUTF8(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "/a", "\x00", "a\x00b", "é", "\u07ff\u0800\uffff", "😀", "a😀\U0010ffff\U00010000z", strings.Repeat("ü", 30000)} {
		var java []byte // as java.io.DataOutputStream.writeUTF does
		for _, unit := range utf16.Encode([]rune(s)) {
			switch {
			case unit >= 1 && unit <= 0x7f:
				java = append(java, byte(unit))
			case unit <= 0x7ff:
				java = append(java, 0xc0|byte(unit>>6), 0x80|byte(unit&0x3f))
			default:
				java = append(java, 0xe0|byte(unit>>12), 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
			}
		}
		got, ok := appendModifiedUTF8([]byte("x"), java)
		if !ok || string(got) != "x"+s {
			t.Errorf("%.50q: %.50q, %t", java, got, ok)
		}
		if got := encodeModifiedUTF8([]byte(s)); !bytes.Equal(got, java) {
			t.Errorf("%.50q: %.50q, want %.50q", s, got, java)
		}
	}
	for _, lone := range []string{"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xb8\x80\xed\xa0\xbd", "\xed\xa0\xbdx", "\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"} {
		got, ok := appendModifiedUTF8(nil, []byte(lone))
		if !ok || utf8.Valid(got) || !bytes.Equal(encodeModifiedUTF8(got), []byte(lone)) {
			t.Errorf("%q: %q, %t", lone, got, ok)
		}
	}
	for _, bad := range []string{
		"\x00", "a\x00", "\x80", "\xff", "\xc1\x81", "\xc0\x81", "\xc2", "\xc2a", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82", "\xe2a\x80", "\xe2\x82a", "\xf0\x9f\x98\x80", "\xf8",
	} {
		if got, ok := appendModifiedUTF8(nil, []byte(bad)); ok {
			t.Errorf("%q became %q", bad, got)
		}
		for _, bad := range []string{bad, "/é" + bad} {
			if n := modifiedPrefix([]byte(bad)); n == len(bad) {
				t.Errorf("%q is no modified UTF-8", bad)
			}
		}
	}
}

// TestOddPaths: what a path holds comes out as it is in HDFS.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		"hdfs:/a\xc0\x80\n\t":           "hdfs:/a\x00\n\t",
		"/\xed\xa0\xbd\xed\xb8\x80":     "/😀",
		"/\xed\xa0\xbd":                 "/\xed\xa0\xbd",
		strings.Repeat("x", maxString):  strings.Repeat("x", maxString),
		"/" + strings.Repeat("ü", 9000): "/" + strings.Repeat("ü", 9000),
	} {
		b := begin(3).i32(0).i32(0).u8(3).i32(0).longs(0).segment(stored, 0, 0, 1, stored).finish(3, inRawKeyedState)
		n := 0
		_, err := Decode(bytes.NewReader(b), func(r *Reference) error {
			n++
			if string(r.Path) != want || string(r.LogicalID) != want {
				t.Errorf("%.50q: %.50q, %.50q", stored, r.Path, r.LogicalID)
			}
			return nil
		})
		if err != nil || n != 1 {
			t.Errorf("%.50q: %v, %d references", stored, err, n)
		}
	}
	if got := binary.BigEndian.Uint32([]byte{0x49, 0x60, 0x67, 0x2d}); got != metadataMagic {
		t.Errorf("magic %#x", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := []string{
		File.String(), Relative.String(), Segment.String(), Directory.String(), Kind(0).String(),
		Exclusive.String(), Shared.String(), Scope(9).String(),
		UnknownSnapshot.String(), Checkpoint.String(), Savepoint.String(),
		NoFormat.String(), Canonical.String(), Native.String(),
	}
	want := "file relative segment directory unknown exclusive shared unknown unknown checkpoint savepoint  canonical native"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
}

package flink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"fsweep/proto/flinkmeta"
)

// metadata makes a _metadata file of version 3 with these stream handles as
// in-flight data of one subtask.
func metadata(handles ...[]byte) []byte {
	b := []byte("\x49\x60\x67\x2d\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01")
	b = append(b, make([]byte, 16)...)
	b = append(b, "\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00"...)
	b = append(b, make([]byte, 10)...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(handles)))
	for _, h := range handles {
		b = append(append(b, make([]byte, 24)...), h...)
	}
	return append(b, 0, 0, 0, 0)
}

func file(size int64, path string) []byte {
	b := binary.BigEndian.AppendUint64([]byte{2}, uint64(size))
	return append(binary.BigEndian.AppendUint16(b, uint16(len(path))), path...)
}

func segment(start, size int64, path string) []byte {
	b := binary.BigEndian.AppendUint64([]byte{15}, uint64(start))
	b = append(binary.BigEndian.AppendUint64(b, uint64(size)), 0, 0, 0, 0)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(path))), path...)
	return append(b, 0, 0)
}

func TestReadSums(t *testing.T) {
	t.Parallel()
	b := metadata(
		file(10, "/d/a"), file(10, "/d/a"), file(-1, "/d/b"), file(0, "/d/c"), // three files, one twice
		segment(0, 5, "/m/f"), segment(5, 7, "/m/f"), segment(5, 7, "/m/f"), segment(0, 1, "/m/g"),
		file(math.MaxInt64, "/big/a"), file(math.MaxInt64, "/big/b"),
	)
	n := 0
	m, err := Read(bytes.NewReader(b), "", func(*Ref) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := []Directory{
		{Path: "/big", References: 2, Files: 2, Bytes: math.MaxInt64},
		{Path: "/d", References: 4, Files: 3, Bytes: 10},
		{Path: "/m", References: 4, Files: 2, Bytes: 13},
	}
	if diff := cmp.Diff(want, m.Directories); diff != "" || m.References != 10 || n != 10 || m.Type != MetadataFile {
		t.Errorf("%d of %d references of %v\n%s", n, m.References, m.Type, diff)
	}
	if again, err := Read(iotest.OneByteReader(bytes.NewReader(b)), "", nil); err != nil || !cmp.Equal(m, again) {
		t.Errorf("byte by byte: %v %+v", err, again)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	whole := metadata(file(1, "/d/a"), file(2, "/d/b"))
	broken := errors.New("disk")
	for _, c := range []struct {
		name  string
		r     io.Reader
		fn    error
		want  error
		typ   Type
		found int64
	}{
		{name: "empty", r: strings.NewReader(""), want: flinkmeta.ErrTruncated},
		{name: "cut in the first bytes", r: bytes.NewReader(whole[:3]), want: flinkmeta.ErrTruncated},
		{name: "a text", r: strings.NewReader("hello"), want: flinkmeta.ErrNotMetadata},
		{name: "cut", r: bytes.NewReader(whole[:len(whole)-20]), want: flinkmeta.ErrTruncated, typ: MetadataFile, found: 1},
		{name: "too long", r: bytes.NewReader(append(slices.Clip(whole), 0)), want: flinkmeta.ErrCorrupt, typ: MetadataFile, found: 2},
		{name: "reader", r: iotest.ErrReader(broken), want: broken},
		{name: "reader later", r: io.MultiReader(bytes.NewReader(whole[:9]), iotest.ErrReader(broken)), want: broken, typ: MetadataFile},
		{name: "callback", r: bytes.NewReader(whole), fn: broken, want: broken, typ: MetadataFile, found: 1},
		{name: "pointers, cut", r: strings.NewReader("\xac\xed\x00\x05t\x00\x02/at\x00\x02/bt\x00"), want: flinkmeta.ErrTruncated, typ: PointerFile, found: 2},
		{name: "callback of pointers", r: strings.NewReader("\xac\xed\x00\x05t\x00\x02/at\x00\x02/b"), fn: broken, want: broken, typ: PointerFile, found: 1},
	} {
		m, err := Read(c.r, "", func(*Ref) error { return c.fn })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.fn != nil && err.Error() != c.fn.Error() {
			t.Errorf("%s: the error is %v", c.name, err)
		}
		if m.Type != c.typ || m.References != c.found {
			t.Errorf("%s: %d references of %v", c.name, m.References, m.Type)
		}
	}
}

// TestReadPointers: odd-paths.ser has Flink's own serialization of handles with
// names that need escapes.
func TestReadPointers(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../testdata/flink/odd-paths.ser")
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	m, err := Read(bytes.NewReader(b), "/r/"+run1+"/chk-5/completedCheckpoint1", func(r *Ref) error {
		if r.KindName() != "pointer" || r.Size != -1 {
			t.Errorf("%+v", r)
		}
		paths[string(r.Path)] = true
		return nil
	})
	if err != nil || m.Type != PointerFile || m.Run != "" {
		t.Errorf("%v, %+v", err, m)
	}
	for _, want := range []string{
		"hdfs://ns1:8020/flink/a%20b/f", "hdfs://ns1:8020/flink/a b/f", "hdfs://ns1:8020/flink/tab\tnl\n/f", "hdfs:/plain/100% a%20b",
	} {
		if !paths[want] {
			t.Errorf("%q is missing", want)
		}
	}
	for _, d := range m.Directories {
		if !strings.HasPrefix(d.Path, "hdfs:") || d.Side != SideUnknown || d.Relative || d.Bytes != 0 || d.Files == 0 {
			t.Errorf("%+v", d)
		}
	}
}

package flinkmeta

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// javaStreams gives what java.io.ObjectOutputStream wrote, by name, all shapes
// and the files of Flink.
func javaStreams(tb testing.TB) map[string][]byte {
	tb.Helper()
	streams := readArchive(tb, "java-streams.tar.gz")
	delete(streams, "JavaStreams.java")
	if len(streams) != 25 {
		tb.Fatalf("%d streams", len(streams))
	}
	names, files := samplePointers(tb)
	for _, name := range names {
		streams[name] = files[name]
	}
	b, err := os.ReadFile(filepath.Join(samplesDir, "odd-paths.ser"))
	if err != nil {
		tb.Fatal(err)
	}
	streams["odd-paths.ser"] = b
	return streams
}

// walk feeds b in pieces of some size.
func walk(b []byte, size int) error {
	w := newJavaWalk()
	for piece := range slices.Chunk(b, size) {
		w.feed(piece)
	}
	return w.end()
}

// TestJavaStreams: what Java wrote is whole to the exact end, in pieces of any
// size, and no part of it is.
func TestJavaStreams(t *testing.T) {
	t.Parallel()
	for name, b := range javaStreams(t) {
		cuts := map[int]bool{} // between the contents
		switch name {
		case "failed.ser":
			if err := walk(b, len(b)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "exception") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		case "several.ser":
			for _, n := range []int{10, 17, 100, 115, 116, 199} {
				cuts[n] = true
			}
		}
		for _, size := range []int{1, 3, 7, 1000, len(b)} {
			if err := walk(b, size); err != nil {
				t.Errorf("%s, in pieces of %d: %v", name, size, err)
			}
		}
		w := newJavaWalk()
		for n := range b {
			if err := w.end(); (err == nil) != cuts[n] || err != nil && !errors.Is(err, ErrTruncated) {
				t.Errorf("%s, %d of %d bytes: %v", name, n, len(b), err)
			}
			w.feed(b[n : n+1])
		}
		for _, more := range []string{"\x00", "x", "\x71\x00\x7f", "\xac\xed\x00\x05"} {
			requireClass(t, walk(slices.Concat(b, []byte(more)), len(b)))
		}
		if _, err := whole(b); err != nil {
			t.Errorf("%s: the other reader refuses it", name)
		}
	}
}

// stream is a stream of these elements: strings are as they are, numbers bytes.
func stream(elements ...any) []byte {
	b := []byte("\xac\xed\x00\x05")
	for _, e := range elements {
		switch e := e.(type) {
		case string:
			b = append(b, e...)
		case int:
			b = append(b, byte(e))
		}
	}
	return b
}

// class describes one without annotation, but for its superclass.
func class(name string, flags byte, fields string) string {
	b := new(encoder).u8(0x72).utf(name).i64(0).u8(flags).raw([]byte{0, byte(len(fields))})
	for _, code := range []byte(fields) {
		b.u8(code).utf("f")
		if code == 'L' || code == '[' {
			b.u8(0x74).utf("La;")
		}
	}
	return string(b.u8(0x78).b)
}

func ref(n int) string { return string(new(encoder).i32(0x7e0000 + int32(n)).b) }

func TestJavaWalk(t *testing.T) {
	t.Parallel()
	const null, empty = "\x70", "\x74\x00\x00"
	for _, tc := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", stream(), ErrTruncated},
		{"a reset and nothing", stream(0x79), ErrTruncated},
		{"null", stream(null), nil},
		{"other magic", []byte("\xac\xed\x00\x06\x70"), ErrCorrupt},
		{"no tag", stream(0x6f), ErrCorrupt},
		{"beyond the last tag", stream(0x7f), ErrCorrupt},
		{"an end of nothing", stream(0x78), ErrCorrupt},
		{"an exception", stream(null, 0x7b), ErrCorrupt},
		{"a reset", stream(empty, 0x79, null), nil},
		{"a handle before a reset", stream(empty, 0x79, 0x71, ref(0)), ErrCorrupt},
		{"a reset in an object", stream(0x73, class("C", 3, ""), null, 0x79, 0x78), ErrCorrupt},
		{"references", stream(empty, 0x71, ref(0)), nil},
		{"a reference too high", stream(empty, 0x71, ref(1)), ErrCorrupt},
		{"a reference too low", stream(empty, 0x71, ref(-1)), ErrCorrupt},
		{"blocks", stream(0x77, 2, "ab", 0x7a, "\x00\x00\x00\x01c", 0x77, 0), nil},
		{"a negative block", stream(0x7a, "\xff\xff\xff\xff"), ErrCorrupt},
		{"a long string", stream(0x7c, "\x00\x00\x00\x00\x00\x00\x00\x01a"), nil},
		{"a negative string", stream(0x7c, "\xff\xff\xff\xff\xff\xff\xff\xffa"), ErrCorrupt},
		{"an absurd string", stream(0x7c, "\x7f\xff\xff\xff\xff\xff\xff\xffa"), ErrTruncated},
		{"half a character", stream(0x74, "\x00\x01\xc3"), ErrCorrupt},
		{"a zero", stream(0x74, "\x00\x01\x00"), ErrCorrupt},
		{"an object", stream(0x73, class("C", 2, "IJL"), null, "12341234abcd", null), nil},
		{"data in place of a value", stream(0x73, class("C", 2, "L"), null, 0x77, 0), ErrCorrupt},
		{"primitive after object", stream(0x73, class("C", 2, "LI"), null, null, "1234"), ErrCorrupt},
		{"unknown type", stream(0x73, class("C", 2, "V"), null), ErrCorrupt},
		{"its own value", stream(0x73, class("C", 2, "L"), null, 0x71, ref(2)), nil},
		{"no class", stream(0x73, null), ErrCorrupt},
		{"a string as class", stream(empty, 0x73, 0x71, ref(0)), ErrCorrupt},
		{"an object as class", stream(0x73, class("C", 2, ""), null, 0x73, 0x71, ref(1)), ErrCorrupt},
		{"its own superclass", stream(0x73, class("C", 2, "B"), 0x71, ref(0), "bb"), ErrCorrupt},
		{"the class itself in its annotation", stream(0x73, class("C", 2, "")[:14], 0x73, 0x71, ref(0)), ErrCorrupt},
		{"superclasses", stream(0x73, class("C", 2, "B"), class("B", 2, ""), class("A", 3, "I"), null, "iiii", 0x78, "b"), nil},
		{"superclasses of another order", stream(0x73, class("C", 2, "B"), class("B", 2, ""), class("A", 3, "I"), null, "b", "iiii", 0x78), ErrCorrupt},
		{"externalizable", stream(0x73, class("C", 0x0c, ""), class("A", 2, "I"), null, 0x77, "\x01a", null, 0x78), nil},
		{"externalizable without blocks", stream(0x73, class("C", 4, ""), null, "a"), ErrUnsupported},
		{"an externalizable superclass", stream(0x73, class("C", 2, ""), class("A", 0x0c, ""), null), ErrCorrupt},
		{"fields of an externalizable", stream(class("C", 0x0c, "I"), null), ErrCorrupt},
		{"unknown flags", stream(class("C", 0x22, ""), null), ErrCorrupt},
		{"32,768 fields", stream(class("C", 2, "")[:13], 0x80, 0, 0x78, null), ErrCorrupt},
		{"no serializable class", stream(0x76, class("C", 0, ""), null), nil},
		{"an object of such", stream(0x73, class("C", 0, ""), null), ErrCorrupt},
		{"an enum", stream(0x7e, class("E", 0x12, ""), class("Enum", 0x12, ""), null, empty), nil},
		{"an enum with a number", stream(0x7e, class("E", 0x12, ""), null, null), ErrCorrupt},
		{"an enum of a class", stream(0x7e, class("C", 2, ""), null, empty), ErrCorrupt},
		{"an object of an enum", stream(0x73, class("E", 0x12, ""), null), ErrCorrupt},
		{"a class below an enum", stream(class("C", 2, ""), class("E", 0x12, ""), null), ErrCorrupt},
		{"a name that is a class", stream(class("C", 0, ""), null, 0x7e, class("E", 0x12, ""), null, 0x71, ref(0)), ErrCorrupt},
		{"an array", stream(0x75, class("[J", 2, ""), null, "\x00\x00\x00\x0212341234abcdefgh"), nil},
		{"an array of objects", stream(0x75, class("[La;", 2, ""), null, "\x00\x00\x00\x02", null, empty), nil},
		{"an array of nothing", stream(0x75, class("[", 2, ""), null, "\x00\x00\x00\x00"), ErrCorrupt},
		{"an array of void", stream(0x75, class("[V", 2, ""), null, "\x00\x00\x00\x00"), ErrCorrupt},
		{"a negative array", stream(0x75, class("[J", 2, ""), null, "\xff\xff\xff\xff"), ErrCorrupt},
		{"an absurd array", stream(0x75, class("[J", 2, ""), null, "\x7f\xff\xff\xff"), ErrTruncated},
		{"an absurd array of objects", stream(0x75, class("[[J", 2, ""), null, "\x7f\xff\xff\xff", null), ErrTruncated},
		{"an array that is none", stream(0x75, class("J", 2, ""), null, "\x00\x00\x00\x00"), ErrCorrupt},
		{"an object that is an array", stream(0x73, class("[J", 2, ""), null), ErrCorrupt},
		{"a proxy", stream(0x73, 0x7d, "\x00\x00\x00\x02\x00\x01I\x00\x01J", 0x78, class("Proxy", 2, "L"), null, null), nil},
		{"65,536 interfaces", stream(0x7d, "\x00\x01\x00\x00"), ErrCorrupt},
	} {
		got := walk(tc.b, len(tc.b))
		if !errors.Is(got, tc.want) || tc.want == nil && got != nil {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
		if got != nil {
			requireClass(t, got)
		}
		compareWalk(t, tc.b)
	}
}

// compareWalk requires the same of bytes in one piece and in many, and what the
// other reader says.
func compareWalk(t *testing.T, b []byte) (kinds []byte) {
	t.Helper()
	got := walk(b, max(1, len(b)))
	for _, size := range []int{1, 5} {
		if again := walk(b, size); fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%.200q: %v; in pieces of %d %v", b, got, size, again)
		}
	}
	kinds, err := whole(b)
	if (err == nil) != (got == nil) && !errors.Is(got, ErrUnsupported) {
		t.Errorf("%.200q: %v, by the other reader %v", b, got, err)
	}
	return kinds
}

// TestJavaWalkLimits: neither time nor memory is more than the file deserves.
//
// It is not parallel, so that what others allocate is not counted.
func TestJavaWalkLimits(t *testing.T) {
	repeat := strings.Repeat
	node, again := class("N", 2, "LL")+"\x70", "\x73\x71"+ref(0) // an object in the first field of another
	var hierarchy strings.Builder                                // none of its classes has data
	for range 20_000 {
		hierarchy.WriteString(class("", 2, ""))
	}
	for _, tc := range []struct {
		name string
		b    []byte
		want error
		most uint64
	}{
		{"deep", stream(0x73, node, repeat(again, maxWalkDepth-10), repeat("\x70", maxWalkDepth-8)), nil, 6 << 20},
		{"too deep", stream(0x73, node, repeat(again, maxWalkDepth)), ErrUnsupported, 6 << 20},
		{"wide", stream(repeat("\x74\x00\x00", 1<<20)), nil, 1 << 20},
		{"long", stream(0x75, class("[C", 2, ""), 0x70, "\x00\x80\x00\x00", repeat("12", 1<<23)), nil, 16 << 10},
		{"a hierarchy and many objects", stream(0x73, hierarchy.String(), 0x70, repeat(again, 200_000)), nil, 8 << 20},
		{"too many classes", stream(repeat(class("", 2, "")+"\x70", maxWalkClasses+1)), ErrUnsupported, 16 << 20},
	} {
		began := time.Now()
		var err error
		n := allocated(func() { err = walk(tc.b, 4096) })
		if !errors.Is(err, tc.want) || tc.want == nil && err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if took := time.Since(began); n > tc.most || took > mostTime {
			t.Errorf("%s: %d bytes allocated in %v", tc.name, n, took)
		}
	}
	w := newJavaWalk()
	w.handles, w.strings = maxWalkHandles-1, make([]uint64, maxWalkHandles/64+1)
	w.feed(stream("\x74\x00\x00"))
	if err := w.end(); err != nil {
		t.Error(err)
	}
	w.feed([]byte("\x74\x00\x00"))
	if err := w.end(); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}

// TestJavaStreamsChanged: after a change of a byte the stream is refused, or it
// is just as whole by the other reader: the byte was not of its structure or, at
// times, made another structure, like a value null that was an object before.
func TestJavaStreamsChanged(t *testing.T) {
	t.Parallel()
	const changes = randomChanges / 4 // of each of 23 streams
	streams := javaStreams(t)
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		b := streams[name]
		if len(b) > 10_000 || name == "failed.ser" { // those of Flink have a test of their own
			continue
		}
		kinds, _ := whole(b)
		r := rand.New(rand.NewPCG(5, uint64(len(b))))
		changed := bytes.Clone(b)
		var same [kindsOfBytes]int
		for n := range changes / raceFactor {
			i := r.IntN(len(b))
			changed[i] ^= byte(1 + r.IntN(255))
			err := walk(changed, len(b))
			other := err
			if n%10 == 0 || err == nil { // it is slow to refuse
				_, other = whole(changed)
			}
			switch {
			case (err == nil) != (other == nil):
				t.Errorf("%s, byte %d from %#x to %#x: %v; the other reader %v", name, i, b[i], changed[i], err, other)
			case err != nil:
				requireClass(t, err)
			default:
				same[kinds[i]]++
			}
			changed[i] = b[i]
		}
		if same[structure] > changes/100 {
			t.Errorf("%s: %d changes of the structure made no difference", name, same[structure])
		}
		t.Logf("%s: %d bytes, no error after changes of %v %v", name, len(b), kindNames, same)
	}
}

// FuzzJavaWalk compares with the other reader.
func FuzzJavaWalk(f *testing.F) {
	for _, b := range javaStreams(f) {
		if len(b) < 4000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<14 {
			return
		}
		began := time.Now()
		n := allocated(func() { _ = walk(b, len(b)+1) })
		if n > uint64(64*len(b))+2<<20 { // the fuzzing engine allocates too
			t.Errorf("%d bytes allocated %d", len(b), n)
		}
		if took := time.Since(began); took > mostTime {
			t.Errorf("%d bytes took %v", len(b), took)
		}
		compareWalk(t, b)
	})
}

// TestTextCheck: text in pieces is judged as text in one.
func TestTextCheck(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const hostile = "a\x00\x7f\x80\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xff"
	valid := 0
	for range 300_000 / raceFactor {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = hostile[r.IntN(len(hostile))]
		}
		var check textCheck
		cut := r.IntN(len(b) + 1)
		got := check.add(b[:cut]) && check.add(b[cut:]) && check.whole()
		if want := modifiedPrefix(b) == len(b); got != want {
			t.Fatalf("%q, cut at %d: %v, want %v", b, cut, got, want)
		}
		if got {
			valid++
		}
	}
	t.Logf("%d texts were valid", valid)
}

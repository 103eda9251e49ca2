package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// streamStrings gives where the tags of the strings are that the walk knows.
func streamStrings(b []byte) (at []int) {
	w := newJavaWalk()
	for i := range b {
		w.feed(b[i : i+1])
		if w.stringAt == int64(i) && i > 0 {
			at = append(at, i)
		}
	}
	return at
}

// TestStreamStrings compares with the other reader.
func TestStreamStrings(t *testing.T) {
	t.Parallel()
	for name, b := range javaStreams(t) {
		j := &javaSpec{b: b, kinds: make([]byte, len(b))}
		_ = j.read() // one has an error at its end
		if got := streamStrings(b); !slices.Equal(got, j.strings) {
			t.Errorf("%s: %v, want %v", name, got, j.strings)
		}
	}
}

// naivePointers finds what Pointers must find, by looking at every byte anew.
// flood: and then there is an error.
func naivePointers(b []byte) (found []string, flood bool) {
	known, output := streamStrings(b), 0
	for i := 4; i < len(b); i++ {
		var text []byte
		switch rest := b[i:]; {
		case rest[0] == 0x74 && len(rest) > 3:
			text = rest[3:]
			text = text[:min(len(text), int(binary.BigEndian.Uint16(rest[1:])))]
			if len(text) < int(binary.BigEndian.Uint16(rest[1:])) {
				continue
			}
		case rest[0] == 0x7c && len(rest) > 9:
			n := binary.BigEndian.Uint64(rest[1:])
			if n > min(maxLongString, uint64(len(rest)-9)) {
				continue
			}
			text = rest[9:][:n]
		}
		path, ok := appendModifiedUTF8(nil, text)
		if !ok || !absolutePath.Match(path) {
			continue
		}
		_, isString := slices.BinarySearch(known, i)
		if !isString && (flood || !naivePossible(b, i, text)) {
			continue
		}
		if !isString && output > firstOutput+maxOutput*i {
			flood = true
			continue
		}
		plain := escapes.ReplaceAllStringFunc(string(path), func(s string) string {
			b, _ := hex.DecodeString(s[1:])
			return string(b)
		})
		found = append(found, string(path))
		if !isString {
			output += len(path)
		}
		if plain != string(path) {
			found = append(found, plain)
			if !isString {
				output += len(plain)
			}
		}
	}
	return found, flood
}

var (
	absolutePath = regexp.MustCompile(`^(/|[A-Za-z][A-Za-z0-9+.-]{0,31}:/)`)
	escapes      = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	beforePath   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,31}:(//)?`)
	authority    = regexp.MustCompile(`^[^/]{0,320}/`)
)

func naivePossible(b []byte, i int, text []byte) bool {
	rest := text[len(beforePath.Find(text)):]
	if bytes.HasSuffix(beforePath.Find(text), []byte("//")) {
		if n := len(authority.Find(rest)); n > 0 {
			rest = rest[n-1:]
		}
	}
	if len(rest) <= 8000 {
		return true
	}
	end := i + bytes.Index(b[i:min(len(b), i+10+len(text))], text) + len(text)
	return countChars(b, end-len(rest), end) <= 8000 && !bytes.Contains(rest, []byte(":"))
}

// TestPointersNaive compares on streams that Java wrote, whole and damaged, and
// on text in which strings overlap.
func TestPointersNaive(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for name, b := range pointerFiles(t) {
		for range 12 {
			got, _ := damagedPointers(t, b)
			if want, _ := naivePointers(b); !slices.Equal(got, want) {
				t.Fatalf("%s: %q, want %q", name, got, want)
			}
			for range 50 {
				b[4+r.IntN(len(b)-4)] = "t/:\x00\xc3\xff"[r.IntN(6)]
			}
		}
	}
	pieces := []string{
		"t\x01/a:/", "t\x02\x01/", "tt/", "x:/", "\xc3\xa9", "%41", "t\x01\x02s3:/", "\xe2\x82\xac", "t  /", "x://", strings.Repeat("xé%a9", 40), // these are long
		"\xe2\x82", "t\x00",
	}
	for round, lengths := range []int{2, 0} {
		text := javaStream().b
		for i := range 10_000 / raceFactor {
			text = append(text, pieces[lengths+r.IntN(len(pieces)-2*min(1, i%500)-lengths)]...) // what ends a string is rare
		}
		got, err := damagedPointers(t, text)
		if want, _ := naivePointers(text); !slices.Equal(got, want) || len(got) < 100/raceFactor || err == nil {
			t.Errorf("round %d: %d found, want %d, %v", round, len(got), len(want), err)
		}
	}
}

// TestPointersSlow: the worst that a file can do is to start a long string at
// every few bytes.
func TestPointersSlow(t *testing.T) {
	t.Parallel()
	for text, few := range map[string]int{
		"t///": 0, "tt:/": 0, "t://a.b/": 0, "the/txt/to/": 0, "t\x1f//": 100, "t\x01//": 3000, "t\x01/s:/": 3000,
		"t///%2f%2f%2f": 100, "t///%E2%82%AC": 100, "t//a:/%E2%82%AC": 0, "t//%%%%%%%%": 0, "t///%80%80%80%80": 100,
	} {
		b := append(javaStream().b, bytes.Repeat([]byte(text), (1<<20)/raceFactor/len(text))...)
		began, n, output := time.Now(), 0, 0
		err := Pointers(bytes.NewReader(b), func(p []byte, _ int64) error {
			n++
			output += len(p)
			return nil
		})
		if took := time.Since(began); err == nil || took > mostTime/4 || raceFactor == 1 && n < few || output > firstOutput+maxOutput*len(b)+2*maxPathURI {
			t.Errorf("%q: %d strings, %d bytes in %v: %v", text, n, output, took, err)
		}
	}
}

// inArray gives a stream of a byte array and strings.
func inArray(b []byte, after ...string) []byte {
	s := new(encoder).raw(stream(0x75, class("[B", 2, ""), 0x70)).i32(int32(len(b))).raw(b)
	for _, a := range after {
		s.u8(0x74).utf(a)
	}
	return s.b
}

// TestPointersFlood: after too much that only looks like strings, the strings of
// the stream follow, and then an error.
func TestPointersFlood(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("t\x1f///"), 3000)
	after := []string{"/after", "/" + strings.Repeat("x", 60_000), "hdfs:/last%20one"}
	b := inArray(data, after...)
	found, err := damagedPointers(t, b)
	want := append(after[:3:3], "hdfs:/last one")
	var format *FormatError
	if !errors.Is(err, ErrUnsupported) || !errors.As(err, &format) || format.Offset < 500 || format.Offset > int64(len(data)) {
		t.Errorf("%v", err)
	}
	if n := len(found) - len(want); n < 100 || n > 200 || !slices.Equal(found[n:], want) {
		t.Errorf("%d found", len(found))
	}
	if naive, flood := naivePointers(b); !flood || !slices.Equal(found, naive) {
		t.Errorf("%d found, want %d", len(found), len(naive))
	}
	if found, err := damagedPointers(t, b[:len(b)-1]); !errors.Is(err, ErrTruncated) || len(found) < 100 {
		t.Errorf("cut: %v", err)
	}
	if found := pointers(t, inArray(data[:300], after...)); !slices.Equal(found[len(found)-4:], want) {
		t.Errorf("%.300q", found)
	}
}

// TestPointersInline: text full of URLs in a byte array, of which none is a path,
// in a stream that Java wrote.
func TestPointersInline(t *testing.T) {
	t.Parallel()
	want := []string{
		"file:/after/all%20that", "file:/after/all that",
		"/flink/" + strings.Repeat("n", 9000),
		"hdfs://ns/flink/checkpoints/chk-7/_metadata",
		"hdfs://ns/flink/ha/in%20array", "hdfs://ns/flink/ha/in array", "/in/array",
	}
	if got := pointers(t, javaStreams(t)["inline.ser"]); !slices.Equal(got, want) {
		t.Errorf("%.500q, want %.500q", got, want)
	}
}

// TestCountChars: of well-formed text as Java counts, else not more; and block by
// block the same.
func TestCountChars(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	for _, pieces := range [][]string{
		{"a", "/", "é", "€", "%20", "%2f", "%C3%A9", "%e2%82%ac", "\xed\xa0\xbd\xed\xb8\x80"},
		{"a", "%", "%2", "%zz", "%%41", "%80", "é", "%F0%9F%98%80", "/"},
	} {
		text := []byte("//")
		for len(text) < 40_000 {
			text = append(text, pieces[r.IntN(len(pieces))]...)
		}
		var c charCount
		for from := 2; from < len(text)-200; from += r.IntN(700) {
			end := min(len(text), from+200+r.IntN(30_000))
			n := countChars(text, from, end)
			if got := c.chars(text[from/3:], int64(from/3), from-from/3, end-from/3); got != n {
				t.Fatalf("%d to %d: %d, want %d", from, end, got, n)
			}
		}
		plain, _ := appendModifiedUTF8(nil, text[2:])
		units := len(utf16.Encode([]rune(string(appendUnescaped(nil, plain)))))
		if n := countChars(text, 2, len(text)); n > units || n != units && pieces[1] == "/" {
			t.Errorf("%d characters, want %d", n, units)
		}
	}
}

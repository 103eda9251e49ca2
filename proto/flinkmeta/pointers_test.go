package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// pointers gives what Pointers finds in a stream that is whole, in its order.
func pointers(tb testing.TB, b []byte) []string {
	tb.Helper()
	found, err := damagedPointers(tb, b)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// damagedPointers gives what Pointers finds, and the error that it then returns.
func damagedPointers(tb testing.TB, b []byte) (found []string, err error) {
	tb.Helper()
	err = Pointers(bytes.NewReader(b), func(p []byte, offset int64) error {
		if b[offset] != javaString && b[offset] != javaLongString {
			tb.Errorf("%q is not at %d", p, offset)
		}
		found = append(found, string(p))
		return nil
	})
	if err != nil {
		requireClass(tb, err)
	}
	return found, err
}

func samplePointers(tb testing.TB) (names []string, files map[string][]byte) {
	tb.Helper()
	files = readSamples(tb)
	for name := range files {
		if strings.HasPrefix(path.Base(name), "completedCheckpoint") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, files
}

func smallestPointer(tb testing.TB) (string, []byte) {
	tb.Helper()
	names, files := samplePointers(tb)
	name := slices.MinFunc(names, func(a, b string) int { return len(files[a]) - len(files[b]) })
	return name, files[name]
}

// TestPointersTruth: a pointer file names the _metadata file of its checkpoint
// and everything that this one refers to.
func TestPointersTruth(t *testing.T) {
	t.Parallel()
	names, files := samplePointers(t)
	if len(names) != 3 {
		t.Fatalf("%d samples", len(names))
	}
	for _, name := range names {
		found := pointers(t, files[name])
		pointer := slices.IndexFunc(found, func(p string) bool { return strings.HasSuffix(p, "/_metadata") })
		if pointer < 0 {
			t.Fatalf("%s: no _metadata in %q", name, found)
		}
		snapshot := strings.Join(strings.Split(name, "/")[:3], "/")
		_, below, _ := strings.Cut(found[pointer], "/flink/")
		metadata := files[snapshot+"/"+below]
		if metadata == nil { // the same bytes, kept once
			metadata = files["1.20.5/hdfs-ha-zk/c1/"+below]
		}
		if metadata == nil {
			t.Fatalf("%s: no sample of %s", name, found[pointer])
		}
		references := 0
		_, err := Decode(bytes.NewReader(metadata), func(r *Reference) error {
			want := string(r.Path)
			if r.Kind == Relative {
				want = path.Dir(found[pointer])[len("hdfs:/"):] + "/" + want
			}
			references++
			if !slices.ContainsFunc(found, func(p string) bool { return strings.HasSuffix(p, want) }) {
				t.Errorf("%s: %q is missing", name, r.Path)
			}
			return nil
		})
		if err != nil || references == 0 {
			t.Errorf("%s: %v, %d references", name, err, references)
		}
		t.Logf("%s: %d paths, all of the %d references of %s", name, len(found), references, below)
	}
}

// javaStream starts a stream with an object of a class with a strange name: of
// its structure nothing is right.
func javaStream() *encoder { return new(encoder).raw([]byte{0xac, 0xed, 0, 5, 0x73, 0x72}) }

func TestPointers(t *testing.T) {
	t.Parallel()
	long := "hdfs:/" + strings.Repeat("x", 70_000)
	longString := func(length uint64, s string) []byte {
		return append(binary.BigEndian.AppendUint64([]byte{0x7c}, length), s...)
	}
	tooLong := "/" + strings.Repeat("x", maxLongString)
	plain := "/" + strings.Repeat("x", maxPathChars-1)
	uri := "hdfs://" + strings.Repeat("h", maxAuthority)
	euro := "/" + strings.Repeat("€", maxPathChars-1)
	escaped := "hdfs:/" + strings.Repeat("%E2%82%aC", (maxString-9)/9)
	for _, tc := range []struct {
		name string
		b    []byte
		want []string
	}{
		{"none", javaStream().b, nil},
		{"a path", javaStream().u8(0x74).utf("/a").b, []string{"/a"}},
		{"a URI", javaStream().u8(0x74).utf("hdfs://h:8020/a").u8(0x74).utf("s3a+x-1.0:/b").b, []string{"hdfs://h:8020/a", "s3a+x-1.0:/b"}},
		{"no paths", javaStream().u8(0x74).utf("Ljava/lang/String;").u8(0x74).utf("a:b").u8(0x74).utf("1s:/a").u8(0x74).utf(":/a").u8(0x74).utf("").b, nil},
		{"scheme too long", javaStream().u8(0x74).utf(strings.Repeat("s", maxScheme+1) + ":/a").u8(0x74).utf(strings.Repeat("s", maxScheme) + ":/a").b, []string{strings.Repeat("s", maxScheme) + ":/a"}},
		{"escapes", javaStream().u8(0x74).utf("hdfs:/a%20b%25%2").b, []string{"hdfs:/a%20b%25%2", "hdfs:/a b%%2"}},
		{"a sign that escapes nothing", javaStream().u8(0x74).utf("/100%/x%zz%").b, []string{"/100%/x%zz%"}},
		{"modified UTF-8", javaStream().u8(0x74).utf("/\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbdé").b, []string{"/\x00😀\xed\xa0\xbdé"}},
		{"not UTF-8", javaStream().u8(0x74).utf("/a\xff").u8(0x74).utf("/a\x00").u8(0x74).utf("/b\xc3").u8(0x74).utf("/c").b, []string{"/c"}},
		{"longer than the file", javaStream().u8(0x74).utf("/c").raw([]byte{0x74, 0, 9, '/', 'x'}).b, []string{"/c"}},
		{"8,000 characters", javaStream().u8(0x74).utf(plain).u8(0x74).utf(plain + "x").u8(0x74).utf("/c").b, []string{plain, "/c"}},
		{"8,000 after an authority", javaStream().u8(0x74).utf(uri + plain).u8(0x74).utf(uri + plain + "x").u8(0x74).utf(uri + "h" + plain).b, []string{uri + plain}},
		{"8,000 of three bytes", javaStream().u8(0x74).utf(euro).u8(0x74).utf(euro + "x").b, []string{euro}},
		{"escapes of three bytes", javaStream().u8(0x74).utf(escaped).b, []string{escaped, "hdfs:/" + strings.Repeat("€", (maxString-9)/9)}},
		{"colons", javaStream().u8(0x74).utf(plain[:7998] + ":é").u8(0x74).utf(plain[:7997] + ":é").b, []string{plain[:7997] + ":é"}},
		{"65,535 bytes", javaStream().u8(0x74).utf(long[:65535]).u8(0x74).utf("/c").b, []string{"/c"}},
		{"a long string", javaStream().raw(longString(2, "/a")).raw(longString(uint64(len(long)), long)).u8(0x74).utf("/c").b, []string{"/a", "/c"}},
		{"too long a string", javaStream().raw(longString(uint64(len(tooLong)), tooLong)).u8(0x74).utf("/c").b, []string{"/c"}},
		{"an absurd length", javaStream().raw(longString(1<<63, "/x")).u8(0x74).utf("/c").b, []string{"/c"}},
		{"in the text of another", javaStream().u8(0x74).utf("/at\x02\x02/" + strings.Repeat("y", 0x201)).b, []string{"/at\x02\x02/" + strings.Repeat("y", 0x201), "/" + strings.Repeat("y", 0x201)}},
	} {
		got, whole := damagedPointers(t, tc.b)
		if whole == nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, %.300q, want %.300q", tc.name, whole, got, tc.want)
		}
		var slow []string
		err := Pointers(iotest.HalfReader(bytes.NewReader(tc.b)), func(p []byte, _ int64) error {
			slow = append(slow, string(p))
			clear(p) // it is the callback's until it returns
			return nil
		})
		if err == nil || err.Error() != whole.Error() || !slices.Equal(slow, tc.want) {
			t.Errorf("%s, in halves: %v, %.300q", tc.name, err, slow)
		}
	}
}

func TestPointersErrors(t *testing.T) {
	t.Parallel()
	none := func([]byte, int64) error { return nil }
	for b, want := range map[string]error{"": ErrTruncated, "\xac\xed\x00": ErrTruncated, "I`g-\x00\x00\x00\x06": ErrNotMetadata} {
		err := Pointers(strings.NewReader(b), none)
		requireClass(t, err)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v", b, err)
		}
	}
	stop := errors.New("stop")
	calls := 0
	b := javaStream().u8(0x74).utf("/a%20b").u8(0x74).utf("/c").b
	for limit := 1; limit <= 3; limit++ {
		calls = 0
		if err := Pointers(bytes.NewReader(b), func([]byte, int64) error {
			if calls++; calls == limit {
				return stop
			}
			return nil
		}); err != stop || calls != limit { //nolint:errorlint // that very error, unchanged
			t.Errorf("%v after %d calls", err, calls)
		}
	}
	broken := errors.New("disk on fire")
	for _, n := range []int64{0, 3, 5, 9} {
		err := Pointers(&failing{bytes.NewReader(b[:n]), broken}, none)
		var format *FormatError
		if !errors.Is(err, broken) || errors.As(err, &format) {
			t.Errorf("%v", err)
		}
	}
}

// failing reads, then fails.
type failing struct {
	r   *bytes.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.r.Len() == 0 {
		return 0, f.err
	}
	return f.r.Read(p)
}

// TestOddPointers: a stream that Flink's FileStateHandle wrote, with names that
// its URIs escape, or do not. Pointers and Search both find every path.
func TestOddPointers(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(samplesDir, "odd-paths.ser"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{
		"a b", "100%", "%41", "é", "\u00a0nbsp", "😀", "#?[]{}|/^`\"<>", "tab\tnl\n", "\x01", "~!$&'()*+,;=:@", "\ufffd\u2028", "plus+",
	} {
		paths = append(paths, "/flink/"+name+"/f")
	}
	paths = append(paths, "/plain/100% a%20b")
	found, s := pointers(t, b), mustSearch(t, paths...)
	searched := hits(t, s, bytes.NewReader(b))
	for i, p := range paths {
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasSuffix(f, p) }) {
			t.Errorf("Pointers did not find %q", p)
		}
		if !slices.ContainsFunc(searched, func(h hit) bool { return h.needle == i }) {
			t.Errorf("Search did not find %q", p)
		}
	}
}

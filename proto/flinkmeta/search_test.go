package flinkmeta

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

// hit is one call of a Search's callback.
type hit struct {
	needle int
	offset int64
}

func compareHits(a, b hit) int {
	if a.offset != b.offset {
		return int(a.offset - b.offset)
	}
	return a.needle - b.needle
}

func mustSearch(tb testing.TB, needles ...string) *Search {
	tb.Helper()
	all := make([][]byte, len(needles))
	for i, n := range needles {
		all[i] = []byte(n)
	}
	s, err := NewSearch(all)
	if err != nil {
		tb.Fatal(err)
	}
	for _, n := range all {
		clear(n) // they are not kept
	}
	return s
}

func hits(tb testing.TB, s *Search, r io.Reader) (all []hit) {
	tb.Helper()
	err := s.Read(r, func(needle int, offset int64) error {
		all = append(all, hit{needle, offset})
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.SortFunc(all, compareHits)
	return all
}

// naive finds with bytes.Index what a Search must find.
func naive(haystack []byte, needles ...string) (all []hit) {
	for i, needle := range needles {
		for _, form := range forms([]byte(needle)) {
			for at := 0; ; at++ {
				next := bytes.Index(haystack[at:], form)
				if next < 0 {
					break
				}
				at += next
				all = append(all, hit{i, int64(at)})
			}
		}
	}
	slices.SortFunc(all, compareHits)
	return all
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		haystack string
		needles  []string
		want     []hit
	}{
		{"", []string{"a"}, nil},
		{"abc", nil, nil},
		{"aaaa", []string{"aa", "a", "aa", "aaaaa"}, []hit{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}, {1, 3}}},
		{"ushers", []string{"he", "she", "his", "hers"}, []hit{{1, 1}, {0, 2}, {3, 2}}},
		{"x/a b%/x/a%20b%25/", []string{"/a b%/"}, []hit{{0, 1}, {0, 8}}},
		{"/é/%C3%A9/", []string{"/é/"}, []hit{{0, 0}, {0, 3}}},
		{"/😀/\xed\xa0\xbd\xed\xb8\x80/%F0%9F%98%80/", []string{"/😀/"}, []hit{{0, 0}, {0, 5}, {0, 12}}},
		{"a\x00b a\xc0\x80b a%00b", []string{"a\x00b"}, []hit{{0, 0}, {0, 4}, {0, 9}}},
		{"é%C2%A0x", []string{"é\u00a0x"}, []hit{{0, 0}}},
		{"raw \xff\xfe name", []string{"\xff\xfe"}, []hit{{0, 4}}},
		{"\x00\x00x", []string{"\x00", "\x00\x00", "\x00\x00\x00x", "\x00x", strings.Repeat("\x00", 9)}, []hit{{0, 0}, {1, 0}, {0, 1}, {3, 1}}},
		{strings.Repeat("\x00", 9), []string{strings.Repeat("\x00", 8), strings.Repeat("\x00", 9), strings.Repeat("\x00", 10)}, []hit{{0, 0}, {1, 0}, {0, 1}}},
		{"/e\u0301/%C3%A9/%65%CC%81/e%CC%81", []string{"/e\u0301"}, []hit{{0, 0}, {0, 21}}}, // not as toASCIIString has it
	} {
		s := mustSearch(t, tc.needles...)
		for _, r := range []io.Reader{strings.NewReader(tc.haystack), iotest.OneByteReader(strings.NewReader(tc.haystack)), iotest.DataErrReader(strings.NewReader(tc.haystack))} {
			if got := hits(t, s, r); !slices.Equal(got, tc.want) {
				t.Errorf("%q in %q: %v, want %v", tc.needles, tc.haystack, got, tc.want)
			}
		}
	}
}

// TestSearchProperty compares with bytes.Index on texts of few different bytes,
// where needles overlap, contain each other and fall on borders of buffers.
func TestSearchProperty(t *testing.T) {
	t.Parallel()
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	text := func(n int, alphabet string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	for round := range 2000 / raceFactor {
		alphabet := []string{"ab", "abc", "a/ %2", "\x00\xc0\x80\xed\xf0"}[round%4]
		haystack := []byte(text(1+r.IntN(400), alphabet))
		needles := make([]string, 1+r.IntN(30))
		for i := range needles {
			if from := r.IntN(len(haystack)); r.IntN(2) == 0 {
				needles[i] = string(haystack[from:min(len(haystack), from+1+r.IntN([]int{20, 200}[r.IntN(2)]))])
			} else {
				needles[i] = text(1+r.IntN(8), alphabet)
			}
		}
		want, s := naive(haystack, needles...), mustSearch(t, needles...)
		if got := hits(t, s, bytes.NewReader(haystack)); !slices.Equal(got, want) {
			t.Fatalf("seed %d, round %d: %q in %q:\ngot  %v\nwant %v", seed, round, needles, haystack, got, want)
		}
		if got := hits(t, s, iotest.HalfReader(bytes.NewReader(haystack))); !slices.Equal(got, want) {
			t.Fatalf("seed %d, round %d: in halves", seed, round)
		}
	}
}

func TestSearchErrors(t *testing.T) {
	t.Parallel()
	if _, err := NewSearch([][]byte{[]byte("a"), {}}); err == nil || !strings.Contains(err.Error(), "needle 1") {
		t.Errorf("an empty needle: %v", err)
	}
	if _, err := NewSearch([][]byte{make([]byte, maxNeedleBytes+1)}); err == nil {
		t.Error("too many bytes of needles")
	}
	if _, err := NewSearch([][]byte{make([]byte, maxNeedle+1)}); err == nil || !strings.Contains(err.Error(), "needle 0") {
		t.Errorf("a needle too long: %v", err)
	}
	many := slices.Repeat([][]byte{bytes.Repeat([]byte{'a'}, maxNeedle)}, maxNeedleBytes/maxNeedle)
	if _, err := NewSearch(append(many, []byte("b"))); err != errTooManyNeedles { //nolint:errorlint // that very error
		t.Errorf("64 MiB and a byte: %v", err)
	}
	many[len(many)-1] = bytes.Repeat([]byte{' '}, maxNeedle/3)
	if _, err := NewSearch(many); err != errTooManyNeedles { //nolint:errorlint // that very error
		t.Errorf("64 MiB with the other forms: %v", err)
	}
	s, stop, broken := mustSearch(t, "a"), errors.New("stop"), errors.New("disk on fire")
	if err := s.Read(strings.NewReader("xa"), func(int, int64) error { return stop }); err != stop { //nolint:errorlint // that very error, unchanged
		t.Error(err)
	}
	if err := s.Read(&failing{bytes.NewReader([]byte("x")), broken}, nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := s.Read(idle{}, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	if err := s.Read(boastful{}, nil); err == nil {
		t.Error("a reader may not claim more than it was given")
	}
}

// TestSearchConcurrent: one Search, many readers.
func TestSearchConcurrent(t *testing.T) {
	t.Parallel()
	names, files := sampleNames(t)
	needles := []string{"/shared/", "hdfs:", "file:"}
	s := mustSearch(t, needles...)
	var wg sync.WaitGroup
	for _, name := range names[:20] {
		wg.Go(func() {
			if got, want := hits(t, s, bytes.NewReader(files[name])), naive(files[name], needles...); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		})
	}
	wg.Wait()
}

func sampleNames(tb testing.TB) ([]string, map[string][]byte) {
	tb.Helper()
	files := readSamples(tb)
	return sampleMetadata(files), files
}

// TestSearchAgrees: in every sample the search finds the path of each absolute
// reference and the base name of each relative one, among the needles of all
// samples together.
func TestSearchAgrees(t *testing.T) {
	t.Parallel()
	names, files := sampleNames(t)
	index, needles := map[string]int{}, []string{}
	wants := map[string][]int{}
	for _, name := range names {
		_, err := Decode(bytes.NewReader(files[name]), func(r *Reference) error {
			needle := string(r.Path)
			if r.Kind == Relative {
				needle = path.Base(needle)
			}
			if _, ok := index[needle]; !ok {
				index[needle] = len(needles)
				needles = append(needles, needle)
			}
			wants[name] = append(wants[name], index[needle])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s := mustSearch(t, needles...)
	checked := 0
	for _, name := range names {
		found := map[int]bool{}
		for _, h := range hits(t, s, bytes.NewReader(files[name])) {
			found[h.needle] = true
		}
		for _, want := range wants[name] {
			if checked++; !found[want] {
				t.Errorf("%s: %q not found", name, needles[want])
			}
		}
	}
	t.Logf("%d needles, %d references found", len(needles), checked)
}

func manyNeedles(tb testing.TB, n int) *Search {
	tb.Helper()
	return mustSearch(tb, runPaths(n)...)
}

// runPaths gives paths of runs, some named by a UUID and some by a job id.
func runPaths(n int) []string {
	paths := make([]string, n)
	for i := range paths {
		id := uuid(rand.New(rand.NewPCG(uint64(i), 0)))
		if i%2 == 0 {
			id = strings.ReplaceAll(id, "-", "")
		}
		paths[i] = fmt.Sprintf("/flink/checkpoints/job%d/%s", i, id)
	}
	return paths
}

func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

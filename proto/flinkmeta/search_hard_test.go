package flinkmeta

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unsafe"
)

// TestSearchOrder: by end; of one end the longer first; of equal ones the lower.
func TestSearchOrder(t *testing.T) {
	t.Parallel()
	const text = "a12345678901234567890b"
	needles := []string{"890", "1234567890", "890", "0", "345678901234567890", "567890", "234567890", "1234567890", "67890b"}
	var got []string
	err := mustSearch(t, needles...).Read(strings.NewReader(text), func(needle int, offset int64) error {
		got = append(got, fmt.Sprint(needle, " ", offset))
		return nil
	})
	want := []string{
		"1 1", "7 1", "6 2", "5 5", "0 8", "2 8", "3 10",
		"4 3", "1 11", "7 11", "6 12", "5 15", "0 18", "2 18", "3 20", "8 16",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
}

// TestSearchBorders: needles at every position around the end of what is read at
// a time, one of the greatest length among them, and readers of all kinds.
func TestSearchBorders(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxy", maxNeedle/35-1) + "/needle-at-end"
	needles := []string{"needle", "e", long, long[5:], long[len(long)-300:], "needle-at-end", "eedle-at", "-at-end"}
	for _, some := range [][]string{needles[:2], needles} {
		s := mustSearch(t, some...)
		border := searchBuffer // of the first piece; the next ones end at all places
		for at := border - 8; at < border+8; at++ {
			haystack := make([]byte, at+100)
			copy(haystack[at:], "needle-at-end")
			copy(haystack[max(0, at+13-len(long)):], long)
			want := naive(haystack, some...)
			if got := hits(t, s, bytes.NewReader(haystack)); !slices.Equal(got, want) || len(got) < len(some) {
				t.Errorf("at %d: %v, want %v", at, got, want)
			}
		}
	}
	s := mustSearch(t, needles...)
	haystack := []byte(strings.Repeat("x"+long, 5))
	want := naive(haystack, needles...)
	for name, r := range map[string]io.Reader{
		"bytes":  iotest.OneByteReader(bytes.NewReader(haystack)),
		"halves": iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(haystack))),
	} {
		if got := hits(t, s, r); !slices.Equal(got, want) {
			t.Errorf("in %s: %d hits, want %d", name, len(got), len(want))
		}
	}
}

// TestSearchMany: few bytes of memory for each of many needles, and all found.
//
// It is not parallel, so that what others allocate is not counted.
func TestSearchMany(t *testing.T) {
	n := 100_000 / raceFactor
	needles := make([][]byte, n)
	text := []byte("xx hdfs:")
	for i, needle := range runPaths(n) {
		needles[i] = []byte(needle)
		text = append(append(text, needle...), ',')
	}
	var s *Search
	began := time.Now()
	allocated := allocated(func() { s, _ = NewSearch(needles) })
	took := time.Since(began)
	size := 0
	for i := range s.tables {
		table := &s.tables[i]
		size += 8*cap(table.filter) + 4*cap(table.buckets) + 8*cap(table.hashes) + int(unsafe.Sizeof(searchForm{}))*cap(table.forms) + 4*cap(table.needles)
	}
	if size > 40*n || allocated > uint64(3*len(text)) {
		t.Errorf("%d bytes for %d needles, %d allocated", size, n, allocated)
	}
	found := 0
	if err := s.Read(bytes.NewReader(text), func(needle int, offset int64) error {
		if needle != found || !bytes.HasPrefix(text[offset:], needles[needle]) {
			t.Fatalf("needle %d at %d", needle, offset)
		}
		found++
		return nil
	}); err != nil || found != n {
		t.Errorf("%v, %d found", err, found)
	}
	t.Logf("%d needles: %.1f bytes each beside their own, made in %v", n, float64(size)/float64(n), took)
}

// TestSearchSlow: needles and files made to cost much. A file that ends a needle
// at every byte costs the comparison of it at every byte, not one for each needle.
func TestSearchSlow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	repeat := func(n int, needle func(i int) string) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = needle(i)
		}
		return all
	}
	bits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(r.IntN(2))
		}
		return string(b)
	}
	const size = 1 << 18
	for _, tc := range []struct {
		name     string
		needles  []string
		haystack string
	}{
		{"the same end", repeat(100_000, func(i int) string { return fmt.Sprintf("/%d/shared/taskowned", i) }), strings.Repeat("askowned/taskowned", size/18)},
		{"the same long end", repeat(1000, func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", 3000) }), strings.Repeat("x", size)},
		{"and another", append(repeat(1000, func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", 500) }), "zxxxxxxxx"), strings.Repeat("x", size/2)},
		{"longer and longer", repeat(2000, func(i int) string { return "b" + strings.Repeat("a", 8+i) }), strings.Repeat("a", size)},
		{"two letters", repeat(20_000, func(i int) string { return bits(40) }), bits(size)},
		{"one very long", []string{"b" + strings.Repeat("a", maxNeedle-1)}, strings.Repeat("a", size/16)},
		{"found everywhere", repeat(8, func(i int) string { return strings.Repeat("a", 1+4*i) }), strings.Repeat("a", size)},
		{"equal", slices.Repeat([]string{"/some/path/of/a/run"}, 100_000), strings.Repeat("/some/path/of/a/ran", size/19)},
		{"short", repeat(100, func(i int) string { return "0123456"[:1+i%7] + "#" }), strings.Repeat("0123456", size/7)},
	} {
		s, n := mustSearch(t, tc.needles...), 0
		haystack := tc.haystack[:len(tc.haystack)/raceFactor]
		var err error
		took := cpuTime(func() {
			err = s.Read(strings.NewReader(haystack), func(int, int64) error { n++; return nil })
		})
		if err != nil || took > mostTime {
			t.Errorf("%s: %d hits in %v: %v", tc.name, n, took, err)
		} else {
			t.Logf("%s: %d hits in %v", tc.name, n, took)
		}
	}
}

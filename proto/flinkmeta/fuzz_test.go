package flinkmeta

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/iotest"
	"time"
)

// FuzzDecode: an error of a class and with a place, or references that stand in
// the file as they are; never more memory or time than the file deserves.
func FuzzDecode(f *testing.F) {
	for _, b := range kindsOfFiles(f) {
		if len(b) < 6000 {
			f.Add(b)
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		began := time.Now()
		var got result
		n := allocated(func() { got = decodeHash(b) })
		if n > mostBytes+1<<20 { // the fuzzing engine allocates too
			t.Errorf("%d bytes allocated %d", len(b), n)
		}
		if took := time.Since(began); took > mostTime {
			t.Errorf("%d bytes took %v", len(b), took)
		}
		if got.err != nil {
			requireClass(t, got.err)
		} else if got.info.Size != int64(len(b)) {
			t.Errorf("%d of %d bytes", got.info.Size, len(b))
		}
		references := int64(0)
		_, err := Decode(iotest.HalfReader(bytes.NewReader(b)), func(r *Reference) error {
			references++
			if !bytes.HasPrefix(b[r.Offset:], encodeReference(r)) {
				t.Errorf("%s is not at %d", line(r), r.Offset)
			}
			return nil
		})
		if (err == nil) != (got.err == nil) || err != nil && err.Error() != got.err.Error() || references != got.info.References {
			t.Errorf("in halves: %v, %d references; want %v, %d", err, references, got.err, got.info.References)
		}
	})
}

// FuzzPointers: every path stands in the file after its tag and length, and all
// that do are found, whether the file is whole or not.
func FuzzPointers(f *testing.F) {
	_, b := smallestPointer(f)
	f.Add(b)
	f.Add(b[:6000])
	f.Add(javaStream().u8(0x74).utf("hdfs:/a%20b/\xc0\x80").raw([]byte{0x7c, 0, 0, 0, 0, 0, 0, 0, 2, '/', 'a'}).b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		began := time.Now()
		var whole, halves []string
		collect := func(to *[]string) func([]byte, int64) error {
			return func(p []byte, at int64) error {
				*to = append(*to, string(p))
				if tag := b[at]; tag != javaString && tag != javaLongString {
					t.Errorf("%q at %d after %#x", p, at, tag)
				}
				return nil
			}
		}
		err := Pointers(bytes.NewReader(b), collect(&whole))
		again := Pointers(iotest.HalfReader(bytes.NewReader(b)), collect(&halves))
		if fmt.Sprint(err) != fmt.Sprint(again) || !slices.Equal(whole, halves) {
			t.Errorf("%v, %q; in halves %v, %q", err, whole, again, halves)
		}
		if err != nil {
			requireClass(t, err)
		}
		if !bytes.HasPrefix(b, []byte("\xac\xed\x00\x05")) {
			if err == nil || whole != nil {
				t.Errorf("%v, %q", err, whole)
			}
		} else if want, flood := naivePointers(b); len(b) < 1<<16 && (!slices.Equal(whole, want) || flood && err == nil) {
			t.Errorf("%q, want %q", whole, want)
		}
		if took := time.Since(began); took > mostTime {
			t.Errorf("%d bytes took %v", len(b), took)
		}
	})
}

// FuzzSearch compares with bytes.Index.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("hdfs:/a/b%20c"), "/a/", "b c", "a")
	f.Add([]byte("aaaa\xc0\x80\x00"), "aa", "a\x00", "aa")
	f.Add([]byte("/a/shared/b /a/shared/taskowned"), "a/shared", "/shared/", "x/a/shared")
	f.Add(bytes.Repeat([]byte("ab"), 50), "abababab", "babababababababa", "abababababababab")
	f.Add([]byte("😀%F0%9F%98%80"), "😀", "/", "\xff")
	f.Fuzz(func(t *testing.T, haystack []byte, a, b, c string) {
		if a == "" || b == "" || c == "" || len(haystack) > 1<<16 {
			return
		}
		want, s := naive(haystack, a, b, c), mustSearch(t, a, b, c)
		if got := hits(t, s, bytes.NewReader(haystack)); !slices.Equal(got, want) {
			t.Errorf("%q, %q, %q in %q: %v, want %v", a, b, c, haystack, got, want)
		}
		if got := hits(t, s, iotest.HalfReader(bytes.NewReader(haystack))); !slices.Equal(got, want) {
			t.Errorf("%q, %q, %q in halves of %q: %v, want %v", a, b, c, haystack, got, want)
		}
		// And across the end of what is read at a time.
		before := max(0, searchBuffer+s.longest-2-len(haystack)/2)
		across := append(bytes.Repeat([]byte{0xfe}, before), haystack...)
		if got, want := hits(t, s, bytes.NewReader(across)), naive(across, a, b, c); !slices.Equal(got, want) {
			t.Errorf("%q, %q, %q after %d bytes in %q: %d hits, want %d", a, b, c, before, haystack, len(got), len(want))
		}
	})
}

package extsort

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type pair struct{ key, rest []byte }

func comparePairs(a, b pair) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return bytes.Compare(a.rest, b.rest)
}

func drain(t *testing.T, s *Sorter) (out []pair) {
	t.Helper()
	r, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	for {
		key, rest, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if _, _, again, _ := r.Next(); again {
				t.Fatal("more behind the end")
			}
			return out
		}
		out = append(out, pair{bytes.Clone(key), bytes.Clone(rest)})
	}
}

// TestSorter: whatever the order and the number of runs, records come out sorted and as
// they went in, each time that they are read, and nothing is left in the directory.
func TestSorter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 2, 500, 5000} {
		for _, writers := range []int{1, 3} {
			for _, limit := range []int{1, 1 << 10, 1 << 30} {
				dir := t.TempDir()
				s := New(Options{Dir: dir, Writers: writers, Limit: limit})
				var want []pair
				lead := make([]byte, r.IntN(20)*r.IntN(2)) // of all keys
				for range n {
					p := pair{make([]byte, len(lead)+r.IntN(20)), make([]byte, r.IntN(1000)*r.IntN(2))}
					for i := range p.key[len(lead):] {
						p.key[len(lead)+i] = byte(r.IntN(3)) // many are equal, or begin like others
					}
					for i := range p.rest {
						p.rest[i] = byte(r.Uint32())
					}
					if err := s.Writer(r.IntN(writers)).Add(p.key, p.rest); err != nil {
						t.Fatal(err)
					}
					want = append(want, p)
				}
				if err := s.Finish(); err != nil {
					t.Fatal(err)
				}
				if left, _ := os.ReadDir(dir); len(left) > 0 || n >= 500 && (s.file != nil) != (limit < 1<<30) {
					t.Errorf("%d records, limit %d: %v in the directory, file %v", n, limit, left, s.file != nil)
				}
				slices.SortFunc(want, comparePairs)
				for range 2 {
					got := drain(t, s)
					if !slices.EqualFunc(got, want, func(a, b pair) bool { return comparePairs(a, b) == 0 }) {
						t.Fatalf("%d records, %d writers, limit %d: others come out", n, writers, limit)
					}
				}
				s.Close()
				s.Close()
			}
		}
	}
}

// TestErrors: no room to sort, and a file that somebody damages.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "missing")
	s := New(Options{Dir: dir, Limit: 1})
	_ = s.Writer(0).Add([]byte("a"), nil)
	err := s.Writer(0).Add([]byte("b"), nil)
	if temp, ok := errors.AsType[*TempError](err); !ok || temp.Dir != dir || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for at := range int64(45) {
		s := New(Options{Dir: t.TempDir(), Limit: 1})
		for i := range 3 {
			if err := s.Writer(0).Add(fmt.Appendf(nil, "key%d", i), []byte("rest")); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		if at+4 > s.end {
			t.Fatal("the records are shorter")
		}
		if _, err := s.file.WriteAt(bytes.Repeat([]byte{0xff}, 4), at); err != nil {
			t.Fatal(err)
		}
		r, err := s.Read()
		for more := true; err == nil && more; { // an error or an end, and no panic
			_, _, more, err = r.Next()
		}
		if err == nil && at%16 < 8 {
			t.Errorf("damage at %d was not noticed", at)
		}
		s.Close()
	}
}

// TestUnpackerShort: of what is too short come zeros.
func TestUnpackerShort(t *testing.T) {
	t.Parallel()
	b := AppendBool(AppendSigned(AppendBytes(nil, "name"), -5, 1<<62), true)
	r := Unpacker{b}
	if string(r.Bytes()) != "name" || r.Signed() != -5 || r.Signed() != 1<<62 || !r.Bool() || len(r.Rest) > 0 {
		t.Error("not what went in")
	}
	for n := range b {
		r := Unpacker{b[:n:n]}
		_, _, _, _, _, _ = r.Bytes(), r.Signed(), r.Unsigned(), r.Fixed(), r.Byte(), r.Len()
		if len(r.Rest) > n {
			t.Error(n)
		}
	}
}

package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// testSpool has three sweeps whose order is not that of their paths alone.
func testSpool(dir string, workers, limit int) *spool {
	s := newSpool(dir, workers)
	s.path = func(n int) (cleanup.Path, error) {
		return []cleanup.Path{"/a-b/shared", "/a/shared", "/a/taskowned"}[n], nil
	}
	s.limit(limit)
	return s
}

func drain(t *testing.T, s *spool) (out []swept) {
	t.Helper()
	m, err := s.merge()
	if err != nil {
		t.Fatal(err)
	}
	for {
		r, more, err := m.peek()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return out
		}
		if again, _, _ := m.peek(); again != r {
			t.Fatal("peek goes on")
		}
		out = append(out, *r)
		m.next()
	}
}

// TestSpool: whatever the order and the number of runs, records come out sorted and
// as they went in, and nothing is left in the directory.
func TestSpool(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 2, 500, 5000} {
		for _, workers := range []int{1, 3} {
			for _, limit := range []int{1, 1 << 10, 1 << 30} {
				dir := t.TempDir()
				s := testSpool(dir, workers, limit)
				var want []swept
				for i := range n {
					w := swept{sweep: r.IntN(3), facts: fileFacts{
						id: r.Uint64(), parent: uint64(i), parentDir: namespace.Dir(r.Uint32()), length: r.Int64(), space: -r.Int64(), mtime: r.Int64(), atime: int64(-i),
						permission: fsimage.Permission(r.Uint64()), moved: namespace.Moved{Usage: namespace.Usage{Namespace: -1, Space: r.Int64(), Type: namespace.TypeSpace{1, -2, 3, 4, r.Int64()}}, Freed: r.Int64(), Held: 7},
					}}
					d, name := []string{"", "x/", "x-y/", "x/y/"}[r.IntN(4)], fmt.Sprintf("%x\xff", r.IntN(1<<20))
					w.path = pathOf(s, w.sweep, d+name)
					if err := s.worker(r.IntN(workers)).add(w.sweep, []byte(d), []byte(name), &w.facts); err != nil {
						t.Fatal(err)
					}
					want = append(want, w)
				}
				if err := s.finish(); err != nil {
					t.Fatal(err)
				}
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("%d records, limit %d: %v in the directory", n, limit, left)
				}
				got := drain(t, s)
				slices.SortFunc(want, func(a, b swept) int { return strings.Compare(string(a.path), string(b.path)) })
				if len(got) != len(want) {
					t.Fatalf("%d records, want %d", len(got), len(want))
				}
				for i := range got {
					// Equal paths, which are none in an image, may come in any order.
					if got[i].path != want[i].path || !slices.ContainsFunc(want, func(w swept) bool { return w == got[i] }) {
						t.Fatalf("record %d: %+v, want %+v", i, got[i], want[i])
					}
				}
				s.close()
				s.close()
			}
		}
	}
}

func pathOf(s *spool, sweep int, rel string) planfile.Path {
	path, _ := s.path(sweep)
	return planfile.Path(string(path) + "/" + rel)
}

// TestSpoolErrors: no room to sort.
func TestSpoolErrors(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "missing")
	s := testSpool(dir, 1, 1)
	w := s.worker(0)
	_ = w.add(0, nil, []byte("a"), &fileFacts{})
	err := w.add(0, nil, []byte("b"), &fileFacts{})
	if temp, ok := errors.AsType[*TempError](err); !ok || temp.Dir != dir || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

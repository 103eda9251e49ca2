package flink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
	"fsweep/fsimage/imagetest"
)

// flat is a root in which savepoints and jobs stand side by side.
func flat(t *testing.T) (*namespace.Tree, []Declaration) {
	t.Helper()
	it := imagetest.NewTree()
	for i := range 50 {
		plant(it, fmt.Sprintf("/r/savepoint-012345-%012x/_metadata", i), fmt.Sprintf("/r/job-%02d/%s/_metadata", i, sp1), fmt.Sprintf("/r/job-%02d/%s/_metadata", i, sp2))
	}
	plant(it, "/r/savepoint-012345-000000000007/odd/", "/r/job-03/stray", "/r/out/"+sp1+"/_metadata")
	return load(t, it), []Declaration{decl(Savepoints, "/r", exclude("out"))}
}

// TestEachAgain: jobs come in the order of names, what is not grouped one by one, and the
// same each time, whether there is room in memory or not.
func TestEachAgain(t *testing.T) {
	t.Parallel()
	tree, decls := flat(t)
	want, err := Discover(t.Context(), tree, decls, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 1} {
		s, err := Look(t.Context(), tree, decls, Options{SortLimit: limit, TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var names []string
			alone := &Job{}
			var jobs []*Job
			err := s.Each(t.Context(), func(_ *Root, j *Job) error {
				if j.Grouped() {
					names = append(names, j.Name)
					jobs = append(jobs, j)
					return nil
				}
				if n := len(j.Units); n > 1 || n == 0 && len(names) > 0 {
					t.Errorf("%d units at once", n)
				}
				units := append(alone.Units, j.Units...)
				*alone = *j
				alone.Units = units
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(names) || len(names) != 51 || len(alone.Units) != 50 {
				t.Errorf("%d units, jobs %q", len(alone.Units), names)
			}
			if diff := gocmp.Diff(want.Roots[0].Jobs, append([]*Job{alone}, jobs...)); diff != "" {
				t.Error(diff)
			}
			var guards []Guard
			if err := s.EachGuard(t.Context(), func(g *Guard, path []byte) error {
				if got := want.AppendPath(nil, g); string(got) != string(path) {
					t.Errorf("%s: %s", path, got)
				}
				guards = append(guards, *g)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want.Guards, guards); diff != "" || len(guards) != 151 {
				t.Errorf("%d guards: %s", len(guards), diff)
			}
		}
		s.Close()
	}
}

// TestEachPart: a job in parts is the one that comes whole. Its units are never more than
// asked for, and what nobody knows in it comes with the last part only.
func TestEachPart(t *testing.T) {
	t.Parallel()
	it := imagetest.NewTree()
	for i, n := range []int{0, 1, 2, 3, 7, 8} {
		job := it.Dir(fmt.Sprintf("/r/job %d", i))
		for k := range n {
			run := it.DirIn(job, fmt.Sprintf("%032x", k+1))
			for c := range k % 3 {
				it.FileIn(it.DirIn(run, fmt.Sprintf("chk-%d", c+1)), "_metadata", 10)
			}
			if k%4 == 1 {
				it.FileIn(run, "odd", 1)
			}
		}
	}
	s, err := Look(t.Context(), load(t, it), []Declaration{decl(JobRun, "/r")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var want []*Job
	if err := s.Each(t.Context(), func(_ *Root, j *Job) error {
		want = append(want, j)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{1, 2, 3, 100} {
		var got []*Job
		var units []*Unit
		parts := 0
		err := s.EachPart(t.Context(), most, func(_ *Root, j *Job, more bool) error {
			parts++
			units = append(units, j.Units...)
			if len(j.Units) > most || more && (len(j.Units) == 0 || j.NumUnknown > 0) {
				t.Errorf("%d units, %d unknown, more: %v", len(j.Units), j.NumUnknown, more)
			}
			if !more {
				j.Units = units
				got, units = append(got, j), nil
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" || len(got) != 6 || (parts > 6) != (most < 100) {
			t.Errorf("%d jobs in %d parts: %s", len(got), parts, diff)
		}
	}
	stop := errors.New("stop")
	n := 0
	err = s.EachPart(t.Context(), 1, func(_ *Root, _ *Job, more bool) error {
		if n++; more {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 { // the third job is the first of two parts
		t.Error(err, n)
	}
}

// TestEachErrors: what ends it is given back, and no room to sort is an error of Look.
func TestEachErrors(t *testing.T) {
	t.Parallel()
	tree, decls := flat(t)
	if _, err := Look(t.Context(), tree, decls, Options{SortLimit: 1, TempDir: "/nowhere/at/all"}); err == nil {
		t.Error("sorted nowhere")
	} else if _, ok := errors.AsType[*extsort.TempError](err); !ok {
		t.Error(err)
	}
	s, err := Look(t.Context(), tree, decls, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stop := errors.New("stop")
	n := 0
	err = s.Each(t.Context(), func(*Root, *Job) error {
		if n++; n == 7 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 7 {
		t.Error(err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Each(ctx, func(*Root, *Job) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.EachGuard(t.Context(), func(*Guard, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestStoredOrder: the checkpoints of a run come in one order whether they are stored or not,
// also where a broken image has two directories of one name. Of those the last comes first,
// and is the newest.
func TestStoredOrder(t *testing.T) {
	t.Parallel()
	it := imagetest.NewTree()
	run := it.Dir("/r/job/" + runA)
	var twins []uint64
	for k := range 60 {
		c := it.DirIn(run, fmt.Sprintf("chk-%d", k%20))
		it.FileIn(c, "_metadata", uint64(k+1))
		if k%20 == 19 {
			twins = append(twins, c.ID)
		}
	}
	tree, seen := load(t, it), []string(nil)
	for _, limit := range []int{0, 7} {
		s, err := Look(t.Context(), tree, []Declaration{decl(JobRun, "/r")}, Options{SortLimit: limit, TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.EachPart(t.Context(), 1000, func(_ *Root, j *Job, _ bool) error {
			for _, u := range j.Units {
				if stored := u.Stored != nil; stored != (limit > 0) {
					t.Errorf("stored: %v", stored)
				}
				var all []string
				last := int64(20)
				if err := u.EachCheckpoint(func(c *Checkpoint) error {
					if c.N > last || c.Metadata == nil {
						t.Errorf("chk-%d behind chk-%d: %+v", c.N, last, c.Metadata)
					}
					last = c.N
					all = append(all, fmt.Sprint(c.N, c.INodeID, c.Metadata.Length))
					return nil
				}); err != nil {
					return err
				}
				if len(all) != 60 || seen != nil && !slices.Equal(all, seen) {
					t.Errorf("limit %d: %q, and before %q", limit, all, seen)
				}
				seen = all
				if n := u.NewestComplete(); n.N != 19 || !slices.Contains(twins, n.INodeID) || seen[0] != fmt.Sprint(n.N, n.INodeID, n.Metadata.Length) {
					t.Errorf("limit %d: the newest is %+v, of %q", limit, n, seen)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}

package analyze

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// eachImage opens the images of testdata that are not packed.
func eachImage(t *testing.T, fn func(t *testing.T, name string, im *fsimage.Image)) {
	t.Helper()
	names, err := filepath.Glob("../testdata/images/*/*/fsimage_*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no images: %v", err)
	}
	for _, name := range names {
		if filepath.Ext(name) != "" || strings.Contains(name, "big50k") {
			continue
		}
		t.Run(strings.TrimPrefix(filepath.Dir(name), "../testdata/images/"), func(t *testing.T) {
			t.Parallel()
			im, err := fsimage.OpenFile(name)
			if err != nil {
				t.Fatal(err)
			}
			defer im.Close()
			fn(t, name, im.Image)
		})
	}
}

// TestSumsAgree requires that every way to add up the live files gives the same.
func TestSumsAgree(t *testing.T) {
	t.Parallel()
	eachImage(t, func(t *testing.T, name string, im *fsimage.Image) {
		r, tree, err := Load(t.Context(), im, Options{Image: name, Workers: 3, Top: 10})
		if err != nil {
			t.Fatal(err)
		}
		for what, rows := range map[string][]OwnerRow{"users": r.Users, "groups": r.Groups} {
			var sum Totals
			for i := range rows {
				sum.add(&rows[i].Totals)
			}
			if diff := gocmp.Diff(r.Totals, sum); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		want := PolicyRow{Files: r.Totals.Files, Length: r.Totals.Length, SpaceConsumed: r.Totals.SpaceConsumed}
		for what, rows := range map[string][]PolicyRow{"storage policies": r.StoragePolicy, "erasure coding": r.ErasureCoding} {
			var sum PolicyRow
			for i := range rows {
				sum.add(&rows[i])
			}
			if diff := gocmp.Diff(want, sum); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		again, err := storagePoliciesAgain(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(again, r.StoragePolicy); diff != "" {
			t.Errorf("storage policies (one file at a time, from the tree): %s", diff)
		}
	})
}

// TestWorkers requires the same report from any number of workers.
func TestWorkers(t *testing.T) {
	t.Parallel()
	eachImage(t, func(t *testing.T, name string, im *fsimage.Image) {
		one, _, err := Load(t.Context(), im, Options{Image: name, Workers: 1, Top: 5})
		if err != nil {
			t.Fatal(err)
		}
		many, _, err := Load(t.Context(), im, Options{Image: name, Workers: 8, Top: 5})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(one, many); diff != "" {
			t.Error(diff)
		}
	})
}

// storagePoliciesAgain asks for the policy of one file after the other.
func storagePoliciesAgain(ctx context.Context, t *namespace.Tree) ([]PolicyRow, error) {
	sums := policySums{}
	err := t.EachINode(ctx, 1, func(_ int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			if e.INode.Type == fsimage.FileType {
				sums.at(e.StoragePolicy()).add(&PolicyRow{Files: 1, Length: e.Length(), SpaceConsumed: e.SpaceConsumed()})
			}
			return nil
		})
	})
	return policyRows(sums), err
}

func TestTopN(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed seed on purpose
	for n := range 20 {
		var all []ranked
		top := topN{n: n}
		for i := range 50 {
			r := ranked{id: uint64(i), value: rng.Int64N(10)}
			all = append(all, r)
			top.offer(r)
		}
		slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.id, b.id)) })
		slices.SortFunc(top.all, ranked.compare)
		if !slices.Equal(top.all, all[:n]) {
			t.Errorf("%d: got %v, want %v", n, top.all, all[:n])
		}
	}
}

func TestNameFinding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		want bool
	}{
		{"fsimage_0000000000000000007", false},
		{"/a/fsimage_0000000000000000008", true},
		{"fsimage_8.copy", true},
		{"fsimage_7.gz", false},
		{"fsimage", false},
		{"fsimage_", false},
		{"fsimage_x", false},
		{"other_8", false},
		{"fsimage_99999999999999999999999", false},
	} {
		if _, got := NameFinding(c.name, 7); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCharge(t *testing.T) {
	t.Parallel()
	if _, ok := charge(5, -1).Percent(); ok {
		t.Error("a share of no quota")
	}
	if _, ok := charge(5, 0).Percent(); ok {
		t.Error("a share of nothing")
	}
	c := charge(30, 20)
	if p, ok := c.Percent(); !ok || p != 150 || c.Left() != -10 {
		t.Errorf("%v %v %v", p, ok, c.Left())
	}
}

// TestParallel: an error and a panic of any goroutine reach the caller.
func TestParallel(t *testing.T) {
	if err := parallel(3, func(int) error { return nil }); err != nil {
		t.Error(err)
	}
	bad := errors.New("bad")
	if err := parallel(3, func(i int) error { return map[int]error{1: bad}[i] }); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	defer func() {
		if v := recover(); v != "bug" {
			t.Errorf("recovered %v", v)
		}
	}()
	_ = parallel(3, func(i int) error {
		if i == 2 {
			panic("bug")
		}
		return nil
	})
}

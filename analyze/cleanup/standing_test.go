package cleanup

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"fsweep/analyze/flink"
)

// TestRanking: a ranking knows the places of the units that it holds, which are the first
// and all that are as new as the last of these, as if all were sorted.
func TestRanking(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(newSeed(t), 7))
	over := 0
	for range 3000 {
		var all []ranked
		values := 1 + r.Int64N(12)
		for i := range 1 + r.IntN(25) {
			all = append(all, ranked{Stamp: flink.Stamp{Ms: r.Int64N(values) - 3, Place: flink.FilePlace}, nth: uint32(i)})
		}
		l := ranking{n: 1 + r.IntN(8)}
		for _, i := range r.Perm(len(all)) {
			l.add(all[i])
		}
		s := standing{metadata: l}
		s.finish()
		l = s.metadata
		slices.SortFunc(all, func(x, y ranked) int { return cmp.Or(cmp.Compare(y.Ms, x.Ms), cmp.Compare(x.nth, y.nth)) })
		last := all[min(l.n, len(all))-1].Ms
		for i, x := range all {
			place, ok := l.place(x.Ms, x.nth)
			if want := i < l.n || x.Ms == last; ok != want || ok && place != i {
				t.Fatalf("%v of %v, first %d: place %d, %v", x, all, l.n, place, ok)
			}
		}
		over += len(l.over)
		if l.last() != last || (len(l.over) > 0) != (len(all) > l.n && all[l.n].Ms == last) {
			t.Fatalf("%v of %v: last %d", l, all, l.last())
		}
	}
	if over < 3000 {
		t.Errorf("%d equal ones", over)
	}
}

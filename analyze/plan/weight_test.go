package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
)

// TestPackMoved: what a move changes is unpacked as it was packed, and no more is taken
// from the record than was put there.
func TestPackMoved(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	number := func() int64 {
		switch r.IntN(5) {
		case 0:
			return int64(r.Uint64())
		case 1:
			return []int64{math.MinInt64, math.MaxInt64, -1, 1}[r.IntN(4)]
		}
		return 0
	}
	usage := func() (u namespace.Usage) {
		u.Namespace, u.Space = number(), number()
		for i := range u.Type {
			u.Type[i] = number()
		}
		return u
	}
	for range 5000 {
		m, there := namespace.Moved{Usage: usage(), Freed: number(), Held: number(), Undeletable: r.IntN(2) == 0}, usage()
		record := append(packMoved([]byte("before"), &m, &there), "behind"...)
		u := extsort.Unpacker{Rest: record[len("before"):]}
		var gotM namespace.Moved
		gotThere := usage()
		unpackMoved(&u, &gotM, &gotThere)
		if gotM != m || gotThere != there || string(u.Rest) != "behind" || string(record[:6]) != "before" {
			t.Fatalf("%+v and %+v became %+v and %+v, %q is left", m, there, gotM, gotThere, u.Rest)
		}
	}
}

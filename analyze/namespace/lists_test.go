package namespace

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLists compares lists with a map of slices, with ids that come in any order and
// again later, as in an image that contradicts itself.
func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Uint64Range(1, 50), rapid.Uint64()), 1, 40, rapid.ID).Draw(t, "ids")
		adds := rapid.SliceOfN(rapid.SampledFrom(known), 0, 3*listChunk).Draw(t, "adds")
		var b listBuilder[int]
		want := map[uint64][]int{}
		for i, id := range adds {
			b.add(id, i)
			want[id] = append(want[id], i)
		}
		l := b.lists()
		var ids []uint64
		got := map[uint64][]int{}
		for id, list := range l.each() {
			ids = append(ids, id)
			got[id] = list
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if !slices.Equal(ids, slices.Sorted(maps.Keys(want))) || l.len() != len(want) {
			t.Fatalf("ids %d, %d of them; want %d", ids, l.len(), len(want))
		}
		for _, id := range append(known, 0, math.MaxUint64) {
			if !slices.Equal(l.of(id), want[id]) {
				t.Fatalf("%d: %d, want %d", id, l.of(id), want[id])
			}
		}
	})
}

package check

import (
	"math/rand/v2"
	"testing"
)

// TestIndex holds an index against a map, with ids that repeat, stand side by side and
// differ in high bits only.
func TestIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, room := range []int{0, 1, 50, 100_000} {
		var ids []uint64
		x, want := newIndex(room, func(i int32) uint64 { return ids[i] }), map[uint64]int32{}
		for range 20_000 {
			id := []uint64{random.Uint64N(8_000), 1<<40 + 4*random.Uint64N(9_000), random.Uint64N(200) << 56, random.Uint64()}[random.IntN(4)]
			i := int32(len(ids))
			ids = append(ids, id)
			x.add(i)
			want[id] = i
		}
		if x.n != len(want) {
			t.Fatalf("%d ids, want %d", x.n, len(want))
		}
		for id := range want {
			if i, ok := x.find(id); !ok || i != want[id] {
				t.Fatalf("id %d is at %d, %t, want %d", id, i, ok, want[id])
			}
		}
		for range 20_000 {
			id := random.Uint64N(40_000)
			i, ok := x.find(id)
			if at, there := want[id]; ok != there || ok && i != at {
				t.Fatalf("id %d is at %d, %t, want %d, %t", id, i, ok, at, there)
			}
		}
	}
}

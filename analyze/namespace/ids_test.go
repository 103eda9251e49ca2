package namespace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// idSetOf makes a set of a list of ids, which may hold repetitions.
func idSetOf(ids []uint64) *idSet {
	b := newIDBuilder()
	for _, id := range ids {
		b.add(id)
	}
	return newIDSet(b)
}

// checkIDs builds the set of ids, which may hold repetitions, and compares it
// with a sorted slice.
func checkIDs(t *testing.T, r *rand.Rand, ids []uint64) {
	t.Helper()
	model := slices.Clone(ids)
	slices.Sort(model)
	model = slices.Compact(model)
	for name, s := range map[string]*idSet{"alone": idSetOf(ids), "together": sharedIDs(ids)} {
		if s.len != len(model) {
			t.Fatalf("%s: %d ids, want %d", name, s.len, len(model))
		}
		for i, id := range model {
			if rank, ok := s.rank(id); !ok || rank != uint32(i) {
				t.Fatalf("%s: rank of %d is %d, %v; want %d", name, id, rank, ok, i)
			}
		}
		next := uint32(0)
		for rank, id := range s.all() {
			if rank != next || int(rank) >= len(model) || id != model[rank] {
				t.Fatalf("%s: all gives %d as number %d", name, id, rank)
			}
			next++
		}
		if int(next) != len(model) {
			t.Fatalf("%s: all gives %d ids, want %d", name, next, len(model))
		}
		absent := func(id uint64) {
			if _, ok := slices.BinarySearch(model, id); ok {
				return
			}
			if _, ok := s.rank(id); ok {
				t.Fatalf("%s: %d is in the set", name, id)
			}
		}
		for _, id := range []uint64{0, 1, math.MaxUint64, 1 << 63, 1<<63 - 1, 1 << 16, 1<<16 - 1, 1 << 48} {
			absent(id)
		}
		for range min(2*len(model), rounds(5000)) {
			id := model[r.IntN(len(model))]
			for _, d := range []uint64{1, 2, 63, 64, 65, 511, 1 << 16, 1 << 20, 1 << 60} {
				absent(id - d)
				absent(id + d)
			}
			absent(r.Uint64())
		}
	}
}

// sharedIDs builds a set of what several builders have, as Load does.
func sharedIDs(ids []uint64) *idSet {
	const workers = 3
	builders := make([]*idBuilder, workers)
	for w := range builders {
		builders[w] = newIDBuilder()
		for _, id := range ids[len(ids)*w/workers : len(ids)*(w+1)/workers] {
			builders[w].add(id)
		}
	}
	return newIDSet(builders...)
}

func TestIDSet(t *testing.T) {
	r := newRand(t, 20260401)
	for _, start := range []uint64{0, 1, 16385, 1<<16 - 3, 1 << 32, 1<<63 - 1_000_000, 1<<63 - 10, 1<<64 - 700_000} {
		for _, sparse := range []uint64{1, 4, 300, 70_000} {
			for _, n := range []int{1, 2, 100, 2000} {
				t.Run(fmt.Sprint(start, sparse, n), func(t *testing.T) {
					var ids []uint64
					for i := range uint64(n) {
						ids = append(ids, start+i*sparse+r.Uint64N(sparse)) // near 2^64 they wrap around
					}
					for range n / 3 {
						ids = append(ids, ids[r.IntN(n)])
					}
					r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
					checkIDs(t, r, ids)
				})
			}
		}
	}
}

// TestIDSetBorders: the first and last id of chunks, words and ranks, and chunks
// that just are, or just are not, bitmaps.
func TestIDSetBorders(t *testing.T) {
	r := newRand(t, 20260402)
	for _, base := range []uint64{0, 5 << chunkBits, (1<<48 - 3) << chunkBits} {
		for name, low := range map[string][]uint64{
			"first":       {0},
			"last":        {65535},
			"both":        {0, 65535},
			"two chunks":  {65535, 65536},
			"neighbours":  {0, 1, 63, 64, 65, 127, 128, 511, 512, 513, 65534, 65535, 65536, 131071, 131072},
			"one repeats": {7, 7, 7, 7},
			"nothing":     {},
		} {
			var ids []uint64
			for _, l := range low {
				ids = append(ids, base+l)
			}
			if len(ids) == 0 {
				if s := idSetOf(nil); s.len != 0 {
					t.Error("an empty set has ids")
				} else if _, ok := s.rank(base); ok {
					t.Error("an empty set knows an id")
				}
				continue
			}
			t.Run(name, func(t *testing.T) { checkIDs(t, r, ids) })
		}
		for _, n := range []int{arrayMax - 1, arrayMax, arrayMax + 1, 65535, 65536} {
			perm := r.Perm(1 << chunkBits)
			var ids []uint64
			for _, l := range perm[:n] {
				ids = append(ids, base+uint64(l))
			}
			checkIDs(t, r, ids)
			checkIDs(t, r, append(ids, ids[:10]...))                   // with repetitions that make it a bitmap
			checkIDs(t, r, append(ids, base+3<<chunkBits, base+1<<40)) // and far neighbours
		}
	}
}

// TestIDSetMemory: memory follows the ids that are there, wherever they are.
func TestIDSetMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	const n = 300_000
	r := newRand(t, 20260403)
	for _, c := range []struct {
		sparse uint64
		most   float64 // bytes an id
	}{{1, 0.2}, {4, 0.7}, {15, 2.2}, {300, 2.4}, {10_000, 7}, {70_000, 45}, {1 << 40, 45}} {
		for _, start := range []uint64{16385, 1<<63 - n*c.sparse} {
			ids := make([]uint64, n)
			for i := range ids {
				ids[i] = start + uint64(i)*c.sparse + r.Uint64N(c.sparse)
			}
			s := idSetOf(ids)
			size := cap(s.keys)*8 + cap(s.chunks)*int(unsafe.Sizeof(chunk{})) + cap(s.dense)*4 + cap(s.bitmap)*8 + cap(s.ranks)*2 + cap(s.array)*2
			if per := float64(size) / n; per > c.most {
				t.Errorf("one id in %d from %d on: %.2f bytes an id, at most %.1f", c.sparse, start, per, c.most)
			}
		}
	}
}

func TestBitSet(t *testing.T) {
	r := newRand(t, 3)
	for _, n := range []int{1, 31, 32, 33, 1000} {
		b := newBitSet(n)
		model := map[uint32]bool{}
		for range 2 * n {
			i := uint32(r.IntN(n))
			if had := b.add(i); had != model[i] {
				t.Fatalf("%d was there: %v, want %v", i, had, model[i])
			}
			model[i] = true
		}
		for i := range uint32(n) {
			if b.has(i) != model[i] {
				t.Fatalf("has(%d) is %v", i, b.has(i))
			}
		}
		if b.len() != len(model) {
			t.Errorf("len %d, want %d", b.len(), len(model))
		}
		other, both := newBitSet(n), 0
		for range n {
			i := uint32(r.IntN(n))
			if !other.addShared(i) && model[i] {
				both++
			}
		}
		all := b.len() + other.len() - both
		if had := b.addAll(other); had != both || b.len() != all {
			t.Errorf("addAll: %d were there, %d are now; want %d, %d", had, b.len(), both, all)
		}
	}
}

func TestKeepSet(t *testing.T) {
	r := newRand(t, 4)
	var empty keepSet
	if empty.has(0) || empty.has(16385) {
		t.Error("an empty set keeps")
	}
	for _, n := range []int{1, 10, 5000} {
		model := map[uint64]bool{}
		var ids []uint64
		for range n {
			id := 16385 + r.Uint64N(uint64(4*n))
			if r.IntN(10) == 0 {
				id = r.Uint64()
			}
			ids, model[id] = append(ids, id, id), true
		}
		k := newKeepSet(ids)
		for i := range uint64(5 * n) {
			if k.has(16385+i) != model[16385+i] {
				t.Fatalf("has(%d) is %v", 16385+i, !model[16385+i])
			}
		}
		for id := range model {
			if !k.has(id) {
				t.Fatalf("%d is missing", id)
			}
		}
	}
}

func TestNames(t *testing.T) {
	r := newRand(t, 5)
	var all names
	var wants []string
	var at []uint32
	writers := []nameWriter{{to: &all}, {to: &all}}
	for range 3000 {
		n := r.IntN(40)
		if r.IntN(100) == 0 {
			n = maxNameLen - r.IntN(3)
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		wants = append(wants, string(b))
		at = append(at, writers[r.IntN(2)].add(b))
	}
	for i, want := range wants {
		if got := string(all.get(at[i])); got != want {
			t.Fatalf("name %d of %d bytes came back as one of %d", i, len(want), len(got))
		}
	}
}

// TestRankCache: a cache answers what the set itself answers, whatever it was asked
// before, for chunks of both forms and ids that are in no chunk.
func TestRankCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newIDBuilder()
		first := rapid.SampledFrom([]uint64{16385, 1<<40 + 77, math.MaxUint64 - 30<<chunkBits}).Draw(t, "first")
		step := rapid.SampledFrom([]uint64{1, 3, 200}).Draw(t, "step")
		count := rapid.Uint64Range(1, 20_000).Draw(t, "count")
		for k := range uint64(4) { // far apart, so that the cache has to let some go
			for i := range count {
				b.add(first + k<<(chunkBits+3) + i*step)
			}
		}
		s := newIDSet(b)
		c := rankCache{set: s}
		ids := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(first, first+30<<chunkBits)), 1, 300).Draw(t, "ids")
		for _, id := range ids {
			want, ok := s.rank(id)
			got, found := c.rank(id)
			if found != ok || ok && got != want {
				t.Fatalf("%d: %d, %v, want %d, %v", id, got, found, want, ok)
			}
		}
	})
}

package namespace

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// bitSet is a set of small numbers.
type bitSet []uint64

func newBitSet(n int) bitSet { return make(bitSet, (n+63)/64) }

// add adds i and tells whether it was there already.
func (b bitSet) add(i uint32) bool {
	w, m := &b[i/64], uint64(1)<<(i%64)
	had := *w&m != 0
	*w |= m
	return had
}

// addShared is add for several goroutines at once.
func (b bitSet) addShared(i uint32) bool {
	m := uint64(1) << (i % 64)
	return atomic.OrUint64(&b[i/64], m)&m != 0
}

// privateSeen is up to how many bytes each goroutine has a set of its own, which is
// faster than one for all: a quarter of what a worker may have.
const privateSeen = 4 << 20

// seenSet is the set that one goroutine adds to, its own or one for all.
type seenSet struct {
	bitSet
	shared bool
}

// newSeenSets makes sets of numbers below n for so many goroutines.
func newSeenSets(goroutines, n int) []seenSet {
	sets := make([]seenSet, goroutines)
	shared := goroutines > 1 && n/8 > privateSeen
	for i := range sets {
		if sets[i].shared = shared; i > 0 && shared {
			sets[i].bitSet = sets[0].bitSet
		} else {
			sets[i].bitSet = newBitSet(n)
		}
	}
	return sets
}

func (s seenSet) add(i uint32) bool {
	if s.shared {
		return s.addShared(i)
	}
	return s.bitSet.add(i)
}

// joined gives the union of sets that newSeenSets made, and how many numbers
// stood in several of them.
func joined(sets []seenSet) (all bitSet, repeated int) {
	all = sets[0].bitSet
	for _, s := range sets[1:] {
		if !s.shared {
			repeated += all.addAll(s.bitSet)
		}
	}
	return all, repeated
}

// addAll adds another set of as many numbers and tells how many it had already.
func (b bitSet) addAll(o bitSet) int {
	had := 0
	for i, w := range o {
		had += bits.OnesCount64(b[i] & w)
		b[i] |= w
	}
	return had
}

// len counts the members.
func (b bitSet) len() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitSet) has(i uint32) bool { return b[i/64]>>(i%64)&1 == 1 }

// keepSet holds the few inodes that must be kept whole; a small filter answers
// for nearly all others.
type keepSet struct {
	ids    []uint64 // sorted
	filter []uint64
	shift  uint
}

// newKeepSet sorts ids.
func newKeepSet(ids []uint64) keepSet {
	k := keepSet{}
	if len(ids) == 0 {
		return k
	}
	bits := uint(10)
	for 1<<bits < 16*len(ids) && bits < 30 {
		bits++
	}
	slices.Sort(ids)
	k.ids = slices.Clone(slices.Compact(ids)) // without the room for repetitions
	k.filter, k.shift = make([]uint64, 1<<bits/64), 64-bits
	for _, id := range k.ids {
		h := k.hash(id)
		k.filter[h/64] |= 1 << (h % 64)
	}
	return k
}

// hash spreads consecutive ids; the factor is 2^64 divided by the golden ratio.
func (k *keepSet) hash(id uint64) uint64 { return id * 0x9e3779b97f4a7c15 >> k.shift }

func (k *keepSet) has(id uint64) bool {
	if k.filter == nil {
		return false
	}
	if h := k.hash(id); k.filter[h/64]>>(h%64)&1 == 0 {
		return false
	}
	_, ok := slices.BinarySearch(k.ids, id)
	return ok
}

package namespace

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// idSet is a set of inode ids with ranks: the position of an id among the
// sorted ids of the set. Ids fall into chunks of 65,536; a chunk is a bitmap or
// a sorted array of its low 16 bits, whichever is smaller, so that the set
// follows the number of ids and not the largest one. Per id it takes a sixth
// of a byte where all ids exist and two bytes where few do.
type idSet struct {
	keys   []uint64 // id >> 16 of every chunk, ascending
	chunks []chunk
	dense  []uint32 // chunk number + 1 by id>>16 - keys[0]; nil where keys are sparse
	bitmap []uint64 // of all chunks that are bitmaps, chunkWords each
	ranks  []uint16 // of the first bit of every word of bitmap, within its chunk
	array  []uint16 // of all other chunks
	first  uint64   // keys[0]
	len    int
}

const (
	chunkBits  = 16
	chunkWords = 1 << chunkBits / 64
	arrayMax   = chunkWords * (8 + 2) / 2 // above it a bitmap with ranks is smaller
)

type chunk struct {
	base   uint32 // rank of the chunk's first id
	n      uint32 // number of ids
	at     uint32 // where it starts: in array, or in units of chunkWords in bitmap
	max    uint32 // room for ids
	bitmap bool
}

// idCounter counts ids by chunk; it is the first of the two passes that build
// an idSet without memory for anything but the set itself.
type idCounter struct {
	n    map[uint64]uint32
	last uint64
	run  uint32
}

func newIDCounter() *idCounter { return &idCounter{n: map[uint64]uint32{}} }

func (c *idCounter) add(id uint64) {
	if k := id >> chunkBits; k != c.last {
		c.flush()
		c.last = k
	}
	c.run++
}

func (c *idCounter) flush() {
	if c.run > 0 {
		c.n[c.last] += c.run
		c.run = 0
	}
}

func (c *idCounter) merge(o *idCounter) {
	o.flush()
	for k, n := range o.n {
		c.n[k] += n
	}
}

// newIDSet makes room for the ids that c counted; add them, then call finish.
func newIDSet(c *idCounter) *idSet {
	c.flush()
	s := &idSet{keys: make([]uint64, 0, len(c.n))}
	for k := range c.n {
		s.keys = append(s.keys, k)
	}
	slices.Sort(s.keys)
	s.chunks = make([]chunk, len(s.keys))
	var arrays, bitmaps int
	for i, k := range s.keys {
		n := c.n[k]
		// An id that is added twice needs no room twice: a chunk cannot hold
		// more than all its ids.
		if n > arrayMax {
			s.chunks[i] = chunk{at: uint32(bitmaps), max: n, bitmap: true}
			bitmaps++
		} else {
			s.chunks[i] = chunk{at: uint32(arrays), max: n}
			arrays += int(n)
		}
	}
	s.bitmap = make([]uint64, bitmaps*chunkWords)
	s.ranks = make([]uint16, bitmaps*chunkWords)
	s.array = make([]uint16, arrays)
	s.index()
	return s
}

// index makes the direct table from chunk keys to chunks unless most of it would
// be empty.
func (s *idSet) index() {
	if len(s.keys) == 0 {
		return
	}
	s.first = s.keys[0]
	span := s.keys[len(s.keys)-1] - s.first + 1
	if span > 8*uint64(len(s.keys))+1024 {
		return
	}
	s.dense = make([]uint32, span)
	for i, k := range s.keys {
		s.dense[k-s.first] = uint32(i) + 1
	}
}

func (s *idSet) chunk(id uint64) (int, bool) {
	k := id >> chunkBits
	if s.dense != nil {
		i := k - s.first // wraps around below the first key
		if i >= uint64(len(s.dense)) || s.dense[i] == 0 {
			return 0, false
		}
		return int(s.dense[i]) - 1, true
	}
	return slices.BinarySearch(s.keys, k)
}

// add adds an id that was counted. It is false if there is no room: the file was
// another one when its ids were counted. Not after finish.
func (s *idSet) add(id uint64) bool {
	i, ok := s.chunk(id)
	if !ok {
		return false
	}
	c := &s.chunks[i]
	low := uint16(id)
	if c.bitmap {
		s.bitmap[int(c.at)*chunkWords+int(low>>6)] |= 1 << (low & 63)
		return true
	}
	if c.n >= c.max {
		return false
	}
	s.array[c.at+c.n] = low
	c.n++
	return true
}

// addShared is add for several goroutines at once.
func (s *idSet) addShared(id uint64) bool {
	i, ok := s.chunk(id)
	if !ok {
		return false
	}
	c := &s.chunks[i]
	low := uint16(id)
	if c.bitmap {
		atomic.OrUint64(&s.bitmap[int(c.at)*chunkWords+int(low>>6)], 1<<(low&63))
		return true
	}
	n := atomic.AddUint32(&c.n, 1)
	if n > c.max {
		return false
	}
	s.array[c.at+n-1] = low
	return true
}

// finish sorts and ranks. It returns how many ids were added more than once;
// added is how often add was called.
func (s *idSet) finish(added int) (repeated int) {
	for i := range s.chunks {
		c := &s.chunks[i]
		c.base = uint32(s.len)
		if c.bitmap {
			c.n = s.rankBitmap(int(c.at))
		} else {
			a := s.array[c.at : c.at+c.n]
			slices.Sort(a)
			c.n = uint32(len(slices.Compact(a)))
		}
		s.len += int(c.n)
	}
	return added - s.len
}

func (s *idSet) rankBitmap(at int) uint32 {
	words := s.bitmap[at*chunkWords : (at+1)*chunkWords]
	var n uint32
	for w, x := range words {
		s.ranks[at*chunkWords+w] = uint16(n)
		n += uint32(bits.OnesCount64(x))
	}
	return n
}

// rank gives the position of id in the set.
func (s *idSet) rank(id uint64) (uint32, bool) {
	var i int
	if k := id>>chunkBits - s.first; k < uint64(len(s.dense)) {
		i = int(s.dense[k]) - 1
	} else if s.dense == nil {
		var ok bool
		if i, ok = slices.BinarySearch(s.keys, id>>chunkBits); !ok {
			return 0, false
		}
	} else {
		i = -1
	}
	if i < 0 {
		return 0, false
	}
	c := &s.chunks[i]
	low := uint16(id)
	if !c.bitmap {
		j, ok := slices.BinarySearch(s.array[c.at:c.at+c.n], low)
		return c.base + uint32(j), ok
	}
	word := int(c.at)*chunkWords + int(low>>6)
	x, bit := s.bitmap[word], uint64(1)<<(low&63)
	if x&bit == 0 {
		return 0, false
	}
	return c.base + uint32(s.ranks[word]) + uint32(bits.OnesCount64(x&(bit-1))), true
}

// idSetOf makes a set of a list of ids, which may hold repetitions.
func idSetOf(ids []uint64) *idSet {
	c := newIDCounter()
	for _, id := range ids {
		c.add(id)
	}
	s := newIDSet(c)
	for _, id := range ids {
		s.add(id)
	}
	s.finish(len(ids))
	return s
}

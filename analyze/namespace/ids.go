package namespace

import (
	"iter"
	"math/bits"
	"slices"
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
	bitmap bool
}

// idBuilder collects ids for an idSet; one goroutine has one. Its memory follows
// the number of ids too: a list of a chunk that grows too long becomes a bitmap.
type idBuilder struct {
	chunks map[uint64]*openChunk
	last   *openChunk // that of key
	key    uint64
}

// openChunk holds the low 16 bits of ids: as bits, or in low as they came.
type openChunk struct {
	bits *[chunkWords]uint64
	low  []uint16
}

func newIDBuilder() *idBuilder { return &idBuilder{chunks: map[uint64]*openChunk{}} }

func (b *idBuilder) add(id uint64) {
	if k := id >> chunkBits; b.last == nil || k != b.key {
		b.open(k)
	}
	c, low := b.last, uint16(id)
	if c.bits != nil {
		c.bits[low>>6] |= 1 << (low & 63)
		return
	}
	if c.low = append(c.low, low); len(c.low) > arrayMax {
		words := new([chunkWords]uint64)
		c.addTo(words[:])
		*c = openChunk{bits: words}
	}
}

func (b *idBuilder) open(key uint64) {
	c := b.chunks[key]
	if c == nil {
		c = &openChunk{}
		b.chunks[key] = c
	}
	b.key, b.last = key, c
}

// addTo sets the bits of all ids in words.
func (c *openChunk) addTo(words []uint64) {
	if c.bits != nil {
		for i, w := range c.bits {
			words[i] |= w
		}
		return
	}
	for _, low := range c.low {
		words[low>>6] |= 1 << (low & 63)
	}
}

// newIDSet makes the set of the ids in builders, which it empties.
func newIDSet(builders ...*idBuilder) *idSet {
	s := &idSet{}
	for _, b := range builders {
		for k := range b.chunks {
			s.keys = append(s.keys, k)
		}
	}
	slices.Sort(s.keys)
	s.keys = slices.Clone(slices.Compact(s.keys)) // without the room for repetitions
	s.layOut(builders)
	for i, k := range s.keys {
		c := &s.chunks[i]
		c.base = uint32(s.len)
		if c.bitmap {
			s.fillBitmap(c, k, builders)
		} else {
			s.fillArray(c, k, builders)
		}
		s.len += int(c.n)
	}
	s.index()
	return s
}

// layOut gives every chunk its form and place.
func (s *idSet) layOut(builders []*idBuilder) {
	s.chunks = make([]chunk, len(s.keys))
	var arrays, bitmaps int
	for i, k := range s.keys {
		n := 0 // repetitions count: there are few
		for _, b := range builders {
			if c := b.chunks[k]; c != nil && c.bits != nil {
				n += arrayMax + 1
			} else if c != nil {
				n += len(c.low)
			}
		}
		if n > arrayMax {
			s.chunks[i] = chunk{at: uint32(bitmaps), bitmap: true}
			bitmaps++
		} else {
			s.chunks[i] = chunk{at: uint32(arrays)}
			arrays += n
		}
	}
	s.bitmap = make([]uint64, bitmaps*chunkWords)
	s.ranks = make([]uint16, bitmaps*chunkWords)
	s.array = make([]uint16, arrays)
}

func (s *idSet) fillBitmap(c *chunk, key uint64, builders []*idBuilder) {
	words := s.bitmap[int(c.at)*chunkWords:][:chunkWords]
	for _, b := range builders {
		if from := b.chunks[key]; from != nil {
			from.addTo(words)
			*from = openChunk{}
		}
	}
	for w, x := range words {
		s.ranks[int(c.at)*chunkWords+w] = uint16(c.n)
		c.n += uint32(bits.OnesCount64(x))
	}
}

func (s *idSet) fillArray(c *chunk, key uint64, builders []*idBuilder) {
	a := s.array[c.at:c.at]
	for _, b := range builders {
		if from := b.chunks[key]; from != nil {
			a = append(a, from.low...)
			*from = openChunk{}
		}
	}
	slices.Sort(a)
	c.n = uint32(len(slices.Compact(a)))
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

// find gives the chunk with a key.
func (s *idSet) find(key uint64) (i int, ok bool) {
	if s.dense == nil {
		return slices.BinarySearch(s.keys, key)
	}
	k := key - s.first
	if k >= uint64(len(s.dense)) || s.dense[k] == 0 {
		return 0, false
	}
	return int(s.dense[k]) - 1, true
}

// rank gives the position of id in the set; see [rankCache].
func (s *idSet) rank(id uint64) (uint32, bool) {
	i, ok := s.find(id >> chunkBits)
	if !ok {
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

// rankCache is rank for one goroutine that asks for many ids. Those of a directory, and
// neighbours in an image, fall into few chunks.
type rankCache struct {
	set   *idSet
	views [1 << viewBits]chunkView
}

const viewBits = 6

// chunkView is a chunk that was looked up.
type chunkView struct {
	next  uint64 // key of the chunk, plus 1; 0: none
	base  uint32
	words *[chunkWords]uint64 // nil if the chunk is no bitmap, or there is none
	ranks *[chunkWords]uint16
}

func (c *rankCache) rank(id uint64) (uint32, bool) {
	key := id >> chunkBits
	// An image has the ids in the order of their lowest bits, so that neighbours can
	// differ by a power of two; the factor, see keepSet.hash, keeps them apart.
	v := &c.views[key*0x9e3779b97f4a7c15>>(64-viewBits)]
	if v.next != key+1 {
		c.set.look(key, v)
	}
	if v.words == nil {
		return c.set.rank(id)
	}
	word, bit := uint16(id)>>6, id&63
	x := v.words[word]
	return v.base + uint32(v.ranks[word]) + uint32(bits.OnesCount64(x&(1<<bit-1))), x>>bit&1 == 1
}

// look makes v the view of the chunk with a key.
func (s *idSet) look(key uint64, v *chunkView) {
	*v = chunkView{next: key + 1}
	i, ok := s.find(key)
	if !ok || !s.chunks[i].bitmap {
		return
	}
	c := &s.chunks[i]
	at := int(c.at) * chunkWords
	v.base, v.words, v.ranks = c.base, (*[chunkWords]uint64)(s.bitmap[at:]), (*[chunkWords]uint16)(s.ranks[at:])
}

// all gives the ids in ascending order with their ranks.
func (s *idSet) all() iter.Seq2[uint32, uint64] {
	return func(yield func(uint32, uint64) bool) {
		for i := range s.chunks {
			if c := &s.chunks[i]; !s.chunkIDs(c, s.keys[i]<<chunkBits, yield) {
				return
			}
		}
	}
}

func (s *idSet) chunkIDs(c *chunk, first uint64, yield func(uint32, uint64) bool) bool {
	rank := c.base
	if !c.bitmap {
		for _, low := range s.array[c.at : c.at+c.n] {
			if !yield(rank, first|uint64(low)) {
				return false
			}
			rank++
		}
		return true
	}
	for w, x := range s.bitmap[int(c.at)*chunkWords:][:chunkWords] {
		for ; x != 0; x &= x - 1 {
			if !yield(rank, first|uint64(w*64+bits.TrailingZeros64(x))) {
				return false
			}
			rank++
		}
	}
	return true
}

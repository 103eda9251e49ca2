package flinkmeta

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// hashFactor spreads a window to the high bits of its hash. It is odd, so that
// different windows have different hashes and comparing these is enough.
const hashFactor = 0x9e3779b97f4a7c15

// searchTable finds the forms whose last bytes, the window, are given. Those of a
// table of fewer than eight bytes are no longer than their window.
type searchTable struct {
	filter  []uint64     // a bit for the first bits of each hash: 16 to 32 bits an entry
	buckets []uint32     // the first form with a hash that starts with the index, or more
	hashes  []uint64     // of the windows of forms, in order
	forms   []searchForm // all different, by hash, then by their bytes from the end
	needles []uint32     // of all forms

	narrow      uint // bits of a word before the window
	filterShift uint // leaves the first bits
	bucketShift uint
}

// searchForm is a form of one or more needles.
type searchForm struct {
	start, size uint32 // in the texts
	suffix      uint32 // the longest form of the table that this one ends with, and 1; 0: none
	needles     uint32 // its first one
}

// searchEntry is a form of one needle, before equal ones are put together.
type searchEntry struct {
	hash                uint64
	start, size, needle uint32
}

// windowHash gives the hash of the last bytes of a form.
func windowHash(form []byte, width int) uint64 {
	var word [wordBytes]byte
	copy(word[:], form[len(form)-width:])
	return binary.LittleEndian.Uint64(word[:]) * hashFactor
}

// hash gives that of the window that ends with buf[last], which at least seven
// bytes precede.
func (t *searchTable) hash(buf []byte, last int) uint64 {
	return binary.LittleEndian.Uint64(buf[last+1-wordBytes:]) >> t.narrow * hashFactor
}

// newSearchTable makes a table of one entry or more.
func newSearchTable(texts []byte, width int, entries []searchEntry) searchTable {
	slices.SortFunc(entries, func(a, b searchEntry) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		order, _ := compareEnds(a.text(texts), b.text(texts), 0)
		return cmp.Or(order, cmp.Compare(a.needle, b.needle))
	})
	size := bits.Len(uint(len(entries))) - 1 // at most one bucket an entry
	t := searchTable{
		filter:      make([]uint64, 1<<max(0, size+5-6)),
		buckets:     make([]uint32, 1<<size+1),
		hashes:      make([]uint64, 0, len(entries)),
		forms:       make([]searchForm, 0, len(entries)),
		needles:     make([]uint32, 0, len(entries)),
		narrow:      uint(8 * (wordBytes - width)),
		bucketShift: uint(64 - size),
	}
	t.filterShift = uint(64 - max(6, size+5))
	for _, e := range entries {
		if n := len(t.forms); n == 0 || t.forms[n-1].size != e.size || !bytes.HasSuffix(t.text(texts, n-1), e.text(texts)) {
			t.add(texts, e)
		}
		t.needles = append(t.needles, e.needle)
	}
	for i, bucket := len(t.hashes), len(t.buckets)-1; bucket >= 0; bucket-- {
		for i > 0 && int(t.hashes[i-1]>>t.bucketShift) >= bucket {
			i--
		}
		t.buckets[bucket] = uint32(i)
	}
	return t
}

// add appends a form, after all that it may end with. Of these, one that it does
// not end with is no end of a later one either, so the loop is short on average.
func (t *searchTable) add(texts []byte, e searchEntry) {
	suffix := len(t.forms) - 1
	for suffix >= 0 && !bytes.HasSuffix(e.text(texts), t.text(texts, suffix)) {
		suffix = int(t.forms[suffix].suffix) - 1
	}
	t.forms = append(t.forms, searchForm{start: e.start, size: e.size, suffix: uint32(suffix + 1), needles: uint32(len(t.needles))})
	t.hashes = append(t.hashes, e.hash)
	bit := e.hash >> t.filterShift
	t.filter[bit/64] |= 1 << (bit % 64)
}

// next gives the place of the next byte, at from or later, with which a window
// ends that the filter knows; the end of buf if there is none. At least seven
// bytes precede from.
func (t *searchTable) next(buf []byte, from int) int {
	filter, narrow, shift := t.filter, t.narrow&63, t.filterShift&63
	mask := uint64(len(filter) - 1)
	for i := from; i < len(buf); i++ {
		bit := binary.LittleEndian.Uint64(buf[i+1-wordBytes:]) >> narrow * hashFactor >> shift
		if filter[bit/64&mask]>>(bit%64)&1 != 0 {
			return i
		}
	}
	return len(buf)
}

// find gives the longest form with a window of that hash that text ends with;
// -1: none.
func (t *searchTable) find(texts []byte, hash uint64, text []byte) int {
	bucket := hash >> t.bucketShift
	low, high := int(t.buckets[bucket]), int(t.buckets[bucket+1])
	i, ok := slices.BinarySearch(t.hashes[low:high], hash)
	if !ok {
		return -1
	}
	low += i
	high = low + sort.Search(high-low, func(i int) bool { return t.hashes[low+i] > hash })

	// The last form that does not come after text, and how many bytes from the end
	// they have in common. The forms between two have with text what these have.
	last := low
	order, common := compareEnds(t.text(texts, low), text, 0)
	if order > 0 {
		return -1
	}
	for above, i := 0, high-1; low < i; i = int(uint(low+high) / 2) {
		order, n := compareEnds(t.text(texts, i), text, min(common, above))
		if order <= 0 {
			last, common, low = i, n, i
		} else {
			above, high = n, i
		}
	}
	for last >= 0 && int(t.forms[last].size) > common {
		last = int(t.forms[last].suffix) - 1
	}
	return last
}

func (t *searchTable) text(texts []byte, i int) []byte {
	return texts[t.forms[i].start:][:t.forms[i].size]
}

func (t *searchTable) needlesOf(i int) []uint32 {
	if i+1 < len(t.forms) {
		return t.needles[t.forms[i].needles:t.forms[i+1].needles]
	}
	return t.needles[t.forms[i].needles:]
}

func (e searchEntry) text(texts []byte) []byte { return texts[e.start:][:e.size] }

// compareEnds compares from the end, of which so many bytes are known to be the
// same, and gives how many are. What the other ends with comes before it.
func compareEnds(a, b []byte, common int) (order, n int) {
	a, b = a[:len(a)-common], b[:len(b)-common]
	for len(a) >= wordBytes && len(b) >= wordBytes {
		x := binary.LittleEndian.Uint64(a[len(a)-wordBytes:])
		y := binary.LittleEndian.Uint64(b[len(b)-wordBytes:])
		if x != y { // the last byte is in the highest bits
			return cmp.Compare(x, y), common + bits.LeadingZeros64(x^y)/8
		}
		a, b, common = a[:len(a)-wordBytes], b[:len(b)-wordBytes], common+wordBytes
	}
	for len(a) > 0 && len(b) > 0 {
		x, y := a[len(a)-1], b[len(b)-1]
		if x != y {
			return cmp.Compare(x, y), common
		}
		a, b, common = a[:len(a)-1], b[:len(b)-1], common+1
	}
	return cmp.Compare(len(a), len(b)), common
}

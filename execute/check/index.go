package check

// index finds places in a slice by inode id: 6 to 12 bytes for each, where a map takes
// three times as much. It is not safe for use by several goroutines while one adds.
type index struct {
	slots []int32 // places, and -1 where there is none
	n     int
	id    func(i int32) uint64 // of a place that was added
}

// newIndex makes an index with room for n places.
func newIndex(n int, id func(i int32) uint64) *index {
	x := &index{id: id}
	x.resize(n)
	return x
}

// resize makes room for n places. Of all slots at least a third stays free.
func (x *index) resize(n int) {
	old, size := x.slots, 64
	for 2*size < 3*n {
		size *= 2
	}
	x.slots = make([]int32, size)
	for i := range x.slots {
		x.slots[i] = -1
	}
	for _, i := range old {
		if i >= 0 {
			x.slots[x.slot(x.id(i))] = i
		}
	}
}

// slot gives the slot of an id, or the free one where it belongs.
func (x *index) slot(id uint64) uint64 {
	mask := uint64(len(x.slots) - 1)
	h := id * 0x9e3779b97f4a7c15
	for at := (h ^ h>>32) & mask; ; at = (at + 1) & mask {
		if i := x.slots[at]; i < 0 || x.id(i) == id {
			return at
		}
	}
}

// find gives the place of an id.
func (x *index) find(id uint64) (int32, bool) {
	i := x.slots[x.slot(id)]
	return i, i >= 0
}

// add notes where an id is. Of two places with one id the later counts.
func (x *index) add(i int32) {
	if 3*(x.n+1) > 2*len(x.slots) {
		x.resize(2 * (x.n + 1))
	}
	at := x.slot(x.id(i))
	if x.slots[at] < 0 {
		x.n++
	}
	x.slots[at] = i
}

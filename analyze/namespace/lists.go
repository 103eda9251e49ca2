package namespace

import "iter"

// lists holds a list of values for each of many inode ids. All values lie in one
// piece: a map with a slice for each id takes several times as much.
type lists[T any] struct {
	ids *idSet
	end []uint32 // by rank of the id: where its list ends, which is where the next one begins
	all []T
}

// of gives the list of an id, empty if it has none.
func (l *lists[T]) of(id uint64) []T {
	r, ok := l.ids.rank(id)
	if !ok {
		return nil
	}
	return l.at(r)
}

func (l *lists[T]) at(rank uint32) []T {
	first := uint32(0)
	if rank > 0 {
		first = l.end[rank-1]
	}
	return l.all[first:l.end[rank]:l.end[rank]]
}

// len is the number of ids.
func (l *lists[T]) len() int { return l.ids.len }

// each gives all ids in ascending order with their lists.
func (l *lists[T]) each() iter.Seq2[uint64, []T] {
	return func(yield func(uint64, []T) bool) {
		for r, id := range l.ids.all() {
			if !yield(id, l.at(r)) {
				return
			}
		}
	}
}

// listBuilder collects values for lists, in chunks so that none is copied while it
// grows.
type listBuilder[T any] struct {
	chunks [][]listed[T]
	n      int
}

type listed[T any] struct {
	id    uint64
	value T
}

const listChunk = 1 << 10

func (b *listBuilder[T]) add(id uint64, value T) {
	if b.n%listChunk == 0 {
		b.chunks = append(b.chunks, make([]listed[T], 0, listChunk))
	}
	last := &b.chunks[len(b.chunks)-1]
	*last = append(*last, listed[T]{id, value})
	b.n++
}

// lists makes the lists, each in the order in which its values were added. The
// builder is empty then.
func (b *listBuilder[T]) lists() lists[T] {
	ids := newIDBuilder()
	for _, c := range b.chunks {
		for i := range c {
			ids.add(c[i].id)
		}
	}
	l := lists[T]{ids: newIDSet(ids), all: make([]T, b.n)}
	l.end = make([]uint32, l.ids.len)
	rank := func(id uint64) uint32 {
		r, _ := l.ids.rank(id) // all of them are in it
		return r
	}
	for _, c := range b.chunks {
		for i := range c {
			l.end[rank(c[i].id)]++
		}
	}
	first := uint32(0) // until its values are there, the end of a list is where the next one goes
	for r, n := range l.end {
		l.end[r] = first
		first += n
	}
	for k, c := range b.chunks {
		for i := range c {
			at := &l.end[rank(c[i].id)]
			l.all[*at] = c[i].value
			*at++
		}
		b.chunks[k] = nil
	}
	*b = listBuilder[T]{}
	return l
}

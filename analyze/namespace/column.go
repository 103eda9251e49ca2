package namespace

import (
	"encoding/binary"
	"sync"
)

// column is a slice that grows without copying: directories become known one
// after the other, and a doubled slice of them would be the peak of memory.
type column[T any] struct{ chunks [][]T }

const columnBits = 13

func (c *column[T]) at(d Dir) *T { return &c.chunks[d>>columnBits][d&(1<<columnBits-1)] }

// grow makes the column at least n long; new elements are zero.
func (c *column[T]) grow(n int) {
	for len(c.chunks)<<columnBits < n {
		c.chunks = append(c.chunks, make([]T, 1<<columnBits))
	}
}

func (c *column[T]) capacity() int { return len(c.chunks) << columnBits }

// names stores the names of directories one after the other. A name is
// addressed in units of four bytes, so that 32 bits reach 16 GiB.
type names struct {
	mu     sync.Mutex
	blocks [][]byte
	full   bool // there were more names than addresses
}

const (
	nameUnit   = 4
	nameBlock  = 256 << 10 // bytes; longer than any name with its length
	maxNameLen = 64<<10 - 1
	maxBlocks  = 1 << 32 / (nameBlock / nameUnit)
)

// nameWriter fills one block after the other; each goroutine has its own.
type nameWriter struct {
	to    *names
	block []byte
	index uint32
	used  int
}

// add stores a name of at most maxNameLen bytes.
func (w *nameWriter) add(name []byte) uint32 {
	need := binary.MaxVarintLen32 + len(name)
	if w.block == nil || w.used+need > len(w.block) {
		w.next()
	}
	at := w.used
	n := binary.PutUvarint(w.block[at:], uint64(len(name)))
	n += copy(w.block[at+n:], name)
	w.used = (at + n + nameUnit - 1) / nameUnit * nameUnit
	return w.index*(nameBlock/nameUnit) + uint32(at/nameUnit)
}

func (w *nameWriter) next() {
	w.block, w.used = make([]byte, nameBlock), 0
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.index = uint32(len(w.to.blocks))
	w.to.full = w.to.full || len(w.to.blocks) >= maxBlocks
	w.to.blocks = append(w.to.blocks, w.block)
}

// get gives the name at an address that add returned.
func (n *names) get(at uint32) []byte {
	b := n.blocks[at/(nameBlock/nameUnit)][at%(nameBlock/nameUnit)*nameUnit:]
	size, k := binary.Uvarint(b)
	return b[k : k+int(size) : k+int(size)]
}

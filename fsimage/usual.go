package fsimage

import (
	"encoding/binary"
	"math/bits"
)

// Nearly all records have the form that NameNodes write: every field at most
// once, in the order of its number. What is read here has that form; anything
// else is left, from where it is different, to the loops that read every form.
// The functions look at bytes behind the record, in the same buffer, and check at
// the end that what they read ended in it: that takes one check where there would
// be one for each field. They do nothing if fewer than slack bytes follow.

// slack is as long as a window.
const slack = len(window{})

// window is some fields of a record and what follows. It is longer than the fields
// between two checks, so that none of them needs a check of its own.
type window [72]byte

// word loads eight bytes; i is below 64.
func (w *window) word(i int) uint64 { return binary.LittleEndian.Uint64(w[i&63:]) }

// at is the byte at i, which is below 64.
func (w *window) at(i int) byte { return w[i&63] }

// word loads eight bytes.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// varint decodes the varint that x starts with and tells how many bytes it
// takes; more than eight mean that it is longer than x.
func varint(x uint64) (v uint64, n int) {
	stop := ^x & 0x8080808080808080
	x &= stop ^ (stop - 1) // up to the highest bit of the last byte
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4, bits.TrailingZeros64(stop)>>3 + 1
}

// short is varint for at most four bytes, in half as many steps; n is 5 if there are
// more.
func short(x uint64) (v uint64, n int) {
	stop := ^uint32(x) & 0x80808080
	return fold(uint32(x) & (stop ^ (stop - 1))), bits.TrailingZeros32(stop)>>3 + 1
}

// fold puts the seven-bit groups of up to four bytes together.
func fold(x uint32) uint64 {
	x = x&0x007f007f + x&0x7f007f00>>1
	return uint64(x&0x3fff + x>>16<<14)
}

// The times of an inode take six bytes until the year 2039, and the ids of blocks
// take five up to 2^35. What isTime and isBlockID find to be so is decoded by timeOf and
// blockIDOf, and the place of the next field is known without looking at the bytes.

func isTime(x uint64, next byte) bool {
	return x&0x00ff808080808080 == uint64(next)<<48|0x0000008080808080
}

func timeOf(x uint64) uint64 {
	high := uint32(x >> 32)
	return fold(uint32(x)) + uint64(high&0x7f+high&0x7f00>>1)<<28
}

func isBlockID(x uint64, next byte) bool {
	return x&0x0000ff8080808080 == uint64(next)<<40|0x0000000080808080
}

func blockIDOf(x uint64) uint64 {
	return fold(uint32(x)) + x>>32&0x7f<<28
}

// usual reads type, id and name, and gives the message that follows with its
// tag if the record ends with it; tag 0 if it is not like that. What it set is
// right in any case.
func (n *INode) usual(b []byte) (tag uint64, part []byte) {
	if len(b) < 8 || cap(b)-len(b) < slack {
		return 0, nil
	}
	full := b[:cap(b)]
	w := (*window)(full)
	typ := Type(w[1])
	id, k := short(w.word(3))
	if k > 4 {
		id, k = varint(w.word(3))
	}
	size := int(w.at(4 + k))
	if w[0] != 1<<3 || typ < FileType || typ > SymlinkType || w[2] != 2<<3 || k > 8 || w.at(3+k) != 3<<3|byte(wireBytes) || size >= 0x80 {
		return 0, nil
	}
	name := 5 + k
	i := name + size
	if i >= len(b) {
		return 0, nil
	}
	w = (*window)(full[i:])
	tag = uint64(w[0])
	length, k := uint64(w[1]), 1
	if length >= 0x80 {
		length, k = short(w.word(1))
	}
	end := i
	i += 1 + k
	if tag&7 != wireBytes || tag>>3 < 4 || tag>>3 > 6 || k > 4 || i+int(length) != len(b) {
		return 0, nil
	}
	n.Type, n.ID, n.Name = typ, id, b[name:end:end]
	return tag, b[i:]
}

// usual reads fields 1 to 6, and the last ones of most files, and returns how far
// it came.
func (f *INodeFile) usual(b []byte) int {
	if cap(b)-len(b) < slack || len(b) == 0 {
		return 0
	}
	full := b[:cap(b)]
	w := (*window)(full)
	i := 0
	if w[0] == 1<<3 && w[1] < 0x80 {
		i = 2
	}
	x := w.word(i + 1)
	mtime, k := timeOf(x), 6
	if !isTime(x, 3<<3) {
		mtime, k = varint(x)
	}
	atimeAt := i + 1 + k
	x = w.word(atimeAt + 1)
	atime, k2 := timeOf(x), 6
	if !isTime(x, 4<<3) {
		atime, k2 = varint(x)
	}
	sizeAt := atimeAt + 1 + k2
	size, k3 := short(w.word(sizeAt + 1))
	if k3 > 4 {
		size, k3 = varint(w.word(sizeAt + 1))
	}
	permAt := sizeAt + 1 + k3
	end := permAt + 9
	if w.at(i) != 2<<3 || w.at(atimeAt) != 3<<3 || w.at(sizeAt) != 4<<3 || w.at(permAt) != 5<<3|byte(wireFixed64) ||
		k > 8 || k2 > 8 || k3 > 8 || end > len(b) {
		return 0
	}
	if i > 0 {
		f.Replication = uint32(w[1])
	}
	f.MTimeMs, f.ATimeMs, f.PreferredBlockSize, f.Permission = mtime, atime, size, Permission(w.word(permAt+1))
	return f.usualEnd(full, len(b), f.usualBlocks(full, len(b), end))
}

// usualEnd reads what follows the blocks of most files: the kind of block, and the
// storage policy before it.
func (f *INodeFile) usualEnd(full []byte, n, i int) int {
	const policy, blockType = 10 << 3, 11 << 3
	switch {
	case n-i == 2 && full[i] == blockType && full[i+1] == 0:
		f.Striped = false
		return n
	case n-i == 4 && full[i] == policy && full[i+1] < 0x80 && full[i+2] == blockType && full[i+3] == 0:
		f.rare, f.StoragePolicy, f.Striped = true, uint32(full[i+1]), false
		return n
	}
	return i
}

func (f *INodeFile) usualBlocks(full []byte, n, i int) int {
	for i < n {
		w := (*window)(full[i:])
		size := int(w[1])
		if w[0] != 6<<3|byte(wireBytes) || size >= 0x80 || i+2+size > n {
			break
		}
		x := w.word(3)
		id, k := blockIDOf(x), 5
		if !isBlockID(x, 2<<3) {
			id, k = varint(x)
		}
		stampAt := 3 + k
		stamp, k2 := short(w.word(stampAt + 1))
		if k2 > 4 {
			stamp, k2 = varint(w.word(stampAt + 1))
		}
		bytesAt := stampAt + 1 + k2
		bytes, k3 := short(w.word(bytesAt + 1))
		if k3 > 4 {
			bytes, k3 = varint(w.word(bytesAt + 1))
		}
		if w[2] != 1<<3 || w.at(stampAt) != 2<<3 || w.at(bytesAt) != 3<<3 || k > 8 || k2 > 8 || k3 > 8 || bytesAt+1+k3 != 2+size {
			break
		}
		f.Blocks = append(f.Blocks, Block{id, stamp, bytes})
		i += 2 + size
	}
	return i
}

// usual reads fields 1 to 4 of a directory and returns how far it came.
func (d *INodeDirectory) usual(b []byte) int {
	if cap(b)-len(b) < slack {
		return 0
	}
	w := (*window)(b[:cap(b)])
	mtime, k := varint(w.word(1))
	nsAt := 1 + k
	ns, k2 := w.quota(nsAt + 1)
	dsAt := nsAt + 1 + k2
	ds, k3 := w.quota(dsAt + 1)
	permAt := dsAt + 1 + k3
	end := permAt + 9
	if w[0] != 1<<3 || w.at(nsAt) != 2<<3 || w.at(dsAt) != 3<<3 || w.at(permAt) != 4<<3|byte(wireFixed64) ||
		k > 8 || k2 > 10 || k3 > 10 || end > len(b) {
		return 0
	}
	d.MTimeMs, d.NSQuota, d.DSQuota, d.Permission = mtime, int64(ns), int64(ds), Permission(w.word(permAt+1))
	return end
}

// quota is varint for numbers that mostly are -1, which takes ten bytes. Other
// numbers of more than eight bytes are more than ten to it.
func (w *window) quota(i int) (v uint64, n int) {
	if x := w.word(i); x != ^uint64(0) {
		v, n = varint(x)
		if n > 8 {
			n = 11
		}
		return v, n
	}
	if w.at(i+8) == 0xff && w.at(i+9) == 1 {
		return ^uint64(0), 10
	}
	return 0, 11
}

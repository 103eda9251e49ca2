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

// slack is more than the longest run of fields between two checks.
const slack = 64

// word loads eight bytes.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// varint decodes the varint that x starts with and tells how many bytes it
// takes; more than eight mean that it is longer than x.
func varint(x uint64) (v uint64, n int) {
	last := bits.TrailingZeros64(^x & 0x8080808080808080) // the highest bit of the last byte
	x &= 2<<uint(last) - 1
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4, last>>3 + 1
}

// usual reads type, id and name, and gives the message that follows with its
// tag if the record ends with it; tag 0 if it is not like that. What it set is
// right in any case.
func (n *INode) usual(b []byte) (tag uint64, part []byte) {
	if len(b) < 8 || cap(b)-len(b) < slack {
		return 0, nil
	}
	full := b[:cap(b)]
	typ := Type(b[1])
	if b[0] != 1<<3 || typ < FileType || typ > SymlinkType || b[2] != 2<<3 {
		return 0, nil
	}
	id, k := varint(word(full, 3))
	i := 3 + k
	if k > 8 || full[i] != 3<<3|byte(wireBytes) || full[i+1] >= 0x80 {
		return 0, nil
	}
	name := i + 2
	i = name + int(full[i+1])
	if i >= len(b) {
		return 0, nil
	}
	tag = uint64(b[i])
	size, k := varint(word(full, i+1))
	i += 1 + k
	if tag&7 != wireBytes || tag>>3 < 4 || tag>>3 > 6 || k > 4 || i+int(size) != len(b) {
		return 0, nil
	}
	n.Type, n.ID, n.Name = typ, id, b[name:name+int(full[name-1]):name+int(full[name-1])]
	return tag, b[i:]
}

// usual reads fields 1 to 6, and the last ones of most files, and returns how far
// it came.
func (f *INodeFile) usual(b []byte) int {
	if cap(b)-len(b) < slack || len(b) == 0 {
		return 0
	}
	full := b[:cap(b)]
	i := 0
	if full[0] == 1<<3 && full[1] < 0x80 {
		i = 2
	}
	mtime, k := varint(word(full, i+1))
	atimeAt := i + 1 + k
	atime, k2 := varint(word(full, atimeAt+1))
	sizeAt := atimeAt + 1 + k2
	size, k3 := varint(word(full, sizeAt+1))
	permAt := sizeAt + 1 + k3
	end := permAt + 9
	if full[i] != 2<<3 || full[atimeAt] != 3<<3 || full[sizeAt] != 4<<3 || full[permAt] != 5<<3|byte(wireFixed64) ||
		k > 8 || k2 > 8 || k3 > 8 || end > len(b) {
		return 0
	}
	if i > 0 {
		f.Replication = uint32(full[1])
	}
	f.MTimeMs, f.ATimeMs, f.PreferredBlockSize, f.Permission = mtime, atime, size, Permission(word(full, permAt+1))
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
	for i < n && full[i] == 6<<3|byte(wireBytes) {
		end := i + 2 + int(full[i+1])
		if full[i+1] >= 0x80 || end > n {
			break
		}
		i += 2
		id, k := varint(word(full, i+1))
		stampAt := i + 1 + k
		stamp, k2 := varint(word(full, stampAt+1))
		bytesAt := stampAt + 1 + k2
		bytes, k3 := varint(word(full, bytesAt+1))
		if full[i] != 1<<3 || full[stampAt] != 2<<3 || full[bytesAt] != 3<<3 || k > 8 || k2 > 8 || k3 > 8 || bytesAt+1+k3 != end {
			return i - 2
		}
		f.Blocks = append(f.Blocks, Block{id, stamp, bytes})
		i = end
	}
	return i
}

// usual reads fields 1 to 4 of a directory and returns how far it came.
func (d *INodeDirectory) usual(b []byte) int {
	if cap(b)-len(b) < slack {
		return 0
	}
	full := b[:cap(b)]
	mtime, k := varint(word(full, 1))
	nsAt := 1 + k
	ns, k2 := quota(full, nsAt+1)
	dsAt := nsAt + 1 + k2
	ds, k3 := quota(full, dsAt+1)
	permAt := dsAt + 1 + k3
	end := permAt + 9
	if full[0] != 1<<3 || full[nsAt] != 2<<3 || full[dsAt] != 3<<3 || full[permAt] != 4<<3|byte(wireFixed64) ||
		k > 8 || k2 > 10 || k3 > 10 || end > len(b) {
		return 0
	}
	d.MTimeMs, d.NSQuota, d.DSQuota, d.Permission = mtime, int64(ns), int64(ds), Permission(word(full, permAt+1))
	return end
}

// quota is varint for numbers that mostly are -1, which takes ten bytes. Other
// numbers of more than eight bytes are more than ten to it.
func quota(b []byte, i int) (v uint64, n int) {
	if x := word(b, i); x != ^uint64(0) {
		v, n = varint(x)
		if n > 8 {
			n = 11
		}
		return v, n
	}
	if b[i+8] == 0xff && b[i+9] == 1 {
		return ^uint64(0), 10
	}
	return 0, 11
}

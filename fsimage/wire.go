package fsimage

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Hand decoding walks a message with an index. Helpers give the index after
// what they read, or -1 for bytes that are not protobuf; what is accepted and
// what is refused is the same as in google.golang.org/protobuf.

const (
	wireVarint  = uint64(protowire.VarintType)
	wireFixed32 = uint64(protowire.Fixed32Type)
	wireFixed64 = uint64(protowire.Fixed64Type)
	wireBytes   = uint64(protowire.BytesType)
)

// uvarint reads a varint at b[i:]. Up to eight bytes are read at once and their
// seven-bit groups moved together, which costs no branch for each byte. The
// eight bytes may go beyond the end of b, into what follows in the same buffer:
// they are looked at, but a varint that does not end in b is refused.
func uvarint(b []byte, i int) (uint64, int) {
	if i >= 0 && cap(b)-i >= 8 {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		if stop := ^x & 0x8080808080808080; stop != 0 {
			n := bits.TrailingZeros64(stop) // the highest bit of the last byte
			if i += (n + 1) / 8; i > len(b) {
				return 0, -1
			}
			x &= 1<<uint(n)<<1 - 1 // all bytes up to it
			x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
			x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
			x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
			return x, i
		}
	}
	return longVarint(b, i)
}

// longVarint reads the forms that uvarint does not: more than eight bytes, or
// close to the end of b.
func longVarint(b []byte, i int) (uint64, int) {
	if i < 0 || i > len(b) {
		return 0, -1
	}
	v, n := protowire.ConsumeVarint(b[i:])
	if n < 0 {
		return 0, -1
	}
	return v, i + n
}

// field reads a field's tag. The number must be valid. Fields 1 to 15 have a tag
// of one byte, and those are all that fsweep reads; the hot loops read it in
// place and call longField for any other.
func field(b []byte, i int) (tag uint64, next int) {
	if tag := b[i]; shortField(tag) {
		return uint64(tag), i + 1
	}
	return longField(b, i)
}

func shortField(tag byte) bool { return tag < 0x80 && tag >= 8 }

func longField(b []byte, i int) (tag uint64, next int) {
	tag, next = uvarint(b, i)
	if next >= 0 && (tag>>3 < uint64(protowire.MinValidNumber) || tag>>3 > uint64(protowire.MaxValidNumber)) {
		return 0, -1
	}
	return tag, next
}

// message reads a length and gives the message of that many bytes after it. Its
// capacity reaches to the end of the buffer, for uvarint.
func message(b []byte, i int) ([]byte, int) {
	if uint(i) < uint(len(b)) {
		if n := int(b[i]); n < 0x80 && n < len(b)-i {
			return b[i+1 : i+1+n], i + 1 + n
		}
	}
	n, i := uvarint(b, i)
	if i < 0 || n > uint64(len(b)-i) {
		return nil, -1
	}
	end := i + int(n)
	return b[i:end], end
}

// lenBytes is message for what leaves the package: nothing can be appended to it
// in place.
func lenBytes(b []byte, i int) ([]byte, int) {
	m, i := message(b, i)
	return slices.Clip(m), i
}

func fixed64(b []byte, i int) (uint64, int) {
	v, n := protowire.ConsumeFixed64(b[i:])
	if n < 0 {
		return 0, -1
	}
	return v, i + n
}

func fixed32(b []byte, i int) (uint32, int) {
	v, n := protowire.ConsumeFixed32(b[i:])
	if n < 0 {
		return 0, -1
	}
	return v, i + n
}

// skip passes over the value of an unknown field, or of a known one in a form
// that it does not have: protobuf treats that as unknown too.
func skip(b []byte, i int, tag uint64) int {
	n := protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.Type(tag&7), b[i:])
	if n < 0 {
		return -1
	}
	return i + n
}

var (
	errWire     = corruptf("not a protobuf message")
	errRequired = corruptf("a required field is missing")
)

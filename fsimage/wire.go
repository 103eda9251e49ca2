package fsimage

import (
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

// uvarint reads a varint at b[i:]; one byte is by far the most frequent form
// and is read without a call.
func uvarint(b []byte, i int) (uint64, int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longVarint(b, i)
}

func longVarint(b []byte, i int) (uint64, int) {
	v, n := protowire.ConsumeVarint(b[i:])
	if n < 0 {
		return 0, -1
	}
	return v, i + n
}

// field reads a field's tag. The number must be valid.
func field(b []byte, i int) (tag uint64, next int) {
	tag, next = uvarint(b, i)
	if next >= 0 && (tag>>3 < uint64(protowire.MinValidNumber) || tag>>3 > uint64(protowire.MaxValidNumber)) {
		return 0, -1
	}
	return tag, next
}

// lenBytes reads a length and gives the slice of that many bytes after it.
func lenBytes(b []byte, i int) ([]byte, int) {
	n, i := uvarint(b, i)
	if i < 0 || n > uint64(len(b)-i) {
		return nil, -1
	}
	end := i + int(n)
	return b[i:end:end], end
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

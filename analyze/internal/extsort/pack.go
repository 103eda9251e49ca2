package extsort

import "encoding/binary"

// AppendBytes appends a string with its length, for [Unpacker.Bytes].
func AppendBytes[T ~string | ~[]byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendBool appends a byte for [Unpacker.Bool].
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendSigned appends numbers for [Unpacker.Signed].
func AppendSigned(b []byte, list ...int64) []byte {
	for _, v := range list {
		b = binary.AppendVarint(b, v)
	}
	return b
}

// Unpacker takes apart what a caller packed into a record by himself, with binary.AppendUvarint
// and the functions of this package. Of what is too short it gives zeros, and no panic.
type Unpacker struct{ Rest []byte }

// Byte takes a byte.
func (r *Unpacker) Byte() (v byte) {
	if len(r.Rest) > 0 {
		v, r.Rest = r.Rest[0], r.Rest[1:]
	}
	return v
}

// Bool takes a byte.
func (r *Unpacker) Bool() bool { return r.Byte() != 0 }

// Signed takes a signed varint.
func (r *Unpacker) Signed() int64 {
	v := r.Unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// Unsigned takes an unsigned varint.
func (r *Unpacker) Unsigned() uint64 {
	if len(r.Rest) > 0 && r.Rest[0] < 0x80 { // most are small
		v := r.Rest[0]
		r.Rest = r.Rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.Rest)
	r.Rest = r.Rest[max(n, 0):]
	return v
}

// Fixed takes a big endian number of eight bytes.
func (r *Unpacker) Fixed() (v uint64) {
	if len(r.Rest) >= 8 {
		v, r.Rest = binary.BigEndian.Uint64(r.Rest), r.Rest[8:]
	}
	return v
}

// Bytes takes a string, which is a part of Rest.
func (r *Unpacker) Bytes() []byte {
	n := min(r.Unsigned(), uint64(len(r.Rest)))
	v := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return v
}

// Len takes the number of things that follow, each of a byte or more.
func (r *Unpacker) Len() int { return int(min(r.Unsigned(), uint64(len(r.Rest)))) }

package reports

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Numbers are most of an inventory, and making their digits most of its time.
// Eight digits at a time are split in halves three times, each time in all parts
// of one word; no digit takes a division or a branch of its own.

// appendUint appends v in decimal.
func appendUint(dst []byte, v uint64) []byte {
	const group = 100_000_000
	if v < 10 {
		return append(dst, '0'+byte(v))
	}
	if cap(dst)-len(dst) < 24 {
		dst = slices.Grow(dst, 24)
	}
	if v < group {
		return appendFirst(dst, v)
	}
	high, low := v/group, v%group
	if high < 100 { // ids of blocks, above all
		if high >= 10 {
			dst = append(dst, '0'+byte(high/10))
		}
		return appendEight(append(dst, '0'+byte(high%10)), low)
	}
	if high < group {
		return appendEight(appendFirst(dst, high), low)
	}
	return appendEight(appendEight(appendFirst(dst, high/group), high%group), low)
}

// appendInt appends v in decimal.
func appendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return appendUint(append(dst, '-'), -uint64(v))
	}
	return appendUint(dst, uint64(v))
}

// appendFirst appends v < 10^8, not 0, without leading zeros. Room for eight bytes
// must be there.
func appendFirst(dst []byte, v uint64) []byte {
	digits := eightDigits(v)
	zeros := bits.TrailingZeros64(digits) / 8
	n := len(dst)
	binary.LittleEndian.PutUint64(dst[n:n+8], (digits|asciiZeros)>>(8*zeros))
	return dst[:n+8-zeros]
}

// appendEight appends v < 10^8 with leading zeros. Room must be there.
func appendEight(dst []byte, v uint64) []byte {
	n := len(dst)
	binary.LittleEndian.PutUint64(dst[n:n+8], eightDigits(v)|asciiZeros)
	return dst[:n+8]
}

const asciiZeros = 0x3030303030303030

// eightDigits gives the digits of v < 10^8, one a byte, the first in the lowest.
// Multiplying with a rounded reciprocal and shifting divides exactly in these
// ranges: 10486/2^20 for 100 below 10,000, 103/2^10 for 10 below 100.
func eightDigits(v uint64) uint64 {
	x := v/10_000 | v%10_000<<32
	hundreds := x * 10486 >> 20 & 0x0000007f0000007f
	x = hundreds | (x-100*hundreds)<<16
	tens := x * 103 >> 10 & 0x000f000f000f000f
	return tens | (x-10*tens)<<8
}

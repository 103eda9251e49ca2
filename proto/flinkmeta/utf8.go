package flinkmeta

import (
	"encoding/binary"
	"unicode/utf8"
)

// Modified UTF-8 is what Java writes: U+0000 is two bytes, C0 80, and a
// character above U+FFFF is a pair of surrogates of three bytes each. Java's
// reader also takes a plain zero byte and longer forms than needed; no Java
// writes them, so they are refused here.

// asciiOnly tells whether all bytes are those of ASCII but zero: then modified
// UTF-8 and UTF-8 are the same.
func asciiOnly(b []byte) bool {
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		if (x|(x-0x0101010101010101))&0x8080808080808080 != 0 { // a high bit, or zero less one
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c-1 >= 0x7f {
			return false
		}
	}
	return true
}

// modifiedChar gives the UTF-16 unit at the start of b and its length; 0: not
// modified UTF-8.
func modifiedChar(b []byte) (unit rune, n int) {
	switch c := b[0]; {
	case c-1 < 0x7f:
		return rune(c), 1
	case c>>5 == 0b110 && len(b) >= 2 && b[1]>>6 == 0b10:
		unit = rune(c&0x1f)<<6 | rune(b[1]&0x3f)
		if unit >= 0x80 || unit == 0 {
			return unit, 2
		}
	case c>>4 == 0b1110 && len(b) >= 3 && b[1]>>6 == 0b10 && b[2]>>6 == 0b10:
		unit = rune(c&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
		if unit >= 0x800 {
			return unit, 3
		}
	}
	return 0, 0
}

// modifiedPrefix gives how many bytes from the start of b are whole characters
// of modified UTF-8.
func modifiedPrefix(b []byte) int {
	i := 0
	for i < len(b) {
		if b[i]-1 < 0x7f {
			i++
			continue
		}
		_, n := modifiedChar(b[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// appendModifiedUTF8 decodes raw. A surrogate without its partner keeps its
// three bytes, which no valid UTF-8 contains: different strings stay different.
func appendModifiedUTF8(dst, raw []byte) (_ []byte, ok bool) {
	if asciiOnly(raw) {
		return append(dst, raw...), true
	}
	for len(raw) > 0 {
		unit, n := modifiedChar(raw)
		if n == 0 {
			return dst, false
		}
		if isHighSurrogate(unit) && len(raw) > n {
			if low, m := modifiedChar(raw[n:]); isLowSurrogate(low) {
				dst = utf8.AppendRune(dst, 0x10000+(unit-0xd800)<<10|(low-0xdc00))
				raw = raw[n+m:]
				continue
			}
		}
		if unit == 0 {
			dst = append(dst, 0)
		} else {
			dst = append(dst, raw[:n]...) // the same in UTF-8 and, for surrogates, WTF-8
		}
		raw = raw[n:]
	}
	return dst, true
}

func isHighSurrogate(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLowSurrogate(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

// encodeModifiedUTF8 is the opposite: bytes that are not UTF-8 stay as they
// are, so surrogates on their own come back.
func encodeModifiedUTF8(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == 0:
			out = append(out, 0xc0, 0x80)
		case r > 0xffff:
			r -= 0x10000
			out = appendUnit(appendUnit(out, 0xd800+r>>10), 0xdc00+r&0x3ff)
		default:
			out = append(out, s[:n]...)
		}
		s = s[n:]
	}
	return out
}

func appendUnit(dst []byte, unit rune) []byte {
	return append(dst, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
}

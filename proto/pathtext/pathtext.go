// Package pathtext is the text form of names of any bytes: what people read, and
// what JSON shows of a name that is not UTF-8. Different names never look the same.
// The functions keep nothing and may be called by many goroutines at once.
package pathtext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Append appends the text form of a name: \\ for a backslash, \n, \r, \t, \xNN for
// other control characters and for bytes that are not UTF-8, \u{N} for characters
// that cannot be seen or that change the order of the text around them, \x20 for a
// blank at either end. [Parse] gives the name back.
func Append[T string | []byte](dst []byte, name T) []byte {
	for i := 0; i < len(name); {
		c := name[i]
		switch {
		case c == ' ' && (i == 0 || i == len(name)-1):
			dst = appendHex(dst, c)
			i++
			continue
		case c < utf8.RuneSelf:
			dst = appendASCII(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(name[i:min(i+utf8.UTFMax, len(name))]))
		switch {
		case r == utf8.RuneError && n == 1:
			dst = appendHex(dst, c)
		case unicode.IsPrint(r):
			dst = append(dst, name[i:i+n]...)
		default:
			dst = append(dst, `\u{`...)
			for shift := 28; shift >= 0; shift -= 4 {
				if d := r >> shift; d != 0 {
					dst = append(dst, hexDigits[d&15])
				}
			}
			dst = append(dst, '}')
		}
		i += n
	}
	return dst
}

func appendASCII(dst []byte, c byte) []byte {
	switch {
	case c == '\\':
		return append(dst, `\\`...)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c < ' ' || c == 0x7f:
		return appendHex(dst, c)
	}
	return append(dst, c)
}

func appendHex(dst []byte, c byte) []byte {
	return append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
}

// Parse gives the name that a text stands for; false if it stands for none. Which
// characters can be seen changes with the version of Unicode, so more than the text
// that [Append] makes today is accepted.
func Parse(s string) ([]byte, bool) {
	var name []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			name = append(name, s[i])
			i++
			continue
		}
		var n int
		if name, n = parseOne(name, s[i+1:]); n == 0 {
			return nil, false
		}
		i += 1 + n
	}
	return name, true
}

// parseOne appends what the text behind a backslash stands for, and gives the
// length of that text; 0: nothing known.
func parseOne(name []byte, s string) ([]byte, int) {
	if s == "" {
		return name, 0
	}
	if at := strings.IndexByte(`\nrt`, s[0]); at >= 0 {
		return append(name, "\\\n\r\t"[at]), 1
	}
	if s[0] == 'x' && len(s) >= 3 {
		if v, ok := parseHex(s[1:3]); ok {
			return append(name, byte(v)), 3
		}
		return name, 0
	}
	digits, braced := strings.CutPrefix(s, "u{")
	digits, _, closed := strings.Cut(digits, "}")
	v, ok := parseHex(digits)
	if !braced || !closed || !ok || !utf8.ValidRune(v) {
		return name, 0
	}
	return utf8.AppendRune(name, v), len(digits) + 3
}

func parseHex(s string) (v rune, ok bool) {
	for _, c := range []byte(s) {
		d := strings.IndexByte(hexDigits, c)
		if d < 0 || v > utf8.MaxRune>>4 {
			return 0, false
		}
		v = v<<4 | rune(d)
	}
	return v, s != ""
}

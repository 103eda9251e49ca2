package reports

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// EscapePath appends the text form of a name of any bytes, for people: \\ for a
// backslash, \n, \r, \t, \xNN for other control characters and for bytes that are
// not UTF-8, \u{N} for characters that cannot be seen or that change the order of
// the text around them, \x20 for a blank at either end. [UnescapePath] gives the bytes back, so different names
// never look the same.
func EscapePath(dst, name []byte) []byte {
	for i := 0; i < len(name); {
		c := name[i]
		switch {
		case c == ' ' && (i == 0 || i == len(name)-1):
			dst = appendHex(dst, c)
			i++
			continue
		case c < utf8.RuneSelf:
			dst = escapeASCII(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(name[i:])
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

// Escape is [EscapePath] for a string.
func Escape(s string) string { return string(EscapePath(nil, []byte(s))) }

func escapeASCII(dst []byte, c byte) []byte {
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

// UnescapePath reverses [EscapePath]; false if s is not what it makes.
func UnescapePath(s string) ([]byte, bool) {
	var name []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			name = append(name, s[i])
			i++
			continue
		}
		if i+1 == len(s) {
			return nil, false
		}
		switch s[i+1] {
		case '\\':
			name = append(name, '\\')
		case 'n':
			name = append(name, '\n')
		case 'r':
			name = append(name, '\r')
		case 't':
			name = append(name, '\t')
		case 'x':
			v, ok := parseHex(s[i+2 : min(i+4, len(s))])
			if !ok || len(s) < i+4 {
				return nil, false
			}
			name = append(name, byte(v))
			i += 2
		case 'u':
			hex, _, ok := strings.Cut(s[i+2:], "}")
			v, isHex := parseHex(strings.TrimPrefix(hex, "{"))
			if !ok || !isHex || hex[0] != '{' {
				return nil, false
			}
			name = utf8.AppendRune(name, rune(v))
			i += len(hex) + 1
		default:
			return nil, false
		}
		i += 2
	}
	return name, string(EscapePath(nil, name)) == s
}

func parseHex(s string) (v uint32, ok bool) {
	for _, c := range []byte(s) {
		d := strings.IndexByte(hexDigits, c)
		if d < 0 || v >= 1<<28 {
			return 0, false
		}
		v = v<<4 | uint32(d)
	}
	return v, s != ""
}

package planfile

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path is an absolute path: any bytes, clean. In a plan it is `path`, verbatim where
// it is UTF-8; else `path` shows it escaped and `path_b64` has the exact bytes.
type Path string

// Name is a name of any bytes, or a path below an item; written like a [Path].
type Name string

// Clean says what is wrong with a path of a plan, or nothing: it starts with one
// slash, ends without, and no component is empty, `.`, `..` or `.snapshot`; `/` and
// what lies in `/.reserved` are none. The error wraps [ErrInvalid].
func (p Path) Clean() error {
	s := string(p)
	if s == "" || s[0] != '/' {
		return invalidf("path %q is not absolute", s)
	}
	if s == "/.reserved" || strings.HasPrefix(s, "/.reserved/") {
		return invalidf("path %q is reserved", s)
	}
	return cleanNames(s, s[1:])
}

// Below reports whether p lies in dir, at any depth.
func (p Path) Below(dir Path) bool {
	return len(p) > len(dir) && p[:len(dir)] == dir && p[len(dir)] == '/'
}

// cleanNames checks the components of rel, which is shown as full.
func cleanNames(full, rel string) error {
	for from := 0; from <= len(rel); {
		end := strings.IndexByte(rel[from:], '/')
		if end < 0 {
			end = len(rel) - from
		}
		switch name := rel[from : from+end]; name {
		case "", ".", "..", ".snapshot":
			return invalidf("path %q has the component %q", full, name)
		}
		from += end + 1
	}
	return nil
}

// component gives the i-th name of a relative path, "" behind the last.
func component(rel string, i int) string {
	for ; i > 0; i-- {
		_, after, ok := strings.Cut(rel, "/")
		if !ok {
			return ""
		}
		rel = after
	}
	name, _, _ := strings.Cut(rel, "/")
	return name
}

// appendEscaped appends the form for people, as the inventory has it: \\ for a
// backslash, \n, \r, \t, \xNN for other control characters and for bytes that are
// not UTF-8, \u{N} for characters that do not show, \x20 for a blank at either end.
func appendEscaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == ' ' && (i == 0 || i == len(s)-1), r == utf8.RuneError && n == 1:
			dst = append(dst, '\\', 'x', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		case r < utf8.RuneSelf:
			dst = appendEscapedASCII(dst, s[i])
		case unicode.IsPrint(r):
			dst = append(dst, s[i:i+n]...)
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

func appendEscapedASCII(dst []byte, c byte) []byte {
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
		return append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, c)
}

// unescaped undoes appendEscaped. Which characters show changes with the version of
// Unicode, so any text that stands for the bytes will do, not just today's.
func unescaped(s string) (string, bool) {
	var b []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		var n int
		if b, n = unescapeOne(b, s[i+1:]); n == 0 {
			return "", false
		}
		i += 1 + n
	}
	return string(b), true
}

// unescapeOne appends what the text behind a backslash stands for, and gives the
// length of that text; 0: nothing known.
func unescapeOne(b []byte, s string) ([]byte, int) {
	if s == "" {
		return b, 0
	}
	if at := strings.IndexByte(`\nrt`, s[0]); at >= 0 {
		return append(b, "\\\n\r\t"[at]), 1
	}
	var one [1]byte
	if s[0] == 'x' && len(s) >= 3 && parseHex(one[:], s[1:3]) {
		return append(b, one[0]), 3
	}
	digits, ok := strings.CutPrefix(s, "u{")
	if !ok {
		return b, 0
	}
	digits, _, ok = strings.Cut(digits, "}")
	var r rune
	for _, c := range []byte(digits) {
		d := strings.IndexByte(hexDigits, c)
		if d < 0 || r > utf8.MaxRune>>4 {
			return b, 0
		}
		r = r<<4 | rune(d)
	}
	if !ok || digits == "" || !utf8.ValidRune(r) {
		return b, 0
	}
	return utf8.AppendRune(b, r), len(digits) + 3
}

// appendBase64 appends standard Base64 with padding.
func appendBase64(dst []byte, s string) []byte {
	return base64.StdEncoding.AppendEncode(dst, []byte(s))
}

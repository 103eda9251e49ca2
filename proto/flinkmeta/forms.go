package flinkmeta

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// forms gives the ways in which a path may stand in a file that Java wrote, all
// different, the path itself first: that one is not copied. There is none for
// java.net.URI.toASCIIString of a path that is not in Unicode's normal form C:
// that would need Unicode's tables, and other names would be found by it too.
func forms(path []byte) [][]byte {
	all := [][]byte{path}
	if !slices.ContainsFunc(path, func(c byte) bool { return !legalInURI(c) }) {
		return all
	}
	for _, form := range [][]byte{
		encodeModifiedUTF8(path),
		encodeModifiedUTF8(escape(path, false)),
		escape(path, true),
	} {
		if !slices.ContainsFunc(all, func(b []byte) bool { return bytes.Equal(b, form) }) {
			all = append(all, form)
		}
	}
	return all
}

// escape writes a path as java.net.URI does, with capital hexadecimal digits.
// Without all, what is neither ASCII nor a control or space character stays.
func escape(path []byte, all bool) []byte {
	out := make([]byte, 0, len(path))
	for len(path) > 0 {
		r, n := utf8.DecodeRune(path)
		var keep bool
		if r < utf8.RuneSelf {
			keep = legalInURI(byte(r))
		} else {
			keep = !all && !unicode.IsControl(r) && !unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
		}
		for _, b := range path[:n] {
			if keep {
				out = append(out, b)
			} else {
				const digits = "0123456789ABCDEF"
				out = append(out, '%', digits[b>>4], digits[b&15])
			}
		}
		path = path[n:]
	}
	return out
}

// legalInURI: characters of ASCII that java.net.URI leaves as they are in a path.
func legalInURI(c byte) bool {
	switch c {
	case '/', '-', '_', '.', '!', '~', '*', '\'', '(', ')', ':', '@', '&', '=', '+', '$', ',', ';':
		return true
	}
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

package flinkmeta

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// forms gives the ways in which a path may stand in a file that Java wrote, all
// different, the path itself first.
func forms(path []byte) [][]byte {
	all := [][]byte{slices.Clone(path)}
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
		keep := !all && !unicode.IsControl(r) && !unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
		if r < utf8.RuneSelf {
			keep = legalInURI(byte(r))
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
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		bytes.IndexByte([]byte("/-_.!~*'():@&=+$,;"), c) >= 0
}

package reports

import "fsweep/proto/pathtext"

const hexDigits = "0123456789abcdef"

// EscapePath appends the text form of a name, for people: see [pathtext.Append].
// [UnescapePath] gives the bytes back.
func EscapePath(dst, name []byte) []byte { return pathtext.Append(dst, name) }

// Escape is [EscapePath] for a string.
func Escape(s string) string { return string(pathtext.Append(nil, s)) }

// UnescapePath reverses [EscapePath]; false if s is not what it makes.
func UnescapePath(s string) ([]byte, bool) {
	name, ok := pathtext.Parse(s)
	if !ok || string(EscapePath(nil, name)) != s {
		return nil, false
	}
	return name, true
}

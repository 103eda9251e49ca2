package pathtext

import (
	"testing"

	"pgregory.net/rapid"
)

// TestText: the form for people gives the bytes back.
func TestText(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		{"/a b/c", "/a b/c"},
		{" a ", `\x20a\x20`},
		{"a\\b", `a\\b`},
		{"a\n\r\t\x00\x7f", `a\n\r\t\x00\x7f`},
		{"\xff\xfeé", `\xff\xfeé`},
		{"\u202e\u00a0\U000e0001", `\u{202e}\u{a0}\u{e0001}`},
		{"\xed\xa0\x80", `\xed\xa0\x80`},
	} {
		if got := string(Append(nil, tc[0])); got != tc[1] {
			t.Errorf("%q: %s, want %s", tc[0], got, tc[1])
		}
	}
	for _, s := range []string{`\`, `\q`, `\x`, `\x4`, `\xg0`, `\u`, `\u{`, `\u{}`, `\u{41`, `\u{110000}`, `\u{d800}`, `\u{000000000041000000}`, `\u41}`} {
		if got, ok := Parse(s); ok {
			t.Errorf("%s: %q", s, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if got, ok := Parse(string(Append(nil, s))); !ok || string(got) != s {
			t.Fatalf("%q", got)
		}
	})
}

package reports

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestEscapePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"/plain name", "/plain name"},
		{"/täglich/日本", "/täglich/日本"},
		{"/a\tb\nc\rd", `/a\tb\nc\rd`},
		{`/a\tb`, `/a\\tb`},
		{"/\x00\x1b[31m\x7f", `/\x00\x1b[31m\x7f`},
		{"/\xff\xc3", `/\xff\xc3`},
		{`/\xff`, `/\\xff`},
		{"/a\u202eb", `/a\u{202e}b`},
		{"/a\u2028b\u00a0c\u0085d", `/a\u{2028}b\u{a0}c\u{85}d`},
		{"/\U000e0001", `/\u{e0001}`},
		{"/trail ", `/trail\x20`},
		{" a b ", `\x20a b\x20`},
		{"/%x0A\"'", `/%x0A"'`},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
		if back, ok := UnescapePath(c.want); !ok || string(back) != c.in {
			t.Errorf("%s: got back %q, %v", c.want, back, ok)
		}
	}
	for _, s := range []string{`\`, `\q`, `\x1`, `\xg0`, `\u`, `\u{`, `\u{}`, `\u12}`, `\u{41}`, `\x41`, `\u{110000}`, "\n", `\u{fffffffff}`} {
		if b, ok := UnescapePath(s); ok {
			t.Errorf("%q is no escaped name, but gave %q", s, b)
		}
	}
}

func FuzzEscapePath(f *testing.F) {
	for _, s := range []string{"/a", "/\\\n\xff", "\u202e\ufffd", `\u{41}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, name []byte) {
		s := EscapePath(nil, name)
		if !utf8.Valid(s) || bytes.ContainsAny(s, "\n\r\t\x00\x1b") {
			t.Errorf("%q: not fit for a terminal: %q", name, s)
		}
		if back, ok := UnescapePath(string(s)); !ok || !bytes.Equal(back, name) {
			t.Errorf("%q became %s and came back as %q, %v", name, s, back, ok)
		}
	})
}

func FuzzUnescapePath(f *testing.F) {
	f.Add(`/a\\b\n\x00\u{202e}`)
	f.Fuzz(func(t *testing.T, s string) {
		if name, ok := UnescapePath(s); ok && Escape(string(name)) != s {
			t.Errorf("%q is accepted for %q, whose form is %q", s, name, Escape(string(name)))
		}
	})
}

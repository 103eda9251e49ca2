package canonical

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// constant codes a fixed word.
func (c *Coder) constant(word string) {
	if !c.reading {
		c.value(word)
		return
	}
	if got := c.readString(true); c.err == nil && got != word {
		c.Fail("%q where %q should be", got, word)
	}
}

// value writes a string; one that is not UTF-8 is an error.
func (c *Coder) value(s string) {
	if !utf8.ValidString(s) {
		c.Fail("text is not UTF-8: %q", s)
		return
	}
	c.b = appendString(c.b, s)
}

// appendString writes a JSON string. Escaped is what JSON demands, and U+2028 and
// U+2029, which some tools take for ends of lines.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c != '"' && c != '\\' && c != 0xe2 {
			i++
			continue
		}
		n := 1
		if s[i] == 0xe2 {
			if !strings.HasPrefix(s[i:], "\u2028") && !strings.HasPrefix(s[i:], "\u2029") {
				i++
				continue
			}
			n = 3
		}
		dst = append(dst, s[from:i]...)
		dst = appendStringEscape(dst, s[i:i+n])
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func appendStringEscape(dst []byte, s string) []byte {
	switch s {
	case `"`, `\`:
		return append(append(dst, '\\'), s...)
	case "\u2028":
		return append(dst, `\u2028`...)
	case "\u2029":
		return append(dst, `\u2029`...)
	}
	if at := strings.IndexByte("\b\f\n\r\t", s[0]); at >= 0 {
		return append(dst, '\\', "bfnrt"[at])
	}
	return append(dst, '\\', 'u', '0', '0', HexDigits[s[0]>>4], HexDigits[s[0]&15])
}

// readString reads what appendString writes. Strings that repeat from line to line
// are handed out without a copy of their own.
func (c *Coder) readString(repeats bool) string {
	if !c.expect('"') {
		return ""
	}
	from := c.p
	escaped := false
	for {
		if c.p >= len(c.b) {
			c.Fail("the line ends in a string")
			return ""
		}
		ch := c.b[c.p]
		if ch == '"' {
			break
		}
		if ch < ' ' {
			c.Fail("control character in a string")
			return ""
		}
		if ch == '\\' {
			escaped = true
			c.p++
		}
		c.p++
	}
	raw := c.b[from:c.p]
	c.p++
	if !utf8.Valid(raw) {
		c.p = from + validPrefix(raw)
		c.Fail("invalid UTF-8")
		return ""
	}
	if escaped || bytes.IndexByte(raw, 0xe2) >= 0 { // the latter can be U+2028, unescaped
		return c.unquote(raw, from)
	}
	if repeats {
		return c.intern(raw)
	}
	return string(raw)
}

func validPrefix(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

func (c *Coder) intern(raw []byte) string {
	if s, ok := c.names[string(raw)]; ok {
		return s
	}
	if c.names == nil || len(c.names) >= maxNames {
		c.names = make(map[string]string)
	}
	s := string(raw)
	if len(s) <= 256 {
		c.names[s] = s
	}
	return s
}

// unquote undoes the escapes of raw, which starts at from, and demands that they
// are those that appendString makes.
func (c *Coder) unquote(raw []byte, from int) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		if i >= len(raw) {
			break // the escape is the closing quote: found out below
		}
		if at := strings.IndexByte(`"\bfnrt`, raw[i]); at >= 0 {
			out = append(out, "\"\\\b\f\n\r\t"[at])
			continue
		}
		var code [2]byte
		if raw[i] == 'u' && len(raw) >= i+5 && ParseHex(code[:], raw[i+1:i+5]) {
			out = utf8.AppendRune(out, rune(code[0])<<8|rune(code[1]))
			i += 4
		}
	}
	s := string(out)
	c.scratch = appendString(c.scratch[:0], s)
	if string(c.scratch[1:len(c.scratch)-1]) != string(raw) {
		c.p = from
		c.Fail("a string that is not written in the canonical way: %q", raw[:min(len(raw), 100)])
		return ""
	}
	return s
}

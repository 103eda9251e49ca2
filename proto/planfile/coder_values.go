package planfile

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"fsweep/proto/pathtext"
)

// number codes a signed integer that is always there.
func (c *coder) number(name string, v *int64) {
	if c.key(name, true, false) {
		c.integer(v)
	}
}

// maybe codes one that is absent when it is 0.
func (c *coder) maybe(name string, v *int64) {
	if c.key(name, *v != 0, true) {
		c.integer(v)
		c.notZero(name, *v == 0)
	}
}

// known codes one that can be unknown, and be 0.
func (c *coder) known(name string, v **int64) {
	if !c.key(name, *v != nil, true) {
		return
	}
	if c.reading {
		*v = new(int64)
	}
	c.integer(*v)
}

func (c *coder) notZero(name string, zero bool) {
	if zero && c.reading {
		c.fail("%s is left out when it is empty", name)
	}
}

func (c *coder) integer(v *int64) {
	if !c.reading {
		c.b = strconv.AppendInt(c.b, *v, 10)
		return
	}
	negative := c.peek('-')
	if negative {
		c.p++
	}
	u := c.digits()
	switch {
	case negative && u == 0, !negative && u > 1<<63-1, u > 1<<63:
		c.fail("no integer of 64 bits")
	case negative:
		*v = -int64(u)
	default:
		*v = int64(u)
	}
}

// id codes an inode id; an optional one is absent when it is 0.
func (c *coder) id(name string, v *uint64, optional bool) {
	if !c.key(name, *v != 0, optional) {
		return
	}
	if c.reading {
		*v = c.digits()
		c.notZero(name, *v == 0 && optional)
		return
	}
	c.b = strconv.AppendUint(c.b, *v, 10)
}

// digits reads a number without sign, fraction, exponent or leading zeros.
func (c *coder) digits() (u uint64) {
	from := c.p
	for c.p < len(c.b) && c.b[c.p]-'0' <= 9 && c.err == nil {
		d := uint64(c.b[c.p] - '0')
		if u > (1<<64-1-d)/10 {
			c.fail("the integer is too large")
			return 0
		}
		u = u*10 + d
		c.p++
	}
	switch {
	case c.err != nil:
	case c.p == from:
		c.fail("an integer should be here")
	case c.b[from] == '0' && c.p > from+1:
		c.fail("an integer with a leading zero")
	case c.p < len(c.b) && (c.b[c.p] == '.' || c.b[c.p]|0x20 == 'e'):
		c.fail("a number with a fraction or exponent; only integers are allowed")
	}
	return u
}

// boolean codes true or false.
func (c *coder) boolean(name string, v *bool) {
	if !c.key(name, true, false) {
		return
	}
	switch {
	case !c.reading:
		c.b = strconv.AppendBool(c.b, *v)
	case bytes.HasPrefix(c.b[c.p:], []byte("true")):
		*v = true
		c.p += 4
	case bytes.HasPrefix(c.b[c.p:], []byte("false")):
		c.p += 5
	default:
		c.fail("true or false should be here")
	}
}

// flag codes true, or nothing.
func (c *coder) flag(name string, v *bool) {
	if c.key(name, *v, true) {
		switch {
		case !c.reading:
			c.b = append(c.b, "true"...)
		case bytes.HasPrefix(c.b[c.p:], []byte("true")):
			*v = true
			c.p += 4
		default:
			c.fail("only true can be here")
		}
	}
}

// hash codes 32 bytes as text.
func (c *coder) hash(name, prefix string, v *[32]byte) {
	if !c.key(name, true, false) {
		return
	}
	if !c.reading {
		c.b = append(append(c.b, '"'), prefix...)
		for _, x := range v {
			c.b = append(c.b, hexDigits[x>>4], hexDigits[x&15])
		}
		c.b = append(c.b, '"')
		return
	}
	end := c.p + len(prefix) + 2*len(v) + 2
	if end > len(c.b) || c.b[c.p] != '"' || c.b[end-1] != '"' || string(c.b[c.p+1:c.p+1+len(prefix)]) != prefix ||
		!parseHex(v[:], c.b[c.p+1+len(prefix):end-1]) {
		c.fail("%s should be %s and 64 lower-case hexadecimal digits", name, prefix)
		return
	}
	c.p = end
}

// text codes a string of UTF-8 that is always there.
func (c *coder) text(name string, v *string) { c.anyText(name, v, false) }

// maybeText codes one that is absent when it is empty.
func (c *coder) maybeText(name string, v *string) { c.anyText(name, v, true) }

func (c *coder) anyText(name string, v *string, optional bool) {
	if !c.key(name, *v != "", optional) {
		return
	}
	if !c.reading {
		c.value(*v)
		return
	}
	*v = c.readString(true)
	c.notZero(name, *v == "" && optional)
}

// bytes codes a string of any bytes: key, and key_b64 where it is not UTF-8.
func (c *coder) bytes(name string, v *string, optional, repeats bool) {
	if !c.key(name, *v != "", optional) {
		return
	}
	if c.reading {
		*v = c.readString(repeats)
		c.notZero(name, *v == "" && optional)
		if c.suffixed(name, "_b64", false, true) {
			*v = c.readBase64(*v)
		}
		return
	}
	if utf8.ValidString(*v) {
		c.value(*v)
		return
	}
	c.scratch = pathtext.Append(c.scratch[:0], *v)
	c.b = appendString(c.b, string(c.scratch))
	c.suffixed(name, "_b64", true, false)
	c.b = append(appendBase64(append(c.b, '"'), *v), '"')
}

// readBase64 reads the exact bytes of what was shown escaped.
func (c *coder) readBase64(shown string) string {
	from := c.p
	s := c.readString(false)
	if c.err != nil {
		return ""
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	un, ok := pathtext.Parse(shown)
	switch {
	case err != nil:
		c.p = from
		c.fail("no Base64")
	case utf8.Valid(b):
		c.p = from
		c.fail("Base64 of a name that is UTF-8")
	case !ok || string(un) != string(b):
		c.p = from
		c.fail("Base64 of another name than the one shown, %q", shown)
	}
	return string(b)
}

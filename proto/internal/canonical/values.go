package canonical

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"fsweep/proto/pathtext"
)

// Number codes a signed integer that is always there.
func (c *Coder) Number(name string, v *int64) {
	if c.Key(name, true, false) {
		c.integer(v)
	}
}

// Maybe codes one that is absent when it is 0.
func (c *Coder) Maybe(name string, v *int64) {
	if c.Key(name, *v != 0, true) {
		c.integer(v)
		c.notZero(name, *v == 0)
	}
}

// Optional codes one that can be unknown, and be 0.
func (c *Coder) Optional(name string, v **int64) {
	if !c.Key(name, *v != nil, true) {
		return
	}
	if c.reading {
		*v = new(int64)
	}
	c.integer(*v)
}

func (c *Coder) notZero(name string, zero bool) {
	if zero && c.reading {
		c.Fail("%s is left out when it is empty", name)
	}
}

func (c *Coder) integer(v *int64) {
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
		c.Fail("no integer of 64 bits")
	case negative:
		*v = -int64(u)
	default:
		*v = int64(u)
	}
}

// ID codes an inode id; an optional one is absent when it is 0.
func (c *Coder) ID(name string, v *uint64, optional bool) {
	if !c.Key(name, *v != 0, optional) {
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
func (c *Coder) digits() (u uint64) {
	from := c.p
	for c.p < len(c.b) && c.b[c.p]-'0' <= 9 && c.err == nil {
		d := uint64(c.b[c.p] - '0')
		if u > (1<<64-1-d)/10 {
			c.Fail("the integer is too large")
			return 0
		}
		u = u*10 + d
		c.p++
	}
	switch {
	case c.err != nil:
	case c.p == from:
		c.Fail("an integer should be here")
	case c.b[from] == '0' && c.p > from+1:
		c.Fail("an integer with a leading zero")
	case c.p < len(c.b) && (c.b[c.p] == '.' || c.b[c.p]|0x20 == 'e'):
		c.Fail("a number with a fraction or exponent; only integers are allowed")
	}
	return u
}

// Bool codes true or false.
func (c *Coder) Bool(name string, v *bool) {
	if !c.Key(name, true, false) {
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
		c.Fail("true or false should be here")
	}
}

// Flag codes true, or nothing.
func (c *Coder) Flag(name string, v *bool) {
	if c.Key(name, *v, true) {
		switch {
		case !c.reading:
			c.b = append(c.b, "true"...)
		case bytes.HasPrefix(c.b[c.p:], []byte("true")):
			*v = true
			c.p += 4
		default:
			c.Fail("only true can be here")
		}
	}
}

// Hex codes bytes as lower-case hexadecimal digits behind a prefix.
func (c *Coder) Hex(name, prefix string, v []byte) {
	if !c.Key(name, true, false) {
		return
	}
	if !c.reading {
		c.b = append(append(c.b, '"'), prefix...)
		for _, x := range v {
			c.b = append(c.b, HexDigits[x>>4], HexDigits[x&15])
		}
		c.b = append(c.b, '"')
		return
	}
	end := c.p + len(prefix) + 2*len(v) + 2
	if end > len(c.b) || c.b[c.p] != '"' || c.b[end-1] != '"' || string(c.b[c.p+1:c.p+1+len(prefix)]) != prefix ||
		!ParseHex(v, c.b[c.p+1+len(prefix):end-1]) {
		c.Fail("%s should be %s and %d lower-case hexadecimal digits", name, prefix, 2*len(v))
		return
	}
	c.p = end
}

// Text codes a string of UTF-8 that is always there.
func (c *Coder) Text(name string, v *string) { c.anyText(name, v, false) }

// MaybeText codes one that is absent when it is empty.
func (c *Coder) MaybeText(name string, v *string) { c.anyText(name, v, true) }

func (c *Coder) anyText(name string, v *string, optional bool) {
	if !c.Key(name, *v != "", optional) {
		return
	}
	if !c.reading {
		c.value(*v)
		return
	}
	*v = c.readString(true)
	c.notZero(name, *v == "" && optional)
}

// Bytes codes a string of any bytes: key, and key_b64 where it is not UTF-8.
func (c *Coder) Bytes(name string, v *string, optional, repeats bool) {
	if !c.Key(name, *v != "", optional) {
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
	c.b = append(base64.StdEncoding.AppendEncode(append(c.b, '"'), []byte(*v)), '"')
}

// readBase64 reads the exact bytes of what was shown escaped.
func (c *Coder) readBase64(shown string) string {
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
		c.Fail("no Base64")
	case utf8.Valid(b):
		c.p = from
		c.Fail("Base64 of a name that is UTF-8")
	case !ok || string(un) != string(b):
		c.p = from
		c.Fail("Base64 of another name than the one shown, %q", shown)
	}
	return string(b)
}

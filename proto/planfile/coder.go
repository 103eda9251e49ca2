package planfile

import "bytes"

// coder writes or reads one line. A type describes its keys once, in a method
// `fields`, which serves both ways: writing appends them, reading demands them in
// the same order. So only the canonical form can be read, and whatever else JSON
// allows (blanks, another order, repeated or unknown keys, keys in other letters,
// 1.0, 1e3, needless escapes) is an error with its column.
//
// Errors stick: after the first one nothing more happens.
type coder struct {
	reading bool
	b       []byte // writing: the line so far; reading: the line
	p       int    // reading: how far
	first   bool   // no key of the present object was written or read
	err     error
	scratch []byte
	names   map[string]string // strings that repeat from line to line
}

// maxList bounds the memory that one line can ask for.
const maxList = 10_000

// maxNames bounds the memory of repeated strings.
const maxNames = 4096

// start begins a line of one type.
func (c *coder) start(kind string) {
	c.err, c.p, c.first = nil, 0, true
	if !c.reading {
		c.b = append(c.b[:0], '{')
	} else {
		c.expect('{')
	}
	if c.key("type", true, false) {
		c.constant(kind)
	}
}

// end finishes the line; writing adds the newline.
func (c *coder) end() error {
	c.leave()
	if c.err == nil && c.reading && c.p < len(c.b) {
		if c.b[c.p] == '\r' {
			c.fail("the line ends with CR LF")
		} else {
			c.fail("data after the object")
		}
	}
	if c.err == nil && !c.reading {
		c.b = append(c.b, '\n')
		if len(c.b) > maxLine {
			c.fail("a line of %d bytes, at most %d are allowed", len(c.b), maxLine)
		}
	}
	return c.err
}

// fail notes an error at the present place.
func (c *coder) fail(format string, args ...any) {
	if c.err != nil {
		return
	}
	c.err = invalidf(format, args...)
	if c.reading {
		c.err = &columnError{c.p + 1, c.err}
	}
}

func (c *coder) expect(want byte) bool {
	if c.err != nil {
		return false
	}
	if c.p >= len(c.b) {
		c.fail("the line ends where %q should be", want)
		return false
	}
	if c.b[c.p] != want {
		c.fail("%q where %q should be", c.b[c.p], want)
		return false
	}
	c.p++
	return true
}

// peek reports whether the byte to be read next is b.
func (c *coder) peek(b byte) bool { return c.err == nil && c.p < len(c.b) && c.b[c.p] == b }

// key writes the key if present or not optional; reading it tells whether it is
// there. The value follows if and only if the answer is true.
func (c *coder) key(name string, present, optional bool) bool {
	return c.suffixed(name, "", present, optional)
}

func (c *coder) suffixed(name, suffix string, present, optional bool) bool {
	if c.err != nil {
		return false
	}
	if c.reading {
		return c.readKey(name, suffix, optional)
	}
	if optional && !present {
		return false
	}
	if !c.first {
		c.b = append(c.b, ',')
	}
	c.first = false
	c.b = append(c.b, '"')
	c.b = append(c.b, name...)
	c.b = append(c.b, suffix...)
	c.b = append(c.b, '"', ':')
	return true
}

func (c *coder) readKey(name, suffix string, optional bool) bool {
	p := c.p
	ok := c.first || p < len(c.b) && c.b[p] == ','
	if !c.first {
		p++
	}
	end := p + len(name) + len(suffix) + 3
	ok = ok && end <= len(c.b) && c.b[p] == '"' && string(c.b[p+1:p+1+len(name)]) == name &&
		string(c.b[p+1+len(name):end-2]) == suffix && c.b[end-2] == '"' && c.b[end-1] == ':'
	if ok {
		c.p, c.first = end, false
		return true
	}
	if !optional {
		c.unexpectedKey(`key "` + name + suffix + `" should be here`)
	}
	return false
}

// unexpectedKey says what stands where a key or the end of an object should be.
func (c *coder) unexpectedKey(want string) {
	rest := c.b[min(c.p, len(c.b)):]
	if len(rest) == 0 {
		c.fail("the line ends; %s", want)
		return
	}
	rest = bytes.TrimPrefix(rest, []byte{','})
	if len(rest) > 0 && rest[0] == '"' {
		if name, _, ok := bytes.Cut(rest[1:], []byte{'"'}); ok && len(name) < 100 {
			c.fail("key %q is unknown, repeated or out of order; %s", name, want)
			return
		}
	}
	c.fail("%q; %s", rest[:min(1, len(rest))], want)
}

// enter begins a nested object that is always there.
func (c *coder) enter(name string) bool { return c.key(name, true, false) && c.open('{') }

// open begins an object or list.
func (c *coder) open(bracket byte) bool {
	c.first = true
	if c.reading {
		return c.expect(bracket)
	}
	c.b = append(c.b, bracket)
	return true
}

// leave ends an object.
func (c *coder) leave() {
	switch {
	case c.err != nil:
	case !c.reading:
		c.b = append(c.b, '}')
	case c.peek('}'):
		c.p++
	default:
		c.unexpectedKey("the object should end here")
	}
	c.first = false
}

// list codes objects; an empty list is no key at all.
func list[T any](c *coder, name string, s *[]T, fields func(*T, *coder)) {
	if !c.key(name, len(*s) > 0, true) || !c.open('[') {
		return
	}
	if !c.reading {
		c.atMost(name, len(*s))
		for i := range *s {
			if i > 0 {
				c.b = append(c.b, ',')
			}
			c.open('{')
			fields(&(*s)[i], c)
			c.leave()
		}
		c.b = append(c.b, ']')
		return
	}
	*s = make([]T, 0, 4)
	for more := true; more && c.open('{'); more = c.next() {
		var zero T
		*s = append(*s, zero)
		fields(&(*s)[len(*s)-1], c)
		c.leave()
		c.atMost(name, len(*s))
	}
	c.first = false
}

func (c *coder) atMost(name string, n int) {
	if n > maxList {
		c.fail("%s has more than %d elements", name, maxList)
	}
}

// next goes past the comma to a further element, or past the end of the list.
func (c *coder) next() bool {
	if c.peek(',') {
		c.p++
		return true
	}
	c.expect(']')
	return false
}

// texts codes a list of strings; an empty one is no key at all.
func (c *coder) texts(name string, s *[]string) {
	if !c.key(name, len(*s) > 0, true) || !c.open('[') {
		return
	}
	if !c.reading {
		c.atMost(name, len(*s))
		for i := range *s {
			if i > 0 {
				c.b = append(c.b, ',')
			}
			c.value((*s)[i])
		}
		c.b = append(c.b, ']')
	} else {
		for more := true; more && c.err == nil; more = c.next() {
			*s = append(*s, c.readString(false))
			c.atMost(name, len(*s))
		}
	}
	c.first = false
}

package canonical

import (
	"bytes"
	"fmt"
	"strconv"
)

// Coder writes or reads one line. A type describes its keys once, in a function
// that serves both ways: writing appends them, reading demands them in the same
// order. So only the canonical form can be read, and whatever else JSON allows
// (blanks, another order, repeated or unknown keys, keys in other letters, 1.0, 1e3,
// needless escapes) is an [*Error] with its column.
//
// Errors stick: after the first one nothing more happens. The zero value is ready to
// write. A Coder belongs to one goroutine at a time.
type Coder struct {
	reading bool
	b       []byte // writing: the line so far; reading: the line
	p       int    // reading: how far
	first   bool   // no key of the present object was written or read
	err     *Error
	scratch []byte
	names   map[string]string // strings that repeat from line to line
}

// What bounds the memory that one line can ask for.
const (
	MaxList = 10_000   // elements of a list
	MaxLine = 16 << 20 // bytes of a line, its newline included
)

// LineStart is what every line starts with: the key of its type.
const LineStart = `{"type":"`

// maxNames bounds the memory of repeated strings.
const maxNames = 4096

// Write begins to write a line of one type.
func (c *Coder) Write(kind string) {
	*c = Coder{b: append(c.b[:0], '{'), first: true, scratch: c.scratch, names: c.names}
	c.begin(kind)
}

// Read begins to read a line of one type, without its newline. The line must not
// change before End.
func (c *Coder) Read(line []byte, kind string) {
	*c = Coder{reading: true, b: line, first: true, scratch: c.scratch, names: c.names}
	c.expect('{')
	c.begin(kind)
}

// ReadOn begins to read in the middle of an object, behind a value: the first bytes
// of a line that may be no more than those.
func (c *Coder) ReadOn(line []byte, at int) {
	*c = Coder{reading: true, b: line, p: at, scratch: c.scratch, names: c.names}
}

func (c *Coder) begin(kind string) {
	if c.Key("type", true, false) {
		c.constant(kind)
	}
}

// Reading tells whether the coder reads.
func (c *Coder) Reading() bool { return c.reading }

// Line gives what was written, with its newline after End; valid until the next Write.
func (c *Coder) Line() []byte { return c.b }

// ShareNames makes c hand out the repeated strings of another coder.
func (c *Coder) ShareNames(with *Coder) { c.names = with.names }

// Err gives the first error, an [*Error].
func (c *Coder) Err() error {
	if c.err == nil { // not a nil pointer in an interface
		return nil
	}
	return c.err
}

// End finishes the line; writing adds the newline.
func (c *Coder) End() error {
	c.Leave()
	if c.err == nil && c.reading && c.p < len(c.b) {
		if c.b[c.p] == '\r' {
			c.Fail("the line ends with CR LF")
		} else {
			c.Fail("data after the object")
		}
	}
	if c.err == nil && !c.reading {
		c.b = append(c.b, '\n')
		if len(c.b) > MaxLine {
			c.Fail("a line of %d bytes, at most %d are allowed", len(c.b), MaxLine)
		}
	}
	return c.Err()
}

// Fail notes an error at the present place, if it is the first.
func (c *Coder) Fail(format string, args ...any) {
	if c.err != nil {
		return
	}
	c.err = &Error{Reason: fmt.Sprintf(format, args...)}
	if c.reading {
		c.err.Column = c.p + 1
	}
}

// At gives the place of the next key, for FailAt.
func (c *Coder) At() int { return c.p }

// FailAt is Fail for a key whose place At gave, with its value read by now.
func (c *Coder) FailAt(at int, format string, args ...any) {
	if c.err == nil && c.reading && c.peekAt(at, ',') {
		at++
	}
	c.p = at
	c.Fail(format, args...)
}

func (c *Coder) peekAt(at int, b byte) bool { return at < len(c.b) && c.b[at] == b }

func (c *Coder) expect(want byte) bool {
	if c.err != nil {
		return false
	}
	if c.p >= len(c.b) {
		c.Fail("the line ends where %q should be", want)
		return false
	}
	if c.b[c.p] != want {
		c.Fail("%q where %q should be", c.b[c.p], want)
		return false
	}
	c.p++
	return true
}

// peek reports whether the byte to be read next is b.
func (c *Coder) peek(b byte) bool { return c.err == nil && c.p < len(c.b) && c.b[c.p] == b }

// Key writes the key if present or not optional; reading it tells whether it is
// there. The value follows if and only if the answer is true.
func (c *Coder) Key(name string, present, optional bool) bool {
	return c.suffixed(name, "", present, optional)
}

func (c *Coder) suffixed(name, suffix string, present, optional bool) bool {
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

func (c *Coder) readKey(name, suffix string, optional bool) bool {
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
func (c *Coder) unexpectedKey(want string) {
	rest := c.b[min(c.p, len(c.b)):]
	if len(rest) == 0 {
		c.Fail("the line ends; %s", want)
		return
	}
	rest = bytes.TrimPrefix(rest, []byte{','})
	if len(rest) > 0 && rest[0] == '"' {
		if name, _, ok := bytes.Cut(rest[1:], []byte{'"'}); ok && len(name) < 100 {
			c.Fail("key %q is unknown, repeated or out of order; %s", name, want)
			return
		}
	}
	c.Fail("%q; %s", rest[:min(1, len(rest))], want)
}

// Enter begins a nested object that is always there.
func (c *Coder) Enter(name string) bool { return c.Key(name, true, false) && c.Open('{') }

// Open begins an object or list.
func (c *Coder) Open(bracket byte) bool {
	c.first = true
	if c.reading {
		return c.expect(bracket)
	}
	c.b = append(c.b, bracket)
	return true
}

// Leave ends an object.
func (c *Coder) Leave() {
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

// List codes objects; an empty list is no key at all.
func List[T any](c *Coder, name string, s *[]T, fields func(*T, *Coder)) {
	if !c.Key(name, len(*s) > 0, true) || !c.Open('[') {
		return
	}
	if !c.reading {
		c.atMost(name, len(*s))
		for i := range *s {
			if i > 0 {
				c.b = append(c.b, ',')
			}
			c.Open('{')
			fields(&(*s)[i], c)
			c.Leave()
		}
		c.b = append(c.b, ']')
		return
	}
	*s = make([]T, 0, 4)
	for more := true; more && c.Open('{'); more = c.next() {
		var zero T
		*s = append(*s, zero)
		fields(&(*s)[len(*s)-1], c)
		c.Leave()
		c.atMost(name, len(*s))
	}
	c.first = false
}

// IDs codes a list of inode ids; an empty one is no key at all.
func (c *Coder) IDs(name string, s *[]uint64) {
	if !c.Key(name, len(*s) > 0, true) || !c.Open('[') {
		return
	}
	if !c.reading {
		c.atMost(name, len(*s))
		for i, id := range *s {
			if i > 0 {
				c.b = append(c.b, ',')
			}
			c.b = strconv.AppendUint(c.b, id, 10)
		}
		c.b = append(c.b, ']')
	} else {
		for more := true; more && c.err == nil; more = c.next() {
			*s = append(*s, c.digits())
			c.atMost(name, len(*s))
		}
	}
	c.first = false
}

func (c *Coder) atMost(name string, n int) {
	if n > MaxList {
		c.Fail("%s has more than %d elements", name, MaxList)
	}
}

// next goes past the comma to a further element, or past the end of the list.
func (c *Coder) next() bool {
	if c.peek(',') {
		c.p++
		return true
	}
	c.expect(']')
	return false
}

// Texts codes a list of strings; an empty one is no key at all.
func (c *Coder) Texts(name string, s *[]string) {
	if !c.Key(name, len(*s) > 0, true) || !c.Open('[') {
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

package flinkmeta

import (
	"bytes"
	"slices"
)

const (
	// maxPathChars is what a name-node takes, in UTF-16 units as Java counts:
	// HdfsServerConstants.MAX_PATH_LENGTH, of the path without scheme and authority
	// and without escapes.
	maxPathChars = 8000
	// maxAuthority bounds host and port: 253 characters, a colon and 5 digits, and
	// some for a user.
	maxAuthority = 320
	// maxPathURI bounds all of a URI: a character has three bytes at most, and each
	// of these three in an escape.
	maxPathURI = 9*maxPathChars + maxScheme + len("://") + maxAuthority

	charBlock = 64 // bytes that are counted once
)

// possiblePath tells whether HDFS can have the path that b[from:end] is, or the
// path of that URI.
func (c *charCount) possiblePath(b []byte, base int64, from, end int) bool {
	from += pathStart(b[from:end])
	if end-from <= maxPathChars {
		return true
	}
	// DFSUtil.isValidName, which client and name-node ask, allows no colon. For less
	// than this it is left to them: other file systems do allow it.
	return c.chars(b, base, from, end) <= maxPathChars && bytes.IndexByte(b[from:end], ':') < 0
}

// pathStart gives where the path of an absolute path or URI starts.
func pathStart(text []byte) int {
	if text[0] == '/' {
		return 0
	}
	start := bytes.IndexByte(text, ':') + 1
	if bytes.HasPrefix(text[start:], []byte("//")) {
		start += 2
		if n := bytes.IndexByte(text[start:min(len(text), start+maxAuthority+1)], '/'); n >= 0 {
			start += n
		}
	}
	return start
}

// charCount counts the characters of long texts. It keeps the sums of blocks, so
// that many texts in one another cost hardly more than one.
type charCount struct {
	first int64 // block in the stream
	sums  []int // characters from the first block to the start of each
}

// chars counts the characters of a path in b[from:end], or gives less. It has
// several blocks; b[0] is at an offset in the stream, and two bytes precede from.
func (c *charCount) chars(b []byte, base int64, from, end int) int {
	start := (base + int64(from) + charBlock - 1) / charBlock // blocks from here
	last := (base + int64(end)) / charBlock                   // to there are all in it
	place := func(block int64) int { return int(block*charBlock - base) }
	switch known := start - c.first; {
	case known < 0 || known >= int64(len(c.sums)):
		c.first, c.sums = start, append(c.sums[:0], 0)
	case known > int64(2*maxPathURI/charBlock):
		c.first, c.sums = start, slices.Delete(c.sums, 0, int(known))
	}
	for next := c.first + int64(len(c.sums)); next <= last; next++ {
		c.sums = append(c.sums, c.sums[len(c.sums)-1]+countChars(b, place(next-1), place(next)))
	}
	return countChars(b, from, place(start)) + c.sums[last-c.first] - c.sums[start-c.first] + countChars(b, place(last), end)
}

// countChars counts an escape at its first digit.
func countChars(b []byte, from, end int) (n int) {
	for i := from; i < end; i++ {
		switch c := b[i]; {
		case c == '%', c>>6 == 0b10: // of the character before
		case b[i-1] == '%' && hexDigit(c)>>2 == 0b10: // the same, escaped
		case b[i-1] != '%' && b[i-2] == '%': // the second digit
		default:
			n++
		}
	}
	return n
}

package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"io"
)

const (
	// maxLongString bounds the strings above 65,535 bytes that are looked at.
	maxLongString = 1 << 20
	// maxScheme bounds the name before ":/" of a URI.
	maxScheme = 32
	// maxOutput bounds what is reported for each byte of the file of strings that
	// the structure does not show; firstOutput is granted beside it. Without strings
	// in one another it is 2 at most, as every string can be reported twice.
	maxOutput   = 8
	firstOutput = 1 << 20
)

// Pointers reads a completedCheckpoint* file, a CompletedCheckpoint in Java's
// serialization format, and calls fn for every string in it that is an absolute
// path or a URI with a scheme and an absolute path, with the offset of the
// string's tag. That finds every path in such a stream, those in byte arrays
// that hold serialized objects again included; it may find some that are no
// references, like names of state that is in the file itself.
//
// A string that the structure of the stream shows to be one may have up to 1 MiB.
// Other bytes that look like one, as in an array, are reported only if HDFS could
// have the path: if it has no more than 8,000 characters and, where these are more
// than 8,000 bytes, no colon. So most text is not taken for paths: two printable
// characters in it stand for a length of 8,224 bytes or more.
//
// Most paths are URIs there and so percent-encoded, but some are plain text and
// nothing tells which. A string that decoding changes is therefore reported
// twice with one offset: as it stands, then decoded. Of what is reported, more
// than refers to anything is harmless to a caller that protects what is referred
// to.
//
// Modified UTF-8 becomes UTF-8 as in [Reference]. path is valid until fn
// returns. An error from fn ends the search and is returned unchanged.
//
// A damaged stream is searched to its end like any other: fn gets all paths that
// stand in it, but that structure shows nothing where it is damaged. Only then
// comes the error, a [*FormatError], if the structure of the stream is not that of
// a whole one up to the exact end of the file. It is [ErrTruncated] if the file
// ends too early, [ErrCorrupt] or [ErrUnsupported] otherwise. A file that starts
// with no stream is [ErrNotMetadata].
//
// Bytes that only look like strings can overlap. When what fn got of them exceeds
// a mebibyte and 8 bytes for each byte of the file so far, fn gets no more of
// them, only the strings that the structure shows, and the error at the end is
// [ErrUnsupported] if there is no other.
//
// So nil means that the file is whole and fn got all of its paths; but the format
// has no checksums, so letters may have changed.
func Pointers(r io.Reader, fn func(path []byte, offset int64) error) error {
	s := &pointerScan{fn: fn, walk: newJavaWalk()}
	s.cursor = newCursor(r, func() string { return "Java stream" })
	head := s.next(4)
	switch {
	case s.err != nil:
		return s.err
	case binary.BigEndian.Uint32(head) != javaMagic:
		s.fail(0, ErrNotMetadata)
		return s.err
	}
	s.feed()
	s.scan()
	if s.err != nil {
		return s.err
	}
	if err := s.walk.end(); err != nil {
		return err
	}
	return s.flood
}

// pointerScan searches the bytes and has a walk follow their structure. The walk
// only adds what it knows to be a string, so that what it does not understand
// costs the search nothing else.
type pointerScan struct {
	cursor
	fn            func(path []byte, offset int64) error
	path, decoded []byte // used again

	walk   *javaWalk
	walked int64 // what is before this offset, the walk has seen
	output int64 // bytes reported that are no strings of the walk
	flood  error // there were too many

	// b[validFrom:validTo] of the stream is modified UTF-8, whole characters; what
	// follows is not if broken. It makes the search linear where strings overlap.
	validFrom, validTo int64
	broken             bool

	count charCount
}

// scan looks at every byte: a string can start anywhere, also in the bytes of an
// array, and in a damaged stream no structure leads to it.
func (s *pointerScan) scan() {
	for !s.atEnd() && s.err == nil {
		for s.pos < s.end && s.buf[s.pos] != javaString && s.buf[s.pos] != javaLongString {
			s.pos++
		}
		if s.pos < s.end {
			s.pos++
			s.feed()
			s.pos--
			s.candidate(s.walk.stringAt == s.offset())
			s.pos++
		}
		if s.pos == s.end {
			s.feed() // before the bytes are gone
		}
	}
}

// feed shows the walk all bytes before the next one.
func (s *pointerScan) feed() {
	if s.walked < s.offset() {
		s.walk.feed(s.buf[s.walked-s.base : s.pos])
		s.walked = s.offset()
	}
}

// candidate looks whether a path starts at the tag before it, and reports it.
// isString: the walk has come to a string there.
func (s *pointerScan) candidate(isString bool) {
	var head int // bytes before the text
	var n uint64 // of text
	switch b := s.peek(9); {
	case len(b) < 3:
		return
	case b[0] == javaString:
		head, n = 3, uint64(binary.BigEndian.Uint16(b[1:]))
	case len(b) == 9:
		head, n = 9, binary.BigEndian.Uint64(b[1:])
	}
	if n == 0 || n > maxLongString || n > uint64(maxPathURI) && !isString {
		return
	}
	length := int(n)
	if start := s.peek(head + min(length, maxScheme+2)); len(start) <= head || !absolute(start[head:]) {
		return
	}
	b := s.peek(head + length)
	if len(b) < head+length || s.err != nil || !s.valid(s.offset()+int64(head), b[head:]) {
		return
	}
	if isString {
		s.report(b[head:])
		return
	}
	if from := s.pos + head; s.flood != nil || !s.count.possiblePath(s.buf, s.base, from, from+length) {
		return
	}
	if s.output > firstOutput+maxOutput*s.offset() {
		s.flood = &FormatError{Where: s.where(), Offset: s.offset(), Err: unsupportedf("too many strings in one another that may be paths")}
		return
	}
	s.output += int64(s.report(b[head:]))
}

// report gives how many bytes it has reported.
func (s *pointerScan) report(text []byte) int {
	at := s.offset()
	s.path, _ = appendModifiedUTF8(s.path[:0], text)
	if err := s.fn(s.path, at); err != nil {
		s.stop(err)
		return 0
	}
	if bytes.IndexByte(text, '%') < 0 {
		return len(s.path)
	}
	s.path, _ = appendModifiedUTF8(s.path[:0], text) // fn may have changed it
	s.decoded = appendUnescaped(s.decoded[:0], s.path)
	if len(s.decoded) == len(s.path) { // no escape in it
		return len(s.path)
	}
	n := len(s.path) + len(s.decoded) // fn may change the bytes only
	if err := s.fn(s.decoded, at); err != nil {
		s.stop(err)
	}
	return n
}

// valid tells whether text, at an offset in the stream, is modified UTF-8. It
// starts with a character of one byte.
func (s *pointerScan) valid(start int64, text []byte) bool {
	end := start + int64(len(text))
	if start < s.validFrom || start > s.validTo {
		s.validFrom, s.validTo, s.broken = start, start, false
	}
	if end <= s.validTo {
		return wholeTail(text)
	}
	if s.broken {
		return false
	}
	rest := text[s.validTo-start:]
	n := modifiedPrefix(rest)
	s.validTo += int64(n)
	s.broken = len(rest)-n >= 3 // else a character may only be cut by the end of text
	return n == len(rest)
}

// wholeTail tells whether the last character of a piece of valid text is whole.
func wholeTail(text []byte) bool {
	i := len(text) - 1
	for i > 0 && text[i]>>6 == 0b10 {
		i--
	}
	_, n := modifiedChar(text[i:])
	return n == len(text)-i
}

// absolute tells whether text starts as an absolute path or as a URI that has
// one: "/", or a scheme and ":/".
func absolute(text []byte) bool {
	for i, c := range text {
		switch {
		case c == '/' && i == 0:
			return true
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i == 0:
			return false
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
		default:
			return c == ':' && i <= maxScheme && len(text) > i+1 && text[i+1] == '/'
		}
	}
	return false
}

// appendUnescaped decodes percent escapes; a percent sign that starts none stays.
func appendUnescaped(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := hexDigit(text[i+1]), hexDigit(text[i+2])
			if high >= 0 && low >= 0 {
				dst = append(dst, byte(high<<4|low))
				i += 2
				continue
			}
		}
		dst = append(dst, text[i])
	}
	return dst
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

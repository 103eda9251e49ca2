package flinkmeta

import (
	"errors"
	"fmt"
	"io"
)

const (
	// maxNeedle bounds a needle. A path in HDFS has at most 8,000 characters, so
	// 24,000 bytes; all escaped it has 72,000.
	maxNeedle = 32 << 10
	// maxNeedleBytes bounds what all forms of all needles have together: offsets
	// in it have 32 bits, and more are no plan but a mistake.
	maxNeedleBytes = 1 << 26
	// searchBuffer is how much is read and searched at a time.
	searchBuffer = 64 << 10
	// wordBytes is the width of a window: what one load brings.
	wordBytes = 8
)

var errTooManyNeedles = errors.New("needles of more than 64 MiB")

// Search finds many needles at once in a stream of bytes, wherever they are and
// whatever the bytes mean. It decides where [Decode] fails, and checks it where
// it succeeds: every absolute reference is in the file as plain bytes.
//
// A needle is a path or a part of one in UTF-8. It is also found in the other
// forms that Java gives it: in modified UTF-8, as part of a java.net.URI, whose
// escapes differ from those of other URIs, and with everything escaped that is
// not ASCII, as java.net.URI.toASCIIString does. That method also normalizes to
// NFC and this package does not: a name that is not NFC is not found in what it
// wrote.
//
// At every byte of the stream, the eight bytes that end there are looked up
// among the last eight bytes of all forms; forms of fewer bytes are looked up
// whole, which costs another look for each different length. Only where that
// succeeds are bytes compared, from the end: with about log2(n) of the n forms
// that have these last eight. So the time depends on the number of needles only
// as much as the processor's cache holds less of their tables: on one core some
// 300 MB/s with 10, 200 MB/s with 100,000, 80 MB/s with a million. At worst, in
// a stream that repeats the ends of long needles, each byte costs log2(n)
// comparisons of the longest, and the calls for what is found.
//
// Each form of a needle takes 30 to 40 bytes of memory beside its own. A Search
// is never changed after NewSearch and may be used by many goroutines at once.
type Search struct {
	texts   []byte // of all forms, one after the other
	tables  []searchTable
	longest int // bytes of a form; at least a window
}

// NewSearch prepares the search for needles. Needles may be equal, or parts of
// each other; one without bytes or with more than 32 KiB, or more than 64 MiB of
// them in all their forms, is an error. The needles are not kept.
func NewSearch(needles [][]byte) (*Search, error) {
	total := 0
	for i, needle := range needles {
		switch {
		case len(needle) == 0:
			return nil, fmt.Errorf("needle %d is empty: it would be found everywhere", i)
		case len(needle) > maxNeedle:
			return nil, fmt.Errorf("needle %d has %d bytes, more than any path", i, len(needle))
		case len(needle) > maxNeedleBytes-total:
			return nil, errTooManyNeedles
		}
		total += len(needle)
	}
	s := &Search{texts: make([]byte, 0, total), longest: wordBytes} // most needles have one form
	var byWidth [wordBytes + 1][]searchEntry
	byWidth[wordBytes] = make([]searchEntry, 0, len(needles))
	for i, needle := range needles {
		for _, form := range forms(needle) {
			if len(form) > maxNeedleBytes-len(s.texts) {
				return nil, errTooManyNeedles
			}
			width := min(len(form), wordBytes)
			byWidth[width] = append(byWidth[width], searchEntry{
				hash: windowHash(form, width), start: uint32(len(s.texts)), size: uint32(len(form)), needle: uint32(i),
			})
			s.texts = append(s.texts, form...)
			s.longest = max(s.longest, len(form))
		}
	}
	for width := wordBytes; width > 0; width-- { // so that longer ones are reported first
		if entries := byWidth[width]; len(entries) > 0 {
			byWidth[width] = nil
			s.tables = append(s.tables, newSearchTable(s.texts, width, entries))
		}
	}
	return s, nil
}

// Read searches r to its end and calls fn with the index of the needle and the
// offset of its first byte, for every place where one of its forms stands, in
// the order in which they end. Of needles that end at one place the longer come
// first, of equal ones that with the lower index. An error of fn is returned
// unchanged, one of r wrapped.
//
// The memory for it is some 64 KiB and twice the longest needle.
func (s *Search) Read(r io.Reader, fn func(needle int, offset int64) error) error {
	// What stands before end is searched; as much of it as a needle can have is
	// always there. Before the start of the stream there are zeros, which belong to
	// no needle.
	buf := make([]byte, s.longest+max(s.longest, searchBuffer))
	end := s.longest
	base := -int64(s.longest) // offset in the stream of buf[0]
	for empty := 0; empty < maxEmptyReads; empty++ {
		n, err := r.Read(buf[end:])
		if n < 0 || n > len(buf)-end {
			return fmt.Errorf("read at offset %d: the reader claims %d bytes", base+int64(end), n)
		}
		if n > 0 {
			empty = -1
			if err := s.scan(buf[:end+n], end, base, fn); err != nil {
				return err
			}
		}
		if end += n; end == len(buf) {
			base += int64(end - s.longest)
			end = copy(buf, buf[end-s.longest:])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read at offset %d: %w", base+int64(end), err)
		}
	}
	return fmt.Errorf("read at offset %d: %w", base+int64(end), io.ErrNoProgress)
}

// scan reports what ends in buf[from:]. Each table runs ahead to the next place
// that may be one of its; the first of these is looked at.
func (s *Search) scan(buf []byte, from int, base int64, fn func(int, int64) error) error {
	start := int(max(0, -base)) // of the stream, or of what is left of it
	var places [wordBytes]int
	for i := range s.tables {
		places[i] = s.tables[i].next(buf, from)
	}
	for {
		first := 0
		for i := range s.tables {
			if places[i] < places[first] {
				first = i
			}
		}
		last := places[first] // byte of what may be a needle
		if last >= len(buf) || len(s.tables) == 0 {
			return nil
		}
		t := &s.tables[first]
		text := buf[start : last+1]
		for i := t.find(s.texts, t.hash(buf, last), text); i >= 0; i = int(t.forms[i].suffix) - 1 {
			f := &t.forms[i]
			for _, needle := range t.needlesOf(i) {
				if err := fn(int(needle), base+int64(last+1)-int64(f.size)); err != nil {
					return err
				}
			}
		}
		places[first] = t.next(buf, last+1)
	}
}

package live

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fsweep/proto/policy"
)

// maxLine is the longest line of a list, in bytes: longer than any path in HDFS.
const maxLine = 64 << 10

// Input is a list as the caller opened it.
type Input struct {
	Name    string // of the file, for messages
	Reader  io.Reader
	ModTime time.Time // of the file
}

// fresh checks the age of a list.
func (in *Input) fresh(now time.Time, maxAge policy.Duration) error {
	const skew = 5 * time.Minute // clocks of two machines differ a little
	age := now.Sub(in.ModTime)
	switch {
	case age < -skew:
		return in.fail(0, fmt.Errorf("%w: written at %s, which is after %s", ErrStale, stamp(in.ModTime), stamp(now)))
	case age > time.Duration(maxAge):
		return in.fail(0, fmt.Errorf("%w: written at %s, %s before %s; the policy allows %s",
			ErrStale, stamp(in.ModTime), policy.Duration(age.Truncate(time.Second)), stamp(now), maxAge))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (in *Input) fail(line int, err error) error { return &ListError{in.Name, line, -1, err} }

// byteOrderMark may start a text: some editors write it, and it means nothing.
const byteOrderMark = "\ufeff"

// commentAt gives the place of a # behind a blank; -1: there is none. Names in HDFS
// may have both, but a comment that became part of a name would make the line name
// nothing, so it is refused.
func commentAt(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return i
		}
	}
	return -1
}

// Each calls fn for every line that says something, without blanks around it.
// Comments are lines that start with #, and nothing else. The bytes are valid until fn returns, and
// its error gets the number of the line.
func (in *Input) Each(fn func(line []byte) error) error {
	s := bufio.NewScanner(in.Reader)
	s.Buffer(nil, maxLine)
	n, said := 0, 0
	for s.Scan() {
		n++
		line := s.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		said++
		if bytes.IndexByte(line, 0) >= 0 {
			return in.fail(n, listErrorf("a zero byte; this is no text file"))
		}
		if at := commentAt(line); at >= 0 {
			return in.fail(n, listErrorf("%q looks like a comment behind %q; a comment is a line of its own", line[at:], bytes.TrimSpace(line[:at])))
		}
		if err := fn(line); err != nil {
			return in.fail(n, err)
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return in.fail(n+1, listErrorf("a line of more than %d bytes", maxLine))
	case err != nil:
		return in.fail(0, err)
	case said == 0:
		return in.fail(0, ErrEmpty)
	}
	return nil
}

// isHex tells n lower-case hex digits.
func isHex(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" }

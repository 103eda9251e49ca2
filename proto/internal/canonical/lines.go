package canonical

import (
	"bytes"
	"fmt"
	"io"
)

// Lines cuts blocks into lines.
type Lines struct {
	Block func(int64) ([]byte, error) // First or Verified of [Blocks]
	Off   int64                       // of the next line, in bytes
	N     int                         // number of the line that Next returned last
	long  []byte                      // a line that lies in several blocks
}

// Next gives a line without its newline, valid until the next call; io.EOF behind the
// last; [ErrTorn] for one that has no newline; another [*Error] for one that is longer
// than MaxLine.
func (l *Lines) Next() ([]byte, error) {
	l.long = l.long[:0]
	l.N++
	for {
		b, err := l.Block(l.Off / BlockSize)
		if err != nil {
			return nil, err
		}
		b = b[min(len(b), int(l.Off%BlockSize)):]
		if len(b) == 0 && len(l.long) > 0 {
			return nil, ErrTorn
		} else if len(b) == 0 {
			return nil, io.EOF
		}
		end := bytes.IndexByte(b, '\n')
		part := b[:max(end, 0)]
		if end < 0 {
			part = b
		}
		if len(l.long)+len(part) >= MaxLine {
			return nil, &Error{Reason: fmt.Sprintf("the line is longer than %d bytes", MaxLine)}
		}
		if end >= 0 && len(l.long) == 0 {
			l.Off += int64(end) + 1
			return part, nil
		}
		l.long = append(l.long, part...)
		l.Off += int64(len(part))
		if end >= 0 {
			l.Off++
			return l.long, nil
		}
	}
}

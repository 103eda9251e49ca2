package canonical

import "fmt"

// Error says why a line is not canonical. What it breaks, and in which line, the
// format says that uses this package.
type Error struct {
	Column int // in bytes from 1; 0 when the whole line is meant, or one being written
	Reason string
}

// Error gives the reason.
func (e *Error) Error() string { return e.Reason }

// ErrTorn is an [*Error]: the last line has no newline.
var ErrTorn error = &Error{Reason: "the last line is torn: it has no newline"}

// ChangedError says that a block is not what it was when it was first read.
type ChangedError struct{ Offset int64 } // of the block, in bytes

// Error names the place.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("the file changed since it was opened, at offset %d or up to %d bytes behind it", e.Offset, BlockSize)
}

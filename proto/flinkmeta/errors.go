package flinkmeta

import (
	"errors"
	"fmt"
)

// The classes of failure; every error about the contents of a file wraps one.
var (
	// ErrNotMetadata: the file does not start as the kind of file it is read as.
	ErrNotMetadata = errors.New("not a Flink metadata file")
	// ErrTruncated: the file ends before what it announces.
	ErrTruncated = errors.New("truncated")
	// ErrCorrupt: the bytes contradict the format, or hold what no Flink writes.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnsupported: a version, a kind of handle or a class that this package
	// does not know, or more of something than it takes. Newer Flink versions may
	// write such files.
	ErrUnsupported = errors.New("unsupported")
)

// FormatError says where in a file something is wrong.
type FormatError struct {
	Where  string // what was being read: "operator 3, subtask 1, managed keyed state"
	Offset int64  // in bytes from the start of the file, of what is wrong
	Err    error  // wraps one of the Err… values of this package
}

// Error gives place, offset and cause.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s, offset %d: %v", e.Where, e.Offset, e.Err)
}

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Err }

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

func unsupportedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}

package live

import (
	"errors"
	"fmt"
)

// The classes of failure of the lists that a policy names.
var (
	// ErrEmpty: a list says nothing, which is more likely a failed export than the truth.
	ErrEmpty = errors.New("empty")
	// ErrStale: a list is older than the policy allows, or from the future.
	ErrStale = errors.New("stale")
	// ErrShrunk: a live source names much less than the last time.
	ErrShrunk = errors.New("fewer than before")
	// ErrList: a list cannot be understood.
	ErrList = errors.New("not understood")
)

// ListError says where in a list (live, pins, job map) something is wrong.
type ListError struct {
	Name   string // of the file
	Line   int    // from 1; 0 if unknown
	Offset int64  // in bytes, of JSON; -1 if unknown
	Err    error  // wraps ErrEmpty, ErrStale or ErrList, or is the reader's own
}

// Error gives name, place and cause.
func (e *ListError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
	case e.Offset >= 0:
		return fmt.Sprintf("%s: byte %d: %v", e.Name, e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}

// Unwrap gives the cause.
func (e *ListError) Unwrap() error { return e.Err }

// Errorf makes an error of what is wrong with a line, as functions for [Input.Each] return it.
func Errorf(format string, args ...any) error { return listErrorf(format, args...) }

func listErrorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrList}, args...)...)
}

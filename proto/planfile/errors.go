package planfile

import (
	"errors"
	"fmt"

	"fsweep/proto/internal/canonical"
)

// coder writes and reads lines.
type coder = canonical.Coder

// The classes of failure. Every error about the contents of a plan is a
// [*LineError] that wraps one of them; an error of the reader or writer below is
// wrapped and is none of these.
var (
	// ErrNotPlan: the file does not start as a plan does.
	ErrNotPlan = errors.New("not a plan")
	// ErrFormat: a plan of a format version that this package does not know.
	ErrFormat = errors.New("unsupported plan format")
	// ErrInvalid: a line is not in canonical form, or breaks a rule of the format.
	ErrInvalid = errors.New("invalid plan")
	// ErrDigest: the file is not the one that was opened, or a digest is not
	// written as one.
	ErrDigest = errors.New("plan digest")
)

// LineError says where in a plan something is wrong.
type LineError struct {
	Line   int   // from 1; of a plan being written: the line that was refused
	Column int   // in bytes from 1; 0 when the whole line is meant
	Err    error // wraps one of the Err… values of this package
}

// Error gives line, column and cause.
func (e *LineError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}

// Unwrap gives the cause.
func (e *LineError) Unwrap() error { return e.Err }

func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// atLine puts the place to an error about content; others stay as they are.
func atLine(err error, line int) error {
	if _, placed := errors.AsType[*LineError](err); placed || !isContent(err) {
		return err
	}
	if c, ok := errors.AsType[*canonical.Error](err); ok {
		return &LineError{Line: line, Column: c.Column, Err: invalidf("%s", c.Reason)}
	}
	if c, ok := errors.AsType[*canonical.ChangedError](err); ok {
		err = fmt.Errorf("%w: %w", ErrDigest, c)
	}
	return &LineError{Line: line, Err: err}
}

func isContent(err error) bool {
	return isA[*canonical.Error](err) || isA[*canonical.ChangedError](err) ||
		errors.Is(err, ErrInvalid) || errors.Is(err, ErrNotPlan) || errors.Is(err, ErrFormat) || errors.Is(err, ErrDigest)
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

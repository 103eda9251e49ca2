package journal

import (
	"errors"
	"fmt"

	"fsweep/proto/internal/canonical"
)

// coder writes and reads lines.
type coder = canonical.Coder

// The classes of failure. Every error about the contents of a journal is a
// [*LineError] that wraps one of them; an error of the reader below is wrapped and is
// none of these.
var (
	// ErrNotJournal: the file does not start as a journal does.
	ErrNotJournal = errors.New("not a journal")
	// ErrNotBegun: the file ends within its first line, is empty, or zeros stand there. Nothing was done,
	// as nothing is before that line is on the disk.
	ErrNotBegun = errors.New("the journal was not begun")
	// ErrFormat: a journal of a format version that this package does not know.
	ErrFormat = errors.New("unsupported journal format")
	// ErrInvalid: a line is not in canonical form, not the one that was written there,
	// or breaks a rule of the format.
	ErrInvalid = errors.New("invalid journal")
	// ErrChanged: the file is not the one that was opened.
	ErrChanged = errors.New("changed journal")
)

// LineError says where in a journal something is wrong.
type LineError struct {
	Line   int   // from 1; of a journal being written: the line that was refused
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

// invalid makes an error about paths, which proto/planfile calls one of plans, one
// about a journal.
func invalid(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
}

// atLine puts the place to an error about content; others stay as they are.
func atLine(err error, line int) error {
	if err == nil {
		return nil
	}
	if _, placed := errors.AsType[*LineError](err); placed {
		return err
	}
	if c, ok := errors.AsType[*canonical.Error](err); ok {
		return &LineError{Line: line, Column: c.Column, Err: invalidf("%s", c.Reason)}
	}
	if c, ok := errors.AsType[*canonical.ChangedError](err); ok {
		err = fmt.Errorf("%w: %w", ErrChanged, c)
	}
	if !isContent(err) {
		return err
	}
	return &LineError{Line: line, Err: err}
}

func isContent(err error) bool {
	for _, class := range []error{ErrInvalid, ErrNotJournal, ErrNotBegun, ErrFormat, ErrChanged} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Exit codes. docs/EXIT_CODES.md is their contract.
const (
	ExitOK          = 0
	ExitFindings    = 1   // done, and findings reached a threshold that the user gave
	ExitInput       = 2   // usage, or an input that is unreadable, corrupt or unsupported
	ExitRefused     = 3   // refused by a safety rule, nothing touched
	ExitIncomplete  = 4   // some items were skipped by a check
	ExitFailure     = 5   // an output could not be written, memory ran out, a cluster did not answer, or an unknown outcome
	ExitTripped     = 6   // a breaker tripped
	ExitBug         = 70  // a panic
	ExitInterrupted = 130 // SIGINT, SIGTERM or SIGHUP
	ExitClosedPipe  = 141 // whoever read stdout went away; what a shell shows for SIGPIPE
)

// ErrInterrupted is the error of a program that a signal ended.
var ErrInterrupted = errors.New("interrupted; no output file was written")

// lateError is ErrInterrupted after a file got its name.
type lateError struct{}

// Error says that nothing was taken back.
func (lateError) Error() string { return "interrupted; files that were complete before stay" }

// Is makes it an ErrInterrupted.
func (lateError) Is(target error) bool { return target == ErrInterrupted }

// PanicError is a recovered panic: a bug.
type PanicError struct {
	Value any
	Stack []byte
}

// Error gives the panic's value.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// OutputError says that an output could not be written.
type OutputError struct {
	Name string // of the file, or "standard output"
	Err  error
}

// Error gives name and cause.
func (e *OutputError) Error() string { return fmt.Sprintf("writing %s: %v", e.Name, e.Err) }

// Unwrap gives the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// UsageError is a command line that does not make sense.
type UsageError struct {
	Command string // as typed, with subcommands
	Err     error
}

// Error gives the cause.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// RefusedError is a refusal by a safety rule: the inputs could be read, and acting
// on them could do harm.
type RefusedError struct{ Err error }

// Error gives the cause.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// IncompleteError says that a part was left out by a check, and the rest done.
type IncompleteError struct{ Err error }

// Error gives the cause.
func (e *IncompleteError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *IncompleteError) Unwrap() error { return e.Err }

// FailedError says that something did not happen that no input is to blame for, such
// as the answer of a cluster.
type FailedError struct{ Err error }

// Error gives the cause.
func (e *FailedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// TrippedError says that a breaker stopped what was begun.
type TrippedError struct{ Err error }

// Error gives the cause.
func (e *TrippedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *TrippedError) Unwrap() error { return e.Err }

// StoppedError says that a signal ended a command that came to its end in good order.
// It is an [ErrInterrupted].
type StoppedError struct{ Err error }

// Error gives the cause.
func (e *StoppedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *StoppedError) Unwrap() error { return e.Err }

// Is makes it an ErrInterrupted.
func (e *StoppedError) Is(target error) bool { return target == ErrInterrupted }

// LinesError has a text whose lines belong below each other, such as a line of a
// file with a caret below it. That of any other error is printed on one line.
type LinesError struct{ Err error }

// Error gives the cause.
func (e *LinesError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *LinesError) Unwrap() error { return e.Err }

type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// WithHint adds a line of advice to an error. Hints are printed below the error,
// the outermost first.
func WithHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

func hints(err error) []string {
	var all []string
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // walks the chain itself
		case *hinted:
			all = append(all, e.hint)
		case *UsageError:
			all = append(all, fmt.Sprintf("see %q", e.Command+" --help"))
		case interface{ Unwrap() []error }:
			for _, sub := range e.Unwrap() {
				all = append(all, hints(sub)...)
			}
			return all
		}
		err = errors.Unwrap(err)
	}
	return all
}

// ExitCode maps an error to the code that the process ends with. An error that
// is none of the others is about an input: that is all a program reads.
func ExitCode(err error) int {
	_, isBug := errors.AsType[*PanicError](err)
	_, isOutput := errors.AsType[*OutputError](err)
	_, isMemory := errors.AsType[*MemoryError](err)
	_, isFailed := errors.AsType[*FailedError](err)
	_, isRefused := errors.AsType[*RefusedError](err)
	_, isIncomplete := errors.AsType[*IncompleteError](err)
	_, isTripped := errors.AsType[*TrippedError](err)
	switch {
	case err == nil:
		return ExitOK
	case isBug:
		return ExitBug
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return ExitInterrupted
	case isClosedPipe(err):
		return ExitClosedPipe
	case isOutput, isMemory, isFailed:
		return ExitFailure
	case isTripped:
		return ExitTripped
	case isRefused:
		return ExitRefused
	case isIncomplete:
		return ExitIncomplete
	}
	return ExitInput
}

// isClosedPipe tells whether err only says that nobody reads the output any
// more, which is how "| head" ends and nothing to complain about.
func isClosedPipe(err error) bool {
	out, ok := errors.AsType[*OutputError](err)
	return ok && errors.Is(out.Err, syscall.EPIPE)
}

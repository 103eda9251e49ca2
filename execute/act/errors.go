package act

import (
	"context"
	"errors"
	"fmt"

	"fsweep/execute"
	"fsweep/proto/journal"
)

// Exit codes, as docs/EXIT_CODES.md has them.
const (
	ExitDone        = 0
	ExitRefused     = 3
	ExitIncomplete  = 4
	ExitAnomaly     = 5
	ExitBreaker     = 6
	ExitInterrupted = 130
)

// Refusal says that a rule forbids to begin. Nothing was moved.
type Refusal struct {
	Rule string // a stable word
	Text string
}

// Error gives the text.
func (e *Refusal) Error() string { return e.Text }

// Anomaly says that something is not as it must be, or not known: a person has to look.
type Anomaly struct {
	Text string
	Err  error // what a port said; nil if nothing did
}

// Error gives text and cause.
func (e *Anomaly) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return fmt.Sprintf("%s: %s", e.Text, e.Err)
}

// Unwrap gives the cause.
func (e *Anomaly) Unwrap() error { return e.Err }

// What stops a run between two items.
var (
	// ErrInterrupted: the context ended.
	ErrInterrupted = errors.New("interrupted")
	// ErrWindow: the time window of the plan is over.
	ErrWindow = errors.New("outside the time window")
	// ErrHeld: somebody made a hold path.
	ErrHeld = errors.New("a hold path exists")
	// ErrExpired: the plan expired meanwhile.
	ErrExpired = errors.New("the plan has expired")
	// ErrSlow: the NameNode is too slow to go on.
	ErrSlow = errors.New("the NameNode answers too slowly")
	// ErrMismatch: too many items are not as the plan says.
	ErrMismatch = errors.New("too many items are not as planned")
	// ErrLockLost: another process took the lock away.
	ErrLockLost = errors.New("the lock is gone")
)

func refuse(rule, format string, args ...any) error {
	return &Refusal{rule, fmt.Sprintf(format, args...)}
}

func anomaly(err error, format string, args ...any) error {
	return &Anomaly{fmt.Sprintf(format, args...), err}
}

// between tells errors that stop a run between two items, with nothing unaccounted for.
func between(err error) bool {
	for _, stop := range []error{ErrInterrupted, ErrWindow, ErrHeld, ErrExpired, ErrSlow, ErrMismatch} {
		if errors.Is(err, stop) {
			return true
		}
	}
	return false
}

// exitCode gives the code of a command that ended with err, 0 for the one that totals
// decide.
func exitCode(err error) int {
	var r *Refusal
	var a *Anomaly
	switch {
	case err == nil:
		return 0
	case errors.As(err, &a):
		return ExitAnomaly
	case errors.As(err, &r):
		return ExitRefused
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, ErrWindow), errors.Is(err, ErrHeld), errors.Is(err, ErrExpired):
		return ExitIncomplete
	case errors.Is(err, ErrSlow), errors.Is(err, ErrMismatch):
		return ExitBreaker
	}
	return ExitAnomaly
}

// notBegun ends a command that changed nothing yet. What failed because the context ended is an
// interruption.
func notBegun(ctx context.Context, err error) (*Result, error) {
	err = interrupted(ctx, err)
	return &Result{ExitCode: exitCode(err)}, err
}

// interrupted makes an error ErrInterrupted if the context ended: a question without an answer
// says nothing then. What is known stays.
func interrupted(ctx context.Context, err error) error {
	var r *Refusal
	var a *Anomaly
	if err == nil || ctx.Err() == nil || errors.As(err, &r) || errors.As(err, &a) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInterrupted, err)
}

// ofTotals gives the exit code that totals stand for.
func ofTotals(t journal.Totals) int {
	switch {
	case t.Failed+t.Unknown+t.Undone > 0:
		return ExitAnomaly
	case t.Done < t.Planned:
		return ExitIncomplete
	}
	return ExitDone
}

// class gives the class of an error for the journal.
func class(err error) string {
	var r *execute.RemoteError
	if errors.As(err, &r) && r.Class != "" {
		return r.Class
	}
	for _, k := range []struct {
		err  error
		word string
	}{
		{errLost, "none"},
		{errStale, "not-sent"},
		{execute.ErrUnknown, "unknown"},
		{execute.ErrChanged, "changed"},
		{execute.ErrNotFound, "not-found"},
		{execute.ErrUnavailable, "unavailable"},
		{execute.ErrExists, "exists"},
		{execute.ErrInvalid, "invalid"},
		{execute.ErrUnsupported, "unsupported"},
	} {
		if errors.Is(err, k.err) {
			return k.word
		}
	}
	return "error"
}

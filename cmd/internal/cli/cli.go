// Package cli holds what the programs of this module share on the command line:
// exit codes, the form of errors and hints on stderr, signals, outputs that
// appear only when they are complete, and the progress bar.
//
// It knows nothing about images or reports and never calls os.Exit: [Main] gives
// the code to the caller.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/term"
)

// grace is how long a command may take to stop after a signal before Main
// returns without it. Longer waits happen only in calls that no context can
// end, such as a write to a pipe that nobody reads.
const grace = 500 * time.Millisecond

// Env is what a program gets from the system. Commands write data to Stdout
// through [Env.Create] and everything else to Stderr.
type Env struct {
	Name   string   // of the program
	Args   []string // without the program's name
	Stdout *os.File
	Stderr *os.File
	// MemoryHint is advice for who ran out of memory; "": none.
	MemoryHint string

	mu      sync.Mutex
	outputs map[*Output]bool // not finished
	named   atomic.Bool      // a file got its name
	patient atomic.Bool      // see Finish
}

// Finish makes [Main] wait for the command after a signal, however long it takes to
// come to an end: it changes something that must not be left in the middle. The
// command sees its context end, as ever.
func (e *Env) Finish() { e.patient.Store(true) }

// System is the Env of the running process.
func System(name string) *Env {
	return &Env{Name: name, Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr}
}

// Main runs a program until it ends, SIGINT, SIGTERM or SIGHUP arrives, or memory
// runs out, prints its error and returns the exit code. Unfinished outputs are gone when it returns.
func Main(env *Env, run func(context.Context, *Env) error) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it on purpose
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go watchMemory(ctx, cancel)
	ctx, stop := signal.NotifyContext(ctx, signals...)
	defer stop()
	// A closed pipe must be an error of the write, not the end of the process:
	// there may be a temporary file to remove.
	signal.Ignore(syscall.SIGPIPE)

	done := make(chan error, 1)
	go func() { done <- Guard(func() error { return run(ctx, env) }) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		wait := grace
		if _, ok := errors.AsType[*MemoryError](context.Cause(ctx)); ok {
			wait = 0 // the kernel would not wait either
		}
		var late <-chan time.Time // never, for one that has to finish
		if !env.patient.Load() {
			late = time.After(wait)
		}
		select {
		case err = <-done:
		case <-late:
			err = context.Canceled
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = ErrInterrupted
		if env.named.Load() {
			err = lateError{}
		}
		if memory, ok := errors.AsType[*MemoryError](context.Cause(ctx)); ok {
			err = memory
			if env.MemoryHint != "" {
				err = WithHint(memory, "%s", env.MemoryHint)
			}
		}
	}
	env.abort()
	env.print(err)
	return ExitCode(err)
}

// Guard calls fn and turns a panic into a [PanicError]. Goroutines of a command
// need it too: a panic that is not recovered there ends the process without
// removing temporary files.
func Guard(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}

// Warn prints a warning.
func (e *Env) Warn(format string, args ...any) {
	e.say("warning: %s", printable(fmt.Sprintf(format, args...)))
}

// Note prints a sentence about what happens, for who watches.
func (e *Env) Note(format string, args ...any) {
	e.say("%s", printable(fmt.Sprintf(format, args...)))
}

// Error prints an error after which the command goes on, in the form of the one
// that ends it. The command must not return nil then.
func (e *Env) Error(err error) { e.print(err) }

// say prints a line. When stderr cannot be written there is nobody left to tell.
func (e *Env) say(format string, args ...any) {
	_, _ = fmt.Fprintf(e.Stderr, "%s: %s\n", e.Name, fmt.Sprintf(format, args...))
}

func (e *Env) print(err error) {
	if err == nil || isClosedPipe(err) {
		return
	}
	if errors.Is(err, ErrInterrupted) {
		e.say("%v", err)
		return
	}
	if bug, ok := errors.AsType[*PanicError](err); ok {
		e.say("error: %s\n%s", printable(bug.Error()), bug.Stack)
		e.say("hint: this is a bug; please report it with the lines above")
		return
	}
	e.say("error: %s", text(err))
	for _, h := range hints(err) {
		e.say("hint: %s", printable(h))
	}
}

// text gives an error's text for the terminal.
func text(err error) string {
	if _, ok := errors.AsType[*LinesError](err); !ok {
		return printable(err.Error())
	}
	lines := strings.Split(strings.TrimRight(err.Error(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	return strings.Join(lines, "\n")
}

// printable keeps what comes from files and file names from steering the
// terminal, and each message on one line.
func printable(s string) string {
	return visible(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
}

func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// isTerminal tells whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/google/renameio/v2"
)

// OutputOptions change how [Env.Create] behaves.
type OutputOptions struct {
	// Ready is called once, before the first byte is visible to others: before
	// it goes to standard output, a pipe or a device, or before a file gets its
	// name. Its error stops the output.
	Ready func(context.Context) error
	// Inputs are files that the output must not replace.
	Inputs []string
	// Private makes a new file readable for its owner only.
	Private bool
}

// Output is a destination of data. A regular file appears under its name when
// [Output.Commit] returns, complete, or not at all; what was there before stays
// until then. Write and Commit are for one goroutine.
type Output struct {
	env    *Env
	ctx    context.Context
	name   string // for messages
	ready  func(context.Context) error
	direct *os.File // standard output, a pipe or a device

	mu   sync.Mutex
	file *renameio.PendingFile // nil once committed or aborted
}

// Create opens the output called name; "" and "-" are standard output. The file
// system is asked at once, so that a long computation does not end in a
// directory that cannot be written.
func (e *Env) Create(ctx context.Context, name string, o OutputOptions) (*Output, error) {
	out := &Output{env: e, ctx: ctx, name: name, ready: o.Ready}
	if name == "" || name == "-" || e.isStdout(name) {
		out.name, out.direct = "standard output", e.Stdout
		return out, nil
	}
	for _, in := range o.Inputs {
		if in != "" && sameFile(name, in) {
			return nil, fmt.Errorf("the output %q would replace the input %q", name, in)
		}
	}
	target, err := followed(name) // a link stays, what it points to is replaced or made
	if err != nil {
		return nil, outputError(name, err)
	}
	fi, err := os.Stat(name)
	switch {
	case err == nil && fi.IsDir():
		return nil, &OutputError{name, errors.New("it is a directory")}
	case err == nil && !fi.Mode().IsRegular():
		// Nothing can be renamed onto a pipe or a device.
		out.direct, err = os.OpenFile(name, os.O_WRONLY, 0)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		permissions := fs.FileMode(0o666)
		if o.Private {
			permissions = 0o600
		}
		out.file, err = renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)),
			renameio.WithPermissions(permissions), renameio.WithExistingPermissions())
	}
	if err != nil {
		return nil, outputError(name, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.outputs == nil {
		e.outputs = map[*Output]bool{}
	}
	e.outputs[out] = true
	return out, nil
}

// isStdout tells whether name is where standard output goes already, as
// /dev/stdout is: what the shell has opened must not be replaced.
func (e *Env) isStdout(name string) bool {
	a, errA := os.Stat(name)
	b, errB := e.Stdout.Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// sameFile tells whether two names lead to one file, or would when it is
// created.
func sameFile(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(fa, fb)
	}
	return resolved(a) == resolved(b)
}

// resolved is the absolute name of a file that need not exist.
func resolved(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return filepath.Clean(name)
	}
	if target, err := followed(abs); err == nil {
		abs = target
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return abs
	}
	return filepath.Join(dir, filepath.Base(abs))
}

// followed gives the file that a name leads to by symbolic links, which need not exist: a
// link that leads nowhere says where a file is wanted.
func followed(name string) (string, error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target, nil
	}
	const most = 40 // as many as Linux follows
	for range most {
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil // no link, or nothing at all: the system says so when it is opened
		}
		if !filepath.IsAbs(target) {
			// The link's own directory can be behind links, and .. is meant from there.
			dir, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				return "", err
			}
			target = filepath.Join(dir, target)
		}
		name = target
	}
	return "", syscall.ELOOP
}

// Terminal tells whether the data goes to a terminal.
func (o *Output) Terminal() bool { return o.direct != nil && isTerminal(o.direct) }

// Stdout tells whether the data goes to standard output.
func (o *Output) Stdout() bool { return o.direct != nil && o.direct == o.env.Stdout }

// Write writes to the output; it is not buffered.
func (o *Output) Write(p []byte) (int, error) {
	if o.direct != nil {
		if err := o.wait(); err != nil {
			return 0, err
		}
		n, err := o.direct.Write(p)
		return n, o.error(err)
	}
	o.mu.Lock()
	file := o.file
	o.mu.Unlock()
	if file == nil {
		return 0, o.error(fs.ErrClosed)
	}
	n, err := file.Write(p)
	return n, o.error(err)
}

// Commit ends the output: it is complete.
func (o *Output) Commit() error {
	if err := o.wait(); err != nil {
		return err
	}
	if o.direct != nil {
		o.forget()
		// Some file systems tell only now that the disk is full.
		return o.error(o.direct.Close())
	}
	o.mu.Lock()
	file := o.file
	o.mu.Unlock()
	if file == nil {
		return o.error(fs.ErrClosed)
	}
	// Syncing can take long and must not keep Abort waiting.
	if err := file.Sync(); err != nil {
		return o.error(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if o.file == nil {
		return o.error(fs.ErrClosed)
	}
	if err := o.file.CloseAtomicallyReplace(); err != nil {
		return o.error(err)
	}
	o.file = nil
	o.env.named.Store(true)
	o.forget()
	return nil
}

// Abort gives the output up unless it was committed: no trace of it remains.
// It may be called at any time, by any goroutine.
func (o *Output) Abort() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		// There is no better place for a file that cannot be removed; the error
		// that led here is the one to show.
		_ = o.file.Cleanup()
		o.file = nil
	}
	o.forget()
}

func (o *Output) wait() error {
	if o.ready == nil {
		return nil
	}
	if err := o.ready(o.ctx); err != nil {
		return err
	}
	o.ready = nil
	return nil
}

func (o *Output) error(err error) error { return outputError(o.name, err) }

// outputError drops the name that the system's error has: it is the output's
// own, or that of a temporary file.
func outputError(name string, err error) error {
	if err == nil {
		return nil
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &OutputError{name, err}
}

func (o *Output) forget() {
	o.env.mu.Lock()
	defer o.env.mu.Unlock()
	delete(o.env.outputs, o)
}

// abort gives up all outputs that are not committed.
func (e *Env) abort() {
	e.mu.Lock()
	var open []*Output
	for o := range e.outputs {
		open = append(open, o)
	}
	e.mu.Unlock()
	for _, o := range open {
		o.Abort()
	}
}

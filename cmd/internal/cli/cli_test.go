package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testEnv has files for stdout and stderr; read gives what was written to one.
func testEnv(t *testing.T) (env *Env, read func(*os.File) string) {
	t.Helper()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	env = &Env{Name: "prog", Stdout: open("stdout"), Stderr: open("stderr")}
	return env, func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("some input"), 2},
		{&UsageError{"prog", errors.New("what?")}, 2},
		{&fs.PathError{Op: "open", Path: "image", Err: fs.ErrPermission}, 2},
		{fmt.Errorf("wrapped: %w", &OutputError{"f", syscall.ENOSPC}), 5},
		{WithHint(&OutputError{"f", syscall.ENOSPC}, "hint"), 5},
		{&OutputError{"standard output", syscall.EPIPE}, 141},
		{syscall.EPIPE, 2}, // not of an output
		{WithHint(&RefusedError{errors.New("stale")}, "hint"), 3},
		{fmt.Errorf("wrapped: %w", &IncompleteError{errors.New("one root")}), 4},
		{fmt.Errorf("wrapped: %w", &FailedError{errors.New("no answer")}), 5},
		{&RefusedError{&OutputError{"f", syscall.ENOSPC}}, 5},
		{&LinesError{errors.New("a\nb")}, 2},
		{&PanicError{Value: 1}, 70},
		{errors.Join(&OutputError{"f", io.ErrShortWrite}, &PanicError{Value: 1}), 70},
		{ErrInterrupted, 130},
		{fmt.Errorf("reading: %w", context.Canceled), 130},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestMainPrints(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(context.Context, *Env) error
		code int
		want string
	}{
		{"ok", func(context.Context, *Env) error { return nil }, 0, ""},
		{
			"hints", func(context.Context, *Env) error {
				return WithHint(errors.Join(WithHint(errors.New("one"), "first"), &UsageError{"prog x", errors.New("two")}), "outer")
			},
			2, "prog: error: one; two\nprog: hint: outer\nprog: hint: first\nprog: hint: see \"prog x --help\"\n",
		},
		{
			"control characters", func(context.Context, *Env) error { return errors.New("a\x1b[31m\u202eb\r\xff") },
			2, "prog: error: a\ufffd[31m\ufffdb\ufffd\ufffd\n",
		},
		{
			"lines", func(context.Context, *Env) error {
				const text = "f:1:3: k: bad\x1b\n    1 | k: \u202ev\n      |    ^\nf: more\n"
				return WithHint(&LinesError{errors.New(text)}, "a\nb")
			},
			2, "prog: error: f:1:3: k: bad\ufffd\n    1 | k: \ufffdv\n      |    ^\nf: more\nprog: hint: a; b\n",
		},
		{"closed pipe", func(context.Context, *Env) error { return &OutputError{"x", syscall.EPIPE} }, 141, ""},
		{
			"signal", func(ctx context.Context, _ *Env) error {
				if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
					return err
				}
				<-ctx.Done()
				return fmt.Errorf("reading: %w", ctx.Err())
			}, 130, "prog: interrupted; no output file was written\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, read := testEnv(t)
			if got := Main(env, c.run); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			if diff := cmp.Diff(c.want, read(env.Stderr)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestError: an error line of a command that goes on looks like the last one.
func TestError(t *testing.T) {
	t.Parallel()
	env, read := testEnv(t)
	env.Error(WithHint(errors.New("a\x1b: bad"), "do this"))
	env.Error(errors.New("b"))
	const want = "prog: error: a\ufffd: bad\nprog: hint: do this\nprog: error: b\n"
	if diff := cmp.Diff(want, read(env.Stderr)); diff != "" {
		t.Error(diff)
	}
}

func TestMainPanic(t *testing.T) {
	env, read := testEnv(t)
	dir := t.TempDir()
	code := Main(env, func(ctx context.Context, env *Env) error {
		out, err := env.Create(ctx, filepath.Join(dir, "out"), OutputOptions{})
		if err != nil {
			return err
		}
		if _, err := out.Write([]byte("half")); err != nil {
			return err
		}
		panic("oh no")
	})
	stderr := read(env.Stderr)
	if code != 70 || !strings.Contains(stderr, "panic: oh no") || !strings.Contains(stderr, "hint: this is a bug") {
		t.Errorf("code %d: %s", code, stderr)
	}
	if names := list(t, dir); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
}

// TestMainHangs ends a command that does not listen.
func TestMainHangs(t *testing.T) {
	env, _ := testEnv(t)
	dir := t.TempDir()
	never := make(chan struct{})
	defer close(never)
	code := Main(env, func(ctx context.Context, env *Env) error {
		if _, err := env.Create(ctx, filepath.Join(dir, "out"), OutputOptions{}); err != nil {
			return err
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return err
		}
		<-never
		return nil
	})
	if names := list(t, dir); code != 130 || len(names) != 0 {
		t.Errorf("code %d, left behind: %q", code, names)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOutput(t *testing.T) {
	t.Parallel()
	errNotReady := errors.New("not ready")
	for _, c := range []struct {
		name   string
		ready  error
		abort  bool
		cancel bool
		want   string
		err    error
	}{
		{name: "committed", want: "new"},
		{name: "aborted", abort: true, want: "old", err: fs.ErrClosed},
		{name: "not ready", ready: errNotReady, want: "old", err: errNotReady},
		{name: "cancelled", cancel: true, want: "old", err: context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env, _ := testEnv(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "out")
			if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, 0o640); err != nil { // whatever the umask is
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out, err := env.Create(ctx, file, OutputOptions{Ready: func(context.Context) error { return c.ready }})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			if c.abort {
				out.Abort()
			}
			if c.cancel {
				cancel()
			}
			if err := out.Commit(); !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
			env.abort()
			b, err := os.ReadFile(file)
			fi, _ := os.Stat(file)
			if err != nil || string(b) != c.want || fi.Mode() != 0o640 || len(list(t, dir)) != 1 {
				t.Errorf("%q, %v, %v, %q", b, err, fi.Mode(), list(t, dir))
			}
		})
	}
}

// TestOutputGate requires that nothing gets to others before Ready says so.
func TestOutputGate(t *testing.T) {
	t.Parallel()
	env, read := testEnv(t)
	failed := errors.New("bad checksum")
	calls := 0
	out, err := env.Create(t.Context(), "-", OutputOptions{Ready: func(context.Context) error { calls++; return failed }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("data")); !errors.Is(err, failed) || ExitCode(err) != ExitInput {
		t.Errorf("got %v", err)
	}
	failed = nil
	for range 2 {
		if _, err := out.Write([]byte("data")); err != nil {
			t.Error(err)
		}
	}
	if got := read(env.Stdout); got != "datadata" || calls != 2 {
		t.Errorf("%q after %d calls", got, calls)
	}
}

func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(path("a"), nil, 0o600), os.Link(path("a"), path("hard")), os.Symlink("a", path("soft")),
		os.WriteFile(path("b"), nil, 0o600), os.Mkdir(path("d"), 0o700), os.Symlink(dir, path("up"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "hard", true},
		{"soft", "a", true},
		{"a", "b", false},
		{"new", "./d/../new", true},
		{"up/new", "new", true},
		{"new", "newer", false},
		{"a", "new", false},
	} {
		if got := sameFile(dir+"/"+c.a, dir+"/"+c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// TestNoProgress requires that nothing is drawn where nobody looks.
func TestNoProgress(t *testing.T) {
	t.Parallel()
	env, read := testEnv(t)
	p := env.Progress()
	p.Update("inodes", 1, 1, 2)
	p.Stop()
	if got := read(env.Stderr); p != nil || got != "" {
		t.Errorf("%v, %q", p, got)
	}
}

// TestProgress drives a bar from several goroutines; what it draws is mpb's.
func TestProgress(t *testing.T) {
	t.Parallel()
	env, read := testEnv(t)
	p := &Progress{env: env}
	var b bytes.Buffer
	done := make(chan struct{})
	for range 4 {
		go func() {
			for i := range int64(100) {
				p.Update("inodes", i, i, 100)
			}
			p.Update("rows", 5, 5, 0)
			p.Update("rows", 5, 5, 10)
			done <- struct{}{}
		}()
	}
	for range 4 {
		<-done
	}
	p.Stop()
	p.Update("late", 1, 1, 2)
	p.Stop()
	b.WriteString(read(env.Stderr))
	if strings.Contains(b.String(), "late") {
		t.Error("drawn after the end")
	}
}

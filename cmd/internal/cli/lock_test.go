package cli

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestLockBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	first, err := LockBeside(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := LockBeside(ctx, name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a lock that is held was given: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		second, err := LockBeside(t.Context(), name)
		if err == nil {
			second.Unlock()
		}
		got <- err
	}()
	first.Unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if _, err := LockBeside(t.Context(), filepath.Join(dir, "no-such-dir", "file")); ExitCode(err) != ExitFailure {
		t.Error(err)
	}
}

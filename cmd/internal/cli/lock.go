package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// LockSuffix is what the name of a lock has behind that of its file.
const LockSuffix = ".lock"

// Lock is held by one process, or one goroutine, at a time.
type Lock struct{ file *os.File }

// LockBeside takes the lock of a file that programs replace, so that none reads it
// while another is between reading and replacing it. The lock is an empty file
// beside it, which is never replaced or removed: that would make two locks. The
// system gives it back when its process ends, however that is. LockBeside waits for
// who holds it, or until ctx is done.
//
// Errors are those of ctx, or an [OutputError].
func LockBeside(ctx context.Context, name string) (*Lock, error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	name += LockSuffix
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(name) // of somebody else; good enough except for NFS
	}
	if err != nil {
		return nil, outputError(name, err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return &Lock{f}, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			_ = f.Close() // nothing was written
			return nil, outputError(name, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Unlock gives the lock back.
func (l *Lock) Unlock() { _ = l.file.Close() } // nothing was written

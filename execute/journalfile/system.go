package journalfile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// system is what a journal needs of the operating system. Tests put one in its place
// that fails.
type system interface {
	create(path string) (file, error)
	open(path string) (file, error)
	syncDir(path string) error
	remove(path string) error
}

type file interface {
	io.ReadSeeker
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
	lock() error
}

// disk is the real one.
type disk struct{}

type diskFile struct{ *os.File }

const flags = os.O_RDWR | os.O_APPEND | syscall.O_NOFOLLOW

func (disk) create(path string) (file, error) { return openFile(path, flags|os.O_CREATE|os.O_EXCL) }

func (disk) open(path string) (file, error) {
	f, err := openFile(path, flags)
	if err != nil {
		return nil, err
	}
	s, err := f.Stat()
	if err == nil && !s.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func openFile(path string, flags int) (*diskFile, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return &diskFile{f}, nil
}

func (disk) syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (disk) remove(path string) error { return os.Remove(path) }

func (f *diskFile) lock() error { return flock(f.File, syscall.LOCK_EX) }

// Close gives the lock back first. A program that is being started just then has a copy of
// the descriptor until it runs, and the lock would stay with that.
func (f *diskFile) Close() error { return unlockAndClose(f.File) }

func unlockAndClose(f *os.File) error {
	_ = flock(f, syscall.LOCK_UN) // closing does the same, unless somebody has a copy
	return f.Close()
}

// flock does not wait: who has the lock may keep it for hours.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case err != nil:
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
		return nil
	}
}

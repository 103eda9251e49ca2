package journalfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"fsweep/proto/journal"
)

// File is a journal that is only read. As long as it is open, no process can go on
// writing it, unless one did already.
type File struct {
	*journal.Reader
	// Busy: a process was writing to it when it was opened. What was read is complete up
	// to some line, and a torn one behind it may just be on its way.
	Busy bool
	f    *os.File
}

// Open reads a journal, wherever it is. Errors name the file; those about its content are
// those of [journal.Open].
func Open(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	out, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, f.Close()))
	}
	return out, nil
}

func read(f *os.File) (*File, error) {
	s, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !s.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	out := &File{f: f}
	if err := flock(f, syscall.LOCK_SH); errors.Is(err, ErrLocked) {
		out.Busy = true
	} else if err != nil {
		return nil, err
	}
	out.Reader, err = journal.Open(f)
	return out, err
}

// Close closes the file.
func (f *File) Close() error { return unlockAndClose(f.f) }

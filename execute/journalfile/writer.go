package journalfile

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"fsweep/proto/journal"
)

// maxUnsynced bounds what a crash of the machine can take away of lines that tell what
// was not done, in bytes.
const maxUnsynced = 256 << 10

// Writer appends lines to a journal and holds its lock.
type Writer struct {
	path     string
	f        file
	enc      *journal.Encoder
	read     *journal.Reader // of one that was there
	reopened bool            // and its resumed line is not written yet
	unsynced int             // bytes
	err      error
}

// Create makes a journal with a name of its own and mode 0600. When it returns without
// an error, the file, its name and its header are on the disk. A header that is refused
// makes no file; what fails later leaves none, if it can be removed.
func (d *Dir) Create(h *journal.Header) (*Writer, error) {
	enc := journal.NewEncoder()
	b, err := enc.Encode(h)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: filepath.Join(d.path, name(h)), enc: enc}
	if w.f, err = d.sys.create(w.path); err != nil {
		return nil, w.lost(err)
	}
	if err = w.f.lock(); err == nil {
		if err = w.write(b, true); err == nil {
			err = d.sys.syncDir(d.path)
		}
	}
	if err != nil {
		// Nothing was done that it would have to account for.
		return nil, w.lost(errors.Join(err, w.f.Close(), d.sys.remove(w.path)))
	}
	return w, nil
}

// Reopen takes a journal of this directory to go on with it: it is locked
// ([ErrLocked] if it is in use) and read, and not changed yet. The next step is to look
// at [Writer.Journal]. The first line that is appended must be a [journal.Resumed].
//
// Errors about its content are those of [journal.Open]. Then nothing may be appended.
func (d *Dir) Reopen(name string) (*Writer, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, filepath.Separator) {
		return nil, fmt.Errorf("%q is no name of a journal", name)
	}
	w := &Writer{path: filepath.Join(d.path, name), reopened: true}
	var err error
	if w.f, err = d.sys.open(w.path); err != nil {
		return nil, err
	}
	if err = w.f.lock(); err == nil {
		w.read, err = journal.Open(w.f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.path, errors.Join(err, w.f.Close()))
	}
	w.enc = w.read.Encoder()
	return w, nil
}

// Append writes a line, of which number and hash are set then. Without an error it is on
// the disk; a [journal.Skipped], which reports no change, only soon.
//
// A line that breaks a rule is a [*journal.LineError], anything else an [ErrLost]. After
// an error every call gives it again.
func (w *Writer) Append(l journal.Line) error {
	if w.err != nil {
		return w.err
	}
	if w.err = w.resume(l); w.err != nil {
		return w.err
	}
	b, err := w.enc.Encode(l)
	if err != nil {
		w.err = fmt.Errorf("%s: %w", w.path, err)
		return w.err
	}
	_, lazy := l.(*journal.Skipped)
	if err := w.write(b, !lazy || w.unsynced+len(b) > maxUnsynced); err != nil {
		w.err = w.lost(err)
	}
	return w.err
}

// resume makes the file end with a whole line that is on the disk, before the first one
// of a new process.
func (w *Writer) resume(l journal.Line) error {
	if !w.reopened {
		return nil
	}
	r, ok := l.(*journal.Resumed)
	if !ok {
		return fmt.Errorf("%s: it must be resumed first", w.path)
	}
	w.reopened = false
	if r.CutBytes = w.read.Torn(); r.CutBytes > 0 {
		if err := w.f.Truncate(w.read.CutTo()); err != nil {
			return w.lost(err)
		}
	}
	// Also without a cut: the process before may have ended between writing and syncing.
	if err := w.f.Sync(); err != nil {
		return w.lost(err)
	}
	return nil
}

// write writes all of b. Neither it nor a sync is ever tried again.
func (w *Writer) write(b []byte, sync bool) error {
	for len(b) > 0 {
		n, err := w.f.Write(b)
		if err != nil {
			return err
		}
		if n <= 0 || n > len(b) {
			return io.ErrShortWrite
		}
		b, w.unsynced = b[n:], w.unsynced+n
	}
	if !sync {
		return nil
	}
	w.unsynced = 0
	return w.f.Sync()
}

func (w *Writer) lost(err error) error {
	return fmt.Errorf("%w: %s: %w", ErrLost, w.path, err)
}

// Sync puts lines on the disk that are not there yet.
func (w *Writer) Sync() error {
	if w.err == nil && w.unsynced > 0 {
		if err := w.write(nil, true); err != nil {
			w.err = w.lost(err)
		}
	}
	return w.err
}

// Journal gives what was in a journal that was reopened, nil of a new one. It can be
// used until Close.
func (w *Writer) Journal() *journal.Reader { return w.read }

// State tells what the lines say so far.
func (w *Writer) State() journal.State { return w.enc.State() }

// Last gives the hash of the last line, which is what to print: it stands for the whole
// journal.
func (w *Writer) Last() journal.Hash { return w.enc.Last() }

// Path gives the path of the file.
func (w *Writer) Path() string { return w.path }

// Close syncs what is not on the disk yet, and gives the lock back. The first error of
// the Writer is also that of Close.
func (w *Writer) Close() error {
	err := w.Sync()
	if closed := w.f.Close(); err == nil && closed != nil {
		err = w.lost(closed)
	}
	if w.err == nil {
		w.err = w.lost(errors.New("it is closed"))
	}
	return err
}

package journalfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fsweep/proto/journal"
)

// What is refused, and what can never be mended.
var (
	// ErrTemporary: a directory that is emptied without asking is no place for a journal.
	ErrTemporary = errors.New("temporary directory")
	// ErrLocked: another process writes the journal, or reads it to undo it.
	ErrLocked = errors.New("the journal is in use by another process")
	// ErrLost: the journal cannot be written. Nothing more may be changed.
	ErrLost = errors.New("the journal cannot be written")
)

// Suffix is what names of journals end in.
const Suffix = ".jsonl"

// Dir is a directory for journals.
type Dir struct {
	path string
	sys  system
}

// OpenDir takes a directory that exists. One that is temporary is refused
// ([ErrTemporary]): /tmp, /var/tmp, /dev/shm, what TMPDIR names, and whatever is below
// these, also by way of symbolic links.
func OpenDir(path string) (*Dir, error) {
	if path == "" { // which would be the working directory
		return nil, errors.New("the directory for journals has no name")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if !s.IsDir() {
		return nil, fmt.Errorf("%q is not a directory", path)
	}
	if temp, err := temporary(abs, os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"); err != nil {
		return nil, err
	} else if temp != "" {
		return nil, fmt.Errorf("%q is in a %w, %q", path, ErrTemporary, temp)
	}
	return &Dir{abs, disk{}}, nil
}

// TestDir is for tests alone: a directory that is emptied when the test ends.
func TestDir(t interface{ TempDir() string }) *Dir { return &Dir{t.TempDir(), disk{}} }

// temporary gives the one of some directories that holds dir, if any.
func temporary(dir string, temps ...string) (string, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	for _, temp := range temps {
		temp, err = filepath.Abs(temp)
		if err != nil {
			return "", err
		}
		places := []string{temp}
		if r, err := filepath.EvalSymlinks(temp); err == nil { // one that does not exist holds nothing
			places = append(places, r)
		}
		for _, place := range places {
			if within(dir, place) || within(resolved, place) {
				return temp, nil
			}
		}
	}
	return "", nil
}

func within(dir, place string) bool {
	rel, err := filepath.Rel(place, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// Path gives the absolute path.
func (d *Dir) Path() string { return d.path }

// Names gives the names of the journals in it, the oldest first as far as clocks are
// right. What is in the files is not looked at.
func (d *Dir) Names() ([]string, error) {
	entries, err := os.ReadDir(d.path) // sorted
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), Suffix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// name gives the name of a new journal: when it began, what for, the beginning of the
// plan's digest and of the client id.
func name(h *journal.Header) string {
	parts := []string{time.UnixMilli(h.AtMs).UTC().Format("20060102T150405Z"), string(h.Command)}
	if h.Plan != nil {
		parts = append(parts, strings.TrimPrefix(h.Plan.Digest.String(), "sha256:")[:12])
	}
	return strings.Join(append(parts, h.ClientID.String()[:8]), "-") + Suffix
}

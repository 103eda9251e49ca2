package imagedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"fsweep/cmd/internal/sidecar"
)

// Names in a directory. The lock file stays.
const (
	lockName  = ".fsweep-fetch.lock"
	md5Suffix = ".md5"
)

var (
	imageName = regexp.MustCompile(`^fsimage_[0-9]{19}$`)
	// tempName is that of a file that is being written.
	tempName = regexp.MustCompile(`^\.fsimage_[0-9]{19}(\.md5|\.fetched\.json)?\.fetch-[0-9]+$`)
)

// ErrBusy says that another process fetches into the directory.
var ErrBusy = errors.New("another fetch is writing to this directory")

// ErrTaken says that what is there already does not go together with what comes. Nothing was
// changed.
var ErrTaken = errors.New("not overwritten")

// Dir is a directory of images. Close it.
type Dir struct {
	path string
	lock *os.File
}

// Open takes a directory that exists, and removes what processes that were killed left
// in it. Its errors are ErrBusy and those of the file system.
func Open(path string) (*Dir, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", path)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: lock}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", path, ErrBusy)
		}
		return nil, &fs.PathError{Op: "lock", Path: lock.Name(), Err: err}
	}
	if err := d.clean(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close lets others have the directory.
func (d *Dir) Close() { _ = d.lock.Close() } // nothing is ever written to it

// Path gives the name of a file in the directory.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// clean removes temporary files. Nobody else writes them while the lock is held.
func (d *Dir) clean() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if tempName.MatchString(e.Name()) && e.Type().IsRegular() {
			if err := os.Remove(d.Path(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Own is an image that was fetched.
type Own struct {
	Name string
	sidecar.Fetched
	// Gone: only its sidecar file is there.
	Gone bool
}

// Images gives what was fetched, the oldest first. Other files are passed over, also
// images without a sidecar file that can be read.
func (d *Dir) Images() ([]Own, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var all []Own
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), sidecar.FetchedSuffix)
		if !ok || !imageName.MatchString(name) {
			continue
		}
		f := d.Sidecar(name)
		if f == nil {
			continue
		}
		fi, err := os.Lstat(d.Path(name))
		if err == nil && !fi.Mode().IsRegular() {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, Own{Name: name, Fetched: *f, Gone: err != nil})
	}
	slices.SortFunc(all, func(a, b Own) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Sidecar gives what is known of an image; nil unless there is a regular file that says it, of
// that image.
func (d *Dir) Sidecar(name string) *sidecar.Fetched {
	file := d.Path(name + sidecar.FetchedSuffix)
	data, err := readSmall(file, sidecar.MaxFetchedBytes)
	if err != nil {
		return nil
	}
	f, err := sidecar.ParseFetched(data)
	if err != nil || nameOf(f.TxID) != name {
		return nil
	}
	return f
}

// nameOf gives the name that Hadoop has for an image.
func nameOf(txid int64) string { return fmt.Sprintf("fsimage_%019d", txid) }

// readSmall reads a regular file of at most so many bytes.
func readSmall(name string, most int64) ([]byte, error) {
	fi, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > most {
		return nil, fmt.Errorf("%s is no small file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// Prune removes images that were fetched of the same namespace as one, but for the newest
// so many. It gives their names. Where the cluster id is not known, none is of the same. Each goes before its sidecar file, which says whose it is, so that the next
// one goes on where this one was ended.
func (d *Dir) Prune(keep int, of *New) (removed []string, err error) {
	all, err := d.Images()
	if err != nil {
		return nil, err
	}
	kept := 0
	for i, own := range slices.Backward(all) {
		switch {
		case !of.same(&all[i]):
			continue
		case !own.Gone && kept < keep:
			kept++
			continue
		case own.Gone && kept < keep: // it may be waiting for its image
			continue
		}
		for _, suffix := range []string{"", md5Suffix, sidecar.FetchedSuffix} {
			err := os.Remove(d.Path(own.Name + suffix))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return removed, err
			}
		}
		if !own.Gone {
			removed = append(removed, own.Name)
		}
	}
	return removed, nil
}

// Package guardfiles reads guards that somebody fetched by hand, where no reader of the
// cluster can: an [execute.Reader] that goes by a manifest (proto/guardset) in a local
// directory. It opens no file outside of that directory, and asks the cluster whether each
// file still is the one that was fetched.
//
// It believes the directory: what is in a file of it counts as the contents of the file in
// the HDFS, of which nothing but the length can be compared.
package guardfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"fsweep/execute"
	"fsweep/proto/guardset"
)

// Look is what is asked of the cluster.
type Look interface {
	Stat(ctx context.Context, ref execute.Ref) (*execute.Status, error)
	Closed(ctx context.Context, file execute.Ref) (bool, error)
}

// Reader is the [execute.Reader] of a directory, behind another one. It may be used by
// many goroutines. Close it.
type Reader struct {
	before execute.Reader
	look   Look
	dir    *os.Root
	guards map[uint64]guardset.Guard
}

var _ execute.Reader = (*Reader)(nil)

// Open reads the manifest of a directory. A file is read from there only if before, which
// goes on to belong to the caller, cannot read it.
func Open(dir string, before execute.Reader, look Look) (*Reader, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{before: before, look: look, dir: root, guards: make(map[uint64]guardset.Guard)}
	guards, err := r.manifest()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s in %s: %w", guardset.Name, dir, err)
	}
	for _, g := range guards {
		r.guards[uint64(g.InodeID)] = g
	}
	return r, nil
}

func (r *Reader) manifest() ([]guardset.Guard, error) {
	f, _, err := r.open(guardset.Name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, guardset.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	return guardset.Parse(data)
}

// Close closes the directory.
func (r *Reader) Close() { _ = r.dir.Close() } // only read from

// Len is the number of files in the manifest.
func (r *Reader) Len() int { return len(r.guards) }

// open opens a regular file below the directory, however many links lead there.
func (r *Reader) open(name string) (*os.File, os.FileInfo, error) {
	fi, err := r.dir.Stat(name) // before: to open a pipe waits for whoever writes it
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := r.dir.Open(name)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(fi, opened) {
		err = fmt.Errorf("%s was replaced at this moment", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, opened, nil
}

// Read implements [execute.Reader].
func (r *Reader) Read(ctx context.Context, file execute.FileID, use func(io.Reader) error) error {
	used := false
	err := r.before.Read(ctx, file, func(from io.Reader) error {
		used = true
		return use(from)
	})
	if used || !errors.Is(err, execute.ErrUnreadable) {
		return err
	}
	// What the cluster says of the file comes first: a file that changed has to be looked at again.
	if err := r.check(ctx, file); err != nil {
		return err
	}
	local := r.read(ctx, file, use, &used)
	if !used {
		return fmt.Errorf("%w; --guards-dir: %w", err, local)
	}
	// What use made of bytes of a file that was changing is worth nothing.
	if changed := r.check(ctx, file); changed != nil {
		return changed
	}
	return local
}

// check asks whether the file of the cluster is the one that is meant, and closed.
func (r *Reader) check(ctx context.Context, file execute.FileID) error {
	status, err := r.look.Stat(ctx, execute.ByID(file.ID))
	if err != nil {
		return err
	}
	closed, err := r.look.Closed(ctx, execute.ByID(file.ID))
	if err != nil {
		return err
	}
	if status.Kind != execute.File || status.Length != file.Length || status.MTimeMs != file.MTimeMs || !closed {
		return fmt.Errorf("%w: inode %d (%q) is no longer the closed file of %d bytes, modified at %d ms", execute.ErrChanged, file.ID, file.Path, file.Length, file.MTimeMs)
	}
	return nil
}

// read passes on the bytes of the local file. An error before that says why there are none.
func (r *Reader) read(ctx context.Context, file execute.FileID, use func(io.Reader) error, used *bool) error {
	g, ok := r.guards[file.ID]
	switch {
	case !ok:
		return fmt.Errorf("%w: the manifest does not have inode %d", execute.ErrUnreadable, file.ID)
	case g.Length != file.Length || g.MTimeMs != file.MTimeMs:
		return fmt.Errorf("%w: the manifest has inode %d with %d bytes, modified at %d ms; now it has %d bytes, modified at %d ms: fetch it again",
			execute.ErrUnreadable, file.ID, g.Length, g.MTimeMs, file.Length, file.MTimeMs)
	}
	f, fi, err := r.open(g.File)
	if err != nil {
		return fmt.Errorf("%w: %w", execute.ErrUnreadable, err)
	}
	defer f.Close()
	if fi.Size() != file.Length {
		return fmt.Errorf("%w: %s has %d bytes, and the manifest says %d", execute.ErrUnreadable, g.File, fi.Size(), file.Length)
	}
	*used = true
	if err := use(&exact{ctx: ctx, from: f, left: file.Length}); err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && (now.Size() != fi.Size() || !now.ModTime().Equal(fi.ModTime())) {
		err = fmt.Errorf("%s was written to while it was read", g.File)
	}
	return err
}

// exact gives so many bytes, and then io.EOF. Less is an error that no decoder takes for
// the end of a file.
type exact struct {
	ctx  context.Context // of the one read that it belongs to
	from io.Reader
	left int64
}

var errShort = errors.New("the file became shorter while it was read")

// Read implements [io.Reader].
func (e *exact) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.from.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) {
		if err = errShort; e.left == 0 {
			err = nil
		}
	}
	return n, err
}

package imagedir

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"

	"fsweep/cmd/internal/sidecar"
)

// New is an image that is about to come.
type New struct {
	TxID   int64
	Length int64 // bytes
	MD5    [16]byte
	// ClusterID and Nameservice say of what it is; "": not known. Nameservices of a
	// federation share the cluster id.
	ClusterID, Nameservice string
}

// same tells whether an image that is here is of the same namespace, as far as that is known.
func (n *New) same(own *Own) bool {
	return n.ClusterID != "" && own.ClusterID == n.ClusterID && own.Nameservice == n.Nameservice
}

// md5Line is what Hadoop writes into the .md5 file of an image.
func (n *New) md5Line() []byte {
	return fmt.Appendf(nil, "%s *%s\n", n.md5(), nameOf(n.TxID))
}

func (n *New) md5() string { return hex.EncodeToString(n.MD5[:]) }

// Have tells whether the very image is there, complete. Its length and its .md5 file are
// compared, not its contents. What contradicts the new image is ErrTaken: another file of
// its name, a newer image of the same namespace, images of another cluster under the same
// nameservice.
func (d *Dir) Have(n *New) (bool, error) {
	name := nameOf(n.TxID)
	all, err := d.Images()
	if err != nil {
		return false, err
	}
	for i := range all {
		own := &all[i]
		switch {
		case own.Nameservice != "" && own.Nameservice == n.Nameservice && own.ClusterID != "" && n.ClusterID != "" && own.ClusterID != n.ClusterID:
			return false, fmt.Errorf("%w: %s is of cluster %q, and nameservice %s is now %q: was it formatted, or is it another one?", ErrTaken, own.Name, own.ClusterID, n.Nameservice, n.ClusterID)
		case n.same(own) && own.TxID > n.TxID && !own.Gone:
			return false, fmt.Errorf("%w: %s is here, which is newer than %s: is that NameNode behind?", ErrTaken, own.Name, name)
		}
	}
	fi, err := os.Lstat(d.Path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, d.leftOver(n)
	case err != nil:
		return false, err
	case !fi.Mode().IsRegular():
		return false, fmt.Errorf("%w: %s is here, and no regular file", ErrTaken, name)
	case fi.Size() != n.Length:
		return false, fmt.Errorf("%w: %s is here and has %d bytes, not %d", ErrTaken, name, fi.Size(), n.Length)
	}
	line, err := readSmall(d.Path(name+md5Suffix), 1<<10)
	if own := d.Sidecar(name); err != nil || !bytes.Equal(line, n.md5Line()) || own != nil && own.MD5 != n.md5() {
		return false, fmt.Errorf("%w: %s is here with another MD5, or without one", ErrTaken, name)
	}
	return true, nil
}

// leftOver requires that small files without their image are those of a fetch that was
// killed: they are replaced.
func (d *Dir) leftOver(n *New) error {
	name := nameOf(n.TxID)
	line, err := readSmall(d.Path(name+md5Suffix), 1<<10)
	if !errors.Is(err, fs.ErrNotExist) && !bytes.Equal(line, n.md5Line()) {
		return fmt.Errorf("%w: %s%s is here without its image, and is of another one", ErrTaken, name, md5Suffix)
	}
	if _, err := os.Lstat(d.Path(name + sidecar.FetchedSuffix)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if own := d.Sidecar(name); own == nil || own.MD5 != n.md5() {
		return fmt.Errorf("%w: %s%s is here without its image, and is of another one", ErrTaken, name, sidecar.FetchedSuffix)
	}
	return nil
}

// Pending is an image that is being written, under a name of its own.
type Pending struct {
	dir  *Dir
	new  New
	file *os.File // nil once it is over
}

// Create begins an image that [Dir.Have] does not have. It is an error if the disk has
// not the room.
func (d *Dir) Create(n *New) (*Pending, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.path, &s); err == nil && s.Bsize > 0 && uint64(n.Length)/uint64(s.Bsize) >= s.Bavail {
		return nil, fmt.Errorf("%w: %s has %d bytes, and %d are free in %s", syscall.ENOSPC, nameOf(n.TxID), n.Length, s.Bavail*uint64(s.Bsize), d.path)
	}
	f, err := d.temp(nameOf(n.TxID))
	if err != nil {
		return nil, err
	}
	return &Pending{dir: d, new: *n, file: f}, nil
}

// temp makes a file with a name that nobody has, which [Open] knows.
func (d *Dir) temp(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(d.Path(fmt.Sprintf(".%s.fetch-%d", name, rand.Uint64())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Write implements [io.Writer].
func (p *Pending) Write(b []byte) (int, error) { return p.file.Write(b) }

// Commit gives the image its name, after its .md5 file and, if there is one, its sidecar
// file have theirs. All are on the disk when it returns.
func (p *Pending) Commit(f *sidecar.Fetched) error {
	name := nameOf(p.new.TxID)
	if f != nil {
		data, err := f.Encode()
		if err != nil {
			return err
		}
		if err := p.dir.write(name+sidecar.FetchedSuffix, data); err != nil {
			return err
		}
	}
	if err := p.dir.write(name+md5Suffix, p.new.md5Line()); err != nil {
		return err
	}
	temp := p.file.Name()
	if err := finish(p.file); err != nil {
		return err
	}
	if err := named(temp, p.dir.Path(name)); err != nil {
		return err
	}
	p.file = nil
	return p.dir.sync()
}

// Abort removes what was written, unless it was committed.
func (p *Pending) Abort() {
	if p.file == nil {
		return
	}
	// The error that led here is the one to show; what stays is removed by the next Open.
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
	p.file = nil
}

// write makes a small file, in place of one that [Dir.leftOver] allowed.
func (d *Dir) write(name string, data []byte) error {
	f, err := d.temp(name)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = finish(f)
	}
	if err == nil {
		err = os.Rename(f.Name(), d.Path(name))
	}
	if err != nil {
		_ = f.Close() // a second time, or what was not written is not wanted
		_ = os.Remove(f.Name())
	}
	return err
}

// finish has the system write a file to the disk.
func finish(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// named gives a file its name, which nothing must have. Where the file system knows no
// links, only a look before keeps it from replacing something.
func named(temp, name string) error {
	err := os.Link(temp, name)
	switch {
	case err == nil:
		return os.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %s appeared meanwhile", ErrTaken, name)
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s appeared meanwhile", ErrTaken, name)
	}
	return os.Rename(temp, name)
}

// sync has the system write the names to the disk.
func (d *Dir) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

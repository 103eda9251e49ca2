package flink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"fsweep/proto/flinkmeta"
)

// Type is the type of a file.
type Type uint8

// The types of files that refer to state.
const (
	// UnknownType: it starts as neither of the others.
	UnknownType Type = iota
	// MetadataFile is the `_metadata` of a checkpoint or savepoint.
	MetadataFile
	// PointerFile is a `completedCheckpoint*` in a high availability directory.
	PointerFile
)

// String gives unknown, metadata or pointer.
func (t Type) String() string {
	switch t {
	case MetadataFile:
		return "metadata"
	case PointerFile:
		return "pointer"
	default:
		return "unknown"
	}
}

// Ref is one reference. Of a PointerFile only Path and Offset are set: nothing
// there tells files from directories, nor their size.
type Ref struct {
	flinkmeta.Reference
	Pointer bool
}

// KindName gives file, relative, segment, directory or pointer.
func (r *Ref) KindName() string {
	if r.Pointer {
		return "pointer"
	}
	return r.Kind.String()
}

// Metadata is what a file says.
type Metadata struct {
	Type       Type
	Info       flinkmeta.Info // of a MetadataFile
	References int64          // that were handed out
	// Directories that hold what is referred to, by path.
	Directories []Directory
	// Run is the base name of the file's own run; of a savepoint, of its
	// directory. Empty if unknown, as it is of every PointerFile; then no
	// directory has a Side.
	Run string
	// RunPath is what is taken as the directory of Run, as a reference has it, with
	// scheme and authority; empty if no reference leads there.
	RunPath string
	// FolderRun is the name that the place of the file gives for the run, if the
	// references prove that it is Run all the same.
	FolderRun string
}

// Directory sums up the references into one directory.
type Directory struct {
	// Path as it is stored in the references, with scheme and authority; if
	// Relative, from the directory that holds the file: usually ".".
	Path     string
	Relative bool

	References int64
	Files      int64 // different ones; of a reference to the directory itself none
	Bytes      int64 // of those files and segments whose size is known, each once
	Side       Side  // of the file's own run
}

// Read reads a file of either type to its end and calls fn, if there is one, for
// every reference in it. location is the path of the file, absolute and with
// slashes, or empty; it is only looked at as text, to find the file's own run.
// It takes memory for every file that is referred to.
//
// After an error the value tells what was found until then. Errors about the
// contents are a [*flinkmeta.FormatError]; an error of fn is returned unchanged.
func Read(r io.Reader, location string, fn func(*Ref) error) (*Metadata, error) {
	c := collector{seed: maphash.MakeSeed(), dirs: map[dirKey]*Directory{}, seen: map[uint64]struct{}{}}
	m, err := List(r, func(ref *Ref) error {
		c.add(ref)
		if fn == nil {
			return nil
		}
		return fn(ref)
	})
	m.Directories = c.directories()
	if m.Type == MetadataFile {
		m.findRun(location)
	}
	return m, err
}

// List is [Read] without Directories and Run. It takes no memory for references.
func List(r io.Reader, fn func(*Ref) error) (*Metadata, error) {
	m := &Metadata{}
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return m, err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	var ref Ref // handed out again and again
	if m.Type = typeOf(head[:n]); m.Type == PointerFile {
		ref.Pointer = true
		err = flinkmeta.Pointers(r, func(path []byte, offset int64) error {
			m.References++
			ref.Reference = flinkmeta.Reference{Path: path, Size: -1, Offset: offset}
			return fn(&ref)
		})
	} else { // an unknown one too: the decoder says what is wrong
		m.Info, err = flinkmeta.Decode(r, func(found *flinkmeta.Reference) error {
			m.References++
			ref.Reference = *found
			return fn(&ref)
		})
	}
	return m, err
}

// typeOf tells the type of a file by its first bytes.
func typeOf(head []byte) Type {
	const (
		metadataMagic   = 0x4960672d
		javaStreamMagic = 0xaced0005
	)
	if len(head) < 4 {
		return UnknownType
	}
	switch binary.BigEndian.Uint32(head) {
	case metadataMagic:
		return MetadataFile
	case javaStreamMagic:
		return PointerFile
	}
	return UnknownType
}

// collector sums up references by directory. Of a file it keeps 64 bits of a
// hash: two files of a million that look like one are a matter of 1 in 10^7.
type collector struct {
	seed maphash.Seed
	dirs map[dirKey]*Directory
	seen map[uint64]struct{}
}

func (c *collector) add(r *Ref) {
	d := c.directory(r)
	d.References++
	if r.Kind == flinkmeta.Directory {
		return
	}
	first := c.first(r.Path, 0, -1)
	if first {
		d.Files++
	}
	if r.Kind == flinkmeta.Segment {
		first = c.first(r.Path, r.Start, r.Size)
	}
	if first && r.Size > 0 {
		d.Bytes = sum(d.Bytes, r.Size)
	}
}

// dirKey tells the directories of relative paths from others.
type dirKey struct {
	path     string
	relative bool
}

// directory gives the sums of the directory that a reference leads into.
func (c *collector) directory(r *Ref) *Directory {
	path, relative := r.Path, r.Kind == flinkmeta.Relative
	if r.Kind != flinkmeta.Directory {
		path = parent(path, relative)
	} else if short := bytes.TrimRight(path, "/"); len(short) > len(prefix(path)) {
		path = short // the same with a slash at the end and without
	}
	d := c.dirs[dirKey{string(path), relative}]
	if d == nil {
		d = &Directory{Path: string(path), Relative: relative}
		c.dirs[dirKey{d.Path, relative}] = d
	}
	return d
}

// first tells whether this is the first time that it is asked about a piece of a file.
func (c *collector) first(path []byte, start, size int64) bool {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.Write(path) // never fails
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(start))
	binary.BigEndian.PutUint64(b[8:], uint64(size))
	_, _ = h.Write(b[:])
	key := h.Sum64()
	if _, ok := c.seen[key]; ok {
		return false
	}
	c.seen[key] = struct{}{}
	return true
}

// directories gives the absolute ones by path, then the relative ones.
func (c *collector) directories() []Directory {
	all := make([]Directory, 0, len(c.dirs))
	for _, d := range c.dirs {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b Directory) int {
		if a.Relative != b.Relative {
			if b.Relative {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return all
}

// sum adds sizes, which a damaged file can make larger than any disk.
func sum(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return 1<<63 - 1
}

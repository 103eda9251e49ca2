package fsimage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

const magic = "HDFSIMG1"

// Layout versions that this package reads (they count downwards): Hadoop 2.6 to
// 3.5.
const (
	oldestLayout = -60
	newestLayout = -67
)

// Names of the sections that fsweep reads.
const (
	SectionNameSystem        = "NS_INFO"
	SectionErasureCoding     = "ERASURE_CODING"
	SectionINode             = "INODE"
	SectionDirectory         = "INODE_DIR"
	SectionUnderConstruction = "FILES_UNDERCONSTRUCTION"
	SectionSnapshot          = "SNAPSHOT"
	SectionSnapshotDiff      = "SNAPSHOT_DIFF"
	SectionReference         = "INODE_REFERENCE"
	SectionSecretManager     = "SECRET_MANAGER"
	SectionCacheManager      = "CACHE_MANAGER"
	SectionStringTable       = "STRING_TABLE"

	subSuffix = "_SUB" // a part of a section, for parallel loading
)

// Summary is what the end of an image says about the rest.
type Summary struct {
	OnDiskVersion uint32
	LayoutVersion int32  // negative; a lower number is a newer layout
	Codec         string // Java class name of the compression codec; empty: none
	Sections      []Section
	Offset        int64 // where the summary starts in the file
}

// Section is one entry of the section table.
type Section struct {
	Name   string
	Offset int64 // bytes from the start of the file
	Length int64 // bytes in the file, compressed when the image is
}

// Known tells whether this package knows what the section holds. Others are
// listed and skipped.
func (s Section) Known() bool {
	switch strings.TrimSuffix(s.Name, subSuffix) {
	case SectionNameSystem, SectionErasureCoding, SectionINode, SectionDirectory, SectionUnderConstruction,
		SectionSnapshot, SectionSnapshotDiff, SectionReference, SectionSecretManager, SectionCacheManager, SectionStringTable:
		return true
	}
	return false
}

// Part tells whether the section is a part (…_SUB) of another one.
func (s Section) Part() bool { return strings.HasSuffix(s.Name, subSuffix) }

// Image is an opened fsimage.
type Image struct {
	r    io.ReaderAt
	size int64
	sum  Summary
	opt  options
	read *atomic.Int64 // bytes of sections
	hash *hashing
}

// File is an [Image] in a file of its own; Close it.
type File struct {
	*Image
	f  *os.File
	fi os.FileInfo // when it was opened
}

// Unchanged gives an error that wraps ErrCorrupt if the file was written to
// since it was opened. What was read in the meantime can be of two images.
func (f *File) Unchanged() error {
	fi, err := f.f.Stat()
	if err != nil {
		return err
	}
	if fi.Size() != f.fi.Size() || !fi.ModTime().Equal(f.fi.ModTime()) {
		return fmt.Errorf("%w: the file was changed while it was read", ErrCorrupt)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// OpenFile opens the image in a regular file.
func OpenFile(name string, opts ...Option) (*File, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: not a regular file (an image is read at many places)", ErrNotImage)}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if fi, err = f.Stat(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	im, err := Open(f, fi.Size(), opts...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return &File{im, f, fi}, nil
}

// Open reads magic, summary and section table of the image in r, which has
// size bytes. It keeps r and reads from it later.
func Open(r io.ReaderAt, size int64, opts ...Option) (*Image, error) {
	im := &Image{r: r, size: size, read: new(atomic.Int64), hash: new(hashing), opt: options{maxRecord: defaultMaxRecord, buffer: defaultBuffer}}
	for _, o := range opts {
		o(&im.opt)
	}
	head := make([]byte, len(magic))
	if n, err := r.ReadAt(head[:min(size, int64(len(magic)))], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if string(head[:n]) != magic {
		if n > 0 && strings.HasPrefix(magic, string(head[:n])) {
			return nil, frameError(int64(n), truncatedf("the file has %d bytes", size))
		}
		return nil, frameError(0, fmt.Errorf("%w: it starts with %q, not %q", ErrNotImage, head[:n], magic))
	}
	if err := im.readSummary(); err != nil {
		return nil, err
	}
	return im, im.checkSections()
}

func frameError(offset int64, err error) error {
	return &FormatError{Offset: offset, Record: -1, Err: err}
}

// readSummary finds the summary from the end of the file: its last four bytes
// are the length of the delimited message before them. The last section need
// not end where the summary starts: a NameNode that compresses leaves an empty
// stream there.
func (im *Image) readSummary() error {
	first := int64(len(magic))
	if im.size < first+4 {
		return frameError(im.size, truncatedf("the file has %d bytes and no summary", im.size))
	}
	var tail [4]byte
	if n, err := im.r.ReadAt(tail[:], im.size-4); n < len(tail) {
		return readError("", im.size-4, err)
	}
	n := int64(int32(binary.BigEndian.Uint32(tail[:])))
	if n <= 0 || n > im.size-4-first {
		return frameError(im.size-4, truncatedf("summary length %d does not fit: the file is cut short or was still being written", n))
	}
	if n > maxSummary {
		return frameError(im.size-4, unsupportedf("summary of %d bytes (at most %d)", n, maxSummary))
	}
	start := im.size - 4 - n
	b := make([]byte, n)
	if n, err := im.r.ReadAt(b, start); n < len(b) {
		return readError("", start, err)
	}
	m, k := protowire.ConsumeVarint(b)
	if k < 0 || m != uint64(n-int64(k)) {
		return frameError(start, corruptf("summary does not have the length that the file's end gives"))
	}
	var s pb.FileSummary
	if err := proto.Unmarshal(b[k:], &s); err != nil {
		return frameError(start, corruptf("summary: %v", err))
	}
	im.sum = Summary{OnDiskVersion: s.GetOndiskVersion(), LayoutVersion: int32(s.GetLayoutVersion()), Codec: s.GetCodec(), Offset: start}
	for _, e := range s.GetSections() {
		if e.GetLength() > math.MaxInt64 || e.GetOffset() > math.MaxInt64 {
			return frameError(start, corruptf("section %q: length or offset above 2^63", e.GetName()))
		}
		im.sum.Sections = append(im.sum.Sections, Section{e.GetName(), int64(e.GetOffset()), int64(e.GetLength())})
	}
	return nil
}

func (im *Image) checkSections() error {
	s := &im.sum
	if s.OnDiskVersion != 1 {
		return frameError(s.Offset, unsupportedf("on-disk version %d (known: 1)", s.OnDiskVersion))
	}
	if s.LayoutVersion < newestLayout || s.LayoutVersion > oldestLayout {
		return frameError(s.Offset, unsupportedf("layout version %d (known: %d to %d, Hadoop 2.6 to 3.5)", s.LayoutVersion, oldestLayout, newestLayout))
	}
	if _, err := codecFor(s.Codec); err != nil {
		return frameError(s.Offset, err)
	}
	seen := map[string]bool{}
	for _, e := range s.Sections {
		if e.Offset < int64(len(magic)) || e.Length > s.Offset-e.Offset {
			return frameError(s.Offset, corruptf("section %q: offset %d and length %d lie outside the file's sections (bytes %d to %d)",
				e.Name, e.Offset, e.Length, len(magic), s.Offset))
		}
		if seen[e.Name] && !e.Part() {
			return frameError(s.Offset, corruptf("section %q is listed twice", e.Name))
		}
		seen[e.Name] = true
	}
	for _, name := range []string{SectionNameSystem, SectionINode, SectionDirectory, SectionStringTable} {
		if !seen[name] {
			return frameError(s.Offset, corruptf("no section %s", name))
		}
	}
	return nil
}

// Summary gives the section table and versions; the caller must not change it.
func (im *Image) Summary() Summary { return im.sum }

// BytesRead is how many bytes of sections were read so far, as they stand in the
// file: compressed, if it is; those that were read twice count twice. It may be
// called at any time.
func (im *Image) BytesRead() int64 { return im.read.Load() }

// Size is the length of the file in bytes.
func (im *Image) Size() int64 { return im.size }

// Section finds a section by name. Parts (…_SUB) overlap their section and are
// never needed to read it.
func (im *Image) Section(name string) (Section, bool) {
	for _, s := range im.sum.Sections {
		if s.Name == name {
			return s, true
		}
	}
	return Section{}, false
}

// readError keeps the operating system's error: a failing disk is not a
// corrupt image. A short read means that the file shrank since it was opened.
func readError(section string, offset int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = truncatedf("the file is shorter than when it was opened")
	}
	return &FormatError{Section: section, Offset: offset, Record: -1, Err: err}
}

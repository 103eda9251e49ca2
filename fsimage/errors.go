package fsimage

import (
	"errors"
	"fmt"
	"strings"
)

// The classes of failure; every error about the contents of an image wraps one.
var (
	// ErrNotImage: the file does not start with the magic of an fsimage.
	ErrNotImage = errors.New("not an HDFS fsimage")
	// ErrTruncated: the file ends before what it announces.
	ErrTruncated = errors.New("truncated")
	// ErrCorrupt: the bytes contradict the format.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnsupported: a valid image of a kind that this version cannot read.
	ErrUnsupported = errors.New("unsupported")
	// ErrChecksum: the bytes do not have the MD5 that stands in the .md5 file.
	ErrChecksum = errors.New("checksum mismatch")
)

// FormatError says where in an image something is wrong.
type FormatError struct {
	Section string // name of the section; empty: the frame around sections
	// Offset in bytes: from the start of the file when Section is empty or the
	// image is not compressed, else from the start of the decompressed section.
	Offset       int64
	Decompressed bool  // Offset counts decompressed bytes of the section
	Record       int64 // index of the record in its section, -1 if none
	Err          error // wraps one of the Err… values of this package
}

// Error gives section, offset, record and cause.
func (e *FormatError) Error() string {
	var b strings.Builder
	if e.Section != "" {
		fmt.Fprintf(&b, "section %s, ", e.Section)
	}
	fmt.Fprintf(&b, "offset %d", e.Offset)
	if e.Decompressed {
		b.WriteString(" (decompressed)")
	}
	if e.Record >= 0 {
		fmt.Fprintf(&b, ", record %d", e.Record)
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Err }

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

func truncatedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrTruncated}, args...)...)
}

func unsupportedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}

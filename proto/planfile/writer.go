package planfile

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// errClosed: the caller went on after Close.
var errClosed = errors.New("the plan is closed")

// Writer writes a plan line by line: known, guard, item (each followed by its
// directories), quota, in this order, every kind sorted by the bytes of its paths
// (of items: Item, its Directories, the next Item).
//
// A line that breaks a rule is refused with a [*LineError] around [ErrInvalid], and
// from then on every call returns that first error, Close too. Lines are handed on
// in blocks, so what reaches the underlying writer is incomplete until Close has
// succeeded; without its footer it is not a plan.
//
// A Writer keeps nothing of the values it is given except strings. It is not safe
// for use by several goroutines at once.
type Writer struct {
	out   *bufio.Writer
	sum   hash.Hash
	c     coder
	check *checker
	h     Header
	line  int
	err   error

	// The last ones, here so that they do not cost an allocation.
	entry Known
	guard Guard
	item  Item
	dir   Directory
}

// NewWriter writes the header to w. h.Format is set by NewWriter. The lists of h
// must not change before Close.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Format = Format
	sum := sha256.New()
	p := &Writer{out: bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10), sum: sum, check: newChecker(), h: h}
	return p, put(p, typeHeader, &p.h, (*checker).header, (*Header).fields)
}

// Known writes something that stands in a root.
func (w *Writer) Known(k Known) error {
	w.entry = k
	return put(w, typeKnown, &w.entry, (*checker).known, (*Known).fields)
}

// Guard writes a guard.
func (w *Writer) Guard(g Guard) error {
	w.guard = g
	return put(w, typeGuard, &w.guard, (*checker).guard, (*Guard).fields)
}

// Item writes an item. Its directories follow by [Writer.Directory].
func (w *Writer) Item(i Item) error {
	w.item = i
	return put(w, typeItem, &w.item, (*checker).addItem, (*Item).fields)
}

// Directory writes a directory inside the last item: all of them, at any depth, the
// item itself left out.
func (w *Writer) Directory(d Directory) error {
	w.dir = d
	return put(w, typeDir, &w.dir, (*checker).directory, (*Directory).fields)
}

// Quota writes a directory whose quota items change: one for every inode id in
// their QuotaEffects.
func (w *Writer) Quota(q Quota) error {
	return put(w, typeQuota, &q, (*checker).quota, (*Quota).fields)
}

// Close writes the footer and gives the digest of everything written. It does not
// close, sync or rename the file below: that, and the check of its error, remains
// for the caller.
func (w *Writer) Close() (Digest, error) {
	if w.err != nil {
		return Digest{}, w.err
	}
	f, err := w.check.footer()
	if err != nil {
		w.err = atLine(err, w.line+1)
		return Digest{}, w.err
	}
	if err := put(w, typeFooter, &f, func(*checker, *Footer) error { return nil }, (*Footer).fields); err != nil {
		return Digest{}, err
	}
	if w.flushed(w.out.Flush()); w.err != nil {
		return Digest{}, w.err
	}
	w.err = errClosed
	return Digest(w.sum.Sum(nil)), nil
}

// Footer gives counts and totals of what was written so far.
func (w *Writer) Footer() Footer { return w.check.count }

func (w *Writer) flushed(err error) {
	if err != nil {
		w.err = fmt.Errorf("writing the plan: %w", err)
	}
}

// put checks, encodes and writes one line.
func put[T any](w *Writer, kind string, v *T, check func(*checker, *T) error, fields func(*T, *coder)) error {
	if w.err != nil {
		return w.err
	}
	w.c.Write(kind)
	fields(v, &w.c)
	err := w.c.End()
	if err == nil {
		err = check(w.check, v)
	}
	if err != nil {
		w.err = atLine(err, w.line+1)
		return w.err
	}
	w.line++
	_, err = w.out.Write(w.c.Line())
	w.flushed(err)
	return w.err
}

package planfile

import (
	"errors"
	"iter"

	"fsweep/proto/internal/canonical"
)

// Reader gives the lines of a plan that [Open] has checked. It is not safe for use
// by several goroutines at once, but its iterators may be nested, left early and
// run again.
//
// An iterator yields values with a nil error, or once a zero value with an error
// and then ends. After Open only two things can go wrong: reading fails, or the
// file was changed ([ErrDigest]). The error comes in place of the first line of
// which a byte lies in the block concerned; lines yielded before are those that the
// digest stands for.
type Reader struct {
	b      *canonical.Blocks
	c      coder
	header Header
	footer Footer
	starts map[string]Ref // of the first line of each type
}

// Ref is the place of a line in the file that a Reader has open.
type Ref struct {
	off  int64
	line int
}

// Header gives the header. Its lists belong to the Reader and must not be changed.
func (r *Reader) Header() Header { return r.header }

// Footer gives counts and totals; they were checked against the lines.
func (r *Reader) Footer() Footer { return r.footer }

// Known yields what stood in the roots, by path.
func (r *Reader) Known() iter.Seq2[Known, error] {
	return section(r, typeKnown, r.starts[typeKnown], (*Known).fields, nil)
}

// Guards yields the guards, by path.
func (r *Reader) Guards() iter.Seq2[Guard, error] {
	return section(r, typeGuard, r.starts[typeGuard], (*Guard).fields, nil)
}

// Items yields the items, by path. Their directories are [Reader.Directories].
func (r *Reader) Items() iter.Seq2[Item, error] {
	return section(r, typeItem, r.starts[typeItem], (*Item).fields, func(i *Item, at, next Ref) { i.ref, i.dirs = at, next })
}

// Item reads one item once more, by what [Item.Ref] gave; the place of another file
// is an error.
func (r *Reader) Item(at Ref) (Item, error) {
	for i, err := range section(r, typeItem, at, (*Item).fields, func(i *Item, at, next Ref) { i.ref, i.dirs = at, next }) {
		return i, err
	}
	return Item{}, errForeign
}

// Directories yields the directories inside an item that this Reader yielded, by
// path. They are read again each time and not kept.
func (r *Reader) Directories(i *Item) iter.Seq2[Directory, error] {
	if i.dirs == (Ref{}) {
		return func(yield func(Directory, error) bool) { yield(Directory{}, errForeign) }
	}
	return section(r, typeDir, i.dirs, (*Directory).fields, nil)
}

var errForeign = errors.New("the item was not read from this plan")

// Quotas yields the directories whose quota the plan changes, by path.
func (r *Reader) Quotas() iter.Seq2[Quota, error] {
	return section(r, typeQuota, r.starts[typeQuota], (*Quota).fields, nil)
}

// section yields the lines of one type, from the first one on.
func section[T any](r *Reader, kind string, from Ref, fields func(*T, *coder), place func(v *T, at, next Ref)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var v, zero T
		l := canonical.Lines{Block: r.b.Verified, Off: from.off, N: from.line - 1}
		for from != (Ref{}) {
			at := Ref{l.Off, l.N + 1}
			line, err := l.Next()
			if err != nil {
				yield(zero, atLine(err, at.line))
				return
			}
			if got := lineType(line); got == typeDir && kind == typeItem {
				continue
			} else if got != kind {
				return
			}
			v = zero
			if err := decode(&r.c, line, kind, &v, fields); err != nil {
				yield(zero, atLine(err, at.line))
				return
			}
			if place != nil {
				place(&v, at, Ref{l.Off, l.N + 1})
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// lineType gives the type of a line, or "".
func lineType(line []byte) string {
	if len(line) < len(canonical.LineStart) || string(line[:len(canonical.LineStart)]) != canonical.LineStart {
		return ""
	}
	rest := line[len(canonical.LineStart):]
	for _, kind := range [...]string{typeItem, typeDir, typeGuard, typeKnown, typeQuota, typeFooter, typeHeader} {
		if len(rest) > len(kind) && rest[len(kind)] == '"' && string(rest[:len(kind)]) == kind {
			return kind
		}
	}
	return ""
}

// decode reads one line into v, which is empty before.
func decode[T any](c *coder, line []byte, kind string, v *T, fields func(*T, *coder)) error {
	c.Read(line, kind)
	fields(v, c)
	return c.End()
}

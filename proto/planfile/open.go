package planfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"fsweep/proto/internal/canonical"
)

const byteOrderMark = "\xef\xbb\xbf"

// Open reads all of f, from its start to its end, computes the digest and checks
// every line and every rule of the format. It must be kept open, unchanged, as long
// as the Reader is used; nothing else may move its offset while a Reader method or
// iterator runs.
//
// The digest is valid whenever it is not zero: for a plan that breaks a rule as
// well, so that "this is not the plan that was approved" can be told from "the
// approved plan is broken". It is zero if reading fails, and if the file does not
// start as a plan, which is then not read to its end.
//
// Errors about content are a [*LineError] around [ErrNotPlan], [ErrFormat] or
// [ErrInvalid].
func Open(f io.ReadSeeker) (*Reader, Digest, error) {
	sum := sha256.New()
	o := &opening{b: canonical.NewBlocks(f, "plan", sum), check: newChecker(), r: &Reader{starts: make(map[string]Ref)}}
	o.l.Block = o.b.First
	if err := o.magic(); err != nil {
		return nil, Digest{}, atLine(err, 1)
	}
	broken := atLine(o.parse(), o.l.N)
	if broken != nil && !isContent(broken) {
		return nil, Digest{}, broken
	}
	if err := o.b.Rest(); err != nil { // where a line was broken
		return nil, Digest{}, err
	}
	digest := Digest(sum.Sum(nil))
	if broken != nil {
		return nil, digest, broken
	}
	o.r.b = o.b
	o.r.c.ShareNames(&o.c)
	return o.r, digest, nil
}

// opening is the first reading.
type opening struct {
	b     *canonical.Blocks
	l     canonical.Lines
	c     coder
	check *checker
	r     *Reader

	item Item      // the one being checked, here so that it does not cost an allocation
	dir  Directory // likewise
}

// magic looks at the first bytes, so that any other file is known at once.
func (o *opening) magic() error {
	b, err := o.b.First(0)
	if err != nil {
		return err
	}
	const start, format = canonical.LineStart + typeHeader + `",`, `"format":`
	switch {
	case len(b) == 0:
		return fmt.Errorf("%w: the file is empty", ErrNotPlan)
	case bytes.HasPrefix(b, []byte(byteOrderMark)):
		return fmt.Errorf("%w: the file starts with a byte order mark", ErrNotPlan)
	case !bytes.HasPrefix(b, []byte(start)):
		return fmt.Errorf("%w: the file does not start with %s", ErrNotPlan, start)
	}
	var v int64
	var c coder
	c.ReadOn(b[:min(len(b), len(start)+len(format)+20)], len(start)-1)
	c.Number("format", &v)
	switch err := c.Err(); {
	case err != nil:
		return err
	case v != Format:
		return fmt.Errorf("%w: version %d, only %d is known here", ErrFormat, v, Format)
	}
	return nil
}

// parse reads all lines. An error belongs to the line that was read last.
func (o *opening) parse() error {
	for {
		at := Ref{o.l.Off, o.l.N + 1}
		line, err := o.l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return invalidf("the file ends without a footer: it was cut short, or is still being written")
		case err != nil:
			return err
		case len(line) == 0:
			return invalidf("an empty line")
		}
		kind := lineType(line)
		if _, ok := o.r.starts[kind]; !ok {
			o.r.starts[kind] = at
		}
		if err := o.line(kind, line); err != nil {
			return err
		}
		if kind == typeFooter {
			break
		}
	}
	if _, err := o.l.Next(); !errors.Is(err, io.EOF) {
		if err == nil || isContent(err) {
			return invalidf("data after the footer")
		}
		return err
	}
	return nil
}

func (o *opening) line(kind string, line []byte) error {
	if (kind == typeHeader) != (o.l.N == 1) {
		return invalidf("the header is the first line and no other")
	}
	switch kind {
	case typeHeader:
		return take(o, kind, line, &o.r.header, (*Header).fields, (*checker).header)
	case typeKnown:
		return take(o, kind, line, new(Known), (*Known).fields, (*checker).known)
	case typeGuard:
		return take(o, kind, line, new(Guard), (*Guard).fields, (*checker).guard)
	case typeItem:
		o.item = Item{}
		return take(o, kind, line, &o.item, (*Item).fields, (*checker).addItem)
	case typeDir:
		o.dir = Directory{}
		return take(o, kind, line, &o.dir, (*Directory).fields, (*checker).directory)
	case typeQuota:
		return take(o, kind, line, new(Quota), (*Quota).fields, (*checker).quota)
	case typeFooter:
		return take(o, kind, line, &o.r.footer, (*Footer).fields, (*checker).sameFooter)
	}
	if name, _, ok := bytes.Cut(bytes.TrimPrefix(line, []byte(canonical.LineStart)), []byte{'"'}); ok && bytes.HasPrefix(line, []byte(canonical.LineStart)) {
		return invalidf("unknown type of line %q", name[:min(len(name), 40)])
	}
	return invalidf("the line does not start with %s", canonical.LineStart)
}

func (k *checker) sameFooter(f *Footer) error {
	want, err := k.footer()
	if err == nil && want != *f {
		err = invalidf("the footer is not that of these lines: it has %+v, the lines %+v", *f, want)
	}
	return err
}

// take decodes and checks one line.
func take[T any](o *opening, kind string, line []byte, v *T, fields func(*T, *coder), check func(*checker, *T) error) error {
	if err := decode(&o.c, line, kind, v, fields); err != nil {
		return err
	}
	return check(o.check, v)
}

package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"fsweep/proto/internal/canonical"
	"fsweep/proto/planfile"
)

const byteOrderMark = "\xef\xbb\xbf"

// Reader gives the lines of a journal that [Open] has checked.
//
// An iterator yields values with a nil error, or once a zero value with an error and
// then ends. After Open only two things can go wrong: reading fails, or the file was
// changed, not merely continued ([ErrChanged]).
type Reader struct {
	b       *canonical.Blocks
	c       coder
	k       *checker
	header  Header
	ended   *End
	resumed *Resumed
	lines   int
	end     int64 // of the last complete line
}

// Open reads f from the beginning to the end and checks every rule of the format. The
// Reader uses f as long as it is used; closing it remains for the caller.
//
// Errors about content are a [*LineError] around [ErrNotJournal], [ErrNotBegun],
// [ErrFormat] or [ErrInvalid]. A last line without newline is no error: see
// [Reader.Torn].
func Open(f io.ReadSeeker) (*Reader, error) {
	r := &Reader{b: canonical.NewBlocks(f, "journal", nil), k: newChecker()}
	l := canonical.Lines{Block: r.b.First}
	if err := r.magic(); err != nil {
		return nil, atLine(err, 1)
	}
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, canonical.ErrTorn) {
			break
		}
		if err == nil {
			err = r.check(line)
		}
		if err != nil {
			return nil, atLine(err, l.N)
		}
		r.end, r.lines = l.Off, l.N
	}
	if r.lines == 0 {
		return nil, atLine(fmt.Errorf("%w: it ends within its first line", ErrNotBegun), 1)
	}
	r.b.Grows()
	r.header, r.ended, r.resumed = *r.k.h, r.k.ended, r.k.resumed
	return r, nil
}

// magic looks at the first bytes, so that any other file is known at once. Those of a
// journal that was cut off are its own.
func (r *Reader) magic() error {
	b, err := r.b.First(0)
	if err != nil {
		return err
	}
	const start = canonical.LineStart + typeHeader + `",`
	n := min(len(b), len(start))
	switch {
	case n == 0:
		return fmt.Errorf("%w: it is empty", ErrNotBegun)
	case len(b) < canonical.BlockSize && len(bytes.Trim(b, "\x00")) == 0: // some file systems leave that when power is lost
		return fmt.Errorf("%w: it holds zeros alone", ErrNotBegun)
	case bytes.HasPrefix(b, []byte(byteOrderMark)):
		return fmt.Errorf("%w: the file starts with a byte order mark", ErrNotJournal)
	case string(b[:n]) != start[:n]:
		return fmt.Errorf("%w: the file does not start with %s", ErrNotJournal, start)
	}
	return nil
}

// check decodes and checks a line.
func (r *Reader) check(line []byte) error {
	if len(line) == 0 {
		return invalidf("an empty line")
	}
	kind, err := lineType(line)
	if err != nil {
		return err
	}
	if kind == typeHeader && r.k.h == nil {
		if err := r.format(line); err != nil {
			return err
		}
	}
	l, err := r.decode(line, kind, &r.k.next)
	if err == nil {
		err = r.k.line(l)
	}
	if err != nil {
		return err
	}
	r.k.commit(line)
	return nil
}

// format refuses versions that are not known before anything else is looked at.
func (r *Reader) format(line []byte) error {
	var v int64
	r.c.ReadOn(line, len(canonical.LineStart)+len(typeHeader)+1)
	r.c.Number("format", &v)
	if err := r.c.Err(); err != nil {
		return err
	}
	if v != Format {
		return fmt.Errorf("%w: version %d, only %d is known here", ErrFormat, v, Format)
	}
	return nil
}

func lineType(line []byte) (string, error) {
	rest, ok := bytes.CutPrefix(line, []byte(canonical.LineStart))
	name, _, closed := bytes.Cut(rest[:min(len(rest), 40)], []byte{'"'})
	switch {
	case !ok:
		return "", invalidf("the line does not start with %s", canonical.LineStart)
	case !closed || empty(string(name)) == nil:
		return "", invalidf("unknown type of line %q", name)
	}
	return string(name), nil
}

func (r *Reader) decode(line []byte, kind string, want *Stamp) (Line, error) {
	l := empty(kind)
	r.c.Read(line, kind)
	code(&r.c, l, want)
	return l, r.c.End()
}

// Header gives the header. Its lists belong to the Reader and must not be changed.
func (r *Reader) Header() Header { return r.header }

// Ended gives the last line if it is an end, else nil: the process was ended by force,
// or is still at work.
func (r *Reader) Ended() *End { return r.ended }

// Resumed gives the last resumed line, nil if there is none.
func (r *Reader) Resumed() *Resumed { return r.resumed }

// Len gives the number of complete lines.
func (r *Reader) Len() int { return r.lines }

// Torn gives the length of the piece behind the last complete line, in bytes; 0 if there
// is none. Before a line is appended the file has to be cut to CutTo, and synced.
func (r *Reader) Torn() int64 { return r.b.Size() - r.end }

// CutTo gives the offset behind the last complete line, in bytes.
func (r *Reader) CutTo() int64 { return r.end }

// Last gives the hash of the last complete line, as it was when the journal was opened
// or, once lines were added by the encoder, as it is now.
func (r *Reader) Last() Hash { return r.k.next.Prev }

// State tells what the lines say; those of the encoder, too.
func (r *Reader) State() State { return State{r.k} }

// Encoder goes on behind the last complete line. There must be only one.
func (r *Reader) Encoder() *Encoder { return &Encoder{k: r.k} }

// Lines yields all complete lines from the header on.
func (r *Reader) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		l := canonical.Lines{Block: r.b.Verified}
		for l.Off < r.end {
			v, err := r.again(&l)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// again reads a line that was checked before.
func (r *Reader) again(l *canonical.Lines) (Line, error) {
	line, err := l.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, canonical.ErrTorn) { // not without a change of the file
		err = fmt.Errorf("%w: it has become shorter", ErrChanged)
	}
	if err != nil {
		return nil, atLine(err, l.N)
	}
	kind, err := lineType(line)
	if err != nil {
		return nil, atLine(err, l.N)
	}
	v, err := r.decode(line, kind, nil)
	if err != nil {
		return nil, atLine(err, l.N)
	}
	return v, nil
}

// Moved is an item that was moved and not moved back: of an undo, one that was moved
// back.
type Moved struct {
	Intent *Intent
	Path   planfile.Path // where it was found; "" where only ids were known
	Chain  []uint64      // as in [Done]
	AtMs   int64         // when that was seen
}

// Moved yields what was moved and not moved back, the newest first. It takes 4 bytes of
// memory for each.
func (r *Reader) Moved() iter.Seq2[*Moved, error] {
	t := &r.k.items
	return func(yield func(*Moved, error) bool) {
		done := make([]int32, 0, t.count[OutcomeDone])
		for i := range t.n {
			if rec := t.at(i); rec.outcome == OutcomeDone && rec.arrival < r.end {
				done = append(done, i)
			}
		}
		slices.SortFunc(done, func(a, b int32) int { return cmp.Compare(t.at(b).seq, t.at(a).seq) })
		for _, i := range done {
			m, err := r.moved(*t.at(i))
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) moved(rec record) (*Moved, error) {
	l := canonical.Lines{Block: r.b.Verified, Off: rec.off, N: int(rec.seq) - 1}
	v, err := r.again(&l)
	if err != nil {
		return nil, err
	}
	m := &Moved{Intent: v.(*Intent)}
	l.Off = rec.arrival
	if v, err = r.again(&l); err != nil {
		return nil, err
	}
	m.AtMs = v.Stamped().AtMs
	switch v := v.(type) {
	case *Done:
		m.Path, m.Chain = v.Path, v.Chain
	case *Settled:
		m.Path, m.Chain = v.Path, v.Chain
	}
	return m, nil
}

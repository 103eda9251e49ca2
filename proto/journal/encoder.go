package journal

import (
	"strings"
	"unicode/utf8"

	"fsweep/proto/planfile"
)

// Encoder makes the lines of a journal, one after the other, the header first. A line
// that breaks a rule is refused with a [*LineError] around [ErrInvalid], and from then
// on every call returns that first error: whoever gets it must not do what the line
// was about.
//
// An Encoder does not know whether a line reached the disk. Who fails to write one must
// not ask for the next: the chain would go through a line that is not there.
type Encoder struct {
	c   coder
	k   *checker
	err error
}

// NewEncoder begins a journal.
func NewEncoder() *Encoder { return &Encoder{k: newChecker()} }

// Encode gives the bytes of a line, its newline included; they are valid until the next
// call. It sets number and hash of the line, the format of a [Header] and the totals of
// an [End] but those planned, and cuts messages to 8 KiB. The time is the caller's.
func (e *Encoder) Encode(l Line) ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	s := l.Stamped()
	s.Seq, s.Prev = e.k.next.Seq, e.k.next.Prev
	switch l := l.(type) {
	case *Header:
		l.Format = Format
	case *Failed:
		l.Message = cut(l.Message)
	case *Unknown:
		l.Message = cut(l.Message)
	case *End:
		l.Totals = e.k.items.totals(l.Totals.Planned)
	}
	e.c.Write(l.kind())
	code(&e.c, l, nil)
	err := e.c.End()
	if err == nil {
		err = e.k.line(l)
	}
	if err != nil {
		e.err = atLine(err, int(s.Seq))
		return nil, e.err
	}
	b := e.c.Line()
	e.k.commit(b[:len(b)-1])
	return b, nil
}

// cut shortens a message, not within a character.
func cut(n planfile.Name) planfile.Name {
	if len(n) <= maxMessage {
		return n
	}
	end := maxMessage
	for i := range utf8.UTFMax {
		if utf8.RuneStart(n[maxMessage-i]) {
			end = maxMessage - i
			break
		}
	}
	return planfile.Name(strings.Clone(string(n[:end])))
}

// Last gives the hash of the last line: what a person keeps of the journal.
func (e *Encoder) Last() Hash { return e.k.next.Prev }

// State tells what the lines so far say.
func (e *Encoder) State() State { return State{e.k} }

// State is what the lines of a journal say so far. It goes on with them.
type State struct{ k *checker }

// Pending gives the intent of which it is not known yet what became, nil if there is
// none, and whether an unknown line says so. It must be settled before anything else
// is done. The value is the caller's.
func (s State) Pending() (i *Intent, unknown bool) {
	if s.k.open == nil {
		return nil, false
	}
	v := s.k.open.Intent
	if v.Call != nil {
		call := *v.Call
		v.Call = &call
	}
	return &v, s.k.open.unknown
}

// Outcome gives what is said of an item, by its inode id; [OutcomeUnknown] of the one
// whose intent is pending.
func (s State) Outcome(id uint64) Outcome {
	if o := s.k.open; o != nil && o.item != none && o.InodeID == id {
		return OutcomeUnknown
	}
	if at, ok := s.k.items.index[id]; ok {
		return s.k.items.at(at).outcome
	}
	return OutcomeNone
}

// Totals count the items; Planned is 0.
func (s State) Totals() Totals { return s.k.items.totals(0) }

// Strays gives the inodes that were moved by mistake and not moved back, by inode id,
// with the number of the intent that did it.
func (s State) Strays() map[uint64]int64 {
	out := make(map[uint64]int64, len(s.k.strays))
	for id, v := range s.k.strays {
		out[id] = v.seq
	}
	return out
}

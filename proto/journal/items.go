package journal

// Outcome is what a journal says at last of an item.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone    Outcome = iota // nothing, or that nothing happened
	OutcomeSkipped                // a later process may try again
	OutcomeFailed                 // likewise
	OutcomeDone
	OutcomeUndone  // moved, and moved back by the same journal
	OutcomeUnknown // as long as its intent is open; for ever if it was settled as gone
	outcomes
)

// String gives the word of the line.
func (o Outcome) String() string {
	return [...]string{"not begun", "skipped", "failed", "done", "undone", "unknown"}[o]
}

// none is no item.
const none int32 = -1

// mark is an outcome, and which process said so.
type mark struct {
	outcome Outcome
	process int32
}

// record is what is kept of an item.
type record struct {
	mark
	seq     int64  // number of the intent that moved it
	off     int64  // where that line begins
	arrival int64  // where the line begins that says where it arrived
	home    uint64 // hash of the path from which it came

	inodes, length, space int64
}

const recordsPerPiece = 1024

// items are the records of all items, by inode id. Pieces do not move when they grow,
// which would take twice the memory for a moment.
type items struct {
	index  map[uint64]int32
	pieces [][]record
	n      int32

	count                 [outcomes]int64
	inodes, length, space int64 // of those done
}

// get gives the record of an item, a new one if need be.
func (t *items) get(id uint64) int32 {
	at, ok := t.index[id]
	if !ok {
		if at = t.n; at%recordsPerPiece == 0 {
			t.pieces = append(t.pieces, make([]record, recordsPerPiece))
		}
		t.n++
		t.index[id] = at
		t.count[OutcomeNone]++
	}
	return at
}

func (t *items) at(i int32) *record { return &t.pieces[i/recordsPerPiece][i%recordsPerPiece] }

func (t *items) set(r *record, m mark) {
	t.add(r, -1)
	r.mark = m
	t.add(r, 1)
}

// add counts an item. Sums wrap around, as those of NameNodes do.
func (t *items) add(r *record, sign int64) {
	t.count[r.outcome] += sign
	if r.outcome == OutcomeDone {
		t.inodes += sign * r.inodes
		t.length += sign * r.length
		t.space += sign * r.space
	}
}

func (t *items) totals(planned int64) Totals {
	return Totals{
		Planned: planned, Done: t.count[OutcomeDone], Undone: t.count[OutcomeUndone], Skipped: t.count[OutcomeSkipped],
		Failed: t.count[OutcomeFailed], Unknown: t.count[OutcomeUnknown], Inodes: t.inodes, Length: t.length, Space: t.space,
	}
}

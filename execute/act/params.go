package act

import (
	"context"
	"iter"
	"time"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// Clock is the time, and waiting. Sleep ends early with the error of the context.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Journal takes lines, as execute/journalfile's Writer does: without an error a line is on
// the disk, skipped ones soon. After an error every call gives it again.
type Journal interface {
	Append(l journal.Line) error
	Sync() error
	State() journal.State
	Last() journal.Hash
	// Journal gives what was in it when it was reopened; nil of a new one.
	Journal() *journal.Reader
}

// Verdict is what a check says of an item.
type Verdict struct {
	Move bool
	Rule string // why it stays: a stable word
	// Drift: it is not as the plan says. Other reasons to stay were to be expected.
	Drift bool
	// Restored: an earlier process moved it, and it is back. It stays, whatever the journal says.
	Restored bool
	// Listed: the plan does not want it moved, as it is deferred or in a root that is only
	// observed. It is no part of the run, and no line says anything of it.
	Listed bool
	Facts  []planfile.Fact
	// At is of the verdicts of Again that let move: when the oldest answer was given on which it
	// rests. Guards have an age of their own.
	At time.Time
}

// Checker looks at the cluster, and changes nothing. Its errors say that it could not look.
type Checker interface {
	// Preflight looks at all conditions of the plan but lock and journal. A [*Refusal] says
	// that the plan must not be carried out.
	Preflight(ctx context.Context) error
	// Check looks at all items, roots and jobs, and at all guards.
	Check(ctx context.Context) error
	// Items gives all items and what Check said of them, in the order in which they
	// have to move. The item is valid until the next one.
	Items() iter.Seq2[*planfile.Item, Verdict]
	// Failed gives the error that ended Items early, if any did.
	Failed() error
	// Held gives a hold path that exists now; "" if none does.
	Held(ctx context.Context) (planfile.Path, error)
	// Again looks at all that concerns one item, directly before its move.
	Again(ctx context.Context, item *planfile.Item) (Verdict, error)
	// Moved is told what was moved, by earlier processes too.
	Moved(item *planfile.Item)
	// Stays is told what was not moved, whatever the reason: it is needed with all that it refers to.
	Stays(item *planfile.Item)
	// Guards reads again the guards that are due, at the end all. It gives items that were
	// moved and to which a guard refers now, each once. Items that are still to come
	// it keeps itself, by Again.
	Guards(ctx context.Context, all bool) ([]*planfile.Item, error)
}

// Process is who acts.
type Process struct {
	Tool, Version string
	User          string // as the NameNode knows it
	Host          string
	PID           int
}

// Plan is what is known of a plan beside its items.
type Plan struct {
	File   string // without directories
	Digest planfile.Digest
	Header planfile.Header
	Items  int64 // that may be moved: all that are not deferred, of roots in mode execute
}

// Params are what all commands take. Everything but Watch, Spent, Survey and Random is needed,
// Check only by Run and Resume.
type Params struct {
	Look    execute.Inspector
	Move    execute.Mover
	Clock   Clock
	Process Process
	Plan    Plan
	Check   Checker
	// Create makes the journal and puts its header on the disk.
	Create func(*journal.Header) (Journal, error)
	// Survey tells the ids of cluster and namespace; nil: only anchors tell clusters apart.
	Survey execute.Surveyor
	// Random gives a name that no one else has: 32 hexadecimal digits or so.
	Random func() string
	// Spent gives the inodes that earlier runs moved since a time, by their journals.
	Spent func(since time.Time) (int64, error)
	// Watch is told what happens, as it happens.
	Watch func(Event)
}

// Event is one thing that happened.
type Event struct {
	At      time.Time
	Kind    EventKind
	Path    planfile.Path // of the item, root or directory
	Item    *planfile.Item
	Rule    string
	Facts   []planfile.Fact
	Target  planfile.Path // where it was to go; of what was undone, where it came from
	Message string
}

// EventKind is what happened.
type EventKind string

// The kinds of events. Those about items have the words of the journal.
const (
	RootBegins   EventKind = "root-begins"
	RootEnds     EventKind = "root-ends"
	Locked       EventKind = "locked"
	Unlocked     EventKind = "unlocked"
	ItemDone     EventKind = "done"
	ItemSkipped  EventKind = "skipped"
	ItemFailed   EventKind = "failed"
	ItemUndone   EventKind = "undone"
	ItemUnknown  EventKind = "unknown"
	ItemListed   EventKind = "listed" // the plan does not want it moved
	SettledNow   EventKind = "settled"
	PausesDouble EventKind = "pauses-doubled"
	NotEnded     EventKind = "not-ended" // the journal that is undone has no last line
)

// Result is what became of a command. It is given with an error, too.
type Result struct {
	ExitCode int // docs/EXIT_CODES.md
	Totals   journal.Totals
	Last     journal.Hash // of the journal; zeros if there is none
}

package act

import (
	"context"
	"errors"
	"iter"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// UndoOf is what Undo moves back.
type UndoOf struct {
	// Journal is undone, if it is not nil: what it moved and did not move back. File is its name.
	Journal *journal.Reader
	File    string
	// Items are undone otherwise: all items of the plan that are not where the plan has them. They are gone
	// over twice.
	Items iter.Seq2[*planfile.Item, error]
	// Path picks what is at or below a path; "": everything.
	Path planfile.Path
}

func (u *UndoOf) picks(p planfile.Path) bool {
	return u.Path == "" || p == u.Path || p.Below(u.Path)
}

// Undo moves back what a run moved, newest first, with the same lock and a journal of
// its own. What somebody else moved, what is purged and what has no place any more is left and
// noted down (exit code 4). A journal that does not know the end of its last change is
// refused: resume it first. One without a last line may lack more than that: what it has is
// undone, and the exit code is 4. What an undo did not come to, a second one does.
func Undo(ctx context.Context, p *Params, u *UndoOf) (*Result, error) {
	a := newActor(p)
	if err := a.mayUndo(ctx, u); err != nil {
		return notBegun(ctx, err)
	}
	h := &journal.Header{
		Command: journal.CommandUndo,
		Plan:    &journal.Plan{File: planfile.Name(p.Plan.File), Digest: p.Plan.Digest},
	}
	if u.Journal != nil {
		h.UndoOf = &journal.UndoOf{File: planfile.Name(u.File), Last: u.Journal.Last()}
	}
	if err := a.create(ctx, h); err != nil {
		return notBegun(ctx, err)
	}
	act := context.WithoutCancel(ctx)
	err := a.take(act, true)
	if u.Journal != nil && u.Journal.Ended() == nil {
		a.partly = true
		a.watch(Event{Kind: NotEnded})
	}
	var planned int64
	if err == nil {
		planned, err = a.undoAll(ctx, act, u)
	}
	return a.finish(act, err, false, "undo", planned)
}

func (a *actor) mayUndo(ctx context.Context, u *UndoOf) error {
	if u.Journal != nil {
		head := u.Journal.Header()
		pending, _ := u.Journal.State().Pending()
		switch {
		case head.Command != journal.CommandRun:
			return refuse("other-command", "the journal is of %q; what is undone is a run", head.Command)
		case head.Plan.Digest != a.p.Plan.Digest:
			return refuse("other-plan", "the journal is of another plan")
		case pending != nil:
			return refuse("pending", "what became of intent %d of the journal is not known; resume it first", pending.Seq)
		case len(u.Journal.State().Strays()) > 0:
			return refuse("strays", "the journal has something that was moved by mistake; resume it first")
		}
		if err := a.ownJournal(ctx, &head); err != nil {
			return err
		}
	}
	if err := a.samePlan(ctx); err != nil {
		return err
	}
	return a.lockFree(ctx, true)
}

// undoAll moves everything back that was picked, and counts it.
func (a *actor) undoAll(ctx, act context.Context, u *UndoOf) (int64, error) {
	var n int64
	for m, err := range a.movedOf(act, u) {
		if err != nil {
			return n, err
		}
		if !u.picks(m.from) {
			continue
		}
		n++
		if err := a.wait(ctx, 0); err != nil {
			return n, err
		}
		if err := a.holds(act); err != nil {
			return n, err
		}
		v, err := a.back(act, m, true)
		if err != nil {
			return n, err
		}
		e := Event{Kind: ItemUndone, Path: m.from, Target: m.to}
		if v.Rule != "" {
			e.Kind, e.Rule, e.Facts = ItemSkipped, v.Rule, v.Facts
		}
		a.watch(e)
	}
	if n == 0 && u.Path != "" {
		return n, refuse("nothing", "nothing at or below %q was moved", u.Path)
	}
	return n, nil
}

// movedOf gives what may be moved back.
func (a *actor) movedOf(ctx context.Context, u *UndoOf) iter.Seq2[moved, error] {
	if u.Journal != nil {
		return func(yield func(moved, error) bool) {
			for m, err := range u.Journal.Moved() {
				if err != nil {
					yield(moved{}, err)
					return
				}
				if !yield(movedBy(m.Intent, m.Chain), nil) {
					return
				}
			}
		}
	}
	// What a run needs comes back before what shows that the run is there: in the other order than it went.
	return func(yield func(moved, error) bool) {
		for _, last := range []bool{false, true} {
			for i, err := range u.Items {
				var m moved
				ok := err == nil && u.picks(i.Path) && last == (i.SplitOf != 0 && i.Kind == planfile.KindCheckpoint)
				if ok {
					var stays bool
					m, stays, err = a.ofPlan(ctx, i)
					ok = !stays
				}
				if err == nil && !ok {
					continue
				}
				if !yield(m, err) || err != nil {
					return
				}
			}
		}
	}
}

// ofPlan gives what may have become of an item of a plan, for back to look. It stays if it is
// where it was: no run moved it, or it is back.
func (a *actor) ofPlan(ctx context.Context, i *planfile.Item) (m moved, stays bool, err error) {
	m = moved{
		kind: i.Kind, id: i.InodeID, from: i.Path,
		inodes: i.Entries, length: i.Totals.Length, space: i.Totals.Space,
	}
	there, err := a.stat(ctx, execute.At(string(i.Path)))
	if err != nil || there != nil && there.ID == i.InodeID {
		return m, true, err
	}
	var rule *Refusal
	if err = a.receiver(ctx, &m); errors.As(err, &rule) { // nothing is there that could hold it
		m.trash, err = noTrash, nil
	}
	return m, false, err
}

// receiver notes where an item goes if nothing is in the way. What had to pass something by is found
// by the directory into which it went, be that a trash or the quarantine.
func (a *actor) receiver(ctx context.Context, m *moved) error {
	if h := &a.p.Plan.Header; h.Removal == planfile.RemovalQuarantine {
		dir, err := a.directory(ctx, "quarantine", string(h.Quarantine[0].Path))
		if err == nil {
			m.to, m.into = h.Quarantine[0].Path+m.from, dir.ID
		}
		return err
	}
	tr, err := a.trashOf(ctx, m.from)
	if err == nil {
		m.trash, m.into = planfile.Path(tr.path), tr.id
		m.to = usual(m.trash, m.from)
	}
	return err
}

// noTrash is the trash of what can be in none; nothing has this path.
const noTrash = "-"

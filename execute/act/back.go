package act

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

const maxPages = 100 // of a listing of a trash

// back moves an item back to where it was. A Verdict with a rule says why it stays where
// it is; with lines, that is noted down as well, as an undo does. With an error
// everything must stop.
func (a *actor) back(ctx context.Context, m moved, lines bool) (Verdict, error) {
	dir, at, v, err := a.mayGoBack(ctx, m)
	if err != nil {
		return v, anomaly(err, "%q could not be looked at", m.from)
	}
	if v.Rule != "" {
		return v, a.stays(m, v, lines)
	}
	i := &journal.Intent{
		Purpose: journal.PurposeUndo, Kind: m.kind, Path: at, InodeID: m.id, ParentID: dir, Target: m.from,
		Undoes: m.intent, Inodes: m.inodes, Length: m.length, Space: m.space, Context: a.context(),
	}
	f, err := a.carry(ctx, i, 0, before{again: func(ctx context.Context) bool {
		return a.command == journal.CommandRehearse || a.holds(ctx) == nil // a rehearsal has no lock
	}})
	if err != nil || f.moved {
		return v, err
	}
	if f.lost { // settled as not happened: the next process may try again
		return v, anomaly(f.err, "%q was not moved back", m.from)
	}
	switch {
	case errors.Is(f.err, execute.ErrExists):
		v = Verdict{Rule: "taken"}
	case errors.Is(f.err, execute.ErrNoParent), errors.Is(f.err, execute.ErrNotDirectory):
		v = Verdict{Rule: "no-parent"}
	case errors.Is(f.err, execute.ErrChanged), errors.Is(f.err, execute.ErrNotFound):
		v = Verdict{Rule: "moved-by-others"}
	default:
		v = Verdict{Rule: "refused", Facts: []planfile.Fact{{Name: "class", Text: class(f.err)}}}
		return v, a.failed(i, f.err)
	}
	if err := a.settle(i, &journal.Settled{How: journal.NotHappened, Evidence: evidence(0, nil, f.err)}); err != nil {
		return v, err
	}
	return v, a.stays(m, v, lines)
}

// stays notes that an item is not moved back.
func (a *actor) stays(m moved, v Verdict, lines bool) error {
	if !lines {
		return nil
	}
	return a.j.Append(&journal.Skipped{
		Stamp: a.stamp(), Kind: m.kind, Path: m.from, InodeID: m.id, Rule: v.Rule, Facts: v.Facts,
	})
}

// mayGoBack looks whether an item is where it was moved to, and whether its place is
// free. It gives the directory that holds it and its path there.
func (a *actor) mayGoBack(ctx context.Context, m moved) (dir uint64, at planfile.Path, v Verdict, err error) {
	w, err := a.find(ctx, m)
	switch {
	case err != nil:
		return 0, "", v, err
	case w.State != InTrash:
		return 0, "", Verdict{Rule: string(w.State)}, nil
	}
	above, err := a.stat(ctx, execute.At(parentOf(m.from)))
	if err != nil {
		return 0, "", v, err
	}
	if above == nil || above.Kind != execute.Directory {
		return 0, "", Verdict{Rule: "no-parent"}, nil
	}
	there, err := a.stat(ctx, execute.At(string(m.from)))
	if err != nil {
		return 0, "", v, err
	}
	if there != nil {
		return 0, "", Verdict{Rule: "taken"}, nil
	}
	return w.dir, w.Path, v, nil
}

// State is where a moved item is.
type State string

// The states. The words are also the rules of skipped lines.
const (
	InTrash       State = "in-trash" // or in the quarantine
	Purged        State = "purged"   // nowhere: the emptier deleted it, or somebody did
	AlreadyBack   State = "already-back"
	MovedByOthers State = "moved-by-others"
)

// found is where an item was found.
type found struct {
	State State
	Path  planfile.Path // where it is, as well as that is known
	dir   uint64
}

// find looks where a moved item is.
func (a *actor) find(ctx context.Context, m moved) (found, error) {
	parent, err := a.stat(ctx, execute.ParentOf(m.id))
	if err != nil {
		return found{}, err
	}
	if parent == nil {
		return found{State: Purged}, nil
	}
	there, err := a.stat(ctx, execute.At(string(m.from)))
	if err != nil {
		return found{}, err
	}
	if there != nil && there.ID == m.id {
		return found{State: AlreadyBack, Path: m.from, dir: parent.ID}, nil
	}
	if m.dir != 0 && parent.ID != m.dir {
		return found{State: MovedByOthers}, nil
	}
	if m.trash == "" && m.into == 0 {
		there, err := a.stat(ctx, execute.At(string(m.to)))
		if err != nil || there == nil || there.ID != m.id {
			return found{State: MovedByOthers}, err
		}
		return found{State: InTrash, Path: m.to, dir: parent.ID}, nil
	}
	chain, err := a.climb(ctx, m.id, m.into)
	if err != nil {
		return found{}, err
	}
	if m.into == 0 || !contains(chain, m.into) {
		return found{State: MovedByOthers}, nil
	}
	at, err := a.pathInTrash(ctx, m, chain)
	return found{State: InTrash, Path: at, dir: parent.ID}, err
}

// pathInTrash gives the path of an item: below the name that Current has now it is mostly
// the one that is known.
func (a *actor) pathInTrash(ctx context.Context, m moved, chain []uint64) (planfile.Path, error) {
	at := m.to
	if rest, ok := strings.CutPrefix(string(m.to), path.Join(string(m.trash), current)+"/"); ok && len(chain) > 1 {
		name, err := a.nameIn(ctx, m.into, chain[len(chain)-2])
		if err != nil {
			return at, err
		}
		if name != "" {
			at = planfile.Path(path.Join(string(m.trash), name, rest))
		}
	}
	s, err := a.stat(ctx, execute.At(string(at)))
	if errors.Is(err, execute.ErrInvalid) { // somebody gave it a name that nobody can ask for
		return at, nil
	}
	if err != nil || s != nil && s.ID == m.id {
		return at, err
	}
	// Names that were taken have something behind them.
	p := string(m.trash)
	if p == "" {
		p = strings.TrimSuffix(string(m.to), string(m.from)) // the quarantine
	}
	for k, in := range slices.Backward(chain) {
		id := m.id
		if k > 0 {
			id = chain[k-1]
		}
		name, err := a.nameIn(ctx, in, id)
		if err != nil || name == "" {
			return at, err
		}
		p += "/" + name
	}
	return planfile.Path(p), nil
}

// nameIn gives the name of an inode in a directory, "" if it is not found there.
func (a *actor) nameIn(ctx context.Context, dir, id uint64) (string, error) {
	var after []byte
	for range maxPages {
		var page *execute.Page
		err := a.insist(ctx, func(ctx context.Context) (err error) {
			page, err = a.p.Look.List(ctx, execute.ByID(dir), after)
			return err
		})
		if errors.Is(err, execute.ErrNotFound) { // it went meanwhile
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for _, e := range page.Entries {
			if e.ID == id {
				return string(e.Name), nil
			}
			after = e.Name
		}
		if page.Left == 0 || len(page.Entries) == 0 {
			break
		}
	}
	return "", nil
}

package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"fsweep/execute"
	"fsweep/proto/flinkmeta"
	"fsweep/proto/planfile"
)

// guard is a file that may refer to files anywhere, as it is now.
type guard struct {
	id      uint64
	path    string
	owner   string
	root    int32 // -1: in none
	length  int64
	mtimeMs int64
	pointer bool
	in      uint64 // inode id of the item that holds it, if any

	foreign map[int32]bool // items whose paths it has, but of another cluster
}

func (g *guard) file() execute.FileID {
	return execute.FileID{Path: g.path, ID: g.id, Length: g.length, MTimeMs: g.mtimeMs}
}

// reading is in which state a guard was read, and when that was known to be so.
type reading struct{ length, mtimeMs, atMs int64 }

// readTries is how often a file is read that changes meanwhile.
const readTries = 5

// planned asks for the guards of the plan that count and were not seen since, by their
// ids, wherever they are now.
func (s *Session) planned(ctx context.Context, since int64) error {
	due := func(yield func(planfile.Guard, error) bool) {
		for g, err := range s.plan.Guards() {
			if err == nil && !s.due(&g, since) {
				continue
			}
			if !yield(g, err) {
				return
			}
		}
	}
	return each(ctx, s.o.Workers, due, func(ctx context.Context, g planfile.Guard) error {
		if err := s.plannedGuard(ctx, &g, since); err != nil {
			return fmt.Errorf("guard %q: %w", g.Path, err)
		}
		return nil
	})
}

// due tells whether a guard counts and has to be asked for.
func (s *Session) due(g *planfile.Guard, since int64) bool {
	if i, ok := s.byID.find(g.Item); ok && !s.stays(i) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.guards[g.InodeID]
	return !ok || !s.seen(r.atMs, since)
}

func (s *Session) plannedGuard(ctx context.Context, g *planfile.Guard, since int64) error {
	if err := s.visitOutside(ctx, g); err != nil {
		return err
	}
	if !s.due(g, since) {
		return nil // the visit has read it
	}
	now := guard{id: g.InodeID, path: string(g.Path), owner: string(g.Owner), root: s.rootOf(g.Root), pointer: g.Kind == planfile.GuardHAPointer, in: g.Item}
	for range readTries {
		st, err := s.stat(ctx, execute.ByID(g.InodeID))
		switch {
		case errors.Is(err, errHidden):
			s.blind(&now, err)
			s.remember(&now)
			return nil
		case err != nil:
			return err
		case st == nil || st.Kind != execute.File: // gone: the visit of its run has read what came after it
			s.remember(&now)
			return nil
		}
		now.length, now.mtimeMs, now.owner = st.Length, st.MTimeMs, st.Owner
		if err := s.read(ctx, &now); !errors.Is(err, errNothing) {
			return err
		}
	}
	return nil // gone while it was read
}

func (s *Session) remember(g *guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guards[g.id] = reading{g.length, g.mtimeMs, s.nowMs()}
}

// read reads one guard, unless it was read in this state already. errNothing says
// that it is gone.
func (s *Session) read(ctx context.Context, g *guard) error {
	s.mu.Lock()
	old, ok := s.guards[g.id]
	s.mu.Unlock()
	if ok && old.length == g.length && old.mtimeMs == g.mtimeMs || g.length == 0 {
		s.remember(g)
		return nil
	}
	for range readTries {
		err := s.readOnce(ctx, g)
		switch {
		case err == nil:
			s.remember(g)
			return nil
		case errors.Is(err, execute.ErrNotFound):
			return fmt.Errorf("%w: %w", errNothing, err)
		case ctx.Err() != nil, failed(err):
			return err
		case !errors.Is(err, execute.ErrChanged):
			s.blind(g, err)
			s.remember(g)
			return nil
		}
		st, err := s.stat(ctx, execute.ByID(g.id))
		if err != nil && !errors.Is(err, errHidden) {
			return err
		}
		if st == nil {
			return errNothing
		}
		g.length, g.mtimeMs = st.Length, st.MTimeMs
		if g.length == 0 {
			s.remember(g)
			return nil
		}
	}
	s.blind(g, errors.New("it changes, or is open, whenever it is read"))
	s.remember(g)
	return nil
}

// failed tells a cluster that fails from a file that cannot be read.
func failed(err error) bool {
	if errors.Is(err, execute.ErrPermission) || errors.Is(err, execute.ErrChanged) {
		return false
	}
	_, remote := errors.AsType[*execute.RemoteError](err)
	return remote || errors.Is(err, execute.ErrUnavailable)
}

// readOnce decodes a guard and searches its bytes for the paths of all items, as a
// second opinion. What cannot be decoded is searched more widely later.
func (s *Session) readOnce(ctx context.Context, g *guard) error {
	var format error
	var relative map[string]bool
	err := s.reads.Read(ctx, g.file(), func(r io.Reader) error {
		relative, g.foreign = map[string]bool{}, map[int32]bool{}
		return s.twice(r, g, func(r io.Reader) error {
			format = s.decode(r, g, relative)
			if _, ok := errors.AsType[*flinkmeta.FormatError](format); ok {
				_, err := io.Copy(io.Discard, r)
				return err
			}
			return format
		})
	})
	if err != nil {
		return err
	}
	if format != nil {
		s.mu.Lock()
		s.broken = append(s.broken, *g)
		s.mu.Unlock()
	}
	return s.beside(ctx, g, relative)
}

// twice lets read have the bytes, and the search for items too.
func (s *Session) twice(r io.Reader, g *guard, read func(io.Reader) error) error {
	if s.strict == nil {
		return read(r)
	}
	from, to := io.Pipe()
	hits := map[int32]int64{}
	searched := make(chan error, 1)
	go func() {
		err := s.strict.Read(from, func(needle int, offset int64) error {
			hits[int32(needle)] = offset
			return nil
		})
		_ = from.CloseWithError(err) // so that whoever writes does not wait
		searched <- err
	}()
	err := read(io.TeeReader(r, to))
	_ = to.CloseWithError(err) // a pipe's Close cannot fail
	if wrong := <-searched; err == nil {
		err = wrong
	}
	for i, offset := range hits {
		if !s.own(g, i) && !g.foreign[i] {
			s.keep(i, ReferredTo, g.path, text("found_by", "search"), number("offset", offset))
		}
	}
	return err
}

// decode keeps what a guard refers to. Relative references are looked for later.
func (s *Session) decode(r io.Reader, g *guard, relative map[string]bool) error {
	if g.pointer {
		return flinkmeta.Pointers(r, func(p []byte, _ int64) error {
			s.refer(g, string(p))
			return nil
		})
	}
	_, err := flinkmeta.Decode(r, func(ref *flinkmeta.Reference) error {
		if ref.Kind == flinkmeta.Relative {
			relative[string(ref.Path)] = true
			return nil
		}
		s.refer(g, string(ref.Path))
		return nil
	})
	return err
}

// refer keeps the item that holds a referenced path, and those below it: whoever refers
// to a directory refers to what is in it. A root, or what is above one, is no state.
func (s *Session) refer(g *guard, ref string) {
	p, ours := s.referred(ref)
	if p == "" {
		return
	}
	if i, ok := s.holding(p); ok {
		switch {
		case s.own(g, i):
			return
		case !ours:
			g.foreign[i] = true
			return
		}
		s.keep(i, ReferredTo, g.path, shown("reference", p))
		return
	}
	for i := range s.header.Roots {
		root := string(s.header.Roots[i].Path)
		if root == p || planfile.Path(root).Below(planfile.Path(p)) || p == "/" {
			return
		}
	}
	if !ours {
		return
	}
	from, to := s.below(p)
	for i := from; i < to; i++ {
		if !s.own(g, i) {
			s.keep(i, ReferredTo, g.path, shown("reference", p))
		}
	}
}

// own tells whether a guard lies in an item, or in another part of its run: what it refers
// to there is no reason why it stays.
func (s *Session) own(g *guard, i int32) bool {
	in, ok := s.byID.find(g.in)
	return ok && s.items[in].group == s.items[i].group
}

// missing is a relative reference to a file that is not beside its `_metadata`.
type missing struct{ name, guard string }

// beside looks for relative references beside their `_metadata`. After a native savepoint
// was restored Flink wrote some to files that lie elsewhere (FLINK-39964): they are
// looked for by name in all items.
func (s *Session) beside(ctx context.Context, g *guard, relative map[string]bool) error {
	if len(relative) == 0 {
		return nil
	}
	dir, _ := splitPath(g.path)
	there := map[string]bool{}
	err := s.list(ctx, execute.ParentOf(g.id), func(e *execute.Status) error {
		there[string(e.Name)] = true
		return nil
	})
	switch {
	case errors.Is(err, errNothing):
		return fmt.Errorf("%w: %w", execute.ErrNotFound, err)
	case err != nil && !errors.Is(err, errHidden):
		return err
	}
	for rel := range relative {
		p := path.Join(dir, rel)
		s.refer(g, p)
		if in, name := splitPath(p); in == dir && there[name] {
			continue
		}
		_, name := splitPath(p)
		s.mu.Lock()
		s.lost = append(s.lost, missing{name, g.path})
		s.mu.Unlock()
	}
	return nil
}

// blind keeps what a guard may refer to that nobody can read.
func (s *Session) blind(g *guard, why error) {
	if s.waived[g.id] {
		return
	}
	everything := s.header.UnreadableGuard == planfile.UnreadableEverything
	owner := int32(slices.Index(s.owners, g.owner))
	for i := range s.items {
		r := &s.items[i]
		if everything || (g.owner == "" || r.owner == owner) && (g.root < 0 || r.root == g.root) {
			s.keep(int32(i), BlindGuard, g.path, text("error", why.Error()))
		}
	}
}

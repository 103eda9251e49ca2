package check

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

const (
	metadataName = "_metadata"
	// visitDepth is how far below a new directory guards are looked for: JOB/RUN/chk-N.
	visitDepth = 3
	// visitTries is how often a directory is listed whose checkpoints go faster than they
	// are read.
	visitTries = 5
)

// findings is what a visit saw.
type findings struct {
	guards   []guard
	complete bool // has a `_metadata` that is not empty
	state    bool // has chk-N, shared or taskowned
	newest   int64
}

// counts tells whether guards in a place count: they do not while it may move.
func (s *Session) counts(p *place) bool {
	i, ok := s.byID.find(p.id)
	return !ok || s.stays(i)
}

// ref names a place: by path if it is one outside of what is listed, as then a new
// directory at the same path takes its part.
func (p *place) ref() execute.Ref {
	if p.id == 0 {
		return execute.At(p.path)
	}
	return execute.ByID(p.id)
}

// visitAll visits the places that count and were not visited since.
func (s *Session) visitAll(ctx context.Context, since int64) error {
	var due []*place
	for _, p := range s.places {
		if !s.seen(p.visited, since) && s.counts(p) {
			due = append(due, p)
		}
	}
	return each(ctx, s.o.Workers, all(due), s.visit)
}

// visit reads all guards of a place.
func (s *Session) visit(ctx context.Context, p *place) error {
	for range visitTries {
		at := s.nowMs()
		f := &findings{}
		err := s.collect(ctx, p, f, p.ref(), p.path, 0)
		switch {
		case errors.Is(err, errNothing):
			p.visited = at
			return nil
		case errors.Is(err, errHidden):
			p.visited = at
			s.blind(&guard{id: p.id, path: p.path, owner: p.owner, root: p.root}, err)
			return nil
		case err != nil:
			return fmt.Errorf("%q: %w", p.path, err)
		}
		gone := false
		for i := range f.guards {
			err := s.read(ctx, &f.guards[i])
			if gone = errors.Is(err, errNothing); gone {
				break
			} else if err != nil {
				return err
			}
		}
		if gone {
			continue
		}
		p.visited = at
		s.restoring(p, f)
		return nil
	}
	s.blind(&guard{id: p.id, path: p.path, owner: p.owner, root: p.root}, errors.New("its checkpoints go faster than they are read"))
	return nil
}

// collect finds the guards below a directory. In what the plan knows they are where
// Flink makes them; what is new can be anything.
func (s *Session) collect(ctx context.Context, p *place, f *findings, dir execute.Ref, where string, depth int) error {
	var deeper []execute.Status
	err := s.list(ctx, dir, func(e *execute.Status) error {
		name := string(e.Name)
		f.newest = max(f.newest, e.MTimeMs)
		switch {
		case e.Kind == execute.File && (name == metadataName || isPointer(name)):
			s.found(p, f, e, join(where, name), p.id)
		case e.Kind != execute.Directory:
		case name == "shared" || name == "taskowned":
			f.state = true
		case strings.HasPrefix(name, "chk-"):
			f.state = true
			deeper = append(deeper, *e)
		case !p.known:
			deeper = append(deeper, *e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range deeper {
		e := &deeper[i]
		below := join(where, string(e.Name))
		if strings.HasPrefix(string(e.Name), "chk-") {
			err = s.checkpoint(ctx, p, f, e, below)
		} else if depth < visitDepth {
			err = s.collect(ctx, p, f, execute.ByID(e.ID), below, depth+1)
		}
		if err != nil && !errors.Is(err, errNothing) { // what went is no guard any more
			return err
		}
	}
	return nil
}

// checkpoint looks for the `_metadata` of one chk-N.
func (s *Session) checkpoint(ctx context.Context, p *place, f *findings, e *execute.Status, where string) error {
	s.mu.Lock()
	parts := s.split[p.id]
	s.mu.Unlock()
	if _, ok := s.byID.find(e.ID); parts > 0 && !ok { // somebody goes on with a run that was to move in parts
		s.keepBelow(p.path, Changed, "", shown("path", where), text("in_plan", "nothing"))
		s.keepBelow(p.path, MayBeRestored, p.path, shown("new_run", where)) // what was moved of it
	}
	st, err := s.atPath(ctx, join(where, metadataName), e.ID)
	if err != nil || st == nil {
		return err
	}
	if st.Kind == execute.File {
		s.found(p, f, st, join(where, metadataName), e.ID)
	}
	return nil
}

// found notes a guard, unless it lies in an item that may move.
func (s *Session) found(p *place, f *findings, e *execute.Status, where string, in uint64) {
	pointer := isPointer(where[strings.LastIndexByte(where, '/')+1:])
	f.complete = f.complete || !pointer && e.Length > 0
	f.newest = max(f.newest, e.MTimeMs)
	if i, ok := s.holding(where); ok && s.mayMove(i) {
		return
	}
	if _, ok := s.byID.find(in); !ok {
		in = p.id
	}
	f.guards = append(f.guards, guard{id: e.ID, path: where, owner: e.Owner, root: p.root, length: e.Length, mtimeMs: e.MTimeMs, pointer: pointer, in: in})
}

func isPointer(name string) bool {
	for _, prefix := range []string{"completedCheckpoint", "submittedJobGraph", "submittedExecutionPlan", "submittedApplication"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// restoring keeps what a run may start from that has nothing complete of its own, if it
// lives, is new or young. What is left of a run that moves in parts is none.
func (s *Session) restoring(p *place, f *findings) {
	if !p.isRun || f.complete {
		return
	}
	s.mu.Lock()
	parts := s.split[p.id]
	s.mu.Unlock()
	if parts > 0 || p.known && !f.state {
		return
	}
	name := p.path[strings.LastIndexByte(p.path, '/')+1:]
	now := s.nowMs()
	switch {
	case s.live.ids[plainID(name)]:
		s.keepRestored(p, shown("live", name))
	case !p.known:
		s.keepRestored(p, shown("new_run", p.path))
	case f.newest <= 0 || f.newest > now || now-f.newest <= s.header.GuardAgeMs:
		s.keepRestored(p, shown("young_run", p.path), number("newest_ms", f.newest))
	}
}

// visitOutside visits the run of a guard that is in no place yet.
func (s *Session) visitOutside(ctx context.Context, g *planfile.Guard) error {
	dir, name := splitPath(string(g.Path))
	if name == metadataName {
		if up, last := splitPath(dir); strings.HasPrefix(last, "chk-") {
			dir = up
		}
	}
	if !s.firstVisit(dir) {
		return nil
	}
	if !utf8.ValidString(dir) {
		return nil // the guard itself is asked for by its id
	}
	p := &place{path: dir, owner: string(g.Owner), root: s.rootOf(g.Root), known: true}
	s.mu.Lock()
	s.places = append(s.places, p)
	s.mu.Unlock()
	return s.visit(ctx, p)
}

func (s *Session) rootOf(root planfile.Path) int32 {
	for i := range s.header.Roots {
		if root != "" && s.header.Roots[i].Path == root {
			return int32(i)
		}
	}
	return -1
}

func splitPath(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i == 0 {
		return "/", p[1:]
	}
	return p[:i], p[i+1:]
}

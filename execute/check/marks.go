package check

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
)

// What people set to keep something.
const (
	markerFile  = ".fsweep-keep"
	markerSpace = "user"
	markerName  = "fsweep.keep"
)

// mark is what is known of a directory above items.
type mark struct {
	atMs   int64
	found  bool
	hidden error
}

// markedAt looks for a marker at one inode.
func (s *Session) markedAt(ctx context.Context, ref execute.Ref, p string, isDir bool) (mark, error) {
	m := mark{atMs: s.nowMs()}
	attrs, err := s.looks.XAttrs(ctx, ref)
	switch err = answer(err); {
	case errors.Is(err, execute.ErrUnsupported), errors.Is(err, errNothing): // whether it is there is asked elsewhere
	case errors.Is(err, errHidden):
		m.hidden = err
		return m, nil
	case err != nil:
		return m, err
	}
	for i := range attrs {
		m.found = m.found || attrs[i].Namespace == markerSpace && attrs[i].Name == markerName
	}
	if m.found || !isDir {
		return m, nil
	}
	if name := join(p, markerFile); utf8.ValidString(name) {
		st, err := s.stat(ctx, execute.At(name))
		if errors.Is(err, errHidden) {
			m.hidden, err = err, nil
		}
		m.found = st != nil
		return m, err
	}
	// A NameNode cannot be asked for a path that is no text.
	err = s.list(ctx, ref, func(e *execute.Status) error {
		m.found = m.found || string(e.Name) == markerFile
		return nil
	})
	if errors.Is(err, errHidden) {
		m.hidden, err = err, nil
	}
	if errors.Is(err, errNothing) {
		err = nil
	}
	return m, err
}

// markedAbove looks for a marker at the directories from the parent of an item up to its
// root. What was found counts for half a minute; the mark has the time of the oldest answer.
func (s *Session) markedAbove(ctx context.Context, item, root string, parent uint64) (string, mark, error) {
	oldest := s.nowMs()
	for p := item[:strings.LastIndexByte(item, '/')]; len(p) >= len(root); p = p[:strings.LastIndexByte(p, '/')] {
		s.mu.Lock()
		m, ok := s.marked[p]
		s.mu.Unlock()
		if !ok || !s.isFresh(m.atMs) {
			if parent == 0 {
				parent = s.odd[p]
			}
			ref := at(p, parent)
			var err error
			if m, err = s.markedAt(ctx, ref, p, true); err != nil {
				return "", m, err
			}
			s.mu.Lock()
			s.marked[p] = m
			s.mu.Unlock()
		}
		oldest = min(oldest, m.atMs)
		if m.found || m.hidden != nil {
			return p, m, nil
		}
		if parent = 0; len(p) == len(root) {
			break
		}
	}
	return "", mark{atMs: oldest}, nil
}

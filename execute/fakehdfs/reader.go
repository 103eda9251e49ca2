package fakehdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"fsweep/execute"
)

// Read implements [execute.Reader].
func (c *Client) Read(ctx context.Context, file execute.FileID, use func(io.Reader) error) error {
	if err := c.unchanged(ctx, file); err != nil {
		return err
	}
	ref := execute.ByID(file.ID)
	var content []byte
	var opened bool
	err := c.ask(ctx, "Read", "open", ref, func(s *state, who *caller) error {
		l, err := s.tree.reach(who, ref.Path(), true)
		if err != nil {
			return err
		}
		n := l.last()
		if n == nil {
			return refuse(fileNotFound, execute.ErrNotFound, "File does not exist: %s", l.path)
		}
		if err := s.tree.need(who, n, read); err != nil {
			return err
		}
		if n.unreadable != "" {
			return fmt.Errorf("%w: %s", execute.ErrUnreadable, n.unreadable)
		}
		content, opened = bytes.Clone(n.content), true
		return nil
	})
	if err != nil && !opened {
		return err
	}
	if err := use(&stream{content, err}); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	if int64(len(content)) != file.Length {
		return fmt.Errorf("%s: %d bytes were read, %d are expected: %w", file.Path, len(content), file.Length, execute.ErrChanged)
	}
	return c.unchanged(ctx, file)
}

// stream gives bytes, or the first half of them and an error.
type stream struct {
	rest []byte
	err  error
}

func (s *stream) Read(p []byte) (int, error) {
	if s.err != nil && len(s.rest) > 0 {
		n := copy(p, s.rest[:(len(s.rest)+1)/2])
		s.rest = nil
		return n, nil
	}
	if len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		return 0, io.EOF
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// unchanged compares a file with what is expected of it.
func (c *Client) unchanged(ctx context.Context, file execute.FileID) error {
	st, err := c.stat(ctx, "Read", execute.ByID(file.ID))
	if err != nil {
		return err
	}
	if st.Kind != execute.File || st.Length != file.Length || st.MTimeMs != file.MTimeMs {
		return fmt.Errorf("%s: %w", file.Path, execute.ErrChanged)
	}
	closed, err := c.closed(ctx, "Read", execute.ByID(file.ID))
	if errors.Is(err, execute.ErrNotFound) || err != nil {
		return err
	}
	if !closed {
		return fmt.Errorf("%s is open: %w", file.Path, execute.ErrChanged)
	}
	return nil
}

package check

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"fsweep/execute"
)

var (
	errHidden  = errors.New("may not be seen")
	errNothing = errors.New("nothing there")
)

// answer tells answers from failures: errNothing and errHidden are answers, about what
// was asked for; everything else says nothing about it and ends the check.
func answer(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, execute.ErrNotFound), errors.Is(err, execute.ErrNotDirectory), errors.Is(err, execute.ErrSymlink):
		return fmt.Errorf("%w: %w", errNothing, err)
	case errors.Is(err, execute.ErrPermission), errors.Is(err, execute.ErrInvalid):
		return fmt.Errorf("%w: %w", errHidden, err)
	}
	return err
}

// stat gives nil for what is not there.
func (s *Session) stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	st, err := s.looks.Stat(ctx, ref)
	if err = answer(err); errors.Is(err, errNothing) {
		return nil, nil //nolint:nilnil // nothing there is an answer
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

// list calls fn for all entries of a directory.
func (s *Session) list(ctx context.Context, dir execute.Ref, fn func(*execute.Status) error) error {
	for after := []byte(nil); ; {
		page, err := s.looks.List(ctx, dir, after)
		if err != nil {
			return answer(err)
		}
		for i := range page.Entries {
			if err := fn(&page.Entries[i]); err != nil {
				return err
			}
		}
		if page.Left == 0 || len(page.Entries) == 0 {
			return nil
		}
		after = page.Entries[len(page.Entries)-1].Name
	}
}

func decimal(id uint64) string { return strconv.FormatUint(id, 10) }

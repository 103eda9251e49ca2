package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fsweep/execute"
	"fsweep/proto/flinkmeta"
)

const (
	// batchNames is how many names of files are looked for at once.
	batchNames = 200_000
	// shortName: shorter ones stand in any bytes, and no file of Flink has one.
	shortName = 8
)

// searchPaths prepares the search for the paths of all items: of a directory with a
// slash, so that chk-1 is not found in chk-10.
func (s *Session) searchPaths() error {
	if len(s.items) == 0 {
		return nil
	}
	size := 0
	for i := range s.items {
		size += len(s.items[i].path) + 1
	}
	needles, texts := make([][]byte, len(s.items)), make([]byte, 0, size)
	for i := range s.items {
		from := len(texts)
		texts = append(texts, s.items[i].path...)
		if s.items[i].isDir {
			texts = append(texts, '/')
		}
		needles[i] = texts[from:len(texts):len(texts)]
	}
	var err error
	s.strict, err = flinkmeta.NewSearch(needles)
	return err
}

// names are names of files that are looked for in guards.
type names struct {
	texts [][]byte
	items []int32
}

func (n *names) add(i int32, name string) {
	n.texts = append(n.texts, []byte(name))
	n.items = append(n.items, i)
}

// suspects goes once through the files of all items that may move, for guards
// that cannot be decoded and for relative references whose file is not where it
// should be.
func (s *Session) suspects(ctx context.Context) error {
	broken, lost := s.broken, map[string]string{}
	for _, m := range s.lost {
		if old, ok := lost[m.name]; !ok || m.guard < old {
			lost[m.name] = m.guard
		}
	}
	s.broken, s.lost = nil, nil
	if len(broken) == 0 && len(lost) == 0 {
		return nil
	}
	slices.SortFunc(broken, func(a, b guard) int { return strings.Compare(a.path, b.path) })
	var batch names
	for i := range s.items {
		if s.stays(int32(i)) {
			continue
		}
		r := &s.items[i]
		if len(broken) > 0 {
			batch.add(int32(i), r.path)
			if _, name := splitPath(r.path); len(name) >= shortName {
				batch.add(int32(i), name)
			}
		}
		err := s.eachFile(ctx, r, func(name string) error {
			if g, ok := lost[name]; ok {
				s.keep(int32(i), ReferredTo, g, shown("relative_reference", name))
			}
			if len(broken) > 0 && len(name) >= shortName {
				batch.add(int32(i), name)
			}
			if len(batch.texts) < batchNames {
				return nil
			}
			err := s.searchBroken(ctx, broken, &batch)
			batch = names{}
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.searchBroken(ctx, broken, &batch)
}

// eachFile calls fn with the name of every file of an item, but those of `_metadata`.
func (s *Session) eachFile(ctx context.Context, r *record, fn func(string) error) error {
	if !r.isDir {
		_, name := splitPath(r.path)
		return fn(name)
	}
	for dirs := []uint64{r.id}; len(dirs) > 0; {
		dir := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		err := s.list(ctx, execute.ByID(dir), func(e *execute.Status) error {
			switch {
			case e.Kind == execute.Directory:
				dirs = append(dirs, e.ID)
			case string(e.Name) != metadataName:
				return fn(string(e.Name))
			}
			return nil
		})
		if errors.Is(err, errNothing) {
			continue // the last look at the item will see that
		}
		if errors.Is(err, errHidden) {
			i, _ := s.byID.find(r.id)
			s.keep(i, NotVisible, "", shown("path", r.path), text("error", err.Error()))
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// searchBroken looks for names in guards that cannot be decoded.
func (s *Session) searchBroken(ctx context.Context, broken []guard, batch *names) error {
	if len(batch.texts) == 0 {
		return nil
	}
	search, err := flinkmeta.NewSearch(batch.texts)
	if err != nil {
		return err
	}
	return each(ctx, s.o.Workers, all(broken), func(ctx context.Context, g guard) error {
		err := s.reads.Read(ctx, g.file(), func(r io.Reader) error {
			return search.Read(r, func(needle int, _ int64) error {
				if i := batch.items[needle]; !s.own(&g, i) {
					s.keep(i, SaidToBe, g.path, shown("name", string(batch.texts[needle])))
				}
				return nil
			})
		})
		switch {
		case ctx.Err() != nil, failed(err) && !errors.Is(err, execute.ErrNotFound):
			return fmt.Errorf("guard %q: %w", g.path, err)
		case err != nil: // it was readable a moment ago; nobody knows what it says now
			s.blind(&g, err)
		}
		return nil
	})
}

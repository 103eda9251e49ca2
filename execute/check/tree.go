package check

import (
	"context"
	"errors"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

// reserve takes inodes from the budget of content summaries.
func (s *Session) reserve(inodes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inodes > s.budget {
		return false
	}
	s.budget -= inodes
	return true
}

// totals compares the content summary, as long as the budget lasts.
func (l *itemLook) totals(ctx context.Context) (bool, error) {
	item := &l.t.item
	want := item.Totals
	inodes := want.Files + want.Symlinks + want.Directories
	if !item.IsDirectory() || !l.s.reserve(inodes) {
		return true, nil
	}
	sum, err := l.s.looks.Summary(ctx, l.ref, max(inodes, item.Entries))
	if errors.Is(err, execute.ErrBudget) {
		return l.keep(TotalsChanged, number("inodes_in_plan", inodes), text("now", "more"))
	}
	if err = answer(err); err != nil {
		return l.failed(Gone, string(item.Path), err)
	}
	if inodes != item.Entries && sum.Inodes() == item.Entries {
		return true, nil // a NameNode of Hadoop 2 does not count what only snapshots hold
	}
	got := planfile.Totals{Files: sum.Files - want.Symlinks, Directories: sum.Directories, Symlinks: want.Symlinks, Length: sum.Length, Space: sum.Space}
	for _, n := range []struct {
		name      string
		plan, now int64
	}{
		{"files", want.Files, got.Files},
		{"directories", want.Directories, got.Directories},
		{"length", want.Length, got.Length},
		{"space_consumed", want.Space, got.Space},
	} {
		if n.plan != n.now {
			return l.keep(TotalsChanged, differs(n.name, n.plan, n.now)...)
		}
	}
	return true, nil
}

// tree lists all of an item and compares its fingerprint; no file may be open.
func (l *itemLook) tree(ctx context.Context) (bool, error) {
	item := &l.t.item
	if !l.s.o.Deep {
		return true, nil
	}
	sum := planfile.Fingerprint()
	_, name := splitPath(string(item.Path))
	sum.Add(entryOf(l.status, item.ParentID, []byte(name)))
	if item.IsDirectory() {
		if ok, err := l.walk(ctx, sum); !ok || err != nil {
			return ok, err
		}
	}
	if sum.Digest(item.InodeID) != item.Fingerprint || int64(sum.Count()) != item.Entries {
		return l.keep(TreeChanged, text("fingerprint_in_plan", item.Fingerprint.String()), text("fingerprint_now", sum.Digest(item.InodeID).String()))
	}
	return true, nil
}

var errLarger = errors.New("more inodes than in the plan")

func (l *itemLook) walk(ctx context.Context, sum *planfile.Sum) (bool, error) {
	item := &l.t.item
	type dir struct {
		id   uint64
		path string
	}
	kept := false
	for dirs := []dir{{item.InodeID, string(item.Path)}}; len(dirs) > 0 && !kept; {
		d := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		err := l.s.list(ctx, execute.ByID(d.id), func(e *execute.Status) error {
			where := join(d.path, string(e.Name))
			sum.Add(entryOf(e, d.id, e.Name))
			if int64(sum.Count()) > item.Entries {
				return errLarger
			}
			if e.Kind == execute.Directory {
				dirs = append(dirs, dir{e.ID, where})
			}
			if e.Kind == execute.File && !kept {
				ok, err := l.closed(ctx, e.ID, where)
				kept = !ok
				return err
			}
			return nil
		})
		if errors.Is(err, errLarger) {
			return l.keep(TreeChanged, number("entries_in_plan", item.Entries), text("now", "more"))
		}
		if err != nil {
			return l.failed(Changed, d.path, err)
		}
	}
	return !kept, nil
}

func entryOf(st *execute.Status, parent uint64, name []byte) planfile.Entry {
	kind := planfile.EntryFile
	switch st.Kind {
	case execute.Directory:
		kind = planfile.EntryDirectory
	case execute.Symlink:
		kind = planfile.EntrySymlink
	case execute.File:
	}
	return planfile.Entry{InodeID: st.ID, ParentID: parent, Kind: kind, Length: st.Length, MTimeMs: st.MTimeMs, Name: name}
}

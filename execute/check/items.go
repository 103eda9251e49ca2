package check

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"unicode/utf8"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

// maxTreeDirs bounds how many directories of one item are held in memory.
const maxTreeDirs = 1_000_000

// task is one item with all that is asked about it.
type task struct {
	i    int32
	item planfile.Item
	dirs []planfile.Directory
}

// load reads the items once and notes what the plan and the lists say of them.
func (s *Session) load() error {
	root := map[planfile.Path]int32{}
	for i := range s.header.Roots {
		root[s.header.Roots[i].Path] = int32(i)
	}
	n := int(s.plan.Footer().Items)
	s.items = make([]record, 0, n)
	s.byID.resize(n)
	owners := map[planfile.Name]int32{}
	for item, err := range s.plan.Items() {
		if err != nil {
			return err
		}
		i := int32(len(s.items))
		owner, ok := owners[item.Owner]
		if !ok {
			owner = int32(len(s.owners))
			owners[item.Owner] = owner
			s.owners = append(s.owners, string(item.Owner))
		}
		p := string(item.Path)
		r := record{
			ref: item.Ref(), path: p, owner: owner, job: within(p, string(item.Job)), run: within(p, string(item.Run)), id: item.InodeID,
			group: item.InodeID, newest: item.MTimeMs, root: root[item.Root], isDir: item.IsDirectory(),
		}
		r.moved = s.o.Moved != nil && s.o.Moved(item.InodeID)
		if item.SplitOf != 0 {
			r.group = item.SplitOf
			s.split[r.group]++
		}
		s.items = append(s.items, r)
		s.byID.add(i)
		s.judge(i, &item)
	}
	return nil
}

// judge applies what needs no question.
func (s *Session) judge(i int32, item *planfile.Item) {
	root := &s.header.Roots[s.items[i].root]
	if item.Deferred != "" {
		s.keep(i, Deferred, "", text("deferred", item.Deferred))
	}
	if root.Mode != planfile.ModeExecute {
		s.keep(i, Observed, "")
	}
	if !utf8.ValidString(string(item.Path)) {
		s.keep(i, NotText, "")
	}
	if s.live.names(root.Layout, string(item.Job), string(item.Run)) {
		s.keep(i, Live, "", shown("id", string(item.Run)))
	}
	if pin, ok := s.live.pin(string(item.Path)); ok {
		s.keep(i, Pinned, "", shown("pin", pin))
	}
}

// tasks yields the items that may still move, with their directories.
func (s *Session) tasks() iter.Seq2[task, error] {
	return func(yield func(task, error) bool) {
		for i := range s.items {
			if !s.mayMove(int32(i)) {
				continue
			}
			t, err := s.task(int32(i))
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// movedBefore yields the items that an earlier process moved, without their directories.
func (s *Session) movedBefore() iter.Seq2[task, error] {
	return func(yield func(task, error) bool) {
		for i := range s.items {
			if !s.items[i].moved {
				continue
			}
			item, err := s.plan.Item(s.items[i].ref)
			if !yield(task{i: int32(i), item: item}, err) || err != nil {
				return
			}
		}
	}
}

// isBack looks whether an item that was moved stands at its place again: somebody needs it, who undid
// the move. Then it is not moved any more, and what it refers to stays.
func (s *Session) isBack(ctx context.Context, t task) error {
	st, err := s.atPath(ctx, string(t.item.Path), t.item.ParentID)
	switch {
	case errors.Is(err, errHidden): // nobody knows
	case err != nil:
		return fmt.Errorf("%q: %w", t.item.Path, err)
	case st == nil || st.ID != t.item.InodeID:
		return nil
	}
	s.mu.Lock()
	s.items[t.i].moved = false
	s.mu.Unlock()
	s.keep(t.i, Restored, "", shown("path", string(t.item.Path)))
	return nil
}

func (s *Session) task(i int32) (task, error) {
	item, err := s.plan.Item(s.items[i].ref)
	if err != nil {
		return task{}, err
	}
	t := task{i: i, item: item}
	for d, err := range s.plan.Directories(&item) {
		if err != nil {
			return task{}, err
		}
		if len(t.dirs) == maxTreeDirs {
			return task{}, fmt.Errorf("%q: more than %d directories", item.Path, maxTreeDirs)
		}
		t.dirs = append(t.dirs, d)
		s.items[i].newest = max(s.items[i].newest, d.MTimeMs)
	}
	return t, nil
}

// look asks everything about one item, and keeps it if anything differs.
func (s *Session) look(ctx context.Context, t task) error {
	l := &itemLook{s: s, t: &t, ref: execute.ByID(t.item.InodeID)}
	for _, ask := range []func(context.Context) (bool, error){
		l.markers, l.identity, l.flags, l.directories, l.totals, l.tree, l.early,
	} {
		if ok, err := ask(ctx); err != nil {
			return fmt.Errorf("%q: %w", t.item.Path, err)
		} else if !ok {
			return nil
		}
	}
	at := min(l.markedMs, s.nowMs())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[t.i].checked = at
	return nil
}

// early asks the first questions again if the answers got old while the rest was asked.
func (l *itemLook) early(ctx context.Context) (bool, error) {
	if l.s.isFresh(l.markedMs) {
		return true, nil
	}
	for _, ask := range []func(context.Context) (bool, error){l.markers, l.identity, l.flags} {
		if ok, err := ask(ctx); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// itemLook is one look at an item. Its questions give false when the item stays.
type itemLook struct {
	s      *Session
	t      *task
	ref    execute.Ref
	status *execute.Status
	// markedMs is when the oldest answer about markers was given: all others are younger,
	// but of those in the middle of a long look.
	markedMs int64
}

func (l *itemLook) keep(rule Rule, facts ...planfile.Fact) (bool, error) {
	l.s.keep(l.t.i, rule, "", facts...)
	return false, nil
}

// failed makes an answer a verdict, and gives everything else back.
func (l *itemLook) failed(rule Rule, where string, err error) (bool, error) {
	switch {
	case errors.Is(err, errNothing):
		return l.keep(rule, shown("path", where), text("now", "nothing"))
	case errors.Is(err, errHidden):
		return l.keep(NotVisible, shown("path", where), text("error", err.Error()))
	}
	return false, err
}

func (l *itemLook) markers(ctx context.Context) (bool, error) {
	item := &l.t.item
	m, err := l.s.markedAt(ctx, l.ref, string(item.Path), item.IsDirectory())
	l.markedMs = m.atMs
	where := string(item.Path)
	if err == nil && !m.found && m.hidden == nil {
		where, m, err = l.s.markedAbove(ctx, where, string(item.Root), item.ParentID)
		l.markedMs = min(l.markedMs, m.atMs)
	}
	switch {
	case err != nil:
		return false, err
	case m.found:
		return l.keep(Marked, shown("path", where))
	case m.hidden != nil:
		return l.keep(NotVisible, shown("path", where), text("error", m.hidden.Error()))
	}
	return true, nil
}

// identity wants the very inode at the very path, as it was.
func (l *itemLook) identity(ctx context.Context) (bool, error) {
	item := &l.t.item
	st, err := l.s.atPath(ctx, string(item.Path), item.ParentID)
	if err != nil {
		return l.failed(Gone, string(item.Path), err)
	}
	if st == nil || st.ID != item.InodeID {
		return l.elsewhere(ctx, st)
	}
	parent, err := l.s.looks.Stat(ctx, execute.ParentOf(item.InodeID))
	if err = answer(err); err != nil {
		return l.failed(MovedAway, string(item.Path), err)
	}
	if parent.ID != item.ParentID {
		return l.keep(MovedAway, text("parent_in_plan", decimal(item.ParentID)), text("parent_now", decimal(parent.ID)))
	}
	l.status = st
	kind := execute.File
	switch {
	case item.IsDirectory():
		kind = execute.Directory
	case item.Totals.Symlinks > 0:
		kind = execute.Symlink
	}
	switch {
	case st.Kind != kind || kind == execute.Symlink:
		return l.keep(Changed, text("what", "kind"))
	case st.MTimeMs != item.MTimeMs:
		return l.keep(Changed, differs("mtime_ms", item.MTimeMs, st.MTimeMs)...)
	case st.Owner != string(item.Owner) || st.Group != string(item.Group):
		return l.keep(Changed, shown("owner_in_plan", string(item.Owner)+":"+string(item.Group)), shown("owner_now", st.Owner+":"+st.Group))
	case st.Children != item.Children:
		return l.keep(Changed, differs("children", item.Children, st.Children)...)
	case kind == execute.File && st.Length != item.Totals.Length:
		return l.keep(Changed, differs("length", item.Totals.Length, st.Length)...)
	}
	return true, nil
}

// elsewhere says what became of an item that is not at its path.
func (l *itemLook) elsewhere(ctx context.Context, there *execute.Status) (bool, error) {
	item := &l.t.item
	still, err := l.s.stat(ctx, l.ref)
	if err != nil && !errors.Is(err, errHidden) {
		return false, err
	}
	switch {
	case still != nil && there == nil:
		return l.keep(MovedAway, shown("path", string(item.Path)))
	case there == nil:
		return l.keep(Gone, shown("path", string(item.Path)))
	}
	return l.keep(Replaced, text("inode_in_plan", decimal(item.InodeID)), text("inode_now", decimal(there.ID)))
}

// atPath gives what stands at a path now. A NameNode cannot be asked for one that is no
// text; then the parent is listed, which has the place and the name.
func (s *Session) atPath(ctx context.Context, p string, parent uint64) (*execute.Status, error) {
	if utf8.ValidString(p) {
		return s.stat(ctx, execute.At(p))
	}
	var found *execute.Status
	err := s.list(ctx, execute.ByID(parent), func(e *execute.Status) error {
		if string(e.Name) == path.Base(p) {
			st := *e
			found = &st
		}
		return nil
	})
	if errors.Is(err, errNothing) {
		return nil, nil //nolint:nilnil // nothing there is an answer
	}
	return found, err
}

// flags wants nothing that must not be moved, and nobody who writes.
func (l *itemLook) flags(ctx context.Context) (bool, error) {
	item, st := &l.t.item, l.status
	if st.Snapshottable {
		return l.keep(Snapshottable, shown("path", string(item.Path)))
	}
	if st.Kind == execute.File {
		return l.closed(ctx, item.InodeID, string(item.Path))
	}
	if !st.Encrypted {
		return true, nil
	}
	zone, err := l.s.looks.EncryptionZone(ctx, string(item.Path))
	switch err = answer(err); {
	case err != nil:
		return l.failed(Gone, string(item.Path), err)
	case zone == string(item.Path):
		return l.keep(EncryptionZone, shown("path", zone))
	}
	return true, nil
}

func (l *itemLook) closed(ctx context.Context, id uint64, where string) (bool, error) {
	closed, err := l.s.looks.Closed(ctx, execute.ByID(id))
	switch err = answer(err); {
	case err != nil:
		return l.failed(Gone, where, err)
	case !closed:
		return l.keep(OpenFile, shown("path", where))
	}
	return true, nil
}

// directories wants every directory inside as it was: what is made, deleted or
// renamed in it moves its mtime.
func (l *itemLook) directories(ctx context.Context) (bool, error) {
	for i := range l.t.dirs {
		d := &l.t.dirs[i]
		where := join(string(l.t.item.Path), string(d.Path))
		st, err := l.s.stat(ctx, at(where, d.InodeID))
		if err != nil {
			return l.failed(Changed, where, err)
		}
		switch {
		case st == nil:
			return l.keep(Changed, shown("path", where), text("now", "nothing"))
		case st.ID != d.InodeID || st.Kind != execute.Directory:
			return l.keep(Changed, shown("path", where), text("inode_in_plan", decimal(d.InodeID)), text("inode_now", decimal(st.ID)))
		case st.MTimeMs != d.MTimeMs:
			return l.keep(Changed, append(differs("mtime_ms", d.MTimeMs, st.MTimeMs), shown("path", where))...)
		case st.Children != d.Children:
			return l.keep(Changed, append(differs("children", d.Children, st.Children), shown("path", where))...)
		case st.Snapshottable:
			return l.keep(Snapshottable, shown("path", where))
		}
	}
	return true, nil
}

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

// place is a directory in which guards come to be: a run, a savepoint, a cluster.
type place struct {
	id      uint64
	path    string
	owner   string
	root    int32 // -1: in no root
	isRun   bool
	known   bool  // the plan knows it
	jobless bool  // its job is not known to the plan either
	visited int64 // ms; 0: not yet
}

// rootState is when a root was listed last.
type rootState struct{ listed int64 }

// prepare reads what the plan knows of roots, and makes a place of each run.
func (s *Session) prepare() error {
	s.roots = make([]rootState, len(s.header.Roots))
	root := map[planfile.Path]int32{}
	for i := range s.header.Roots {
		root[s.header.Roots[i].Path] = int32(i)
	}
	for k, err := range s.plan.Known() {
		if err != nil {
			return err
		}
		p := string(k.Path)
		if i, ok := s.byID.find(k.InodeID); !ok {
			s.known = append(s.known, k.InodeID)
		} else if s.items[i].path == p {
			p = s.items[i].path // one string for both
		}
		if !utf8.ValidString(string(k.Path)) {
			s.odd[string(k.Path)] = k.InodeID
		}
		if k.Kind == planfile.KnownJob || k.Kind == planfile.KnownEntry {
			continue
		}
		s.place(&place{id: k.InodeID, path: p, root: root[k.Root], isRun: k.Kind == planfile.KnownRun, known: true})
	}
	slices.Sort(s.known)
	s.inPlan = len(s.places)
	for g, err := range s.plan.Guards() {
		if err != nil {
			return err
		}
		if g.Waived != "" && s.nowMs() < g.WaivedUntilMs {
			s.waived[g.InodeID] = true
		}
		if i, ok := s.byID.find(g.Item); ok {
			s.items[i].metadata = s.items[i].metadata || g.Kind == planfile.GuardMetadata
			s.items[i].newest = max(s.items[i].newest, g.MTimeMs)
		}
	}
	return nil
}

func (s *Session) place(p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.placed.find(p.id); !ok {
		s.places = append(s.places, p)
		s.placed.add(int32(len(s.places) - 1))
		s.newPlace = true
		if !p.known { // those of the plan can be found by their order
			s.dirs[p.path] = true
		}
	}
}

// firstVisit tells whether a directory is no place yet, and was not asked for before.
func (s *Session) firstVisit(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, seen := slices.BinarySearchFunc(s.places[:s.inPlan], dir, func(p *place, dir string) int { return strings.Compare(p.path, dir) })
	if seen || s.dirs[dir] {
		return false
	}
	s.dirs[dir] = true
	return true
}

// jobOf gives the name of what a place of a root lies in, or is, right below the root.
func (s *Session) jobOf(p *place) string {
	job, _ := cutSlash(strings.TrimPrefix(strings.TrimPrefix(p.path, string(s.header.Roots[p.root].Path)), "/"))
	return job
}

// listRoots lists roots and jobs that were not listed for a while, and finds what is
// new in them.
func (s *Session) listRoots(ctx context.Context, age int64) error {
	for i := range s.header.Roots {
		if s.header.Roots[i].InodeID == 0 || age > 0 && s.seen(s.roots[i].listed, s.nowMs()-age+1) {
			continue
		}
		if err := s.listRoot(ctx, int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// listAround lists what one item stands in, if that was not done lately: its job, or its
// root where there are no jobs. It gives when that was done, in ms; 0: it
// is not there.
func (s *Session) listAround(ctx context.Context, r *record) (int64, error) {
	root := &s.header.Roots[r.root]
	if last := s.roots[r.root].listed; s.isFresh(last) {
		return last, nil
	}
	name, _ := cutSlash(strings.TrimPrefix(r.path, string(root.Path)+"/"))
	if !s.groups(root.Layout, name) {
		err := s.listRoot(ctx, r.root)
		return s.roots[r.root].listed, err
	}
	dir := join(string(root.Path), name)
	if last := s.listed[dir]; s.isFresh(last) {
		return last, nil
	}
	begin := s.nowMs()
	st, err := s.sameRoot(ctx, r.root)
	if err != nil || st == nil {
		return 0, err
	}
	st, err = s.stat(ctx, at(dir, s.odd[dir]))
	if errors.Is(err, errHidden) {
		s.keepBelow(dir, NotVisible, "", shown("path", dir), text("error", err.Error()))
		return 0, nil
	}
	if err != nil || st == nil { // gone since the item was looked at
		return 0, err
	}
	s.listed[dir] = begin
	return begin, s.listJob(ctx, &place{id: st.ID, path: dir, owner: st.Owner, root: r.root, known: s.isKnown(st.ID)})
}

// sameRoot gives a root, or keeps all in it if it is not that of the plan.
func (s *Session) sameRoot(ctx context.Context, i int32) (*execute.Status, error) {
	r := &s.header.Roots[i]
	ref := at(string(r.Path), r.InodeID)
	st, err := s.stat(ctx, ref)
	if errors.Is(err, errHidden) {
		s.keepRoot(i, NotVisible, shown("path", string(r.Path)), text("error", err.Error()))
		return nil, nil //nolint:nilnil // nothing to go on with is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("root %q: %w", r.Path, err)
	}
	if st == nil || st.ID != r.InodeID || st.Kind != execute.Directory {
		now := "nothing"
		if st != nil {
			now = decimal(st.ID)
		}
		s.keepRoot(i, RootChanged, text("inode_in_plan", decimal(r.InodeID)), text("inode_now", now))
		return nil, nil //nolint:nilnil // nothing to go on with is an answer
	}
	return st, nil
}

func (s *Session) listRoot(ctx context.Context, i int32) error {
	r := &s.header.Roots[i]
	begin := s.nowMs()
	st, err := s.sameRoot(ctx, i)
	if err != nil || st == nil {
		return err
	}
	s.roots[i].listed = begin
	var groups []place
	err = s.list(ctx, execute.ByID(st.ID), func(e *execute.Status) error {
		if s.isRoot(join(string(r.Path), string(e.Name)), i) {
			return nil
		}
		p := place{
			id: e.ID, path: join(string(r.Path), string(e.Name)), owner: e.Owner, root: i,
			known: s.isKnown(e.ID), isRun: r.Layout == planfile.LayoutRun,
		}
		if e.Kind != execute.Directory {
			return nil
		}
		if s.groups(r.Layout, string(e.Name)) {
			groups = append(groups, p)
		} else if !p.known && r.Layout != planfile.LayoutChildren {
			p.jobless = true
			s.place(&p)
		}
		return nil
	})
	if errors.Is(err, errHidden) || errors.Is(err, errNothing) {
		s.keepRoot(i, NotVisible, shown("path", string(r.Path)), text("error", err.Error()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("root %q: %w", r.Path, err)
	}
	return each(ctx, s.o.Workers, all(groups), func(ctx context.Context, job place) error { return s.listJob(ctx, &job) })
}

// groups tells whether a directory of a root groups runs or savepoints.
func (s *Session) groups(layout planfile.Layout, name string) bool {
	return layout == planfile.LayoutJobRun || layout == planfile.LayoutSavepoints && !strings.HasPrefix(name, "savepoint-")
}

func (s *Session) isKnown(id uint64) bool {
	if _, ok := s.byID.find(id); ok {
		return true
	}
	_, ok := slices.BinarySearch(s.known, id)
	return ok
}

// isRoot tells whether another root is, or lies below, a directory of root i.
func (s *Session) isRoot(dir string, i int32) bool {
	for j := range s.header.Roots {
		other := string(s.header.Roots[j].Path)
		if int32(j) != i && (other == dir || strings.HasPrefix(other, dir+"/")) {
			return true
		}
	}
	return false
}

// listJob finds new runs and savepoints. In a job a new run keeps all others: nobody
// knows yet from which of them it started.
func (s *Session) listJob(ctx context.Context, job *place) error {
	r := &s.header.Roots[job.root]
	err := s.list(ctx, execute.ByID(job.id), func(e *execute.Status) error {
		if s.isKnown(e.ID) {
			return nil
		}
		p := place{
			id: e.ID, path: join(job.path, string(e.Name)), owner: e.Owner, root: job.root,
			isRun: r.Layout == planfile.LayoutJobRun, jobless: !job.known,
		}
		if r.Layout == planfile.LayoutJobRun {
			s.keepJob(job.root, s.jobOf(job), NewRun, "", shown("run", p.path))
		}
		if e.Kind == execute.Directory {
			s.place(&p)
		}
		return nil
	})
	switch {
	case errors.Is(err, errNothing): // deleted meanwhile
		return nil
	case errors.Is(err, errHidden):
		s.keepBelow(job.path, NotVisible, "", shown("path", job.path), text("error", err.Error()))
		return nil
	}
	return err
}

func (s *Session) keepRoot(root int32, rule Rule, facts ...planfile.Fact) {
	for i := range s.items {
		if s.items[i].root == root {
			s.keep(int32(i), rule, "", facts...)
		}
	}
}

// keepJob keeps all items of a job of a root.
func (s *Session) keepJob(root int32, job string, rule Rule, guard string, facts ...planfile.Fact) {
	from, to := s.below(join(string(s.header.Roots[root].Path), job))
	for i := from; i < to; i++ {
		if s.items[i].root == root {
			s.keep(i, rule, guard, facts...)
		}
	}
}

func (s *Session) keepBelow(dir string, rule Rule, guard string, facts ...planfile.Fact) {
	from, to := s.below(dir)
	for i := from; i < to; i++ {
		s.keep(i, rule, guard, facts...)
	}
}

// keepRestored keeps what a run without a checkpoint of its own may start from.
func (s *Session) keepRestored(p *place, facts ...planfile.Fact) {
	if p.root >= 0 && s.header.Roots[p.root].Layout == planfile.LayoutJobRun && !p.jobless {
		s.keepJob(p.root, s.jobOf(p), MayBeRestored, p.path, facts...)
		return
	}
	for i := range s.items {
		if s.items[i].metadata {
			s.keep(int32(i), MayBeRestored, p.path, facts...)
		}
	}
}

package flink

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"fsweep/analyze/namespace"
)

// Suggestion is a directory that looks like a root of Flink. It is for people to
// think about: the layout of a root is declared, never guessed.
type Suggestion struct {
	Path    []byte
	Dir     namespace.Dir
	INodeID uint64
	Layout  Layout

	Jobs        int64 // directories that hold units; 0 if the layout has none
	Units       int64
	Checkpoints int64
	Totals      Totals
	Quotas      []QuotaShare // those that it is charged to, from the nearest up
}

// QuotaShare is how much of a quota a directory fills.
type QuotaShare struct {
	Path  []byte // of the directory with the quota
	Dir   namespace.Dir
	Quota namespace.Quota
	Used  namespace.Usage // of the quota, by all
	Here  namespace.Usage // by the suggested root
}

// Suggest looks for trees that look like roots of Flink, by path. Those in trash
// are left out. t must have been loaded with its sums.
func Suggest(ctx context.Context, t *namespace.Tree, o Options) ([]Suggestion, error) {
	survey, err := Look(ctx, t, nil, o)
	if err != nil {
		return nil, err
	}
	defer survey.Close()
	s := suggester{t: t, runs: map[namespace.Dir]*runSigns{}, savepoints: map[namespace.Dir]int64{}, found: map[suggested]*Suggestion{}}
	s.signs()
	s.addRuns()
	s.addSavepoints()
	if err := s.addClusters(ctx, survey); err != nil {
		return nil, err
	}
	return s.list(), nil
}

type suggester struct {
	t          *namespace.Tree
	runs       map[namespace.Dir]*runSigns
	savepoints map[namespace.Dir]int64 // by parent
	stores     []namespace.Dir         // that hold stores of results
	found      map[suggested]*Suggestion
}

type suggested struct {
	dir    namespace.Dir
	layout Layout
}

// runSigns is what says that a directory is a run.
type runSigns struct {
	checkpoints       int64
	shared, taskowned bool
}

// are tells whether the signs are enough: others have a directory shared, too.
func (r *runSigns) are() bool { return r.checkpoints > 0 || r.shared && r.taskowned }

func (s *suggester) signs() {
	for d := range s.t.Dirs() {
		p := s.t.Parent(d)
		if p == namespace.NoDir {
			continue
		}
		switch name := string(s.t.Name(d)); {
		case isState(name):
			r := s.runs[p]
			if r == nil {
				r = &runSigns{}
				s.runs[p] = r
			}
			switch name {
			case "shared":
				r.shared = true
			case "taskowned":
				r.taskowned = true
			default:
				r.checkpoints++
			}
		case isSavepoint(name):
			s.savepoints[p]++
		case isStore(name):
			s.stores = append(s.stores, p)
		}
	}
}

// at gives the suggestion of a root, nil where there can be none.
func (s *suggester) at(d namespace.Dir, l Layout) *Suggestion {
	if d == namespace.NoDir || d == s.t.Root() {
		return nil
	}
	r := s.found[suggested{d, l}]
	if r == nil {
		r = &Suggestion{Dir: d, Layout: l}
		s.found[suggested{d, l}] = r
	}
	return r
}

// addRuns suggests the directories above those that hold runs where several hold
// some, or nothing else is there; else those that hold the runs. A run without
// an id for a name has nothing that groups it.
func (s *suggester) addRuns() {
	type group struct{ runs, checkpoints int64 }
	groups := map[namespace.Dir]*group{}
	for d, r := range s.runs {
		if !r.are() {
			continue
		}
		p := s.t.Parent(d)
		if !isRunID(string(s.t.Name(d))) {
			if x := s.at(p, RunLayout); x != nil {
				x.Units++
				x.Checkpoints += r.checkpoints
			}
			continue
		}
		g := groups[p]
		if g == nil {
			g = &group{}
			groups[p] = g
		}
		g.runs++
		g.checkpoints += r.checkpoints
	}
	above := map[namespace.Dir]int64{}
	for p := range groups {
		above[s.t.Parent(p)]++
	}
	for p, g := range groups {
		up := s.t.Parent(p)
		var x *Suggestion
		if up != namespace.NoDir && (above[up] > 1 || s.t.ChildCount(up) == 1) {
			x = s.at(up, JobRun)
		}
		if x != nil {
			x.Jobs++
		} else {
			x = s.at(p, RunLayout)
		}
		if x != nil {
			x.Units += g.runs
			x.Checkpoints += g.checkpoints
		}
	}
}

// addSavepoints suggests the directory above those with savepoints where several
// have some.
func (s *suggester) addSavepoints() {
	above := map[namespace.Dir]int64{}
	for p := range s.savepoints {
		above[s.t.Parent(p)]++
	}
	for p, n := range s.savepoints {
		up := s.t.Parent(p)
		var x *Suggestion
		if above[up] > 1 {
			x = s.at(up, Savepoints)
		}
		if x != nil {
			x.Jobs++
		} else {
			x = s.at(p, Savepoints)
		}
		if x != nil {
			x.Units += n
		}
	}
}

// addClusters suggests what holds directories with HA files, or results of jobs.
func (s *suggester) addClusters(ctx context.Context, survey *Survey) error {
	clusters := map[namespace.Dir]bool{}
	err := survey.EachGuard(ctx, func(g *Guard, _ []byte) error {
		if g.Kind == CheckpointPointer || g.Kind == JobPointer {
			clusters[g.Parent] = true
		}
		return nil
	})
	for d := range clusters {
		if x := s.at(s.t.Parent(d), HAStorage); x != nil {
			x.Units++
		}
	}
	for _, d := range s.stores {
		s.at(d, HAStorage)
	}
	return err
}

func (s *suggester) list() []Suggestion {
	var out []Suggestion
	for _, x := range slices.SortedFunc(maps.Values(s.found), func(a, b *Suggestion) int { return cmp.Compare(a.Dir, b.Dir) }) {
		x.Path, x.INodeID, x.Totals = s.t.AppendPath(nil, x.Dir), s.t.ID(x.Dir), s.t.Summary(x.Dir).Live()
		trash := false
		for d := x.Dir; d != namespace.NoDir; d = s.t.Parent(d) {
			trash = trash || string(s.t.Name(d)) == ".Trash"
			if q, ok := s.t.Quota(d); ok {
				x.Quotas = append(x.Quotas, QuotaShare{s.t.AppendPath(nil, d), d, q, s.t.Usage(d), s.t.Usage(x.Dir)})
			}
		}
		if !trash && !bytes.HasPrefix(x.Path, []byte("/.reserved/")) {
			out = append(out, *x)
		}
	}
	slices.SortFunc(out, func(a, b Suggestion) int {
		return cmp.Or(bytes.Compare(a.Path, b.Path), cmp.Compare(a.Layout, b.Layout))
	})
	return out
}

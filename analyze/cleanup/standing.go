package cleanup

import (
	"cmp"
	"container/heap"
	"slices"

	"fsweep/analyze/flink"
)

// standing is what decisions about a unit need to know of the others of its job. It takes
// units one by one, in any order, and of those beyond the newest it holds next to nothing:
// a job can have more units than memory.
type standing struct {
	b      *decider
	r      *RootDecision
	job    *JobDecision
	ranked bool
	// The newest units by three times. Those of unknown age are not in them: they are
	// kept, and take no other's place.
	metadata, subtree, files ranking
	// The first units, the newest first: with entries that nobody knows, that may be
	// restoring, with a complete checkpoint.
	unknown, restoring, complete first
}

func (b *decider) newStanding(r *RootDecision, j *JobDecision) *standing {
	s := &standing{b: b, r: r, job: j, ranked: r.Policy.Groups() && j.grouped()}
	for _, list := range s.lists() {
		list.n = max(int(r.Policy.Keep), 1)
	}
	return s
}

// stand takes all units of a job that is in memory.
func (b *decider) stand(r *RootDecision, j *JobDecision) *standing {
	s := b.newStanding(r, j)
	for _, u := range j.Units {
		s.add(u)
	}
	s.finish()
	return s
}

func (s *standing) lists() [3]*ranking { return [...]*ranking{&s.metadata, &s.subtree, &s.files} }

// add takes a unit.
func (s *standing) add(u *UnitDecision) {
	f := u.Unit
	t := &f.Times
	if s.job.grouped() && f.NumUnknown > 0 && s.unknown.before(u) {
		s.unknown.fact = unknownEntry(f.NumUnknown, f.Unknown)
	}
	if s.r.Policy.Layout == JobRun && s.b.restoring(u) && s.restoring.before(u) {
		s.restoring.fact = Fact{Rule: MayBeRestored, Path: u.Path, TimeMs: t.Newest.Ms, Place: t.Newest.Place, LimitMs: ms(s.b.p.GuardAge)}
	}
	if !s.ranked {
		return
	}
	if t.HasMetadata && s.complete.before(u) {
		s.complete.fact = Fact{Rule: CompleteUnknown, Path: u.Path}
	}
	for i, x := range s.b.stamps(u) {
		if x.Place != flink.NoPlace {
			s.lists()[i].add(ranked{x, u.nth, u.Path})
		}
	}
}

// stamps gives the times by which a unit is ranked: the newest `_metadata` of a complete
// checkpoint, the newest mtime in the subtree, and that of files and symlinks alone. Where
// debris was moved away directories are new, and that must displace nothing.
func (b *decider) stamps(u *UnitDecision) (list [3]flink.Stamp) {
	t := &u.Unit.Times
	if _, unknown := b.unknownAge(t); unknown {
		return list
	}
	if t.HasMetadata {
		list[0] = flink.Stamp{Ms: t.NewestMetadataMs, Place: flink.MetadataPlace}
	}
	// Whoever sets a marker makes nothing newer.
	list[1], list[2] = t.Rank, u.Unit.NewestFile
	return list
}

// finish says that no more units come.
func (s *standing) finish() {
	for _, list := range s.lists() {
		slices.SortFunc(list.top, ranked.compare)
		slices.Sort(list.over)
	}
}

// first is a fact of the first of some units, the newest first.
type first struct {
	set  bool
	ms   int64
	nth  uint32
	fact Fact
}

// before tells whether a unit comes before the one so far, and then takes its place.
func (f *first) before(u *UnitDecision) bool {
	ms := u.Unit.Times.Newest.Ms
	if f.set && cmp.Or(cmp.Compare(f.ms, ms), cmp.Compare(u.nth, f.nth)) >= 0 {
		return false
	}
	f.set, f.ms, f.nth = true, ms, u.nth
	return true
}

// ranking is the newest n units by a time, newest first, and what is as new as the last
// of them. While units are added, top is a heap: the last unit is the first.
type ranking struct {
	n    int
	top  []ranked
	over []uint32 // as new as the last of top, by path
}

type ranked struct {
	flink.Stamp
	nth  uint32
	path Path
}

// compare brings what is newer first and, of the equally new, what is first by path.
func (x ranked) compare(y ranked) int {
	return cmp.Or(cmp.Compare(y.Ms, x.Ms), cmp.Compare(x.nth, y.nth))
}

func (l *ranking) add(x ranked) {
	if len(l.top) < l.n {
		heap.Push((*worst)(l), x)
		return
	}
	last := l.top[0]
	if x.compare(last) > 0 {
		if x.Ms == last.Ms {
			l.over = append(l.over, x.nth)
		}
		return
	}
	l.top[0] = x
	heap.Fix((*worst)(l), 0)
	if l.top[0].Ms == last.Ms {
		l.over = append(l.over, last.nth)
	} else {
		l.over = l.over[:0]
	}
}

// place gives the place of a unit by its time, from 0 on; false if it is behind all that
// are held.
func (l *ranking) place(ms int64, nth uint32) (int, bool) {
	x := ranked{Stamp: flink.Stamp{Ms: ms}, nth: nth}
	if i, ok := slices.BinarySearchFunc(l.top, x, ranked.compare); ok {
		return i, true
	}
	if len(l.over) == 0 || ms != l.last() {
		return 0, false
	}
	i, ok := slices.BinarySearch(l.over, nth)
	return len(l.top) + i, ok
}

// last is the time of the last unit of top.
func (l *ranking) last() int64 { return l.top[len(l.top)-1].Ms }

// worst is a ranking as a heap.
type worst ranking

func (w *worst) Len() int           { return len(w.top) }
func (w *worst) Less(i, k int) bool { return w.top[i].compare(w.top[k]) > 0 }
func (w *worst) Swap(i, k int)      { w.top[i], w.top[k] = w.top[k], w.top[i] }
func (w *worst) Push(x any)         { w.top = append(w.top, x.(ranked)) }

// Pop is asked by nobody: what is too much is replaced.
func (w *worst) Pop() any {
	x := w.top[len(w.top)-1]
	w.top = w.top[:len(w.top)-1]
	return x
}

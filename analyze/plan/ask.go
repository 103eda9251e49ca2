package plan

import (
	"context"
	"slices"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
)

// Asked is what was decided about a path.
type Asked struct {
	Path cleanup.Path
	// What holds the path, or is it; nil: nothing does. Of several roots it is the innermost.
	Root   *cleanup.RootDecision
	Job    *cleanup.JobDecision // without Units
	Unit   *cleanup.UnitDecision
	Item   *cleanup.Item
	Sweeps []*cleanup.Sweep // of the unit
	Counts *Counts          // of the units in the root or in the job that the path is; else nil

	// Of the unit's job, if that is no directory: how many entries its units have that the
	// layout does not, and the first of them, at most [flink.MaxListed].
	Unknown    []flink.Misfit
	NumUnknown int64

	root int
	key  jobKey // of Job
}

// Counts says what became of units.
type Counts struct {
	Units, Kept    int64
	Moved          int64 // as a whole or in parts
	Deferred       int64
	Debris         int64 // items in those that are kept
	DebrisDeferred int64
	Swept          int64 // directories whose files may be items
	// Example is one of the units, one that is moved if there is any.
	Example cleanup.Path

	sure bool
}

// Answers is what was decided about some paths. It has to be closed.
type Answers struct {
	Asked []*Asked // in the order of the question

	b     *builder
	moved *extsort.Sorter // what would be moved, by path
	unit  counted
}

// counted is the unit that is looked at, with its items so far.
type counted struct {
	key               jobKey
	path              cleanup.Path
	verdict           cleanup.Verdict
	planned, deferred int64
	any               bool
}

// Ask decides as [Write] does, but for what only a plan finds out of items, and keeps of it what
// concerns some paths, which may lie anywhere. Of the request it needs Tree, Collector, Survey,
// Decider, Policy and TempDir. Memory is that of Write and what is said of the paths.
//
// Errors are a [TempError] or that of ctx.
func Ask(ctx context.Context, r *Request, paths []cleanup.Path) (*Answers, error) {
	b := newBuilder(r)
	a := &Answers{b: b, moved: extsort.New(extsort.Options{Dir: r.TempDir, Memory: itemMemory, Limit: r.sortMemory})}
	b.ask = a
	for _, p := range paths {
		q := &Asked{Path: p}
		for i, root := range r.Decider.Decision().Roots {
			if root.Policy.Path.Holds(p) && (q.Root == nil || q.Root.Policy.Path.Holds(root.Policy.Path)) {
				q.Root, q.root = root, i
			}
		}
		if q.Root != nil && q.Root.Policy.Path == p {
			q.Counts = &Counts{}
		}
		a.Asked = append(a.Asked, q)
	}
	err := b.gather(ctx)
	if err == nil {
		err = a.weigh(ctx)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close gives up the temporary files.
func (a *Answers) Close() {
	a.moved.Close()
	a.b.close()
}

// job takes the job of a step, of which no units were taken yet.
func (a *Answers) job(k jobKey, s *cleanup.Step) {
	if !s.Job.Job.Grouped() {
		return
	}
	for _, q := range a.Asked {
		if q.Root == nil || q.root != k.root {
			continue
		}
		dir := q.Root.Policy.Path + cleanup.Path("/"+s.Job.Name)
		if !dir.Holds(q.Path) {
			continue
		}
		q.take(k, s.Job)
		if dir == q.Path {
			q.Counts = &Counts{}
		}
	}
}

func (q *Asked) take(k jobKey, j *cleanup.JobDecision) {
	job := *j
	job.Units = nil
	q.Job, q.key = &job, k
}

// add takes a unit that was decided about.
func (a *Answers) add(k jobKey, s *cleanup.Step, u *cleanup.UnitDecision, sweeps []*cleanup.Sweep) error {
	for _, q := range a.Asked {
		if q.Root == nil || q.root != k.root {
			continue
		}
		if q.counts(k) {
			q.Counts.Swept += int64(len(sweeps))
		}
		if q.Unit != nil || !u.Path.Holds(q.Path) {
			continue
		}
		q.take(k, s.Job)
		q.Unit, q.Sweeps = u, sweeps
		err := u.EachItem(func(i *cleanup.Item) error {
			i.Job = q.Job
			if i.Path.Holds(q.Path) {
				q.Item = i
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// counts tells whether the units of a job are counted.
func (q *Asked) counts(k jobKey) bool {
	return q.Counts != nil && q.root == k.root && (q.Job == nil || q.key == k)
}

// weigh goes over all items in the order in which belts count them.
func (a *Answers) weigh(ctx context.Context) error {
	w := a.b.newWeighed(true)
	err := w.each(ctx, func() error {
		if !w.more {
			a.count()
		}
		if w.unit == nil {
			return nil
		}
		u := &a.unit
		if !w.more {
			*u = counted{key: w.key, path: w.unit.Path, verdict: w.unit.Verdict, any: true}
		}
		for _, i := range w.unit.Items {
			if len(i.Deferred) > 0 {
				u.deferred++
				continue
			}
			u.planned++
			if !i.Root.Executable {
				continue
			}
			if err := a.moved.Writer(0).Add([]byte(i.Path), nil); err != nil {
				return err
			}
		}
		for _, q := range a.Asked {
			q.weigh(w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.count()
	return a.moved.Finish()
}

// weigh notes why items of the unit of the path are deferred, and what of its job nobody knows.
func (q *Asked) weigh(w *weighed) {
	if q.Unit == nil || q.key != w.key {
		return
	}
	if f := w.unit.Unit; !w.more && !q.Job.Job.Grouped() {
		q.NumUnknown += f.NumUnknown
		q.Unknown = append(q.Unknown, f.Unknown[:min(len(f.Unknown), flink.MaxListed-len(q.Unknown))]...)
	}
	if q.Unit.Path != w.unit.Path {
		return
	}
	for n, i := range w.unit.Items {
		if !q.Unit.Many() {
			q.Unit.Items[n].Deferred = slices.Clone(i.Deferred)
		} else if q.Item != nil && q.Item.Path == i.Path {
			q.Item.Deferred = slices.Clone(i.Deferred)
		}
	}
}

// count counts the unit that was looked at.
func (a *Answers) count() {
	u := &a.unit
	if !u.any {
		return
	}
	for _, q := range a.Asked {
		if q.counts(u.key) {
			q.Counts.add(u)
		}
	}
	u.any = false
}

func (n *Counts) add(u *counted) {
	n.Units++
	switch {
	case u.verdict == cleanup.Keep:
		n.Kept, n.Debris, n.DebrisDeferred = n.Kept+1, n.Debris+u.planned, n.DebrisDeferred+u.deferred
	case u.planned == 0:
		n.Deferred++
	default:
		n.Moved++
	}
	if moved := u.verdict == cleanup.Candidate && u.planned > 0; n.Example == "" || moved && !n.sure {
		n.Example, n.sure = u.path, moved
	}
}

// EachItem calls fn for all items of the unit of a path, in their order; an error of it ends
// that. An item is valid until fn returns, and its Checkpoint may have no more than the inode
// id and the totals.
func (a *Answers) EachItem(ctx context.Context, q *Asked, fn func(i *cleanup.Item) error) error {
	if !q.Unit.Many() {
		return q.Unit.EachItem(fn)
	}
	w := a.b.newWeighed(false)
	return w.each(ctx, func() error {
		if w.unit == nil || w.key != q.key || w.unit.Path != q.Unit.Path {
			return nil
		}
		for _, i := range w.unit.Items {
			i.Job, i.Unit = q.Job, q.Unit
			if err := fn(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachGuard calls fn for all guards of the image, by path, and tells of each whether it lies
// in something that would be moved. Arguments are valid until fn returns; its error ends that.
func (a *Answers) EachGuard(ctx context.Context, fn func(g *flink.Guard, path []byte, moved bool) error) error {
	r, err := a.moved.Read()
	if err != nil {
		return err
	}
	next, _, more, err := r.Next()
	if err != nil {
		return err
	}
	var around [][]byte // items that have a start of the last path, each a start of the next one
	leave := func(path []byte) {
		for len(around) > 0 && !hasPrefix(path, around[len(around)-1]) {
			around = around[:len(around)-1]
		}
	}
	return a.b.s.EachGuard(ctx, func(g *flink.Guard, path []byte) error {
		for more && string(next) <= string(path) {
			leave(next)
			around = append(around, slices.Clone(next))
			if next, _, more, err = r.Next(); err != nil {
				return err
			}
		}
		leave(path)
		return fn(g, path, slices.ContainsFunc(around, func(item []byte) bool {
			return len(item) == len(path) || path[len(item)] == '/'
		}))
	})
}

func hasPrefix(path, start []byte) bool {
	return len(path) >= len(start) && string(path[:len(start)]) == string(start)
}

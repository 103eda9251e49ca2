package flink

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"fsweep/analyze/namespace"
)

// Options of [Discover] and [Suggest].
type Options struct {
	Workers int // goroutines that decode (default GOMAXPROCS)

	// Seen, if set, is called for every worker from 0 on and gives the function that
	// this worker of Discover calls for files and symlinks, so that who needs more of
	// them than Discover does has no pass of his own. inRoot tells whether the inode is
	// below a root, in what belongs to its layout: all of those come. Of all others Also
	// is asked, if it is set, by directory and name; it must be quick, and many goroutines ask at once. The Entry
	// is valid during the call only.
	Seen func(worker int) func(e *namespace.Entry, inRoot bool) error
	Also func(parent namespace.Dir, name []byte) bool
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// builder makes a Discovery.
type builder struct {
	*index
	out        *Discovery
	misfits    []misfits // of roots
	unknown    []misfits // of units
	jobOf      []*Job    // of units
	jobNode    map[uint32]*Job
	jobUnknown map[*Job]*misfits
	ignored    []map[string]bool      // of roots
	snapshots  map[namespace.Dir]bool // that have some
	stateful   []bool                 // of roots: some run has chk-N, shared or taskowned
	bare       []uint32               // nodes of runs with no directory but dstl and markers

	unitRoom       room[Unit]
	checkpointRoom room[Checkpoint]
	fileRoom       room[File]
}

// room makes values in blocks: each by itself would be rounded up to a larger size,
// and there are many.
type room[T any] []T

// next gives a value that nobody has.
func (r *room[T]) next() *T {
	if len(*r) == 0 {
		*r = make([]T, 64)
	}
	v := &(*r)[0]
	*r = (*r)[1:]
	return v
}

// Discover looks at the declared roots, and for guards everywhere. t must have
// been loaded with its sums. What is wrong with a root is a misfit; an error is
// about a declaration that can never be right, or about reading.
//
// It reads section INODE once. Memory: 4 bytes for each directory of the image,
// some 40 for each below a root (and as many more until it is done), 500 for each
// unit, 250 for each checkpoint and 75 for each guard, with twice as many until those
// are sorted. The result is the same for any number of workers.
func Discover(ctx context.Context, t *namespace.Tree, decls []Declaration, o Options) (*Discovery, error) {
	roots, parts, err := newRoots(decls)
	if err != nil {
		return nil, err
	}
	b := &builder{
		out: &Discovery{Roots: roots}, misfits: make([]misfits, len(roots)), stateful: make([]bool, len(roots)),
		jobNode: map[uint32]*Job{}, jobUnknown: map[*Job]*misfits{}, snapshots: map[namespace.Dir]bool{},
	}
	found := resolve(t, parts)
	for i, f := range found {
		if roots[i].Dir = f.dir; f.gone {
			roots[i].Dir = namespace.NoDir
		} else {
			roots[i].INodeID, roots[i].Totals = t.ID(f.dir), t.Summary(f.dir).Live()
		}
	}
	b.index = newIndex(t, roots)
	b.out.index = b.index
	b.checkOverlaps(parts)
	s := newScan(b.index, o)
	b.ignored = s.ignore
	for i, r := range roots {
		b.root(uint32(i), found[i].twice)
		if f := found[i]; f.gone && len(f.rest) == 1 {
			s.watch[f.dir] = append(s.watch[f.dir], watched{f.rest[0], r})
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	b.finish(s)
	return b.out, nil
}

// newRoots sorts the declarations by path and gives the components of each.
func newRoots(decls []Declaration) ([]*Root, [][]string, error) {
	roots := make([]*Root, len(decls))
	parts := map[*Root][]string{}
	for i := range decls {
		names, err := decls[i].prepare()
		if err != nil {
			return nil, nil, err
		}
		r := &Root{Declared: decls[i], Dir: namespace.NoDir}
		for _, name := range names {
			r.Path = append(append(r.Path, '/'), name...)
		}
		roots[i], parts[r] = r, names
	}
	slices.SortStableFunc(roots, func(a, b *Root) int {
		return cmp.Or(bytes.Compare(a.Path, b.Path), cmp.Compare(a.Declared.Layout, b.Declared.Layout))
	})
	list := make([][]string, len(roots))
	for i, r := range roots {
		list[i] = parts[r]
	}
	return roots, list, nil
}

// checkOverlaps compares all pairs of roots. One inside another is right when
// the outer one excludes the directory of the first level that leads there.
func (b *builder) checkOverlaps(parts [][]string) {
	for i, outer := range parts {
		for j, inner := range parts {
			if i == j || len(inner) < len(outer) || !slices.Equal(outer, inner[:len(outer)]) {
				continue
			}
			if len(inner) > len(outer) && slices.Contains(b.roots[i].Declared.ExcludeJobs, inner[len(outer)]) {
				continue
			}
			detail := fmt.Sprintf("root %q is inside root %q, which does not exclude the directory that leads there", b.roots[j].Path, b.roots[i].Path)
			if len(inner) == len(outer) {
				detail = fmt.Sprintf("root %q is declared twice", b.roots[i].Path)
			}
			b.misfit(uint32(i), Misfit{Reason: OverlappingRoots, Path: b.roots[j].Path, INodeID: b.roots[j].INodeID, Detail: detail})
			if len(inner) > len(outer) { // of two equal ones, each is once the outer one
				b.misfit(uint32(j), Misfit{Reason: OverlappingRoots, Path: b.roots[i].Path, INodeID: b.roots[i].INodeID, Detail: detail})
			}
		}
	}
}

func (b *builder) misfit(root uint32, m Misfit) {
	b.misfits[root].add(m, MaxListed, compareMisfits)
}

// misfitAt is a misfit that is a directory.
func (b *builder) misfitAt(i uint32, reason Reason, detail string) {
	b.misfit(b.nodes[i].root, Misfit{Reason: reason, Path: b.path(i), INodeID: b.id(i), Detail: detail})
}

// unknownIn adds an unknown entry of a unit.
func (b *builder) unknownIn(unit int32, m Misfit) {
	b.unknown[unit].add(m, maxUnknownListed, compareMisfits)
}

func (b *builder) unknownInJob(j *Job, m Misfit) {
	b.unknownOf(j).add(m, maxUnknownListed, compareMisfits)
}

func (b *builder) unknownOf(j *Job) *misfits {
	l := b.jobUnknown[j]
	if l == nil {
		l = &misfits{}
		b.jobUnknown[j] = l
	}
	return l
}

// root looks at the first level of a root.
func (b *builder) root(i uint32, twice bool) {
	r := b.roots[i]
	if r.Dir == namespace.NoDir {
		return // whether it is a file, the pass tells
	}
	n := b.at(r.Dir)
	if b.nodes[n].root != i {
		return // declared twice: an earlier one has the nodes
	}
	b.nodes[n].class = rootClass
	if twice {
		b.misfitAt(n, AmbiguousName, "two directories have this path")
	}
	if r.Declared.Layout != JobRun {
		b.addJob(r, &Job{Dir: r.Dir, Selected: true}, n)
	}
	exists := map[string]bool{}
	for k, c := range b.children(n) {
		name := b.name(c)
		exists[name] = true
		if b.ambiguous(n, k) {
			b.misfitAt(c, AmbiguousName, "two directories have this name")
		} else if !b.ignored[i][name] {
			b.firstLevel(r, n, c, name)
		}
	}
	b.missingNames(i, SelectedNotFound, "selected", r.Declared.Jobs, exists)
	b.missingNames(i, ExcludedNotFound, "excluded", r.Declared.ExcludeJobs, exists)
}

// ambiguous tells whether the k-th child of a node has the name of the one before
// or behind it, which no client can make.
func (b *builder) ambiguous(n uint32, k int) bool {
	list := b.children(n)
	same := func(i int) bool {
		return i >= 0 && i < len(list) && bytes.Equal(b.t.Name(b.nodes[list[i]].dir), b.t.Name(b.nodes[list[k]].dir))
	}
	return same(k-1) || same(k+1)
}

func (b *builder) missingNames(root uint32, reason Reason, what string, names []string, exists map[string]bool) {
	var missing []string
	for _, name := range names {
		if !exists[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	r := b.roots[root]
	b.misfit(root, Misfit{
		Reason: reason, Path: r.Path, INodeID: r.INodeID, Names: missing,
		Detail: what + " job directories were not found: " + quoted(missing),
	})
}

func (b *builder) addJob(r *Root, j *Job, n uint32) *Job {
	j.INodeID, j.Totals = b.t.ID(j.Dir), b.t.Summary(j.Dir).Live()
	r.Jobs = append(r.Jobs, j)
	if j.Grouped() {
		b.jobNode[n] = j
	}
	return j
}

// addUnit adds a unit of a job, and gives its number.
func (b *builder) addUnit(j *Job, n uint32, kind UnitKind) int32 {
	r, d := b.roots[b.nodes[n].root], b.nodes[n].dir
	u := b.unitRoom.next()
	*u = Unit{
		Kind: kind, Name: b.name(n), Dir: d, INodeID: b.t.ID(d), ParentID: b.t.ID(b.t.Parent(d)),
		MTimeMs: b.t.MTimeMs(d), Selected: j.Selected,
		Totals: b.t.Summary(d).Live(),
		Shared: Area{Dir: namespace.NoDir}, Taskowned: Area{Dir: namespace.NoDir},
	}
	if !j.Grouped() {
		u.Selected = r.Declared.selects(u.Name)
	}
	u.Times.OldestMs, u.Skeleton = u.MTimeMs, true
	u.RunID, u.ConstantID = isRunID(u.Name), isJobID(u.Name) && isReused(u.Name)
	j.Units = append(j.Units, u)
	b.units, b.jobOf, b.unknown = append(b.units, u), append(b.jobOf, j), append(b.unknown, misfits{})
	b.nodes[n].unit = int32(len(b.units) - 1)
	return b.nodes[n].unit
}

// selects tells whether the declaration selects a name of the first level.
func (d *Declaration) selects(name string) bool {
	return len(d.Jobs) == 0 || slices.Contains(d.Jobs, name)
}

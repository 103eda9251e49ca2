package flink

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
)

// Options of [Look], [Discover] and [Suggest].
type Options struct {
	Workers int    // goroutines that decode (default GOMAXPROCS)
	TempDir string // of what does not fit in memory; "": os.TempDir

	// Seen, if set with Also, is called for files and symlinks of which Also is true by
	// directory and name, so that who needs some of them has no pass of his own. Both must be
	// quick, and many goroutines call them at once. The Entry is valid during the call only.
	Seen func(e *namespace.Entry) error
	Also func(parent namespace.Dir, name []byte) bool
	// Sum, if set, gives a number of 256 bits, the least significant part first, for a file
	// or symlink; those of a unit and its parts are added up. Many goroutines call it at once.
	Sum func(e *namespace.Entry) [4]uint64
	// Extra, if set, gives what to keep of an unfinished `_metadata`. The same holds.
	Extra func(e *namespace.Entry) ([]byte, error)

	SortLimit int // bytes that one worker sorts in memory, for tests
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Survey is what [Look] finds. Roots, their jobs left out, do not change any more. Jobs and
// guards are made each time that somebody asks: there can be more of them than memory.
type Survey struct {
	// Roots stand in the order of their paths. They have no Jobs.
	Roots []*Root

	index   *index
	scan    *scan
	flagged flagged
	open    nodeSet        // that hold open files, one for each file
	stored  *extsort.Store // checkpoints of runs with many; nil: there are none
}

// Look looks at the declared roots, and for guards everywhere. t must have
// been loaded with its sums. What is wrong with a root is a misfit; an error is
// about a declaration that can never be right, or about reading, or an
// [extsort.TempError]. The survey has to be closed.
//
// It reads section INODE once. Memory: 4 bytes for each directory of the image,
// 9 for each below a root (and 12 more before the pass), and some MiB; what is beyond is
// in a temporary file. The result is the same for any number of workers.
func Look(ctx context.Context, t *namespace.Tree, decls []Declaration, o Options) (*Survey, error) {
	roots, parts, err := newRoots(decls)
	if err != nil {
		return nil, err
	}
	found := resolve(t, parts)
	for i, f := range found {
		if roots[i].Dir = f.dir; f.gone {
			roots[i].Dir = namespace.NoDir
		} else {
			roots[i].INodeID, roots[i].Totals = t.ID(f.dir), t.Summary(f.dir).Live()
		}
	}
	b := &classifier{index: newIndex(t, roots), misfits: make([]misfits, len(roots)), stateful: make([]bool, len(roots))}
	b.checkOverlaps(parts)
	for i, r := range roots {
		names := map[string]bool{}
		for _, name := range r.Declared.Ignore {
			names[name] = true
		}
		b.ignored = append(b.ignored, names)
		b.root(uint32(i), found[i].twice)
	}
	s := &Survey{Roots: roots, index: b.index, scan: newScan(b.index, &o, b.ignored, b.bare)}
	for i := range roots {
		if f := found[i]; f.gone && len(f.rest) == 1 {
			s.scan.watch[f.dir] = append(s.scan.watch[f.dir], watched{f.rest[0], i})
		}
	}
	if err = ctx.Err(); err == nil {
		err = s.scan.run(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.finish(b)
	return s, nil
}

// Close gives up the temporary files. Each and EachGuard must not be called any more.
func (s *Survey) Close() {
	s.scan.facts.Close()
	s.scan.guards.Close()
	s.stored.Close()
	s.stored = nil
}

// Discover is [Look] with everything in memory: some 500 bytes for each unit, 250 for each
// checkpoint and 75 for each guard more.
func Discover(ctx context.Context, t *namespace.Tree, decls []Declaration, o Options) (*Discovery, error) {
	s, err := Look(ctx, t, decls, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Discovery(ctx)
}

// Discovery brings everything into memory.
func (s *Survey) Discovery(ctx context.Context) (*Discovery, error) {
	d := &Discovery{Roots: s.Roots, index: s.index}
	for _, r := range s.Roots {
		r.Jobs = nil
	}
	alone := map[*Job]*Job{}
	err := s.Each(ctx, func(r *Root, j *Job) error {
		of := alone[j]
		if of == nil {
			of = j
			if !j.Grouped() {
				of = new(Job)
				*of = *j
				alone[j] = of
			}
			r.Jobs = append(r.Jobs, of)
		} else {
			of.Units = append(of.Units, j.Units...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.EachGuard(ctx, func(g *Guard, _ []byte) error {
		d.Guards = append(d.Guards, *g)
		return nil
	})
	return d, err
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
func (b *classifier) checkOverlaps(parts [][]string) {
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

// selects tells whether the declaration selects a name of the first level.
func (d *Declaration) selects(name string) bool {
	return len(d.Jobs) == 0 || slices.Contains(d.Jobs, name)
}

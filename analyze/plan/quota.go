package plan

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// effects computes what moves change in quotas.
//
// The trash of an unknown user is in /user, in the root of an encryption zone or,
// where a cluster is set up so, in the snapshottable directory. What holds both an
// item and any of the places where its trash can be gets nothing back by a move, so
// nothing is promised of it.
type effects struct {
	t           *namespace.Tree
	trashes     map[namespace.Dir]bool // snapshottable, with a trash of their own
	gone        map[namespace.Dir]bool // holds the quarantine
	charged     []namespace.Dir        // with a quota, hold the quarantine
	destination namespace.Dir          // the quarantine, or what it will be in; NoDir: trash
	above       map[namespace.Dir]above
	sums        map[namespace.Dir]*planfile.Effect // of items that are not deferred; of each directory that is touched
}

// maxAbove is of how many directories it is remembered what is above them.
const maxAbove = 1 << 12

// above is what is above a directory, itself included.
type above struct {
	gains []namespace.Dir // quota directories that get back what is moved out
	pays  []namespace.Dir // those that are charged for it
}

func newEffects(b *builder) *effects {
	e := &effects{
		t: b.t, trashes: map[namespace.Dir]bool{}, gone: map[namespace.Dir]bool{}, destination: namespace.NoDir,
		above: map[namespace.Dir]above{}, sums: map[namespace.Dir]*planfile.Effect{},
	}
	e.findTrashes()
	if q := b.at.quarantine; q != nil {
		e.destination = q.dir
		for d := q.dir; d != namespace.NoDir; d = b.t.Parent(d) {
			if e.gone[d] = true; e.limited(d) {
				e.charged = append(e.charged, d)
			}
		}
	}
	return e
}

// findTrashes finds the snapshottable directories that hold a trash, which a cluster
// makes in all of them, or in none.
func (e *effects) findTrashes() {
	list := e.t.Snapshottable()
	if len(list) == 0 {
		return
	}
	snapshottable := newBitSet(e.t)
	for _, s := range list {
		if s.Dir != namespace.NoDir {
			snapshottable.set(s.Dir)
		}
	}
	for d := range e.t.Dirs() {
		if up := e.t.Parent(d); up != namespace.NoDir && snapshottable.has(up) && string(e.t.Name(d)) == ".Trash" {
			e.trashes[up] = true
		}
	}
}

func (e *effects) limited(d namespace.Dir) bool {
	_, ok := e.t.Quota(d)
	return ok
}

// of gives what is above what lies in a directory.
func (e *effects) of(parent namespace.Dir) above {
	if a, ok := e.above[parent]; ok {
		return a
	}
	if len(e.above) >= maxAbove { // items come by path, so those that follow are in others
		clear(e.above)
	}
	var a above
	if e.destination != namespace.NoDir {
		a = e.toQuarantine(parent)
	} else {
		a = e.toTrash(parent)
	}
	e.above[parent] = a
	return a
}

func (e *effects) toQuarantine(parent namespace.Dir) (a above) {
	holds := map[namespace.Dir]bool{}
	for d := parent; d != namespace.NoDir; d = e.t.Parent(d) {
		if holds[d] = true; !e.gone[d] && e.limited(d) {
			a.gains = append(a.gains, d)
		}
	}
	for _, d := range e.charged {
		if !holds[d] {
			a.pays = append(a.pays, d)
		}
	}
	return a
}

func (e *effects) toTrash(parent namespace.Dir) (a above) {
	for d := parent; d != namespace.NoDir; d = e.t.Parent(d) {
		if e.trashes[d] || e.t.Encrypted(d) && !e.zoneAbove(d) || e.isHome(d) {
			return a
		}
		if e.limited(d) {
			a.gains = append(a.gains, d)
		}
	}
	return a
}

// zoneAbove tells whether the directory above one is in an encryption zone too.
func (e *effects) zoneAbove(d namespace.Dir) bool {
	up := e.t.Parent(d)
	return up != namespace.NoDir && e.t.Encrypted(up)
}

// isHome tells whether a directory is somebody's home in /user, or /. Who goes up
// comes to a home before /user.
func (e *effects) isHome(d namespace.Dir) bool {
	up, root := e.t.Parent(d), e.t.Root()
	return d == root || up != root && e.t.Parent(up) == root && string(e.t.Name(up)) == "user"
}

// charge is what quotas are no longer charged where an item was, and what they are
// charged where it will be.
type charge struct{ here, there namespace.Usage }

// count gives the effects of a move, by inode id, and adds them up.
func (e *effects) count(a above, c charge, deferred bool) []planfile.Effect {
	out := make([]planfile.Effect, 0, len(a.gains)+len(a.pays))
	add := func(d namespace.Dir, u namespace.Usage, sign int64) {
		x := planfile.Effect{InodeID: e.t.ID(d), Inodes: sign * u.Namespace, Space: sign * u.Space, Types: typeSpace(u.Type, sign)}
		if x == (planfile.Effect{InodeID: x.InodeID}) {
			return
		}
		out = append(out, x)
		sum := e.sums[d]
		if sum == nil {
			sum = &planfile.Effect{}
			e.sums[d] = sum
		}
		if !deferred {
			sum.Inodes += x.Inodes
			sum.Space += x.Space
			sum.Types = addTypes(sum.Types, x.Types)
		}
	}
	for _, d := range a.gains {
		add(d, c.here, 1)
	}
	for _, d := range a.pays {
		add(d, c.there, -1)
	}
	slices.SortFunc(out, func(x, y planfile.Effect) int { return cmp.Compare(x.InodeID, y.InodeID) })
	return out
}

func typeSpace(t namespace.TypeSpace, sign int64) planfile.TypeSpace {
	return planfile.TypeSpace{
		Disk: sign * t[namespace.Disk], SSD: sign * t[namespace.SSD], Archive: sign * t[namespace.Archive],
		Provided: sign * t[namespace.Provided], NVDIMM: sign * t[namespace.NVDIMM],
	}
}

func addTypes(a, b planfile.TypeSpace) planfile.TypeSpace {
	return planfile.TypeSpace{
		Disk: a.Disk + b.Disk, SSD: a.SSD + b.SSD, Archive: a.Archive + b.Archive, Provided: a.Provided + b.Provided, NVDIMM: a.NVDIMM + b.NVDIMM,
	}
}

// writeQuotas writes the directories whose quota was touched, before and after.
func (b *builder) writeQuotas(ctx context.Context) error {
	type line struct {
		path []byte
		dir  namespace.Dir
	}
	lines := make([]line, 0, len(b.effects.sums))
	for d := range b.effects.sums {
		lines = append(lines, line{b.t.AppendPath(nil, d), d})
	}
	slices.SortFunc(lines, func(x, y line) int { return bytes.Compare(x.path, y.path) })
	for _, l := range lines {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum, used := b.effects.sums[l.dir], b.t.Usage(l.dir)
		limit, _ := b.t.Quota(l.dir)
		q := planfile.Quota{
			Path: planfile.Path(l.path), InodeID: b.t.ID(l.dir),
			NSQuota: known(limit.Namespace), NSBefore: used.Namespace, NSAfter: used.Namespace - sum.Inodes,
			DSQuota: known(limit.Space), DSBefore: used.Space, DSAfter: used.Space - sum.Space,
			TypeQuota: planfile.TypeLimit{
				Disk: known(limit.Type[namespace.Disk]), SSD: known(limit.Type[namespace.SSD]), Archive: known(limit.Type[namespace.Archive]),
				Provided: known(limit.Type[namespace.Provided]), NVDIMM: known(limit.Type[namespace.NVDIMM]),
			},
			TypesBefore: typeSpace(used.Type, 1),
		}
		q.TypesAfter = addTypes(q.TypesBefore, planfile.TypeSpace{
			Disk: -sum.Types.Disk, SSD: -sum.Types.SSD, Archive: -sum.Types.Archive, Provided: -sum.Types.Provided, NVDIMM: -sum.Types.NVDIMM,
		})
		if err := b.file.Quota(q); err != nil {
			return err
		}
		b.out.Quotas = append(b.out.Quotas, q)
	}
	return nil
}

func known(limit int64) *int64 {
	if limit == namespace.Unset {
		return nil
	}
	return &limit
}

// freed tells when the space of what is moved comes back. The trash is emptied, a
// quarantine is not.
func (e *effects) freed(m *namespace.Moved) planfile.Freed {
	if e.destination != namespace.NoDir {
		return planfile.Freed{}
	}
	return planfile.Freed{AfterTrash: m.Freed, HeldBySnapshots: m.Held}
}

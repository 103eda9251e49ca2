package imagetest

import pb "fsweep/proto/fsimage"

// storageTypes is the number of types that quotas exist for.
const storageTypes = 5

// typeAt and typeIndex translate between rows of an account and storage types.
func typeAt(k int) pb.StorageTypeProto {
	return [storageTypes]pb.StorageTypeProto{
		pb.StorageTypeProto_DISK, pb.StorageTypeProto_SSD, pb.StorageTypeProto_ARCHIVE,
		pb.StorageTypeProto_PROVIDED, pb.StorageTypeProto_NVDIMM,
	}[k]
}

func typeIndex(t pb.StorageTypeProto) int {
	for k := range storageTypes {
		if typeAt(k) == t {
			return k
		}
	}
	panic("imagetest: no quota for " + t.String())
}

// account sums what the NameNode would count, at the nearest tracked directory;
// truth adds the rows up the tree.
type account struct {
	plan *plan
	rows []sums // by tracked directory
	open int64
}

// sums is quota usage and content of a subtree.
type sums struct {
	ns, ds int64
	types  [storageTypes]int64
	live   Totals
	snap   Totals // deleted, but in a snapshot
}

func newAccount(p *plan) *account {
	return &account{plan: p, rows: make([]sums, len(p.tracked))}
}

func (a *account) row(d uint32) *sums { return &a.rows[a.plan.track[d]] }

func (a *account) directory(d uint32) {
	r := a.row(d)
	r.ns++
	if a.plan.shape[d] == shapeGone {
		r.snap.Directories++
		return
	}
	r.live.Directories++
}

func (a *account) symlink(d uint32) {
	r := a.row(d)
	r.ns++
	r.live.Symlinks++
}

func (a *account) file(i, d uint32, f file) {
	r := a.row(d)
	switch a.plan.shape[d] {
	case shapeCell, shapeKept, shapeGone:
		a.cellFile(i, d, f)
		return
	}
	space, perReplica := f.space()
	r.ns++
	r.ds += space
	r.live.add(int64(f.size), space)
	if f.open {
		a.open++
	}
	if f.ec != 0 {
		return // erasure-coded blocks are charged to no storage type
	}
	policy := f.policy
	if policy == 0 {
		policy = a.plan.policy[d]
	}
	types := policyTypes(policy)
	for k := range int(f.rep) {
		if len(types) > 0 {
			r.types[typeIndex(types[min(k, len(types)-1)])] += perReplica
		}
	}
}

// space returns the bytes that a file is charged, and those of one replica. The
// last block of an open file counts its preferred size.
func (f file) space() (total, perReplica int64) {
	n := 0
	f.blocks(func(k int, _ uint64) { n = k + 1 })
	f.blocks(func(k int, bytes uint64) {
		last := f.open && k == n-1
		switch {
		case f.ec != 0:
			total += int64(ecSpace(f.ec, bytes, f.blockSize, last))
		case last:
			perReplica += int64(f.blockSize)
		default:
			perReplica += int64(bytes)
		}
	})
	return total + perReplica*int64(f.rep), perReplica
}

// ecSpace is what a block group of n bytes takes: the data and, for every stripe,
// parity cells as long as the stripe's first cell.
func ecSpace(policy uint8, n, blockSize uint64, open bool) uint64 {
	g := ecGeometry(policy)
	if open {
		return blockSize * (g.data + g.parity)
	}
	stripe := g.cell * g.data
	stripes := (n + stripe - 1) / stripe
	lastCell := min(g.cell, n-(stripes-1)*stripe)
	return n + g.parity*((stripes-1)*g.cell+lastCell)
}

// cellFile accounts the files of a snapshot cell: see snapshots.go for its history.
// No directory there has a storage policy.
func (a *account) cellFile(i, d uint32, f file) {
	p := a.plan
	r := a.row(d)
	r.ns++
	ord := i - p.first[d] - p.subs[d]
	size := int64(f.size)
	space := 3 * size
	switch {
	case p.shape[d] == shapeKept, p.shape[d] == shapeCell && ord == cellN:
		r.live.add(size, space)
	case p.shape[d] == shapeGone, ord == cellB, ord == cellC:
		r.snap.add(size, space)
	case ord == cellA: // both blocks, at the replication of the snapshot
		space = 3 * (size + int64(p.truncated(i)))
		r.live.add(size, space)
	case ord == cellM: // here as of s0, and alive in /snap/moved
		r.snap.add(size, space)
		moved := a.row(p.link[p.first[p.snapDir()]+uint32(p.spec.SnapshotCells)])
		moved.ns++
		moved.ds += space
		moved.live.add(size, space)
	}
	r.ds += space
}

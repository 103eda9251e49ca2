package imagetest

import (
	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// A snapshot cell is a snapshottable directory with this history:
//
//	snapshot s0 of  a b c gone/{x,y} kept/{e} m
//	a truncated by its last block and set to 2 replicas, b and gone deleted,
//	m renamed to /snap/moved/, kept/e2 and n created
//	snapshot s1 of  a c kept/{e,e2} n
//	c deleted
//
// Its children's numbers: kept, gone, a, b, c, m, n. b, c and gone are in no
// listing any more, m is below /snap/moved as a reference.
const (
	cellInodes = 12
	cellDirs   = 3
	cellFiles  = 9
)

// Ordinals of a cell's files.
const (
	cellA = iota
	cellB
	cellC
	cellM
	cellN
)

// snapBlock is the block size of all files of cells, in bytes.
const snapBlock = mib

func (p *plan) fanSnapshots(s shape) fanout {
	cells := uint32(p.spec.SnapshotCells)
	f := fanout{dirWeight: flat, fileWeight: flat}
	switch s {
	case shapeSnap:
		f.dirs = cells + 1
		f.shape = func(j uint32) shape {
			if j < cells {
				return shapeCell
			}
			return shapeMoved
		}
		f.fixed = func(j uint32) (uint32, uint32) {
			if j < cells {
				return cellDirs - 1, cellFiles
			}
			return 0, 0
		}
		f.fixedDirs, f.fixedFiles = cells*(cellDirs-1), cells*cellFiles
	case shapeCell:
		f.dirs, f.files = 2, 5
		f.shape = func(j uint32) shape { return shapeKept + shape(j) }
		f.fixed = func(uint32) (uint32, uint32) { return 0, 2 }
		f.fixedFiles = 4
	}
	return f
}

func cellDirName(s shape) string {
	switch s {
	case shapeKept:
		return "kept"
	case shapeGone:
		return "gone"
	}
	return "moved"
}

// cellName names the files. m has the name that it was renamed to.
func (p *plan) cellName(s shape, i, ord uint32) string {
	switch {
	case s == shapeKept:
		return [...]string{"e", "e2"}[ord]
	case s == shapeGone:
		return [...]string{"x", "y"}[ord]
	case ord == cellM:
		cell := p.node[p.link[i]] - p.first[p.snapDir()]
		return string(appendPadded([]byte("m-"), cell, uint32(p.spec.SnapshotCells), 5))
	}
	return [...]string{"a", "b", "c", "m", "n"}[ord]
}

// snapDir returns the directory number of /snap.
func (p *plan) snapDir() uint32 {
	for j, t := range p.top() {
		if t.shape == shapeSnap {
			return uint32(j + 1)
		}
	}
	panic("imagetest: no snapshot area")
}

func cellFile(s shape, ord uint32, r uint64) file {
	f := file{rep: 3, blockSize: snapBlock, size: 1000 + r%1_000_000}
	if s == shapeCell && ord == cellA {
		f.rep, f.size = 2, snapBlock // its first block; the second is in the diff
	}
	return f
}

// truncated is the size of the block that a lost.
func (p *plan) truncated(a uint32) uint64 { return 1 + p.roll(a, 17)%(snapBlock-1) }

// cell is one snapshot cell by inode numbers.
type cell struct {
	dir                     uint32 // directory number
	s0, s1                  uint32 // snapshot ids
	kept, gone              uint32
	a, b, c, m, n, e2, x, y uint32
}

func (p *plan) cell(j uint32) cell {
	snap := p.snapDir()
	d := p.link[p.first[snap]+j]
	at := p.first[d]
	kept, gone := p.link[at], p.link[at+1]
	return cell{
		dir: d, s0: 2 * j, s1: 2*j + 1, kept: at, gone: at + 1,
		a: at + 2 + cellA, b: at + 2 + cellB, c: at + 2 + cellC, m: at + 2 + cellM, n: at + 2 + cellN,
		e2: p.first[kept] + 1, x: p.first[gone], y: p.first[gone] + 1,
	}
}

// snapshotSections writes SNAPSHOT, SNAPSHOT_DIFF and INODE_REFERENCE.
func (e *emitter) snapshotSections() {
	cells := uint32(e.plan.spec.SnapshotCells)
	h := &pb.SnapshotSection{SnapshotCounter: new(2 * cells), NumSnapshots: new(2 * cells)}
	messages := []proto.Message{h}
	for j := range cells {
		c := e.plan.cell(j)
		id := e.plan.id(e.plan.node[c.dir])
		h.SnapshottableDir = append(h.SnapshottableDir, id)
		for k, name := range []string{"s0", "s1"} {
			messages = append(messages, &pb.SnapshotSection_Snapshot{
				SnapshotId: new(c.s0 + uint32(k)),
				Root: &pb.INodeSection_INode{
					Type: pb.INodeSection_INode_DIRECTORY.Enum(), Id: &id, Name: []byte(name),
					Directory: e.dirCopy(e.plan.node[c.dir]),
				},
			})
		}
	}
	e.out.section(SnapshotSection, messages...)
	if cells > 0 {
		e.diffSection(cells)
	}
	e.references(cells)
}

// diffSection writes one sub-section for each of SubSections parts of the cells.
func (e *emitter) diffSection(cells uint32) {
	per := max(1, cells/max(1, uint32(e.plan.spec.SubSections)))
	e.out.begin()
	e.out.write(Unit(e.diffEntry(0, pb.SnapshotDiffSection_DiffEntry_DIRECTORYDIFF, 0))) // the root always has an empty one
	for j := range cells {
		e.out.write(Unit(e.cellDiffs(j, e.plan.cell(j))...))
		if e.plan.spec.SubSections > 1 && (j+1)%per == 0 {
			e.out.endSub(SnapshotDiffSub)
		}
	}
	if e.plan.spec.SubSections > 1 {
		e.out.endSub(SnapshotDiffSub)
	}
	e.out.end(SnapshotDiff)
}

// cellDiffs returns all diff entries of a cell, diffs newest first.
func (e *emitter) cellDiffs(j uint32, c cell) []proto.Message {
	p := e.plan
	const dir = pb.SnapshotDiffSection_DiffEntry_DIRECTORYDIFF
	id := func(i uint32) uint64 { return p.id(i) }
	out := []proto.Message{
		e.diffEntry(p.node[c.dir], dir, 2),
		&pb.SnapshotDiffSection_DirectoryDiff{
			SnapshotId: &c.s1, ChildrenSize: new(uint32(4)), IsSnapshotRoot: new(true), Name: []byte{},
			CreatedListSize: new(uint32(0)), DeletedINode: []uint64{id(c.c)},
		},
		&pb.SnapshotDiffSection_DirectoryDiff{
			SnapshotId: &c.s0, ChildrenSize: new(uint32(6)), IsSnapshotRoot: new(true), Name: []byte{},
			CreatedListSize: new(uint32(1)), DeletedINode: []uint64{id(c.b), id(c.gone)},
			DeletedINodeRef: []uint32{uint32(p.spec.SnapshotCells) + j},
		},
		&pb.SnapshotDiffSection_CreatedListEntry{Name: []byte("n")},
		e.diffEntry(c.kept, dir, 1),
		e.dirDiff(c.kept, c.s0, 1, 1),
		&pb.SnapshotDiffSection_CreatedListEntry{Name: []byte("e2")},
		e.diffEntry(c.gone, dir, 1),
		e.dirDiff(c.gone, c.s0, 2, 0),
	}
	a := e.fileDiff(c.a, c.s0, snapBlock+p.truncated(c.a), 3)
	a.Blocks = []*pb.BlockProto{e.block(c.a, 0, snapBlock), e.block(c.a, 1, p.truncated(c.a))}
	out = append(out, e.diffEntry(c.a, pb.SnapshotDiffSection_DiffEntry_FILEDIFF, 1), a)
	for _, f := range []struct{ i, snapshot uint32 }{{c.b, c.s0}, {c.c, c.s1}, {c.m, c.s0}} {
		out = append(out, e.diffEntry(f.i, pb.SnapshotDiffSection_DiffEntry_FILEDIFF, 1),
			e.fileDiff(f.i, f.snapshot, p.file(f.i).size, 3))
	}
	return out
}

func (e *emitter) diffEntry(i uint32, kind pb.SnapshotDiffSection_DiffEntry_Type, n uint32) proto.Message {
	return &pb.SnapshotDiffSection_DiffEntry{Type: kind.Enum(), InodeId: new(e.plan.id(i)), NumOfDiff: &n}
}

func (e *emitter) dirDiff(i, snapshot, children, created uint32) proto.Message {
	return &pb.SnapshotDiffSection_DirectoryDiff{
		SnapshotId: &snapshot, ChildrenSize: &children, CreatedListSize: &created,
		Name: e.plan.appendName(nil, i), SnapshotCopy: e.dirCopy(i),
	}
}

func (e *emitter) fileDiff(i, snapshot uint32, size uint64, rep uint32) *pb.SnapshotDiffSection_FileDiff {
	p := e.plan
	mtime, atime := p.times(i, p.link[i])
	return &pb.SnapshotDiffSection_FileDiff{
		SnapshotId: &snapshot, FileSize: &size, Name: p.appendName(nil, i),
		SnapshotCopy: &pb.INodeSection_INodeFile{
			Replication: &rep, ModificationTime: &mtime, AccessTime: &atime,
			PreferredBlockSize: new(uint64(snapBlock)), Permission: new(p.permission(p.link[i], 0o644)),
			StoragePolicyID: new(uint32(0)),
		},
	}
}

func (e *emitter) block(i uint32, k int, bytes uint64) *pb.BlockProto {
	return &pb.BlockProto{BlockId: new(blockID(i, k, 0)), GenStamp: new(uint64(genStamp)), NumBytes: &bytes}
}

func (e *emitter) dirCopy(i uint32) *pb.INodeSection_INodeDirectory {
	p := e.plan
	d := p.link[i]
	mtime, _ := p.times(i, d)
	t := p.tracked[p.track[d]]
	m := &pb.INodeSection_INodeDirectory{
		ModificationTime: &mtime, Permission: new(p.permission(d, 0o755)),
		NsQuota: new(^uint64(0)), DsQuota: new(^uint64(0)),
	}
	if t.dir == d {
		m.NsQuota, m.DsQuota = new(uint64(t.ns)), new(uint64(t.ds))
	}
	return m
}

// references writes the targets of the renames first, then their old names.
func (e *emitter) references(cells uint32) {
	var refs []proto.Message
	for j := range cells {
		refs = append(refs, &pb.INodeReferenceSection_INodeReference{
			ReferredId: new(e.plan.id(e.plan.cell(j).m)), DstSnapshotId: new(SnapshotCurrent),
		})
	}
	for j := range cells {
		c := e.plan.cell(j)
		refs = append(refs, &pb.INodeReferenceSection_INodeReference{
			ReferredId: new(e.plan.id(c.m)), Name: []byte("m"), LastSnapshotId: &c.s0,
		})
	}
	e.out.section(INodeReference, refs...)
}

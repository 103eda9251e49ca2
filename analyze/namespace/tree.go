package namespace

import (
	"iter"
	"sync"

	"fsweep/fsimage"
	pb "fsweep/proto/fsimage"
)

// Tree is the namespace of an image. Make one with [Load].
type Tree struct {
	im         *fsimage.Image
	nameSystem *pb.NameSystemSection
	strings    *fsimage.StringTable
	ec         map[uint32]*ecPolicy
	snaps      *snapshotState
	leases     int64
	keep       keepSet // ids that snapshots touch

	// Every inode with a parent: its rank in ids leads to the directory.
	ids      *idSet
	parentOf []Dir
	seen     bitSet // by rank: the inode's record was there

	// Directories with children come first, in the order of their ids in
	// dirSet; after them, in no order, those without.
	dirSet  *idSet
	dirSeen bitSet

	// The columns of directories.
	numDirs    int
	capacity   int // of the columns
	id         column[uint64]
	parent     column[Dir]
	name       column[uint32] // address in names
	permission column[fsimage.Permission]
	mtime      column[int64]
	childCount column[uint32]
	state      column[uint8] // known before the pass over INODE
	attr       column[attributes]
	dirs       column[uint32] // directories in the subtree, itself included
	sums       column[sums]   // of the subtree, without what only snapshots hold
	types      *column[TypeSpace]
	names      names

	quotas map[Dir]Quota
	held   map[Dir]*vec // what snapshots of the subtree hold in addition
	holds  bitSet       // the directories in held, and some more
	kept   keptINodes
	open   []OpenFile
	root   Dir
	ecName []string // by attributes.ec; the first is none

	empty     sync.Once // guards emptySet and emptyDir
	emptySet  *idSet
	emptyDir  []Dir
	duplicate bool // some record stands twice
	shownOnce sync.Once
	shown     *shown // made by snapshots

	policyTotals map[string]FileTotals
	newestMs     int64
	findings     []Finding
}

// attributes are the properties of a directory that fit in a few bits.
type attributes struct {
	policy    uint8 // its own storage policy
	effective uint8 // its own or that of the nearest directory above that has one
	flags     uint8
	ec        uint16 // erasure coding policy: first its own, after loading the effective one
}

// Flags of attributes.
const (
	flagRecord    = 1 << iota // the INode record was there
	flagBadName               // no client can make or use the name
	flagEncrypted             // in an encryption zone
)

// Bits of the column state.
const (
	stateLive    = 1 << iota // reachable from the root
	stateCreated             // has diffs with created lists
)

// sums are the figures of the files of a directory.
type sums struct {
	length, space, one, all int64 // see vec
	files, symlinks         uint32
}

// setNumDirs makes room for n directories in all columns.
func (t *Tree) setNumDirs(n int) {
	if n > t.capacity {
		t.id.grow(n)
		t.parent.grow(n)
		t.name.grow(n)
		t.permission.grow(n)
		t.mtime.grow(n)
		t.childCount.grow(n)
		t.state.grow(n)
		t.attr.grow(n)
		t.dirs.grow(n)
		t.sums.grow(n)
		t.capacity = t.id.capacity()
	}
	t.numDirs = n
}

// NumDirs is the number of directories, those included that only snapshots hold.
func (t *Tree) NumDirs() int { return t.numDirs }

// Root is the directory /.
func (t *Tree) Root() Dir { return t.root }

// ID is the inode id.
func (t *Tree) ID(d Dir) uint64 { return *t.id.at(d) }

// Parent is the directory that d is in, NoDir for the root and for what was
// deleted while a snapshot held it.
func (t *Tree) Parent(d Dir) Dir { return *t.parent.at(d) }

// Name is the last component of d's path, empty for the root. The caller must
// not change it; it lives as long as the tree.
func (t *Tree) Name(d Dir) []byte {
	if t.attr.at(d).flags&flagRecord == 0 {
		return nil
	}
	return t.names.get(*t.name.at(d))
}

// MTimeMs is the modification time in milliseconds since 1970.
func (t *Tree) MTimeMs(d Dir) int64 { return *t.mtime.at(d) }

// Mode is the permission bits.
func (t *Tree) Mode(d Dir) uint16 { return t.permission.at(d).Mode() }

// Owner is the name of the user who owns d.
func (t *Tree) Owner(d Dir) string { return t.OwnerName(*t.permission.at(d)) }

// Group is the name of d's group.
func (t *Tree) Group(d Dir) string { return t.GroupName(*t.permission.at(d)) }

// Live tells whether d can be reached from the root.
func (t *Tree) Live(d Dir) bool { return *t.state.at(d)&stateLive != 0 }

// Dirs gives all live directories, in an order without meaning.
func (t *Tree) Dirs() iter.Seq[Dir] { return t.DirsIn(0, 1) }

// DirsIn gives one of so many parts of about the same size of [Tree.Dirs].
func (t *Tree) DirsIn(part, parts int) iter.Seq[Dir] {
	first, end := t.NumDirs()*part/parts, t.NumDirs()*(part+1)/parts
	return func(yield func(Dir) bool) {
		for d := Dir(first); d < Dir(end); d++ {
			// A list of children whose directory has no record is no directory.
			if t.Live(d) && t.attr.at(d).flags&flagRecord != 0 && !yield(d) {
				return
			}
		}
	}
}

// ChildCount is the number of direct entries of the live tree.
func (t *Tree) ChildCount(d Dir) int64 { return int64(*t.childCount.at(d)) }

// Quota gives the limits of d; false if it has none.
func (t *Tree) Quota(d Dir) (Quota, bool) {
	q, ok := t.quotas[d]
	return q, ok
}

// QuotaDirs gives the live directories that have a quota, in an order without
// meaning.
func (t *Tree) QuotaDirs() []Dir {
	ds := make([]Dir, 0, len(t.quotas))
	for d := range t.quotas {
		if t.Live(d) {
			ds = append(ds, d)
		}
	}
	return ds
}

// subtree gives the sum over d's subtree, without what only snapshots hold, as
// inodes below d see it: before d's own storage policy is applied.
func (t *Tree) subtree(d Dir) vec {
	s := t.sums.at(d)
	v := vec{
		dirs: int64(*t.dirs.at(d)), files: int64(s.files), symlinks: int64(s.symlinks),
		length: s.length, space: s.space, one: s.one, all: s.all,
	}
	if t.types != nil {
		v.types = *t.types.at(d)
	}
	return v
}

// Usage is what the quotas of d are charged (getQuotaUsage of a NameNode that
// was just started from this image), whether d has quotas or not.
func (t *Tree) Usage(d Dir) Usage {
	v := t.subtree(d)
	if h := t.held[d]; h != nil {
		v.add(h)
	}
	v.resolve(t.attr.at(d).effective)
	return v.usage()
}

// Summary is the NameNode's content summary of d.
func (t *Tree) Summary(d Dir) Summary {
	v := t.subtree(d)
	s := Summary{}
	if h := t.held[d]; h != nil {
		v.add(h)
		s.Snapshot = h.counts()
	}
	s.Counts = v.counts()
	return s
}

// Size is the space in bytes and the number of inodes of [Tree.Summary], for who
// compares many directories.
func (t *Tree) Size(d Dir) (space, inodes int64) {
	s := t.sums.at(d)
	space, inodes = s.space, int64(*t.dirs.at(d))+int64(s.files)+int64(s.symlinks)
	if t.holds.has(uint32(d)) {
		if h := t.held[d]; h != nil {
			space, inodes = space+h.space, inodes+h.dirs+h.files+h.symlinks
		}
	}
	return space, inodes
}

// StoragePolicy is the name of the storage policy in force in d, empty if
// unspecified.
func (t *Tree) StoragePolicy(d Dir) string { return policyName(t.attr.at(d).effective) }

// ECPolicy is the name of the erasure coding policy in force in d, empty if
// none.
func (t *Tree) ECPolicy(d Dir) string {
	if name := t.ecName[t.attr.at(d).ec]; name != replicationPolicy {
		return name
	}
	return ""
}

// replicationPolicy is the name of the policy that exempts a directory from the
// erasure coding policy of those above it.
const replicationPolicy = "replication"

// Encrypted tells whether d is in an encryption zone.
func (t *Tree) Encrypted(d Dir) bool { return t.attr.at(d).flags&flagEncrypted != 0 }

// Findings lists what is not as it should be.
func (t *Tree) Findings() []Finding { return t.findings }

// NewestMs is the newest modification or access time of any inode: the image
// was not saved before.
func (t *Tree) NewestMs() int64 { return t.newestMs }

// NumINodes is the number of inodes that have a parent, and the root: about that
// many [Tree.EachINode] shows.
func (t *Tree) NumINodes() int64 { return int64(t.ids.len) + 1 }

// NameSystem is section NS_INFO; the caller must not change it.
func (t *Tree) NameSystem() *pb.NameSystemSection { return t.nameSystem }

// OpenFile is a live file under construction.
type OpenFile struct {
	Parent                    Dir
	Name                      []byte
	ID                        uint64
	Length                    int64 // bytes of its blocks, the last as last reported
	MTimeMs                   int64
	ClientName, ClientMachine string
}

// OpenFiles lists the live files under construction, in an order without
// meaning. The caller must not change them.
func (t *Tree) OpenFiles() []OpenFile { return t.open }

// SnapshotDir is a directory that may have snapshots.
type SnapshotDir struct {
	Dir       Dir
	Snapshots []Snapshot // in the order of the image
}

// Snapshottable lists the snapshottable directories that are live, in an order
// without meaning.
func (t *Tree) Snapshottable() []SnapshotDir {
	ds := make([]SnapshotDir, 0, len(t.snaps.snapshottable))
	for _, id := range t.snaps.snapshottable {
		if d := t.dirOf(id); d != NoDir && t.Live(d) {
			ds = append(ds, SnapshotDir{d, t.snaps.roots.of(id)})
		}
	}
	return ds
}

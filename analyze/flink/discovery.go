package flink

import (
	"iter"
	"slices"

	"fsweep/analyze/namespace"
)

// Discovery is what [Discover] finds. It does not change any more and may be
// used by many goroutines at once.
type Discovery struct {
	// Roots stand in the order of their paths, those of jobs, units and
	// checkpoints in the order of their names, as bytes.
	Roots []*Root
	// Guards are all in the image, by path.
	Guards []Guard

	index *index
}

// Root is a declared root.
type Root struct {
	Declared Declaration
	Path     []byte        // with single slashes
	Dir      namespace.Dir // NoDir if it is missing or no directory
	INodeID  uint64        // also of a file or symlink; 0 if missing
	Totals   Totals
	Flags    Flags
	Marked   bool // all below it is to be kept

	// Misfits stop the root: nothing in it may be planned. First those of the
	// declaration, then by path. At most MaxListed are listed.
	Misfits    []Misfit
	NumMisfits int64

	// Jobs are the job directories. Where the layout has none (RunLayout,
	// HAStorage, Children) or not for all units (savepoints right below the
	// root), what is not grouped is in a job without a name, the first one.
	Jobs []*Job
	// Stores are job-result-store and application-result-store of HAStorage:
	// no clusters, and never units.
	Stores []namespace.Dir
}

// Limits of lists, of which the first in order are kept. The counts are of all.
const (
	MaxListed        = 1000 // misfits of a root
	maxUnknown       = 100  // unknown entries of a directory
	maxUnknownListed = 100  // of a job or a unit
)

// Job is a directory that groups units, or what is not grouped.
type Job struct {
	Name    string // empty: not grouped
	Dir     namespace.Dir
	INodeID uint64
	Totals  Totals
	Flags   Flags
	Marked  bool // all below it is to be kept

	// Excluded: the declaration excludes this directory of the first level, which
	// in a layout without jobs would be a unit. It is not looked into and has no
	// units.
	Excluded bool
	// Selected: the declaration selects it, or none.
	Selected bool

	Units []*Unit
	// Unknown are entries that the layout does not have, in the job and in its
	// units: they stop the job. In what is not grouped each stops its unit, and
	// those of units are not here.
	Unknown    []Misfit
	NumUnknown int64
}

// Grouped tells whether j is a directory of its own.
func (j *Job) Grouped() bool { return j.Name != "" }

// UnitKind is what a unit is.
type UnitKind uint8

// The kinds of units.
const (
	RunUnit UnitKind = iota
	SavepointUnit
	ClusterUnit
	ChildUnit
	NoUnit // none
)

// String gives run, savepoint, ha-cluster or child.
func (k UnitKind) String() string {
	return [...]string{"run", "savepoint", "ha-cluster", "child", "none"}[min(k, NoUnit)]
}

// Unit is what is kept or moved as a whole, always a directory. What else the image
// says of that, such as its owner, the tree has.
//
// An image can have a hundred thousand: small fields stand together.
type Unit struct {
	Dir      namespace.Dir
	Kind     UnitKind
	Selected bool // see Job; where units are not grouped, the unit's own
	Flags    Flags
	// Marked: the unit has a marker. MarkedInside: something below has one.
	Marked, MarkedInside bool
	// RunID: it is named by the id of a job or a uuid. ConstantID: by one that
	// later deployments use again, so its age says nothing.
	RunID, ConstantID bool
	// Skeleton: there is neither file nor symlink in it, other than markers.
	Skeleton bool

	Name     string
	INodeID  uint64
	ParentID uint64
	MTimeMs  int64 // of the directory itself

	// Totals of the subtree, the directory included, without what only snapshots
	// hold.
	Totals Totals
	Times  Times
	// NewestFile is the newest mtime of a file or symlink; none if there are only
	// directories and markers.
	NewestFile Stamp
	OpenFiles  int64

	Checkpoints []*Checkpoint // of a run, by number; none if they are Stored
	// Stored are those of a run that has too many for memory; see [Unit.EachCheckpoint].
	Stored *Stored
	// Of a run; Dir is NoDir if there is none.
	Shared, Taskowned Area
	Changelog         *Area  // dstl, which few have; nil if there is none
	Metadata          *File  // of a savepoint
	InProgress        []File // of a savepoint
	Pointers          int64  // HA files of a cluster

	Unknown    []Misfit
	NumUnknown int64

	// Sum is that of all files and symlinks in it, if [Options.Sum] was set.
	Sum Sum
}

// Totals are sums over a subtree.
type Totals = namespace.Counts

// Checkpoint is a chk-N of a run.
type Checkpoint struct {
	N       int64
	INodeID uint64
	MTimeMs int64 // of the directory itself

	Metadata   *File
	InProgress []File // `_metadata` files that were never finished
	Totals     Totals
	Times      Times
	OpenFiles  int64

	Dir                  namespace.Dir
	Flags                Flags
	Marked, MarkedInside bool

	Sum Sum // see Unit
}

// Complete tells whether the checkpoint can be complete: it has a `_metadata`
// that is closed and not empty. Whether the files are there that belong to it,
// only its contents tell, and no image has those.
func (c *Checkpoint) Complete() bool { return c.Metadata.complete() }

// Complete is the same of a savepoint.
func (u *Unit) Complete() bool { return u.Metadata.complete() }

// NewestComplete gives the complete checkpoint with the highest number, nil if there is
// none.
func (u *Unit) NewestComplete() (newest *Checkpoint) {
	if u.Stored != nil {
		return u.Stored.Newest
	}
	for _, c := range slices.Backward(u.Checkpoints) {
		if c.Complete() && (newest == nil || c.N > newest.N) {
			newest = c
		}
	}
	return newest
}

// File is a file.
type File struct {
	Name    string
	INodeID uint64
	Length  int64 // bytes
	MTimeMs int64
	Open    bool // under construction
	// Extra is what [Options.Extra] gave, of an unfinished `_metadata`.
	Extra []byte
}

func (f *File) complete() bool { return f != nil && f.Length > 0 && !f.Open }

// Area is a directory in a run that several checkpoints use.
type Area struct {
	Dir namespace.Dir
	// Directories in it, of file merging and of ForSt operators.
	Merged, ForSt uint32
	INodeID       uint64
	Totals        Totals
	Sum           Sum // see Unit
}

// Exists tells whether the directory is there.
func (a *Area) Exists() bool { return a != nil && a.Dir != namespace.NoDir }

// Place tells what in a unit a time is of.
type Place uint8

// The places.
const (
	NoPlace         Place = iota
	MetadataPlace         // a `_metadata`
	CheckpointPlace       // in a chk-N
	SharedPlace           // in shared
	TaskownedPlace        // in taskowned
	ChangelogPlace        // in dstl
	FilePlace             // any other file or symlink in the unit
	DirectoryPlace        // a directory, that of the unit excepted
	UnitPlace             // the directory of the unit
	numPlaces       = iota
)

// String gives the name, such as taskowned.
func (p Place) String() string {
	return [numPlaces]string{"none", "metadata", "checkpoint", "shared", "taskowned", "changelog", "file", "directory", "unit"}[min(p, UnitPlace)]
}

// Stamp is a time in milliseconds since 1970, and what it is of; NoPlace if
// there is none.
type Stamp struct {
	Ms    int64
	Place Place
}

// later takes over another time if it is newer. Of two that are equal the lower
// place counts, so that the order does not matter.
func (s *Stamp) later(ms int64, p Place) {
	if p != NoPlace && (s.Place == NoPlace || ms > s.Ms || ms == s.Ms && p < s.Place) {
		*s = Stamp{ms, p}
	}
}

// Times are those of a whole subtree. Marker files are in none of them.
type Times struct {
	// Newest and Oldest mtime of anything, directories included. They can be 0,
	// negative or in the future: such an age is unknown.
	Newest   Stamp
	OldestMs int64
	// Rank is Newest without directories that hold a marker file: whoever put it
	// there moved their mtime. None if nothing else is left.
	Rank Stamp
	// UnknownMTimes is the number of mtimes that are 0 or negative.
	UnknownMTimes int64
	// NewestMetadataMs is the newest mtime of a `_metadata` of those that can be
	// complete; 0 if there is none: HasMetadata.
	NewestMetadataMs int64
	HasMetadata      bool
	// NewestDataATimeMs is the newest access time of a file, without what fsweep
	// itself reads (guards); 0 if there is none.
	NewestDataATimeMs int64
}

// Flags are properties of a directory that forbid to move it, or that change
// what moving it does.
type Flags struct {
	Quota, QuotaInside                   bool // itself; a directory below
	Snapshottable, SnapshottableInside   bool
	SnapshotsInside                      bool // itself or a directory below has snapshots
	SnapshotsAbove                       bool // a directory above has
	EncryptionZone, EncryptionZoneInside bool // the root of a zone: itself; a directory below
	Encrypted                            bool // in a zone
}

// Guard is a file that can refer to state anywhere. An image can have millions, so
// its path is made when somebody asks: [Discovery.AppendPath].
type Guard struct {
	Kind    GuardKind
	Open    bool // under construction
	Parent  namespace.Dir
	Name    string
	INodeID uint64
	Length  int64 // bytes
	MTimeMs int64
	Owner   string
}

// AppendPath appends the path of a guard. Of one that no client can name it is that
// of the inode; see [namespace.Tree.AppendPath].
func (d *Discovery) AppendPath(dst []byte, g *Guard) []byte {
	return d.index.t.FilePath(dst, namespace.OpenFile{Parent: g.Parent, Name: []byte(g.Name), ID: g.INodeID})
}

func (x *index) subdirectories(dir namespace.Dir) iter.Seq[namespace.Dir] {
	return func(yield func(namespace.Dir) bool) {
		n := x.at(dir)
		if n == noNode {
			return
		}
		for c := range x.children(n) {
			if !yield(x.dirs[c]) {
				return
			}
		}
	}
}

package namespace

import "math"

// Dir is a directory of a [Tree]: an index without further meaning, valid for
// that tree.
type Dir uint32

// NoDir is no directory.
const NoDir Dir = math.MaxUint32

// The storage types that have quotas, in the order of [TypeSpace].
const (
	Disk = iota
	SSD
	Archive
	Provided
	NVDIMM
	numTypes
)

// TypeNames are HDFS's names of the storage types, by index.
var TypeNames = [numTypes]string{"DISK", "SSD", "ARCHIVE", "PROVIDED", "NVDIMM"}

// TypeSpace is space in bytes by storage type.
type TypeSpace [numTypes]int64

// TypeQuota is a quota in bytes by storage type; Unset where there is none.
type TypeQuota [numTypes]int64

// Unset stands for a quota that is not set.
const Unset = -1

// Quota holds the limits of a directory.
type Quota struct {
	Namespace int64 // inodes; Unset or at least 0
	Space     int64 // bytes; Unset or at least 0
	Type      TypeQuota
}

// HasType tells whether any storage type has a quota.
func (q Quota) HasType() bool {
	for _, v := range q.Type {
		if v != Unset {
			return true
		}
	}
	return false
}

// Usage is what the quotas of a directory are charged for its whole subtree;
// the sums wrap around like the NameNode's.
type Usage struct {
	Namespace int64 // inodes, itself included
	Space     int64 // bytes
	Type      TypeSpace
}

// Counts are the figures of a content summary.
type Counts struct {
	Directories, Files, Symlinks, Length, Space int64
}

// Summary is the NameNode's ContentSummary of a directory: the live tree and
// what its snapshots hold, which stands in Snapshot once more.
type Summary struct {
	Counts
	Snapshot Counts
}

// Live gives the part without what only snapshots hold.
func (s Summary) Live() Counts {
	return Counts{
		s.Directories - s.Snapshot.Directories, s.Files - s.Snapshot.Files, s.Symlinks - s.Snapshot.Symlinks,
		s.Length - s.Snapshot.Length, s.Space - s.Snapshot.Space,
	}
}

// Finding is something in an image that is not as it should be but does not
// make the numbers meaningless.
type Finding struct {
	Code    string   // stable, snake_case
	Count   int64    // how many inodes or the like
	Message string   // a sentence
	INodes  []uint64 // the first few
}

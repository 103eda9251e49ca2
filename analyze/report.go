// Package analyze makes the inventory and quota report of a namespace as a
// value: numbers only, computed from the tree that analyze/namespace loads.
// Writing it down is the business of package reports; the names of its JSON keys
// stand there.
//
// It opens no file and knows no clock: a [Report] depends on the image and the
// options alone, whatever the number of workers.
package analyze

import (
	"fsweep/analyze/namespace"
)

// Report is everything that "fsweep report" shows. All sizes are bytes, all
// times milliseconds since 1970 (UTC). Slices are sorted as their comments say.
type Report struct {
	Source         Source
	Findings       []namespace.Finding
	Totals         Totals // the live tree
	SnapshotTotals Totals // what only snapshots hold
	Quotas         []QuotaRow
	Top            TopDirectories
	Users          []OwnerRow // by space consumed, largest first
	Groups         []OwnerRow // by space consumed, largest first
	StorageTypes   namespace.TypeSpace
	StoragePolicy  []PolicyRow // by name; effective policies of live files
	ErasureCoding  []PolicyRow // by name; of live files
	OpenFiles      OpenFiles
	Snapshots      Snapshots
}

// Totals counts inodes and bytes.
type Totals struct {
	Directories   int64
	Files         int64 // without symlinks
	Symlinks      int64
	Length        int64
	SpaceConsumed int64
}

// INodes is how many inodes there are of all kinds.
func (t *Totals) INodes() int64 { return t.Directories + t.Files + t.Symlinks }

func totals(c namespace.Counts) Totals {
	return Totals{c.Directories, c.Files, c.Symlinks, c.Length, c.Space}
}

// Path is a path with the bytes that HDFS has. Writers decide how to show it.
type Path []byte

// TopDirectories lists the largest directories below the root, by their whole
// subtree; ties are broken by inode id.
type TopDirectories struct {
	BySpace    []DirRow
	ByINodes   []DirRow
	ByChildren []DirRow // direct entries, against HDFS's limit of 1,048,576
}

// DirRow is a directory in a top list. Its figures are the NameNode's content
// summary: they include what only snapshots hold.
type DirRow struct {
	Path     Path
	INodeID  uint64
	Totals         // itself included
	Children int64 // direct entries of the live tree
	Owner    string
}

// OwnerRow sums the live inodes of a user or a group.
type OwnerRow struct {
	Name string
	Totals
}

// PolicyRow sums the live files under a policy. An empty name stands for files
// with none.
type PolicyRow struct {
	Name          string
	Files         int64
	Length        int64
	SpaceConsumed int64
}

// OpenFiles are the live files under construction.
type OpenFiles struct {
	Count  int64
	Length int64
	Oldest []OpenFileRow // by mtime, at most Options.Top
}

// OpenFileRow is a file under construction.
type OpenFileRow struct {
	Path          Path
	INodeID       uint64
	Length        int64
	MTimeMs       int64
	ClientName    string
	ClientMachine string
}

// Snapshots tells about snapshottable directories.
type Snapshots struct {
	Count       int64
	Directories []SnapshottableRow // by path
}

// SnapshottableRow is a snapshottable directory with its snapshots.
type SnapshottableRow struct {
	Path      Path
	INodeID   uint64
	Snapshots []SnapshotRow // by id, the oldest first
	Held      Totals        // only by snapshots, below Path
}

// SnapshotRow is one snapshot.
type SnapshotRow struct {
	ID      uint32
	Name    string
	MTimeMs int64
}

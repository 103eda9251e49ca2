package flink

import (
	"bytes"
	"cmp"
	"slices"
)

// Reason says what is wrong with an entry. The texts are stable.
type Reason string

// Reasons of misfits, which stop their root.
const (
	MissingRoot         Reason = "missing_root"
	RootIsFile          Reason = "root_is_file"
	RootIsSymlink       Reason = "root_is_symlink"
	OverlappingRoots    Reason = "overlapping_roots"
	ExcludedNotFound    Reason = "excluded_not_found"
	SelectedNotFound    Reason = "selected_not_found"
	CheckpointMisplaced Reason = "checkpoint_misplaced" // chk-N, shared, taskowned where a RUN, JOB or the like is expected
	SavepointMisplaced  Reason = "savepoint_misplaced"  // savepoint-* there
	MetadataMisplaced   Reason = "metadata_misplaced"   // `_metadata` there
	RunMisplaced        Reason = "run_misplaced"        // a name of 32 hex digits or a uuid there
	ReservedName        Reason = "reserved_name"
	RunWithoutState     Reason = "run_without_state" // a RUN that holds none of chk-N, shared, taskowned; an empty one may be right
	FileAmongJobs       Reason = "file_among_jobs"
	SymlinkAmongJobs    Reason = "symlink_among_jobs"
	ImpossibleName      Reason = "impossible_name" // one that no client can make
	AmbiguousName       Reason = "ambiguous_name"  // two entries have it
	FlinkState          Reason = "flink_state"     // in layout children
	OpenFileInChild     Reason = "open_file"       // in layout children
)

// Reasons of unknown entries, which stop their job.
const (
	UnknownFile       Reason = "unknown_file"
	UnknownSymlink    Reason = "unknown_symlink"
	UnknownDirectory  Reason = "unknown_directory"
	OddRunName        Reason = "odd_run_name"        // of layout job-run: neither the id of a job nor a uuid
	OddSavepointName  Reason = "odd_savepoint_name"  // savepoint-*, but not as Flink writes it
	OddCheckpointName Reason = "odd_checkpoint_name" // chk-N, but not as Flink writes it
	StrayMetadata     Reason = "stray_metadata"      // a `_metadata` in a unit where Flink puts none
)

// ofDeclaration tells whether a reason is about the declaration of a root, which
// is what people want to read first.
func (r Reason) ofDeclaration() bool {
	switch r {
	case MissingRoot, RootIsFile, RootIsSymlink, OverlappingRoots, ExcludedNotFound, SelectedNotFound:
		return true
	default:
		return false
	}
}

// Misfit is an entry that is not as the layout has it.
type Misfit struct {
	Reason  Reason
	Path    []byte
	INodeID uint64 // 0 if there is none
	Detail  string // a sentence without a full stop, in text form; can be empty
	// Names are those that were not found, as they are, sorted: of ExcludedNotFound and
	// SelectedNotFound, nil of all else.
	Names []string
}

func compareMisfits(a, b Misfit) int {
	first := func(m Misfit) int {
		if m.Reason.ofDeclaration() {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(first(a), first(b)), bytes.Compare(a.Path, b.Path), cmp.Compare(a.INodeID, b.INodeID),
		cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
}

// shortest keeps the first few of many values, whatever the order in which they
// come, and counts all.
type shortest[T any] struct {
	n    int64
	list []T
}

func (s *shortest[T]) add(v T, limit int, compare func(a, b T) int) {
	s.n++
	s.keep(v, limit, compare)
}

func (s *shortest[T]) keep(v T, limit int, compare func(a, b T) int) {
	if s.list = append(s.list, v); len(s.list) >= 2*limit {
		s.cut(limit, compare)
	}
}

func (s *shortest[T]) merge(o *shortest[T], limit int, compare func(a, b T) int) {
	s.n += o.n
	for _, v := range o.list {
		s.keep(v, limit, compare)
	}
}

func (s *shortest[T]) cut(limit int, compare func(a, b T) int) {
	slices.SortFunc(s.list, compare)
	clear(s.list[min(len(s.list), limit):])
	s.list = s.list[:min(len(s.list), limit)]
}

type misfits = shortest[Misfit]

// done gives the list and the number of all.
func done(m *misfits, limit int) ([]Misfit, int64) {
	m.cut(limit, compareMisfits)
	return slices.Clip(m.list), m.n
}

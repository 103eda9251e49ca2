package cleanup

import "fsweep/analyze/flink"

// Rule is why something is kept, selected, deferred or not planned. The texts are
// stable.
type Rule string

// Rules that stop a root.
const (
	Misfits          Rule = "misfits"            // N of them; Path and Text: the first
	NoLiveList       Rule = "no_live_list"       // the layout needs one that names a run
	NoConfigMaps     Rule = "no_configmaps"      // the layout needs a live list with ConfigMaps of high availability
	TieStops         Rule = "on_tie_stop"        // TimeMs twice among the newest of the job Text
	OtherRootStopped Rule = "other_root_stopped" // Path, and preflight is all
	NamesNotFound    Rule = "names_not_found"    // Path: of a root that has not what the policy names
)

// Rules that keep a unit with all that is in it.
const (
	RootStopped   Rule = "root_stopped"  // Text: the first reason
	UnknownEntry  Rule = "unknown_entry" // N in the job or, not grouped, in the unit; Path: the first
	JobExcluded   Rule = "excluded"
	NotSelected   Rule = "not_selected"
	Marked        Rule = "marked"                // Path: what the marker keeps, or below it
	Protected     Rule = "protected"             // Path
	HoldsRoot     Rule = "holds_root"            // Path: of another root
	Pinned        Rule = "pinned"                // Path
	Live          Rule = "live"                  // Text: the id or cluster
	ConstantID    Rule = "constant_id"           // one that ends in 16 zeros
	SeenLive      Rule = "seen_live_before"      // Text: the id
	MayBeRestored Rule = "may_be_restoring_from" // Path: of a run without a complete checkpoint that lives or is younger than LimitMs
)

// Rules that keep a unit, though debris in it may go.
const (
	QuotaDirectory    Rule = "quota_directory" // itself or below
	Snapshottable     Rule = "snapshottable"   // itself or below
	EncryptionZone    Rule = "encryption_zone" // itself or below
	OpenFile          Rule = "open_file"       // N
	UnknownAge        Rule = "unknown_age"     // TimeMs: in the future; or N mtimes that are 0 or negative
	NewestByMetadata  Rule = "newest_by_metadata"
	NewestBySubtree   Rule = "newest_by_subtree" // TimeMs, Place
	NewestByFiles     Rule = "newest_by_files"   // TimeMs, Place: of files and symlinks alone
	NewerThanFiles    Rule = "newer_than_files"  // TimeMs, Place: not before the newest files of number N by files alone
	EqualNewest       Rule = "equal_newest"      // as new as the last of those that are kept
	NewestComplete    Rule = "newest_complete"   // TimeMs: of its `_metadata`
	NewerThanComplete Rule = "newer_than_complete"
	NothingComplete   Rule = "nothing_complete"        // in the job, and it is no skeleton
	CompleteUnknown   Rule = "complete_of_unknown_age" // Path: of a run with the only complete checkpoints of the job, and no skeleton
	WithinKeepWithin  Rule = "keep_within"             // TimeMs, LimitMs
	WithinMinAge      Rule = "min_age"                 // TimeMs, LimitMs
	Accessed          Rule = "accessed"                // TimeMs, LimitMs: data was read
	RunNotKnownDead   Rule = "run_not_known_dead"
	NoRunID           Rule = "no_run_id" // the name is no id, so no live list can have it
)

// Rules that select.
const (
	BeyondKeep           Rule = "beyond_keep"           // a run or savepoint
	EmptySkeleton        Rule = "empty_skeleton"        // a unit without files
	NotLive              Rule = "not_live"              // a run or cluster that no live list has
	RunDead              Rule = "run_dead"              // a savepoint that is not grouped
	OldChild             Rule = "old_child"             //
	IncompleteCheckpoint Rule = "incomplete_checkpoint" // N below that of the newest complete one
	UnfinishedMetadata   Rule = "unfinished_metadata"   // a file beside a complete `_metadata`
	StaleCheckpoint      Rule = "stale_checkpoint"      // opt-in
	UnreferencedFile     Rule = "unreferenced_shared"   // opt-in
)

// Rules that defer.
const (
	BeltItems        Rule = "max_items"
	BeltInodesMove   Rule = "max_inodes_per_move"
	BeltInodes       Rule = "max_inodes"
	BeltBytes        Rule = "max_bytes"
	BeltPercent      Rule = "max_percent_of_root"
	NewerDeferred    Rule = "newer_deferred"      // Path: a newer run of the job
	EarlierPartStays Rule = "other_part_deferred" // Path: a part that must go before
)

// Rules that say why what lies in a kept run is not taken for debris. With them go
// [Marked] and those of flags, open files and unknown ages.
const (
	NoneComplete  Rule = "none_complete"  // in the run, so nothing tells debris from what is being written
	BeingWritten  Rule = "being_written"  // N: of the checkpoint, above Limit, the newest complete one
	StaleOff      Rule = "stale_off"      // N: of the checkpoint; the policy has no rule for it
	AmongNewest   Rule = "among_newest"   // N: of the checkpoint; of the newest Limit complete ones
	NumberedAgain Rule = "numbered_again" // N: of the checkpoint, TimeMs: of its `_metadata`, newer than that of Limit
	SweepOff      Rule = "sweep_off"      // the policy has no rule for files
	DebrisChanged Rule = "debris_changed" // TimeMs, Place, LimitMs, Text: the key of the limit
	DebrisRead    Rule = "debris_read"    // TimeMs, LimitMs, Text: the key of the limit
)

// Rules that are no decision, but say what a decision looked at.
const (
	TimeOfMetadata Rule = "metadata_mtime"
	TimeOfSubtree  Rule = "subtree_mtime"
	TimeOfAccess   Rule = "data_atime"
)

// Fact is a rule with what it saw. Which fields it has stands with the rule; times
// are those of the image in milliseconds since 1970.
type Fact struct {
	Rule    Rule
	TimeMs  int64
	Place   flink.Place // what TimeMs is of
	LimitMs int64       // a length of time
	N       int64       // a number, a position from 1 on
	Limit   int64       // of N
	Path    Path
	Text    string
}

// Kind is what an item is, which says how deep below its root it may stand.
type Kind string

// The kinds of items.
const (
	UnitItem       Kind = "unit"       // where units of the layout are
	CheckpointItem Kind = "checkpoint" // RUN/chk-N
	// FileItem is a file in RUN/chk-N, RUN/shared or RUN/taskowned or, with SplitOf,
	// one of the directories shared and taskowned.
	FileItem  Kind = "file"
	ChildItem Kind = "child" // right below a root of layout children
)

// Item is something that may be moved as a whole.
type Item struct {
	Kind     Kind
	Rule     Rule
	Path     Path
	INodeID  uint64
	ParentID uint64
	// SplitOf is the inode id of the run of which this is a part; 0: of none.
	SplitOf uint64
	Root    *RootDecision
	Job     *JobDecision
	Unit    *UnitDecision // that it is, or lies in
	// Checkpoint is the one that it is or lies in, and File the one in it that it is; nil if
	// it is none.
	Checkpoint *flink.Checkpoint
	File       *flink.File

	Inodes, Bytes       int64
	NeedsReferenceProof bool
	Conditional         bool // by an opt-in rule
	Deferred            []Fact
	// Facts are what its rule saw. Of units and their parts there are none: see
	// [Item.AppendFacts].
	Facts []Fact
}

// AppendFacts appends what selected the item: what its rule saw or, of a unit and its
// parts, the times that ages were counted from.
func (i *Item) AppendFacts(dst []Fact) []Fact {
	if len(i.Facts) > 0 || i.Unit == nil {
		return append(dst, i.Facts...)
	}
	return i.Unit.appendTimes(dst)
}

// Sweep is a directory of a kept run whose files are candidates, each by itself,
// if they are older than the policy wants and no guard refers to them. Discovery
// does not know files.
type Sweep struct {
	Root     *RootDecision
	Job      *JobDecision
	Unit     *UnitDecision
	Path     Path
	INodeID  uint64
	Rule     Rule
	BeforeMs int64 // see Takes
}

// Takes tells whether a file in the directory is as old as the policy wants: it is not
// open, its age is known, and it was neither written nor read since. Times are
// milliseconds since 1970.
func (s *Sweep) Takes(mtimeMs, atimeMs int64, open bool) bool {
	return !open && mtimeMs > 0 && max(mtimeMs, atimeMs) < s.BeforeMs
}

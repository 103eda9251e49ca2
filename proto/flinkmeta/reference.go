package flinkmeta

// Kind tells how a reference names its file or directory.
type Kind uint8

// The kinds of references.
const (
	// File: a whole file, by absolute path.
	File Kind = iota + 1
	// Relative: a whole file, by its path below the directory that holds the
	// _metadata file. After a native savepoint was restored in CLAIM or LEGACY
	// mode Flink wrote such references to files that lie elsewhere (FLINK-39964).
	Relative
	// Segment: a part of a file that several handles share, by absolute path.
	Segment
	// Directory: a whole directory, by absolute path.
	Directory
)

// String gives file, relative, segment or directory.
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Relative:
		return "relative"
	case Segment:
		return "segment"
	case Directory:
		return "directory"
	}
	return "unknown"
}

// Scope tells who uses a segment.
type Scope uint8

// The scopes, with the numbers that they have in the file.
const (
	// Exclusive: one checkpoint. It is also the zero value of what is no segment.
	Exclusive Scope = iota
	// Shared: any number of checkpoints.
	Shared
)

// String gives exclusive or shared.
func (s Scope) String() string {
	switch s {
	case Exclusive:
		return "exclusive"
	case Shared:
		return "shared"
	}
	return "unknown"
}

// Reference is one reference to a file or directory. It and its slices belong
// to the decoder and are valid until the callback returns.
type Reference struct {
	Kind Kind
	// Path as Flink stored it: with scheme and authority (but Relative), not
	// percent-encoded, never empty. Modified UTF-8 is decoded to UTF-8; a
	// surrogate without its partner, which no HDFS name can have, keeps the three
	// bytes of its own (as in WTF-8) and so equals no valid name.
	Path []byte
	// Size in bytes of the file, or of the segment. -1: unknown, which Flink's
	// classes allow of a file and is so of every Directory.
	Size int64
	// Start of a Segment in its file, in bytes.
	Start int64
	Scope Scope // of a Segment
	// LogicalID is Flink's name of a Segment; decoded as Path is.
	LogicalID []byte
	// Offset in the _metadata file of the handle's tag or, of a Directory, of its
	// string.
	Offset int64
}

// Snapshot tells checkpoints from savepoints.
type Snapshot uint8

// The kinds of snapshots.
const (
	// UnknownSnapshot: the file does not tell. That is so of versions 2 and 3.
	UnknownSnapshot Snapshot = iota
	// Checkpoint that Flink made on its own.
	Checkpoint
	// Savepoint that a user asked for.
	Savepoint
)

// String gives unknown, checkpoint or savepoint.
func (s Snapshot) String() string {
	switch s {
	case Checkpoint:
		return "checkpoint"
	case Savepoint:
		return "savepoint"
	default:
		return "unknown"
	}
}

// Format is the format of a savepoint.
type Format uint8

// The formats of savepoints.
const (
	// NoFormat: not known to be a savepoint.
	NoFormat Format = iota
	// Canonical: independent of the state backend; all files are the savepoint's.
	Canonical
	// Native: as the state backend's checkpoints are.
	Native
)

// String gives canonical, native or nothing.
func (f Format) String() string {
	switch f {
	case Canonical:
		return "canonical"
	case Native:
		return "native"
	default:
		return ""
	}
}

// Properties is what the trailer of versions 4 and later says; all false and
// empty in older ones.
type Properties struct {
	// Name of the snapshot's type: "Checkpoint", "Full Checkpoint", "Savepoint",
	// "Terminate Savepoint", "Suspend Savepoint".
	Name string
	// Sharing is which files a checkpoint may share with others: FORWARD_BACKWARD
	// (older and newer ones), FORWARD, NO_SHARING; empty of a savepoint.
	Sharing string
	// Action after a savepoint: NONE, SUSPEND, TERMINATE; empty of a checkpoint.
	Action string

	Forced    bool // not put off by other checkpoints
	Unclaimed bool // belongs to the user, not to the job

	// When Flink itself discards it.
	DiscardSubsumed  bool // when newer ones replace it
	DiscardFinished  bool // when the job finishes
	DiscardCancelled bool // when the job is cancelled; false: RETAIN_ON_CANCELLATION
	DiscardFailed    bool // when the job fails
	DiscardSuspended bool // when the job is suspended
}

// Info is what a _metadata file says beyond its references. Two of them can be
// compared with ==.
type Info struct {
	Version      int32 // 2 to 7
	CheckpointID int64 // N of chk-N

	MasterStates int64
	Operators    int64
	// FinishedOperators of Operators had finished altogether.
	FinishedOperators int64
	// Subtasks that have an entry in the file, finished ones included.
	Subtasks int64
	// FinishedSubtasks of Subtasks had finished: they have no state.
	FinishedSubtasks int64

	// RegionalSubtasks of Subtasks took their state over from an older checkpoint
	// (version 7); OldestRegional is the lowest id of such a checkpoint, 0 if none.
	RegionalSubtasks int64
	OldestRegional   int64

	Kind       Snapshot
	Format     Format // of a savepoint
	Properties Properties

	// References that were handed out, of all kinds.
	References int64
	// InlineHandles hold their state in the file itself, InlineBytes of it.
	InlineHandles int64
	InlineBytes   int64
	// ChangeBytes is the changelog held in the file itself.
	ChangeBytes int64
	// EmptySegments stand where there was nothing to write.
	EmptySegments int64

	// Size of the file in bytes. After an error: what was decoded of it.
	Size int64
}

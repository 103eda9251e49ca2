package journal

import "fsweep/proto/planfile"

// Format is the version of the format that this package writes and reads. A reader
// knows exactly one.
const Format = 1

// Types of lines.
const (
	typeHeader  = "journal"
	typeIntent  = "intent"
	typeDone    = "done"
	typeSkipped = "skipped"
	typeFailed  = "failed"
	typeUnknown = "unknown"
	typeSettled = "settled"
	typeResumed = "resumed"
	typeEnd     = "end"
)

// Line is one line: a pointer to a [Header], [Intent], [Done], [Skipped], [Failed],
// [Unknown], [Settled], [Resumed] or [End].
type Line interface {
	// Stamped gives number, hash and time of the line.
	Stamped() *Stamp

	kind() string
	fields(c *coder)
	check(k *checker) error
}

// Stamp is in every line. [Encoder] sets all but the time.
type Stamp struct {
	Seq  int64 `json:"seq"`   // number of the line, from 1
	Prev Hash  `json:"prev"`  // of the line before; zeros in the first one
	AtMs int64 `json:"at_ms"` // when, milliseconds since 1970 (UTC), by the clock of the host; clocks can be set back
}

// Stamped gives the stamp itself.
func (s *Stamp) Stamped() *Stamp { return s }

// Command is what a process was told to do.
type Command string

// The commands that change a cluster. A dry run has no journal.
const (
	CommandRun      Command = "run"      // carries out a plan
	CommandUndo     Command = "undo"     // moves back what a plan moved
	CommandRehearse Command = "rehearse" // trashes and restores a directory of its own
	CommandUnlock   Command = "unlock"   // takes a lock away
)

// Header is the first line. It is on the disk before anything is asked of a cluster
// that changes it. Its time is the start of the process.
type Header struct {
	Format int64 `json:"format"` // set by the encoder
	Stamp
	Command     Command       `json:"command"`
	Tool        string        `json:"tool"`
	Version     string        `json:"version"`
	Plan        *Plan         `json:"plan,omitempty"`    // of run and undo
	UndoOf      *UndoOf       `json:"undo_of,omitempty"` // of undo, unless it goes by the plan alone
	Nameservice string        `json:"nameservice"`       // or host:port without HA
	NameNode    NameNode      `json:"name_node"`         // that was ACTIVE
	Cluster     *Cluster      `json:"cluster,omitempty"` // that the plan is for; absent if that is not known
	Anchors     []Anchor      `json:"anchors"`           // directories that were found with these ids: the same cluster
	User        planfile.Name `json:"user"`              // as the NameNode knows it
	Host        string        `json:"host"`
	PID         int64         `json:"pid"`
	ClientID    ClientID      `json:"client_id"` // of all calls of this process
}

// Plan names the plan that is carried out, or undone.
type Plan struct {
	File   planfile.Name   `json:"file"` // name, without directories
	Digest planfile.Digest `json:"digest"`
}

// UndoOf names the journal that is undone.
type UndoOf struct {
	File planfile.Name `json:"file"` // name, without directories
	Last Hash          `json:"last"` // its last hash: stands for the whole of it
}

// NameNode is one NameNode of the nameservice.
type NameNode struct {
	Nameservice string `json:"nameservice,omitempty"` // absent without one
	ID          string `json:"id,omitempty"`          // nn1; absent without a nameservice
	Address     string `json:"address"`               // host:port of its RPCs
}

// Cluster tells a cluster from all others, but for copies of it: its NameNodes say the same.
type Cluster struct {
	NamespaceID int64  `json:"namespace_id"`
	ID          string `json:"cluster_id,omitempty"` // absent if it is not known
}

// Anchor is a directory with the id that it was found to have.
type Anchor struct {
	Path    planfile.Path `json:"path"`
	InodeID uint64        `json:"inode_id"`
}

// Purpose says what an intent is for.
type Purpose string

// The purposes.
const (
	PurposeMove   Purpose = "move"   // an item to the trash or the quarantine
	PurposeUndo   Purpose = "undo"   // back to where it was
	PurposeMkdirs Purpose = "mkdirs" // a directory, and what is missing above it
	PurposeLock   Purpose = "lock"   // the rename that takes the lock
	PurposeUnlock Purpose = "unlock" // the one that releases or breaks it
)

// Intent is a change that is going to be asked for: it is on the disk before the first
// byte is sent, so its time is not after that. It has all that is needed to send the
// same again, byte for byte, and to recognise what it did.
type Intent struct {
	Stamp
	Purpose   Purpose       `json:"purpose"`
	Kind      planfile.Kind `json:"kind,omitempty"`       // of the item; of a rehearsal and of locks none
	Path      planfile.Path `json:"path"`                 // what is moved, where it is; of mkdirs: what is made
	InodeID   uint64        `json:"inode_id,omitempty"`   // what is moved
	ParentID  uint64        `json:"parent_id,omitempty"`  // where it is
	Target    planfile.Path `json:"target,omitempty"`     // where it shall be
	TrashRoot planfile.Path `json:"trash_root,omitempty"` // the trash that holds target; then it is a rename to the trash
	// Permission of what mkdirs makes, 01777 and below.
	Permission int64         `json:"permission,omitempty"`
	Undoes     int64         `json:"undoes,omitempty"`         // undo: number of the intent that moved it: in this journal, or in the one that is undone
	Inodes     int64         `json:"inodes,omitempty"`         // of an item, itself included
	Length     int64         `json:"length,omitempty"`         // bytes, of an item
	Space      int64         `json:"space_consumed,omitempty"` // bytes on disk, of an item
	Context    planfile.Name `json:"context,omitempty"`        // for the audit log
	Call       *Call         `json:"call,omitempty"`           // of a rename
}

// Call names one call of one client for ever.
type Call struct {
	ClientID ClientID `json:"client_id"`
	CallID   int64    `json:"call_id"` // 0 to 2^31-1
	NameNode NameNode `json:"name_node"`
}

// Done says that the change happened, as the same process saw.
type Done struct {
	Stamp
	Intent int64 `json:"intent"` // its number
	// Path is where it was found; absent where only ids are known: the trash can have
	// been renamed meanwhile.
	Path planfile.Path `json:"path,omitempty"`
	// Chain has the ids of the directories above, as they were found by climbing from
	// the inode that was moved: its parent first, the one that proves the arrival last.
	// Of mkdirs it is what was made, if that was looked up.
	Chain []uint64 `json:"chain,omitempty"`
}

// Skipped says that a check kept an item where it is.
type Skipped struct {
	Stamp
	Intent  int64           `json:"intent,omitempty"` // if the check came behind it; nothing was sent then, or nothing done
	Kind    planfile.Kind   `json:"kind,omitempty"`
	Path    planfile.Path   `json:"path"`
	InodeID uint64          `json:"inode_id"`
	Rule    string          `json:"rule"` // a stable word
	Facts   []planfile.Fact `json:"facts,omitempty"`
}

// Failed says that something could not be done, and certainly was not.
type Failed struct {
	Stamp
	Intent  int64         `json:"intent,omitempty"` // if there was one
	Kind    planfile.Kind `json:"kind,omitempty"`
	Path    planfile.Path `json:"path"`
	InodeID uint64        `json:"inode_id,omitempty"`
	Class   string        `json:"class"`             // of the error: that of Hadoop, or a word
	Message planfile.Name `json:"message,omitempty"` // at most 8 KiB; the encoder cuts it
}

// Unknown says that the answer to a call was lost. The intent stays open.
type Unknown struct {
	Stamp
	Intent  int64         `json:"intent"`
	Class   string        `json:"class"`
	Message planfile.Name `json:"message,omitempty"` // at most 8 KiB; the encoder cuts it
}

// How says what became of an intent.
type How string

// The ways of being settled.
const (
	Arrived     How = "arrived"      // it happened
	NotHappened How = "not-happened" // it did not, and cannot any more
	OtherInode  How = "other-inode"  // another inode than the one that was meant was moved
	Gone        How = "gone"         // the inode is nowhere: whether it was moved cannot be found out any more
)

// Settled says what became of an intent whose process did not see it, or saw something
// unexpected.
type Settled struct {
	Stamp
	Intent   int64           `json:"intent"`
	How      How             `json:"how"`
	Path     planfile.Path   `json:"path,omitempty"`     // where it, or the other inode, was found
	InodeID  uint64          `json:"inode_id,omitempty"` // the other inode
	Chain    []uint64        `json:"chain,omitempty"`    // as in Done
	Evidence []planfile.Fact `json:"evidence,omitempty"`
}

// Resumed says that another process goes on, or the next one after an end.
type Resumed struct {
	Stamp
	Version  string        `json:"version"`
	NameNode NameNode      `json:"name_node"`
	User     planfile.Name `json:"user"`
	Host     string        `json:"host"`
	PID      int64         `json:"pid"`
	ClientID ClientID      `json:"client_id"` // never used before in this journal
	CutBytes int64         `json:"cut_bytes"` // of a torn line that was cut off
}

// End is the last line of a process that ended by its own will.
type End struct {
	Stamp
	ExitCode int64  `json:"exit_code"`
	Totals   Totals `json:"totals"` // of the whole journal; the encoder sets all but planned
}

// Totals count items by what became of each at last. What nobody came to is planned
// and nothing else.
type Totals struct {
	Planned int64 `json:"planned"`
	Done    int64 `json:"done"`
	Undone  int64 `json:"undone"` // moved, and moved back
	Skipped int64 `json:"skipped"`
	Failed  int64 `json:"failed"`
	Unknown int64 `json:"unknown"`
	Inodes  int64 `json:"inodes"`         // of those done
	Length  int64 `json:"length"`         // bytes, of those done
	Space   int64 `json:"space_consumed"` // bytes on disk, of those done
}

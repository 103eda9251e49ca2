package probe

// Code names a kind of finding for programs. The words are part of the contract of
// the output; docs/operations.md explains each.
type Code string

// The codes.
const (
	NoActive          Code = "no_active_namenode"
	NotSupported      Code = "not_supported"
	NameNodeUnknown   Code = "namenode_not_seen"
	TwoActive         Code = "two_active_namenodes"
	NodesDiffer       Code = "namenodes_of_two_clusters"
	ClockDiffers      Code = "clock_differs"
	CallFailed        Code = "call_failed"
	InSafeMode        Code = "safe_mode"
	NoTrash           Code = "trash_off"
	TrashTooShort     Code = "trash_interval_too_short"
	NoHome            Code = "home_missing"
	TrashNotUsable    Code = "trash_not_usable"
	TrashNotMade      Code = "trash_not_provisioned"
	StickyBit         Code = "sticky_bit"
	TrashElsewhere    Code = "trash_in_another_zone"
	Superuser         Code = "superuser"
	LockDirMissing    Code = "lock_dir_missing"
	LockDirNotUsable  Code = "lock_dir_not_usable"
	Locked            Code = "locked"
	QuarantineMissing Code = "quarantine_missing"
	QuarantineUseless Code = "quarantine_not_usable"
	Held              Code = "hold"
	HoldUnknown       Code = "hold_not_seen"
	AnchorDiffers     Code = "another_cluster"
	AnchorUnknown     Code = "anchor_not_seen"
	PlanExpired       Code = "plan_expired"
	PlanNotExecutable Code = "plan_not_executable"
	PlanExecuted      Code = "plan_executed"
	RootMissing       Code = "root_missing"
	RootNotSeen       Code = "root_not_seen"
	RootNoDirectory   Code = "root_is_no_directory"
	JobMissing        Code = "job_missing"
	RootReplaced      Code = "root_replaced"
	RootNotMovable    Code = "not_movable"
	PartNotMovable    Code = "partly_not_movable"
	MovableUnknown    Code = "movable_not_known"
	BelowSnapshots    Code = "below_snapshottable"
	OnlyObserved      Code = "all_roots_observe"
)

// Codes are all of them.
func Codes() []Code {
	return []Code{
		NoActive, NotSupported, NameNodeUnknown, TwoActive, NodesDiffer, ClockDiffers, CallFailed, InSafeMode, NoTrash, TrashTooShort, NoHome, TrashNotMade, TrashNotUsable,
		TrashElsewhere, Superuser, LockDirMissing, LockDirNotUsable, Locked, QuarantineMissing, QuarantineUseless, Held,
		HoldUnknown, AnchorDiffers, AnchorUnknown, PlanExpired, PlanNotExecutable, PlanExecuted, RootMissing, RootNotSeen, RootNoDirectory,
		RootReplaced, JobMissing, RootNotMovable, PartNotMovable, MovableUnknown, StickyBit, BelowSnapshots, OnlyObserved,
	}
}

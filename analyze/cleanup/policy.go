package cleanup

import "fsweep/proto/policy"

// A policy's own format is in [policy], which the executor reads as well. These are
// its names, under which decisions are written down here and in what uses them.
type (
	// Policy is what a person allows.
	Policy = policy.Policy
	// PolicyError says what is wrong with one.
	PolicyError = policy.Error
	// Overrides are what flags change in one.
	Overrides = policy.Overrides
	// Belts limit what one plan may do.
	Belts = policy.Belts
	// Pace is how fast a plan is carried out.
	Pace = policy.Pace
	// LiveSource names a list of what exists; see [ReadLive].
	LiveSource = policy.LiveSource
	// PinFile names a list of paths to keep; see [ReadPins].
	PinFile = policy.PinFile
	// Waiver lets a guard go unread.
	Waiver = policy.Waiver
	// Root is a directory whose layout is known.
	Root = policy.Root
	// StaleCheckpoints is the rule for old complete checkpoints inside kept runs.
	StaleCheckpoints = policy.StaleCheckpoints
	// UnreferencedShared is the rule for files that no checkpoint refers to.
	UnreferencedShared = policy.UnreferencedShared

	// Layout is the shape of what lies below a root.
	Layout = policy.Layout
	// Mode is whether items of a root may be executed.
	Mode = policy.Mode
	// Preflight is how far a misfit reaches.
	Preflight = policy.Preflight
	// Format is how a live source is written.
	Format = policy.Format
	// Nameservice is the cluster of a policy.
	Nameservice = policy.Nameservice
	// Authority is the one of another cluster.
	Authority = policy.Authority
	// Path is a path in HDFS.
	Path = policy.Path
	// Name is the exact name of an entry of a root.
	Name = policy.Name
	// File is the name of a file on this machine.
	File = policy.File
	// Glob is a name with wildcards.
	Glob = policy.Glob
	// Size is a number of bytes.
	Size = policy.Size
	// Percent is a share.
	Percent = policy.Percent
	// Date is a day in UTC.
	Date = policy.Date
	// Count is a number of things.
	Count = policy.Count
	// Duration is a length of time.
	Duration = policy.Duration
	// Window is a time of day.
	Window = policy.Window
	// InodeID is the id that the NameNode gave an inode.
	InodeID = policy.InodeID
)

// Words of a policy.
const (
	JobRun     = policy.JobRun
	Run        = policy.Run
	Savepoints = policy.Savepoints
	HAStorage  = policy.HAStorage
	Children   = policy.Children

	Observe = policy.Observe
	Execute = policy.Execute

	StopOnTie     = policy.StopOnTie
	PreflightRoot = policy.PreflightRoot
	PreflightAll  = policy.PreflightAll

	Lines      = policy.Lines
	Kubernetes = policy.Kubernetes
	FlinkREST  = policy.FlinkREST
)

// MaxPolicyBytes is the size of the largest file that [ParsePolicy] reads.
const MaxPolicyBytes = policy.MaxBytes

// ParsePolicy reads a policy: [policy.Parse].
func ParsePolicy(name string, src []byte) (*Policy, error) { return policy.Parse(name, src) }

// AnyPath gives the path that a person asks about: [policy.AnyPath].
func AnyPath(s string, ns Nameservice) (Path, error) { return policy.AnyPath(s, ns) }

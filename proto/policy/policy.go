package policy

import (
	"fmt"
	"slices"
	"time"
)

// Version is the version of policies that this package reads.
const Version = 1

// Policy is what a policy file says, with the defaults of all keys that it leaves
// out. [Parse] and [Policy.With] make one; whoever has one has a valid one.
//
// The tags are the contract of the file. yaml is the key. need is "always", or the
// layouts of roots for which the key must be there. layouts are those for which it
// may be there; without this tag it may for all.
// What each key means stands in policy.schema.json.
type Policy struct {
	Version            Count           `yaml:"version" need:"always"`
	Nameservice        Nameservice     `yaml:"nameservice" need:"always"`
	Preflight          Preflight       `yaml:"preflight"`
	Removal            Removal         `yaml:"removal"`
	ImageMaxAge        Duration        `yaml:"image_max_age"`
	PlanTTL            Duration        `yaml:"plan_ttl"`
	GuardAge           Duration        `yaml:"guard_age"`
	UnreadableGuard    UnreadableGuard `yaml:"unreadable_guard"`
	ForeignAuthorities []Authority     `yaml:"foreign_authorities"`
	Belts              Belts           `yaml:"belts"`
	Pace               Pace            `yaml:"pace"`
	LockDir            Path            `yaml:"lock_dir" need:"always"`
	HoldPaths          []Path          `yaml:"hold_paths"` // default: HOLD in the lock directory
	Protect            []Path          `yaml:"protect"`
	Pins               []PinFile       `yaml:"pins"`
	Live               []LiveSource    `yaml:"live"`
	LiveState          File            `yaml:"live_state"` // empty: beside the policy
	LiveMemory         Duration        `yaml:"live_memory"`
	WaiveGuards        []Waiver        `yaml:"waive_guards"`
	Roots              []Root          `yaml:"roots" need:"always"`
	Watermarks         Watermarks      `yaml:"watermarks"`
	Capacity           Capacity        `yaml:"capacity"`

	notes []string
	name  string // of the file, for messages
}

// Belts limit what one plan may do.
type Belts struct {
	MaxItems         Count    `yaml:"max_items"`
	MaxInodesPerMove Count    `yaml:"max_inodes_per_move"`
	MaxInodes        Count    `yaml:"max_inodes"`
	MaxBytes         Size     `yaml:"max_bytes"` // 0: no limit
	MaxPercentOfRoot Percent  `yaml:"max_percent_of_root"`
	MinTrashInterval Duration `yaml:"min_trash_interval"`
}

// Pace is how fast a plan is carried out.
type Pace struct {
	BetweenItems   Duration `yaml:"between_items"`
	Batch          Count    `yaml:"batch"`
	BetweenBatches Duration `yaml:"between_batches"`
	BetweenRoots   Duration `yaml:"between_roots"`
	RPCTimeout     Duration `yaml:"rpc_timeout"`
	Window         Window   `yaml:"window"` // local time of the executor
	StopOn         StopOn   `yaml:"stop_on"`
}

// PinFile names a list of paths to keep.
type PinFile struct {
	File   File     `yaml:"file" need:"always"`
	MaxAge Duration `yaml:"max_age"`
}

// LiveSource names a list of what exists.
type LiveSource struct {
	File   File     `yaml:"file" need:"always"`
	Format Format   `yaml:"format" need:"always"`
	MaxAge Duration `yaml:"max_age"`
}

// Waiver lets a guard go unread. After its last day the guard counts again.
type Waiver struct {
	InodeID InodeID `yaml:"inode_id" need:"always"`
	Reason  Reason  `yaml:"reason" need:"always"`
	Expires Date    `yaml:"expires" need:"always"` // the last day, UTC
}

// Root is a directory whose layout is known.
type Root struct {
	Path        Path     `yaml:"path" need:"always"`
	Layout      Layout   `yaml:"layout" need:"always"`
	Mode        Mode     `yaml:"mode"`
	Names       []Glob   `yaml:"names" need:"children" layouts:"children"`
	JobMap      File     `yaml:"job_map" layouts:"savepoints"`
	Keep        Count    `yaml:"keep" layouts:"job-run,savepoints"`
	KeepWithin  Duration `yaml:"keep_within" layouts:"job-run,savepoints"`
	MinAge      Duration `yaml:"min_age" need:"children"`
	OnTie       OnTie    `yaml:"on_tie" layouts:"job-run,savepoints"`
	ExcludeJobs []Name   `yaml:"exclude_jobs"`
	Jobs        []Name   `yaml:"jobs"` // only these; empty: all
	Ignore      []Name   `yaml:"ignore"`

	IncompleteCheckpoints IncompleteCheckpoints `yaml:"incomplete_checkpoints" layouts:"job-run,run"`
	StaleCheckpoints      *StaleCheckpoints     `yaml:"stale_checkpoints" layouts:"job-run,run"`   // nil: off
	UnreferencedShared    *UnreferencedShared   `yaml:"unreferenced_shared" layouts:"job-run,run"` // nil: off
}

// IncompleteCheckpoints is the rule for debris inside kept runs.
type IncompleteCheckpoints struct {
	OlderThan Duration `yaml:"older_than"`
}

// StaleCheckpoints is the rule for old complete checkpoints inside kept runs.
type StaleCheckpoints struct {
	KeepNewest Count    `yaml:"keep_newest" need:"always"`
	OlderThan  Duration `yaml:"older_than" need:"always"`
}

// UnreferencedShared is the rule for files that no checkpoint refers to.
type UnreferencedShared struct {
	OlderThan Duration `yaml:"older_than" need:"always"`
}

// Watermarks are shares of a quota that a report warns of.
type Watermarks struct {
	Warn     Percent `yaml:"warn"`
	High     Percent `yaml:"high"`
	Critical Percent `yaml:"critical"`
}

// Capacity says how a state's size becomes the quota that it needs:
// size x (retained + extra_retained) x factor.
type Capacity struct {
	Factor        Factor `yaml:"factor"`
	ExtraRetained Count  `yaml:"extra_retained"`
}

const hour = Duration(time.Hour)

// Defaults gives a policy that has all defaults and nothing else, so it is not a
// valid one yet.
func Defaults() Policy {
	return Policy{
		Preflight: PreflightRoot, ImageMaxAge: 26 * hour, PlanTTL: 24 * hour, GuardAge: 24 * hour,
		UnreadableGuard: KeepOwnerAndRoot, LiveMemory: 30 * 24 * hour,
		Belts: Belts{
			MaxItems: 500, MaxInodesPerMove: 100_000, MaxInodes: 500_000, MaxPercentOfRoot: 30,
			MinTrashInterval: 24 * hour,
		},
		Pace: Pace{
			BetweenItems: 200 * Duration(time.Millisecond), Batch: 50, BetweenBatches: 10 * Duration(time.Second),
			BetweenRoots: 60 * Duration(time.Second), RPCTimeout: 30 * Duration(time.Second), Window: Window{From: 60, To: 300},
		},
		Watermarks: Watermarks{Warn: 80, High: 90, Critical: 95},
		Capacity:   Capacity{Factor: 1500, ExtraRetained: 2},
	}
}

// MaxLiveMemory is how long live lists can be remembered at most.
const MaxLiveMemory = 400 * 24 * hour

// holdFile is the hold path of a policy that names none, in its lock directory.
const holdFile = "/HOLD"

func defaultPinFile() PinFile       { return PinFile{MaxAge: 24 * hour} }
func defaultLiveSource() LiveSource { return LiveSource{MaxAge: 2 * hour} }

// DefaultRoot gives the defaults of a layout. What children hold is not known, so
// there is no age at which they can be called old: min_age has no default there.
func DefaultRoot(layout Layout) Root {
	r := Root{Layout: layout, Mode: Observe}
	switch layout {
	case JobRun:
		r.Keep, r.MinAge, r.OnTie = 1, 144*hour, KeepTied
	case Run:
		r.MinAge = 144 * hour
	case Savepoints:
		r.Keep, r.KeepWithin, r.MinAge, r.OnTie = 2, 168*hour, 168*hour, KeepTied
	case HAStorage:
		r.MinAge = 168 * hour
	case Children:
	}
	if layout == JobRun || layout == Run {
		r.IncompleteCheckpoints.OlderThan = 48 * hour
	}
	return r
}

// Groups tells whether runs or savepoints of a root can belong to a job, which is
// what keep and keep_within are about.
func (r *Root) Groups() bool { return r.Layout == JobRun || r.Layout == Savepoints }

// Excludes tells whether an entry of the root is left alone by name.
func (r *Root) Excludes(name string) bool { return slices.Contains(r.ExcludeJobs, Name(name)) }

// Notes tells what flags changed in the direction of removing more, and which roots
// can have no items, a line each.
func (p *Policy) Notes() []string {
	notes := slices.Clone(p.notes)
	for i := range p.Roots {
		if slices.ContainsFunc(p.Protect, func(protected Path) bool { return protected.Holds(p.Roots[i].Path) }) {
			notes = append(notes, fmt.Sprintf("%s is under protect: nothing in it is ever planned", p.Roots[i].Path))
		}
	}
	return notes
}

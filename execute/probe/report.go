package probe

import (
	"time"

	"fsweep/execute"
)

// Report is what a cluster looked like.
type Report struct {
	Nameservice string
	User        string
	Groups      []string // nil: not known
	GroupsErr   error    // why not
	Now         time.Time

	NameNodes   []execute.NameNodeState
	Active      *execute.NameNode // nil: none
	ClusterID   string            // "" if not known
	NamespaceID int64             // 0 if not known

	SafeMode Answer
	Trash    Trash
	Places   []Place // lock directory, quarantine, hold paths, anchors
	Lock     []string
	Roots    []Root

	Findings []Finding
	// Cut is set when the cluster stopped answering, so that not all was asked.
	Cut bool
}

// Answer is yes, no, or not known.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// Trash is what the NameNode says of its trash.
type Trash struct {
	Known       bool // it said so
	Interval    time.Duration
	MinInterval time.Duration // what the policy asks for; 0: nothing
	Snapshot    bool          // snapshottable directories have one of their own
	Roots       []*TrashRoot  // each once: the home's first, then those of roots
}

// TrashRoot is a directory that receives.
type TrashRoot struct {
	execute.TrashRoot
	Zone      string // encryption zone that holds it
	ZoneKnown bool
	Place     Place
	Above     Answer // the directory exists that the user's trash is made in

	roots []string // that use it
}

// Purpose is why a place is looked at.
type Purpose string

// The purposes.
const (
	LockDir    Purpose = "lock_dir"
	Quarantine Purpose = "quarantine"
	Hold       Purpose = "hold"
	Anchor     Purpose = "anchor"
	TrashPlace Purpose = "trash"
)

// Place is a path that must, or must not, be there.
type Place struct {
	Purpose Purpose
	Path    string
	WantID  uint64 // 0: any
	Exists  Answer
	Status  *execute.Status // nil unless it exists
	Usable  Answer          // the user may make entries in it, or it where it is missing
	Reason  string          // why something is No or Unknown
}

// Root is a root of the policy as it is on the cluster.
type Root struct {
	RootOptions
	Exists Answer
	Status *execute.Status // nil unless it exists
	Reason string          // why it is not known to exist, or why nothing can be moved

	Snapshottable []string // at the root or above, outermost first
	Zone          string   // encryption zone, "" if none
	ZoneKnown     bool
	TrashRoot     *execute.TrashRoot // nil: not known, or quarantine

	// Parents are the directories from which units are moved: the root, or the jobs in
	// it. Those that were looked at, and those of them that allow it.
	Parents     int64
	Movable     int64
	Unknown     int64  // parents about which the cluster did not tell
	More        bool   // there are more than were looked at
	Listed      bool   // they are known: what has jobs could be listed
	Refusing    string // the first one that does not allow it
	Sticky      int64  // with the sticky bit, of others: only what is the user's own may go
	StickyFirst string

	blind bool // it is said that the user cannot see it well enough
}

// Level is how bad a finding is.
type Level uint8

// The levels.
const (
	Warning Level = iota // something to know; a run could work
	Partly               // a part would be left out
	Refusal              // nothing would be moved, or nothing in a root
	Failure              // the cluster could not be asked
)

// Finding is something that a person should know.
type Finding struct {
	Code    Code
	Level   Level
	Path    string // what it is about; "" for the cluster as a whole
	Root    string // the root that it concerns alone; "" if all
	Message string // a sentence without path, in which names are quoted
}

// Outcome says what would become of an execute.
type Outcome uint8

// The outcomes.
const (
	Works      Outcome = iota
	Incomplete         // some roots, or jobs in them, would be left out
	Refused            // nothing would be moved
	Failed             // the cluster could not be asked
)

// Outcome sums the findings up. Only roots of mode execute can be moved out of: where
// all of those are stopped, an execute is refused, whatever is found of the others.
func (r *Report) Outcome() Outcome {
	out := Works
	stopped := map[string]bool{}
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.Level == Failure:
			return Failed
		case f.Level == Refusal && f.Root == "":
			out = Refused
		case f.Level == Refusal:
			stopped[f.Root] = true
			out = max(out, Incomplete)
		case f.Level == Partly:
			out = max(out, Incomplete)
		}
	}
	if len(stopped) > 0 && (r.allStopped(stopped, true) || r.allStopped(stopped, false)) {
		out = Refused
	}
	return out
}

// allStopped tells whether there are roots, or roots of mode execute, and all of them
// are stopped.
func (r *Report) allStopped(stopped map[string]bool, executeOnly bool) bool {
	n := 0
	for i := range r.Roots {
		if executeOnly && !r.Roots[i].Execute {
			continue
		}
		if !stopped[r.Roots[i].Path] {
			return false
		}
		n++
	}
	return n > 0
}

package cleanup

import (
	"iter"

	"fsweep/proto/planfile"
)

// Plan is a plan as it is shown. What it has no numbers for is zero.
type Plan struct {
	Header planfile.Header // with what is in force: image, policy, belts, warnings
	Footer planfile.Footer
	Quotas []planfile.Quota
	// File is where the plan was written, Digest of what. Without a file there is
	// nothing that could be executed; - is the standard output.
	File   string
	Digest planfile.Digest

	// Roots may be gone through several times.
	Roots iter.Seq[*Root]
}

// Root is a declared root.
type Root struct {
	planfile.Root
	// Stops are the rules that stop it; of a plan file alone, [planfile.Root] has them.
	Stops []Reason
	// ExcludedNotFound and SelectedNotFound are names of the policy that do not exist.
	ExcludedNotFound, SelectedNotFound []string
	// Misfits are the first of them without those names; NumMisfits is all of them.
	Misfits    []Misfit
	NumMisfits int64

	Jobs iter.Seq[*Job]
}

// Misfit is an entry that is not as the layout has it.
type Misfit struct {
	Path    planfile.Path
	InodeID uint64 // 0: there is none
	Reason  string
	Detail  string // a sentence, can be empty
}

// Job is a directory that groups units, or what a job map groups; without a name,
// what is not grouped.
type Job struct {
	Name    planfile.Name
	Path    planfile.Path // empty: no directory
	InodeID uint64
	Mapped  bool // the job map gives the name
	// Excluded: it was not looked into, so it has no units.
	Excluded bool
	Stopped  []Reason // what keeps all in it
	Totals   Totals   // of the directory; zero without one
	// Unknown are the first entries that the layout does not have, NumUnknown is how
	// many there are.
	Unknown    []Misfit
	NumUnknown int64

	Units iter.Seq[*Unit]
}

// The verdicts.
const (
	Keep      = "keep"      // it stays; what is in its items may still be moved
	Candidate = "candidate" // it, or its parts, would be moved
)

// Unit is what is kept or moved in relation to others: a run, savepoint, cluster or
// child. One that a [Job] yields is valid until the next.
type Unit struct {
	Kind    string // run | savepoint | ha-cluster | child; of a plan file alone also checkpoint | file
	Path    planfile.Path
	InodeID uint64
	Verdict string
	// Reasons: the first one decided. Of a candidate there is one.
	Reasons []Reason
	Times   Times
	Totals  Totals
	// Items are the unit, its parts, or what is in a kept one.
	Items []*Item
	// Sweeps are directories of it whose files are items, too many to be listed.
	Sweeps []Sweep
	// Parts are what is in it, if that is to be shown.
	Parts []Part
	// MoreItems follow Items, and MoreParts stand before Parts, where there are more than
	// memory; nil: there are none. MoreItems are gone through once, each valid until the
	// next; MoreParts may be gone through later, when there is another unit.
	MoreItems iter.Seq[*Item]
	MoreParts iter.Seq[*Part]

	// Detail, if set, makes what only the lines of a unit need, and can be called more
	// than once: all Reasons, of which before only the first is there, without its
	// facts; the Evidence of Items; and Parts. Most units are only counted.
	Detail func()
}

// each gives all items.
func (u *Unit) each(yield func(*Item) bool) {
	for _, i := range u.Items {
		if !yield(i) {
			return
		}
	}
	if u.MoreItems != nil {
		u.detail() // later it is another entry's turn
		u.MoreItems(yield)
	}
}

func (u *Unit) detail() {
	if u.Detail != nil {
		u.Detail()
	}
}

// Times are what ages are counted from.
type Times struct {
	SubtreeMs   int64  // newest mtime of anything; unknown if 0 or negative
	SubtreeOf   string // what has it, such as shared
	HasMetadata bool
	MetadataMs  int64 // newest mtime of a complete checkpoint's `_metadata`
	DataATimeMs int64 // 0: unknown
}

// Totals are sums over a subtree, itself included, without what only snapshots hold.
type Totals struct {
	Files       int64 `json:"files"`
	Directories int64 `json:"directories"`
	Symlinks    int64 `json:"symlinks"`
	Length      int64 `json:"length"`         // bytes
	Space       int64 `json:"space_consumed"` // bytes on disk
}

// INodes is how many inodes that are.
func (t *Totals) INodes() int64 { return t.Files + t.Directories + t.Symlinks }

// Item is an item of a plan, without its directories.
type Item struct {
	planfile.Item
	// Deferrals are all reasons why it is deferred; the plan file has the first.
	Deferrals []Reason
	// Unweighed: what moving it frees was not looked at, so Freed says nothing.
	Unweighed bool
}

// Sweep is a directory in a kept run whose files are items one by one.
type Sweep struct {
	Path    planfile.Path
	InodeID uint64
	Rule    string
	// Files that are items, those that belts defer, and those that stay for their age
	// or because they are open.
	Planned, Deferred, Kept Files
	Freed                   planfile.Freed // by those that are planned
}

// Files are how many, with their bytes.
type Files struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Part is a checkpoint or another directory in a unit.
type Part struct {
	Name     string // chk-7, shared
	InodeID  uint64
	MTimeMs  int64  // newest of anything in it; 0: unknown
	Complete string // of a checkpoint: yes, no or open; else empty
	Totals   Totals
}

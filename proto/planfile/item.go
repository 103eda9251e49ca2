package planfile

import "fsweep/proto/internal/canonical"

// Kind is the kind of an item.
type Kind string

// The kinds of items, each at its own depth below its root.
const (
	KindUnit       Kind = "unit"       // a run, a savepoint, the directory of a cluster
	KindCheckpoint Kind = "checkpoint" // chk-N of a run
	KindFile       Kind = "file"       // in shared or taskowned of a run; an unfinished _metadata in chk-N
	KindChild      Kind = "child"      // a direct child of a root of layout children
)

// Item is something that may be moved: one inode, with all below it. Which items an
// executor moves it decides itself, on the live cluster; never one that is deferred,
// nor one of a root that is only observed.
type Item struct {
	Kind     Kind   `json:"kind"`
	Path     Path   `json:"path"`
	InodeID  uint64 `json:"inode_id"`
	ParentID uint64 `json:"parent_id"`
	Owner    Name   `json:"owner"`
	Group    Name   `json:"group"`
	MTimeMs  int64  `json:"mtime_ms"` // never after the plan's now_ms
	Root     Path   `json:"root"`     // the innermost root that holds it
	Job      Name   `json:"job,omitempty"`
	Run      Name   `json:"run,omitempty"`      // name of the run, savepoint or cluster
	SplitOf  uint64 `json:"split_of,omitempty"` // a part of the run with this inode id, which moves in parts

	Children    int64    `json:"children"` // direct entries; 0 of a file
	Entries     int64    `json:"entries"`  // live inodes, itself included: what one rename moves and the fingerprint counts
	Totals      Totals   `json:"totals"`
	Fingerprint TreeHash `json:"fingerprint"`

	Rule                string `json:"rule"`
	Evidence            []Fact `json:"evidence,omitempty"`
	NeedsReferenceProof bool   `json:"needs_reference_proof,omitempty"` // holds, or held, Flink state
	Conditional         bool   `json:"conditional,omitempty"`           // by an opt-in rule
	Deferred            string `json:"deferred,omitempty"`              // what keeps it back: a belt, or undeletable

	Freed        Freed    `json:"freed"`
	QuotaEffects []Effect `json:"quota_effects,omitempty"` // by inode id

	ref  Ref // of an item that was read: its line
	dirs Ref // and the one behind it
}

// Totals are the NameNode's content summary: what only snapshots hold is included.
type Totals struct {
	Files       int64 `json:"files"` // without symlinks
	Directories int64 `json:"directories"`
	Symlinks    int64 `json:"symlinks"`
	Length      int64 `json:"length"`         // bytes
	Space       int64 `json:"space_consumed"` // bytes on disk
}

// Fact is a part of the evidence: a text or a number.
type Fact struct {
	Name   string `json:"name"` // with the unit of its number
	Text   string `json:"text,omitempty"`
	Number int64  `json:"number,omitempty"` // without text and number: 0
}

// Freed tells when space comes back: bytes on disk.
type Freed struct {
	Now             int64 `json:"now"`
	AfterTrash      int64 `json:"after_trash"`       // when the trash is emptied
	HeldBySnapshots int64 `json:"held_by_snapshots"` // not before snapshots are deleted
}

// Effect is what a move gives back to the quota of a directory, at once; negative
// where it is charged to it.
type Effect struct {
	InodeID uint64    `json:"inode_id"` // of the directory; it has a [Quota] line
	Inodes  int64     `json:"inodes"`
	Space   int64     `json:"space_consumed"` // bytes on disk
	Types   TypeSpace `json:"types"`
}

// TypeSpace is space by storage type, in bytes; absent: 0.
type TypeSpace struct {
	Disk     int64 `json:"DISK,omitempty"`
	SSD      int64 `json:"SSD,omitempty"`
	Archive  int64 `json:"ARCHIVE,omitempty"`
	Provided int64 `json:"PROVIDED,omitempty"`
	NVDIMM   int64 `json:"NVDIMM,omitempty"`
}

// Directory is a directory inside the item whose line stands before, at any depth.
type Directory struct {
	Path     Name   `json:"path"` // below the item: chk-7, shared/a
	InodeID  uint64 `json:"inode_id"`
	MTimeMs  int64  `json:"mtime_ms"` // any value
	Children int64  `json:"children"` // direct entries
}

// IsDirectory tells a directory from a file.
func (i *Item) IsDirectory() bool { return i.Totals.Directories > 0 }

// Ref gives the place of an item that a [Reader] yielded, for [Reader.Item].
func (i *Item) Ref() Ref { return i.ref }

func (i *Item) fields(c *coder) {
	c.Text("kind", (*string)(&i.Kind))
	c.Bytes("path", (*string)(&i.Path), false, false)
	c.ID("inode_id", &i.InodeID, false)
	c.ID("parent_id", &i.ParentID, false)
	c.Bytes("owner", (*string)(&i.Owner), false, true)
	c.Bytes("group", (*string)(&i.Group), false, true)
	c.Number("mtime_ms", &i.MTimeMs)
	c.Bytes("root", (*string)(&i.Root), false, true)
	c.Bytes("job", (*string)(&i.Job), true, true)
	c.Bytes("run", (*string)(&i.Run), true, false)
	c.ID("split_of", &i.SplitOf, true)
	c.Number("children", &i.Children)
	c.Number("entries", &i.Entries)
	if c.Enter("totals") {
		i.Totals.fields(c)
		c.Leave()
	}
	c.Hex("fingerprint", "", i.Fingerprint[:])
	c.Text("rule", &i.Rule)
	canonical.List(c, "evidence", &i.Evidence, (*Fact).fields)
	c.Flag("needs_reference_proof", &i.NeedsReferenceProof)
	c.Flag("conditional", &i.Conditional)
	c.MaybeText("deferred", &i.Deferred)
	if c.Enter("freed") {
		i.Freed.fields(c)
		c.Leave()
	}
	canonical.List(c, "quota_effects", &i.QuotaEffects, (*Effect).fields)
}

func (t *Totals) fields(c *coder) {
	c.Number("files", &t.Files)
	c.Number("directories", &t.Directories)
	c.Number("symlinks", &t.Symlinks)
	c.Number("length", &t.Length)
	c.Number("space_consumed", &t.Space)
}

func (f *Fact) fields(c *coder) {
	c.Text("name", &f.Name)
	c.MaybeText("text", &f.Text)
	c.Maybe("number", &f.Number)
}

func (f *Freed) fields(c *coder) {
	c.Number("now", &f.Now)
	c.Number("after_trash", &f.AfterTrash)
	c.Number("held_by_snapshots", &f.HeldBySnapshots)
}

func (e *Effect) fields(c *coder) {
	c.ID("inode_id", &e.InodeID, false)
	c.Number("inodes", &e.Inodes)
	c.Number("space_consumed", &e.Space)
	e.Types.fields(c, "types")
}

func (t *TypeSpace) fields(c *coder, name string) {
	if !c.Enter(name) {
		return
	}
	c.Maybe("DISK", &t.Disk)
	c.Maybe("SSD", &t.SSD)
	c.Maybe("ARCHIVE", &t.Archive)
	c.Maybe("PROVIDED", &t.Provided)
	c.Maybe("NVDIMM", &t.NVDIMM)
	c.Leave()
}

func (d *Directory) fields(c *coder) {
	c.Bytes("path", (*string)(&d.Path), false, false)
	c.ID("inode_id", &d.InodeID, false)
	c.Number("mtime_ms", &d.MTimeMs)
	c.Number("children", &d.Children)
}

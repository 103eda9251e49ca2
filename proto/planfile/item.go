package planfile

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
	c.text("kind", (*string)(&i.Kind))
	c.bytes("path", (*string)(&i.Path), false, false)
	c.id("inode_id", &i.InodeID, false)
	c.id("parent_id", &i.ParentID, false)
	c.bytes("owner", (*string)(&i.Owner), false, true)
	c.bytes("group", (*string)(&i.Group), false, true)
	c.number("mtime_ms", &i.MTimeMs)
	c.bytes("root", (*string)(&i.Root), false, true)
	c.bytes("job", (*string)(&i.Job), true, true)
	c.bytes("run", (*string)(&i.Run), true, false)
	c.id("split_of", &i.SplitOf, true)
	c.number("children", &i.Children)
	c.number("entries", &i.Entries)
	if c.enter("totals") {
		i.Totals.fields(c)
		c.leave()
	}
	c.hash("fingerprint", "", (*[32]byte)(&i.Fingerprint))
	c.text("rule", &i.Rule)
	list(c, "evidence", &i.Evidence, (*Fact).fields)
	c.flag("needs_reference_proof", &i.NeedsReferenceProof)
	c.flag("conditional", &i.Conditional)
	c.maybeText("deferred", &i.Deferred)
	if c.enter("freed") {
		i.Freed.fields(c)
		c.leave()
	}
	list(c, "quota_effects", &i.QuotaEffects, (*Effect).fields)
}

func (t *Totals) fields(c *coder) {
	c.number("files", &t.Files)
	c.number("directories", &t.Directories)
	c.number("symlinks", &t.Symlinks)
	c.number("length", &t.Length)
	c.number("space_consumed", &t.Space)
}

func (f *Fact) fields(c *coder) {
	c.text("name", &f.Name)
	c.maybeText("text", &f.Text)
	c.maybe("number", &f.Number)
}

func (f *Freed) fields(c *coder) {
	c.number("now", &f.Now)
	c.number("after_trash", &f.AfterTrash)
	c.number("held_by_snapshots", &f.HeldBySnapshots)
}

func (e *Effect) fields(c *coder) {
	c.id("inode_id", &e.InodeID, false)
	c.number("inodes", &e.Inodes)
	c.number("space_consumed", &e.Space)
	e.Types.fields(c, "types")
}

func (t *TypeSpace) fields(c *coder, name string) {
	if !c.enter(name) {
		return
	}
	c.maybe("DISK", &t.Disk)
	c.maybe("SSD", &t.SSD)
	c.maybe("ARCHIVE", &t.Archive)
	c.maybe("PROVIDED", &t.Provided)
	c.maybe("NVDIMM", &t.NVDIMM)
	c.leave()
}

func (d *Directory) fields(c *coder) {
	c.bytes("path", (*string)(&d.Path), false, false)
	c.id("inode_id", &d.InodeID, false)
	c.number("mtime_ms", &d.MTimeMs)
	c.number("children", &d.Children)
}

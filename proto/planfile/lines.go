package planfile

// Types of lines, in the order in which they stand in a file; dir lines stand
// between the items.
const (
	typeHeader = "plan"
	typeKnown  = "known"
	typeGuard  = "guard"
	typeItem   = "item"
	typeDir    = "dir"
	typeQuota  = "quota"
	typeFooter = "footer"
)

// KnownKind says what a known directory or entry is.
type KnownKind string

// The kinds of known entries.
const (
	KnownJob       KnownKind = "job"       // groups runs or savepoints
	KnownRun       KnownKind = "run"       // of a job, or directly in a root of layout run
	KnownSavepoint KnownKind = "savepoint" // of a job or directly in its root
	KnownCluster   KnownKind = "cluster"   // in a root of layout ha-storage
	KnownEntry     KnownKind = "entry"     // anything else directly in a root
)

// Known is something that stood in a root when the image was saved. What an
// executor finds there and is not among these is new.
type Known struct {
	Kind    KnownKind `json:"kind"`
	Path    Path      `json:"path"`
	InodeID uint64    `json:"inode_id"`
	Root    Path      `json:"root"` // the root in which it stands
}

// GuardKind is the kind of a guard.
type GuardKind string

// The kinds of guards.
const (
	GuardMetadata  GuardKind = "metadata"   // _metadata of a checkpoint or savepoint
	GuardHAPointer GuardKind = "ha-pointer" // completedCheckpoint* and the like
)

// Guard is a file that may refer to files anywhere. An executor reads it before
// anything moves; one that lies in an item counts if that item stays.
type Guard struct {
	Kind          GuardKind `json:"kind"`
	Path          Path      `json:"path"`
	InodeID       uint64    `json:"inode_id"`
	Length        int64     `json:"length"`   // bytes; one of 0 bytes guards nothing
	MTimeMs       int64     `json:"mtime_ms"` // any value
	Owner         Name      `json:"owner"`
	Root          Path      `json:"root,omitempty"`            // innermost root that holds it, if any
	Item          uint64    `json:"item,omitempty"`            // inode id of the item that holds it, if any
	Waived        string    `json:"waived,omitempty"`          // why it need not be readable
	WaivedUntilMs int64     `json:"waived_until_ms,omitempty"` // goes with waived
}

// Quota is a directory with a quota that moves would change, before and after the
// move of every item that is not deferred. Absent limits are unset.
type Quota struct {
	Path        Path      `json:"path"`
	InodeID     uint64    `json:"inode_id"`
	NSQuota     *int64    `json:"ns_quota,omitempty"` // inodes
	NSBefore    int64     `json:"ns_used_before"`
	NSAfter     int64     `json:"ns_used_after"`
	DSQuota     *int64    `json:"ds_quota,omitempty"` // bytes on disk
	DSBefore    int64     `json:"ds_used_before"`
	DSAfter     int64     `json:"ds_used_after"`
	TypeQuota   TypeLimit `json:"type_quota"` // bytes
	TypesBefore TypeSpace `json:"type_used_before"`
	TypesAfter  TypeSpace `json:"type_used_after"`
}

// TypeLimit is a quota by storage type, in bytes; absent: unset.
type TypeLimit struct {
	Disk     *int64 `json:"DISK,omitempty"`
	SSD      *int64 `json:"SSD,omitempty"`
	Archive  *int64 `json:"ARCHIVE,omitempty"`
	Provided *int64 `json:"PROVIDED,omitempty"`
	NVDIMM   *int64 `json:"NVDIMM,omitempty"`
}

// Footer is the last line. [Writer] computes it.
type Footer struct {
	Known       int64 `json:"known"`
	Guards      int64 `json:"guards"`
	Items       int64 `json:"items"`
	Directories int64 `json:"dirs"`
	Quotas      int64 `json:"quotas"`
	Planned     Sums  `json:"planned"`  // items that are not deferred, of all roots
	Deferred    Sums  `json:"deferred"` // the others
}

// Sums are totals of items.
type Sums struct {
	Items   int64  `json:"items"`
	Entries int64  `json:"entries"` // live inodes
	Totals  Totals `json:"totals"`
	Freed   Freed  `json:"freed"`
}

func (k *Known) fields(c *coder) {
	c.Text("kind", (*string)(&k.Kind))
	c.Bytes("path", (*string)(&k.Path), false, false)
	c.ID("inode_id", &k.InodeID, false)
	c.Bytes("root", (*string)(&k.Root), false, true)
}

func (g *Guard) fields(c *coder) {
	c.Text("kind", (*string)(&g.Kind))
	c.Bytes("path", (*string)(&g.Path), false, false)
	c.ID("inode_id", &g.InodeID, false)
	c.Number("length", &g.Length)
	c.Number("mtime_ms", &g.MTimeMs)
	c.Bytes("owner", (*string)(&g.Owner), false, true)
	c.Bytes("root", (*string)(&g.Root), true, true)
	c.ID("item", &g.Item, true)
	c.MaybeText("waived", &g.Waived)
	c.Maybe("waived_until_ms", &g.WaivedUntilMs)
}

func (q *Quota) fields(c *coder) {
	c.Bytes("path", (*string)(&q.Path), false, false)
	c.ID("inode_id", &q.InodeID, false)
	c.Optional("ns_quota", &q.NSQuota)
	c.Number("ns_used_before", &q.NSBefore)
	c.Number("ns_used_after", &q.NSAfter)
	c.Optional("ds_quota", &q.DSQuota)
	c.Number("ds_used_before", &q.DSBefore)
	c.Number("ds_used_after", &q.DSAfter)
	if t := &q.TypeQuota; c.Enter("type_quota") {
		c.Optional("DISK", &t.Disk)
		c.Optional("SSD", &t.SSD)
		c.Optional("ARCHIVE", &t.Archive)
		c.Optional("PROVIDED", &t.Provided)
		c.Optional("NVDIMM", &t.NVDIMM)
		c.Leave()
	}
	q.TypesBefore.fields(c, "type_used_before")
	q.TypesAfter.fields(c, "type_used_after")
}

func (f *Footer) fields(c *coder) {
	c.Number("known", &f.Known)
	c.Number("guards", &f.Guards)
	c.Number("items", &f.Items)
	c.Number("dirs", &f.Directories)
	c.Number("quotas", &f.Quotas)
	if c.Enter("planned") {
		f.Planned.fields(c)
		c.Leave()
	}
	if c.Enter("deferred") {
		f.Deferred.fields(c)
		c.Leave()
	}
}

func (s *Sums) fields(c *coder) {
	c.Number("items", &s.Items)
	c.Number("entries", &s.Entries)
	if c.Enter("totals") {
		s.Totals.fields(c)
		c.Leave()
	}
	if c.Enter("freed") {
		s.Freed.fields(c)
		c.Leave()
	}
}

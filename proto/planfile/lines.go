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
	c.text("kind", (*string)(&k.Kind))
	c.bytes("path", (*string)(&k.Path), false, false)
	c.id("inode_id", &k.InodeID, false)
	c.bytes("root", (*string)(&k.Root), false, true)
}

func (g *Guard) fields(c *coder) {
	c.text("kind", (*string)(&g.Kind))
	c.bytes("path", (*string)(&g.Path), false, false)
	c.id("inode_id", &g.InodeID, false)
	c.number("length", &g.Length)
	c.number("mtime_ms", &g.MTimeMs)
	c.bytes("owner", (*string)(&g.Owner), false, true)
	c.bytes("root", (*string)(&g.Root), true, true)
	c.id("item", &g.Item, true)
	c.maybeText("waived", &g.Waived)
	c.maybe("waived_until_ms", &g.WaivedUntilMs)
}

func (q *Quota) fields(c *coder) {
	c.bytes("path", (*string)(&q.Path), false, false)
	c.id("inode_id", &q.InodeID, false)
	c.known("ns_quota", &q.NSQuota)
	c.number("ns_used_before", &q.NSBefore)
	c.number("ns_used_after", &q.NSAfter)
	c.known("ds_quota", &q.DSQuota)
	c.number("ds_used_before", &q.DSBefore)
	c.number("ds_used_after", &q.DSAfter)
	if t := &q.TypeQuota; c.enter("type_quota") {
		c.known("DISK", &t.Disk)
		c.known("SSD", &t.SSD)
		c.known("ARCHIVE", &t.Archive)
		c.known("PROVIDED", &t.Provided)
		c.known("NVDIMM", &t.NVDIMM)
		c.leave()
	}
	q.TypesBefore.fields(c, "type_used_before")
	q.TypesAfter.fields(c, "type_used_after")
}

func (f *Footer) fields(c *coder) {
	c.number("known", &f.Known)
	c.number("guards", &f.Guards)
	c.number("items", &f.Items)
	c.number("dirs", &f.Directories)
	c.number("quotas", &f.Quotas)
	if c.enter("planned") {
		f.Planned.fields(c)
		c.leave()
	}
	if c.enter("deferred") {
		f.Deferred.fields(c)
		c.leave()
	}
}

func (s *Sums) fields(c *coder) {
	c.number("items", &s.Items)
	c.number("entries", &s.Entries)
	if c.enter("totals") {
		s.Totals.fields(c)
		c.leave()
	}
	if c.enter("freed") {
		s.Freed.fields(c)
		c.leave()
	}
}

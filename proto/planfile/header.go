package planfile

import "fsweep/proto/internal/canonical"

// Format is the version of the format that this package writes and reads. A reader
// knows exactly one: what a newer one adds could be a condition of execution.
const Format = 1

// Layout says how the directories of a root are arranged.
type Layout string

// The layouts. Shapes are in docs/format/plan.md.
const (
	LayoutJobRun     Layout = "job-run"
	LayoutRun        Layout = "run"
	LayoutSavepoints Layout = "savepoints"
	LayoutHAStorage  Layout = "ha-storage"
	LayoutChildren   Layout = "children"
)

// Mode says what may become of the items of a root.
type Mode string

// The modes.
const (
	ModeObserve Mode = "observe" // listed, never executed
	ModeExecute Mode = "execute"
)

// Words of the header.
const (
	PreflightRoot = "root" // a misfit stops its root
	PreflightAll  = "all"  // a misfit stops every root

	RemovalTrash      = "trash"
	RemovalQuarantine = "quarantine"

	UnreadableOwnerAndRoot = "owner-and-root"
	UnreadableEverything   = "everything"
)

// Header is the first line: what the plan was made from, and what an executor must
// find before it does anything. Times are milliseconds since 1970 (UTC), durations
// milliseconds.
type Header struct {
	Format      int64  `json:"format"` // set by the writer
	Tool        string `json:"tool"`
	Version     string `json:"version"`
	Source      Source `json:"source"`
	Policy      Policy `json:"policy"`
	NowMs       int64  `json:"now_ms"`      // when the plan was made, or --now; ages count to the image time
	ExpiresMs   int64  `json:"expires_ms"`  // not executable any more
	Nameservice string `json:"nameservice"` // or host:port without HA

	Complete   bool     `json:"complete"`   // every root was planned, none stopped
	Executable bool     `json:"executable"` // an executor may act on it
	Warnings   []string `json:"warnings,omitempty"`

	Preflight          string   `json:"preflight"`
	Removal            string   `json:"removal"`
	Quarantine         []Place  `json:"quarantine,omitempty"` // exactly one if removal is quarantine
	UnreadableGuard    string   `json:"unreadable_guard"`
	GuardAgeMs         int64    `json:"guard_age_ms"`
	ForeignAuthorities []string `json:"foreign_authorities,omitempty"`

	LockDir   Place   `json:"lock_dir"`
	HoldPaths []Place `json:"hold_paths,omitempty"` // while one exists, nothing executes
	Anchors   []Place `json:"anchors,omitempty"`    // long-lived directories: the same cluster has the same ids
	Protect   []Place `json:"protect,omitempty"`    // never in, at or above an item

	Belts Belts   `json:"belts"`
	Pace  Pace    `json:"pace"`
	Live  []Input `json:"live,omitempty"` // read again before the first move
	Pins  []Input `json:"pins,omitempty"`
	Roots []Root  `json:"roots"` // sorted by path
}

// Source is the image.
type Source struct {
	Image           string `json:"image"` // file name, without directories
	MD5             string `json:"md5,omitempty"`
	SizeBytes       int64  `json:"size_bytes"`
	Verified        bool   `json:"verified"` // its .md5 was checked
	TxID            int64  `json:"txid"`
	NamespaceID     int64  `json:"namespace_id"`
	ClusterID       string `json:"cluster_id,omitempty"`
	LayoutVersion   int64  `json:"layout_version"`
	ImageTimeMs     int64  `json:"image_time_ms"`
	ImageTimeSource string `json:"image_time_source"`
}

// Policy names the file that decided.
type Policy struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"` // of its bytes
}

// Place is a path, with its inode id where it exists in the image.
type Place struct {
	Path    Path   `json:"path"`
	InodeID uint64 `json:"inode_id,omitempty"`
}

// Belts bound what one execution may move; 0 is no limit. The plan keeps them
// itself: items of roots with mode execute that are not deferred.
type Belts struct {
	MaxItems           int64 `json:"max_items"`
	MaxInodesPerMove   int64 `json:"max_inodes_per_move"`
	MaxInodes          int64 `json:"max_inodes"` // also of one trash interval, which only an executor can know
	MaxBytes           int64 `json:"max_bytes"`  // without replicas
	MaxPercentOfRoot   int64 `json:"max_percent_of_root"`
	MinTrashIntervalMs int64 `json:"min_trash_interval_ms"`
}

// Pace bounds how fast an executor goes.
type Pace struct {
	BetweenItemsMs   int64  `json:"between_items_ms"`
	Batch            int64  `json:"batch"` // items
	BetweenBatchesMs int64  `json:"between_batches_ms"`
	BetweenRootsMs   int64  `json:"between_roots_ms"`
	RPCTimeoutMs     int64  `json:"rpc_timeout_ms"`
	Window           string `json:"window,omitempty"` // local time of the executor, 01:00-05:00; absent: any
	StopOn           string `json:"stop_on"`          // anomaly | mismatch:5%
}

// Input is a file that is read again by the executor.
type Input struct {
	File     string `json:"file"`
	Format   string `json:"format"` // kubernetes | flink-rest | lines
	MaxAgeMs int64  `json:"max_age_ms"`

	// What it named when the plan was made. Each is compared by itself: one that lost a
	// tenth of its ids is refused, however many paths it has.
	IDs      int64 `json:"ids"` // of jobs
	Clusters int64 `json:"clusters"`
	Paths    int64 `json:"paths"` // all that pins have
}

// Root is a declared directory.
type Root struct {
	Path    Path   `json:"path"`
	InodeID uint64 `json:"inode_id,omitempty"` // absent only where a root is stopped because it is missing
	Layout  Layout `json:"layout"`
	Mode    Mode   `json:"mode"`
	Inodes  int64  `json:"inodes"`            // live inodes in it, itself included: what max_percent_of_root refers to
	Stopped []Stop `json:"stopped,omitempty"` // if any: nothing in it is planned
}

// Stop is a reason why a root was stopped.
type Stop struct {
	Reason  string `json:"reason"`
	Path    Path   `json:"path,omitempty"` // of the misfit
	InodeID uint64 `json:"inode_id,omitempty"`
}

func (h *Header) fields(c *coder) {
	c.Number("format", &h.Format)
	c.Text("tool", &h.Tool)
	c.Text("version", &h.Version)
	if c.Enter("source") {
		h.Source.fields(c)
		c.Leave()
	}
	if c.Enter("policy") {
		c.Text("name", &h.Policy.Name)
		c.Hex("digest", digestPrefix, h.Policy.Digest[:])
		c.Leave()
	}
	c.Number("now_ms", &h.NowMs)
	c.Number("expires_ms", &h.ExpiresMs)
	c.Text("nameservice", &h.Nameservice)
	c.Bool("complete", &h.Complete)
	c.Bool("executable", &h.Executable)
	c.Texts("warnings", &h.Warnings)
	c.Text("preflight", &h.Preflight)
	c.Text("removal", &h.Removal)
	canonical.List(c, "quarantine", &h.Quarantine, (*Place).fields)
	c.Text("unreadable_guard", &h.UnreadableGuard)
	c.Number("guard_age_ms", &h.GuardAgeMs)
	c.Texts("foreign_authorities", &h.ForeignAuthorities)
	if c.Enter("lock_dir") {
		h.LockDir.fields(c)
		c.Leave()
	}
	canonical.List(c, "hold_paths", &h.HoldPaths, (*Place).fields)
	canonical.List(c, "anchors", &h.Anchors, (*Place).fields)
	canonical.List(c, "protect", &h.Protect, (*Place).fields)
	h.limits(c)
	canonical.List(c, "live", &h.Live, (*Input).fields)
	canonical.List(c, "pins", &h.Pins, (*Input).fields)
	canonical.List(c, "roots", &h.Roots, (*Root).fields)
}

func (h *Header) limits(c *coder) {
	if b := &h.Belts; c.Enter("belts") {
		c.Number("max_items", &b.MaxItems)
		c.Number("max_inodes_per_move", &b.MaxInodesPerMove)
		c.Number("max_inodes", &b.MaxInodes)
		c.Number("max_bytes", &b.MaxBytes)
		c.Number("max_percent_of_root", &b.MaxPercentOfRoot)
		c.Number("min_trash_interval_ms", &b.MinTrashIntervalMs)
		c.Leave()
	}
	if p := &h.Pace; c.Enter("pace") {
		c.Number("between_items_ms", &p.BetweenItemsMs)
		c.Number("batch", &p.Batch)
		c.Number("between_batches_ms", &p.BetweenBatchesMs)
		c.Number("between_roots_ms", &p.BetweenRootsMs)
		c.Number("rpc_timeout_ms", &p.RPCTimeoutMs)
		c.MaybeText("window", &p.Window)
		c.Text("stop_on", &p.StopOn)
		c.Leave()
	}
}

func (s *Source) fields(c *coder) {
	c.Text("image", &s.Image)
	c.MaybeText("md5", &s.MD5)
	c.Number("size_bytes", &s.SizeBytes)
	c.Bool("verified", &s.Verified)
	c.Number("txid", &s.TxID)
	c.Number("namespace_id", &s.NamespaceID)
	c.MaybeText("cluster_id", &s.ClusterID)
	c.Number("layout_version", &s.LayoutVersion)
	c.Number("image_time_ms", &s.ImageTimeMs)
	c.Text("image_time_source", &s.ImageTimeSource)
}

func (p *Place) fields(c *coder) {
	c.Bytes("path", (*string)(&p.Path), false, false)
	c.ID("inode_id", &p.InodeID, true)
}

func (i *Input) fields(c *coder) {
	c.Text("file", &i.File)
	c.Text("format", &i.Format)
	c.Number("max_age_ms", &i.MaxAgeMs)
	c.Number("ids", &i.IDs)
	c.Number("clusters", &i.Clusters)
	c.Number("paths", &i.Paths)
}

func (r *Root) fields(c *coder) {
	c.Bytes("path", (*string)(&r.Path), false, true)
	c.ID("inode_id", &r.InodeID, true)
	c.Text("layout", (*string)(&r.Layout))
	c.Text("mode", (*string)(&r.Mode))
	c.Number("inodes", &r.Inodes)
	canonical.List(c, "stopped", &r.Stopped, (*Stop).fields)
}

func (s *Stop) fields(c *coder) {
	c.Text("reason", &s.Reason)
	c.Bytes("path", (*string)(&s.Path), true, false)
	c.ID("inode_id", &s.InodeID, true)
}

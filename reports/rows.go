package reports

import (
	"fsweep/analyze"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// Rows writes the rows of "inventory" and "quota". It is for one goroutine: what
// it needs for a row it re-uses for the next, and a row of an inode without ACL
// and extended attributes allocates nothing.
type Rows struct {
	t         *namespace.Tree
	e         encoder
	inode     inodeRow
	directory directoryRow
}

// NewRows makes a writer of rows about t.
func NewRows(t *namespace.Tree, f Format) *Rows { return &Rows{t: t, e: encoder{format: f}} }

// INodeHeader appends what stands before the first inode.
func (r *Rows) INodeHeader(dst []byte) []byte { return r.e.header(dst, (&inodeRow{}).encode) }

// INode appends a row of "inventory --of inodes".
func (r *Rows) INode(dst []byte, n *namespace.Entry) []byte {
	r.inode.fill(r.t, n)
	return r.e.row(dst, &r.inode)
}

// DirectoryHeader appends what stands before the first directory.
func (r *Rows) DirectoryHeader(dst []byte) []byte { return r.e.header(dst, (&directoryRow{}).encode) }

// Directory appends a row of "inventory --of directories"; n must be one.
func (r *Rows) Directory(dst []byte, n *namespace.Entry) []byte {
	r.directory.fill(r.t, n)
	return r.e.row(dst, &r.directory)
}

// QuotaHeader appends what stands before the first quota.
func (r *Rows) QuotaHeader(dst []byte) []byte {
	return r.e.header(dst, func(e *encoder) { (*quotaRow)(&analyze.QuotaRow{}).encode(e) })
}

// Quota appends a row of "quota".
func (r *Rows) Quota(dst []byte, q *analyze.QuotaRow) []byte { return r.e.row(dst, (*quotaRow)(q)) }

// attributes are the keys that all inodes have.
type attributes struct {
	path                    []byte
	id                      uint64
	owner, group            string
	mode                    uint16
	mtimeMs                 int64
	storagePolicy, ecPolicy string
	encrypted               bool
	acl, xattrs             []string

	fast fast // what neighbours have in common
}

func (a *attributes) fill(n *namespace.Entry) {
	a.id, a.mtimeMs, a.acl, a.xattrs = n.INode.ID, n.MTimeMs(), n.ACL(), n.XAttrs()
	a.storagePolicy, a.ecPolicy, a.encrypted = n.StoragePolicy(), n.ECPolicy(), n.Encrypted()
	a.fast.entry = n
}

func (a *attributes) encodePath(e *encoder) {
	if a.fast.entry == nil || !a.fast.path(e) {
		if a.fast.entry != nil {
			a.path = a.fast.entry.AppendPath(a.path[:0])
		}
		e.bytes("path", "path_b64", a.path)
	}
	e.uint("inode_id", a.id)
}

func (a *attributes) encode(e *encoder) {
	a.encodeOwner(e)
	e.int("mtime_ms", a.mtimeMs)
	a.fast.policy.write(e, policyKey{a.storagePolicy, a.ecPolicy, a.encrypted}, func() {
		e.stringIf("storage_policy", a.storagePolicy)
		e.stringIf("erasure_coding_policy", a.ecPolicy)
		e.bool("encrypted", a.encrypted)
	})
	e.strings("acl", a.acl)
	e.strings("xattrs", a.xattrs)
}

// encodeOwner writes owner, group and permission.
func (a *attributes) encodeOwner(e *encoder) {
	n, at := a.fast.entry, len(e.buf)
	var text *ownerText
	if n != nil && e.format != header {
		var ok bool
		if text, ok = a.fast.owner(n.Permission(), e.format); ok {
			e.buf = append(e.buf, text.text...)
			return
		}
		a.owner, a.group, a.mode = n.Owner(), n.Group(), n.Mode()
	}
	e.string("owner", a.owner)
	e.string("group", a.group)
	e.mode("permission", a.mode)
	if text != nil {
		text.text = append(text.text[:0], e.buf[at:]...)
	}
}

type inodeRow struct {
	attributes
	typ               fsimage.Type
	length, space     int64
	replication       uint64
	blockSize         uint64
	atimeMs           int64
	blocks            []fsimage.Block
	underConstruction bool
	target            []byte
	children          int64
}

func (r *inodeRow) fill(t *namespace.Tree, n *namespace.Entry) {
	in := n.INode
	r.attributes.fill(n)
	r.typ, r.atimeMs = in.Type, n.ATimeMs()
	// What is no file has the zeros that the NameNode answers too.
	r.length, r.space, r.replication, r.blockSize = 0, 0, 0, 0
	switch in.Type {
	case fsimage.FileType:
		r.length, r.space = n.Length(), n.SpaceConsumed()
		r.replication, r.blockSize = uint64(in.File.Replication), in.File.PreferredBlockSize
		if in.File.Striped {
			r.replication = 1 // what HDFS shows
		}
		r.blocks, r.underConstruction = in.File.Blocks, in.File.UnderConstruction
	case fsimage.DirectoryType:
		r.children = t.ChildCount(n.Dir)
	case fsimage.SymlinkType:
		r.target = in.Symlink.Target
	}
}

func (r *inodeRow) encode(e *encoder) {
	file, dir := r.typ == fsimage.FileType, r.typ == fsimage.DirectoryType
	r.encodePath(e)
	e.string("type", r.typ.String())
	e.int("length", r.length)
	e.int("space_consumed", r.space)
	r.fast.layout.write(e, layoutKey{r.replication, r.blockSize}, func() {
		e.uint("replication", r.replication)
		e.uint("block_size", r.blockSize)
	})
	e.int("atime_ms", r.atimeMs)
	r.attributes.encode(e)
	e.boolIf("under_construction", r.underConstruction, file)
	e.intIf("children", r.children, dir)
	e.bytesIf("symlink_target", "symlink_target_b64", r.target, r.typ == fsimage.SymlinkType)
	e.blocks("blocks", r.blocks, file)
}

type directoryRow struct {
	attributes
	quota    namespace.Quota
	hasQuota bool
	usage    namespace.Usage
	summary  namespace.Summary
	children int64
}

func (r *directoryRow) fill(t *namespace.Tree, n *namespace.Entry) {
	r.attributes.fill(n)
	r.quota, r.hasQuota = t.Quota(n.Dir)
	r.usage, r.summary = t.Usage(n.Dir), t.Summary(n.Dir)
	r.children = t.ChildCount(n.Dir)
}

func (r *directoryRow) encode(e *encoder) {
	r.encodePath(e)
	e.intIf("ns_quota", r.quota.Namespace, r.hasQuota && r.quota.Namespace != namespace.Unset)
	e.int("ns_used", r.usage.Namespace)
	e.intIf("ds_quota", r.quota.Space, r.hasQuota && r.quota.Space != namespace.Unset)
	e.int("ds_used", r.usage.Space)
	if e.openObjectIf("type_quota", r.hasQuota && r.quota.HasType()) {
		for i, name := range namespace.TypeNames {
			e.intIf(name, r.quota.Type[i], r.hasQuota && r.quota.Type[i] != namespace.Unset)
		}
		e.closeObject()
	}
	e.types("type_used", &r.usage.Type)
	s := &r.summary
	e.int("directories", s.Directories)
	e.int("files", s.Files)
	e.int("symlinks", s.Symlinks)
	e.int("length", s.Length)
	e.int("space_consumed", s.Space)
	e.int("snapshot_directories", s.Snapshot.Directories)
	e.int("snapshot_files", s.Snapshot.Files)
	e.int("snapshot_symlinks", s.Snapshot.Symlinks)
	e.int("snapshot_length", s.Snapshot.Length)
	e.int("snapshot_space", s.Snapshot.Space)
	e.int("children", r.children)
	r.attributes.encode(e)
}

type quotaRow analyze.QuotaRow

func (r *quotaRow) encode(e *encoder) {
	e.bytes("path", "path_b64", r.Path)
	e.uint("inode_id", r.INodeID)
	e.string("owner", r.Owner)
	e.stringIf("storage_policy", r.StoragePolicy)
	e.charge("ns", &r.Namespace)
	e.charge("ds", &r.Space)
	e.charges(r.Type[:])
	e.boolIf("type_quota_uncharged", true, r.TypeUncharged)
}

func (e *encoder) charge(what string, c *analyze.Charge) {
	percent, hasPercent := c.Percent()
	e.intIf(what+"_quota", c.Quota, c.Set)
	e.int(what+"_used", c.Used)
	e.intIf(what+"_left", c.Left(), c.Set)
	e.percentIf(what+"_percent", percent, hasPercent)
}

// charges writes the figures by storage type, each kind an object of its own.
func (e *encoder) charges(types []analyze.Charge) {
	object := func(key string, set func(*analyze.Charge) bool, write func(name string, c *analyze.Charge)) {
		some := false
		for i := range types {
			some = some || set(&types[i])
		}
		if !e.openObjectIf(key, some) {
			return
		}
		for i, name := range namespace.TypeNames {
			if set(&types[i]) {
				write(name, &types[i])
			} else {
				e.absent(name)
			}
		}
		e.closeObject()
	}
	isSet := func(c *analyze.Charge) bool { return c.Set }
	object("type_quota", isSet, func(name string, c *analyze.Charge) { e.int(name, c.Quota) })
	object("type_used", func(*analyze.Charge) bool { return true }, func(name string, c *analyze.Charge) { e.int(name, c.Used) })
	object("type_left", isSet, func(name string, c *analyze.Charge) { e.int(name, c.Left()) })
	object("type_percent", func(c *analyze.Charge) bool { _, ok := c.Percent(); return ok }, func(name string, c *analyze.Charge) {
		v, _ := c.Percent()
		e.percentIf(name, v, true)
	})
}

package imagetest

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// emitter writes a plan. The hot sections are encoded by hand.
type emitter struct {
	plan  *plan
	out   *stream
	acc   *account
	order []uint32 // inodes in the order of the file

	body, msg, name []byte // scratch
}

// Serial numbers of the names of xattrs; users and groups are those of the plan
// plus one.
const (
	xattrPolicy = 1 + iota
	xattrEC
	xattrOwn
)

func (e *emitter) image() {
	p, s := e.plan, e.out
	lastBlock := blockID(p.n, 0, 0)
	s.section(NSInfo, nsInfoMessage(p.spec.NamespaceID, p.spec.TxID, lastBlock))
	s.section(ErasureCoding, &pb.ErasureCodingSection{Policies: SystemPolicies()})
	e.inodes()
	e.directories()
	e.openFiles()
	e.snapshotSections()
	s.section(SecretManager, emptySecrets())
	s.section(CacheManager, emptyCaches())
	s.section(StringTable, e.strings()...)
	s.finish()
}

func (e *emitter) inodes() {
	p, s := e.plan, e.out
	last := RootID
	for r := idSpan(p.n); r > 0; r-- { // the newest
		if i := p.inodeAt(uint32(r - 1)); i < p.n {
			last = p.id(i)
			break
		}
	}
	s.begin()
	s.write(Unit(&pb.INodeSection{LastInodeId: &last, NumInodes: new(uint64(p.n))}))
	e.each(len(e.order), INodeSub, func(at int) int {
		e.inode(e.order[at])
		return 1
	})
	s.end(INode)
}

// each writes n records and the sub-sections the way the NameNode does: one ends
// after every n/SubSections inodes. f says how many the record at that place is
// for: of a directory's entry they are its children.
func (e *emitter) each(n int, sub string, f func(at int) int) {
	parts := e.plan.spec.SubSections
	per := max(1, int(e.plan.n)/max(1, parts))
	written := 0
	for at := range n {
		if e.out.err != nil {
			return
		}
		written += f(at)
		if parts > 1 && written >= per {
			e.out.endSub(sub)
			written = 0
		}
	}
	if parts > 1 {
		e.out.endSub(sub)
	}
}

func (e *emitter) inode(i uint32) {
	p := e.plan
	b := appendVarintField(e.msg[:0], 1, uint64(p.kind[i]))
	b = appendVarintField(b, 2, p.id(i))
	e.name = p.appendName(e.name[:0], i)
	b = protowire.AppendTag(b, 3, protowire.BytesType)
	b = protowire.AppendBytes(b, e.name)
	field := protowire.Number(4)
	switch Kind(p.kind[i]) {
	case File:
		e.file(i)
	case Directory:
		e.directory(i)
		field = 5
	case Symlink:
		e.symlink(i)
		field = 6
	}
	b = protowire.AppendTag(b, field, protowire.BytesType)
	e.msg = protowire.AppendBytes(b, e.body)
	e.out.record(e.msg)
}

func appendVarintField(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendPermission(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

// file leaves an INodeFile in body and tells the account.
func (e *emitter) file(i uint32) {
	p := e.plan
	d := p.link[i]
	f := p.file(i)
	mtime, atime := p.times(i, d)
	b := e.body[:0]
	if f.ec == 0 {
		b = appendVarintField(b, 1, uint64(f.rep))
	}
	b = appendVarintField(b, 2, mtime)
	b = appendVarintField(b, 3, atime)
	b = appendVarintField(b, 4, f.blockSize)
	b = appendPermission(b, 5, p.permission(d, 0o644))
	f.blocks(func(k int, bytes uint64) {
		id := blockID(i, k, f.ec)
		n := 1 + protowire.SizeVarint(id) + 1 + protowire.SizeVarint(genStamp) + 1 + protowire.SizeVarint(bytes)
		b = protowire.AppendTag(b, 6, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(n))
		b = appendVarintField(b, 1, id)
		b = appendVarintField(b, 2, genStamp)
		b = appendVarintField(b, 3, bytes)
	})
	if f.open {
		b = appendMessage(b, 7, &pb.INodeSection_FileUnderConstructionFeature{
			ClientName: new(fmt.Sprintf("DFSClient_NONMAPREDUCE_%d_1", i)), ClientMachine: new("10.0.0.7"),
		})
	}
	b = e.appendACL(b, 8, i)
	if p.hasXAttr(i) {
		b = appendMessage(b, 9, &pb.INodeSection_XAttrFeatureProto{XAttrs: []*pb.INodeSection_XAttrCompactProto{ownXAttr()}})
	}
	b = appendVarintField(b, 10, uint64(f.policy))
	if f.ec != 0 {
		b = appendVarintField(b, 11, 1)
		b = appendVarintField(b, 12, uint64(f.ec))
	} else {
		b = appendVarintField(b, 11, 0)
	}
	e.body = b
	e.acc.file(i, d, f)
}

func appendMessage(b []byte, field protowire.Number, m proto.Message) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), encode(m))
}

// directory leaves an INodeDirectory in body.
func (e *emitter) directory(i uint32) {
	p := e.plan
	d := p.link[i]
	mtime, _ := p.times(i, d)
	t := &p.tracked[p.track[d]]
	ns, ds := NoQuota, NoQuota
	if t.dir == d {
		ns, ds = t.ns, t.ds
	}
	b := appendVarintField(e.body[:0], 1, mtime)
	b = appendVarintField(b, 2, uint64(ns))
	b = appendVarintField(b, 3, uint64(ds))
	b = appendPermission(b, 4, p.permission(d, 0o755))
	b = e.appendACL(b, 5, i)
	if attrs := e.dirXAttrs(i, d); len(attrs) > 0 {
		b = appendMessage(b, 6, &pb.INodeSection_XAttrFeatureProto{XAttrs: attrs})
	}
	if t.dir == d && t.quota {
		b = appendTypeQuotas(b, t)
	}
	e.body = b
	e.acc.directory(d)
}

func appendTypeQuotas(b []byte, t *tracked) []byte {
	m := &pb.INodeSection_QuotaByStorageTypeFeatureProto{}
	for k, q := range t.typeQuota {
		if q != NoQuota {
			m.Quotas = append(m.Quotas, &pb.INodeSection_QuotaByStorageTypeEntryProto{
				StorageType: typeAt(k).Enum(), Quota: new(uint64(q)),
			})
		}
	}
	if len(m.Quotas) == 0 {
		return b
	}
	return appendMessage(b, 7, m)
}

// dirXAttrs are a directory's policies, and here and there one of a user.
func (e *emitter) dirXAttrs(i, d uint32) []*pb.INodeSection_XAttrCompactProto {
	p := e.plan
	var attrs []*pb.INodeSection_XAttrCompactProto
	if own := p.ownPolicy(d, p.shape[d]); own != 0 {
		attrs = append(attrs, &pb.INodeSection_XAttrCompactProto{
			Name: new(uint32(XAttrSystem<<30 | xattrPolicy<<6)), Value: []byte{own},
		})
	}
	if d > 0 && p.ec[d] != p.ec[p.parent[d]] {
		attrs = append(attrs, &pb.INodeSection_XAttrCompactProto{
			Name: new(uint32(XAttrSystem<<30 | xattrEC<<6)), Value: ecXAttrValue(ecName(p.ec[d])),
		})
	}
	if p.hasXAttr(i) {
		attrs = append(attrs, ownXAttr())
	}
	return attrs
}

func ownXAttr() *pb.INodeSection_XAttrCompactProto {
	return &pb.INodeSection_XAttrCompactProto{Name: new(uint32(XAttrUser<<30 | xattrOwn<<6)), Value: []byte("team-a")}
}

// appendACL appends what `setfacl -m user:…:rwx` leaves: the named user and the
// group's own entry, since the mode's group bits become the mask.
func (e *emitter) appendACL(b []byte, field protowire.Number, i uint32) []byte {
	if !e.plan.hasACL(i) {
		return b
	}
	user := uint32(1 + e.plan.roll(i, 18)%uint64(e.plan.users))
	return appendMessage(b, field, &pb.INodeSection_AclFeatureProto{Entries: []uint32{7 | user<<6, 5 | 1<<3}})
}

// symlink leaves an INodeSymlink in body.
func (e *emitter) symlink(i uint32) {
	p := e.plan
	d := p.link[i]
	mtime, atime := p.times(i, d)
	b := appendPermission(e.body[:0], 1, p.permission(d, 0o777))
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	b = protowire.AppendString(b, "/data/current")
	b = appendVarintField(b, 3, mtime)
	e.body = appendVarintField(b, 4, atime)
	e.acc.symlink(d)
}

func (e *emitter) directories() {
	e.out.begin()
	e.each(len(e.order), INodeDirSub, func(at int) int {
		i := e.order[at]
		if e.plan.kind[i] != uint8(Directory) {
			return 0
		}
		return e.listing(i)
	})
	e.out.end(INodeDir)
}

// listing writes the entry of a directory, if it has children, and says how many.
func (e *emitter) listing(i uint32) int {
	p := e.plan
	d := p.link[i]
	if p.shape[d] == shapeMoved {
		refs := make([]uint32, p.spec.SnapshotCells)
		for j := range refs {
			refs[j] = uint32(j)
		}
		e.out.write(Unit(&pb.INodeDirectorySection_DirEntry{Parent: new(p.id(i)), RefChildren: refs}))
		return len(refs)
	}
	if p.count[d] == 0 {
		return 0
	}
	ids, children := e.body[:0], int(p.count[d])
	if p.shape[d] == shapeCell {
		first := p.first[d] // kept, gone, then the files: see cell
		live := []uint32{first + 2 + cellA, first, first + 2 + cellN}
		for _, c := range live {
			ids = protowire.AppendVarint(ids, p.id(c))
		}
		children = len(live)
	} else {
		for c := p.first[d]; c < p.first[d]+p.count[d]; c++ {
			ids = protowire.AppendVarint(ids, p.id(c))
		}
	}
	e.body = ids
	b := appendVarintField(e.msg[:0], 1, p.id(i))
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	e.msg = protowire.AppendBytes(b, ids)
	e.out.record(e.msg)
	return children
}

func (e *emitter) openFiles() {
	p := e.plan
	e.out.begin()
	for i := range p.n {
		if p.kind[i] == uint8(File) && p.file(i).open {
			e.out.write(Unit(&pb.FilesUnderConstructionSection_FileUnderConstructionEntry{
				InodeId: new(p.id(i)), FullPath: new(string(p.appendPath(nil, i))),
			}))
		}
	}
	e.out.end(FilesUnderConstruction)
}

// strings returns STRING_TABLE with the numbers that permission and the xattrs use.
func (e *emitter) strings() []proto.Message {
	h := &pb.StringTableSection{MaskBits: new(uint32(3))}
	out := []proto.Message{h}
	add := func(kind, id uint32, s string) {
		out = append(out, &pb.StringTableSection_Entry{Id: new(id | kind<<29), Str: &s})
	}
	for u := range e.plan.users {
		name := fmt.Sprintf("user%04d", u)
		if u == 0 {
			name = "hdfs"
		}
		add(stringUser, u+1, name)
	}
	for g := range uint32(e.plan.groups()) {
		add(stringGroup, g+1, fmt.Sprintf("group%03d", g))
	}
	add(stringXAttr, xattrPolicy, policyXAttr)
	add(stringXAttr, xattrEC, ecXAttr)
	add(stringXAttr, xattrOwn, "team")
	h.NumEntry = new(uint32(len(out) - 1))
	return out
}

package imagetest

import (
	"fmt"

	pb "fsweep/proto/fsimage"
)

// Kind says what a node is.
type Kind uint8

// The kinds, with the numbers of the image.
const (
	File      Kind = 1
	Directory Kind = 2
	Symlink   Kind = 3
)

// NoQuota is the stored value of a quota that is not set.
const NoQuota int64 = -1

// RootQuota is the namespace quota that the root and directories with nothing but a
// type quota carry: none.
const RootQuota int64 = 1<<63 - 1

// RootID is the inode id of every root directory.
const RootID uint64 = 16385

// Node is one inode. Make nodes with the methods of [Tree] and change their fields
// before [Tree.Image].
type Node struct {
	Kind    Kind
	ID      uint64
	Name    string // any bytes
	Owner   string
	Group   string
	Mode    uint16
	MTimeMs int64
	ATimeMs int64 // not written for directories

	// Of files. EC > 0 makes the file striped: it has no replication then.
	Blocks      []Block
	Replication uint32
	BlockSize   uint64 // preferred block size in bytes
	Policy      uint32 // storage policy id, 0: unspecified
	EC          uint32 // erasure coding policy id
	Open        *Open  // under construction

	Target string // of symlinks

	// Of directories. Storage and EC policies of directories are xattrs: see
	// SetPolicy and SetEC.
	NSQuota    int64
	DSQuota    int64 // bytes
	TypeQuotas []TypeQuota
	Children   []*Node
	// RefChildren are indices into Tree.References.
	RefChildren []uint32

	ACL    []ACL
	XAttrs []XAttr

	Parent *Node // nil: written, but in nobody's children

	// Edit changes the message before it is written, the way to break it.
	Edit func(*pb.INodeSection_INode)
}

// Block is a block of a file.
type Block struct {
	ID, GenStamp, Bytes uint64
}

// Open marks a file under construction.
type Open struct {
	Client, Machine string
	// Unlisted leaves the file out of FILES_UNDERCONSTRUCTION.
	Unlisted bool
}

// TypeQuota is a storage type quota in bytes.
type TypeQuota struct {
	Type  pb.StorageTypeProto
	Quota int64
}

// ACL is one extended ACL entry.
type ACL struct {
	Default bool
	Type    uint32 // 0 user, 1 group, 2 mask, 3 other
	Name    string
	Perm    uint32 // rwx, 0 to 7
}

// Namespaces of xattrs.
const (
	XAttrUser     = 0
	XAttrTrusted  = 1
	XAttrSecurity = 2
	XAttrSystem   = 3
	XAttrRaw      = 4
)

// XAttr is one extended attribute; the name is without its namespace.
type XAttr struct {
	Namespace uint32
	Name      string
	Value     []byte
}

// Names of xattrs with a meaning for the NameNode.
const (
	policyXAttr = "hsm.block.storage.policy.id"
	ecXAttr     = "hdfs.erasurecoding.policy"
)

// Path returns the node's path in the live tree; a node without parent gives only
// its name.
func (n *Node) Path() string {
	if n.Parent == nil {
		if n.ID == RootID {
			return "/"
		}
		return n.Name
	}
	if n.Parent.Parent == nil && n.Parent.ID == RootID {
		return "/" + n.Name
	}
	return n.Parent.Path() + "/" + n.Name
}

// Own sets owner, group and mode.
func (n *Node) Own(owner, group string, mode uint16) *Node {
	n.Owner, n.Group, n.Mode = owner, group, mode
	return n
}

// Quota sets the namespace quota and the space quota in bytes; NoQuota unsets.
func (n *Node) Quota(namespace, space int64) *Node {
	n.NSQuota, n.DSQuota = namespace, space
	return n
}

// TypeQuota adds a quota for one storage type, in bytes.
func (n *Node) TypeQuota(t pb.StorageTypeProto, bytes int64) *Node {
	n.TypeQuotas = append(n.TypeQuotas, TypeQuota{t, bytes})
	return n
}

// SetPolicy sets a storage policy by id, on a directory as the xattr.
func (n *Node) SetPolicy(id byte) *Node {
	if n.Kind == Directory {
		return n.XAttr(XAttrSystem, policyXAttr, []byte{id})
	}
	n.Policy = uint32(id)
	return n
}

// SetEC sets the erasure coding policy of a directory by name, as the xattr. The
// value is Hadoop's WritableUtils string: BE32 length and the bytes.
func (n *Node) SetEC(name string) *Node {
	return n.XAttr(XAttrSystem, ecXAttr, ecXAttrValue(name))
}

func ecXAttrValue(name string) []byte {
	v := []byte{0, 0, byte(len(name) >> 8), byte(len(name))}
	return append(v, name...)
}

// XAttr adds an extended attribute.
func (n *Node) XAttr(namespace uint32, name string, value []byte) *Node {
	n.XAttrs = append(n.XAttrs, XAttr{namespace, name, value})
	return n
}

// message returns the inode as the NameNode writes it.
func (n *Node) message(s *stringTable) *pb.INodeSection_INode {
	m := &pb.INodeSection_INode{Type: pb.INodeSection_INode_Type(n.Kind).Enum(), Id: &n.ID, Name: []byte(n.Name)}
	switch n.Kind {
	case File:
		m.File = n.file(s)
	case Directory:
		m.Directory = n.directory(s)
	case Symlink:
		m.Symlink = &pb.INodeSection_INodeSymlink{
			Permission:       new(s.permission(n.Owner, n.Group, n.Mode)),
			Target:           []byte(n.Target),
			ModificationTime: new(uint64(n.MTimeMs)),
			AccessTime:       new(uint64(n.ATimeMs)),
		}
	default:
		panic(fmt.Sprintf("imagetest: node %d has no kind", n.ID))
	}
	if n.Edit != nil {
		n.Edit(m)
	}
	return m
}

func (n *Node) file(s *stringTable) *pb.INodeSection_INodeFile {
	f := &pb.INodeSection_INodeFile{
		ModificationTime:   new(uint64(n.MTimeMs)),
		AccessTime:         new(uint64(n.ATimeMs)),
		PreferredBlockSize: new(n.BlockSize),
		Permission:         new(s.permission(n.Owner, n.Group, n.Mode)),
		StoragePolicyID:    new(n.Policy),
		Acl:                s.acl(n.ACL),
		XAttrs:             s.xattrs(n.XAttrs),
	}
	if n.EC > 0 {
		f.BlockType = pb.BlockTypeProto_STRIPED.Enum()
		f.ErasureCodingPolicyID = new(n.EC)
	} else {
		f.BlockType = pb.BlockTypeProto_CONTIGUOUS.Enum()
		f.Replication = new(n.Replication)
	}
	for _, b := range n.Blocks {
		f.Blocks = append(f.Blocks, &pb.BlockProto{BlockId: new(b.ID), GenStamp: new(b.GenStamp), NumBytes: new(b.Bytes)})
	}
	if n.Open != nil {
		f.FileUC = &pb.INodeSection_FileUnderConstructionFeature{ClientName: &n.Open.Client, ClientMachine: &n.Open.Machine}
	}
	return f
}

func (n *Node) directory(s *stringTable) *pb.INodeSection_INodeDirectory {
	d := &pb.INodeSection_INodeDirectory{
		ModificationTime: new(uint64(n.MTimeMs)),
		NsQuota:          new(uint64(n.NSQuota)),
		DsQuota:          new(uint64(n.DSQuota)),
		Permission:       new(s.permission(n.Owner, n.Group, n.Mode)),
		Acl:              s.acl(n.ACL),
		XAttrs:           s.xattrs(n.XAttrs),
	}
	if len(n.TypeQuotas) > 0 {
		d.TypeQuotas = &pb.INodeSection_QuotaByStorageTypeFeatureProto{}
		for _, q := range n.TypeQuotas {
			d.TypeQuotas.Quotas = append(d.TypeQuotas.Quotas, &pb.INodeSection_QuotaByStorageTypeEntryProto{
				StorageType: q.Type.Enum(), Quota: new(uint64(q.Quota)),
			})
		}
	}
	return d
}

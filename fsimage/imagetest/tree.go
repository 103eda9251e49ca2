package imagetest

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// Defaults that a [Tree] gives new nodes.
const (
	DefaultOwner     = "hdfs"
	DefaultGroup     = "supergroup"
	DefaultBlockSize = 128 << 20            // bytes
	DefaultTimeMs    = int64(1767225600000) // 2026-01-01 00:00 UTC
)

// SnapshotCurrent is the snapshot id that a DstReference of the live tree carries.
const SnapshotCurrent uint32 = 0x7ffffffe

// Tree is a small namespace. Ids are given in the order of creation, from RootID.
type Tree struct {
	Root *Node
	// Layout decides the string table's form, so set it before anything that
	// needs a string: SnapshotCopy and Permission.
	Layout      int32
	NamespaceID uint32
	TxID        int64
	NextID      uint64 // id of the next node
	// Buckets is the size of the NameNode's inode table, rounded up to a power of
	// two: inodes are written in its order. 0: in the order of ids.
	Buckets int

	// References is section INODE_REFERENCE; RefChildren and deletedINodeRef index it.
	References []*pb.INodeReferenceSection_INodeReference
	Policies   []*pb.ErasureCodingPolicyProto // section ERASURE_CODING

	nodes        []*Node
	snapshotDirs []uint64
	snapshots    []*pb.SnapshotSection_Snapshot
	diffs        [][]proto.Message
	strings      *stringTable
	nextBlock    uint64
}

// NewTree returns a namespace that holds the root directory only.
func NewTree() *Tree {
	t := &Tree{
		Layout: LayoutCurrent, NamespaceID: 1, TxID: 1, NextID: RootID,
		Policies: SystemPolicies(), nextBlock: 1 << 30,
	}
	t.Root = t.add(nil, Directory, "")
	t.Root.NSQuota = RootQuota
	return t
}

func (t *Tree) add(parent *Node, kind Kind, name string) *Node {
	n := &Node{
		Kind: kind, ID: t.NextID, Name: name, Parent: parent,
		Owner: DefaultOwner, Group: DefaultGroup, Mode: 0o755,
		MTimeMs: DefaultTimeMs, ATimeMs: DefaultTimeMs,
		NSQuota: NoQuota, DSQuota: NoQuota,
	}
	t.NextID++
	t.nodes = append(t.nodes, n)
	if parent != nil {
		parent.Children = append(parent.Children, n)
	}
	return n
}

// Dir returns the directory at the path, made with its parents where missing.
func (t *Tree) Dir(path string) *Node {
	n := t.Root
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		child := n.child(name)
		if child == nil {
			child = t.add(n, Directory, name)
		}
		n = child
	}
	return n
}

// child finds a child by name; nil if there is none.
func (n *Node) child(name string) *Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// File makes a file of replication 3 with one block per size, in bytes.
func (t *Tree) File(path string, sizes ...uint64) *Node {
	dir, name := split(path)
	return t.FileIn(t.Dir(dir), name, sizes...)
}

// FileIn is File in a given directory, under any name, slashes included.
func (t *Tree) FileIn(dir *Node, name string, sizes ...uint64) *Node {
	n := t.add(dir, File, name)
	n.Mode, n.Replication, n.BlockSize = 0o644, 3, DefaultBlockSize
	for _, b := range sizes {
		n.Blocks = append(n.Blocks, t.Block(b))
	}
	return n
}

// DirIn makes a directory in a given one, under any name.
func (t *Tree) DirIn(dir *Node, name string) *Node { return t.add(dir, Directory, name) }

// Symlink makes a symbolic link.
func (t *Tree) Symlink(path, target string) *Node {
	dir, name := split(path)
	n := t.add(t.Dir(dir), Symlink, name)
	n.Mode, n.Target = 0o777, target
	return n
}

// Striped makes an erasure-coded file with one block group per size, in bytes.
func (t *Tree) Striped(path string, policy uint32, sizes ...uint64) *Node {
	n := t.File(path, sizes...)
	n.EC, n.Replication = policy, 0
	for i := range n.Blocks {
		n.Blocks[i].ID = 1<<63 | n.Blocks[i].ID<<4 // group ids are negative, 16 apart
	}
	return n
}

// Block makes a block with a new id.
func (t *Tree) Block(bytes uint64) Block {
	t.nextBlock++
	return Block{ID: t.nextBlock, GenStamp: 1001, Bytes: bytes}
}

func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// Detach takes a node out of its parent's children, as a deletion does that a
// snapshot outlives: the node, and what is below it, is still written.
func (t *Tree) Detach(n *Node) *Node {
	if n.Parent != nil {
		n.Parent.Children = slices.DeleteFunc(n.Parent.Children, func(c *Node) bool { return c == n })
		n.Parent = nil
	}
	return n
}

// Reference appends to References and returns the index for RefChildren or deletedINodeRef.
func (t *Tree) Reference(ref *pb.INodeReferenceSection_INodeReference) uint32 {
	t.References = append(t.References, ref)
	return uint32(len(t.References) - 1)
}

// WithName returns a reference for a deleted list: the node as it was at lastSnapshot.
func (t *Tree) WithName(n *Node, name string, lastSnapshot uint32) uint32 {
	return t.Reference(&pb.INodeReferenceSection_INodeReference{
		ReferredId: &n.ID, Name: []byte(name), LastSnapshotId: &lastSnapshot,
	})
}

// DstReference puts the node below dir as the target of a rename out of a
// snapshot, under the node's own name. The presence of DstSnapshotId is what tells
// the two kinds apart.
func (t *Tree) DstReference(dir, n *Node, dstSnapshot uint32) uint32 {
	i := t.Reference(&pb.INodeReferenceSection_INodeReference{
		ReferredId: &n.ID, DstSnapshotId: &dstSnapshot,
	})
	dir.RefChildren = append(dir.RefChildren, i)
	return i
}

// Snapshot adds a snapshot of dir, which becomes snapshottable.
func (t *Tree) Snapshot(dir *Node, id uint32, name string) {
	if !slices.Contains(t.snapshotDirs, dir.ID) {
		t.snapshotDirs = append(t.snapshotDirs, dir.ID)
	}
	root := dir.message(t.stringTable())
	root.Name = []byte(name)
	t.snapshots = append(t.snapshots, &pb.SnapshotSection_Snapshot{SnapshotId: &id, Root: root})
}

// Diff adds the diffs of a node, newest first: FileDiff or DirectoryDiff messages,
// the latter each followed by its CreatedListEntry messages.
func (t *Tree) Diff(n *Node, messages ...proto.Message) {
	kind := pb.SnapshotDiffSection_DiffEntry_FILEDIFF
	if n.Kind == Directory {
		kind = pb.SnapshotDiffSection_DiffEntry_DIRECTORYDIFF
	}
	count := uint32(0)
	for _, m := range messages {
		if _, created := m.(*pb.SnapshotDiffSection_CreatedListEntry); !created {
			count++
		}
	}
	entry := &pb.SnapshotDiffSection_DiffEntry{Type: kind.Enum(), InodeId: &n.ID, NumOfDiff: &count}
	t.diffs = append(t.diffs, append([]proto.Message{entry}, messages...))
}

// FileCopy returns a snapshot copy of a file's attributes as they are now.
func (t *Tree) FileCopy(n *Node) *pb.INodeSection_INodeFile {
	f := n.file(t.stringTable())
	f.Blocks, f.FileUC = nil, nil
	return f
}

// DirCopy returns a snapshot copy of a directory's attributes as they are now.
func (t *Tree) DirCopy(n *Node) *pb.INodeSection_INodeDirectory { return n.directory(t.stringTable()) }

// Permission returns the packed permission for a message made by hand.
func (t *Tree) Permission(owner, group string, mode uint16) uint64 {
	return t.stringTable().permission(owner, group, mode)
}

func (t *Tree) stringTable() *stringTable {
	if t.strings == nil {
		t.strings = newStringTable(t.Layout <= maskedLayout)
	}
	return t.strings
}

// Nodes returns all nodes in the order of INODE.
func (t *Tree) Nodes() []*Node {
	nodes := slices.Clone(t.nodes)
	mask := ^uint64(0)
	if t.Buckets > 0 {
		mask = 1<<bits.Len(uint(t.Buckets-1)) - 1
	}
	slices.SortFunc(nodes, func(a, b *Node) int {
		if t.Buckets > 0 {
			if c := int64(inodeHash(a.ID)&mask) - int64(inodeHash(b.ID)&mask); c != 0 {
				return int(c)
			}
			a, b = b, a // a new element becomes the head of its bucket
		}
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return nodes
}

// inodeHash is INode.hashCode: the two halves of the id folded into 32 bits.
func inodeHash(id uint64) uint64 { return uint64(uint32(id ^ id>>32)) }

func (t *Tree) String() string { return fmt.Sprintf("tree of %d inodes", len(t.nodes)) }

package imagetest

import (
	"slices"
	"strings"

	pb "fsweep/proto/fsimage"
)

// ecLayout is the first layout version with a section ERASURE_CODING.
const ecLayout int32 = -64

// Image returns the sections of the tree in the NameNode's order. The tree may be
// used again; what is changed in the image does not come back.
func (t *Tree) Image() *Image {
	m := &Image{Layout: t.Layout, TxID: t.TxID}
	nodes := t.Nodes()
	inodes, lastID := t.inodeSection(nodes)
	m.Sections = append(m.Sections, t.nsInfo())
	if t.Layout <= ecLayout {
		m.Section(ErasureCoding).Add(&pb.ErasureCodingSection{Policies: t.Policies})
	}
	m.Sections = append(m.Sections, inodes, dirSection(nodes), openSection(nodes), t.snapshotSection())
	if len(t.snapshotDirs) > 0 || len(t.diffs) > 0 {
		s := m.Section(SnapshotDiff)
		for _, d := range t.diffs {
			s.AddUnit(d...)
		}
	}
	refs := m.Section(INodeReference)
	for _, r := range t.References {
		refs.Add(r)
	}
	m.Section(SecretManager).Add(emptySecrets())
	m.Section(CacheManager).Add(emptyCaches())
	m.Sections = append(m.Sections, t.stringTable().section())
	setLastInode(inodes, lastID, len(nodes))
	return m
}

func (t *Tree) nsInfo() *Section {
	return (&Section{Name: NSInfo}).Add(nsInfoMessage(t.NamespaceID, t.TxID, t.nextBlock))
}

func nsInfoMessage(namespace uint32, txid int64, lastBlock uint64) *pb.NameSystemSection {
	return &pb.NameSystemSection{
		NamespaceId:                 &namespace,
		GenstampV1:                  new(uint64(1000)),
		GenstampV2:                  new(uint64(2000)),
		GenstampV1Limit:             new(uint64(0)),
		LastAllocatedBlockId:        &lastBlock,
		TransactionId:               new(uint64(txid)),
		LastAllocatedStripedBlockId: new(1<<63 | lastBlock<<4),
	}
}

// inodeSection leaves room for the header, which setLastInode fills.
func (t *Tree) inodeSection(nodes []*Node) (*Section, uint64) {
	s := &Section{Name: INode}
	s.Units = append(s.Units, nil)
	last := uint64(0)
	for _, n := range nodes {
		s.Add(n.message(t.stringTable()))
		last = max(last, n.ID)
	}
	return s, last
}

func setLastInode(s *Section, last uint64, count int) {
	s.Units[0] = Unit(&pb.INodeSection{LastInodeId: &last, NumInodes: new(uint64(count))})
}

// dirSection sorts children by the bytes of their names, as the NameNode keeps them.
func dirSection(nodes []*Node) *Section {
	s := &Section{Name: INodeDir}
	for _, n := range nodes {
		if n.Kind != Directory || len(n.Children)+len(n.RefChildren) == 0 {
			continue
		}
		children := slices.Clone(n.Children)
		slices.SortStableFunc(children, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
		e := &pb.INodeDirectorySection_DirEntry{Parent: &n.ID, RefChildren: n.RefChildren}
		for _, c := range children {
			e.Children = append(e.Children, c.ID)
		}
		s.Add(e)
	}
	return s
}

func openSection(nodes []*Node) *Section {
	s := &Section{Name: FilesUnderConstruction}
	for _, n := range nodes {
		if n.Open != nil && !n.Open.Unlisted {
			s.Add(&pb.FilesUnderConstructionSection_FileUnderConstructionEntry{InodeId: &n.ID, FullPath: new(n.Path())})
		}
	}
	return s
}

func (t *Tree) snapshotSection() *Section {
	h := &pb.SnapshotSection{SnapshottableDir: t.snapshotDirs, NumSnapshots: new(uint32(len(t.snapshots)))}
	counter := uint32(0)
	for _, s := range t.snapshots {
		counter = max(counter, s.GetSnapshotId()+1)
	}
	h.SnapshotCounter = &counter
	sec := (&Section{Name: SnapshotSection}).Add(h)
	for _, s := range t.snapshots {
		sec.Add(s)
	}
	return sec
}

func emptySecrets() *pb.SecretManagerSection {
	return &pb.SecretManagerSection{
		CurrentId: new(uint32(0)), TokenSequenceNumber: new(uint32(0)),
		NumKeys: new(uint32(0)), NumTokens: new(uint32(0)),
	}
}

func emptyCaches() *pb.CacheManagerSection {
	return &pb.CacheManagerSection{
		NextDirectiveId: new(uint64(1)), NumPools: new(uint32(0)), NumDirectives: new(uint32(0)),
	}
}

// SystemPolicies returns the erasure coding policies every NameNode 3 has, ids 1 to
// 5, all enabled.
func SystemPolicies() []*pb.ErasureCodingPolicyProto {
	var out []*pb.ErasureCodingPolicyProto
	for _, p := range []struct {
		id           uint32
		name, codec  string
		data, parity uint32
	}{
		{1, "RS-6-3-1024k", "rs", 6, 3},
		{2, "RS-3-2-1024k", "rs", 3, 2},
		{3, "RS-LEGACY-6-3-1024k", "rs-legacy", 6, 3},
		{4, "XOR-2-1-1024k", "xor", 2, 1},
		{5, "RS-10-4-1024k", "rs", 10, 4},
	} {
		out = append(out, Policy(p.id, p.name, p.codec, p.data, p.parity, 1<<20))
	}
	return out
}

// Policy returns an enabled erasure coding policy; the cell size is in bytes.
func Policy(id uint32, name, codec string, data, parity, cell uint32) *pb.ErasureCodingPolicyProto {
	return &pb.ErasureCodingPolicyProto{
		Id: &id, Name: &name, CellSize: &cell, State: pb.ErasureCodingPolicyState_ENABLED.Enum(),
		Schema: &pb.ECSchemaProto{CodecName: &codec, DataUnits: &data, ParityUnits: &parity},
	}
}

package hdfs

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// checkBlocks compares what the NameNode says of a file's blocks with the file that is
// to be read: they must be the whole of it, one behind the other.
func checkBlocks(file execute.FileID, l *hadoop.LocatedBlocksProto) error {
	if l.GetUnderConstruction() || l.GetFileLength() != uint64(file.Length) {
		return fmt.Errorf("%w: inode %d (%q): its blocks have %d bytes, not %d (under construction: %t)",
			execute.ErrChanged, file.ID, file.Path, l.GetFileLength(), file.Length, l.GetUnderConstruction())
	}
	unreadable := func(format string, args ...any) error {
		return fmt.Errorf("inode %d (%q): %w: %s", file.ID, file.Path, execute.ErrUnreadable, fmt.Sprintf(format, args...))
	}
	var end uint64
	for _, b := range l.GetBlocks() {
		id, bytes := b.GetB().GetBlockId(), b.GetB().GetNumBytes()
		switch {
		case b.GetOffset() != end || bytes == 0 || bytes > uint64(file.Length)-end:
			return unreadable("block %d of %d bytes at %d does not continue it", int64(id), bytes, b.GetOffset())
		case b.GetCorrupt():
			return unreadable("all replicas of block %d at %d are corrupt", int64(id), end)
		case len(b.GetLocs()) == 0:
			return unreadable("no DataNode has block %d at %d", int64(id), end)
		}
		end += bytes
	}
	if end != uint64(file.Length) {
		return unreadable("the blocks end at %d of %d bytes", end, file.Length)
	}
	return nil
}

// cellSize gives the bytes of a cell of an erasure coding policy, 0 if it is unknown.
func cellSize(p *hadoop.ErasureCodingPolicyProto) int64 {
	if p.GetCellSize() > 0 {
		return int64(p.GetCellSize())
	}
	// Hadoop's own policies are told by their id alone (SystemErasureCodingPolicies):
	// RS-6-3, RS-3-2, RS-LEGACY-6-3, XOR-2-1, RS-10-4, each with cells of 1024k.
	if id := p.GetId(); id >= 1 && id <= 5 {
		return 1 << 20
	}
	return 0
}

// firstCells gives the locations of a file that lies in the first cell of its only block
// group as if it were a plain one: the internal block of that cell has the group's id.
// false: it does not lie so.
func firstCells(l *hadoop.LocatedBlocksProto) (*hadoop.LocatedBlocksProto, bool) {
	if len(l.GetBlocks()) != 1 || int64(l.GetFileLength()) > cellSize(l.GetEcPolicy()) {
		return nil, false
	}
	plain := proto.CloneOf(l)
	block := plain.GetBlocks()[0]
	indices := block.GetBlockIndices()
	if len(indices) != len(block.GetLocs()) {
		return nil, false
	}
	var first []*hadoop.DatanodeInfoProto
	for i, dn := range block.GetLocs() {
		if indices[i] == 0 {
			first = append(first, dn)
		}
	}
	block.Locs, block.BlockIndices, plain.EcPolicy = first, nil, nil
	return plain, len(first) > 0
}

// withTokens gives blocks as a NameNode without block tokens describes them: the library
// wants a token with each, be it an empty one.
func withTokens(l *hadoop.LocatedBlocksProto) *hadoop.LocatedBlocksProto {
	out := &hadoop.LocatedBlocksProto{
		FileLength: l.FileLength, UnderConstruction: proto.Bool(false), IsLastBlockComplete: proto.Bool(true),
	}
	var empty []byte
	for field := protowire.Number(1); field <= 4; field++ { // identifier, password, kind, service
		empty = protowire.AppendBytes(protowire.AppendTag(empty, field, protowire.BytesType), nil)
	}
	const blockToken = 5
	token := protowire.AppendBytes(protowire.AppendTag(nil, blockToken, protowire.BytesType), empty)
	for _, b := range l.GetBlocks() {
		b := &hadoop.LocatedBlockProto{B: b.GetB(), Offset: b.Offset, Corrupt: b.Corrupt, Locs: b.GetLocs()}
		b.ProtoReflect().SetUnknown(token)
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

// dataNodes gives every DataNode that has some of a file.
func dataNodes(l *hadoop.LocatedBlocksProto) []*hadoop.DatanodeIDProto {
	var all []*hadoop.DatanodeIDProto
	for _, b := range l.GetBlocks() {
		for _, dn := range b.GetLocs() {
			all = append(all, dn.GetId())
		}
	}
	return all
}

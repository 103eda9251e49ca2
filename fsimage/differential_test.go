package fsimage

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// compareINode decodes b by hand and with generated code and reports how they
// differ. n and its memory are re-used, as the readers do.
func compareINode(b []byte, n *INode) error {
	for _, placed := range placements(b) {
		if err := compareINodeAt(placed, n); err != nil {
			return fmt.Errorf("%d bytes behind the record: %w", cap(placed)-len(placed), err)
		}
	}
	return nil
}

// placements gives b as it may stand in a buffer: at its end, and with bytes
// behind it that the decoders look at and must not take for a part of it.
func placements(b []byte) [][]byte {
	all := [][]byte{slices.Clip(b)}
	for _, behind := range [][]byte{
		make([]byte, slack), bytes.Repeat([]byte{0xff}, slack), bytes.Repeat([]byte{0x80, 0x01}, slack), bytes.Repeat(b, slack)[:min(len(b)*slack, 4*slack)],
		{0x10, 0x81, 0x01, 0x18},
		bytes.Repeat([]byte{0x32, 0x06, 0x08, 0x01, 0x10, 0x01, 0x18, 0x01}, slack/8),
	} {
		all = append(all, append(bytes.Clone(b), behind...)[:len(b)])
	}
	return all
}

func compareINodeAt(b []byte, n *INode) error {
	full := b[:cap(b)]
	input := bytes.Clone(full)
	handErr := n.unmarshal(b)
	if !bytes.Equal(full, input) {
		return fmt.Errorf("the input was changed")
	}
	m := new(pb.INodeSection_INode)
	genErr := proto.Unmarshal(closeEnums(b, inodeEnums), m)
	if (handErr == nil) != (genErr == nil) {
		return fmt.Errorf("by hand: %v; generated: %v", handErr, genErr) //nolint:errorlint // one of them is nil
	}
	if handErr != nil {
		return nil
	}
	if got, want := flatINode(n), flatMessage(m); got != want {
		return fmt.Errorf("by hand:\n%s\ngenerated:\n%s", got, want)
	}
	if typ, id, name, ok := usualHead(b); ok && (id != m.GetId() || int(typ) != int(m.GetType()) || !bytes.Equal(name, m.GetName())) {
		return fmt.Errorf("id %d at first sight, generated: %d", id, m.GetId())
	}
	return nil
}

// flatINode and flatMessage write the same text for the same inode. %q and not
// %v keeps bytes apart that print alike.
func flatINode(n *INode) string {
	f, d, s := &n.File, &n.Directory, &n.Symlink
	var q [][2]uint64
	for _, t := range d.TypeQuotas {
		q = append(q, [2]uint64{uint64(t.Type), t.Quota})
	}
	return fmt.Sprintf("%d %d %q\nfile %d %d %d %d %d %v %d %v %d uc %v %q %q acl %v xattrs %q\ndirectory %d %d %d %d acl %v xattrs %q quotas %v\nsymlink %d %q %d %d",
		n.Type, n.ID, n.Name,
		f.Replication, f.MTimeMs, f.ATimeMs, f.PreferredBlockSize, f.Permission, f.Blocks, f.StoragePolicy, f.Striped, f.ECPolicy,
		f.UnderConstruction, f.UC.ClientName, f.UC.ClientMachine, f.ACL, flatXAttrs(f.XAttrs),
		d.MTimeMs, d.NSQuota, d.DSQuota, d.Permission, d.ACL, flatXAttrs(d.XAttrs), q,
		s.Permission, s.Target, s.MTimeMs, s.ATimeMs)
}

func flatXAttrs(xs []XAttr) []string {
	var out []string
	for _, x := range xs {
		out = append(out, fmt.Sprintf("%d=%s", x.Name, x.Value))
	}
	return out
}

func flatMessage(m *pb.INodeSection_INode) string {
	f, d, s := m.GetFile(), m.GetDirectory(), m.GetSymlink()
	var blocks []Block
	for _, b := range f.GetBlocks() {
		blocks = append(blocks, Block{b.GetBlockId(), b.GetGenStamp(), b.GetNumBytes()})
	}
	var q [][2]uint64
	for _, t := range d.GetTypeQuotas().GetQuotas() {
		q = append(q, [2]uint64{uint64(t.GetStorageType()), t.GetQuota()})
	}
	xattrs := func(x *pb.INodeSection_XAttrFeatureProto) (out []string) {
		for _, a := range x.GetXAttrs() {
			out = append(out, fmt.Sprintf("%d=%s", a.GetName(), a.GetValue()))
		}
		return out
	}
	return fmt.Sprintf("%d %d %q\nfile %d %d %d %d %d %v %d %v %d uc %v %q %q acl %v xattrs %q\ndirectory %d %d %d %d acl %v xattrs %q quotas %v\nsymlink %d %q %d %d",
		m.GetType(), m.GetId(), m.GetName(),
		f.GetReplication(), f.GetModificationTime(), f.GetAccessTime(), f.GetPreferredBlockSize(), f.GetPermission(), blocks,
		f.GetStoragePolicyID(), f.GetBlockType() == pb.BlockTypeProto_STRIPED, f.GetErasureCodingPolicyID(),
		f.GetFileUC() != nil, f.GetFileUC().GetClientName(), f.GetFileUC().GetClientMachine(), f.GetAcl().GetEntries(), xattrs(f.GetXAttrs()),
		d.GetModificationTime(), int64(d.GetNsQuota()), int64(d.GetDsQuota()), d.GetPermission(), d.GetAcl().GetEntries(), xattrs(d.GetXAttrs()), q,
		s.GetPermission(), s.GetTarget(), s.GetModificationTime(), s.GetAccessTime())
}

// compareDirEntry is compareINode for DirEntry.
func compareDirEntry(b []byte, e *DirEntry) error {
	for _, placed := range placements(b) {
		if err := compareDirEntryAt(placed, e); err != nil {
			return fmt.Errorf("%d bytes behind the record: %w", cap(placed)-len(placed), err)
		}
	}
	return nil
}

func compareDirEntryAt(b []byte, e *DirEntry) error {
	handErr := e.unmarshal(b)
	m := new(pb.INodeDirectorySection_DirEntry)
	genErr := proto.Unmarshal(b, m)
	if (handErr == nil) != (genErr == nil) {
		return fmt.Errorf("by hand: %v; generated: %v", handErr, genErr) //nolint:errorlint // one of them is nil
	}
	if handErr == nil && (e.Parent != m.GetParent() || !slices.Equal(e.Children, m.GetChildren()) || !slices.Equal(e.RefChildren, m.GetRefChildren())) {
		return fmt.Errorf("by hand: %v; generated: %v", *e, m)
	}
	return nil
}

// enumPath is where a message has an enum: a map from field number to the paths
// in a sub-message, or to the first and last value that the enum knows.
type enumPath struct {
	sub  map[protowire.Number]enumPath
	low  int32
	high int32
}

var inodeEnums = enumPath{sub: map[protowire.Number]enumPath{
	1: {low: 1, high: 3},
	4: {sub: map[protowire.Number]enumPath{11: {low: 0, high: 1}}},
	5: {sub: map[protowire.Number]enumPath{7: {sub: map[protowire.Number]enumPath{
		1: {sub: map[protowire.Number]enumPath{1: {low: 1, high: 6}}},
	}}}},
}}

// closeEnums takes enum values out that the schema does not know. In proto2 such
// a value is an unknown field and leaves the field unset; so do Java and C++, and
// so does the hand decoder. Go's generated code keeps any number. Bytes that
// cannot be parsed stay as they are: both decoders must refuse them.
func closeEnums(b []byte, p enumPath) []byte {
	var out []byte
	for rest := b; len(rest) > 0; {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return b
		}
		size := protowire.ConsumeFieldValue(num, typ, rest[n:])
		if size < 0 {
			return b
		}
		field := rest[:n+size]
		rest = rest[n+size:]
		next, ok := p.sub[num]
		switch {
		case ok && next.sub == nil && typ == protowire.VarintType:
			if v, _ := protowire.ConsumeVarint(field[n:]); int32(v) < next.low || int32(v) > next.high {
				continue
			}
		case ok && next.sub != nil && typ == protowire.BytesType:
			sub, _ := protowire.ConsumeBytes(field[n:])
			out = protowire.AppendTag(out, num, typ)
			out = protowire.AppendBytes(out, closeEnums(sub, next))
			continue
		}
		out = append(out, field...)
	}
	return out
}

// realINodes are records that NameNodes of three lines wrote, and one of every
// kind that imagetest can make.
func realINodes(t testing.TB) [][]byte {
	t.Helper()
	b := smallTree().Image().Bytes()
	records := inodeRecords(t, openBytes(t, b))
	for _, dir := range []string{"3.4.2/plain", "3.2.2/plain", "2.7.7/plain", "fuzz-3.4.2/plain"} {
		records = append(records, inodeRecords(t, openBytes(t, imageBytes(t, dir)))...)
	}
	return records
}

func realDirEntries(t testing.TB) [][]byte {
	t.Helper()
	records := dirRecords(t, openBytes(t, smallTree().Image().Bytes()))
	for _, dir := range []string{"3.4.2/plain", "2.7.7/plain", "fuzz-3.4.2/plain"} {
		records = append(records, dirRecords(t, openBytes(t, imageBytes(t, dir)))...)
	}
	return records
}

func TestDecodersAgree(t *testing.T) {
	var n INode
	for i, b := range append(realINodes(t), oddINodes()...) {
		if err := compareINode(b, &n); err != nil {
			t.Fatalf("inode record %d (%x): %v", i, b, err)
		}
	}
	var e DirEntry
	for i, b := range append(realDirEntries(t), oddDirEntries()...) {
		if err := compareDirEntry(b, &e); err != nil {
			t.Fatalf("directory record %d (%x): %v", i, b, err)
		}
	}
}

// TestDecodersAgreeOnMutations does in every run what fuzzing does in a long one.
func TestDecodersAgreeOnMutations(t *testing.T) {
	const mutations = 20_000
	r := newRand(t, 20260301)
	var n INode
	var e DirEntry
	inodes := append(realINodes(t), oddINodes()...)
	entries := append(realDirEntries(t), oddDirEntries()...)
	failed := 0
	for range rounds(mutations) {
		b := mutate(r, inodes)
		if err := compareINode(b, &n); err != nil {
			t.Errorf("inode %x: %v", b, err)
			failed++
		}
		b = mutate(r, entries)
		if err := compareDirEntry(b, &e); err != nil {
			t.Errorf("directory entry %x: %v", b, err)
			failed++
		}
		if failed > 5 {
			t.Fatal("and more")
		}
	}
}

// TestDecodersReuse: what an inode held before leaves no trace in the next.
func TestDecodersReuse(t *testing.T) {
	records := append(realINodes(t), oddINodes()...)
	r := newRand(t, 7)
	var used INode
	for range rounds(2000) {
		b := records[r.IntN(len(records))]
		var fresh INode
		freshErr, usedErr := UnmarshalINode(b, &fresh), UnmarshalINode(b, &used)
		if (freshErr == nil) != (usedErr == nil) {
			t.Fatalf("%x: fresh %v, used %v", b, freshErr, usedErr)
		}
		if freshErr == nil && flatINode(&fresh) != flatINode(&used) {
			t.Fatalf("%x:\nfresh %s\nused %s", b, flatINode(&fresh), flatINode(&used))
		}
	}
}

func TestXAttrName(t *testing.T) {
	tree := imagetest.NewTree()
	f := tree.File("/f")
	for ns := range uint32(5) {
		f.XAttr(ns, "name", nil)
	}
	im := openBytes(t, tree.Image().Bytes())
	var n INode
	for _, b := range inodeRecords(t, im) {
		if err := UnmarshalINode(b, &n); err != nil {
			t.Fatal(err)
		}
	}
	strings, err := im.Strings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(n.File.XAttrs) != 5 {
		t.Fatalf("%d attributes", len(n.File.XAttrs))
	}
	for i, x := range n.File.XAttrs {
		if name, ok := strings.Lookup(XAttrString, x.NameID()); x.Namespace() != i || !ok || name != "name" {
			t.Errorf("attribute %d: namespace %d, name %q, %v", i, x.Namespace(), name, ok)
		}
	}
}

// TestACL unpacks every bit of an entry.
func TestACL(t *testing.T) {
	tree := imagetest.NewTree()
	tree.File("/f").ACL = []imagetest.ACL{{Type: 0, Name: "carol", Perm: 5}, {Default: true, Type: 1, Name: "g", Perm: 6}, {Type: 2, Perm: 1}, {Default: true, Type: 3, Perm: 0}}
	tree.Dir("/d").ACL = []imagetest.ACL{{Default: true, Type: 2, Perm: 7}}
	im := openBytes(t, tree.Image().Bytes())
	var got []ACLEntry
	var n INode
	for _, b := range inodeRecords(t, im) {
		if err := UnmarshalINode(b, &n); err != nil {
			t.Fatal(err)
		}
		for _, e := range append(n.File.ACL, n.Directory.ACL...) {
			got = append(got, UnpackACL(e))
		}
	}
	// Ids count from 1 in the order of first use; 1 are the default owner and group.
	want := []ACLEntry{{5, ACLUser, false, 2}, {6, ACLGroup, true, 2}, {1, ACLMask, false, 0}, {0, ACLOther, true, 0}, {7, ACLMask, true, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

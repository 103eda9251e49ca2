package namespace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// model is a random namespace and what its history left in snapshots. It knows
// how a NameNode counts from facts, not from the code under test: inode by inode,
// replica by replica.
type model struct {
	r       *rand.Rand
	it      *imagetest.Tree
	dirs    []*imagetest.Node // live ones
	deleted map[*imagetest.Node][]*imagetest.Node
	renamed map[*imagetest.Node][]oldName // files that had been in the directory
	diffs   map[*imagetest.Node][]modelDiff
}

// oldName is a file that moved away after a snapshot.
type oldName struct {
	node *imagetest.Node
	last uint32
}

// modelDiff is a file as it was in a snapshot.
type modelDiff struct {
	snapshot    uint32
	size        uint64
	replication uint32 // of the copy, if there is one
	copied      bool
	blocks      []imagetest.Block
}

// newModel makes a namespace of about n inodes.
func newModel(r *rand.Rand, n int, snapshots bool) *model {
	m := &model{
		r: r, it: imagetest.NewTree(), deleted: map[*imagetest.Node][]*imagetest.Node{},
		renamed: map[*imagetest.Node][]oldName{}, diffs: map[*imagetest.Node][]modelDiff{},
	}
	m.it.Layout = -60 - r.Int32N(8)
	m.it.Policies = append(m.it.Policies, imagetest.Policy(64, "RS-4-2-64k", "rs", 4, 2, 64<<10))
	m.it.Buckets = []int{0, 16, 1024}[r.IntN(3)]
	if r.IntN(4) == 0 {
		m.it.NextID = 1<<63 - 1<<40
	}
	m.dirs = []*imagetest.Node{m.it.Root}
	for range n {
		m.add(m.dirs[r.IntN(len(m.dirs))])
	}
	if r.IntN(2) == 0 {
		m.dirs[r.IntN(len(m.dirs))].SetPolicy(m.policy())
	}
	if snapshots {
		m.snapshots()
	}
	return m
}

func (m *model) policy() byte {
	return []byte{1, 2, 5, 7, 10, 12, 14, 15, 3, 0}[m.r.IntN(10)]
}

// name is new in a directory; empty if the next one is to be tried.
func (m *model) name(d *imagetest.Node) string {
	n := fmt.Sprintf("%c%d", 'a'+m.r.IntN(26), m.r.IntN(100))
	switch m.r.IntN(12) {
	case 0:
		n = []string{"ü", "\xff", " ", "a\tb", "\n", "...", ".x", `"`, "%2F", "\x00"}[m.r.IntN(10)]
	case 1:
		n = strings.Repeat(n, 30)
	}
	for _, c := range d.Children {
		if c.Name == n {
			return ""
		}
	}
	for _, c := range m.deleted[d] {
		if c.Name == n {
			return ""
		}
	}
	return n
}

// add makes an inode in d.
func (m *model) add(d *imagetest.Node) *imagetest.Node {
	r := m.r
	name := m.name(d)
	if name == "" {
		return nil
	}
	if r.IntN(3) == 0 {
		m.it.NextID += r.Uint64N(1 << r.IntN(20))
	}
	var n *imagetest.Node
	switch k := r.IntN(20); {
	case k < 6:
		n = m.it.DirIn(d, name)
		m.decorate(n)
		m.dirs = append(m.dirs, n)
	case k < 7:
		n = m.it.FileIn(d, name)
		n.Kind, n.Target = imagetest.Symlink, "/x"
	default:
		n = m.it.FileIn(d, name)
		m.fill(n)
	}
	n.Own(fmt.Sprint("user", r.IntN(5)), fmt.Sprint("group", r.IntN(3)), uint16(r.IntN(0o1777)))
	return n
}

func (m *model) decorate(d *imagetest.Node) {
	if m.r.IntN(5) == 0 {
		d.SetPolicy(m.policy())
	}
	if m.r.IntN(6) == 0 {
		d.Quota(m.r.Int64N(100)-1, m.r.Int64N(100)-1)
	}
	if m.r.IntN(8) == 0 {
		d.TypeQuota(pb.StorageTypeProto(1+m.r.Int32N(6)), m.r.Int64N(1<<30))
	}
}

func (m *model) fill(f *imagetest.Node) {
	r := m.r
	f.Replication, f.BlockSize = uint32(r.IntN(6)), 1<<(10+r.IntN(18))
	if r.IntN(4) == 0 {
		f.Policy = uint32(m.policy())
	}
	for range r.IntN(5) {
		f.Blocks = append(f.Blocks, m.it.Block(r.Uint64N(1<<r.IntN(30))))
	}
	if m.it.Layout <= -64 && r.IntN(5) == 0 {
		f.EC, f.Replication = []uint32{1, 2, 3, 4, 5, 64}[r.IntN(6)], 0
	}
	if r.IntN(10) == 0 {
		f.Open = &imagetest.Open{Client: "client", Machine: "host"}
	}
}

// snapshots gives some directories a history: files changed, inodes deleted and
// renamed away after snapshots 1 to 9.
func (m *model) snapshots() {
	r := m.r
	live := slices.Clone(m.dirs)
	for range 1 + len(live)/4 {
		d := live[r.IntN(len(live))]
		if m.renamed[d] != nil || m.deleted[d] != nil {
			continue
		}
		m.deleted[d] = []*imagetest.Node{}
		for range r.IntN(4) {
			if n := m.add(d); n != nil {
				m.remove(d, n)
			}
		}
	}
	for _, n := range m.it.Nodes() {
		if n.Kind != imagetest.File {
			continue
		}
		if r.IntN(4) == 0 {
			m.change(n)
		}
		if n.Parent != nil && r.IntN(6) == 0 {
			m.moveHere(live, n)
		}
	}
	m.dirs = live
	m.write()
}

// remove puts n, and what a directory gets before, into d's deleted list.
func (m *model) remove(d, n *imagetest.Node) {
	if n.Kind == imagetest.Directory {
		for range m.r.IntN(5) {
			m.add(n)
		}
		if m.r.IntN(2) == 0 {
			if x := m.add(n); x != nil {
				m.remove(n, x)
			}
		}
	}
	m.it.Detach(n)
	m.deleted[d] = append(m.deleted[d], n)
}

// change gives a file diffs, the newest first.
func (m *model) change(f *imagetest.Node) {
	for s := uint32(9); s > 0; s -= 1 + m.r.Uint32N(5) {
		d := modelDiff{snapshot: s, size: m.r.Uint64N(1 << 20)}
		if m.r.IntN(4) > 0 {
			d.copied, d.replication = true, uint32(m.r.IntN(6))
			if f.EC > 0 {
				d.replication = 0
			}
		}
		if m.r.IntN(2) == 0 {
			for _, b := range f.Blocks {
				if m.r.IntN(2) == 0 {
					d.blocks = append(d.blocks, b)
				}
			}
			d.blocks = append(d.blocks, m.it.Block(m.r.Uint64N(1<<20)))
		}
		m.diffs[f] = append(m.diffs[f], d)
		if s < 6 {
			break
		}
	}
}

// moveHere makes f the target of a rename, and mostly gives some directory its
// old name.
func (m *model) moveHere(live []*imagetest.Node, f *imagetest.Node) {
	to := f.Parent
	m.it.Detach(f)
	f.Parent = to
	m.it.DstReference(to, f, imagetest.SnapshotCurrent)
	if m.r.IntN(3) > 0 {
		from := live[m.r.IntN(len(live))]
		m.renamed[from] = append(m.renamed[from], oldName{f, 1 + m.r.Uint32N(9)})
	}
}

// write turns the history into messages.
func (m *model) write() {
	nodes := m.it.Nodes()
	for _, n := range nodes {
		if n.Kind == imagetest.Directory && (m.deleted[n] != nil || m.renamed[n] != nil) {
			m.writeDirectory(n)
		}
		if ds := m.diffs[n]; len(ds) > 0 {
			var ms []proto.Message
			for _, d := range ds {
				x := &pb.SnapshotDiffSection_FileDiff{SnapshotId: &d.snapshot, FileSize: &d.size}
				if d.copied {
					x.SnapshotCopy = &pb.INodeSection_INodeFile{Replication: &d.replication}
				}
				for _, b := range d.blocks {
					x.Blocks = append(x.Blocks, &pb.BlockProto{BlockId: &b.ID, GenStamp: &b.GenStamp, NumBytes: &b.Bytes})
				}
				ms = append(ms, x)
			}
			m.it.Diff(n, ms...)
		}
	}
	m.it.Snapshot(m.it.Root, 1, "s1")
}

// writeDirectory spreads the deleted inodes over three diffs, and calls some
// children created.
func (m *model) writeDirectory(n *imagetest.Node) {
	diffs := []*pb.SnapshotDiffSection_DirectoryDiff{{SnapshotId: proto.Uint32(9)}, {SnapshotId: proto.Uint32(5)}, {SnapshotId: proto.Uint32(2)}}
	for _, x := range m.deleted[n] {
		d := diffs[m.r.IntN(3)]
		d.DeletedINode = append(d.DeletedINode, x.ID)
	}
	for i, o := range m.renamed[n] {
		d := diffs[m.r.IntN(3)]
		d.DeletedINodeRef = append(d.DeletedINodeRef, m.it.WithName(o.node, fmt.Sprint("old-", i), o.last))
	}
	var created []string
	for _, c := range n.Children {
		if m.r.IntN(4) == 0 {
			created = append(created, c.Name)
		}
	}
	diffs[0].CreatedListSize = proto.Uint32(uint32(len(created)))
	ms := []proto.Message{diffs[0]}
	for _, c := range created {
		ms = append(ms, &pb.SnapshotDiffSection_CreatedListEntry{Name: []byte(c)})
	}
	m.it.Diff(n, append(ms, diffs[1], diffs[2])...)
}

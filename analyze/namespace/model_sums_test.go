package namespace

import (
	"math"

	"fsweep/fsimage/imagetest"
)

// modelSums is what a directory's figures should be.
type modelSums struct {
	usage Usage
	all   Counts // live and held by snapshots
	held  Counts
}

// sums walks everything below d, itself included, that its quotas are charged.
func (m *model) sums(d *imagetest.Node) modelSums {
	var s modelSums
	m.directory(d, m.inherited(d), false, &s)
	return s
}

// inherited is the storage policy that d gets from those above it.
func (m *model) inherited(d *imagetest.Node) byte {
	for p := d.Parent; p != nil; p = p.Parent {
		if own := ownPolicy(p); own != 0 {
			return own
		}
	}
	return 0
}

// ownPolicy is what a directory's xattr says, or a file's field; 0 is none. A
// number that no policy has hides those above like any other.
func ownPolicy(n *imagetest.Node) byte {
	policy := byte(n.Policy)
	for _, x := range n.XAttrs {
		if x.Name == "hsm.block.storage.policy.id" {
			policy = x.Value[0]
		}
	}
	return policy
}

// modelTypes are the storage types of a policy for its replicas.
func modelTypes(policy byte) []int {
	switch policy {
	case 1:
		return []int{Provided, Disk}
	case 2:
		return []int{Archive}
	case 5:
		return []int{Disk, Archive}
	case 7, 15:
		return []int{Disk}
	case 10:
		return []int{SSD, Disk}
	case 12:
		return []int{SSD}
	case 14:
		return []int{NVDIMM}
	}
	return nil
}

// directory adds d and all below it. In a deleted directory files are no longer
// current, and all of it is held by a snapshot.
func (m *model) directory(d *imagetest.Node, policy byte, deleted bool, s *modelSums) {
	if own := ownPolicy(d); own != 0 {
		policy = own
	}
	s.count(deleted, func(c *Counts) { c.Directories++ })
	s.usage.Namespace++
	for _, n := range m.it.Nodes() {
		if n.Parent == d {
			m.inode(n, policy, deleted, s)
		}
	}
	for _, n := range m.deleted[d] {
		m.inode(n, policy, true, s)
	}
	for _, o := range m.renamed[d] {
		m.asOf(o, policy, s)
	}
}

func (s *modelSums) count(held bool, add func(*Counts)) {
	add(&s.all)
	if held {
		add(&s.held)
	}
}

func (m *model) inode(n *imagetest.Node, policy byte, deleted bool, s *modelSums) {
	switch n.Kind {
	case imagetest.Directory:
		m.directory(n, policy, deleted, s)
		return
	case imagetest.Symlink:
		s.count(deleted, func(c *Counts) { c.Symlinks++ })
		s.usage.Namespace++
		return
	}
	length := int64(0)
	for _, b := range n.Blocks {
		length += int64(b.Bytes)
	}
	perReplica, striped := m.blocks(n)
	replication := n.Replication
	if ds := m.diffs[n]; len(ds) > 0 {
		if deleted && m.it.Layout <= -67 { // older NameNodes count it all the same
			replication = 0
		}
		for _, d := range ds {
			if d.copied {
				replication = max(replication, d.replication)
			}
		}
	}
	m.charge(n, policy, deleted, 1, length, perReplica, striped, replication, s)
}

// asOf adds a file as it was at a snapshot, under the name it had.
func (m *model) asOf(o oldName, policy byte, s *modelSums) {
	n := o.node
	ds := m.diffs[n]
	if len(ds) == 0 {
		m.inode(n, policy, true, s)
		return
	}
	length := int64(0)
	for _, b := range n.Blocks {
		length += int64(b.Bytes)
	}
	replication := n.Replication
	oldest, oldestCopy := uint32(math.MaxUint32), uint32(math.MaxUint32)
	for _, d := range ds {
		if d.snapshot >= o.last && d.snapshot < oldest {
			oldest, length = d.snapshot, int64(d.size)
		}
		if d.copied && d.snapshot >= o.last && d.snapshot < oldestCopy {
			oldestCopy, replication = d.snapshot, d.replication
		}
	}
	_, striped := m.blocks(n)
	namespace := int64(1)
	if n.EC > 0 {
		namespace = 2 // the NameNode's
	}
	m.charge(n, policy, true, namespace, length, length, striped, replication, s)
}

func (m *model) charge(n *imagetest.Node, policy byte, held bool, namespace, length, perReplica, striped int64, replication uint32, s *modelSums) {
	space := striped
	if n.EC == 0 {
		if own := ownPolicy(n); own != 0 {
			policy = own
		}
		types := modelTypes(policy)
		for k := range int(replication) {
			space += perReplica
			if types != nil {
				s.usage.Type[types[min(k, len(types)-1)]] += perReplica
			}
		}
	}
	s.usage.Namespace += namespace
	s.usage.Space += space
	s.count(held, func(c *Counts) {
		c.Files++
		c.Length += length
		c.Space += space
	})
}

// blocks are the bytes of all distinct blocks of a file and its diffs, as one
// replica, and, for a striped file, with parity.
func (m *model) blocks(n *imagetest.Node) (perReplica, striped int64) {
	seen := map[uint64]bool{}
	add := func(id, bytes uint64, open bool) {
		if seen[id] {
			return
		}
		seen[id] = true
		if open {
			bytes = n.BlockSize
		}
		perReplica += int64(bytes)
		if n.EC == 0 {
			return
		}
		data, parity, cell := modelEC(n.EC)
		if open {
			striped += int64(bytes) * (data + parity)
			return
		}
		striped += int64(bytes)
		for left := int64(bytes); left > 0; left -= data * cell {
			striped += parity * min(left, cell)
		}
	}
	for i, b := range n.Blocks {
		add(b.ID, b.Bytes, n.Open != nil && i == len(n.Blocks)-1)
	}
	for _, d := range m.diffs[n] {
		for _, b := range d.upToSize() {
			add(b.ID, b.Bytes, false)
		}
	}
	if n.EC == 0 {
		return perReplica, 0
	}
	return perReplica, striped
}

// upToSize are the blocks of a diff that a NameNode keeps when it loads an image:
// as many, from the first on, as make up the file's size (FileDiff.setBlocks).
func (d *modelDiff) upToSize() []imagetest.Block {
	var sum int64
	for i, b := range d.blocks {
		if sum >= int64(d.size) {
			return d.blocks[:i]
		}
		sum += int64(b.Bytes)
	}
	return d.blocks
}

func modelEC(id uint32) (data, parity, cell int64) {
	switch id {
	case 2:
		return 3, 2, 1 << 20
	case 4:
		return 2, 1, 1 << 20
	case 5:
		return 10, 4, 1 << 20
	case 64:
		return 4, 2, 64 << 10
	}
	return 6, 3, 1 << 20
}

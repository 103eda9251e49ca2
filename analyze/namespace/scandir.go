package namespace

import (
	"encoding/binary"
	"math"

	"fsweep/fsimage"
)

// Names of the extended attributes that hold properties of a directory.
const (
	xattrStoragePolicy = "hsm.block.storage.policy.id" // system: one byte
	xattrECPolicy      = "hdfs.erasurecoding.policy"   // system: a name with its length
	xattrZone          = "hdfs.crypto.encryption.zone" // raw
)

// directory takes down the record of a directory.
func (s *scanner) directory(n *fsimage.INode, parent Dir) {
	l := s.l
	s.newest = max(s.newest, int64(n.Directory.MTimeMs))
	if n.ID == rootID {
		parent = NoDir
	}
	rec := emptyDir{
		id: n.ID, permission: n.Directory.Permission, mtime: int64(n.Directory.MTimeMs), parent: parent,
		name: s.names.add(n.Name), attr: s.attributes(n, parent),
	}
	var quota Quota
	hasQuota := n.Directory.NSQuota >= 0 || n.Directory.DSQuota >= 0 || len(n.Directory.TypeQuotas) > 0
	if hasQuota { // few have one, and it is large
		quota, hasQuota = quotaOf(&n.Directory)
	}
	state := uint8(0)
	var d Dir
	r, full := s.dirs.rank(n.ID)
	if d = Dir(r); full {
		if l.dirSeen.addShared(r) {
			s.counts.duplicate++
			return
		}
		*l.name.at(d), *l.permission.at(d), *l.mtime.at(d), *l.attr.at(d) = rec.name, rec.permission, rec.mtime, rec.attr
		if hasQuota {
			s.quotas[d] = quota
		}
		state = *l.state.at(d)
	} else if n.ID == rootID && l.rootSeen.Swap(true) {
		s.counts.duplicate++
		return
	} else {
		if hasQuota {
			s.emptyQuotas = append(s.emptyQuotas, quota)
			rec.quota = int32(len(s.emptyQuotas))
		}
		s.addEmpty(rec)
		if n.ID == rootID || parent != NoDir && s.slot(parent).state&stateLive != 0 {
			state = stateLive
		}
	}
	if s.keeps(n, parent) {
		k := s.keep(n, parent, rec.name)
		if full {
			k.dir = d
		}
	}
	if n.ID == rootID {
		if s.observe != nil {
			s.observe(NoDir, n, FileSums{})
		}
		return
	}
	s.live(n, parent, state, FileSums{})
}

func (s *scanner) addEmpty(rec emptyDir) {
	if k := len(s.empty); k == 0 || len(s.empty[k-1]) == cap(s.empty[k-1]) {
		s.empty = append(s.empty, make([]emptyDir, 0, 1<<columnBits))
	}
	last := &s.empty[len(s.empty)-1]
	*last = append(*last, rec)
}

func (s *scanner) attributes(n *fsimage.INode, parent Dir) attributes {
	a := attributes{flags: flagRecord}
	if n.ID != rootID && s.l.badName(parent, n.Name) {
		a.flags |= flagBadName
	}
	for _, x := range n.Directory.XAttrs {
		name, _ := s.l.strings.Lookup(fsimage.XAttrString, x.NameID())
		switch {
		case x.Namespace() == fsimage.XAttrSystem && name == xattrStoragePolicy && len(x.Value) == 1:
			a.policy = localPolicy(uint32(x.Value[0]))
		case x.Namespace() == fsimage.XAttrSystem && name == xattrECPolicy:
			a.ec = s.ecID(x.Value)
		case x.Namespace() == fsimage.XAttrRaw && name == xattrZone:
			a.flags |= flagEncrypted
		}
	}
	return a
}

// ecID numbers the erasure coding policies that directories name. The value is
// the length of the name in four bytes, and the name.
func (s *scanner) ecID(value []byte) uint16 {
	if len(value) < 4 || int64(binary.BigEndian.Uint32(value)) != int64(len(value)-4) {
		return 0
	}
	name := string(value[4:])
	if id, ok := s.ecIDs[name]; ok {
		return id
	}
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := l.ecIDs[name]
	if !ok {
		if len(l.ecName) > math.MaxUint16 {
			l.tooMany = "erasure coding policies"
			return 0
		}
		id = uint16(len(l.ecName))
		l.ecName, l.ecIDs[name] = append(l.ecName, name), id
	}
	s.ecIDs[name] = id
	return id
}

// quotaOf gives the quotas of a directory as HDFS shows them: 2^63-1 in the
// namespace quota means none, which every root has unless one was set. The quota
// means nothing if it is false.
func quotaOf(d *fsimage.INodeDirectory) (Quota, bool) {
	q := Quota{Namespace: Unset, Space: Unset}
	if d.NSQuota >= 0 && d.NSQuota != math.MaxInt64 {
		q.Namespace = d.NSQuota
	}
	if d.DSQuota >= 0 && d.DSQuota != math.MaxInt64 {
		q.Space = d.DSQuota
	}
	for i := range q.Type {
		q.Type[i] = Unset
	}
	for _, tq := range d.TypeQuotas {
		if i := typeIndex(tq.Type); i >= 0 && int64(tq.Quota) >= 0 && tq.Quota != math.MaxInt64 {
			q.Type[i] = int64(tq.Quota)
		}
	}
	return q, q.Namespace != Unset || q.Space != Unset || q.HasType()
}

// typeIndex maps StorageTypeProto to an index of [TypeSpace]; RAM_DISK has no
// quota.
func typeIndex(t uint8) int {
	switch t {
	case 1:
		return Disk
	case 2:
		return SSD
	case 3:
		return Archive
	case 5:
		return Provided
	case 6:
		return NVDIMM
	}
	return -1
}

package imagetest

import (
	pb "fsweep/proto/fsimage"
)

// Kinds of strings. A masked table keeps an id space for each; its keys carry the
// kind in the highest bits.
const (
	stringUser  = 1
	stringGroup = 2
	stringXAttr = 3
)

// maskedLayout is the first layout version whose string table is masked.
const maskedLayout int32 = -65

// stringTable gives out serial numbers in the order of first use, from 1; 0 means
// no string.
type stringTable struct {
	masked bool
	ids    map[stringKey]uint32
	keys   []stringKey
	last   [4]uint32
}

type stringKey struct {
	kind uint32
	str  string
}

func newStringTable(masked bool) *stringTable {
	return &stringTable{masked: masked, ids: map[stringKey]uint32{}}
}

func (s *stringTable) id(kind uint32, str string) uint32 {
	if str == "" {
		return 0
	}
	if !s.masked {
		kind = 0
	}
	k := stringKey{kind, str}
	if id, ok := s.ids[k]; ok {
		return id
	}
	s.last[kind]++
	s.ids[k] = s.last[kind]
	s.keys = append(s.keys, k)
	return s.last[kind]
}

func (s *stringTable) permission(owner, group string, mode uint16) uint64 {
	return uint64(s.id(stringUser, owner))<<40 | uint64(s.id(stringGroup, group))<<16 | uint64(mode)
}

func (s *stringTable) acl(entries []ACL) *pb.INodeSection_AclFeatureProto {
	if len(entries) == 0 {
		return nil
	}
	m := &pb.INodeSection_AclFeatureProto{}
	for _, e := range entries {
		v := e.Perm&7 | e.Type&3<<3
		if e.Default {
			v |= 1 << 5
		}
		kind := uint32(stringUser)
		if e.Type == 1 {
			kind = stringGroup
		}
		m.Entries = append(m.Entries, v|s.id(kind, e.Name)<<6)
	}
	return m
}

func (s *stringTable) xattrs(attrs []XAttr) *pb.INodeSection_XAttrFeatureProto {
	if len(attrs) == 0 {
		return nil
	}
	m := &pb.INodeSection_XAttrFeatureProto{}
	for _, a := range attrs {
		m.XAttrs = append(m.XAttrs, &pb.INodeSection_XAttrCompactProto{
			Name: new(s.xattrName(a.Namespace, a.Name)), Value: a.Value,
		})
	}
	return m
}

// xattrName packs the namespace's two low bits, the name and the namespace's high bit.
func (s *stringTable) xattrName(namespace uint32, name string) uint32 {
	return namespace&3<<30 | s.id(stringXAttr, name)<<6 | namespace>>2<<5
}

// section returns STRING_TABLE.
func (s *stringTable) section() *Section {
	h := &pb.StringTableSection{NumEntry: new(uint32(len(s.keys)))}
	if s.masked {
		h.MaskBits = new(uint32(3))
	}
	sec := &Section{Name: StringTable}
	sec.Add(h)
	for _, k := range s.keys {
		sec.Add(&pb.StringTableSection_Entry{Id: new(s.ids[k] | k.kind<<29), Str: new(k.str)})
	}
	return sec
}

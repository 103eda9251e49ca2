package fsimage

// The parts of an inode that few have: ACL, extended attributes, quotas by
// storage type, the writer of an open file, and the directory and symlink
// messages around them.

// unmarshal merges the message b into d.
func (d *INodeDirectory) unmarshal(b []byte) error {
	for i := d.usual(b); i < len(b); {
		tag, k := field(b, i)
		if k < 0 {
			return errWire
		}
		i = k
		var v uint64
		var sub []byte
		var err error
		switch tag {
		case 1<<3 | wireVarint:
			d.MTimeMs, i = uvarint(b, i)
		case 2<<3 | wireVarint:
			v, i = uvarint(b, i)
			d.NSQuota = int64(v)
		case 3<<3 | wireVarint:
			v, i = uvarint(b, i)
			d.DSQuota = int64(v)
		case 4<<3 | wireFixed64:
			v, i = fixed64(b, i)
			d.Permission = Permission(v)
		case 5<<3 | wireBytes:
			if sub, i = message(b, i); i >= 0 {
				d.ACL, err = appendACL(d.ACL, sub)
			}
		case 6<<3 | wireBytes:
			if sub, i = message(b, i); i >= 0 {
				d.XAttrs, err = appendXAttrs(d.XAttrs, sub)
			}
		case 7<<3 | wireBytes:
			if sub, i = message(b, i); i >= 0 {
				d.TypeQuotas, err = appendTypeQuotas(d.TypeQuotas, sub)
			}
		default:
			i = skip(b, i, tag)
		}
		if err != nil {
			return err
		}
		if i < 0 {
			return errWire
		}
	}
	return nil
}

func (s *INodeSymlink) unmarshal(b []byte) error {
	for i := 0; i < len(b); {
		tag, k := field(b, i)
		if k < 0 {
			return errWire
		}
		i = k
		var v uint64
		switch tag {
		case 1<<3 | wireFixed64:
			v, i = fixed64(b, i)
			s.Permission = Permission(v)
		case 2<<3 | wireBytes:
			s.Target, i = lenBytes(b, i)
		case 3<<3 | wireVarint:
			s.MTimeMs, i = uvarint(b, i)
		case 4<<3 | wireVarint:
			s.ATimeMs, i = uvarint(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return errWire
		}
	}
	return nil
}

func (u *UnderConstruction) unmarshal(b []byte) error {
	for i := 0; i < len(b); {
		tag, k := field(b, i)
		if k < 0 {
			return errWire
		}
		i = k
		switch tag {
		case 1<<3 | wireBytes:
			u.ClientName, i = lenBytes(b, i)
		case 2<<3 | wireBytes:
			u.ClientMachine, i = lenBytes(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return errWire
		}
	}
	return nil
}

// appendACL reads the entries of an AclFeatureProto, packed or not.
func appendACL(acl []uint32, b []byte) ([]uint32, error) {
	for i := 0; i < len(b); {
		tag, k := field(b, i)
		if k < 0 {
			return acl, errWire
		}
		i = k
		switch tag {
		case 2<<3 | wireBytes:
			var sub []byte
			if sub, i = message(b, i); i < 0 || len(sub)%4 != 0 {
				return acl, errWire
			}
			for j := 0; j < len(sub); j += 4 {
				v, _ := fixed32(sub, j)
				acl = append(acl, v)
			}
		case 2<<3 | wireFixed32:
			var v uint32
			if v, i = fixed32(b, i); i >= 0 {
				acl = append(acl, v)
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return acl, errWire
		}
	}
	return acl, nil
}

// appendXAttrs reads the attributes of an XAttrFeatureProto.
func appendXAttrs(xs []XAttr, b []byte) ([]XAttr, error) {
	err := eachMessage(b, func(sub []byte) error {
		var x XAttr
		has := false
		for i := 0; i < len(sub); {
			tag, k := field(sub, i)
			if k < 0 {
				return errWire
			}
			i = k
			switch tag {
			case 1<<3 | wireFixed32:
				x.Name, i = fixed32(sub, i)
				has = true
			case 2<<3 | wireBytes:
				x.Value, i = lenBytes(sub, i)
			default:
				i = skip(sub, i, tag)
			}
			if i < 0 {
				return errWire
			}
		}
		if !has {
			return errRequired
		}
		xs = append(xs, x)
		return nil
	})
	return xs, err
}

// appendTypeQuotas reads the entries of a QuotaByStorageTypeFeatureProto.
func appendTypeQuotas(qs []TypeQuota, b []byte) ([]TypeQuota, error) {
	const hasType, hasQuota = 1, 2
	err := eachMessage(b, func(sub []byte) error {
		var q TypeQuota
		var has uint8
		for i := 0; i < len(sub); {
			tag, k := field(sub, i)
			if k < 0 {
				return errWire
			}
			i = k
			switch tag {
			case 1<<3 | wireVarint:
				var v uint64
				if v, i = uvarint(sub, i); i >= 0 && 1 <= int32(v) && int32(v) <= 6 {
					q.Type = uint8(v)
					has |= hasType
				}
			case 2<<3 | wireVarint:
				q.Quota, i = uvarint(sub, i)
				has |= hasQuota
			default:
				i = skip(sub, i, tag)
			}
			if i < 0 {
				return errWire
			}
		}
		if has != hasType|hasQuota {
			return errRequired
		}
		qs = append(qs, q)
		return nil
	})
	return qs, err
}

// eachMessage calls fn for every message of the repeated field 1 of b.
func eachMessage(b []byte, fn func(sub []byte) error) error {
	for i := 0; i < len(b); {
		tag, k := field(b, i)
		if k < 0 {
			return errWire
		}
		i = k
		if tag == 1<<3|wireBytes {
			var sub []byte
			if sub, i = message(b, i); i >= 0 {
				if err := fn(sub); err != nil {
					return err
				}
			}
		} else {
			i = skip(b, i, tag)
		}
		if i < 0 {
			return errWire
		}
	}
	return nil
}

// Namespaces of extended attributes.
const (
	XAttrUser     = 0
	XAttrTrusted  = 1
	XAttrSecurity = 2
	XAttrSystem   = 3
	XAttrRaw      = 4
)

// Namespace is the namespace of the attribute's name: two bits at the top and,
// since raw was added, a third at bit 5.
func (x XAttr) Namespace() int { return int(x.Name>>30&3 | x.Name>>5&1<<2) }

// NameID is the id of the name in the string table, without its namespace.
func (x XAttr) NameID() uint32 { return x.Name >> 6 & (1<<24 - 1) }

// The parts of an ACL entry.
const (
	ACLUser  = 0
	ACLGroup = 1
	ACLMask  = 2
	ACLOther = 3
)

// ACLEntry is the unpacked form of an entry of [INodeFile.ACL] or [INodeDirectory.ACL].
type ACLEntry struct {
	Permission uint8 // rwx bits
	Type       uint8 // ACLUser …
	Default    bool  // scope: default, not access
	NameID     uint32
}

// UnpackACL takes an entry apart.
func UnpackACL(e uint32) ACLEntry {
	return ACLEntry{Permission: uint8(e & 7), Type: uint8(e >> 3 & 3), Default: e>>5&1 == 1, NameID: e >> 6 & (1<<24 - 1)}
}

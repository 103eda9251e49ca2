package namespace

import (
	"strconv"

	"fsweep/fsimage"
)

// OwnerName is the name of the user of a permission. An id that the image's
// string table lacks is shown as "#" and the number.
func (t *Tree) OwnerName(p fsimage.Permission) string {
	return t.stringOf(fsimage.UserString, p.User())
}

// GroupName is the name of the group of a permission; see [Tree.OwnerName].
func (t *Tree) GroupName(p fsimage.Permission) string {
	return t.stringOf(fsimage.GroupString, p.Group())
}

func (t *Tree) stringOf(k fsimage.StringKind, id uint32) string {
	if s, ok := t.strings.Lookup(k, id); ok {
		return s
	}
	if id == 0 {
		return ""
	}
	return "#" + strconv.FormatUint(uint64(id), 10)
}

// FileECPolicy is the name of the erasure coding policy of a file, empty if it
// is replicated.
func (t *Tree) FileECPolicy(f *fsimage.INodeFile) string {
	if !f.Striped {
		return ""
	}
	if p, ok := t.ec[f.ECPolicy]; ok {
		return p.name
	}
	return "#" + strconv.FormatUint(uint64(f.ECPolicy), 10)
}

// filePolicy is the storage policy in force for a file of a directory.
func (t *Tree) filePolicy(d Dir, f *fsimage.INodeFile) uint8 {
	p := localPolicy(f.StoragePolicy)
	if p == unspecified {
		p = t.attr.at(d).effective
	}
	if f.Striped && !stripedPolicy(p) {
		return unspecified
	}
	return p
}

// aclEntries writes ACL entries as HDFS shows them: user:carol:r-x.
func (t *Tree) aclEntries(acl []uint32) []string {
	var out []string
	for _, packed := range acl {
		e := fsimage.UnpackACL(packed)
		b := make([]byte, 0, 32)
		if e.Default {
			b = append(b, "default:"...)
		}
		kind := fsimage.UserString
		switch e.Type {
		case fsimage.ACLUser:
			b = append(b, "user:"...)
		case fsimage.ACLGroup:
			b = append(b, "group:"...)
			kind = fsimage.GroupString
		case fsimage.ACLMask:
			b = append(b, "mask:"...)
		default:
			b = append(b, "other:"...)
		}
		if e.NameID != 0 {
			b = append(b, t.stringOf(kind, e.NameID)...)
		}
		b = append(b, ':')
		for i, c := range "rwx" {
			if e.Permission>>(2-i)&1 == 0 {
				c = '-'
			}
			b = append(b, byte(c))
		}
		out = append(out, string(b))
	}
	return out
}

// xattrNames gives the names of extended attributes with their namespaces.
func (t *Tree) xattrNames(xs []fsimage.XAttr) []string {
	var out []string
	for _, x := range xs {
		prefix := [...]string{"user.", "trusted.", "security.", "system.", "raw."}
		ns := x.Namespace()
		if ns >= len(prefix) {
			continue
		}
		out = append(out, prefix[ns]+t.stringOf(fsimage.XAttrString, x.NameID()))
	}
	return out
}

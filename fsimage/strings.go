package fsimage

import (
	"context"

	pb "fsweep/proto/fsimage"
)

// StringKind is the name space of a string id. Images before layout -65 keep
// all strings in one; later ones keep the kind in the top bits of the key.
type StringKind uint8

// The kinds of strings.
const (
	UserString  StringKind = 1
	GroupString StringKind = 2
	XAttrString StringKind = 3
)

// StringTable maps ids of users, groups and names of extended attributes to
// strings. It does not change after it was read.
type StringTable struct {
	maskBits uint32
	byKey    map[uint32]string
}

// Lookup finds the string of an id. Id 0 is the absent string.
func (t *StringTable) Lookup(k StringKind, id uint32) (string, bool) {
	if t.maskBits != 0 {
		id |= uint32(k) << (32 - t.maskBits)
	}
	s, ok := t.byKey[id]
	return s, ok
}

// Len is the number of strings.
func (t *StringTable) Len() int { return len(t.byKey) }

// Strings reads section STRING_TABLE.
func (im *Image) Strings(ctx context.Context) (*StringTable, error) {
	t := &StringTable{byKey: map[uint32]string{}}
	err := im.section(ctx, SectionStringTable, func(r *records) error {
		h := new(pb.StringTableSection)
		if err := r.must(h, "the header"); err != nil {
			return err
		}
		if m := h.GetMaskBits(); m == 1 || m > 8 { // kinds need two bits, ids of owners have 24
			return r.error(unsupportedf("string table with %d mask bits", h.GetMaskBits()))
		}
		t.maskBits = h.GetMaskBits()
		for range h.GetNumEntry() {
			e := new(pb.StringTableSection_Entry)
			if err := r.must(e, "a string"); err != nil {
				return err
			}
			t.byKey[e.GetId()] = e.GetStr()
		}
		return r.end()
	})
	return t, err
}

package fsimage

// ChosenINodes is INodes for who wants few of the records: of a record in the
// form that NameNodes write only the id is read, and skip is asked whether that
// was enough. All others are decoded and handed to fn whatever skip would say.
func (b *Batch) ChosenINodes(n *INode, skip func(id uint64) bool, fn func(*INode) error) error {
	return b.each(func(msg []byte) error {
		if id, ok := usualID(msg); ok && skip(id) {
			return nil
		}
		if err := n.unmarshal(msg); err != nil {
			return err
		}
		return fn(n)
	})
}

// usualID gives the id of a record that has type, id, name and the part of its
// type, in this order and nothing else. The part may still be damaged inside.
func usualID(b []byte) (id uint64, ok bool) {
	if len(b) < 8 || cap(b)-len(b) < slack {
		return 0, false
	}
	full := b[:cap(b)]
	typ := Type(b[1])
	if b[0] != 1<<3 || typ < FileType || typ > SymlinkType || b[2] != 2<<3 {
		return 0, false
	}
	id, k := varint(word(full, 3))
	i := 3 + k
	if k > 8 || full[i] != 3<<3|byte(wireBytes) || full[i+1] >= 0x80 {
		return 0, false
	}
	i += 2 + int(full[i+1])
	if i >= len(b) || b[i] != byte(typ+3)<<3|byte(wireBytes) {
		return 0, false
	}
	size, k := varint(word(full, i+1))
	return id, k <= 4 && i+1+k+int(size) == len(b)
}

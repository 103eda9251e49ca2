package fsimage

// ChosenINodes is INodes for who wants few of the records: of a record in the
// form that NameNodes write only the id is read, and skip is asked whether that
// was enough. All others are decoded and handed to fn whatever skip would say.
func (b *Batch) ChosenINodes(n *INode, skip func(id uint64) bool, fn func(*INode) error) error {
	return b.each(func(msg []byte) error {
		if _, id, _, ok := usualHead(msg); ok && skip(id) {
			return nil
		}
		if err := n.unmarshal(msg); err != nil {
			return err
		}
		return fn(n)
	})
}

// NamedINodes is ChosenINodes for who has to know type and name as well. name is valid
// until skip returns.
func (b *Batch) NamedINodes(n *INode, skip func(typ Type, id uint64, name []byte) bool, fn func(*INode) error) error {
	return b.each(func(msg []byte) error {
		if typ, id, name, ok := usualHead(msg); ok && skip(typ, id, name) {
			return nil
		}
		if err := n.unmarshal(msg); err != nil {
			return err
		}
		return fn(n)
	})
}

// usualHead gives type, id and name of a record that has those and the part of its
// type, in this order and nothing else. The part may still be damaged inside.
func usualHead(b []byte) (typ Type, id uint64, name []byte, ok bool) {
	if len(b) < 8 || cap(b)-len(b) < slack {
		return 0, 0, nil, false
	}
	full := b[:cap(b)]
	typ = Type(b[1])
	if b[0] != 1<<3 || typ < FileType || typ > SymlinkType || b[2] != 2<<3 {
		return 0, 0, nil, false
	}
	id, k := varint(word(full, 3))
	i := 3 + k
	if k > 8 || full[i] != 3<<3|byte(wireBytes) || full[i+1] >= 0x80 {
		return 0, 0, nil, false
	}
	start := i + 2
	i = start + int(full[i+1])
	if i >= len(b) || b[i] != byte(typ+3)<<3|byte(wireBytes) {
		return 0, 0, nil, false
	}
	size, k := varint(word(full, i+1))
	return typ, id, b[start:i:i], k <= 4 && i+1+k+int(size) == len(b)
}

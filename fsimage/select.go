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
	w := (*window)(full)
	typ = Type(w[1])
	id, k := short(w.word(3))
	if k > 4 {
		id, k = varint(w.word(3))
	}
	length := int(w.at(4 + k))
	if w[0] != 1<<3 || typ < FileType || typ > SymlinkType || w[2] != 2<<3 || k > 8 || w.at(3+k) != 3<<3|byte(wireBytes) || length >= 0x80 {
		return 0, 0, nil, false
	}
	start := 5 + k
	i := start + length
	if i >= len(b) || b[i] != byte(typ+3)<<3|byte(wireBytes) {
		return 0, 0, nil, false
	}
	w = (*window)(full[i:])
	size, k := uint64(w[1]), 1
	if size >= 0x80 {
		size, k = short(w.word(1))
	}
	return typ, id, b[start:i:i], k <= 4 && i+1+k+int(size) == len(b)
}

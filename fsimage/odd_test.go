package fsimage

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The odd records are valid and invalid protobuf that no NameNode writes.

// wire builds messages field by field.
type wire []byte

func (w wire) varint(n protowire.Number, v uint64) wire {
	return protowire.AppendVarint(protowire.AppendTag(w, n, protowire.VarintType), v)
}

func (w wire) bytes(n protowire.Number, b []byte) wire {
	return protowire.AppendBytes(protowire.AppendTag(w, n, protowire.BytesType), b)
}

func (w wire) fixed32(n protowire.Number, v uint32) wire {
	return protowire.AppendFixed32(protowire.AppendTag(w, n, protowire.Fixed32Type), v)
}

func (w wire) fixed64(n protowire.Number, v uint64) wire {
	return protowire.AppendFixed64(protowire.AppendTag(w, n, protowire.Fixed64Type), v)
}

func (w wire) group(n protowire.Number, inside []byte) wire {
	w = protowire.AppendTag(w, n, protowire.StartGroupType)
	return protowire.AppendTag(append(w, inside...), n, protowire.EndGroupType)
}

func (w wire) raw(b ...byte) wire { return append(w, b...) }

// nested gives depth groups inside each other.
func nested(depth int) []byte {
	var b []byte
	for range depth {
		b = protowire.AppendTag(b, 99, protowire.StartGroupType)
	}
	for range depth {
		b = protowire.AppendTag(b, 99, protowire.EndGroupType)
	}
	return b
}

func oddINodes() [][]byte {
	head := func(typ uint64) wire { return wire{}.varint(1, typ).varint(2, 16386).bytes(3, []byte("n")) }
	file := func(f wire) []byte { return head(1).bytes(4, f) }
	dir := func(d wire) []byte { return head(2).bytes(5, d) }
	link := func(s wire) []byte { return head(3).bytes(6, s) }
	block := wire{}.varint(1, 5).varint(2, 6).varint(3, 7)
	xattr := wire{}.fixed32(1, 77).bytes(2, []byte("v"))
	quota := wire{}.varint(1, 2).varint(2, 99)
	fixeds := func(vs ...uint32) (b []byte) {
		for _, v := range vs {
			b = protowire.AppendFixed32(b, v)
		}
		return b
	}
	overlong := []byte{0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00} // 5 in ten bytes
	tooLong := []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}  // above 2^64

	return slices.Concat([][]byte{
		{},
		{0},
		{0xff},
		nil,
		head(1), head(2), head(3),
		// required fields
		wire{}.varint(1, 1), wire{}.varint(2, 1), wire{}.bytes(3, []byte("n")),
		file(wire{}.bytes(6, wire{}.varint(1, 5))), file(wire{}.bytes(6, wire{}.varint(2, 5))), file(wire{}.bytes(6, nil)),
		file(wire{}.bytes(9, wire{}.bytes(1, wire{}.bytes(2, []byte("v"))))),
		dir(wire{}.bytes(6, wire{}.bytes(1, nil))),
		dir(wire{}.bytes(7, wire{}.bytes(1, wire{}.varint(1, 1)))), dir(wire{}.bytes(7, wire{}.bytes(1, wire{}.varint(2, 1)))),
		// enums
		head(0), head(4), head(7).varint(1, 2), head(2).varint(1, 7), head(1<<32 + 1), head(1 << 63), head(^uint64(0)),
		file(wire{}.varint(11, 2)), file(wire{}.varint(11, 1).varint(11, 5)), file(wire{}.varint(11, 1).varint(11, 0)), file(wire{}.varint(11, 1<<32)),
		dir(wire{}.bytes(7, wire{}.bytes(1, wire{}.varint(1, 7).varint(2, 1)))), dir(wire{}.bytes(7, wire{}.bytes(1, wire{}.varint(1, 6).varint(1, 9).varint(2, 1)))),
	}, [][]byte{
		// sub-messages that stand twice are one
		head(1).bytes(4, wire{}.varint(1, 3).bytes(6, block)).bytes(4, wire{}.varint(2, 9).bytes(6, block)),
		head(2).bytes(5, wire{}.varint(2, 3)).bytes(5, wire{}.varint(3, 4)),
		head(3).bytes(6, wire{}.bytes(2, []byte("a"))).bytes(6, wire{}.bytes(2, []byte("b"))),
		file(wire{}.bytes(7, wire{}.bytes(1, []byte("client"))).bytes(7, wire{}.bytes(2, []byte("host")))),
		file(wire{}.bytes(7, nil)), file(wire{}.bytes(7, []byte{0x0a, 0x02, 0xff, 0xfe})), // not UTF-8
		// all parts at once, in the wrong order
		wire{}.bytes(6, wire{}.varint(3, 1)).bytes(5, wire{}.varint(1, 2)).bytes(4, wire{}.varint(2, 3)).varint(2, 9).varint(1, 1),
		// packed and not
		file(wire{}.bytes(8, wire{}.bytes(2, fixeds(1, 2)).fixed32(2, 3).bytes(2, fixeds(4)))), file(wire{}.bytes(8, wire{}.bytes(2, []byte{1, 2, 3}))),
		dir(wire{}.bytes(5, wire{}.bytes(2, fixeds(9)))), dir(wire{}.bytes(5, wire{}.bytes(1, fixeds(9)))), dir(wire{}.bytes(5, wire{}.fixed32(1, 9))),
		file(wire{}.bytes(9, wire{}.bytes(1, xattr).bytes(1, xattr)).bytes(9, wire{}.bytes(1, xattr))),
		dir(wire{}.bytes(7, wire{}.bytes(1, quota)).bytes(7, wire{}.bytes(1, quota))),
		// unknown fields, groups, other wire types for known fields
		head(1).varint(100, 1).bytes(101, []byte("u")).fixed32(102, 1).fixed64(103, 1), head(1).group(9, wire{}.varint(1, 1)), head(1).group(1, nil),
		head(1).raw(0x0c), head(1).raw(0x0b), head(1).group(4, block), head(2).raw(nested(200)...), head(2).raw(nested(10_001)...), head(2).raw(nested(9_999)...),
		wire{}.varint(1, 1).fixed64(2, 1), wire{}.fixed32(1, 1).varint(2, 1), head(1).varint(3, 5), head(1).varint(4, 5), head(2).fixed64(5, 5),
		file(wire{}.varint(5, 1).fixed32(1, 1).fixed64(2, 1).varint(6, 1).varint(8, 1).bytes(10, nil).bytes(11, nil).bytes(12, nil)), dir(wire{}.varint(4, 1).bytes(1, nil)),
		link(wire{}.varint(1, 1).varint(2, 1).bytes(3, nil)), link(wire{}.fixed64(1, 1)),
	}, [][]byte{
		// varints: longer than needed, too long, cut off; values wider than the field
		wire{}.raw(8).raw(overlong...).raw(16, 1), wire{}.raw(8, 1, 16).raw(tooLong...), wire{}.raw(8, 1, 16, 0x80),
		wire{}.raw(0x88, 0x80, 0x00, 1, 16, 1),                        // the tag itself is longer than needed
		head(1).raw(0x80, 0x80, 0x80, 0x80, 0x80, 0x01),               // field number above 2^29
		head(1).raw(0xf8, 0xff, 0xff, 0xff, 0x0f, 1),                  // the highest field number
		head(1).raw(0x00, 1), head(1).raw(0x06), head(1).raw(0x0f, 1), // field 0; wire types 6 and 7
		file(wire{}.varint(1, 1<<40|3)), file(wire{}.varint(10, 1<<32|7)), file(wire{}.varint(12, ^uint64(0))), dir(wire{}.varint(2, ^uint64(0)).varint(3, 1<<63)),
		// lengths
		wire{}.raw(8, 1, 16, 1, 0x1a, 5, 'a'), wire{}.raw(8, 1, 16, 1, 0x22, 0xff, 0xff, 0xff, 0xff, 0x0f), wire{}.raw(8, 1, 16, 1, 0x1a).raw(tooLong...),
		wire{}.raw(8, 1, 16, 1, 0x1a).raw(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		file(wire{}.fixed64(5, 1)[:5]), file(wire{}.bytes(9, wire{}.bytes(1, wire{}.fixed32(1, 1)[:3]))), head(1)[:4], file(block)[:9],
		head(1).bytes(3, nil), head(1).bytes(3, bytes.Repeat([]byte{'x'}, 300)),
	})
}

func oddDirEntries() [][]byte {
	packed := []byte{1, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
	return [][]byte{
		{},
		{0},
		wire{}.varint(1, 5), wire{}.bytes(2, packed).varint(1, 7).bytes(2, packed).varint(2, 9).varint(1, 8),
		wire{}.bytes(3, packed).varint(3, 1<<40|5).bytes(3, nil), wire{}.bytes(2, nil), wire{}.bytes(2, []byte{0x80}), wire{}.bytes(3, []byte{0x80}),
		wire{}.bytes(2, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}), wire{}.bytes(2, packed)[:9],
		wire{}.fixed64(1, 5).fixed32(2, 1).fixed64(3, 1), wire{}.bytes(1, nil), wire{}.group(2, nil), wire{}.group(7, wire{}.varint(1, 1)), wire{}.varint(99, 1),
		wire{}.raw(0x0c), wire{}.raw(0x13), wire{}.raw(0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), wire{}.raw(8).raw(0x80, 0x80),
	}
}

// mutate changes a record in one to three ways that often leave it decodable.
func mutate(r *rand.Rand, records [][]byte) []byte {
	b := bytes.Clone(records[r.IntN(len(records))])
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			b = append(b, byte(r.IntN(256)))
		}
		i := r.IntN(len(b))
		switch r.IntN(8) {
		case 0, 1:
			b[i] ^= 1 << r.IntN(8)
		case 2:
			b[i] = byte(r.IntN(256))
		case 3:
			b = slices.Insert(b, i, byte(r.IntN(256)))
		case 4:
			b = slices.Delete(b, i, i+1)
		case 5:
			b = b[:i]
		case 6: // records merge
			b = append(b, records[r.IntN(len(records))]...)
		case 7: // a tag of another field or wire type
			b[i] = byte(r.IntN(16)<<3 | r.IntN(6))
		}
	}
	return b
}

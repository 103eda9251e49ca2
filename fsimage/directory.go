package fsimage

import (
	"context"
	"math/bits"
	"slices"
)

// DirEntry is one record of section INODE_DIR: the children of a directory in
// the order of the file, which is that of their names' bytes. Its slices are
// re-used: they are valid until the callback that received it returns.
type DirEntry struct {
	Parent      uint64   // inode id
	Children    []uint64 // inode ids
	RefChildren []uint32 // positions in section INODE_REFERENCE
}

// UnmarshalDirEntry decodes one DirEntry message into e, re-using e's memory. It
// accepts and refuses exactly what the generated code for the message does.
func UnmarshalDirEntry(b []byte, e *DirEntry) error { return e.unmarshal(slices.Clip(b)) }

func (e *DirEntry) unmarshal(b []byte) error {
	e.Parent, e.Children, e.RefChildren = 0, e.Children[:0], e.RefChildren[:0]
	for i := 0; i < len(b); {
		tag, k := field(b, i)
		if k < 0 {
			return errWire
		}
		i = k
		var v uint64
		var sub []byte
		switch tag {
		case 1<<3 | wireVarint:
			e.Parent, i = uvarint(b, i)
		case 2<<3 | wireBytes:
			if sub, i = message(b, i); i >= 0 {
				if e.Children = appendVarints(e.Children, sub); e.Children == nil {
					return errWire
				}
			}
		case 2<<3 | wireVarint:
			v, i = uvarint(b, i)
			e.Children = append(e.Children, v)
		case 3<<3 | wireBytes:
			if sub, i = message(b, i); i >= 0 {
				if e.RefChildren = appendVarints(e.RefChildren, sub); e.RefChildren == nil {
					return errWire
				}
			}
		case 3<<3 | wireVarint:
			v, i = uvarint(b, i)
			e.RefChildren = append(e.RefChildren, uint32(v))
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return errWire
		}
	}
	return nil
}

// appendVarints appends the packed varints of b, and gives nil if b is not made
// of whole ones.
func appendVarints[T uint32 | uint64](vs []T, b []byte) []T {
	if vs == nil {
		vs = []T{}
	}
	i := 0
	if full := b[:cap(b)]; len(full)-len(b) >= slack {
		for i < len(b) {
			// Two at once, if both are in these eight bytes and neither has more than
			// four: the second one does not wait for where the first one ends.
			x := word(full, i)
			stop := ^x & 0x8080808080808080
			later := stop & (stop - 1)
			end, end2 := bits.TrailingZeros64(stop), bits.TrailingZeros64(later)
			if end < 32 && end2 <= end+32 && i+end2>>3 < len(b) && later != 0 {
				first, second := x&(stop^(stop-1)), x&(later^(later-1))>>(uint(end)&63)>>1
				vs = append(vs, T(fold(uint32(first))), T(fold(uint32(second))))
				i += end2>>3 + 1
				continue
			}
			v, k := varint(x)
			if k > 8 {
				break
			}
			i += k
			vs = append(vs, T(v))
		}
		if i > len(b) {
			return nil // the last one does not end in b
		}
	}
	for i < len(b) {
		v := uint64(b[i])
		if v < 0x80 {
			i++
		} else if v, i = uvarint(b, i); i < 0 {
			return nil
		}
		vs = append(vs, T(v))
	}
	return vs
}

// Directories decodes section INODE_DIR with so many goroutines; fn calls
// [Batch.Directories]. See [Image.INodes].
func (im *Image) Directories(ctx context.Context, workers int, fn func(worker int, b *Batch) error) error {
	sec, ok := im.Section(SectionDirectory)
	if !ok {
		return frameError(im.sum.Offset, corruptf("no section %s", SectionDirectory))
	}
	s, err := im.stream(ctx, sec)
	if err != nil {
		return err
	}
	defer s.close()
	return s.batches(workers, fn)
}

// Directories decodes every record of the batch into e, in order, and calls fn
// after each.
func (b *Batch) Directories(e *DirEntry, fn func(*DirEntry) error) error {
	return b.each(func(msg []byte) error {
		if err := e.unmarshal(msg); err != nil {
			return err
		}
		return fn(e)
	})
}

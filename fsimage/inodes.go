package fsimage

import (
	"context"
	"errors"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// INodes decodes section INODE with so many goroutines. For each batch of
// records fn is called with the number of the goroutine, and calls [Batch.INodes]
// to see the records; batches are numbered in the order of the file but may be
// handled out of order. It returns the number of inodes that the section's
// header announces and the number of records that were there.
func (im *Image) INodes(ctx context.Context, workers int, fn func(worker int, b *Batch) error) (announced, seen int64, err error) {
	sec, ok := im.Section(SectionINode)
	if !ok {
		return 0, 0, frameError(im.sum.Offset, corruptf("no section %s", SectionINode))
	}
	s, err := im.stream(ctx, sec)
	if err != nil {
		return 0, 0, err
	}
	defer s.close()
	h, err := s.inodeHeader()
	if err != nil {
		return 0, 0, err
	}
	err = s.batches(workers, fn)
	return int64(h.GetNumInodes()), s.record, err
}

// inodeHeader reads the section's first message and leaves the stream after it,
// with records counted from 0 again.
func (s *stream) inodeHeader() (*pb.INodeSection, error) {
	var h pb.INodeSection
	b, _, err := s.fill(make([]byte, 4096))
	if errors.Is(err, io.EOF) {
		return nil, s.error(0, -1, truncatedf("the section is empty"))
	} else if err != nil {
		return nil, err
	}
	size, k := uvarint(b.data, 0)
	end := k + int(size)
	if err := proto.Unmarshal(b.data[k:end], &h); err != nil {
		return nil, s.error(0, -1, corruptf("header: %v", err))
	}
	s.carry = append(append([]byte(nil), b.data[end:]...), s.carry...)
	s.offset, s.record, s.seq = int64(end), 0, 0
	s.failed = nil // it is found again, and counted from 0
	return &h, nil
}

// INodes decodes every record of the batch into n, in order, and calls fn after
// each. An error of fn is placed at its record.
func (b *Batch) INodes(n *INode, fn func(*INode) error) error {
	return b.each(func(msg []byte) error {
		if err := n.unmarshal(msg); err != nil {
			return err
		}
		return fn(n)
	})
}

// SomeINodes is INodes for who can do without most files: of a file it reads id
// and name alone and asks skip whether that was enough.
func (b *Batch) SomeINodes(n *INode, skip func(id uint64, name []byte) bool, fn func(*INode) error) error {
	return b.each(func(msg []byte) error {
		if id, name, ok := plainFile(msg); ok && skip(id, name) {
			return nil
		}
		if err := n.unmarshal(msg); err != nil {
			return err
		}
		return fn(n)
	})
}

// plainFile gives id and name of a file whose record has type, id, name and file
// in this order and nothing else, as a NameNode writes it.
func plainFile(b []byte) (id uint64, name []byte, ok bool) {
	if len(b) < 8 || b[0] != 1<<3 || b[1] != byte(FileType) || b[2] != 2<<3 {
		return 0, nil, false
	}
	id, i := uvarint(b, 3)
	if i < 0 || i >= len(b) || b[i] != 3<<3|byte(wireBytes) {
		return 0, nil, false
	}
	if name, i = message(b, i+1); i < 0 || i >= len(b) || b[i] != 4<<3|byte(wireBytes) {
		return 0, nil, false
	}
	_, i = message(b, i+1)
	return id, slices.Clip(name), i == len(b)
}

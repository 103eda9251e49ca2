package imagetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// Bare is the result of BareDecode.
type Bare struct {
	Inodes   int64  `json:"inodes"`
	Checksum uint64 `json:"checksum"` // over everything that was read
}

// errShort says that a message ends early or that a section does.
var errShort = errors.New("imagetest: truncated or garbled message")

const bareBuffer = 1 << 20

// BareDecode reads id, kind, name, times, permission and blocks of every inode of
// an uncompressed image, on one thread, and nothing else: no checks beyond its own
// safety, no tree, no strings. It is the lower bound that speed is compared with.
func BareDecode(path string) (Bare, error) {
	f, err := os.Open(path)
	if err != nil {
		return Bare{}, err
	}
	defer f.Close()
	sum, err := readSummary(f)
	if err != nil {
		return Bare{}, err
	}
	if sum.GetCodec() != "" {
		return Bare{}, fmt.Errorf("imagetest: %s is compressed", path)
	}
	for _, s := range sum.GetSections() {
		if s.GetName() == INode {
			return bareInodes(f, int64(s.GetOffset()), int64(s.GetLength()))
		}
	}
	return Bare{}, errors.New("imagetest: no section INODE")
}

// readSummary returns the message at the end of an image.
func readSummary(f *os.File) (*pb.FileSummary, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var tail [4]byte
	if _, err := f.ReadAt(tail[:], info.Size()-4); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(tail[:]))
	if n > info.Size()-4-int64(len(Magic)) {
		return nil, errShort
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, info.Size()-4-n); err != nil {
		return nil, err
	}
	_, k := binary.Uvarint(b)
	if k <= 0 {
		return nil, errShort
	}
	sum := &pb.FileSummary{}
	return sum, proto.Unmarshal(b[k:], sum)
}

// bareInodes slides a buffer over the section; a record that the buffer ends in is
// moved to its front and read on.
func bareInodes(f *os.File, offset, length int64) (Bare, error) {
	var out Bare
	buf := make([]byte, bareBuffer)
	held := 0 // bytes at the front, not decoded yet
	header := true
	for length > 0 {
		want := min(int64(len(buf)-held), length)
		if want == 0 {
			return out, errShort // one record longer than the buffer
		}
		n, err := f.ReadAt(buf[held:held+int(want)], offset)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return out, errors.Join(err, errShort)
		}
		offset, length = offset+int64(n), length-int64(n)
		b := buf[:held+n]
		for len(b) > 0 {
			size, k := uvarint(b)
			if k == 0 || uint64(len(b)-k) < size {
				break
			}
			record := b[k : k+int(size)]
			b = b[k+int(size):]
			if header {
				header = false
				continue
			}
			var ok bool
			if out.Checksum, ok = bareInode(record, out.Checksum); !ok {
				return out, errShort
			}
			out.Inodes++
		}
		held = copy(buf, b)
	}
	if held > 0 {
		return out, errShort
	}
	return out, nil
}

// uvarint returns the value and the bytes it takes; 0 bytes mean an error.
func uvarint(b []byte) (uint64, int) {
	v, end := varint(b, 0)
	return v, max(end, 0)
}

// varint reads the varint at b[i:] and returns the place behind it, -1 if there is
// none. A loop beats cleverer ways here: the lengths repeat from inode to inode, so
// its branches are predicted.
func varint(b []byte, i int) (uint64, int) {
	var v uint64
	for shift := uint(0); i < len(b) && shift < 70; shift += 7 {
		c := b[i]
		i++
		v |= uint64(c&0x7f) << (shift & 63)
		if c < 0x80 {
			return v, i
		}
	}
	return 0, -1
}

// bareInode reads one INode message. All tags that matter are one byte.
func bareInode(b []byte, sum uint64) (uint64, bool) {
	for i := 0; i < len(b); {
		tag := b[i]
		v, end := varint(b, i+1)
		if end < 0 {
			return 0, false
		}
		i = end
		switch tag {
		case 1 << 3, 2 << 3: // type, id
			sum = sum*31 + v
			continue
		}
		if tag&7 != 2 || uint64(len(b)-i) < v {
			return 0, false // no other wire type exists in INode
		}
		data := b[i : i+int(v)]
		i += int(v)
		ok := true
		switch tag {
		case 3<<3 | 2:
			sum = sum*31 + v
			if len(data) > 0 {
				sum += uint64(data[0])<<8 | uint64(data[len(data)-1])
			}
		case 4<<3 | 2:
			sum, ok = bareAttributes(data, 6<<3|2, sum)
		case 5<<3 | 2, 6<<3 | 2: // directory, symlink
			sum, ok = bareAttributes(data, 0, sum)
		}
		if !ok {
			return 0, false
		}
	}
	return sum, true
}

// bareAttributes reads the numbers of a message: times and permission, id, stamp
// and size; and the messages with the tag block, if that is not 0.
func bareAttributes(b []byte, block byte, sum uint64) (uint64, bool) {
	for i := 0; i+1 < len(b); {
		tag, v := b[i], uint64(b[i+1])
		if tag&7 == 1 {
			if len(b)-i < 9 {
				return 0, false
			}
			sum, i = sum*31+binary.LittleEndian.Uint64(b[i+1:]), i+9
			continue
		}
		i += 2
		if v >= 0x80 {
			if v, i = varint(b, i-1); i < 0 {
				return 0, false
			}
		}
		if tag&7 == 0 {
			sum = sum*31 + v
			continue
		}
		if tag&7 != 2 || uint64(len(b)-i) < v {
			return 0, false
		}
		if tag == block {
			var ok bool
			if sum, ok = bareAttributes(b[i:i+int(v)], 0, sum); !ok {
				return 0, false
			}
		}
		i += int(v)
	}
	return sum, true
}

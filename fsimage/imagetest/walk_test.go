package imagetest_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// parsed is an image taken apart with generated code only, the slow and obvious way.
type parsed struct {
	summary  *pb.FileSummary
	sections map[string][]byte // by name, decompressed; not the sub-sections
	header   *pb.INodeSection
	inodes   []*pb.INodeSection_INode
	byID     map[uint64]*pb.INodeSection_INode
	dirs     []*pb.INodeDirectorySection_DirEntry
	refs     []*pb.INodeReferenceSection_INodeReference
	strings  map[uint32]string
	mask     uint32
}

func parseImage(t testing.TB, file []byte) *parsed {
	t.Helper()
	if string(file[:8]) != imagetest.Magic {
		t.Fatalf("magic %q", file[:8])
	}
	n := int(binary.BigEndian.Uint32(file[len(file)-4:]))
	p := &parsed{
		summary: &pb.FileSummary{}, sections: map[string][]byte{}, header: &pb.INodeSection{},
		byID: map[uint64]*pb.INodeSection_INode{}, strings: map[uint32]string{},
	}
	rest := next(t, file[len(file)-4-n:len(file)-4], p.summary)
	if len(rest) != 0 {
		t.Fatalf("%d bytes after the summary", len(rest))
	}
	checkLayout(t, p.summary, len(file)-4-n)
	for _, s := range p.summary.GetSections() {
		if !strings.HasSuffix(s.GetName(), "_SUB") {
			b := file[s.GetOffset() : s.GetOffset()+s.GetLength()]
			p.sections[s.GetName()] = decompress(t, p.summary.GetCodec(), b)
		}
	}
	p.parseSections(t)
	return p
}

func (p *parsed) parseSections(t testing.TB) {
	t.Helper()
	b := next(t, p.sections[imagetest.INode], p.header)
	for len(b) > 0 {
		in := &pb.INodeSection_INode{}
		b = next(t, b, in)
		p.inodes = append(p.inodes, in)
		if p.byID[in.GetId()] != nil {
			t.Fatalf("inode %d twice", in.GetId())
		}
		p.byID[in.GetId()] = in
	}
	for b := p.sections[imagetest.INodeDir]; len(b) > 0; {
		e := &pb.INodeDirectorySection_DirEntry{}
		b = next(t, b, e)
		p.dirs = append(p.dirs, e)
	}
	for b := p.sections[imagetest.INodeReference]; len(b) > 0; {
		r := &pb.INodeReferenceSection_INodeReference{}
		b = next(t, b, r)
		p.refs = append(p.refs, r)
	}
	h := &pb.StringTableSection{}
	b = next(t, p.sections[imagetest.StringTable], h)
	p.mask = h.GetMaskBits()
	for len(b) > 0 {
		e := &pb.StringTableSection_Entry{}
		b = next(t, b, e)
		p.strings[e.GetId()] = e.GetStr()
	}
	if len(p.strings) != int(h.GetNumEntry()) {
		t.Fatalf("%d strings, header says %d", len(p.strings), h.GetNumEntry())
	}
}

// next decodes one delimited message and returns what follows it.
func next(t testing.TB, b []byte, m proto.Message) []byte {
	t.Helper()
	v, n := protowire.ConsumeBytes(b)
	if n < 0 {
		t.Fatalf("%T: %v", m, protowire.ParseError(n))
	}
	if err := proto.Unmarshal(v, m); err != nil {
		t.Fatalf("%T: %v", m, err)
	}
	if len(m.ProtoReflect().GetUnknown()) > 0 {
		t.Fatalf("%T: unknown fields", m)
	}
	return b[n:]
}

// checkLayout requires sections that follow each other without gaps, and
// sub-sections that precede their section and cover it exactly.
func checkLayout(t testing.TB, sum *pb.FileSummary, end int) {
	t.Helper()
	at, sub := uint64(len(imagetest.Magic)), uint64(len(imagetest.Magic))
	subs := map[string]int{}
	for _, s := range sum.GetSections() {
		if name, isSub := strings.CutSuffix(s.GetName(), "_SUB"); isSub {
			if s.GetOffset() != sub || s.GetLength() == 0 {
				t.Fatalf("%s at %d with %d bytes, want it at %d", s.GetName(), s.GetOffset(), s.GetLength(), sub)
			}
			sub += s.GetLength()
			subs[name]++
			continue
		}
		if s.GetOffset() != at {
			t.Fatalf("%s at %d, want it at %d", s.GetName(), s.GetOffset(), at)
		}
		at += s.GetLength()
		if subs[s.GetName()] > 0 && sub != at {
			t.Fatalf("the sub-sections of %s end at %d, it at %d", s.GetName(), sub, at)
		}
		sub = at
	}
	gap := end - int(at)
	if sum.GetCodec() == "" && gap != 0 || gap < 0 || gap > 32 {
		t.Fatalf("%d bytes between the last section and the summary", gap)
	}
}

func decompress(t testing.TB, codec string, b []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(b)
	var err error
	switch codec {
	case "":
		return b
	case imagetest.CodecDefault, imagetest.CodecDeflate:
		r, err = zlib.NewReader(r)
	case imagetest.CodecGzip:
		r, err = gzip.NewReader(r)
	case imagetest.CodecZstd:
		r, err = zstd.NewReader(r)
	case imagetest.CodecSnappy:
		return hadoopBlocks(t, b, func(dst, src []byte) (int, error) {
			out, err := snappy.Decode(dst, src)
			return copy(dst, out), err
		})
	case imagetest.CodecLz4:
		return hadoopBlocks(t, b, func(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) })
	default:
		t.Fatalf("codec %q", codec)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hadoopBlocks undoes Hadoop's framing.
func hadoopBlocks(t testing.TB, b []byte, decode func(dst, src []byte) (int, error)) []byte {
	t.Helper()
	var out []byte
	for len(b) > 0 {
		raw := int(binary.BigEndian.Uint32(b))
		b = b[4:]
		for got := 0; got < raw; {
			n := int(binary.BigEndian.Uint32(b))
			dst := make([]byte, raw-got)
			k, err := decode(dst, b[4:4+n])
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, dst[:k]...)
			got += k
			b = b[4+n:]
		}
	}
	return out
}

// listing returns the names of every live path, walking from the root.
func (p *parsed) walk(t testing.TB, visit func(path string, in *pb.INodeSection_INode)) {
	t.Helper()
	entries := map[uint64]*pb.INodeDirectorySection_DirEntry{}
	for _, e := range p.dirs {
		entries[e.GetParent()] = e
	}
	var down func(path string, id uint64, depth int)
	down = func(path string, id uint64, depth int) {
		in := p.byID[id]
		if in == nil {
			t.Fatalf("%s: no inode %d", path, id)
		}
		visit(path, in)
		if depth > 200 {
			t.Fatalf("%s is too deep", path)
		}
		e := entries[id]
		var children []uint64
		children = append(children, e.GetChildren()...)
		for _, r := range e.GetRefChildren() {
			children = append(children, p.refs[r].GetReferredId())
		}
		var names []string
		for _, c := range children {
			name := string(p.byID[c].GetName())
			names = append(names, name)
			down(strings.TrimSuffix(path, "/")+"/"+name, c, depth+1)
		}
		if !slices.IsSorted(names) || len(slices.Compact(names)) != len(children) {
			t.Fatalf("%s: children are not sorted or not distinct", path)
		}
	}
	down("/", imagetest.RootID, 0)
}

// owner returns "user:group:mode" of a permission.
func (p *parsed) owner(permission uint64) string {
	kind := func(k uint32) uint32 {
		if p.mask == 3 {
			return k << 29
		}
		return 0
	}
	return fmt.Sprintf("%s:%s:%04o", p.strings[uint32(permission>>40)|kind(1)],
		p.strings[uint32(permission>>16&0xffffff)|kind(2)], permission&0xffff)
}

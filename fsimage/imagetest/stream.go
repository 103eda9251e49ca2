package imagetest

import (
	"bufio"
	"encoding/binary"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// stream writes an image front to back and keeps the summary. The first error
// sticks and stops everything after it.
type stream struct {
	w     *bufio.Writer
	count *counter
	codec string
	comp  io.WriteCloser // of the open section, when there is a codec
	small *bufio.Writer  // in front of comp: codecs do not like small writes
	sum   *pb.FileSummary
	from  uint64 // offset of the open section
	sub   uint64 // offset of the open sub-section
	err   error
}

type counter struct {
	w io.Writer
	n uint64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	return n, err
}

func newImageStream(w io.Writer, spec Spec) *stream {
	c := &counter{w: w}
	m := Image{Codec: spec.Codec}
	s := &stream{w: bufio.NewWriterSize(c, 1<<20), count: c, codec: spec.Codec, sum: m.newSummary()}
	s.small = bufio.NewWriterSize(io.Discard, 1<<16)
	s.raw([]byte(Magic))
	return s
}

// offset is the file's length so far.
func (s *stream) offset() uint64 { return s.count.n + uint64(s.w.Buffered()) }

func (s *stream) raw(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
}

// begin opens a section.
func (s *stream) begin() {
	s.from = s.offset()
	s.sub = s.from
	if s.codec != "" && s.err == nil {
		if s.comp, s.err = newStream(s.codec, s.w); s.err == nil {
			s.small.Reset(s.comp)
		}
	}
}

// write appends bytes to the open section.
func (s *stream) write(b []byte) {
	if s.err != nil {
		return
	}
	if s.comp != nil {
		_, s.err = s.small.Write(b)
		return
	}
	_, s.err = s.w.Write(b)
}

// record appends one delimited message.
func (s *stream) record(b []byte) {
	var n [10]byte
	s.write(protowire.AppendVarint(n[:0], uint64(len(b))))
	s.write(b)
}

// endSub closes a sub-section; an empty one is left out.
func (s *stream) endSub(name string) {
	if now := s.offset(); now > s.sub {
		s.sum.Sections = append(s.sum.Sections, entry(name, int(s.sub), int(now)))
		s.sub = now
	}
}

// end closes the section.
func (s *stream) end(name string) {
	s.closeCodec()
	s.sum.Sections = append(s.sum.Sections, entry(name, int(s.from), int(s.offset())))
}

func (s *stream) closeCodec() {
	if s.comp == nil || s.err != nil {
		return
	}
	if s.err = s.small.Flush(); s.err == nil {
		s.err = s.comp.Close()
	}
	s.comp = nil
}

// section writes a section of a few messages.
func (s *stream) section(name string, messages ...proto.Message) {
	s.begin()
	s.write(Unit(messages...))
	s.end(name)
}

// finish writes the empty stream that compression leaves, and the summary.
func (s *stream) finish() {
	if s.codec != "" {
		s.begin()
		s.closeCodec()
	}
	b := Unit(s.sum)
	s.raw(binary.BigEndian.AppendUint32(b, uint32(len(b))))
	if s.err == nil {
		s.err = s.w.Flush()
	}
}

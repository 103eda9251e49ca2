package fsimage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// section gives a change of one entry of the summary.
func section(name string, change func(*pb.FileSummary_Section)) func(*imagetest.Image) {
	return func(m *imagetest.Image) {
		m.Break.Summary = func(s *pb.FileSummary) { change(entryOf(s, name)) }
	}
}

func without(name string) func(*imagetest.Image) {
	return func(m *imagetest.Image) { m.Remove(name) }
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		build  func(*imagetest.Image)
		class  error
		says   []string // parts of the message
		offset int64    // -1: where the summary starts; -4: of the last four bytes
	}{
		{"magic", func(m *imagetest.Image) { m.Break.Magic = "HDFSIMG2" }, ErrNotImage, []string{`"HDFSIMG2"`}, 0},
		{"text", func(m *imagetest.Image) {
			m.Break.File = func([]byte) []byte { return []byte("<?xml version=\"1.0\"?>\n") }
		}, ErrNotImage, []string{`"<?xml ve"`}, 0},
		{"empty", func(m *imagetest.Image) { m.Break.File = func([]byte) []byte { return nil } }, ErrNotImage, nil, 0},
		{"half a magic", func(m *imagetest.Image) { m.Break.File = func(b []byte) []byte { return b[:5] } }, ErrTruncated, []string{"5 bytes"}, 5},
		{"magic only", func(m *imagetest.Image) { m.Break.File = func(b []byte) []byte { return b[:8] } }, ErrTruncated, []string{"8 bytes"}, 8},
		{"on-disk version", func(m *imagetest.Image) { m.OnDisk = 2 }, ErrUnsupported, []string{"on-disk version 2"}, -1},
		{"newer layout", func(m *imagetest.Image) { m.Layout = -68 }, ErrUnsupported, []string{"layout version -68", "-67"}, -1},
		{"older layout", func(m *imagetest.Image) { m.Layout = -59 }, ErrUnsupported, []string{"layout version -59"}, -1},
		{"positive layout", func(m *imagetest.Image) { m.Layout = 67 }, ErrUnsupported, []string{"layout version 67"}, -1},
		{"LZO", func(m *imagetest.Image) { m.Codec = imagetest.CodecLzo }, ErrUnsupported, []string{imagetest.CodecLzo, "dfs.image.compression.codec"}, -1},
		{"unknown codec", func(m *imagetest.Image) { m.Codec = "com.example.Codec" }, ErrUnsupported, []string{`"com.example.Codec"`}, -1},
		{"no NS_INFO", without(SectionNameSystem), ErrCorrupt, []string{SectionNameSystem}, -1},
		{"no INODE", without(SectionINode), ErrCorrupt, []string{SectionINode}, -1},
		{"no INODE_DIR", without(SectionDirectory), ErrCorrupt, []string{SectionDirectory}, -1},
		{"no STRING_TABLE", without(SectionStringTable), ErrCorrupt, []string{SectionStringTable}, -1},
		{"only a part of INODE", func(m *imagetest.Image) {
			m.Break.Summary = func(s *pb.FileSummary) { entryOf(s, SectionINode).Name = proto.String("INODE_SUB") }
		}, ErrCorrupt, []string{SectionINode}, -1},
		{"two of a section", func(m *imagetest.Image) {
			m.Break.Summary = func(s *pb.FileSummary) { s.Sections = append(s.Sections, entryOf(s, SectionINode)) }
		}, ErrCorrupt, []string{SectionINode, "twice"}, -1},
		{"section in the magic", section(SectionINode, func(e *pb.FileSummary_Section) { e.Offset = proto.Uint64(7) }), ErrCorrupt, []string{SectionINode, "offset 7"}, -1},
		{"section at 0", section(SectionINode, func(e *pb.FileSummary_Section) { e.Offset = nil }), ErrCorrupt, []string{SectionINode, "offset 0"}, -1},
		{"section too long", section(SectionINode, func(e *pb.FileSummary_Section) { e.Length = proto.Uint64(1 << 40) }), ErrCorrupt, []string{SectionINode, "length 1099511627776"}, -1},
		{"section behind the end", section(SectionINode, func(e *pb.FileSummary_Section) { e.Offset = proto.Uint64(1 << 40) }), ErrCorrupt, []string{SectionINode, "offset 1099511627776"}, -1},
		{"section in the summary", section(SectionStringTable, func(e *pb.FileSummary_Section) { e.Length = proto.Uint64(e.GetLength() + 1) }), ErrCorrupt, []string{SectionStringTable}, -1},
		{"length 2^63", section(SectionINode, func(e *pb.FileSummary_Section) { e.Length = proto.Uint64(1 << 63) }), ErrCorrupt, []string{SectionINode, "2^63"}, -1},
		{"length 2^64-1", section(SectionINode, func(e *pb.FileSummary_Section) { e.Length = proto.Uint64(1<<64 - 1) }), ErrCorrupt, []string{SectionINode}, -1},
		{"length 2^63-1", section(SectionINode, func(e *pb.FileSummary_Section) { e.Length = proto.Uint64(1<<63 - 1) }), ErrCorrupt, []string{SectionINode}, -1},
		{"offset 2^64-8", section(SectionINode, func(e *pb.FileSummary_Section) { e.Offset = proto.Uint64(1<<64 - 8) }), ErrCorrupt, []string{SectionINode, "2^63"}, -1},
		{"offset and length overflow", section(SectionINode, func(e *pb.FileSummary_Section) {
			e.Offset, e.Length = proto.Uint64(1<<63-1), proto.Uint64(1<<63-1)
		}), ErrCorrupt, []string{SectionINode}, -1},
		{"bad part", func(m *imagetest.Image) {
			m.SubSections = 2
			m.Break.Summary = func(s *pb.FileSummary) { entryOf(s, "INODE_SUB").Length = proto.Uint64(1 << 50) }
		}, ErrCorrupt, []string{"INODE_SUB"}, -1},
		{"summary length 0", summaryLength(func(uint32) uint32 { return 0 }), ErrTruncated, []string{"0"}, -4},
		{"summary length negative", summaryLength(func(uint32) uint32 { return 1<<32 - 5 }), ErrTruncated, []string{"-5"}, -4},
		{"summary length 1 GiB", summaryLength(func(uint32) uint32 { return 1 << 30 }), ErrTruncated, []string{"1073741824"}, -4},
		{"summary length one more", summaryLength(func(n uint32) uint32 { return n + 1 }), ErrCorrupt, []string{"summary"}, -2},
		{"summary length one less", summaryLength(func(n uint32) uint32 { return n - 1 }), ErrCorrupt, []string{"summary"}, -2},
		{"summary garbled", func(m *imagetest.Image) {
			m.Break.SummaryBytes = func(b []byte) []byte { b[3] = 0xff; b[4] = 0xff; return b }
		}, ErrCorrupt, []string{"summary"}, -1},
		{"summary without versions", func(m *imagetest.Image) {
			m.Break.Summary = func(s *pb.FileSummary) { s.LayoutVersion = nil }
		}, ErrCorrupt, []string{"summary"}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := smallTree().Image()
			c.build(m)
			b := m.Bytes()
			im, err := Open(bytes.NewReader(b), int64(len(b)))
			if err == nil {
				t.Fatalf("opened: %+v", im.Summary())
			}
			fe := requireFormatError(t, err, c.class)
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			want := c.offset
			switch want {
			case -1:
				m.Break.SummaryLength = nil
				want = int64(len(b)) - 4 - summarySize(b)
			case -2: // wherever the lie leads
				want = fe.Offset
			case -4:
				want = int64(len(b)) - 4
			}
			if fe.Offset != want || fe.Section != "" || fe.Record != -1 {
				t.Errorf("error at section %q, offset %d, record %d; want the frame, offset %d, no record", fe.Section, fe.Offset, fe.Record, want)
			}
		})
	}
}

func summaryLength(f func(uint32) uint32) func(*imagetest.Image) {
	return func(m *imagetest.Image) { m.Break.SummaryLength = f }
}

// summarySize is what the last four bytes say.
func summarySize(b []byte) int64 {
	e := b[len(b)-4:]
	return int64(e[0])<<24 | int64(e[1])<<16 | int64(e[2])<<8 | int64(e[3])
}

// TestReadRefuses: images that open, but whose sections are wrong.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		section string
		build   func(*imagetest.Image)
		class   error
		record  int64
	}{
		{"record longer than section", SectionINode, func(m *imagetest.Image) { m.Section(SectionINode).AddRaw([]byte{100, 1, 2}) }, ErrTruncated, 31},
		{"record of 4 GiB", SectionINode, func(m *imagetest.Image) { m.Section(SectionINode).AddRaw([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}) }, ErrCorrupt, 31},
		{"record length of 11 bytes", SectionDirectory, func(m *imagetest.Image) { m.Section(SectionDirectory).AddRaw(bytes.Repeat([]byte{0xff}, 11)) }, ErrCorrupt, 4},
		{"half a length", SectionDirectory, func(m *imagetest.Image) { m.Section(SectionDirectory).AddRaw([]byte{0x80}) }, ErrTruncated, 4},
		{"no protobuf", SectionINode, func(m *imagetest.Image) { m.Section(SectionINode).AddRaw([]byte{3, 8, 1, 0xff}) }, ErrCorrupt, 31},
		{"empty record", SectionINode, func(m *imagetest.Image) { m.Section(SectionINode).AddRaw([]byte{0}) }, ErrCorrupt, 31},
		{"no protobuf in INODE_DIR", SectionDirectory, func(m *imagetest.Image) { m.Section(SectionDirectory).AddRaw([]byte{2, 0x12, 5}) }, ErrCorrupt, 4},
		{"empty INODE", SectionINode, func(m *imagetest.Image) { m.Section(SectionINode).Units = nil }, ErrTruncated, -1},
		{"INODE header garbled", SectionINode, func(m *imagetest.Image) { m.Section(SectionINode).Units[0] = []byte{2, 0xff, 0xff} }, ErrCorrupt, -1},
		{"strings: too few", SectionStringTable, func(m *imagetest.Image) {
			replace(m, SectionStringTable, &pb.StringTableSection{NumEntry: proto.Uint32(2)}, &pb.StringTableSection_Entry{})
		}, ErrTruncated, 2},
		{"strings: too many", SectionStringTable, func(m *imagetest.Image) {
			replace(m, SectionStringTable, &pb.StringTableSection{NumEntry: proto.Uint32(0)}, &pb.StringTableSection_Entry{})
		}, ErrCorrupt, 1},
		{"strings: mask of 9 bits", SectionStringTable, func(m *imagetest.Image) {
			replace(m, SectionStringTable, &pb.StringTableSection{NumEntry: proto.Uint32(0), MaskBits: proto.Uint32(9)})
		}, ErrUnsupported, 0},
		{"strings: mask of 2^31 bits", SectionStringTable, func(m *imagetest.Image) {
			replace(m, SectionStringTable, &pb.StringTableSection{NumEntry: proto.Uint32(0), MaskBits: proto.Uint32(1 << 31)})
		}, ErrUnsupported, 0},
		{"two name systems", SectionNameSystem, func(m *imagetest.Image) { m.Section(SectionNameSystem).Add(&pb.NameSystemSection{}) }, ErrCorrupt, 1},
		{"diff entry without type", SectionSnapshotDiff, func(m *imagetest.Image) { replace(m, SectionSnapshotDiff, &pb.SnapshotDiffSection_DiffEntry{}) }, ErrCorrupt, 0},
		{"diff entry of an unknown type", SectionSnapshotDiff, func(m *imagetest.Image) { replace(m, SectionSnapshotDiff, diffEntryOf(3, 0)) }, ErrCorrupt, 0},
		{"diffs missing", SectionSnapshotDiff, func(m *imagetest.Image) { replace(m, SectionSnapshotDiff, diffEntry(1)) }, ErrTruncated, 1},
		{"snapshots missing", SectionSnapshot, func(m *imagetest.Image) {
			replace(m, SectionSnapshot, &pb.SnapshotSection{NumSnapshots: proto.Uint32(1)})
		}, ErrTruncated, 1},
		{"reference garbled", SectionReference, func(m *imagetest.Image) { m.Section(SectionReference).AddRaw([]byte{1, 0x08}) }, ErrCorrupt, 2},
		{"lease garbled", SectionUnderConstruction, func(m *imagetest.Image) { m.Section(SectionUnderConstruction).AddRaw([]byte{1, 0x08}) }, ErrCorrupt, 1},
	} {
		for _, codec := range []string{"", imagetest.CodecDefault} {
			t.Run(c.name+" "+codec, func(t *testing.T) {
				m := smallTree().Image()
				m.Codec = codec
				c.build(m)
				im := openBytes(t, m.Bytes(), WithBuffer(64))
				var census census
				err := sectionReaders[c.section](&census, t.Context(), im, 1)
				fe := requireFormatError(t, err, c.class)
				where := fmt.Sprintf("section %s, offset %d", c.section, fe.Offset)
				if c.record >= 0 && !strings.Contains(err.Error(), fmt.Sprintf(", record %d: ", c.record)) || !strings.Contains(err.Error(), where) {
					t.Errorf("%q does not say %q and record %d", err, where, c.record)
				}
				if fe.Section != c.section || fe.Record != c.record || fe.Decompressed != (codec != "") {
					t.Errorf("%v: section %q, record %d; want %q, %d", err, fe.Section, fe.Record, c.section, c.record)
				}
				if s, _ := im.Section(c.section); codec == "" && (fe.Offset < s.Offset || fe.Offset > s.Offset+s.Length) {
					t.Errorf("%v: not in bytes %d to %d", err, s.Offset, s.Offset+s.Length)
				}
			})
		}
	}
}

// TestErrorOffset: the offset is that of the record's length.
func TestErrorOffset(t *testing.T) {
	m := smallTree().Image()
	s := m.Section(SectionDirectory)
	at := int64(len(s.Units[0]) + len(s.Units[1]))
	s.Units[2] = []byte{2, 0x12, 5}
	for _, buffer := range []int{64, 1 << 20} {
		im := openBytes(t, m.Bytes(), WithBuffer(buffer))
		sec, _ := im.Section(SectionDirectory)
		var c census
		fe := requireFormatError(t, c.readDirectories(t.Context(), im, 1), ErrCorrupt)
		if fe.Offset != sec.Offset+at || fe.Record != 2 {
			t.Errorf("buffer %d: %v, want offset %d, record 2", buffer, fe, sec.Offset+at)
		}
	}
	m.Codec = imagetest.CodecLz4
	var c census
	fe := requireFormatError(t, c.readDirectories(t.Context(), openBytes(t, m.Bytes()), 1), ErrCorrupt)
	if fe.Offset != at || !fe.Decompressed || !strings.Contains(fe.Error(), "section INODE_DIR, offset "+itoa(at)+" (decompressed), record 2") {
		t.Errorf("%v, want offset %d of the decompressed section, record 2", fe, at)
	}
}

func TestMaxRecord(t *testing.T) {
	tree := imagetest.NewTree()
	tree.File("/" + strings.Repeat("n", 300))
	b := tree.Image().Bytes()
	var c census
	if err := c.readINodes(t.Context(), openBytes(t, b, WithMaxRecord(400), WithBuffer(64)), 1); err != nil || c.inodes != 2 {
		t.Errorf("%d inodes, %v", c.inodes, err)
	}
	fe := requireFormatError(t, c.readINodes(t.Context(), openBytes(t, b, WithMaxRecord(300)), 1), ErrCorrupt)
	if fe.Record != 1 || !strings.Contains(fe.Error(), "at most 300") {
		t.Error(fe)
	}
}

// TestTolerates: what is unusual, but not wrong.
func TestTolerates(t *testing.T) {
	want, err := readDamaged(t, smallTree().Image().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func(*imagetest.Image){
		"unknown section": func(m *imagetest.Image) {
			m.Section("FUTURE").AddRaw([]byte{0xff, 0xff})
		},
		"summary in reverse order": func(m *imagetest.Image) {
			m.Break.Summary = func(s *pb.FileSummary) {
				for i, j := 0, len(s.Sections)-1; i < j; i, j = i+1, j-1 {
					s.Sections[i], s.Sections[j] = s.Sections[j], s.Sections[i]
				}
			}
		},
		"sections in reverse order": func(m *imagetest.Image) {
			for i, j := 0, len(m.Sections)-1; i < j; i, j = i+1, j-1 {
				m.Sections[i], m.Sections[j] = m.Sections[j], m.Sections[i]
			}
		},
		"bytes between sections and summary": func(m *imagetest.Image) {
			m.Sections = append(m.Sections, &imagetest.Section{Name: "GAP", Omit: true, Units: [][]byte{make([]byte, 100)}})
		},
		"parts": func(m *imagetest.Image) { m.SubSections = 5 },
		"overlapping parts that make no sense": func(m *imagetest.Image) {
			m.Break.Summary = func(s *pb.FileSummary) {
				e := entryOf(s, SectionINode)
				part := &pb.FileSummary_Section{Name: proto.String("INODE_SUB"), Offset: proto.Uint64(e.GetOffset() + 3), Length: proto.Uint64(50)}
				s.Sections = append([]*pb.FileSummary_Section{part, part}, s.Sections...)
			}
		},
		"empty stream before the summary":   func(m *imagetest.Image) { m.Codec = imagetest.CodecGzip },
		"no stream before the summary":      func(m *imagetest.Image) { m.Codec, m.NoTrailingStream = imagetest.CodecGzip, true },
		"codec without its package":         func(m *imagetest.Image) { m.Codec = imagetest.CodecLz4 },
		"optional sections are empty":       func(m *imagetest.Image) { m.Section(SectionSecretManager).Units = nil },
		"optional sections are not listed":  func(m *imagetest.Image) { m.Remove(SectionCacheManager) },
		"a field of a later Hadoop":         func(m *imagetest.Image) { m.Section(SectionINode).Units[1] = later(m.Section(SectionINode).Units[1]) },
		"an unset codec is no codec at all": func(m *imagetest.Image) { m.Break.Summary = func(s *pb.FileSummary) { s.Codec = proto.String("") } },
	} {
		t.Run(name, func(t *testing.T) {
			m := smallTree().Image()
			build(m)
			got, err := readDamaged(t, m.Bytes())
			if err != nil || got != want {
				t.Errorf("read %+v, %v; want %+v", got, err, want)
			}
		})
	}
}

// later adds an unknown field to a delimited message.
func later(unit []byte) []byte {
	b := append(append([]byte(nil), unit[1:]...), 0xf8, 0x07, 1)
	return append([]byte{byte(len(b))}, b...)
}

func TestOpenFileRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, pipe, os.DevNull} {
		done := make(chan error, 1)
		go func() {
			_, err := OpenFile(name)
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, ErrNotImage) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: opening it never ends", name)
		}
	}
	if _, err := OpenFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(text); !errors.Is(err, ErrNotImage) || !strings.Contains(err.Error(), text) {
		t.Errorf("a text: %v", err)
	}
	if err := os.Chmod(text, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(text); os.Getuid() != 0 && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("an unreadable file: %v", err)
	}
}

func entryOf(s *pb.FileSummary, name string) *pb.FileSummary_Section {
	for _, e := range s.GetSections() {
		if e.GetName() == name {
			return e
		}
	}
	return nil
}

package imagetest

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// Magic is the first eight bytes of every image.
const Magic = "HDFSIMG1"

// LayoutCurrent is the layout version that Hadoop 3.3 to 3.5 write, -67.
const LayoutCurrent int32 = -67

// Section names as the NameNode writes them.
const (
	NSInfo                 = "NS_INFO"
	ErasureCoding          = "ERASURE_CODING"
	INode                  = "INODE"
	INodeSub               = "INODE_SUB"
	INodeDir               = "INODE_DIR"
	INodeDirSub            = "INODE_DIR_SUB"
	FilesUnderConstruction = "FILES_UNDERCONSTRUCTION"
	SnapshotSection        = "SNAPSHOT"
	SnapshotDiff           = "SNAPSHOT_DIFF"
	SnapshotDiffSub        = "SNAPSHOT_DIFF_SUB"
	INodeReference         = "INODE_REFERENCE"
	SecretManager          = "SECRET_MANAGER"
	CacheManager           = "CACHE_MANAGER"
	StringTable            = "STRING_TABLE"
)

// Image is a file to be. The zero value has no section and is already an image
// that can be written; all fields are optional.
type Image struct {
	Layout      int32  // layout version; 0 means LayoutCurrent
	OnDisk      uint32 // on-disk version; 0 means 1
	Codec       string // Java class name, one of the Codec constants; "": not compressed
	SubSections int    // parts that INODE, INODE_DIR and SNAPSHOT_DIFF are split into; below 2: none
	TxID        int64  // only in the file's name; NS_INFO holds its own

	Sections []*Section

	// NoTrailingStream leaves out the empty stream which a compressing NameNode
	// writes between the last section and the summary.
	NoTrailingStream bool

	Break Break
}

// Break holds the hooks that make an image wrong. Each is ignored when it is nil
// or empty.
type Break struct {
	Magic         string                   // replaces the eight bytes
	Summary       func(*pb.FileSummary)    // edits the summary last: offsets, lengths, names, order
	SummaryBytes  func([]byte) []byte      // edits the encoded summary with its varint prefix
	SummaryLength func(n uint32) uint32    // edits the last four bytes
	File          func(file []byte) []byte // edits everything, after all others
}

// Section is one section: units of bytes that are written one after another. A
// sub-section never splits a unit.
type Section struct {
	Name  string
	Units [][]byte
	// Omit leaves the section out of the summary; its bytes are written.
	Omit bool
	// Stored writes the bytes as they are even if the image has a codec.
	Stored bool
}

// Unit encodes messages the way sections hold them, each behind its varint length.
func Unit(messages ...proto.Message) []byte {
	var b []byte
	for _, m := range messages {
		b = protowire.AppendBytes(b, encode(m))
	}
	return b
}

// encode allows missing required fields: broken messages are wanted here.
func encode(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
	if err != nil { // only for strings that are not UTF-8, which proto2 does not check
		panic(fmt.Sprintf("imagetest: %v", err))
	}
	return b
}

// Add appends one unit per message.
func (s *Section) Add(messages ...proto.Message) *Section {
	for _, m := range messages {
		s.Units = append(s.Units, Unit(m))
	}
	return s
}

// AddUnit appends messages that a sub-section must not separate.
func (s *Section) AddUnit(messages ...proto.Message) *Section {
	s.Units = append(s.Units, Unit(messages...))
	return s
}

// AddRaw appends one unit of arbitrary bytes, without a length.
func (s *Section) AddRaw(b []byte) *Section {
	s.Units = append(s.Units, b)
	return s
}

// Bytes returns the section's content, not compressed.
func (s *Section) Bytes() []byte {
	var b []byte
	for _, u := range s.Units {
		b = append(b, u...)
	}
	return b
}

// Section returns the first section of that name, which is appended if there is none.
func (m *Image) Section(name string) *Section {
	for _, s := range m.Sections {
		if s.Name == name {
			return s
		}
	}
	s := &Section{Name: name}
	m.Sections = append(m.Sections, s)
	return s
}

// Remove takes the sections of that name out of the image.
func (m *Image) Remove(name string) {
	kept := m.Sections[:0:0]
	for _, s := range m.Sections {
		if s.Name != name {
			kept = append(kept, s)
		}
	}
	m.Sections = kept
}

// Bytes returns the whole file. It panics when the codec cannot be written.
func (m *Image) Bytes() []byte {
	file := []byte(Magic)
	if m.Break.Magic != "" {
		file = []byte(m.Break.Magic)
	}
	sum := m.newSummary()
	for _, s := range m.Sections {
		file = m.appendSection(file, sum, s)
	}
	if m.Codec != "" && !m.NoTrailingStream && writable(m.Codec) {
		file = append(file, compress(m.Codec, nil)...)
	}
	if m.Break.Summary != nil {
		m.Break.Summary(sum)
	}
	file = append(file, m.trailer(sum)...)
	if m.Break.File != nil {
		file = m.Break.File(file)
	}
	return file
}

func (m *Image) newSummary() *pb.FileSummary {
	layout, onDisk := m.Layout, m.OnDisk
	if layout == 0 {
		layout = LayoutCurrent
	}
	if onDisk == 0 {
		onDisk = 1
	}
	sum := &pb.FileSummary{OndiskVersion: proto.Uint32(onDisk), LayoutVersion: proto.Uint32(uint32(layout))}
	if m.Codec != "" {
		sum.Codec = proto.String(m.Codec)
	}
	return sum
}

func (m *Image) appendSection(file []byte, sum *pb.FileSummary, s *Section) []byte {
	start := len(file)
	if m.Codec == "" || s.Stored || !writable(m.Codec) {
		for _, part := range m.parts(s) {
			from := len(file)
			for _, u := range part {
				file = append(file, u...)
			}
			if sub := subName(s.Name); sub != "" && m.SubSections > 1 && len(file) > from {
				sum.Sections = append(sum.Sections, entry(sub, from, len(file)))
			}
		}
	} else {
		file = append(file, compress(m.Codec, s.Bytes())...)
	}
	if !s.Omit {
		sum.Sections = append(sum.Sections, entry(s.Name, start, len(file)))
	}
	return file
}

// parts splits the units as the NameNode does: a part ends after every
// n/SubSections records, so a remainder makes one part more. The header of INODE
// is not a record.
func (m *Image) parts(s *Section) [][][]byte {
	if m.SubSections < 2 || subName(s.Name) == "" {
		return [][][]byte{s.Units}
	}
	header := 0
	if s.Name == INode {
		header = min(1, len(s.Units))
	}
	per := max(1, (len(s.Units)-header)/m.SubSections)
	var out [][][]byte
	for from := 0; from < len(s.Units); {
		to := from + per
		if from == 0 {
			to += header
		}
		to = min(to, len(s.Units))
		out = append(out, s.Units[from:to])
		from = to
	}
	return out
}

// subName is "" for sections that are never split.
func subName(name string) string {
	switch name {
	case INode, INodeDir, SnapshotDiff:
		return name + "_SUB"
	}
	return ""
}

func entry(name string, from, to int) *pb.FileSummary_Section {
	return &pb.FileSummary_Section{
		Name:   proto.String(name),
		Length: proto.Uint64(uint64(to - from)),
		Offset: proto.Uint64(uint64(from)),
	}
}

func (m *Image) trailer(sum *pb.FileSummary) []byte {
	b := Unit(sum)
	if m.Break.SummaryBytes != nil {
		b = m.Break.SummaryBytes(b)
	}
	n := uint32(len(b))
	if m.Break.SummaryLength != nil {
		n = m.Break.SummaryLength(n)
	}
	return binary.BigEndian.AppendUint32(b, n)
}

// FileName returns the name a NameNode gives the image of that transaction.
func FileName(txid int64) string { return fmt.Sprintf("fsimage_%019d", txid) }

// WriteFile writes the image into dir under its NameNode name and returns the path.
func (m *Image) WriteFile(dir string) (string, error) {
	path := filepath.Join(dir, FileName(m.TxID))
	return path, os.WriteFile(path, m.Bytes(), 0o600)
}

// WriteFileMD5 is WriteFile with the .md5 file beside the image.
func (m *Image) WriteFileMD5(dir string) (string, error) {
	path := filepath.Join(dir, FileName(m.TxID))
	b := m.Bytes()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return "", err
	}
	sum := md5.Sum(b)
	return path, writeMD5(path, sum[:])
}

// writeMD5 writes what the NameNode writes: hex, space, asterisk, file name, newline.
func writeMD5(path string, sum []byte) error {
	line := hex.EncodeToString(sum) + " *" + filepath.Base(path) + "\n"
	return os.WriteFile(path+".md5", []byte(line), 0o600)
}

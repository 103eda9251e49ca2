package imagetest_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

func Example() {
	t := imagetest.NewTree()
	t.Dir("/data").Quota(100, 1<<40).Own("etl", "etl", 0o750)
	t.File("/data/a", 1024, 10)
	t.Striped("/data/ec", 1, 4<<20)
	t.Symlink("/link", "/data/a")
	t.File("/data/log", 100).Open = &imagetest.Open{Client: "DFSClient_1", Machine: "host1"}
	m := t.Image()
	m.Codec = imagetest.CodecGzip
	fmt.Println(len(m.Sections), string(m.Bytes()[:8]))
	// Output: 10 HDFSIMG1
}

// sample is a tree with one of everything.
func sample() *imagetest.Tree {
	t := imagetest.NewTree()
	t.Dir("/data").Quota(100, imagetest.NoQuota).TypeQuota(pb.StorageTypeProto_SSD, 1<<30).Own("etl", "users", 0o750).SetPolicy(12)
	a := t.File("/data/a", 1024, 10)
	a.ACL = []imagetest.ACL{{Type: 0, Name: "bob", Perm: 7}, {Type: 1, Perm: 5}}
	a.XAttr(imagetest.XAttrRaw, "hdfs.crypto.file.encryption.info", []byte{1, 2})
	t.Dir("/ec").SetEC("RS-6-3-1024k")
	t.Striped("/ec/f", 1, 4<<20)
	t.Symlink("/link", "/data/a")
	t.File("/data/log", 100).Open = &imagetest.Open{Client: "c", Machine: "m"}
	snap := t.Dir("/snap")
	gone := t.File("/snap/gone", 5)
	moved := t.File("/snap/old", 7)
	t.Snapshot(snap, 0, "s0")
	t.Detach(gone)
	t.Detach(moved).Name = "new"
	t.DstReference(t.Dir("/other"), moved, imagetest.SnapshotCurrent)
	with := t.WithName(moved, "old", 0)
	t.Diff(snap, &pb.SnapshotDiffSection_DirectoryDiff{
		SnapshotId: new(uint32(0)), ChildrenSize: new(uint32(2)), IsSnapshotRoot: new(true), Name: []byte{},
		CreatedListSize: new(uint32(1)), DeletedINode: []uint64{gone.ID}, DeletedINodeRef: []uint32{with},
	}, &pb.SnapshotDiffSection_CreatedListEntry{Name: []byte("created")})
	t.File("/snap/created", 1)
	return t
}

func TestImageIsWellFormed(t *testing.T) {
	var want []byte // the content of INODE is the same whatever is around it
	for _, codec := range append([]string{""}, imagetest.WritableCodecs...) {
		for _, subs := range []int{0, 3} {
			if codec != "" && subs > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %d", codec, subs), func(t *testing.T) {
				m := sample().Image()
				m.Codec, m.SubSections = codec, subs
				p := parseImage(t, m.Bytes())
				if want == nil {
					want = p.sections[imagetest.INode]
				}
				if !bytes.Equal(want, p.sections[imagetest.INode]) {
					t.Error("INODE differs")
				}
				if n := int(p.header.GetNumInodes()); n != len(p.inodes) {
					t.Errorf("%d inodes, header says %d", len(p.inodes), n)
				}
				got := paths(t, p)
				const live = "/ /data /data/a /data/log /ec /ec/f /link /other /other/new /snap /snap/created"
				if got != live {
					t.Errorf("live paths %s", got)
				}
			})
		}
	}
}

func paths(t testing.TB, p *parsed) string {
	var all []string
	p.walk(t, func(path string, _ *pb.INodeSection_INode) { all = append(all, path) })
	return strings.Join(all, " ")
}

func TestStringTables(t *testing.T) {
	for _, c := range []struct {
		layout int32
		mask   uint32
	}{{-67, 3}, {-65, 3}, {-64, 0}, {-63, 0}} {
		tree := imagetest.NewTree()
		tree.Layout = c.layout
		tree.File("/f", 1).Own("x", "x", 0o640) // one string of two kinds
		p := parseImage(t, tree.Image().Bytes())
		if p.mask != c.mask {
			t.Errorf("layout %d: mask bits %d", c.layout, p.mask)
		}
		if got := p.owner(p.inodes[1].GetFile().GetPermission()); got != "x:x:0640" {
			t.Errorf("layout %d: %s", c.layout, got)
		}
		if _, ec := p.sections[imagetest.ErasureCoding]; ec != (c.layout <= -64) {
			t.Errorf("layout %d: section ERASURE_CODING %v", c.layout, ec)
		}
	}
}

func TestTableOrder(t *testing.T) {
	tree := imagetest.NewTree()
	for i := range 10 {
		tree.File(fmt.Sprintf("/f%d", i))
	}
	tree.Buckets = 4
	p := parseImage(t, tree.Image().Bytes())
	var got []uint64
	for _, in := range p.inodes {
		got = append(got, in.GetId()-imagetest.RootID)
	}
	// RootID is 1 modulo 4: bucket 0 has 3, 7; 1 has 0, 4, 8; the newest come first.
	if diff := cmp.Diff([]uint64{7, 3, 8, 4, 0, 9, 5, 1, 10, 6, 2}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBreak(t *testing.T) {
	m := sample().Image()
	good := parseImage(t, m.Bytes()).summary
	m.Break.Magic = "HDFSIMG2"
	m.Break.Summary = func(s *pb.FileSummary) { s.Sections[2].Offset = new(uint64(7)) }
	m.Break.SummaryLength = func(n uint32) uint32 { return n + 1 }
	bad := m.Bytes()
	if string(bad[:8]) != "HDFSIMG2" {
		t.Errorf("magic %q", bad[:8])
	}
	n := int(binary.BigEndian.Uint32(bad[len(bad)-4:])) - 1
	sum := &pb.FileSummary{}
	next(t, bad[len(bad)-4-n:len(bad)-4], sum)
	if got := sum.GetSections()[2].GetOffset(); got != 7 || good.GetSections()[2].GetOffset() == 7 {
		t.Errorf("offset %d", got)
	}
	m.Break.File = func(b []byte) []byte { return b[:10] }
	if got := m.Bytes(); len(got) != 10 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestWriteFileMD5(t *testing.T) {
	m := sample().Image()
	m.TxID = 42
	path, err := m.WriteFileMD5(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(path + ".md5")
	if err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum(b)
	const name = "fsimage_0000000000000000042"
	if want := hex.EncodeToString(sum[:]) + " *" + name + "\n"; string(line) != want || filepath.Base(path) != name {
		t.Errorf("%s: %q, want %q", path, line, want)
	}
}

// TestRandomTrees writes random trees and reads them back, names of any bytes
// included.
func TestRandomTrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := imagetest.NewTree()
		tree.Buckets = rapid.SampledFrom([]int{0, 1, 8, 1024}).Draw(rt, "buckets")
		dirs := []*imagetest.Node{tree.Root}
		want := map[string]bool{"/": true}
		for range rapid.IntRange(0, 40).Draw(rt, "nodes") {
			dir := rapid.SampledFrom(dirs).Draw(rt, "dir")
			name := string(rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(rt, "name"))
			path := strings.TrimSuffix(dir.Path(), "/") + "/" + name
			if want[path] || strings.Contains(name, "/") {
				continue
			}
			want[path] = true
			if rapid.Bool().Draw(rt, "is a directory") {
				dirs = append(dirs, tree.DirIn(dir, name))
			} else {
				tree.FileIn(dir, name, rapid.SliceOfN(rapid.Uint64(), 0, 3).Draw(rt, "blocks")...)
			}
		}
		m := tree.Image()
		m.SubSections = rapid.IntRange(0, 5).Draw(rt, "sub-sections")
		got := map[string]bool{}
		parseImage(t, m.Bytes()).walk(t, func(path string, _ *pb.INodeSection_INode) { got[path] = true })
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

package fsimage

import (
	"crypto/md5"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

func TestReadMD5File(t *testing.T) {
	const digits = "0123456789abcdef0123456789abcdef"
	dir := t.TempDir()
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{digits + " *fsimage_0000000000000000001\n", true},
		{digits + " *fsimage_0000000000000000001", true},
		{digits + " *fsimage_0000000000000000001\r\n", true},
		{strings.ToUpper(digits) + " *f\n", true},
		{digits + "  fsimage_0000000000000000001\n", true}, // md5sum in text mode
		{"", false},
		{"\n", false},
		{digits, false},
		{digits + "\n", false},
		{digits + " ", false},
		{digits + " *\n", false},
		{digits + " fsimage_0000000000000000001\n", false}, // neither * nor a second blank: NameNodes refuse it
		{digits[:31] + " *f\n", false},
		{digits + "0 *f\n", false},
		{digits[:30] + "zz *f\n", false},
		{digits + " *f\n" + digits + " *g\n", false},
		{digits + " *f\ngarbage", false},
		{digits + " *f\x00\n" + strings.Repeat("\x00", 5000), false},
		{strings.Repeat("\x00", 50), false},
		{" " + digits + " *f\n", false},
		{digits + " *" + strings.Repeat("n", 5000) + "\n", false},
	} {
		name := filepath.Join(dir, "a b.md5")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := ReadMD5File(name)
		switch {
		case c.ok && (err != nil || sum.String() != digits):
			t.Errorf("%.60q: %v, %v", c.text, sum, err)
		case !c.ok && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name)):
			t.Errorf("%.60q: %v, %v; want ErrCorrupt with the file's name", c.text, sum, err)
		}
	}
	if _, err := ReadMD5File(filepath.Join(dir, "none.md5")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := ReadMD5File(dir); err == nil {
		t.Error("a directory was read")
	}
}

func TestVerify(t *testing.T) {
	m := smallTree().Image()
	path, err := m.WriteFileMD5(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want, err := ReadMD5File(path + ".md5")
	if err != nil {
		t.Fatal(err)
	}
	if want != MD5(md5.Sum(m.Bytes())) {
		t.Error("the .md5 file does not hold the image's MD5")
	}
	im, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	if err := im.Verify(t.Context(), want); err != nil {
		t.Error(err)
	}
	want[0]++
	err = im.Verify(t.Context(), want)
	if !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), want.String()) {
		t.Error(err)
	}
	if err := os.Truncate(path, im.Size()-1); err != nil {
		t.Fatal(err)
	}
	if err := im.Verify(t.Context(), want); !errors.Is(err, ErrTruncated) {
		t.Errorf("a file that shrank: %v", err)
	}
}

// TestStringMasks: the kind of a string is in as many of the highest bits of its
// key as the table says.
func TestStringMasks(t *testing.T) {
	for _, bits := range []uint32{2, 3, 4, 5, 8} {
		m := imagetest.NewTree().Image()
		h := &pb.StringTableSection{NumEntry: proto.Uint32(3), MaskBits: &bits}
		ms := []proto.Message{h}
		for kind, s := range []string{"user", "group", "xattr"} {
			ms = append(ms, &pb.StringTableSection_Entry{Id: proto.Uint32(7 | uint32(kind+1)<<(32-bits)), Str: &s})
		}
		replace(m, SectionStringTable, ms...)
		s, err := openBytes(t, m.Bytes()).Strings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range map[StringKind]string{UserString: "user", GroupString: "group", XAttrString: "xattr"} {
			if got, ok := s.Lookup(kind, 7); !ok || got != want {
				t.Errorf("%d bits: %d is %q, %v; want %q", bits, kind, got, ok, want)
			}
		}
	}
}

// TestStrings: both generations of the string table, and masks that no Hadoop
// uses but the format allows.
func TestStrings(t *testing.T) {
	for _, layout := range []int32{-60, -63, -64, -65, -67} {
		tree := imagetest.NewTree()
		tree.Layout = layout
		tree.File("/a").Own("name", "name", 0o600).XAttr(imagetest.XAttrUser, "name", nil)
		im := openBytes(t, tree.Image().Bytes())
		s, err := im.Strings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var n INode
		if err := UnmarshalINode(inodeRecords(t, im)[1], &n); err != nil {
			t.Fatal(err)
		}
		for _, id := range []struct {
			kind StringKind
			id   uint32
		}{{UserString, n.File.Permission.User()}, {GroupString, n.File.Permission.Group()}, {XAttrString, n.File.XAttrs[0].NameID()}} {
			if got, ok := s.Lookup(id.kind, id.id); !ok || got != "name" {
				t.Errorf("layout %d: kind %d, id %d is %q, %v", layout, id.kind, id.id, got, ok)
			}
		}
		if got, ok := s.Lookup(UserString, 0); ok {
			t.Errorf("layout %d: id 0 is %q", layout, got)
		}
		if got, ok := s.Lookup(UserString, 1<<24-1); ok {
			t.Errorf("layout %d: an unknown id is %q", layout, got)
		}
	}
}

// TestChecksumHasACore: while a checksum is being computed the last of as many
// goroutines as there are cores decodes nothing, and reading ends all the same;
// when the checksum ends first, all goroutines go on.
func TestChecksumHasACore(t *testing.T) {
	im := openBytes(t, manyINodes(3000, ""), WithBuffer(300))
	workers := max(2, runtime.GOMAXPROCS(0))
	last := func(slow bool) (batches int64) {
		_, seen, err := im.INodes(t.Context(), workers, func(w int, _ *Batch) error {
			if w == workers-1 {
				atomic.AddInt64(&batches, 1)
			} else if slow {
				time.Sleep(time.Millisecond)
			}
			return nil
		})
		if err != nil || seen != 3001 { // with the root
			t.Errorf("%d inodes, %v", seen, err)
		}
		return batches
	}
	over := im.hash.begin()
	if n := last(false); n != 0 {
		t.Errorf("%d batches beside a checksum", n)
	}
	time.AfterFunc(5*time.Millisecond, over)
	if last(true) == 0 {
		t.Error("no batch after the checksum")
	}
	if last(true) == 0 {
		t.Error("no batch without a checksum")
	}
}

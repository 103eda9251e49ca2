package fsimage

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	pb "fsweep/proto/fsimage"
)

// TestImages: the number of records of every kind. Those of the feature image
// were counted in what Hadoop's own viewer prints, oiv.xml.gz, which leaves the
// string table out; where the counts of the others stand is said below.
func TestImages(t *testing.T) {
	features := census{
		announced: 662, inodes: 662, files: 268, directories: 390, symlinks: 4, blocks: 309,
		acls: 5, xattrs: 19, typeQuotas: 6, open: 13, striped: 24,
		entries: 329, children: 649, refChildren: 3, policies: 6, references: 8, leases: 12,
		snapshots: 7, fileDiffs: 15, dirDiffs: 12, created: 7, deleted: 13, keys: 2, tokens: 2, pools: 2, directives: 2,
	}
	for dir, want := range map[string]struct {
		layout int32
		codec  string
		census census
	}{
		"3.4.2/plain":                    {-67, "", features},
		"3.4.2/parallel":                 {-67, "", features},
		"3.4.2/DefaultCodec":             {-67, "DefaultCodec", features},
		"3.4.2/DeflateCodec":             {-67, "DeflateCodec", features},
		"3.4.2/GzipCodec":                {-67, "GzipCodec", features},
		"3.4.2/BZip2Codec":               {-67, "BZip2Codec", features},
		"3.4.2/SnappyCodec":              {-67, "SnappyCodec", features},
		"3.4.2/Lz4Codec":                 {-67, "Lz4Codec", features},
		"3.4.2/ZStandardCodec-SYNTHETIC": {-67, "ZStandardCodec", features},
		// inodes and snapshots: filesTotal and snapshots of truth-*/global.json
		// (of 2.7.7: truth-upgraded; Hadoop 2 counts renamed inodes twice)
		"3.4.2/big50k-gzip": {-67, "GzipCodec", census{announced: 50664, inodes: 50664, snapshots: 7}},
		"3.4.2/rawname":     {-67, "", census{announced: 50666, inodes: 50666, snapshots: 7}},
		"3.2.2/plain":       {-65, "", census{announced: 662, inodes: 662, snapshots: 7}},
		"2.7.7/plain":       {-63, "", census{announced: 625, inodes: 625, snapshots: 7}},
		"fuzz-3.4.2/plain":  {-67, "", census{announced: 642, inodes: 642, snapshots: 128}},
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			im := openBytes(t, imageBytes(t, dir))
			sum := im.Summary()
			if sum.LayoutVersion != want.layout || strings.TrimPrefix(sum.Codec, codecPackage) != want.codec || sum.OnDiskVersion != 1 {
				t.Errorf("layout %d, codec %q, on-disk version %d", sum.LayoutVersion, sum.Codec, sum.OnDiskVersion)
			}
			got, err := takeCensus(t.Context(), im, 2)
			if err != nil {
				t.Fatal(err)
			}
			got.content, got.last, got.strings = 0, 0, 0
			if want.census.files == 0 {
				got = census{announced: got.announced, inodes: got.inodes, snapshots: got.snapshots}
			}
			if got != want.census {
				t.Errorf("got  %+v\nwant %+v", got, want.census)
			}
		})
	}
}

// TestCodecsGiveTheSame: the NameNode saved one namespace with all codecs.
func TestCodecsGiveTheSame(t *testing.T) {
	plain := openBytes(t, imageBytes(t, codecDirs[0]))
	for _, dir := range codecDirs[1:] {
		im := openBytes(t, imageBytes(t, dir))
		for _, section := range []string{
			SectionErasureCoding, SectionINode, SectionDirectory, SectionUnderConstruction, SectionSnapshot, SectionSnapshotDiff,
			SectionReference, SectionCacheManager, SectionStringTable,
		} {
			if !bytes.Equal(sectionBytes(t, im, section), sectionBytes(t, plain, section)) {
				t.Errorf("%s: section %s differs", dir, section)
			}
		}
	}
}

// TestMD5OfImages: the .md5 files that NameNodes wrote.
func TestMD5OfImages(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(images, "*", "*", "fsimage_*.md5"))
	if err != nil || len(names) < 10 {
		t.Fatalf("%d .md5 files, %v", len(names), err)
	}
	for _, name := range names {
		want, err := ReadMD5File(name)
		if err != nil {
			t.Error(err)
			continue
		}
		dir, err := filepath.Rel(images, filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(dir, "SYNTHETIC") {
			continue // that of the image it was made of
		}
		if err := openBytes(t, imageBytes(t, dir)).Verify(t.Context(), want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// viewer is what Hadoop's Offline Image Viewer prints.
type viewer struct {
	INodes struct {
		Num    int64         `xml:"numInodes"`
		INodes []viewerINode `xml:"inode"`
	} `xml:"INodeSection"`
	Directories []struct {
		Parent   uint64   `xml:"parent"`
		Children []uint64 `xml:"child"`
		Refs     []uint32 `xml:"refChild"`
	} `xml:"INodeDirectorySection>directory"`
	Names struct {
		NamespaceID uint32 `xml:"namespaceId"`
		TxID        uint64 `xml:"txid"`
	} `xml:"NameSection"`
	References []struct {
		ID   uint64 `xml:"referredId"`
		Name string `xml:"name"`
		Last uint32 `xml:"lastSnapshotId"`
	} `xml:"INodeReferenceSection>ref"`
	Leases []struct {
		ID   uint64 `xml:"id"`
		Path string `xml:"path"`
	} `xml:"FileUnderConstructionSection>inode"`
}

type viewerINode struct {
	ID          uint64 `xml:"id"`
	Type        string `xml:"type"`
	Name        string `xml:"name"`
	Replication uint32 `xml:"replication"`
	MTime       uint64 `xml:"mtime"`
	ATime       uint64 `xml:"atime"`
	BlockSize   uint64 `xml:"preferredBlockSize"`
	Permission  string `xml:"permission"`
	Policy      uint32 `xml:"storagePolicyId"`
	BlockType   string `xml:"blockType"`
	EC          uint32 `xml:"erasureCodingPolicyId"`
	Client      string `xml:"file-under-construction>clientName"`
	Target      string `xml:"target"`
	NSQuota     int64  `xml:"nsquota"`
	DSQuota     int64  `xml:"dsquota"`
	Blocks      []struct {
		ID       int64  `xml:"id"`
		GenStamp uint64 `xml:"genstamp"`
		Bytes    uint64 `xml:"numBytes"`
	} `xml:"blocks>block"`
	ACL    []string `xml:"acls>acl"`
	XAttrs []struct {
		NS   string `xml:"ns"`
		Name string `xml:"name"`
	} `xml:"xattrs>xattr"`
	TypeQuotas []struct {
		Type  string `xml:"type"`
		Quota uint64 `xml:"quota"`
	} `xml:"typeQuota"`
}

var mangled = regexp.MustCompile(`\\([0-9a-f]+);`)

// unmangle undoes Hadoop's XMLUtils.mangleXmlString.
func unmangle(s string) string {
	return mangled.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseUint(m[1:len(m)-1], 16, 32)
		return string(rune(n))
	})
}

func readViewer(t *testing.T) *viewer {
	t.Helper()
	f, err := os.Open(filepath.Join(images, "3.4.2/plain/oiv.xml.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	v := new(viewer)
	if err := xml.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(err)
	}
	return v
}

// row is an inode in one line; both sides write the same.
func (v *viewerINode) row() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %q %s m%d ", v.ID, v.Type, unmangle(v.Name), v.Permission, v.MTime)
	switch v.Type {
	case "FILE":
		if v.BlockType == "STRIPED" {
			v.Replication = 0 // the viewer prints the message's default
		}
		fmt.Fprintf(&b, "a%d r%d s%d p%d %v ec%d %q ", v.ATime, v.Replication, v.BlockSize, v.Policy, v.BlockType == "STRIPED", v.EC, v.Client)
		for _, k := range v.Blocks {
			fmt.Fprintf(&b, "b%d_%d:%d ", k.ID, k.GenStamp, k.Bytes)
		}
	case "DIRECTORY":
		fmt.Fprintf(&b, "n%d d%d ", v.NSQuota, v.DSQuota)
		for _, q := range v.TypeQuotas {
			fmt.Fprintf(&b, "%s=%d ", q.Type, q.Quota)
		}
	case "SYMLINK":
		fmt.Fprintf(&b, "a%d -> %q ", v.ATime, unmangle(v.Target))
	}
	for _, a := range v.ACL {
		fmt.Fprintf(&b, "%s ", a)
	}
	for _, x := range v.XAttrs {
		fmt.Fprintf(&b, "%s.%s ", x.NS, unmangle(x.Name))
	}
	return b.String()
}

// rower writes decoded inodes as viewerINode.row does.
type rower struct{ *StringTable }

func (s rower) str(k StringKind, id uint32) string {
	v, ok := s.Lookup(k, id)
	if !ok && id != 0 {
		return fmt.Sprintf("#%d", id)
	}
	return v
}

func (s rower) row(n *INode) string {
	var b strings.Builder
	head := func(p Permission, mtime uint64) {
		fmt.Fprintf(&b, "%d %s %q %s:%s:%04o m%d ", n.ID, n.Type, n.Name, s.str(UserString, p.User()), s.str(GroupString, p.Group()), p.Mode(), mtime)
	}
	switch n.Type {
	case FileType:
		f := &n.File
		head(f.Permission, f.MTimeMs)
		fmt.Fprintf(&b, "a%d r%d s%d p%d %v ec%d %q ", f.ATimeMs, f.Replication, f.PreferredBlockSize, f.StoragePolicy, f.Striped, f.ECPolicy, f.UC.ClientName)
		for _, k := range f.Blocks {
			fmt.Fprintf(&b, "b%d_%d:%d ", int64(k.ID), k.GenStamp, k.NumBytes)
		}
		s.attributes(&b, f.ACL, f.XAttrs)
	case DirectoryType:
		d := &n.Directory
		head(d.Permission, d.MTimeMs)
		fmt.Fprintf(&b, "n%d d%d ", d.NSQuota, d.DSQuota)
		for _, q := range d.TypeQuotas {
			fmt.Fprintf(&b, "%s=%d ", pb.StorageTypeProto(q.Type), q.Quota)
		}
		s.attributes(&b, d.ACL, d.XAttrs)
	case SymlinkType:
		l := &n.Symlink
		head(l.Permission, l.MTimeMs)
		fmt.Fprintf(&b, "a%d -> %q ", l.ATimeMs, l.Target)
	}
	return b.String()
}

func (s rower) attributes(b *strings.Builder, acl []uint32, xs []XAttr) {
	for _, packed := range acl {
		e := UnpackACL(packed)
		if e.Default {
			b.WriteString("default:")
		}
		kind := UserString
		if e.Type == ACLGroup {
			kind = GroupString
		}
		perm := []byte("rwx")
		for i := range perm {
			if e.Permission>>(2-i)&1 == 0 {
				perm[i] = '-'
			}
		}
		fmt.Fprintf(b, "%s:%s:%s ", [...]string{"user", "group", "mask", "other"}[e.Type], s.str(kind, e.NameID), perm)
	}
	for _, x := range xs {
		fmt.Fprintf(b, "%s.%s ", [...]string{"USER", "TRUSTED", "SECURITY", "SYSTEM", "RAW"}[x.Namespace()], s.str(XAttrString, x.NameID()))
	}
}

// TestViewer compares every attribute of every inode, every list of children,
// reference and lease with what Hadoop's viewer says about the same image.
func TestViewer(t *testing.T) {
	want := readViewer(t)
	im := openBytes(t, imageBytes(t, "3.4.2/plain"), WithBuffer(64))
	strings, err := im.Strings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := rower{strings}
	i := 0
	var n INode
	announced, seen, err := im.INodes(t.Context(), 1, func(_ int, b *Batch) error {
		return b.INodes(&n, func(n *INode) error {
			n.Name = bytes.ReplaceAll(bytes.ReplaceAll(n.Name, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n")) // as XML does
			if got, want := rows.row(n), want.INodes.INodes[i].row(); got != want {
				t.Errorf("inode %d\ngot  %s\nwant %s", i, got, want)
			}
			i++
			return nil
		})
	})
	if err != nil || announced != want.INodes.Num || seen != want.INodes.Num {
		t.Errorf("%d announced, %d seen, %v", announced, seen, err)
	}
	i = 0
	var e DirEntry
	err = im.Directories(t.Context(), 1, func(_ int, b *Batch) error {
		return b.Directories(&e, func(e *DirEntry) error {
			if w := want.Directories[i]; fmt.Sprint(e.Parent, e.Children, e.RefChildren) != fmt.Sprint(w.Parent, w.Children, w.Refs) {
				t.Errorf("directory %d: got %v, want %v", i, *e, w)
			}
			i++
			return nil
		})
	})
	if err != nil || i != len(want.Directories) {
		t.Errorf("%d directories, %v; want %d", i, err, len(want.Directories))
	}
	i = 0
	err = im.References(t.Context(), func(r *pb.INodeReferenceSection_INodeReference) error {
		if w := want.References[i]; r.GetReferredId() != w.ID || string(r.GetName()) != w.Name || r.GetLastSnapshotId() != w.Last {
			t.Errorf("reference %d: got %v, want %v", i, r, w)
		}
		i++
		return nil
	})
	if err != nil || i != len(want.References) {
		t.Errorf("%d references, %v", i, err)
	}
	ns, err := im.NameSystem(t.Context())
	if err != nil || ns.GetNamespaceId() != want.Names.NamespaceID || ns.GetTransactionId() != want.Names.TxID {
		t.Errorf("got %v, %v; want %v", ns, err, want.Names)
	}
}

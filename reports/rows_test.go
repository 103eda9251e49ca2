package reports

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

const plainImage = "../testdata/images/3.4.2/plain/fsimage_0000000000000002138"

func fileRow(path string) *inodeRow {
	return &inodeRow{
		attributes: attributes{path: []byte(path), id: 16386, owner: "ann", group: "users", mode: 0o644, mtimeMs: 1},
		typ:        fsimage.FileType, length: 10, space: 30, replication: 3, blockSize: 1024, atimeMs: 2,
		blocks: []fsimage.Block{{ID: 1, GenStamp: 2, NumBytes: 3}, {ID: 1 << 63, GenStamp: 5, NumBytes: 6}},
	}
}

func rowOf(f Format, r encodable) string {
	e := encoder{format: f}
	return string(e.row(nil, r))
}

func headerOf(r encodable) string {
	e := encoder{format: CSV}
	return string(e.header(nil, r.encode))
}

func TestINodeNDJSON(t *testing.T) {
	t.Parallel()
	const rest = `,"inode_id":16386,"type":"FILE","length":10,"space_consumed":30,"replication":3,"block_size":1024,` +
		`"atime_ms":2,"owner":"ann","group":"users","permission":"0644","mtime_ms":1,"encrypted":false,"under_construction":false,` +
		`"blocks":[{"id":1,"generation_stamp":2,"bytes":3},{"id":-9223372036854775808,"generation_stamp":5,"bytes":6}]}` + "\n"
	for _, c := range []struct{ path, want string }{
		{"/a b", `{"path":"/a b"`},
		{"/<ü>&\u2028\ufffd", "{\"path\":\"/<ü>&\u2028\ufffd\""},
		{"/\"\\\t\n\r\x01", `{"path":"/\"\\\t\n\r\u0001"`},
		{"/\xff\\", `{"path":"/\\xff\\\\","path_b64":"L/9c"`},
	} {
		if got := rowOf(NDJSON, fileRow(c.path)); got != c.want+rest {
			t.Errorf("%q:\ngot  %s\nwant %s", c.path, got, c.want+rest)
		}
	}
}

func TestINodeCSV(t *testing.T) {
	t.Parallel()
	const header = "path,path_b64,inode_id,type,length,space_consumed,replication,block_size,atime_ms," +
		"owner,group,permission,mtime_ms,storage_policy,erasure_coding_policy,encrypted,acl,xattrs," +
		"under_construction,children,symlink_target,symlink_target_b64,blocks\r\n"
	if got := headerOf(&inodeRow{}); got != header {
		t.Errorf("header: got %q, want %q", got, header)
	}
	const rest = `,16386,FILE,10,30,3,1024,2,ann,users,0644,1,,,false,,,false,,,,` +
		`"[{""id"":1,""generation_stamp"":2,""bytes"":3},{""id"":-9223372036854775808,""generation_stamp"":5,""bytes"":6}]"` + "\r\n"
	for _, c := range []struct{ path, want string }{
		{"/a b\t'", "/a b\t',"},
		{"/a,b", `"/a,b",`},
		{"/a\r\n\"b\"", "\"/a\r\n\"\"b\"\"\","},
		{"/\xff", "/\xff,L/8="},
	} {
		if got := rowOf(CSV, fileRow(c.path)); got != c.want+rest {
			t.Errorf("%q:\ngot  %q\nwant %q", c.path, got, c.want+rest)
		}
	}
}

func TestMode(t *testing.T) {
	t.Parallel()
	for m, want := range map[uint16]string{0: "0000", 0o755: "0755", 0o1777: "1777", 0xffff: "177777"} {
		e := encoder{format: CSV}
		e.mode("m", m)
		if string(e.buf) != want {
			t.Errorf("%o: got %s", m, e.buf)
		}
	}
}

// TestSameKeys requires that CSV and NDJSON name the same values, for rows in
// which everything is set.
func TestSameKeys(t *testing.T) {
	t.Parallel()
	five := [5]int64{1, 2, 3, 4, 5}
	quota := namespace.Quota{Namespace: 1, Space: 2, Type: five}
	all := attributes{
		path: []byte("/\xff"), owner: "o", group: "g", storagePolicy: "HOT", ecPolicy: "RS", acl: []string{"user:a:rwx"}, xattrs: []string{"user.a"},
	}
	charge := analyze.Charge{Used: 1, Set: true, Quota: 3}
	charges := [5]analyze.Charge{charge, charge, charge, charge, charge}
	link := &inodeRow{attributes: all, typ: fsimage.SymlinkType, target: []byte("\xfe")}
	file := &inodeRow{attributes: all, typ: fsimage.FileType}
	dir := &inodeRow{attributes: all, typ: fsimage.DirectoryType}
	for name, rows := range map[string][]encodable{
		"inodes":      {file, dir, link},
		"directories": {&directoryRow{attributes: all, quota: quota, hasQuota: true}},
		"quotas": {(*quotaRow)(&analyze.QuotaRow{
			Path: []byte("/\xff"), Owner: "o", StoragePolicy: "HOT", Namespace: charge, Space: charge, Type: charges, TypeUncharged: true,
		})},
	} {
		keys := map[string]bool{}
		for _, r := range rows {
			var v map[string]any
			if err := json.Unmarshal([]byte(rowOf(NDJSON, r)), &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for key, value := range v {
				nested, ok := value.(map[string]any)
				if !ok {
					keys[key] = true
				}
				for sub := range nested {
					keys[key+"."+sub] = true
				}
			}
			record, err := csv.NewReader(strings.NewReader(rowOf(CSV, r))).Read()
			columns := strings.Split(strings.TrimSuffix(headerOf(r), "\r\n"), ",")
			if err != nil || len(record) != len(columns) {
				t.Errorf("%s: %d fields, %d columns, %v", name, len(record), len(columns), err)
			}
			for _, c := range columns {
				keys["column "+c] = true
			}
		}
		for key := range keys {
			if c, ok := strings.CutPrefix(key, "column "); ok && !keys[c] {
				t.Errorf("%s: column %s is no key", name, c)
			} else if !ok && !keys["column "+key] {
				t.Errorf("%s: key %s has no column", name, key)
			}
		}
	}
}

func TestUnsetIsAbsent(t *testing.T) {
	t.Parallel()
	unset := namespace.Quota{Namespace: namespace.Unset, Space: 7, Type: [5]int64{-1, 0, -1, -1, -1}}
	row := rowOf(NDJSON, &directoryRow{attributes: attributes{path: []byte("/q")}, quota: unset, hasQuota: true})
	if strings.Contains(row, "ns_quota") || !strings.Contains(row, `"ds_quota":7,`) || !strings.Contains(row, `"type_quota":{"SSD":0},`) {
		t.Error(row)
	}
	row = rowOf(NDJSON, &directoryRow{attributes: attributes{path: []byte("/q")}})
	if strings.Contains(row, "quota") || strings.Contains(row, "policy") {
		t.Error(row)
	}
}

func FuzzJSONString(f *testing.F) {
	f.Add("a\"\\\x00\x1f\u2028<\xff\xf0\x9f\x98\x80")
	f.Fuzz(func(t *testing.T, s string) {
		b := appendJSONString(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil || !utf8.Valid(b) {
			t.Fatalf("%q: %s: %v", s, b, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("%q came back as %q", s, back)
		}
	})
}

func loadPlain(t *testing.T) *namespace.Tree {
	t.Helper()
	im, err := fsimage.OpenFile(plainImage)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	tree, err := namespace.Load(t.Context(), im.Image, namespace.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestRowAllocations is why the rows are made by hand: ten million of them must
// not make garbage.
func TestRowAllocations(t *testing.T) {
	tree := loadPlain(t)
	rows := map[Format]*Rows{NDJSON: NewRows(tree, NDJSON), CSV: NewRows(tree, CSV)}
	buf := make([]byte, 0, 64<<10)
	err := tree.EachINode(context.Background(), 1, func(_ int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			if e.ACL() != nil || e.XAttrs() != nil {
				return nil
			}
			for f, r := range rows {
				n := testing.AllocsPerRun(1, func() {
					buf = r.INode(buf[:0], e)
					if e.Dir != namespace.NoDir {
						buf = r.Directory(buf[:0], e)
					}
				})
				if n > 0 {
					t.Errorf("%s, format %d: %v allocations", e.AppendPath(nil), f, n)
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRowsAreIndependent requires that nothing of a row shows up in the next.
func TestRowsAreIndependent(t *testing.T) {
	t.Parallel()
	tree := loadPlain(t)
	shared := NewRows(tree, NDJSON)
	err := tree.EachINode(context.Background(), 1, func(_ int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			got, want := string(shared.INode(nil, e)), string(NewRows(tree, NDJSON).INode(nil, e))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkINodeRow(b *testing.B) {
	for name, f := range map[string]Format{"ndjson": NDJSON, "csv": CSV} {
		b.Run(name, func(b *testing.B) {
			r, e := fileRow("/user/ann/warehouse/part-00000.parquet"), encoder{format: f}
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = e.row(buf[:0], r)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func sortedKeys(v map[string]any) []string {
	var keys []string
	for k := range v {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestFastRows requires that what rows keep from their neighbours changes
// nothing: each row must be the one that a fresh writer makes.
func TestFastRows(t *testing.T) {
	t.Parallel()
	im, err := fsimage.OpenFile(plainImage)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	tree, err := namespace.Load(t.Context(), im.Image, namespace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{NDJSON, CSV} {
		rows := NewRows(tree, f)
		err := tree.EachINode(t.Context(), 1, func(_ int, b *namespace.EntryBatch) error {
			return b.Each(func(n *namespace.Entry) error {
				got := string(rows.INode(nil, n))
				slow := inodeRow{}
				slow.fill(tree, n)
				slow.path, slow.fast = n.AppendPath(nil), fast{}
				slow.owner, slow.group, slow.mode = n.Owner(), n.Group(), n.Mode()
				if want := rowOf(f, &slow); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestPlainASCII puts every byte at every place of names of several lengths, beside
// neighbours from which a borrow could come.
func TestPlainASCII(t *testing.T) {
	t.Parallel()
	naive := func(s []byte) bool {
		return !slices.ContainsFunc(s, func(c byte) bool { return c > 127 || c == ',' || c == '"' || c == '\n' || c == '\r' })
	}
	for _, n := range []int{1, 7, 8, 9, 16, 21} {
		for _, fill := range []byte{'a', 0, '-', '#', 127, ','} {
			for at := range n {
				for c := range 256 {
					s := bytes.Repeat([]byte{fill}, n)
					s[at] = byte(c)
					if got, want := plainASCII(s), naive(s); got != want {
						t.Fatalf("%q: %v, want %v", s, got, want)
					}
				}
			}
		}
	}
	if !plainASCII(nil) {
		t.Error("the empty name needs no care")
	}
}

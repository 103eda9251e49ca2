package hdfs

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// answering gives a client of a NameNode that answers some methods with a message or, if that is
// nil, with an exception of that class.
func answering(t *testing.T, answers map[string]any) (*Client, *fakeNN) {
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	if _, err := c.Active(t.Context()); err != nil {
		t.Fatal(err)
	}
	nn.on(func(s *seen) *reply {
		switch a := answers[s.method].(type) {
		case proto.Message:
			return done(s, a)
		case string:
			return failed(s, a, "x")
		}
		return nil
	})
	return c, nn
}

func TestStatus(t *testing.T) {
	t.Parallel()
	file := func(change func(*hadoop.HdfsFileStatusProto)) *hadoop.HdfsFileStatusProto {
		fs := directory(40000)
		fs.FileType = hadoop.HdfsFileStatusProto_IS_FILE.Enum()
		fs.Length, fs.ChildrenNum = proto.Uint64(12345), nil
		fs.ModificationTime = proto.Uint64(math.MaxUint64) // -1
		fs.Permission.Perm = proto.Uint32(0o1640)
		change(fs)
		return fs
	}
	base := execute.Status{
		ID: 40000, Kind: execute.File, Name: []byte("x\n"), Length: 12345, MTimeMs: -1, Owner: "flink", Group: "hdfs", Permission: 0o1640,
	}
	with := func(change func(*execute.Status)) execute.Status {
		s := base
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		fs   *hadoop.HdfsFileStatusProto
		want execute.Status
	}{
		"file": {file(func(*hadoop.HdfsFileStatusProto) {}), base},
		"file with all": {
			file(func(fs *hadoop.HdfsFileStatusProto) {
				fs.BlockReplication, fs.Blocksize, fs.AccessTime = proto.Uint32(3), proto.Uint64(1<<27), proto.Uint64(5)
			}),
			with(func(s *execute.Status) { s.Replication, s.BlockSize, s.ATimeMs = 3, 1<<27, 5 }),
		},
		"flags": {
			file(func(fs *hadoop.HdfsFileStatusProto) { fs.Flags = proto.Uint32(15) }),
			with(func(s *execute.Status) { s.ACL, s.Encrypted, s.ErasureCoded, s.Snapshottable = true, true, true, true }),
		},
		"flags of Hadoop 2": {
			file(func(fs *hadoop.HdfsFileStatusProto) {
				fs.Permission.Perm = proto.Uint32(0o1640 | 1<<12 | 1<<13 | 1<<14)
			}),
			with(func(s *execute.Status) { s.ACL, s.Encrypted, s.ErasureCoded = true, true, true }),
		},
		"encryption and policy without flags": {
			file(func(fs *hadoop.HdfsFileStatusProto) {
				fs.FileEncryptionInfo = &hadoop.FileEncryptionInfoProto{KeyName: proto.String("k")}
				fs.EcPolicy = &hadoop.ErasureCodingPolicyProto{Id: proto.Uint32(1)}
			}),
			with(func(s *execute.Status) { s.Encrypted, s.ErasureCoded = true, true }),
		},
		"directory": {
			directory(40000),
			execute.Status{ID: 40000, Kind: execute.Directory, Name: []byte("x\n"), MTimeMs: 1700000000000, Owner: "flink", Group: "hdfs", Permission: 0o755, Children: 3},
		},
	} {
		c, _ := answering(t, map[string]any{"getFileLinkInfo": &hadoop.GetFileLinkInfoResponseProto{Fs: tc.fs}})
		got, err := c.Stat(t.Context(), execute.At("/a/x\n"))
		if err != nil || !reflect.DeepEqual(*got, tc.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, tc.want)
		}
		tc.want.Name = nil
		if got, err = c.Stat(t.Context(), execute.ByID(40000)); err != nil || !reflect.DeepEqual(*got, tc.want) {
			t.Errorf("%s, by id: %+v, %v", name, got, err)
		}
	}
	for name, fs := range map[string]*hadoop.HdfsFileStatusProto{
		"negative length": file(func(fs *hadoop.HdfsFileStatusProto) { fs.Length = proto.Uint64(math.MaxUint64) }),
		"no id":           file(func(fs *hadoop.HdfsFileStatusProto) { fs.FileId = nil }),
	} {
		c, _ := answering(t, map[string]any{"getFileLinkInfo": &hadoop.GetFileLinkInfoResponseProto{Fs: fs}})
		if s, err := c.Stat(t.Context(), execute.At("/a")); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Whatever is asked by id: an answer about another inode is no answer about this one.
func TestEveryQuestionByIDIsChecked(t *testing.T) {
	t.Parallel()
	other := &hadoop.GetFileLinkInfoResponseProto{Fs: directory(50000)}
	answers := map[string]any{
		"getFileLinkInfo": other,
		"getListing":      &hadoop.GetListingResponseProto{DirList: &hadoop.DirectoryListingProto{RemainingEntries: proto.Uint32(0)}},
		"getContentSummary": &hadoop.GetContentSummaryResponseProto{Summary: &hadoop.ContentSummaryProto{
			Length: proto.Uint64(1), FileCount: proto.Uint64(1), DirectoryCount: proto.Uint64(1), Quota: proto.Uint64(1), SpaceConsumed: proto.Uint64(1), SpaceQuota: proto.Uint64(1),
		}},
		"getXAttrs":    &hadoop.GetXAttrsResponseProto{},
		"isFileClosed": &hadoop.IsFileClosedResponseProto{Result: proto.Bool(true)},
		"checkAccess":  &hadoop.CheckAccessResponseProto{},
	}
	c, _ := answering(t, answers)
	ref := execute.ByID(40000)
	questions := map[string]func() error{
		"Stat":        func() error { _, err := c.Stat(t.Context(), ref); return err },
		"Stat parent": func() error { _, err := c.Stat(t.Context(), execute.ParentOf(40000)); return err },
		"List":        func() error { _, err := c.List(t.Context(), ref, nil); return err },
		"List parent": func() error { _, err := c.List(t.Context(), execute.ParentOf(40000), nil); return err },
		"Summary":     func() error { _, err := c.Summary(t.Context(), ref, 100); return err },
		"XAttrs":      func() error { _, err := c.XAttrs(t.Context(), ref); return err },
		"Closed":      func() error { closed, err := c.Closed(t.Context(), ref); return orTrue(closed, err) },
		"CheckAccess": func() error { return c.CheckAccess(t.Context(), ref, Write) },
	}
	for name, ask := range questions {
		var replaced *execute.ReplacedError
		if err := ask(); !errors.Is(err, execute.ErrNotFound) || !errors.As(err, &replaced) || replaced.Asked != 40000 || replaced.Got != 50000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What only a snapshot holds.
	for _, class := range []string{argumentClass, notFoundClass} {
		for method := range answers {
			answers[method] = class
		}
		for name, ask := range questions {
			if err := ask(); !errors.Is(err, execute.ErrNotFound) {
				t.Errorf("%s: %s: %v", name, class, err)
			}
		}
	}
	// The same exception about a path is something else.
	for method := range answers {
		answers[method] = argumentClass
	}
	if _, err := c.Stat(t.Context(), execute.At("/a")); err == nil || errors.Is(err, execute.ErrNotFound) {
		t.Errorf("by path: %v", err)
	}
}

func orTrue(b bool, err error) error {
	if b {
		return errors.New("true in spite of an error")
	}
	return err
}

func TestPathsThatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	c, nn := answering(t, nil)
	before := len(nn.methods())
	for _, p := range []string{"a", "/a//b", "/a/", "/a/./b", "/..", "/\xff", "/a\x00b", "//"} {
		for name, err := range map[string]error{
			"Stat":           second(c.Stat(t.Context(), execute.At(p))),
			"List":           second(c.List(t.Context(), execute.At(p), nil)),
			"Summary":        second(c.Summary(t.Context(), execute.At(p), 1)),
			"XAttrs":         second(c.XAttrs(t.Context(), execute.At(p))),
			"Closed":         second(c.Closed(t.Context(), execute.At(p))),
			"EncryptionZone": second(c.EncryptionZone(t.Context(), p)),
			"TrashRoot":      second(c.TrashRoot(t.Context(), p)),
			"CheckAccess":    c.CheckAccess(t.Context(), execute.At(p), Read),
		} {
			if !errors.Is(err, execute.ErrInvalid) {
				t.Errorf("%s %q: %v", name, p, err)
			}
		}
	}
	if err := second(c.List(t.Context(), execute.At("/a"), []byte("b/c"))); !errors.Is(err, execute.ErrInvalid) {
		t.Errorf("after b/c: %v", err)
	}
	// The zero Ref is one of id 0, which is none.
	if err := second(c.Stat(t.Context(), execute.ByID(0))); !errors.Is(err, execute.ErrInvalid) {
		t.Errorf("id 0: %v", err)
	}
	if after := len(nn.methods()); after != before {
		t.Errorf("%d calls were sent", after-before)
	}
}

func second[T any](_ T, err error) error { return err }

func TestList(t *testing.T) {
	t.Parallel()
	named := func(id uint64, name string) *hadoop.HdfsFileStatusProto {
		fs := directory(id)
		fs.Path = []byte(name)
		return fs
	}
	listing := func(left uint32, entries ...*hadoop.HdfsFileStatusProto) *hadoop.GetListingResponseProto {
		return &hadoop.GetListingResponseProto{DirList: &hadoop.DirectoryListingProto{PartialListing: entries, RemainingEntries: &left}}
	}
	c, nn := answering(t, map[string]any{"getListing": listing(7, named(20001, "a\xff"), named(20002, "b"))})
	page, err := c.List(t.Context(), execute.ByID(40000), []byte("\xfe x"))
	if err != nil || page.Left != 7 || len(page.Entries) != 2 || string(page.Entries[0].Name) != "a\xff" || page.Entries[1].ID != 20002 {
		t.Errorf("%+v, %v", page, err)
	}
	var q hadoop.GetListingRequestProto
	nn.unmarshal(nn.seen("getListing")[0].body, &q)
	if string(q.GetStartAfter()) != "\xfe x" || q.GetSrc() != "/.reserved/.inodes/40000" || q.GetNeedLocation() {
		t.Errorf("request %v", &q)
	}
	for name, tc := range map[string]struct {
		answer any
		want   error
	}{
		"gone":                           {&hadoop.GetListingResponseProto{}, execute.ErrNotFound},
		"file":                           {listing(0, named(20001, "")), execute.ErrNotDirectory},
		"page without entries, and more": {listing(1), nil},
	} {
		c, _ := answering(t, map[string]any{"getListing": tc.answer})
		if _, err := c.List(t.Context(), execute.At("/a"), nil); err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ = answering(t, map[string]any{"getListing": listing(0)})
	if page, err := c.List(t.Context(), execute.At("/a"), nil); err != nil || len(page.Entries) != 0 || page.Left != 0 {
		t.Errorf("empty: %v, %v", page, err)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	sum := func(files, dirs, length, space uint64) *hadoop.GetContentSummaryResponseProto {
		return &hadoop.GetContentSummaryResponseProto{Summary: &hadoop.ContentSummaryProto{
			Length: &length, FileCount: &files, DirectoryCount: &dirs, Quota: proto.Uint64(math.MaxUint64), SpaceConsumed: &space, SpaceQuota: proto.Uint64(math.MaxUint64),
		}}
	}
	c, nn := answering(t, map[string]any{"getContentSummary": sum(10, 4, 1000, 3000)})
	got, err := c.Summary(t.Context(), execute.ByID(40000), 14)
	if want := (execute.Summary{Files: 10, Directories: 4, Length: 1000, Space: 3000}); err != nil || *got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = c.Summary(t.Context(), execute.ByID(40000), 13); !errors.Is(err, execute.ErrBudget) || got.Inodes() != 14 {
		t.Errorf("%+v, %v", got, err)
	}
	asked := len(nn.seen("getContentSummary"))
	// The directory has 3 entries.
	if _, err = c.Summary(t.Context(), execute.ByID(40000), 2); !errors.Is(err, execute.ErrBudget) || len(nn.seen("getContentSummary")) != asked {
		t.Errorf("%v", err)
	}
	c, _ = answering(t, map[string]any{"getContentSummary": sum(math.MaxUint64, 4, 1000, 3000)})
	if s, err := c.Summary(t.Context(), execute.ByID(40000), math.MaxInt64); err == nil {
		t.Errorf("%+v", s)
	}
	c, _ = answering(t, map[string]any{"getContentSummary": sum(math.MaxInt64, 4, 1000, 3000)})
	if _, err := c.Summary(t.Context(), execute.ByID(40000), math.MaxInt64); !errors.Is(err, execute.ErrBudget) {
		t.Errorf("%v", err)
	}
	c, _ = answering(t, map[string]any{"getContentSummary": accessClass})
	if s, err := c.Summary(t.Context(), execute.ByID(40000), 100); !errors.Is(err, execute.ErrPermission) || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestSmallQuestions(t *testing.T) {
	t.Parallel()
	user, raw := hadoop.XAttrProto_USER, hadoop.XAttrProto_RAW
	c, nn := answering(t, map[string]any{
		"setSafeMode": &hadoop.SetSafeModeResponseProto{Result: proto.Bool(true)},
		"getXAttrs": &hadoop.GetXAttrsResponseProto{XAttrs: []*hadoop.XAttrProto{
			{Namespace: &user, Name: proto.String("fsweep.keep"), Value: []byte("1")}, {Namespace: &raw, Name: proto.String("x")},
		}},
		"getServerDefaults": &hadoop.GetServerDefaultsResponseProto{ServerDefaults: &hadoop.FsServerDefaultsProto{
			BlockSize: proto.Uint64(1 << 27), BytesPerChecksum: proto.Uint32(1), WritePacketSize: proto.Uint32(1), Replication: proto.Uint32(3), FileBufferSize: proto.Uint32(1),
			EncryptDataTransfer: proto.Bool(true), TrashInterval: proto.Uint64(1440), SnapshotTrashRootEnabled: proto.Bool(true),
		}},
	})
	if on, err := c.SafeMode(t.Context()); err != nil || !on {
		t.Errorf("safe mode %v, %v", on, err)
	}
	want := map[string]any{"action": hadoop.SafeModeActionProto_SAFEMODE_GET, "checked": true} // checked: a standby refuses
	var q hadoop.SetSafeModeRequestProto
	nn.unmarshal(nn.seen("setSafeMode")[0].body, &q)
	if got := map[string]any{"action": q.GetAction(), "checked": q.GetChecked()}; !reflect.DeepEqual(got, want) {
		t.Errorf("request %v", got)
	}
	x, err := c.XAttrs(t.Context(), execute.At("/a"))
	if err != nil || !reflect.DeepEqual(x, []execute.XAttr{{Namespace: "user", Name: "fsweep.keep", Value: []byte("1")}, {Namespace: "raw", Name: "x"}}) {
		t.Errorf("%+v, %v", x, err)
	}
	d, err := c.Defaults(t.Context())
	if want := (execute.Defaults{TrashInterval: 24 * time.Hour, SnapshotTrash: true, EncryptTransfer: true, BlockSize: 1 << 27}); err != nil || d != want {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestTrashRoots(t *testing.T) {
	t.Parallel()
	dirs := func(full ...[2]string) *hadoop.GetSnapshottableDirListingResponseProto {
		l := &hadoop.SnapshottableDirectoryListingProto{}
		for _, d := range full {
			s := directory(40000)
			s.Path = []byte(d[1])
			l.SnapshottableDirListing = append(l.SnapshottableDirListing, &hadoop.SnapshottableDirectoryStatusProto{
				DirStatus: s, SnapshotQuota: proto.Uint32(1), SnapshotNumber: proto.Uint32(1), ParentFullpath: []byte(d[0]),
			})
		}
		return &hadoop.GetSnapshottableDirListingResponseProto{SnapshottableDirList: l}
	}
	zone := func(path string) *hadoop.GetEZForPathResponseProto {
		if path == "" {
			return &hadoop.GetEZForPathResponseProto{}
		}
		return &hadoop.GetEZForPathResponseProto{Zone: &hadoop.EncryptionZoneProto{Id: proto.Int64(1), Path: &path}}
	}
	defaults := func(on bool) *hadoop.GetServerDefaultsResponseProto {
		return &hadoop.GetServerDefaultsResponseProto{ServerDefaults: &hadoop.FsServerDefaultsProto{
			BlockSize: proto.Uint64(1), BytesPerChecksum: proto.Uint32(1), WritePacketSize: proto.Uint32(1), Replication: proto.Uint32(3), FileBufferSize: proto.Uint32(1),
			SnapshotTrashRootEnabled: &on,
		}}
	}
	for _, tc := range []struct {
		of, zone string
		trash    bool
		dirs     *hadoop.GetSnapshottableDirListingResponseProto
		want     execute.TrashRoot
	}{
		{"/flink/a", "", false, dirs([2]string{"/", "flink"}), execute.TrashRoot{Path: "/user/alice/.Trash", Kind: execute.HomeTrash}},
		{"/flink/a", "", true, dirs(), execute.TrashRoot{Path: "/user/alice/.Trash", Kind: execute.HomeTrash}},
		{"/flink/a", "", true, &hadoop.GetSnapshottableDirListingResponseProto{}, execute.TrashRoot{Path: "/user/alice/.Trash", Kind: execute.HomeTrash}},
		{"/flink/a", "", true, dirs([2]string{"/", "flin"}, [2]string{"/", "flink"}), execute.TrashRoot{Path: "/flink/.Trash/alice", Kind: execute.SnapshotTrash}},
		{"/flink", "", true, dirs([2]string{"/", "flink"}), execute.TrashRoot{Path: "/user/alice/.Trash", Kind: execute.HomeTrash}},
		{"/flink/a", "", true, dirs([2]string{"", ""}), execute.TrashRoot{Path: "/.Trash/alice", Kind: execute.SnapshotTrash}},
		{"/z/a", "/z", false, dirs(), execute.TrashRoot{Path: "/z/.Trash/alice", Kind: execute.ZoneTrash}},
		{"/z/a", "/", false, dirs(), execute.TrashRoot{Path: "/.Trash/alice", Kind: execute.ZoneTrash}},
		{"/z/s/a", "/z", true, dirs([2]string{"/z", "s"}), execute.TrashRoot{Path: "/z/s/.Trash/alice", Kind: execute.SnapshotTrash}},
		{"/z/s/a", "/z/s", true, dirs([2]string{"/", "z"}), execute.TrashRoot{Path: "/z/s/.Trash/alice", Kind: execute.ZoneTrash}},
		{"/z/a", "/z", true, dirs([2]string{"/", "z"}), execute.TrashRoot{Path: "/z/.Trash/alice", Kind: execute.ZoneTrash}},
	} {
		c, nn := answering(t, map[string]any{"getEZForPath": zone(tc.zone), "getServerDefaults": defaults(tc.trash), "getSnapshottableDirListing": tc.dirs})
		got, err := c.TrashRoot(t.Context(), tc.of)
		if err != nil || *got != tc.want {
			t.Errorf("%s: %+v, %v; want %+v", tc.of, got, err, tc.want)
		}
		var q hadoop.GetEZForPathRequestProto
		nn.unmarshal(nn.seen("getEZForPath")[0].body, &q)
		if q.GetSrc() == tc.of {
			t.Errorf("asked for the zone of %s itself, not of its parent", tc.of)
		}
	}
}

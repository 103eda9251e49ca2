package hdfs

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Everything that may be sent, by the type of its request. Reviewers read this list and allowed.go.
var (
	looks = map[string]string{
		"MsyncRequestProto":                      "msync",
		"GetFileLinkInfoRequestProto":            "getFileLinkInfo",
		"GetListingRequestProto":                 "getListing",
		"GetContentSummaryRequestProto":          "getContentSummary",
		"GetXAttrsRequestProto":                  "getXAttrs",
		"IsFileClosedRequestProto":               "isFileClosed",
		"GetEZForPathRequestProto":               "getEZForPath",
		"GetSnapshottableDirListingRequestProto": "getSnapshottableDirListing",
		"GetServerDefaultsRequestProto":          "getServerDefaults",
		"CheckAccessRequestProto":                "checkAccess",
		"GetDataEncryptionKeyRequestProto":       "getDataEncryptionKey",
		"SetSafeModeRequestProto":                "setSafeMode",
	}
	// Of other protocols, for a Survey only.
	surveys = map[string]string{
		"VersionRequestProto":          "versionRequest",
		"GetGroupsForUserRequestProto": "getGroupsForUser",
	}
	changes = map[string]string{
		"MkdirsRequestProto":  "mkdirs",
		"Rename2RequestProto": "rename2",
	}
)

// messages gives one of each message that this package knows, all required fields set.
func messages(t *testing.T) map[string]proto.Message {
	t.Helper()
	all := map[string]proto.Message{}
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		if strings.HasPrefix(string(mt.Descriptor().FullName()), "fsweep.hadoop.") {
			m := mt.New()
			fill(m)
			all[string(mt.Descriptor().Name())] = m.Interface()
		}
		return true
	})
	if len(all) < 40 {
		t.Fatalf("only %d messages", len(all))
	}
	return all
}

func fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Cardinality() != protoreflect.Required {
			continue
		}
		if f.Kind() == protoreflect.MessageKind {
			fill(m.Mutable(f).Message())
		} else {
			m.Set(f, f.Default())
		}
	}
}

// Of all messages there are only those of the list can be sent, and as what the list says.
func TestNothingElseCanBeSent(t *testing.T) {
	t.Parallel()
	safe := messages(t)
	safe["SetSafeModeRequestProto"] = &hadoop.SetSafeModeRequestProto{Action: hadoop.SafeModeActionProto_SAFEMODE_GET.Enum()}
	lookList := maps.Clone(looks)
	maps.Copy(lookList, surveys)
	for name, m := range safe {
		for what, tc := range map[string]struct {
			permit  func(proto.Message) (permitted, error)
			list    map[string]string
			changes bool
		}{"look": {look, lookList, false}, "change": {change, changes, true}} {
			p, err := tc.permit(m)
			method, listed := tc.list[name]
			if listed != (err == nil) || p.method != method || listed && p.changes != tc.changes {
				t.Errorf("%s %s: %+v, %v", what, name, p, err)
			}
			if err == nil && (p.of == clientProtocol) != (surveys[name] == "") {
				t.Errorf("%s %s: protocol %s", what, name, p.of)
			}
			if err != nil && !errors.Is(err, errRefused) {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
	for name := range safe {
		if strings.HasSuffix(name, "RequestProto") && lookList[name] == "" && changes[name] == "" {
			t.Errorf("%s: a request that nothing sends", name)
		}
		for _, word := range []string{"Delete", "Create", "Append", "Truncate", "Concat", "SetPermission", "SetOwner", "SetTimes", "SetQuota", "SetXAttr", "RemoveXAttr", "Snapshot", "Lease", "RenameRequest"} {
			if strings.Contains(name, word) && !strings.Contains(name, "Snapshottable") {
				t.Errorf("message %s should not be there", name)
			}
		}
	}
	if _, err := look(nil); err == nil {
		t.Error("nil")
	}
}

func TestFieldsAreCheckedToo(t *testing.T) {
	t.Parallel()
	rename := func(change func(*hadoop.Rename2RequestProto)) proto.Message {
		r := &hadoop.Rename2RequestProto{Src: proto.String("/a"), Dst: proto.String("/b"), OverwriteDest: proto.Bool(false)}
		change(r)
		return r
	}
	unknown := &hadoop.Rename2RequestProto{Src: proto.String("/a"), Dst: proto.String("/b"), OverwriteDest: proto.Bool(false)}
	unknown.ProtoReflect().SetUnknown([]byte{0x28, 1})
	bad := map[string]proto.Message{
		"overwrite":             rename(func(r *hadoop.Rename2RequestProto) { r.OverwriteDest = proto.Bool(true) }),
		"overwrite left out":    rename(func(r *hadoop.Rename2RequestProto) { r.OverwriteDest = nil }),
		"moveToTrash=false":     rename(func(r *hadoop.Rename2RequestProto) { r.MoveToTrash = proto.Bool(false) }),
		"without source":        rename(func(r *hadoop.Rename2RequestProto) { r.Src = nil }),
		"more fields":           unknown,
		"mkdirs with more bits": &hadoop.MkdirsRequestProto{Src: proto.String("/a"), CreateParent: proto.Bool(true), Masked: &hadoop.FsPermissionProto{Perm: proto.Uint32(0o10000)}},
	}
	for _, action := range []hadoop.SafeModeActionProto{1, 2, 4, 0, 5} {
		bad["safe mode "+action.String()] = &hadoop.SetSafeModeRequestProto{Action: action.Enum()}
	}
	bad["safe mode without action"] = &hadoop.SetSafeModeRequestProto{}
	for name, m := range bad {
		if p, err := look(m); err == nil {
			t.Errorf("%s: look %+v", name, p)
		}
		if p, err := change(m); err == nil {
			t.Errorf("%s: change %+v", name, p)
		}
	}
	if _, err := change(rename(func(r *hadoop.Rename2RequestProto) { r.MoveToTrash = proto.Bool(true) })); err != nil {
		t.Error(err)
	}
}

// The only way to the wire is a value of type permitted, and only allowed.go makes those.
func TestOnlyAllowedMakesPermitted(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	pkgs, err := parser.ParseDir(set, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // the package has no build constraints
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	note := func(what string, pos token.Pos) {
		if f := set.Position(pos).Filename; !slices.Contains(found[what], f) {
			found[what] = append(found[what], f)
		}
	}
	for _, f := range pkgs["hdfs"].Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "permitted" && len(n.Elts) > 0 {
					note("permitted{…}", n.Pos())
				}
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					if s, ok := l.(*ast.SelectorExpr); ok && slices.Contains([]string{"of", "method", "changes", "body"}, s.Sel.Name) {
						note("fields of permitted", n.Pos())
					}
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "requestFrame" || id.Name == "change") {
					note(id.Name, n.Pos())
				}
			}
			return true
		})
	}
	want := map[string][]string{
		"permitted{…}":        {"allowed.go"},
		"fields of permitted": {"allowed.go"},
		"requestFrame":        {"conn.go"},
		"change":              {"move.go"},
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// Every exported method of the package is called: what arrives is on the list, and what
// changes something comes only of a Mover.
func TestAllCallsOfThePackage(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	c := client(t, nil, nn)
	ctx, ref := t.Context(), execute.At("/a")
	ofClient := map[string]func(){
		"Active":         func() { _, _ = c.Active(ctx) },
		"CheckAccess":    func() { _ = c.CheckAccess(ctx, ref, Write) },
		"Closed":         func() { _, _ = c.Closed(ctx, ref) },
		"Defaults":       func() { _, _ = c.Defaults(ctx) },
		"EncryptionZone": func() { _, _ = c.EncryptionZone(ctx, "/a") },
		"List":           func() { _, _ = c.List(ctx, ref, nil) },
		"NameNodes":      func() { c.NameNodes(ctx) },
		"SafeMode":       func() { _, _ = c.SafeMode(ctx) },
		"Stat":           func() { _, _ = c.Stat(ctx, ref) },
		"Summary":        func() { _, _ = c.Summary(ctx, execute.ByID(40000), 10) },
		"TrashRoot":      func() { _, _ = c.TrashRoot(ctx, "/a") },
		"XAttrs":         func() { _, _ = c.XAttrs(ctx, ref) },
		"Reader":         func() { _, _ = c.Reader() },
		"ReaderBy":       func() { _, _ = c.ReaderBy("native") },
		"Close":          c.Close, "Mover": func() { c.Mover() }, "Nameservice": func() { c.Nameservice() }, "User": func() { c.User() }, "Login": func() { c.Login() },
	}
	// A fresh answer for what TrashRoot asks one after the other.
	nn.on(func(s *seen) *reply {
		switch s.method {
		case "getEZForPath":
			return done(s, &hadoop.GetEZForPathResponseProto{})
		case "getServerDefaults":
			return done(s, &hadoop.GetServerDefaultsResponseProto{ServerDefaults: &hadoop.FsServerDefaultsProto{
				BlockSize: proto.Uint64(1), BytesPerChecksum: proto.Uint32(1), WritePacketSize: proto.Uint32(1), Replication: proto.Uint32(1), FileBufferSize: proto.Uint32(1),
				SnapshotTrashRootEnabled: proto.Bool(true),
			}})
		}
		return nil
	})
	callAll(t, reflect.TypeFor[*Client](), ofClient)
	sent := nn.methods()
	slices.Sort(sent)
	if got, want := slices.Compact(sent), slices.Sorted(maps.Values(looks)); !slices.Equal(got, want) {
		t.Errorf("a Client sends\n %v, want\n %v", got, want)
	}
	before := len(nn.methods())
	s := NewSurvey(c)
	callAll(t, reflect.TypeFor[*Survey](), map[string]func(){
		"Access":    func() { _ = s.Access(ctx, ref, execute.WriteAccess) },
		"Groups":    func() { _, _ = s.Groups(ctx) },
		"NameNodes": func() { s.NameNodes(ctx) },
		"User":      func() { s.User() },
	})
	sent = slices.Clone(nn.methods()[before:])
	slices.Sort(sent)
	if got, want := slices.Compact(sent), []string{"checkAccess", "getGroupsForUser", "msync", "versionRequest"}; !slices.Equal(got, want) {
		t.Errorf("a Survey sends\n %v, want\n %v", got, want)
	}
	before = len(nn.methods())
	m := c.Mover()
	callAll(t, reflect.TypeFor[*Mover](), map[string]func(){
		"Mkdirs":  func() { _ = m.Mkdirs(ctx, "/a", 0o700) },
		"NewCall": func() { _, _ = m.NewCall(ctx) },
		"Rename":  func() { _ = m.Rename(ctx, aMove(), newCall(t, m)) },
		"Resend":  func() { _ = m.Resend(ctx, aMove(), newCall(t, m)) },
	})
	sent = slices.Clone(nn.methods()[before:])
	slices.Sort(sent)
	want := []string{"getFileLinkInfo", "mkdirs", "msync", "rename2"}
	if got := slices.Compact(sent); !slices.Equal(got, want) {
		t.Errorf("a Mover sends\n %v, want\n %v", got, want)
	}
}

// callAll calls every exported method of a type; one that the table does not have is a mistake.
func callAll(t *testing.T, typ reflect.Type, calls map[string]func()) {
	t.Helper()
	for method := range typ.Methods() {
		name := method.Name
		call, ok := calls[name]
		if !ok {
			t.Errorf("%v has a method %s that this test does not call", typ, name)
			continue
		}
		call()
	}
}

// Hadoop's own names would clash with other generated code of the same messages in one program.
func TestNamesInTheRegistryAreOurOwn(t *testing.T) {
	t.Parallel()
	for _, f := range []protoreflect.FileDescriptor{hadoop.File_fsweep_rpc_proto, hadoop.File_fsweep_namenode_proto} {
		if !strings.HasPrefix(f.Path(), "fsweep_") || !strings.HasPrefix(string(f.Package()), "fsweep.hadoop.") {
			t.Errorf("file %s, package %s", f.Path(), f.Package())
		}
	}
}

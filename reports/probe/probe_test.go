package probe

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fsweep/execute"
	live "fsweep/execute/probe"
	"fsweep/proto/schematest"
)

var update = flag.Bool("update", false, "write what tests expect")

// hostile is a name that tries to be more than one line, and to steer a terminal.
const hostile = "/cp/a b\nERROR\x1b[2J\xff\u202e\\n"

func directory(id uint64, owner string, permission uint16) *execute.Status {
	return &execute.Status{ID: id, Kind: execute.Directory, Owner: owner, Group: "hadoop", Permission: permission, Children: 3}
}

// sample has everything that can be shown, once at least.
func sample() *Source {
	ahead := -90 * time.Second
	nn := func(id string) execute.NameNode {
		return execute.NameNode{Nameservice: "ns1", ID: id, Address: id + ".example:8020"}
	}
	locked := directory(16390, "ops", 0o1770)
	locked.ACL = true
	refused := "Permission denied: user=flink, access=WRITE_EXECUTE, inode=\"/cp/b\":root:hadoop:drwxr-xr-x"
	return &Source{
		Tool: "fsweep-exec", Version: "v1", Conf: "/etc/hadoop/conf", URI: "hdfs://ns1", Authentication: "simple", Policy: "cleanup.yaml",
		Report: &live.Report{
			Nameservice: "hdfs://ns1", User: "flink", Groups: []string{"flink", "users"}, Now: time.UnixMilli(1_800_000_000_000),
			NameNodes: []execute.NameNodeState{
				{NameNode: nn("nn1"), Role: execute.ActiveRole, Version: "3.4.2", ClusterID: "CID-1", NamespaceID: 7, Ahead: new(time.Duration)},
				{NameNode: nn("nn2"), Role: execute.StandbyRole, Ahead: &ahead},
				{NameNode: nn("nn3"), Err: errors.New("connection refused\x1b[1m")},
			},
			ClusterID: "CID-1", NamespaceID: 7, SafeMode: live.No,
			Trash: live.Trash{Known: true, Interval: 24 * time.Hour, MinInterval: 36 * time.Hour, Snapshot: true, Roots: []*live.TrashRoot{
				{TrashRoot: execute.TrashRoot{Path: "/user/flink/.Trash", Kind: execute.HomeTrash}, ZoneKnown: true, Place: live.Place{Exists: live.No, Usable: live.Yes}},
				{TrashRoot: execute.TrashRoot{Path: "/z/.Trash/flink", Kind: execute.ZoneTrash}, Zone: "/z", ZoneKnown: true, Place: live.Place{Exists: live.Yes, Usable: live.No}},
				{TrashRoot: execute.TrashRoot{Path: "/s/.Trash/flink", Kind: execute.SnapshotTrash}, Place: live.Place{}},
			}},
			Places: []live.Place{
				{Purpose: live.LockDir, Path: "/ops/fsweep", Exists: live.Yes, Status: locked, Usable: live.Yes},
				{Purpose: live.Hold, Path: "/ops/fsweep/HOLD", Exists: live.No, Reason: "not found"},
				{Purpose: live.Anchor, Path: "/user", WantID: 16386, Exists: live.Yes, Status: directory(16386, "hdfs", 0o755)},
			},
			Lock: []string{"ann@gw1\n.99"},
			Roots: []live.Root{
				{
					RootOptions: live.RootOptions{Path: "/cp", Layout: "job-run", Execute: true}, Exists: live.Yes, Status: directory(16391, "flink", 0o755),
					ZoneKnown: true, TrashRoot: &execute.TrashRoot{Path: "/user/flink/.Trash", Kind: execute.HomeTrash}, Listed: true, Parents: 500, Movable: 498, More: true,
				},
				{
					RootOptions: live.RootOptions{Path: hostile, Layout: "run", WantID: 9}, Exists: live.Yes, Status: directory(16392, "root\n", 0o2777),
					Snapshottable: []string{"/cp", hostile}, Zone: "/z", ZoneKnown: true, Listed: true, Parents: 1, Unknown: 1,
				},
				{RootOptions: live.RootOptions{Path: "/none", Layout: "children"}, Exists: live.No, Reason: "not found"},
			},
			Findings: []live.Finding{
				{Code: live.NameNodeUnknown, Message: "NameNode nn3 (nn3.example:8020) cannot be asked: connection refused\x1b[1m"},
				{Code: live.TrashTooShort, Level: live.Refusal, Message: "the trash keeps for 24h only"},
				{Code: live.PartNotMovable, Level: live.Partly, Path: "/cp/b", Root: "/cp", Message: `"flink" may not: ` + refused},
				{Code: live.RootReplaced, Level: live.Refusal, Path: hostile, Root: hostile, Message: "it is inode 16392\xff"},
			},
		},
	}
}

// outputs are all forms of the sample.
func outputs(t *testing.T) map[string][]byte {
	t.Helper()
	var text, json bytes.Buffer
	if err := errors.Join(Text(&text, sample()), JSON(&json, sample())); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"probe.txt": text.Bytes(), "probe.json": json.Bytes()}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, got := range outputs(t) {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHarmless: whatever names and messages hold, text has one line for each thing and
// nothing that steers a terminal, and JSON is valid and has the exact bytes.
func TestHarmless(t *testing.T) {
	t.Parallel()
	out := outputs(t)
	for name, b := range out {
		if !utf8.Valid(b) {
			t.Errorf("%s is not UTF-8", name)
		}
	}
	bad := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if i := bytes.IndexFunc(out["probe.txt"], bad); i >= 0 {
		t.Errorf("text: %q", out["probe.txt"][i:min(i+40, len(out["probe.txt"]))])
	}
	if n := bytes.Count(out["probe.txt"], []byte("\nERROR ")); n != 3 {
		t.Errorf("%d lines of ERROR", n)
	}
	if !bytes.Contains(out["probe.txt"], []byte(`/cp/a b\nERROR\x1b[2J\xff\u{202e}\\n`)) {
		t.Error("the name is not shown in its text form")
	}
	if !bytes.Contains(out["probe.json"], []byte(`"path_b64": "L2NwL2EgYgpFUlJPUhtbMkr/4oCuXG4="`)) {
		t.Error("the bytes of the name are not in JSON")
	}
}

// TestSchema: what is written is as the schema says, and has no key that it lacks.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema := schematest.Closed(t, Schema())
	empty := &Source{Tool: "fsweep-exec", Version: "v1", Conf: "c", URI: "hdfs://h:8020", Authentication: "simple", Report: &live.Report{User: "a", Cut: true}}
	var bare bytes.Buffer
	if err := JSON(&bare, empty); err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{outputs(t)["probe.json"], bare.Bytes()} {
		schematest.Document(t, schema, b)
	}
}

// TestAdvice: there is advice for every finding, and the manual explains every one.
func TestAdvice(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range live.Codes() {
		if Advice(code) == "" || strings.HasSuffix(Advice(code), ".") {
			t.Errorf("%s: advice %q", code, Advice(code))
		}
		if !bytes.Contains(manual, []byte("| `"+string(code)+"` |")) {
			t.Errorf("docs/operations.md does not explain %s", code)
		}
	}
	if n := bytes.Count(manual, []byte("\n| `")); n < len(live.Codes()) {
		t.Errorf("%d rows", n)
	}
}

// TestPermission: as hdfs dfs -ls shows it.
func TestPermission(t *testing.T) {
	t.Parallel()
	for want, st := range map[string]*execute.Status{
		"drwxr-x---":  {Kind: execute.Directory, Permission: 0o750},
		"drwxrwxrwt":  {Kind: execute.Directory, Permission: 0o1777},
		"drwxrwx--T+": {Kind: execute.Directory, Permission: 0o1770, ACL: true},
		"-rw-r--r--":  {Kind: execute.File, Permission: 0o644},
		"lrwxrwxrwx":  {Kind: execute.Symlink, Permission: 0o777},
	} {
		if got := permission(st); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// failing fails after n bytes.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	for _, write := range []func(*failing) error{
		func(w *failing) error { return Text(w, sample()) },
		func(w *failing) error { return JSON(w, sample()) },
	} {
		if err := write(&failing{100}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

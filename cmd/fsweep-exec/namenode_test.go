package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fsweep/execute/hdfstest/rig"
	"fsweep/proto/planfile"
)

// questions are all calls that a probe may send; docs/operations.md has the same.
var questions = []string{
	"msync", "getFileLinkInfo", "getListing", "getServerDefaults", "getEZForPath", "getSnapshottableDirListing", "checkAccess", "setSafeMode",
	"getDataEncryptionKey", "versionRequest", "getGroupsForUser",
}

// TestNameNodeProbe runs what a user types against real NameNodes, as the users flink
// and alice. "hdfs VERB …" is the administrator. Afterwards not one call is found, on
// the wire or in the audit logs, that could have changed anything.
func TestNameNodeProbe(t *testing.T) {
	for _, c := range []struct {
		name, script string
		options      rig.Options
	}{
		{"3.4.2", "single", rig.Options{SnapshotTrash: true}},
		{"2.10.2", "single", rig.Options{Version: "2.10.2"}},
		{"HA", "ha", rig.Options{NameNodes: 3}},
		{"no trash", "no_trash", rig.Options{TrashInterval: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := rig.Start(t, c.options)
			t.Run("script", func(t *testing.T) { probeScript(t, cluster, c.script) })
			onlyQuestions(t, cluster)
		})
	}
}

func probeScript(t *testing.T, c *rig.Cluster, script string) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata/namenode", script+".txtar")},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HADOOP_CONF_DIR", c.ConfDir())
			env.Setenv("HADOOP_USER_NAME", "flink")
			env.Setenv("VERSION", c.Can().Version)
			if c.NameNodes() == 1 {
				env.Setenv("NS", c.Proxy(0).Addr())
			} else {
				env.Setenv("NS", rig.Nameservice)
			}
			for _, name := range []string{"policy.yaml", "poor.yaml"} { // each script has what it needs
				name = env.Getenv("WORK") + "/" + name
				b, err := os.ReadFile(name)
				if err != nil {
					continue
				}
				if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(b), "NAMESERVICE", env.Getenv("NS"))), 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "hadoop3":
				return !strings.HasPrefix(c.Can().Version, "2."), nil
			case "zones":
				return c.Can().EncryptionZones, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"plan":  func(ts *testscript.TestScript, _ bool, args []string) { writePlan(scriptTB{t, ts}, c, args) },
			"hdfs":  func(ts *testscript.TestScript, _ bool, args []string) { administer(scriptTB{t, ts}, c, args) },
		},
	})
}

// scriptTB ends the script where the administrator would end the test.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (s scriptTB) Helper()                           {}
func (s scriptTB) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }
func (s scriptTB) Fatal(args ...any)                 { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s scriptTB) Logf(format string, args ...any)   { s.ts.Logf(format, args...) }

// administer is what the superuser does.
func administer(t scriptTB, c *rig.Cluster, args []string) {
	a := c.Admin()
	need := func(n int) {
		if len(args) != n+1 {
			t.ts.Fatalf("hdfs %q: %d arguments wanted", args, n)
		}
	}
	if len(args) == 0 {
		t.ts.Fatalf("usage: hdfs VERB …")
	}
	number := func(s string, base int) int {
		n, err := strconv.ParseInt(s, base, 32)
		t.ts.Check(err)
		return int(n)
	}
	switch args[0] {
	case "mkdir": // PATH OWNER PERMISSION
		need(3)
		a.Mkdir(t, args[1], args[2], uint16(number(args[3], 8)))
	case "put": // PATH OWNER
		need(2)
		a.Put(t, args[1], args[2], nil)
	case "chmod":
		need(2)
		a.Chmod(t, args[1], uint16(number(args[2], 8)))
	case "chown": // PATH OWNER GROUP
		need(3)
		a.Chown(t, args[1], args[2], args[3])
	case "delete":
		need(1)
		a.Delete(t, args[1])
	case "zone":
		need(1)
		a.EncryptionZone(t, args[1])
	case "snapshots":
		need(1)
		a.AllowSnapshots(t, args[1])
	case "safemode":
		need(1)
		a.SafeMode(t, args[1] == "on")
	case "failover":
		need(0)
		a.Failover(t)
	case "standby":
		need(0)
		a.AllStandby(t)
	case "freeze":
		need(1)
		c.Freeze(t, number(args[1], 10))
	case "thaw":
		need(1)
		c.Thaw(t, number(args[1], 10))
	case "kill":
		need(1)
		c.Kill(t, number(args[1], 10))
	default:
		t.ts.Fatalf("hdfs %s: unknown", args[0])
	}
}

// writePlan makes a plan without items: "plan FILE ROOT [ANCHOR-ID]". It is of this
// cluster, with the directory above the root as its anchor, and expires in an hour.
func writePlan(t scriptTB, c *rig.Cluster, args []string) {
	if len(args) < 2 {
		t.ts.Fatalf("usage: plan FILE ROOT [ANCHOR-ID]")
	}
	id := func(p string) uint64 {
		n, err := strconv.ParseUint(strings.Fields(c.Stat(t, p))[0], 10, 64)
		t.ts.Check(err)
		return n
	}
	anchor := planfile.Place{Path: planfile.Path(path.Dir(args[1])), InodeID: id(path.Dir(args[1]))}
	if len(args) > 2 {
		n, err := strconv.ParseUint(args[2], 10, 64)
		t.ts.Check(err)
		anchor.InodeID = n
	}
	hour := time.Hour.Milliseconds()
	now := time.Now().UnixMilli()
	var b bytes.Buffer
	w, err := planfile.NewWriter(&b, planfile.Header{
		Tool: "fsweep", Version: "1", NowMs: now, ExpiresMs: now + hour, Nameservice: t.ts.Getenv("NS"), Complete: true, Executable: true,
		Source: planfile.Source{Image: "fsimage_1", TxID: 1, NamespaceID: 1, LayoutVersion: -66, ImageTimeMs: now - hour, ImageTimeSource: "test"},
		Policy: planfile.Policy{Name: "policy.yaml", Digest: planfile.Digest{1}}, Preflight: planfile.PreflightRoot, Removal: planfile.RemovalTrash,
		UnreadableGuard: planfile.UnreadableOwnerAndRoot, GuardAgeMs: hour, LockDir: planfile.Place{Path: "/ops/fsweep"},
		Anchors: []planfile.Place{anchor},
		Belts:   planfile.Belts{MaxItems: 1, MaxInodesPerMove: 1, MaxInodes: 1, MaxPercentOfRoot: 1, MinTrashIntervalMs: hour},
		Pace:    planfile.Pace{Batch: 1, RPCTimeoutMs: 1000, StopOn: "anomaly"},
		Roots: []planfile.Root{
			{Path: planfile.Path(args[1]), InodeID: id(args[1]), Layout: planfile.LayoutChildren, Mode: planfile.ModeExecute, Inodes: 1},
		},
	})
	t.ts.Check(err)
	_, err = w.Close()
	t.ts.Check(err)
	t.ts.Check(os.WriteFile(t.ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// onlyQuestions looks at all that passed the proxies, and at what the NameNodes say
// that users did.
func onlyQuestions(t *testing.T, c *rig.Cluster) {
	t.Helper()
	sent := map[string]int{}
	for i := range c.NameNodes() {
		for _, r := range c.Proxy(i).Requests() {
			sent[r.Method]++
			if !slices.Contains(questions, r.Method) {
				t.Errorf("a probe sent %s", r.Method)
			}
		}
	}
	t.Logf("sent: %v", sent)
	if sent["getFileLinkInfo"] == 0 {
		t.Error("no call was seen")
	}
	events := 0
	for _, user := range []string{"flink", "alice"} {
		for _, e := range c.Mutations(t, user) {
			t.Errorf("%s did %s %s", user, e.Command, e.Source)
		}
	}
	for _, e := range c.Audit(t) {
		if e.User == "flink" {
			events++
		}
	}
	if events == 0 {
		t.Error("the audit logs know nothing of flink")
	}
}

// TestQuestions: the manual lists the calls.
func TestQuestions(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		if !strings.Contains(string(manual), "`"+q+"`") {
			t.Errorf("docs/operations.md does not name %s", q)
		}
	}
}

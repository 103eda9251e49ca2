package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsweep/cmd/internal/sidecar"
	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeFetch fetches from real NameNodes. What comes is held against the
// file in the NameNode's own directory.
func TestNameNodeFetch(t *testing.T) {
	t.Parallel() // most of it is waiting for what NameNodes remember
	for _, version := range []string{"3.4.2", "2.10.2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			fetchSingle(t, rig.Start(t, rig.Options{Version: version}))
		})
	}
	// The standby makes a checkpoint every 200 transactions, and uploads it.
	t.Run("HA", func(t *testing.T) {
		t.Parallel()
		fetchHA(t, rig.Start(t, rig.Options{NameNodes: 2, Config: map[string]string{
			"dfs.namenode.checkpoint.txns": "200", "dfs.namenode.checkpoint.check.period": "1", "dfs.ha.log-roll.period": "10",
		}}))
	})
}

// fetches runs fsweep-exec fetch, as alice, and requires an exit code.
func fetches(t *testing.T, c *rig.Cluster) func(want int, args ...string) (stdout, stderr string) {
	s := &site{t: t, c: c, dir: t.TempDir(), user: "alice", conf: c.ConfDir()}
	return func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := s.run("fsweep-exec", append([]string{"fetch"}, args...)...)
		if code != want {
			t.Fatalf("fetch %q: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
		}
		return stdout, stderr
	}
}

func fetchSingle(t *testing.T, c *rig.Cluster) {
	dir, fetch := t.TempDir(), fetches(t, c)
	c.Admin().Mkdir(t, "/flink", "flink", 0o755)
	if _, stderr := fetch(3, dir); !strings.Contains(stderr, "ACTIVE") || !strings.Contains(stderr, "hint: --from-active") {
		t.Error(stderr)
	}
	if _, stderr := fetch(5, "--from-active", dir); !strings.Contains(stderr, "there was no checkpoint yet") {
		t.Error(stderr)
	}
	c.SaveNamespace(t)
	stdout, stderr := fetch(0, "--from-active", "--rate", "100MB/s", dir)
	name := onlyImage(t, dir)
	if stdout != filepath.Join(dir, name)+"\n" || !strings.Contains(stderr, "from ") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	sameAsOriginal(t, c, "nn1", dir, name)
	if _, report, errs := (&site{t: t, c: c, dir: dir, conf: c.ConfDir()}).run("fsweep", "report", name); !strings.Contains(report, "("+name+".fetched.json: last checkpoint of NameNode ") {
		t.Errorf("%s%s", report, errs)
	}

	stdout, _ = fetch(0, "--from-active", "--format", "json", dir)
	if !strings.Contains(stdout, `"present_before": true`) || !strings.Contains(stdout, `"image_time_source": "last checkpoint of NameNode `) {
		t.Error(stdout)
	}
	c.Admin().Mkdir(t, "/flink/more", "flink", 0o755)
	c.SaveNamespace(t)
	stdout, _ = fetch(0, "--from-active", "--keep", "1", "--format", "json", dir)
	if now := onlyImage(t, dir); now == name || !strings.Contains(stdout, `"`+name+`"`) {
		t.Errorf("%s is still there, or not named: %s", name, stdout)
	}
}

func fetchHA(t *testing.T, c *rig.Cluster) {
	dir, fetch := t.TempDir(), fetches(t, c)
	more := func(name string) {
		for i := range 210 {
			c.Admin().Mkdir(t, fmt.Sprintf("/%s/%d", name, i), "flink", 0o755)
		}
	}
	more("a")
	first := awaitCheckpoint(t, c, "")
	stdout, stderr := fetch(0, "--format", "json", dir)
	if !strings.Contains(stdout, `"namenode": "nn2"`) || !strings.Contains(stdout, `"role": "standby"`) || !strings.Contains(stdout, `"nameservice": "ns1"`) {
		t.Errorf("%s%s", stdout, stderr)
	}
	if name := onlyImage(t, dir); name != first {
		t.Errorf("fetched %s, the newest is %s", name, first)
	}
	sameAsOriginal(t, c, "nn2", dir, first)

	// The other one is the standby now, and it has got the image by upload.
	c.Failover(t)
	other := t.TempDir()
	if stdout, _ := fetch(0, "--format", "json", other); !strings.Contains(stdout, `"namenode": "nn1"`) {
		t.Error(stdout)
	}
	// Nothing is left to ask when it is frozen, but the ACTIVE one.
	c.Freeze(t, 0)
	defer c.Thaw(t, 0)
	if _, stderr := fetch(5, "--tries", "1", "--timeout", "2s", t.TempDir()); !strings.Contains(stderr, "nn1 is not known to be a standby") || !strings.Contains(stderr, "hint: --from-active") {
		t.Error(stderr)
	}
	if stdout, _ := fetch(0, "--from-active", "--timeout", "2s", "--format", "json", t.TempDir()); !strings.Contains(stdout, `"role": "active"`) {
		t.Error(stdout)
	}
}

// awaitCheckpoint waits for an image of the standby, nn2, other than one.
func awaitCheckpoint(t *testing.T, c *rig.Cluster, but string) string {
	t.Helper()
	for range 300 {
		names, err := filepath.Glob(filepath.Join(c.Dir(), "name-nn2", "current", "fsimage_*.md5"))
		if err != nil {
			t.Fatal(err)
		}
		if newest := strings.TrimSuffix(filepath.Base(names[len(names)-1]), ".md5"); newest != but && newest != "fsimage_0000000000000000000" {
			return newest
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("no checkpoint")
	return ""
}

// onlyImage gives the image in a directory, which has only its files and the lock.
func onlyImage(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != 4 || names[0] != ".fsweep-fetch.lock" || names[2] != names[1]+".fetched.json" || names[3] != names[1]+".md5" {
		t.Fatalf("%q", names)
	}
	return names[1]
}

// sameAsOriginal: image and .md5 are byte for byte those of the NameNode, and the time is
// that of its file.
func sameAsOriginal(t *testing.T, c *rig.Cluster, id, dir, name string) {
	t.Helper()
	original := filepath.Join(c.Dir(), "name-"+id, "current", name)
	for _, suffix := range []string{"", ".md5"} {
		want, err := os.ReadFile(original + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name+suffix)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s%s: %v, %d bytes, the NameNode has %d", name, suffix, err, len(got), len(want))
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, name+sidecar.FetchedSuffix))
	if err != nil {
		t.Fatal(err)
	}
	f, err := sidecar.ParseFetched(data)
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(original)
	if err != nil {
		t.Fatal(err)
	}
	if sum := md5.Sum(image); f.MD5 != hex.EncodeToString(sum[:]) || nameOf(f.TxID) != name || f.ClusterID == "" {
		t.Errorf("%+v", f)
	}
	if off := time.UnixMilli(f.ImageTimeMs).Sub(fi.ModTime()).Abs(); off > 2*time.Second {
		t.Errorf("the image time is %s, the NameNode wrote it at %s", time.UnixMilli(f.ImageTimeMs), fi.ModTime())
	}
}

func nameOf(txid int64) string { return fmt.Sprintf("fsimage_%019d", txid) }

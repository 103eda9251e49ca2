package rig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsweep/execute/hdfstest/rig"
)

// stat gives what the administrator sees of a path.
func stat(t *testing.T, c *rig.Cluster, path string) map[string]string {
	t.Helper()
	words := strings.Fields(c.Stat(t, path))
	names := []string{"id", "kind", "length", "mtime", "atime", "owner", "group", "permission"}
	if len(words) != len(names) {
		t.Fatalf("stat %s: %q", path, words)
	}
	m := make(map[string]string)
	for i, n := range names {
		m[n] = words[i]
	}
	return m
}

// want compares some of it: "owner=alice kind=file".
func want(t *testing.T, c *rig.Cluster, path, fields string) {
	t.Helper()
	got := stat(t, c, path)
	for f := range strings.FieldsSeq(fields) {
		if k, v, _ := strings.Cut(f, "="); got[k] != v {
			t.Errorf("%s: %s is %q, want %q", path, k, got[k], v)
		}
	}
}

// TestNameNodeAdmin has a NameNode carry out what the interface Admin can ask. The other
// lines of Hadoop do so in the tests of execute/hdfs.
func TestNameNodeAdmin(t *testing.T) {
	c := rig.Start(t, rig.Options{DataNodes: 5, SnapshotTrash: true})
	a := c.Admin()
	a.Mkdir(t, "/d/e", "alice", 0o1777)
	a.Put(t, "/d/e/f", "bob", []byte("hallo"))
	a.Append(t, "/d/e/f", []byte(" welt"))
	a.Open(t, "/d/open")
	a.Symlink(t, "/d/link", "/d/e/f")
	a.Chown(t, "/d/open", "carol", "staff")
	a.SetTimes(t, "/d/open", 5, 7)
	a.SetXAttr(t, "/d", "user.fsweep.keep", []byte{0, 255})
	a.SetACL(t, "/d/e")
	a.SetQuota(t, "/d", 100, 1<<30)
	want(t, c, "/d", "kind=directory owner=root permission=755")
	want(t, c, "/d/e", "kind=directory owner=alice permission=1777")
	want(t, c, "/d/e/f", "kind=file owner=bob length=10 permission=644")
	want(t, c, "/d/open", "owner=carol group=staff mtime=5 atime=7")
	want(t, c, "/d/link", "kind=symlink")
	special(t, c)
	trash(t, c)
	keepsWhatItHad(t, c)
}

func special(t *testing.T, c *rig.Cluster) {
	t.Helper()
	a := c.Admin()
	a.Mkdir(t, "/zone", "", 0o755)
	a.EncryptionZone(t, "/zone")
	a.Put(t, "/zone/f", "", []byte("secret"))
	want(t, c, "/zone/f", "length=6")
	a.Mkdir(t, "/s", "", 0o755)
	a.AllowSnapshots(t, "/s")
	a.Snapshot(t, "/s", "s1")
	a.DeleteSnapshot(t, "/s", "s1")
	a.Protect(t, "/d/e")
	a.Protect(t)
	if c.Can().ErasureCoding {
		a.PutErasureCoded(t, "/ec/f", make([]byte, 5<<20))
		want(t, c, "/ec/f", "length=5242880")
	}
	name := "/odd/a b\n\"<&%20+*?\u00e4\U0001F600"
	a.Mkdir(t, name, "", 0o700)
	want(t, c, name, "kind=directory permission=700")
	a.Delete(t, "/odd")
	if s := c.Stat(t, "/odd"); s != "" {
		t.Errorf("/odd after its deletion: %s", s)
	}
}

func trash(t *testing.T, c *rig.Cluster) {
	t.Helper()
	a := c.Admin()
	const root = "/user/alice/.Trash"
	var ids, names []string
	for range 2 {
		a.Mkdir(t, root+"/Current", "alice", 0o700)
		ids = append(ids, stat(t, c, root+"/Current")["id"])
		names = append(names, a.RenameCurrent(t, root))
	}
	for i, name := range names {
		want(t, c, name, "owner=alice id="+ids[i])
	}
}

// keepsWhatItHad shows that the image is there, and that a NameNode that was killed
// comes back with everything.
func keepsWhatItHad(t *testing.T, c *rig.Cluster) {
	t.Helper()
	a := c.Admin()
	a.SafeMode(t, true)
	a.SafeMode(t, false)
	image := c.SaveNamespace(t)
	if s, err := os.Stat(image); err != nil || s.Size() == 0 || filepath.Ext(image) != "" {
		t.Errorf("image %s: %v", image, err)
	}
	a.Mkdir(t, "/after", "", 0o755)
	id := stat(t, c, "/after")["id"]
	c.Kill(t, 0)
	c.Restart(t, 0)
	want(t, c, "/after", "id="+id)
	found := 0
	for _, e := range c.Mutations(t, "root") {
		if e.Command == "mkdirs" && e.Source == "/after" && e.Allowed {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d times mkdirs /after in the audit log, want 1", found)
	}
}

func TestNameNodeFailover(t *testing.T) {
	c := rig.Start(t, rig.Options{NameNodes: 2, DataNodes: 1})
	a := c.Admin()
	a.Put(t, "/f", "alice", []byte("x"))
	id := stat(t, c, "/f")["id"]
	for i := range 4 {
		if c.Active() != i%2 {
			t.Fatalf("active: %d", c.Active())
		}
		a.Failover(t)
		want(t, c, "/f", "length=1 id="+id)
	}
	a.AllStandby(t)
	a.Failover(t)
	want(t, c, "/f", "id="+id)

	c.Freeze(t, 1) // which is killed by the failover
	c.Thaw(t, 1)
	want(t, c, "/f", "id="+id)
	c.Freeze(t, 1)
	a.Failover(t)
	want(t, c, "/f", "id="+id)
	a.Delete(t, "/f")
	c.Restart(t, 1)
	a.Failover(t)
	if s := c.Stat(t, "/f"); s != "" {
		t.Errorf("/f after failover: %s", s)
	}
}

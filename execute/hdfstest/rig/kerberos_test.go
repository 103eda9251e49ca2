package rig_test

import (
	"testing"

	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeKerberos has a secured pair of NameNodes carry out what an administrator asks.
func TestNameNodeKerberos(t *testing.T) {
	c := rig.Start(t, rig.Options{NameNodes: 2, DataNodes: 1, Kerberos: &rig.Kerberos{RPCProtection: "privacy", DataProtection: "privacy", Web: true}})
	a := c.Admin()
	a.Put(t, "/d/f", "alice", []byte("hallo"))
	want(t, c, "/d", "owner=root")
	want(t, c, "/d/f", "length=5 owner=alice")
	a.Failover(t)
	want(t, c, "/d/f", "length=5 owner=alice")
	c.Keytab(t, "alice")
	if s := c.TrashRoot(t, "/d/f", "alice"); s != "/user/alice/.Trash" {
		t.Errorf("trash of alice: %s", s)
	}
	if n := len(c.Secrets(t)); n < 3 {
		t.Errorf("%d keys of hdfs, HTTP and alice", n)
	}
}

package hdfs_test

import (
	"testing"

	"fsweep/execute/hdfstest/rig"
)

// trashRoots compares trash roots with those of Hadoop's own client, which finds them by
// rules of its own.
func trashRoots(t *testing.T, c *rig.Cluster) {
	a := c.Admin()
	paths := []string{"/", "/x", "/user/alice/f", "/alice-snapx/f"}
	for _, owner := range []string{"alice", "bob"} {
		for _, kind := range []string{"zone", "snap", "both", "plain"} {
			dir := "/" + owner + "-" + kind
			a.Mkdir(t, dir, owner, 0o755)
			if kind == "zone" || kind == "both" {
				a.EncryptionZone(t, dir)
			}
			a.Mkdir(t, dir+"/d/e", owner, 0o755)
			a.Mkdir(t, dir+"/zone", owner, 0o755)
			switch kind {
			case "snap":
				a.EncryptionZone(t, dir+"/zone")
				a.AllowSnapshots(t, dir)
			case "both":
				a.AllowSnapshots(t, dir)
			case "zone":
				a.AllowSnapshots(t, dir+"/d")
			}
			for _, below := range []string{"", "/f", "/d", "/d/f", "/d/e/f/g", "/zone", "/zone/f", "/none/f"} {
				paths = append(paths, dir+below)
			}
		}
	}
	kinds := make(map[string]bool)
	for _, user := range []string{"alice", "root"} {
		ports := c.As(t, user)
		for _, path := range paths {
			want := c.TrashRoot(t, path, user)
			kinds[want] = true
			got, err := ports.TrashRoot(within(t, callTime), path)
			if err != nil || got.Path != want {
				t.Errorf("%s of %s: %+v, %v, want %s", user, path, got, err, want)
			}
		}
	}
	if len(kinds) < 8 { // two homes, three directories of encryption zones for each user
		t.Errorf("only %d trash roots", len(kinds))
	}
}

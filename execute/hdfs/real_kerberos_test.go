package hdfs_test

import (
	"testing"

	"fsweep/execute/hdfstest"
	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeKerberosQualities holds the client and a secured NameNode to what the ports promise,
// whatever protects the connection.
func TestNameNodeKerberosQualities(t *testing.T) {
	for _, quality := range []string{"authentication", "integrity", "privacy"} {
		t.Run(quality, func(t *testing.T) {
			c := rig.Start(t, rig.Options{SnapshotTrash: true, Kerberos: &rig.Kerberos{RPCProtection: quality}})
			t.Run("trash roots are those of Hadoop's client", func(t *testing.T) { trashRoots(t, c) })
			t.Run("conformance", func(t *testing.T) {
				hdfstest.Run(t, func(*testing.T) hdfstest.Cluster { return c })
			})
		})
	}
}

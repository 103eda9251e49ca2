package hdfs_test

import (
	"os"
	"strings"
	"testing"

	"fsweep/execute/hdfstest"
	"fsweep/execute/hdfstest/rig"
)

// TestNameNode holds the client and real NameNodes of three lines to what the ports
// promise. FSWEEP_HADOOP names other versions.
func TestNameNode(t *testing.T) {
	versions := []string{"3.4.2", "3.2.2", "2.10.2"}
	if s := os.Getenv("FSWEEP_HADOOP"); s != "" {
		versions = strings.Fields(s)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			opts := rig.Options{Version: version, DataNodes: 3, SnapshotTrash: true} // 3: XOR-2-1
			if strings.HasPrefix(version, "2.") {
				opts.DataNodes = 1
			}
			c := rig.Start(t, opts)
			t.Run("trash roots are those of Hadoop's client", func(t *testing.T) { trashRoots(t, c) })
			t.Run("conformance", func(t *testing.T) {
				hdfstest.Run(t, func(*testing.T) hdfstest.Cluster { return c })
			})
			if c.Can().ErasureCoding { // Hadoop 2 does not say what is snapshottable, which the comparison has to know
				t.Run("the cluster in memory answers the same", func(t *testing.T) { fakeAnswersTheSame(t, c) })
			}
		})
	}
}

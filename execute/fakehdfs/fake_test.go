package fakehdfs_test

import (
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/execute/hdfstest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]fakehdfs.Options{
		"3.4.2": {}, "3.4.2 HA": {HA: true}, "3.2.2": {Version: "3.2.2"}, "2.10.2": {Version: "2.10.2", HA: true},
		"no DataNodes": {NoContent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hdfstest.Run(t, func(*testing.T) hdfstest.Cluster { return fakehdfs.New(o).Cluster() })
		})
	}
}

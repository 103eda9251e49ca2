package rig

import (
	"testing"

	"fsweep/execute"
	"fsweep/execute/hdfs"
)

// Survey gives what a user may ask, through the proxies.
func (c *Cluster) Survey(t testing.TB, user string) execute.Surveyor {
	t.Helper()
	return hdfs.NewSurvey(c.Client(t, hdfs.Options{User: user}))
}

package rig

import (
	"testing"

	"fsweep/execute/hdfs"
	"fsweep/execute/hdfstest"
)

var _ hdfstest.Cluster = (*Cluster)(nil)

// As gives ports that act as a user, through the proxies.
func (c *Cluster) As(t testing.TB, user string) hdfstest.Ports {
	t.Helper()
	client := c.Client(t, hdfs.Options{User: user})
	ports := hdfstest.Ports{Inspector: client, Mover: client.Mover()}
	if c.opts.DataNodes > 0 {
		r, err := client.Reader()
		if err != nil {
			t.Fatalf("rig: %v", err)
		}
		ports.Reader = r
	}
	return ports
}

// Client gives a client of [Cluster.ConfDir], which ends with the test. The
// environment means nothing to it.
func (c *Cluster) Client(t testing.TB, opts hdfs.Options) *hdfs.Client {
	t.Helper()
	conf, err := hdfs.LoadConf(c.conf)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	opts.Conf = conf
	opts.LookupEnv = func(string) (string, bool) { return "", false }
	client, err := hdfs.Open(opts)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}

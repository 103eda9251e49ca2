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

// Client gives a client of [Cluster.ConfDir], which ends with the test. The environment
// means nothing to it. With Kerberos the user logs in with a keytab, unless opts has its own.
func (c *Cluster) Client(t testing.TB, opts hdfs.Options) *hdfs.Client {
	t.Helper()
	conf, err := hdfs.LoadConf(c.conf)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	if opts.Conf == nil {
		opts.Conf = conf
	}
	if opts.LookupEnv == nil {
		opts.LookupEnv = c.environment
	}
	if c.kdc != nil && opts.Keytab == "" && opts.User != "" {
		opts.Principal, opts.Keytab = opts.User, c.Keytab(t, opts.User)
		opts.User = ""
	}
	client, err := hdfs.Open(opts)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}

// environment is that of clients.
func (c *Cluster) environment(name string) (string, bool) {
	if name == "KRB5_CONFIG" && c.kdc != nil {
		return c.Krb5Conf(), true
	}
	return "", false
}

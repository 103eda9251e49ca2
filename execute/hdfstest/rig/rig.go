// Package rig starts real NameNodes and DataNodes for tests, with
// scripts/rigs/hadoop: one NameNode, or two of a nameservice and a third that
// observes. It does to them what operators and accidents do: failover, standby,
// freezing, killing, and through the [Proxy] before each NameNode lost
// requests, lost answers and answers that are cut.
//
// A [Cluster] lives as long as the test that started it. Tests that use one skip
// unless FSWEEP_NAMENODE=1: it needs a JDK and Maven, and 3 to 6 seconds to start.
// Everything listens on 127.0.0.1.
package rig

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fsweep/execute/hdfstest"
)

// Options say which cluster. The zero value is one NameNode of Hadoop 3.4.2
// without DataNodes: files are empty.
type Options struct {
	// Version of Hadoop: 3.4.2, 3.2.2 and 2.10.2 are tried.
	Version string
	// NameNodes: 1 without a nameservice; 2 make the nameservice ns1, with nn1 ACTIVE; the
	// third of 3 is an observer. Each has a process of its own.
	NameNodes int
	// DataNodes, up to 5: RS-3-2 needs as many.
	DataNodes int
	// TrashInterval is a year if it is 0, so that the emptier leaves tests alone; negative: no
	// trash. NameNodes count whole minutes.
	TrashInterval time.Duration
	// SnapshotTrash gives snapshottable directories a trash of their own (Hadoop 3.4).
	SnapshotTrash bool
	// Config are more settings of the servers.
	Config map[string]string
	// ClientConfig are more settings of what [Cluster.ConfDir] holds.
	ClientConfig map[string]string
	// Kerberos makes it secure, with a KDC of its own.
	Kerberos *Kerberos
}

// Nameservice is that of a cluster with several NameNodes.
const Nameservice = "ns1"

// Cluster is a running HDFS. It can be used by several goroutines, but what
// stops or moves NameNodes waits for what the administrator does at the time.
type Cluster struct {
	owner testing.TB // the test that started it
	opts  Options
	dir   string
	conf  string

	mu     sync.Mutex // one command at a time
	active int        // the last one that was made ACTIVE
	nodes  []*node
	data   *process // DataNodes with a process of their own
	kdc    *kdc     // nil without Kerberos
}

// node is one NameNode.
type node struct {
	id        string
	rpc, http string // its own addresses
	proxy     *Proxy
	proc      *process
	frozen    bool
	stopped   bool
}

var _ hdfstest.Admin = (*admin)(nil)

// Start starts a cluster, which ends with the test.
func Start(t testing.TB, opts Options) *Cluster {
	t.Helper()
	if os.Getenv("FSWEEP_NAMENODE") != "1" {
		t.Skip("needs a JDK and Maven: scripts/test turns it on (FSWEEP_NAMENODE=1)")
	}
	if opts.Version == "" {
		opts.Version = "3.4.2"
	}
	opts.NameNodes = max(opts.NameNodes, 1)
	if opts.NameNodes > 3 || opts.DataNodes > 5 || opts.DataNodes < 0 {
		t.Fatalf("rig: %d NameNodes, %d DataNodes", opts.NameNodes, opts.DataNodes)
	}
	c := &Cluster{owner: t, opts: opts, dir: t.TempDir()}
	c.makeNodes(t)
	c.writeClientConfig(t)
	began := time.Now()
	if opts.Kerberos != nil {
		c.startKDC(t)
	}
	c.startProcesses(t)
	c.assignStates(t)
	t.Logf("rig: Hadoop %s, %d NameNodes, %d DataNodes after %.1fs", opts.Version, opts.NameNodes, opts.DataNodes, time.Since(began).Seconds())
	return c
}

// makeNodes chooses the ports and puts the proxies before them.
func (c *Cluster) makeNodes(t testing.TB) {
	t.Helper()
	ports := freePorts(t, 2*c.opts.NameNodes)
	for i := range c.opts.NameNodes {
		n := &node{id: "nn" + string(rune('1'+i)), rpc: ports[2*i], http: ports[2*i+1]}
		p, err := NewProxy(n.rpc)
		if err != nil {
			t.Fatalf("rig: proxy: %v", err)
		}
		t.Cleanup(p.Close)
		n.proxy = p
		c.nodes = append(c.nodes, n)
	}
}

// startProcesses starts all at once: those that do not format wait for the one that does.
func (c *Cluster) startProcesses(t testing.TB) {
	t.Helper()
	for _, n := range c.nodes {
		var first []string
		if n == c.nodes[0] {
			ids := make([]string, len(c.nodes))
			for i, other := range c.nodes {
				ids[i] = other.id
			}
			first = append(first, "format="+strings.Join(ids, ","))
		}
		c.launch(t, n, first...)
	}
	if c.ha() && c.opts.DataNodes > 0 {
		c.data = startProcess(t, c, "datanodes", c.serverArgs(t, nil)...)
	}
	for _, n := range c.nodes {
		n.proc.awaitReady(t)
	}
	if c.data != nil {
		c.data.awaitReady(t)
	}
}

// launch starts the process of one NameNode.
func (c *Cluster) launch(t testing.TB, n *node, more ...string) {
	t.Helper()
	n.proc = startProcess(t, c, n.id, append(c.serverArgs(t, n), more...)...)
}

// assignStates makes nn1 ACTIVE and nn3 an observer.
func (c *Cluster) assignStates(t testing.TB) {
	t.Helper()
	if !c.ha() {
		return
	}
	c.nodes[0].proc.must(t, "active")
	if len(c.nodes) == 3 {
		c.nodes[2].proc.must(t, "observer")
	}
	if c.data != nil {
		c.nodes[0].proc.must(t, "await-datanodes", itoa(c.opts.DataNodes))
	}
}

func (c *Cluster) ha() bool { return len(c.nodes) > 1 }

// Dir is a directory that all servers write below; it goes with the test.
func (c *Cluster) Dir() string { return c.dir }

// ConfDir is a configuration directory for clients, as HADOOP_CONF_DIR names one.
// Its NameNodes are the proxies.
func (c *Cluster) ConfDir() string { return c.conf }

// Proxy is the one before a NameNode, 0 and up.
func (c *Cluster) Proxy(i int) *Proxy { return c.nodes[i].proxy }

// NameNodes is their number.
func (c *Cluster) NameNodes() int { return len(c.nodes) }

// NameNode gives the id of a NameNode in the nameservice, its RPC address without the
// proxy, and its HTTP address.
func (c *Cluster) NameNode(i int) (id, rpc, http string) {
	n := c.nodes[i]
	return n.id, n.rpc, n.http
}

// Admin does what no port can, as the superuser, on the NameNode that is ACTIVE.
func (c *Cluster) Admin() hdfstest.Admin { return &admin{c} }

// Can tells what this Hadoop is able to do.
func (c *Cluster) Can() hdfstest.Abilities {
	three := !strings.HasPrefix(c.opts.Version, "2.")
	return hdfstest.Abilities{
		Version:         c.opts.Version,
		HA:              c.ha(),
		DataNodes:       c.opts.DataNodes > 0,
		ErasureCoding:   three,
		EncryptionZones: true,
		SnapshotTrash:   c.opts.SnapshotTrash && strings.HasPrefix(c.opts.Version, "3.4."),
	}
}

// script finds scripts/rigs/hadoop/rig from the directory of a package's tests.
func script(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "scripts", "rigs", "hadoop", "rig")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("rig: no go.mod above the working directory")
		}
	}
}

package rig

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// freePorts finds addresses to listen on, below the ports that the system gives
// to outgoing connections, so that none of those takes one meanwhile.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	const low, high = 20000, 32000
	var found []string
	for range 1000 {
		addr := net.JoinHostPort("127.0.0.1", itoa(low+rand.IntN(high-low)))
		if slices.Contains(found, addr) {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		_ = l.Close() // it was free, which is all that was asked
		if found = append(found, addr); len(found) == n {
			return found
		}
	}
	t.Fatalf("rig: no %d free ports", n)
	return nil
}

// serverArgs are the arguments of the verb serve for one NameNode, or for
// DataNodes alone.
func (c *Cluster) serverArgs(t testing.TB, n *node) []string {
	t.Helper()
	conf := map[string]string{"fs.trash.interval": c.trashMinutes()}
	if c.opts.SnapshotTrash {
		conf["dfs.namenode.snapshot.trashroot.enabled"] = "true"
	}
	if c.ha() {
		c.nameservice(conf, func(n *node) string { return n.rpc })
		conf["dfs.namenode.shared.edits.dir"] = "file://" + filepath.Join(c.dir, "shared")
	} else {
		conf["fs.defaultFS"] = "hdfs://" + c.nodes[0].rpc
		conf["dfs.namenode.http-address"] = c.nodes[0].http
	}
	if c.opts.Kerberos != nil {
		c.secureServers(t, conf)
	}
	maps.Copy(conf, c.opts.Config)
	args := []string{c.dir}
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		args = append(args, k+"="+conf[k])
	}
	switch {
	case n == nil:
		args = append(args, "namenode=none", "datanodes="+itoa(c.opts.DataNodes))
	case c.ha():
		args = append(args, "namenode="+n.id)
	default:
		args = append(args, "namenode="+n.id, "datanodes="+itoa(c.opts.DataNodes))
	}
	return args
}

func (c *Cluster) trashMinutes() string {
	switch d := c.opts.TrashInterval; {
	case d < 0:
		return "0"
	case d == 0:
		return itoa(365 * 24 * 60)
	default:
		return itoa(int(d / time.Minute))
	}
}

// nameservice puts what clients and servers must agree on.
func (c *Cluster) nameservice(conf map[string]string, rpc func(*node) string) {
	ids := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		ids[i] = n.id
		conf["dfs.namenode.rpc-address."+Nameservice+"."+n.id] = rpc(n)
		conf["dfs.namenode.http-address."+Nameservice+"."+n.id] = n.http
	}
	conf["fs.defaultFS"] = "hdfs://" + Nameservice
	conf["dfs.nameservices"] = Nameservice
	conf["dfs.ha.namenodes."+Nameservice] = strings.Join(ids, ",")
	conf["dfs.client.failover.proxy.provider."+Nameservice] = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
}

// writeClientConfig writes core-site.xml and hdfs-site.xml.
func (c *Cluster) writeClientConfig(t testing.TB) {
	t.Helper()
	all := make(map[string]string)
	proxied := func(n *node) string { return n.proxy.Addr() }
	if c.ha() {
		c.nameservice(all, proxied)
	} else {
		all["fs.defaultFS"] = "hdfs://" + proxied(c.nodes[0])
		all["dfs.namenode.http-address"] = c.nodes[0].http
	}
	if c.opts.Kerberos != nil {
		c.secureClients(all)
	}
	maps.Copy(all, c.opts.ClientConfig)
	core, hdfs := make(map[string]string), make(map[string]string)
	for k, v := range all {
		if strings.HasPrefix(k, "dfs.") {
			hdfs[k] = v
		} else {
			core[k] = v
		}
	}
	c.conf = filepath.Join(c.dir, "conf")
	if err := os.Mkdir(c.conf, 0o755); err != nil {
		t.Fatalf("rig: %v", err)
	}
	for name, conf := range map[string]map[string]string{"core-site.xml": core, "hdfs-site.xml": hdfs} {
		if err := os.WriteFile(filepath.Join(c.conf, name), configXML(conf), 0o600); err != nil {
			t.Fatalf("rig: %v", err)
		}
	}
}

func configXML(conf map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	escape := func(s string) string {
		var e strings.Builder
		_ = xml.EscapeText(&e, []byte(s)) // a Builder takes everything
		return e.String()
	}
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		fmt.Fprintf(&b, "  <property><name>%s</name><value>%s</value></property>\n", escape(k), escape(conf[k]))
	}
	b.WriteString("</configuration>\n")
	return b.Bytes()
}

package rig

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Realm is that of the KDC of a cluster with Kerberos.
const Realm = "LAB.TEST"

// Kerberos makes a cluster secure: it gets a KDC, and its servers ask whoever comes for
// a ticket. They log in as hdfs/localhost@LAB.TEST and HTTP/localhost@LAB.TEST, of which the
// former is their superuser, under the short name root as without Kerberos.
type Kerberos struct {
	// RPCProtection is hadoop.rpc.protection of the servers, and of clients if the
	// latter's is empty: authentication, integrity, privacy, or several with commas. "":
	// authentication.
	RPCProtection string
	// ClientProtection is that of clients.
	ClientProtection string
	// DataProtection is dfs.data.transfer.protection of both: authentication, integrity or
	// privacy; "" for none.
	DataProtection string
	// Web has the web servers ask for SPNEGO. Root and the members of supergroup are
	// administrators.
	Web bool
	// TicketLifetime is what clients ask for; 0: what they do without being told.
	TicketLifetime time.Duration
	// JavaOptions are more options of the servers' JVMs.
	JavaOptions string
}

// kdcVersion is the Hadoop whose KDC it is, whatever version the cluster has.
const kdcVersion = "3.4.2"

// kdc is the KDC of a cluster.
type kdc struct {
	dir, address string
	proc         *process
	made         map[string]bool // keytabs
}

// startKDC also makes the keytab of the servers, which start with it.
func (c *Cluster) startKDC(t testing.TB) {
	t.Helper()
	k := &kdc{dir: filepath.Join(c.dir, "kdc"), address: freePorts(t, 1)[0], made: make(map[string]bool)}
	for _, dir := range []string{k.dir, c.keytabs()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatalf("rig: %v", err)
		}
	}
	// Ask for what the KDC likes with the clients' file, and leave servers to themselves.
	c.kdc = k
	c.writeKrb5(t, c.serverKrb5(), 0)
	c.writeKrb5(t, c.Krb5Conf(), c.opts.Kerberos.TicketLifetime)
	c.StartKDC(t)
	k.proc.must(t, "keytab", c.serverKeytab(), "hdfs/localhost", "HTTP/localhost")
}

// StartKDC starts it, again on the same port; what it knew is gone with the old one, and the
// keytabs are no good any more.
func (c *Cluster) StartKDC(t testing.TB) {
	t.Helper()
	_, port, _ := strings.Cut(c.kdc.address, ":")
	c.kdc.proc = start(t, c, "kdc", []string{"RIG_HEAP=256m"}, "kdc", kdcVersion, c.kdc.dir, port, Realm)
	c.kdc.proc.awaitReady(t)
}

// StopKDC ends it. Servers and clients that are logged in go on.
func (c *Cluster) StopKDC() { c.kdc.proc.kill() }

// FreezeKDC stops it with SIGSTOP, or lets it go on.
func (c *Cluster) FreezeKDC(t testing.TB, frozen bool) {
	t.Helper()
	if err := c.kdc.proc.freeze(frozen); err != nil {
		t.Fatalf("rig: %v", err)
	}
}

// KDC is its address.
func (c *Cluster) KDC() string { return c.kdc.address }

func (c *Cluster) keytabs() string      { return filepath.Join(c.dir, "keytabs") }
func (c *Cluster) serverKeytab() string { return filepath.Join(c.keytabs(), "svc.keytab") }
func (c *Cluster) serverKrb5() string   { return filepath.Join(c.dir, "krb5-servers.conf") }

// Krb5Conf is the krb5.conf of clients.
func (c *Cluster) Krb5Conf() string { return filepath.Join(c.dir, "krb5.conf") }

// ServerKeytab has the keys of the services: only tests that look for keys where none may be
// want it.
func (c *Cluster) ServerKeytab() string { return c.serverKeytab() }

// Keytab gives the keytab of a principal without realm, whom the KDC is told of the first
// time.
func (c *Cluster) Keytab(t testing.TB, principal string) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	file := filepath.Join(c.keytabs(), strings.ReplaceAll(principal, "/", "_")+".keytab")
	if !c.kdc.made[principal] {
		c.kdc.proc.must(t, "keytab", file, principal)
		c.kdc.made[principal] = true
	}
	return file
}

// Kinit logs a user in with another client than ours, and gives the file of the ticket, as
// KRB5CCNAME names one. It is new each time.
func (c *Cluster) Kinit(t testing.TB, user string) string {
	t.Helper()
	keytab := c.Keytab(t, user)
	dir := t.TempDir()
	c.writeKrb5(t, filepath.Join(dir, "krb5.conf"), 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	file := filepath.Join(dir, "ticket")
	c.kdc.proc.must(t, "kinit", file, user+"@"+Realm, keytab, dir)
	return file
}

// writeKrb5 writes a krb5.conf.
func (c *Cluster) writeKrb5(t testing.TB, file string, lifetime time.Duration) {
	t.Helper()
	text := fmt.Sprintf(`[libdefaults]
  default_realm = %[1]s
  dns_lookup_kdc = false
  dns_lookup_realm = false
  udp_preference_limit = 1
[realms]
  %[1]s = {
    kdc = %[2]s
  }
`, Realm, c.kdc.address)
	if lifetime > 0 {
		text = strings.Replace(text, "[realms]", fmt.Sprintf("  ticket_lifetime = %ds\n[realms]", int(lifetime.Seconds())), 1)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatalf("rig: %v", err)
	}
}

// secureBoth is what servers and clients say alike.
func (c *Cluster) secureBoth() map[string]string {
	k := c.opts.Kerberos
	conf := map[string]string{
		"hadoop.security.authentication": "kerberos",
		"hadoop.security.auth_to_local":  "RULE:[2:$1@$0](hdfs@" + Realm + ")s/.*/root/\nDEFAULT",
		"hadoop.rpc.protection":          k.RPCProtection,
	}
	if k.RPCProtection == "" {
		conf["hadoop.rpc.protection"] = "authentication"
	}
	if k.DataProtection != "" {
		conf["dfs.data.transfer.protection"] = k.DataProtection
	}
	if k.DataProtection == "privacy" {
		conf["dfs.encrypt.data.transfer.cipher.suites"] = "AES/CTR/NoPadding"
	}
	return conf
}

// secureServers adds what servers need.
func (c *Cluster) secureServers(t testing.TB, conf map[string]string) {
	t.Helper()
	maps.Copy(conf, c.secureBoth())
	own, web := "hdfs/localhost@"+Realm, "HTTP/localhost@"+Realm
	maps.Copy(conf, map[string]string{
		"hadoop.security.authorization":                   "true",
		"dfs.block.access.token.enable":                   "true",
		"ignore.secure.ports.for.testing":                 "true",
		"dfs.namenode.kerberos.principal":                 own,
		"dfs.namenode.keytab.file":                        c.serverKeytab(),
		"dfs.datanode.kerberos.principal":                 own,
		"dfs.datanode.keytab.file":                        c.serverKeytab(),
		"dfs.web.authentication.kerberos.principal":       web,
		"dfs.web.authentication.kerberos.keytab":          c.serverKeytab(),
		"dfs.namenode.kerberos.internal.spnego.principal": web,
		"dfs.cluster.administrators":                      "root supergroup",
	})
	if !c.opts.Kerberos.Web {
		return
	}
	secret := filepath.Join(c.dir, "http.secret")
	if err := os.WriteFile(secret, []byte("not a secret at all"), 0o600); err != nil {
		t.Fatalf("rig: %v", err)
	}
	maps.Copy(conf, map[string]string{
		"hadoop.http.filter.initializers":                     "org.apache.hadoop.security.AuthenticationFilterInitializer",
		"hadoop.http.authentication.type":                     "kerberos",
		"hadoop.http.authentication.simple.anonymous.allowed": "false",
		"hadoop.http.authentication.kerberos.principal":       web,
		"hadoop.http.authentication.kerberos.keytab":          c.serverKeytab(),
		"hadoop.http.authentication.signature.secret.file":    secret,
	})
}

// secureClients adds what clients need.
func (c *Cluster) secureClients(conf map[string]string) {
	maps.Copy(conf, c.secureBoth())
	conf["dfs.namenode.kerberos.principal"] = "hdfs/_HOST@" + Realm
	if p := c.opts.Kerberos.ClientProtection; p != "" {
		conf["hadoop.rpc.protection"] = p
	}
	if c.opts.Kerberos.Web {
		conf["hadoop.http.authentication.type"] = "kerberos"
	}
}

// Secrets are the bytes that nothing but the keytabs may hold: each key of each of them.
func (c *Cluster) Secrets(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.keytabs(), "*.keytab"))
	if err != nil || len(files) == 0 {
		t.Fatalf("rig: no keytabs: %v", err)
	}
	var keys [][]byte
	for _, file := range files {
		keys = append(keys, keysOf(t, file)...)
	}
	return slices.CompactFunc(keys, func(a, b []byte) bool { return string(a) == string(b) })
}

package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"fsweep/execute"
	"fsweep/execute/hdfs"
	"fsweep/execute/hdfs/kerberos"
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

// login is one attempt to look at / of a secured NameNode.
type login struct {
	user   string // "": none is named
	keytab string // in place of the user's own
	conf   map[string]string
	env    map[string]string
	ahead  time.Duration // of the client's clock
}

// try gives the client, if it could be opened, and the error of the first call.
func (l login) try(t *testing.T, c *rig.Cluster) (*hdfs.Client, error) {
	t.Helper()
	conf := map[string]string{}
	loaded, err := hdfs.LoadConf(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"fs.defaultFS", "hadoop.security.authentication", "hadoop.security.auth_to_local", "hadoop.rpc.protection", "dfs.namenode.kerberos.principal"} {
		if conf[key], err = loaded.Get(key); err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(conf, l.conf)
	o := hdfs.Options{Conf: hdfs.NewConf(conf), Principal: l.user, Keytab: l.keytab, Patience: 10 * time.Second, LookupEnv: func(name string) (string, bool) {
		if v, ok := l.env[name]; ok {
			return v, true
		}
		return c.Krb5Conf(), name == "KRB5_CONFIG"
	}}
	if o.Keytab == "" && l.user != "" {
		o.Keytab = c.Keytab(t, l.user)
	}
	client, err := hdfs.Open(hdfs.WithClock(o, l.ahead))
	if err != nil {
		return nil, err
	}
	t.Cleanup(client.Close)
	_, err = client.Stat(t.Context(), execute.At("/"))
	return client, err
}

// newKeytab makes one with a key that is not in the KDC.
func newKeytab(t *testing.T, name, realm string) string {
	t.Helper()
	kt := keytab.New()
	if err := kt.AddEntry(name, realm, "no such password", time.Unix(1, 0), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keytab")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestNameNodeKerberosLogin logs in rightly and wrongly, at a NameNode that protects connections or not, as
// the client likes.
func TestNameNodeKerberosLogin(t *testing.T) {
	c := rig.Start(t, rig.Options{Kerberos: &rig.Kerberos{RPCProtection: "authentication,privacy", JavaOptions: "-Dsun.security.krb5.acceptor.subkey=true"}})
	c.Admin().Mkdir(t, "/user/alice", "alice", 0o700)
	ticket := c.Kinit(t, "alice")
	none := filepath.Join(t.TempDir(), "none")
	principal, rules, protection := "dfs.namenode.kerberos.principal", "hadoop.security.auth_to_local", "hadoop.rpc.protection"
	for name, tc := range map[string]struct {
		login
		want string // of the error; "" for none
	}{
		"keytab":                    {login{user: "alice"}, ""},
		"keytab, privacy":           {login{user: "alice", conf: map[string]string{protection: "integrity,privacy"}}, ""},
		"credential cache":          {login{env: map[string]string{"KRB5CCNAME": "FILE:" + ticket}}, ""},
		"host in the principal":     {login{user: "alice", conf: map[string]string{principal: "hdfs/localhost@" + rig.Realm}}, ""},
		"pattern":                   {login{user: "alice", conf: map[string]string{principal: "", principal + ".pattern": "hdfs/*@*"}}, ""},
		"no cache":                  {login{env: map[string]string{"KRB5CCNAME": none}}, "no Kerberos ticket: there is no credential cache " + none + ": log in with kinit"},
		"cache of another kind":     {login{env: map[string]string{"KRB5CCNAME": "KCM:0"}}, "only Kerberos libraries of C read"},
		"expired cache":             {login{env: map[string]string{"KRB5CCNAME": ticket}, ahead: 48 * time.Hour}, "the Kerberos ticket is expired: that of alice@LAB.TEST"},
		"other rules":               {login{user: "", env: map[string]string{"KRB5CCNAME": ticket}, conf: map[string]string{rules: "RULE:[1:$1](alice)s/alice/al/\nDEFAULT"}}, `takes alice@LAB.TEST for user "alice", and hadoop.security.auth_to_local of this configuration makes "al"`},
		"no krb5.conf":              {login{user: "alice", env: map[string]string{"KRB5_CONFIG": none}}, "no usable Kerberos configuration: there is no " + none},
		"other protection":          {login{user: "alice", conf: map[string]string{protection: "integrity"}}, "it protects connections by authentication,privacy, and hadoop.rpc.protection of this configuration is integrity"},
		"wrong service":             {login{user: "alice", conf: map[string]string{principal: "nn/_HOST@" + rig.Realm}}, "it says that it is hdfs/localhost, and dfs.namenode.kerberos.principal is nn/_HOST@LAB.TEST"},
		"wrong host":                {login{user: "alice", conf: map[string]string{principal: "hdfs/nn1.example@" + rig.Realm}}, "where the host is nn1.example"},
		"wrong pattern":             {login{user: "alice", conf: map[string]string{principal + ".pattern": "hdfs/*.example@*"}}, "does not allow"},
		"service of another realm":  {login{user: "alice", conf: map[string]string{principal: "hdfs/_HOST@OTHER.TEST"}}, "OTHER.TEST"},
		"no service":                {login{user: "alice", conf: map[string]string{principal: ""}}, "the configuration has no dfs.namenode.kerberos.principal"},
		"simple at a secured one":   {login{conf: map[string]string{"hadoop.security.authentication": "simple"}}, "SIMPLE authentication is not enabled"},
		"unknown user":              {login{user: "mallory", keytab: newKeytab(t, "mallory", rig.Realm)}, "unknown Kerberos principal: the KDC of realm LAB.TEST does not know mallory@LAB.TEST"},
		"keys that are none":        {login{user: "alice", keytab: newKeytab(t, "alice", rig.Realm)}, "bad keytab"},
		"a keytab of somebody else": {login{user: "alice", keytab: newKeytab(t, "bob", rig.Realm)}, "has no key of alice@LAB.TEST"},
		"wrong realm":               {login{user: "alice@OTHER.TEST", keytab: newKeytab(t, "alice", "OTHER.TEST"), conf: map[string]string{rules: "RULE:[1:$1]"}}, "no KDC of realm OTHER.TEST is known"},
		"realm without rule":        {login{user: "alice@OTHER.TEST", keytab: newKeytab(t, "alice", "OTHER.TEST")}, "no rule of configuration key hadoop.security.auth_to_local makes a user name of alice@OTHER.TEST"},
		"clock ahead":               {login{user: "alice", ahead: 10 * time.Minute}, `"GSS initiate failed". What it does not tell is in its log; mostly its clock`},
		"damaged keytab":            {login{user: "alice", keytab: c.Krb5Conf()}, "is no keytab"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			client, err := tc.try(t, c)
			switch {
			case tc.want == "" && err != nil:
				t.Fatal(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v\nwant %s", err, tc.want)
			case tc.want == "":
				if client.User() != "alice" {
					t.Errorf("user %q", client.User())
				}
				if err := client.Mover().Mkdirs(t.Context(), "/user/alice/"+strings.ReplaceAll(name, " ", "-"), 0o700); err != nil {
					t.Error(err)
				}
				if err := client.Mover().Mkdirs(t.Context(), "/not-allowed", 0o700); !errors.Is(err, execute.ErrPermission) {
					t.Errorf("without rights: %v", err)
				}
			}
			if d := time.Since(began); d > 8*time.Second {
				t.Errorf("took %v: it was tried again and again", d)
			}
			noSecrets(t, c, "error", []byte(fmt.Sprint(err)))
		})
	}
	withoutKDC(t, c)
}

// withoutKDC shows that a KDC is needed for the first connection only, and that nobody waits long.
func withoutKDC(t *testing.T, c *rig.Cluster) {
	t.Helper()
	client, err := login{user: "alice"}.try(t, c)
	if err != nil {
		t.Fatal(err)
	}
	c.FreezeKDC(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	began := time.Now()
	late := c.Client(t, hdfs.Options{User: "alice"})
	if _, err := late.Stat(ctx, execute.At("/")); !errors.Is(err, execute.ErrUnavailable) || !errors.Is(err, kerberos.ErrNoKDC) || time.Since(began) > 10*time.Second {
		t.Errorf("KDC frozen: %v after %v", err, time.Since(began))
	}
	c.FreezeKDC(t, false)
	c.StopKDC()
	if _, err := (login{user: "alice"}).try(t, c); !errors.Is(err, execute.ErrUnavailable) || !errors.Is(err, kerberos.ErrNoKDC) || !strings.Contains(fmt.Sprint(err), c.KDC()) {
		t.Errorf("KDC down: %v", err)
	}
	c.Proxy(0).Disconnect()
	if _, err := client.Stat(t.Context(), execute.At("/")); err != nil {
		t.Errorf("a new connection with a ticket that is there: %v", err)
	}
}

// noSecrets looks for keys and for what looks like a token of Kerberos, as bytes, in hex and in base64.
func noSecrets(t *testing.T, c *rig.Cluster, what string, b []byte) {
	t.Helper()
	for _, found := range c.Leaks(t, b) {
		t.Errorf("%s has a secret: %s", what, found)
	}
}

// TestNameNodeKerberosExpiry goes on for longer than a ticket lives, on an HA pair, over a failover.
func TestNameNodeKerberosExpiry(t *testing.T) {
	c := rig.Start(t, rig.Options{NameNodes: 2, Kerberos: &rig.Kerberos{RPCProtection: "integrity", TicketLifetime: 4 * time.Second}})
	client := c.Client(t, hdfs.Options{User: "alice"})
	var until time.Time
	for range 4 {
		if _, err := client.Stat(t.Context(), execute.At("/")); err != nil {
			t.Fatal(err)
		}
		if until.IsZero() {
			until = client.Login().Expires()
		}
		time.Sleep(1500 * time.Millisecond)
		c.Proxy(0).Disconnect() // or no new ticket is needed
		c.Proxy(1).Disconnect()
	}
	c.Failover(t)
	time.Sleep(4 * time.Second)
	if _, err := client.Stat(t.Context(), execute.At("/")); err != nil {
		t.Error(err)
	}
	if now := client.Login().Expires(); until.IsZero() || now.Sub(until) < 8*time.Second {
		t.Errorf("the first ticket lasted until %v, the last one until %v", until, now)
	}
}

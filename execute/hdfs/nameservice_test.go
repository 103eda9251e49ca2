package hdfs

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const nnKey = "dfs.namenode.rpc-address."

// federation is a configuration with two HA nameservices and one without.
func federation() map[string]string {
	return map[string]string{
		"fs.defaultFS":         "hdfs://ns1/",
		"dfs.nameservices":     "ns1, ns2,plain",
		"dfs.ha.namenodes.ns1": "nn2,nn1", "dfs.ha.namenodes.ns2": "a,b,c",
		nnKey + "ns1.nn1": "Host1.example.com:8020", nnKey + "ns1.nn2": "host2.example.com",
		nnKey + "ns2.a": "host3:9000", nnKey + "ns2.b": "host4:9000", nnKey + "ns2.c": "host5:9000",
		nnKey + "plain": "host6:8020",
	}
}

func TestNameservice(t *testing.T) {
	t.Parallel()
	single := map[string]string{"fs.defaultFS": "hdfs://nn.example.com"}
	for _, tc := range []struct {
		name string
		conf map[string]string
		ask  string
		want string // name, id=address …; or an error with ! in front
	}{
		{"default", federation(), "", "ns1 nn1=host1.example.com:8020 nn2=host2.example.com:8020"},
		{"empty URI", federation(), "hdfs:///", "ns1 nn1=host1.example.com:8020 nn2=host2.example.com:8020"},
		{"empty URI with a path", federation(), "hdfs:///a/b", "ns1 nn1=host1.example.com:8020 nn2=host2.example.com:8020"},
		{"name", federation(), "ns2", "ns2 a=host3:9000 b=host4:9000 c=host5:9000"},
		{"URI", federation(), "hdfs://ns2/flink", "ns2 a=host3:9000 b=host4:9000 c=host5:9000"},
		{"without HA", federation(), "hdfs://plain", "plain =host6:8020"},
		{"address of one without HA", federation(), "hdfs://host6", "plain =host6:8020"},
		{"port of a nameservice", federation(), "hdfs://ns1:8020", "!ns1 is a nameservice, which has no port: use hdfs://ns1"},
		{"address of one of a pair", federation(), "hdfs://host2.example.com:8020/x", "!is one NameNode of an HA nameservice: use hdfs://ns1"},
		{"the same in capitals", federation(), "hdfs://HOST1.example.com", "!use hdfs://ns1"},
		{"IP, while there is HA", federation(), "hdfs://10.0.0.1:8020", "!is no nameservice of the configuration, which has HA: use hdfs://ns1 or hdfs://ns2"},
		{"unknown name", federation(), "ns3", "!use hdfs://ns1 or hdfs://ns2"},
		{"not in dfs.nameservices", changed(federation(), "dfs.ha.namenodes.ns9", "x"), "ns9", "!dfs.nameservices does not name it"},
		{"single", single, "", " =nn.example.com:8020"},
		{"single by IP", single, "hdfs://10.0.0.1:9000", " =10.0.0.1:9000"},
		{"IPv6", single, "hdfs://[fe80::1]:9000/a", " =[fe80::1]:9000"},
		{"IPv6 without port", single, "hdfs://[fe80::1]", " =[fe80::1]:8020"},
		{"key without nameservice", map[string]string{"fs.defaultFS": "hdfs://n", "dfs.nameservices": "n", "dfs.namenode.rpc-address": "h:1"}, "", "n =h:1"},
		{"variables", changed(federation(), "fs.defaultFS", "hdfs://${dfs.internal.nameservices}", "dfs.internal.nameservices", "ns2"), "", "ns2 a=host3:9000 b=host4:9000 c=host5:9000"},
		{"no default", map[string]string{"x": "y"}, "", "!no fs.defaultFS"},
		{"default names nothing", map[string]string{"fs.defaultFS": "hdfs:///"}, "", "!names no NameNode"},
		{"local files", map[string]string{"fs.defaultFS": "file:///"}, "", "!only hdfs:// is supported"},
		{"viewfs", map[string]string{"fs.defaultFS": "viewfs://cluster"}, "", "!viewfs mounts several nameservices"},
		{"viewfs asked for", federation(), "viewfs://cluster/", "!viewfs mounts several nameservices"},
		{"webhdfs", federation(), "webhdfs://host1:9870", "!only hdfs:// is supported"},
		{"user in it", federation(), "hdfs://me@ns1", "!a user in it"},
		{"password", single, "hdfs://me:secret@nn:1", `!"hdfs://…@nn:1": a user in it`},
		{"password of another kind", single, "s3a://key:secret@bucket/x", `!"s3a://…@bucket/x": only hdfs`},
		{"password and no URI", single, "hdfs://key:secret@h\x01", `!"hdfs://…@h\x01" is no URI`},
		{"three parts", single, "hdfs://h:9000:1", "!no valid host"},
		{"no text", single, "h\xff:9000", "!no valid host"},
		{"control character", single, "a\x1bb:9000", "!no valid host"},
		{"a path", federation(), "/flink", "!is no nameservice"},
		{"bad port", single, "hdfs://h:99999", "!no valid port"},
		{"no port behind the colon", single, "hdfs://h:", "!no valid port"},
		{"address without key", changed(federation(), nnKey+"ns1.nn2", ""), "", "!the configuration has no dfs.namenode.rpc-address.ns1.nn2"},
		{"one address twice", changed(federation(), nnKey+"ns1.nn2", "host1.example.com:8020"), "", "!is the address of nn1 too"},
		{"one NameNode twice", changed(federation(), "dfs.ha.namenodes.ns1", "nn1,nn1"), "", "!names one NameNode twice"},
		{"undefined variable", changed(federation(), nnKey+"ns1.nn2", "${nope}"), "", "!variable ${nope} is not defined"},
		{"Router", changed(federation(), "dfs.federation.router.rpc-address", "host6:8020"), "plain", "!Router"},
		{"Router among HA", changed(federation(), "dfs.federation.router.rpc-address.r1", "host3:9000"), "ns2", "!Router"},
	} {
		ns, err := NewConf(tc.conf).Nameservice(tc.ask)
		if want, bad := strings.CutPrefix(tc.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v; want %q", tc.name, ns, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		got := ns.Name
		for _, n := range ns.NameNodes {
			got += " " + n.ID + "=" + n.Address
			if n.Nameservice != ns.Name {
				t.Errorf("%s: %+v", tc.name, n)
			}
		}
		if got != tc.want || ns.HA != (len(ns.NameNodes) > 1) {
			t.Errorf("%s: %q, HA %v; want %q", tc.name, got, ns.HA, tc.want)
		}
	}
}

func changed(conf map[string]string, pairs ...string) map[string]string {
	conf = maps.Clone(conf)
	for i := 0; i < len(pairs); i += 2 {
		conf[pairs[i]] = pairs[i+1]
	}
	return conf
}

// What a client does not do is refused before it connects.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	base := map[string]string{"fs.defaultFS": "hdfs://127.0.0.1:1"}
	for name, tc := range map[string]struct {
		conf map[string]string
		env  []string
		want string
	}{
		"Kerberos":          {changed(base, "hadoop.security.authentication", "kerberos"), nil, "no other can be named"},
		"unknown":           {changed(base, "hadoop.security.authentication", "token"), nil, `"token"`},
		"proxy user":        {base, []string{"HADOOP_PROXY_USER", "bob"}, "HADOOP_PROXY_USER"},
		"tokens":            {base, []string{"HADOOP_TOKEN_FILE_LOCATION", "/x"}, "HADOOP_TOKEN_FILE_LOCATION"},
		"SOCKS":             {changed(base, "hadoop.rpc.socket.factory.class.default", "org.apache.hadoop.net.SocksSocketFactory"), nil, "SocksSocketFactory"},
		"resolving":         {changed(federation(), "dfs.client.failover.resolve-needed.ns1", "true"), nil, "resolve-needed"},
		"no configuration":  {nil, nil, "no fs.defaultFS"},
		"in capitals":       {changed(base, "hadoop.security.authentication", "KERBEROS"), nil, "with Kerberos the user is that of the ticket"},
		"relative homes":    {changed(base, "dfs.user.home.dir.prefix", "home"), nil, "dfs.user.home.dir.prefix: path \"home\": not absolute"},
		"URI of homes":      {changed(base, "dfs.user.home.dir.prefix", "hdfs://ns1/user"), nil, "dfs.user.home.dir.prefix"},
		"homes with dots":   {changed(base, "dfs.user.home.dir.prefix", "/user/../x"), nil, "dfs.user.home.dir.prefix"},
		"reserved homes":    {changed(base, "dfs.user.home.dir.prefix", "/.reserved/raw"), nil, "dfs.user.home.dir.prefix"},
		"undefined in user": {changed(base, "dfs.user.home.dir.prefix", "${x}"), nil, "${x}"},
	} {
		_, err := Open(Options{Conf: NewConf(tc.conf), User: "alice", LookupEnv: env(tc.env...)})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(Options{}); err == nil {
		t.Error("without configuration")
	}
	// A home, and with it a trash, that is not that of the user.
	for _, name := range []string{"..", ".", "../flink", "a/b", "alice@EXAMPLE.COM", "hdfs/h@X", "a\nb", "a\xff", " a", ".snapshot"} {
		for _, o := range []Options{{User: name, LookupEnv: env()}, {LookupEnv: env("HADOOP_USER_NAME", name)}} {
			o.Conf = NewConf(base)
			if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "is no name of a user") {
				t.Errorf("user %q: %v", name, err)
			}
		}
	}
	ok := changed(base, "hadoop.security.authentication", "SIMPLE", "hadoop.rpc.socket.factory.class.default", "org.apache.hadoop.net.StandardSocketFactory", "dfs.user.home.dir.prefix", "/home/")
	c, err := Open(Options{Conf: NewConf(ok), LookupEnv: env("HADOOP_USER_NAME", "carol")})
	if err != nil || c.User() != "carol" || c.home != "/home" {
		t.Errorf("%v", err)
	}
	if ns := c.Nameservice(); ns.URI() != "hdfs://127.0.0.1:1" || !slices.Equal(ns.NameNodes, c.ns.NameNodes) {
		t.Errorf("%+v", ns)
	}
}

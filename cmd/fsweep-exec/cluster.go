package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/cmd/internal/cli"
	"fsweep/execute"
	"fsweep/execute/hdfs"
	"fsweep/execute/hdfs/kerberos"
)

// clusterOptions are the flags that say which cluster is meant.
type clusterOptions struct {
	conf        string
	nameservice string
	keytab      string
	principal   string
	timeout     time.Duration
	ca          string
}

const (
	usualTimeout = 20 * time.Second
	maxTimeout   = time.Hour
)

func (o *clusterOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.conf, "conf", "", "`directory` with core-site.xml and hdfs-site.xml; without it HADOOP_CONF_DIR")
	flags.StringVar(&o.nameservice, "nameservice", "", "`name` or URI of the nameservice; without it that of policy or plan, or else of fs.defaultFS")
	flags.StringVar(&o.ca, "ca", "", "`file` with the certificates (PEM) that those of https servers come from; without it those that the system trusts")
	flags.StringVar(&o.keytab, "keytab", "", "`file` with the Kerberos keys of --principal; without it the ticket of kinit (KRB5CCNAME)")
	flags.StringVar(&o.principal, "principal", "", "the user in Kerberos, `name` or name@REALM")
	flags.DurationVar(&o.timeout, "timeout", usualTimeout, "how long one question to the cluster may take, failover included")
}

func (o *clusterOptions) validate(cmd *cobra.Command) error {
	for _, flag := range []string{"conf", "nameservice", "ca", "keytab", "principal"} {
		if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" { // an unset variable of a script
			return cli.Usage(cmd, fmt.Errorf("--%s is empty", flag))
		}
	}
	if o.keytab != "" && o.principal == "" {
		return cli.Usage(cmd, errors.New("--keytab needs --principal: klist -kt lists the principals of a keytab"))
	}
	if o.timeout < time.Second || o.timeout > maxTimeout {
		return cli.Usage(cmd, fmt.Errorf("--timeout %s: must be 1s to %s", o.timeout, maxTimeout))
	}
	return nil
}

// cluster is the nameservice that a command talks to. It can only look.
type cluster struct {
	execute.Inspector
	*hdfs.Survey
	client         *hdfs.Client
	ns             hdfs.Nameservice
	conf           string // where it is configured
	uri            string
	authentication string
}

// open reads the configuration; the first call connects. wanted is the nameservice of
// policy or plan, which the flag goes before.
func (o *clusterOptions) open(wanted string) (*cluster, error) {
	conf, err := hdfs.LoadConf(o.conf)
	if err != nil {
		return nil, cli.WithHint(err, "--conf names the directory with core-site.xml and hdfs-site.xml, as /etc/hadoop/conf on a gateway host")
	}
	roots, err := o.roots()
	if err != nil {
		return nil, err
	}
	name := o.nameservice
	if name == "" {
		name = wanted
	}
	client, err := hdfs.Open(hdfs.Options{Conf: conf, Nameservice: name, CallTimeout: o.timeout, Patience: o.timeout, TryTimeout: o.timeout / 2, Keytab: o.keytab, Principal: o.principal, RootCAs: roots})
	if kerberos.Ours(err) {
		return nil, cli.WithHint(err, "docs/operations.md, under Kerberos, says what each of these errors means")
	}
	if err != nil {
		return nil, cli.WithHint(err, "docs/operations.md says how the nameservice is chosen, and what is not supported")
	}
	c := &cluster{Inspector: client, Survey: hdfs.NewSurvey(client), client: client, ns: client.Nameservice(), conf: o.conf, authentication: "simple"}
	if c.conf == "" {
		c.conf = os.Getenv("HADOOP_CONF_DIR")
	}
	if client.Login() != nil {
		c.authentication = "kerberos"
	}
	c.uri = c.ns.URI()
	return c, nil
}

// name is what a journal calls it: the logical name, or host:port without one.
func (c *cluster) name() string {
	if c.ns.Name != "" {
		return c.ns.Name
	}
	return c.ns.NameNodes[0].Address
}

// roots reads --ca; nil stands for those of the system.
func (o *clusterOptions) roots() (*x509.CertPool, error) {
	if o.ca == "" {
		return nil, nil
	}
	hint := "--ca takes PEM, which begins with -----BEGIN CERTIFICATE-----; a Java truststore (JKS) is not read: `keytool -exportcert -rfc -keystore FILE -alias NAME` writes PEM"
	data, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("--ca: %w", err), "%s", hint)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, cli.WithHint(fmt.Errorf("--ca: no certificate in %s", o.ca), "%s", hint)
	}
	return pool, nil
}

func (c *cluster) close() { c.client.Close() }

// same requires that policy or plan are for this nameservice: --nameservice must not
// lead to another.
func (c *cluster) same(wanted, from string) error {
	if wanted == "" || wanted == c.ns.Name {
		return nil
	}
	if !c.ns.HA {
		address := wanted
		if _, _, err := net.SplitHostPort(address); err != nil {
			address += ":8020" // a host without port
		}
		for _, n := range c.ns.NameNodes {
			if strings.EqualFold(address, n.Address) {
				return nil
			}
		}
	}
	return cli.WithHint(&cli.RefusedError{Err: fmt.Errorf("%s is for nameservice %q, and this is %s", from, wanted, c.uri)},
		"without --nameservice that of %s is taken", from)
}

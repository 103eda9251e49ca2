package hdfs

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fsweep/execute"
)

// defaultPort is that of NameNode RPCs.
const defaultPort = 8020

// Nameservice is the one HDFS that a client talks to.
type Nameservice struct {
	Name      string // of the configuration; "" if it is only an address
	HA        bool
	NameNodes []execute.NameNode
}

// URI gives hdfs://NAME, or hdfs://host:port of the only NameNode.
func (n *Nameservice) URI() string {
	if n.HA {
		return "hdfs://" + n.Name
	}
	return "hdfs://" + n.NameNodes[0].Address
}

// Nameservice chooses exactly one. The name is that of a nameservice, or a URI:
// hdfs://NAME, hdfs://host:port, hdfs://host. An empty name and hdfs:/// stand for what
// fs.defaultFS says. Everything that a path may follow in it is left out.
func (c *Conf) Nameservice(name string) (*Nameservice, error) {
	authority, err := c.authority(name)
	if err != nil {
		return nil, err
	}
	known, err := c.List("dfs.nameservices")
	if err != nil {
		return nil, err
	}
	if slices.Contains(known, authority) {
		return c.configured(authority, len(known) == 1)
	}
	if host, _, err := net.SplitHostPort(authority); err == nil && slices.Contains(known, host) {
		return nil, fmt.Errorf("hdfs://%s: %s is a nameservice, which has no port: use hdfs://%s", authority, host, host)
	}
	if ids, err := c.List("dfs.ha.namenodes." + authority); err != nil {
		return nil, err
	} else if len(ids) > 0 {
		return nil, fmt.Errorf("nameservice %s has NameNodes in the configuration, but dfs.nameservices does not name it", authority)
	}
	return c.single(authority, known)
}

// authority gives what stands behind hdfs:// in a name or, if nothing does, in fs.defaultFS.
func (c *Conf) authority(name string) (string, error) {
	if name != "" {
		got, err := uriAuthority(name)
		if err != nil || got != "" {
			return got, err
		}
	}
	fs, err := c.Get("fs.defaultFS")
	if err != nil {
		return "", err
	}
	if fs == "" {
		return "", errors.New("the configuration has no fs.defaultFS: name the nameservice")
	}
	got, err := uriAuthority(fs)
	if err != nil {
		return "", fmt.Errorf("fs.defaultFS: %w", err)
	}
	if got == "" {
		return "", fmt.Errorf("fs.defaultFS is %q and names no NameNode", fs)
	}
	return got, nil
}

func uriAuthority(name string) (string, error) {
	if !strings.Contains(name, ":/") {
		if strings.ContainsAny(name, "/@?# ") {
			return "", fmt.Errorf("%q is no nameservice", name)
		}
		return name, nil
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", fmt.Errorf("%q is no URI of a nameservice", withoutUser(name))
	}
	switch {
	case u.Scheme == "viewfs" || u.Scheme == "viewfs-overload-scheme":
		return "", fmt.Errorf("%q: viewfs mounts several nameservices, and inode ids are those of one: name it (hdfs://NAME)", withoutUser(name))
	case u.Scheme != "hdfs":
		return "", fmt.Errorf("%q: only hdfs:// is supported", withoutUser(name))
	case u.User != nil:
		return "", fmt.Errorf("%q: a user in it is not supported", withoutUser(name))
	}
	return u.Host, nil
}

// withoutUser leaves out of a URI what stands before an @: it may be a password.
func withoutUser(name string) string {
	if at := strings.LastIndexByte(name, '@'); at >= 0 {
		if begin := strings.Index(name, "/"); begin >= 0 && begin < at {
			return name[:begin] + "//…" + name[at:]
		}
		return "…" + name[at:]
	}
	return name
}

// configured gives a nameservice of dfs.nameservices.
func (c *Conf) configured(name string, only bool) (*Nameservice, error) {
	ids, err := c.List("dfs.ha.namenodes." + name)
	if err != nil {
		return nil, err
	}
	ns := &Nameservice{Name: name, HA: len(ids) > 0}
	if !ns.HA {
		keys := []string{"dfs.namenode.rpc-address." + name}
		if only {
			keys = append(keys, "dfs.namenode.rpc-address")
		}
		return ns, c.addNameNode(ns, "", keys...)
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		return nil, fmt.Errorf("dfs.ha.namenodes.%s names one NameNode twice", name)
	}
	for _, id := range ids {
		if err := c.addNameNode(ns, id, "dfs.namenode.rpc-address."+name+"."+id); err != nil {
			return nil, err
		}
	}
	return ns, nil
}

// addNameNode takes the address from the first key that is there.
func (c *Conf) addNameNode(ns *Nameservice, id string, keys ...string) error {
	for _, key := range keys {
		v, err := c.Get(key)
		if err != nil {
			return err
		}
		if v == "" {
			continue
		}
		addr, err := withPort(v)
		if err != nil {
			return fmt.Errorf("configuration key %s: %w", key, err)
		}
		if err := c.notRouter(addr); err != nil {
			return err
		}
		for _, other := range ns.NameNodes {
			if other.Address == addr {
				return fmt.Errorf("configuration key %s: %s is the address of %s too", key, addr, other.ID)
			}
		}
		ns.NameNodes = append(ns.NameNodes, execute.NameNode{Nameservice: ns.Name, ID: id, Address: addr})
		return nil
	}
	return fmt.Errorf("nameservice %s: the configuration has no %s", ns.Name, keys[0])
}

// single gives the NameNode at an address. Where the configuration has HA nameservices, an
// address would pin one NameNode of a pair and might mean another one than the reader
// believes after the next failover.
func (c *Conf) single(authority string, known []string) (*Nameservice, error) {
	addr, err := withPort(authority)
	if err != nil {
		return nil, err
	}
	var logical []string
	for _, name := range known {
		ns, err := c.configured(name, len(known) == 1)
		if err != nil {
			return nil, err
		}
		holds := slices.ContainsFunc(ns.NameNodes, func(nn execute.NameNode) bool { return nn.Address == addr })
		switch {
		case holds && !ns.HA:
			return ns, nil
		case holds:
			return nil, fmt.Errorf("hdfs://%s is one NameNode of an HA nameservice: use hdfs://%s", authority, name)
		case ns.HA:
			logical = append(logical, "hdfs://"+name)
		}
	}
	if len(logical) > 0 {
		return nil, fmt.Errorf("hdfs://%s is no nameservice of the configuration, which has HA: use %s", authority, strings.Join(logical, " or "))
	}
	if err := c.notRouter(addr); err != nil {
		return nil, err
	}
	return &Nameservice{NameNodes: []execute.NameNode{{Address: addr}}}, nil
}

// direct refuses configurations in which NameNodes are not to be had at their addresses.
func (c *Conf) direct(ns *Nameservice) error {
	const factory = "hadoop.rpc.socket.factory.class.default"
	v, err := c.Get(factory)
	if err != nil {
		return err
	}
	if v != "" && v != "org.apache.hadoop.net.StandardSocketFactory" {
		return fmt.Errorf("configuration key %s: connections through %s are not supported", factory, v)
	}
	resolve := "dfs.client.failover.resolve-needed." + ns.Name
	if needed, err := c.Bool(resolve, false); err != nil {
		return err
	} else if needed {
		return fmt.Errorf("configuration key %s: names that stand for several NameNodes are not supported", resolve)
	}
	return nil
}

// notRouter refuses addresses of which the configuration says that they are Routers'.
func (c *Conf) notRouter(addr string) error {
	for key := range c.values {
		if !strings.HasPrefix(key, "dfs.federation.router.rpc-address") {
			continue
		}
		v, err := c.Get(key)
		if err != nil {
			return err
		}
		if router, err := withPort(v); err == nil && router == addr {
			return routerError(addr)
		}
	}
	return nil
}

func routerError(addr string) error {
	return fmt.Errorf("%w: %s is a Router (federation): inode ids are those of one nameservice, and a rename could cross two; name the nameservice behind it", errRefused, addr)
}

// withPort checks host or host:port and gives host:port, in lower case.
func withPort(s string) (string, error) {
	host, port := s, strconv.Itoa(defaultPort)
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
	} else if strings.Count(s, ":") == 1 {
		return "", fmt.Errorf("%q is no host:port", s)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q has no valid port", s)
	}
	if !validHost(host) {
		return "", fmt.Errorf("%q has no valid host", s)
	}
	return net.JoinHostPort(strings.ToLower(host), port), nil
}

// validHost tells whether a connection to a host may be tried: it is an address, or might
// be a name.
func validHost(host string) bool {
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host) // of IPv6, the only one with colons
		return err == nil
	}
	const never = " /@?#%[]<>\"\\^`{|},"
	return host != "" && utf8.ValidString(host) && !strings.ContainsAny(host, never) && strings.IndexFunc(host, unicode.IsControl) < 0
}

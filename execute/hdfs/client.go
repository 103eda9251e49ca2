package hdfs

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/user"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
)

// Options of a client. Only Conf is required.
type Options struct {
	Conf *Conf
	// Nameservice or URI; empty: that of fs.defaultFS.
	Nameservice string
	// User of simple authentication; empty: HADOOP_USER_NAME, or the user of the process.
	User string
	// Keytab and Principal are the user's where the configuration says kerberos; without them it is the
	// ticket in the credential cache (KRB5CCNAME). See [kerberos.Options].
	Keytab, Principal string
	// CallTimeout ends a call that has no earlier deadline; all tries together; 0: two minutes.
	CallTimeout time.Duration
	// Patience is how long a call looks for an ACTIVE NameNode; 0: 30 seconds.
	Patience time.Duration
	// TryTimeout ends one try of a call that changes nothing, so that a frozen NameNode does not
	// use up the time of all; 0: 20 seconds.
	TryTimeout time.Duration
	// Dial opens connections; nil: directly, without proxies.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs are whom certificates of web servers may come from; nil: whom the system trusts.
	RootCAs *x509.CertPool
	// LookupEnv reads the environment; nil: os.LookupEnv.
	LookupEnv func(string) (string, bool)

	clock func() time.Time // that of Kerberos, for tests
}

const (
	defaultCallTimeout = 2 * time.Minute
	defaultPatience    = 30 * time.Second
	defaultTryTimeout  = 20 * time.Second
	dialTimeout        = 10 * time.Second

	// freshFor is how long a connection counts as good without a question whether its
	// NameNode still is ACTIVE. Servers close idle connections, too.
	freshFor = 5 * time.Second
	// maxIdle connections are kept to one NameNode, and none that was idle for longer than
	// staleAfter: something on the way may have forgotten it without a word.
	maxIdle    = 8
	staleAfter = 30 * time.Second
)

// Client talks to the ACTIVE NameNode of one nameservice. It is an
// [execute.Inspector]; only its [Client.Mover] can change anything. It may be used by many
// goroutines.
type Client struct {
	opts Options
	ns   *Nameservice
	auth authentication
	user string
	// login is nil without Kerberos.
	login *kerberos.Login
	home  string // what home directories are in

	now func() time.Time

	id     [16]byte
	nextID atomic.Int64 // may pass what an int32 holds, and is useless then
	unsent sync.Map     // call ids that NewCall gave and nothing used

	nodes []*node
	mu    sync.Mutex
	last  *node // was ACTIVE when somebody last looked

	closed atomic.Bool // no connection is kept any more
}

// node is one NameNode with its idle connections.
type node struct {
	execute.NameNode
	mu      sync.Mutex
	idle    []*conn
	greeted bool // it is a NameNode, not a Router
	noMsync bool // it is so old that it has no msync
}

var _ execute.Inspector = (*Client)(nil)

// Open makes a client. It opens no connection yet. Call Close when it is not needed any more.
func Open(o Options) (*Client, error) {
	o.fill()
	if o.Conf == nil {
		return nil, errors.New("no Hadoop configuration")
	}
	for _, name := range []string{"HADOOP_PROXY_USER", "HADOOP_TOKEN_FILE_LOCATION"} {
		if v, ok := o.LookupEnv(name); ok && v != "" {
			return nil, fmt.Errorf("%w: %s is set in the environment, and fsweep does not act for others", errRefused, name)
		}
	}
	ns, err := o.Conf.Nameservice(o.Nameservice)
	if err == nil {
		err = o.Conf.direct(ns)
	}
	if err != nil {
		return nil, err
	}
	c := &Client{opts: o, ns: ns, now: time.Now}
	if err = c.authenticate(); err != nil {
		return nil, err
	}
	if c.home, err = homes(o.Conf); err != nil {
		return nil, err
	}
	if _, err := rand.Read(c.id[:]); err != nil {
		return nil, err
	}
	for _, nn := range ns.NameNodes {
		c.nodes = append(c.nodes, &node{NameNode: nn})
	}
	return c, nil
}

func (o *Options) fill() {
	if o.CallTimeout <= 0 {
		o.CallTimeout = defaultCallTimeout
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.TryTimeout <= 0 {
		o.TryTimeout = defaultTryTimeout
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
}

func (o *Options) userName() (string, error) {
	if o.User != "" {
		return o.User, nil
	}
	if v, ok := o.LookupEnv("HADOOP_USER_NAME"); ok && v != "" {
		return v, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("name of the user: %w; HADOOP_USER_NAME can give it", err)
	}
	return u.Username, nil
}

// homes gives the directory of all home directories. One that makes no sense would give a trash
// that nobody empties, so it is refused.
func homes(conf *Conf) (string, error) {
	const key = "dfs.user.home.dir.prefix"
	v, err := conf.Get(key)
	if err != nil || v == rootPath {
		return v, err
	}
	if v == "" {
		return "/user", nil
	}
	v = strings.TrimSuffix(v, "/")
	if err := checkTarget(v); err != nil {
		return "", fmt.Errorf("configuration key %s: %w", key, err)
	}
	return v, nil
}

// checkUser refuses names that are more than the name of a home directory. The home, and with it
// the trash, would be another place than the NameNode and its emptier think: they
// shorten user@REALM and user/host@REALM.
func checkUser(name string) error {
	switch {
	case !utf8.ValidString(name), strings.ContainsAny(name, "/@:"), strings.IndexFunc(name, unicode.IsControl) >= 0,
		name == ".", name == "..", name == ".snapshot", strings.TrimSpace(name) != name:
		return fmt.Errorf("%w: %q is no name of a user (HADOOP_USER_NAME): the short name is wanted, without realm and host", errRefused, name)
	}
	return nil
}

// Nameservice gives the one that the client talks to.
func (c *Client) Nameservice() Nameservice { return *c.ns }

// User gives the name that NameNodes know the user by.
func (c *Client) User() string { return c.user }

// Close closes idle connections. Calls under way go on, and later ones still work, but none
// leaves a connection behind.
func (c *Client) Close() {
	c.closed.Store(true)
	for _, n := range c.nodes {
		n.mu.Lock()
		idle := n.idle
		n.idle = nil
		n.mu.Unlock()
		for _, conn := range idle {
			conn.close()
		}
	}
}

// newIDs gives ids that no other call has.
func (c *Client) newIDs() (callIDs, error) {
	n := c.nextID.Add(1)
	if n > math.MaxInt32 {
		return callIDs{}, errors.New("all ids of calls are used up; start again")
	}
	return callIDs{client: c.id, call: int32(n)}, nil
}

// bound gives a context that ends with the call's own time.
func (c *Client) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.opts.CallTimeout)
}

// take gives an idle connection, the one used last, or a fresh one.
func (c *Client) take(ctx context.Context, n *node) (conn *conn, fresh bool, err error) {
	for conn := n.pop(); conn != nil; conn = n.pop() {
		if c.now().Sub(conn.seen) <= staleAfter {
			return conn, false, nil
		}
		conn.close()
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.TryTimeout)
	defer cancel()
	conn, err = connect(ctx, c.opts.Dial, n.NameNode, c.auth, c.id, clientProtocol)
	if err == nil {
		conn.seen = c.now()
	}
	return conn, true, err
}

// pop takes the idle connection that was used last, nil if there is none.
func (n *node) pop() *conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := len(n.idle) - 1
	if k < 0 {
		return nil
	}
	conn := n.idle[k]
	n.idle = n.idle[:k]
	return conn
}

// give puts a connection back, or closes it.
func (c *Client) give(n *node, conn *conn) {
	if !conn.broken {
		conn.seen = c.now()
		n.mu.Lock()
		if len(n.idle) < maxIdle && !c.closed.Load() { // Close stores it before it locks n
			n.idle = append(n.idle, conn)
			conn = nil
		}
		n.mu.Unlock()
	}
	if conn != nil {
		conn.close()
	}
}

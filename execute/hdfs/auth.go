package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
	"fsweep/proto/hadoop"
)

// authentication tells a NameNode who the user is. With Kerberos it talks before the first
// call (frames with call id -33) and then may wrap all that follows, for integrity or
// privacy.
type authentication interface {
	// mechanism is the byte in the preamble of a connection.
	mechanism() byte
	// open does what there is to do on a fresh connection, after the preamble, within ctx
	// (deadlines of the stream are set), and gives the stream for all frames from now
	// on, the connection context included. Its Write must give the length of what it got
	// as soon as all of it may have left the process, and less if that is impossible.
	open(ctx context.Context, nn execute.NameNode, stream io.ReadWriter) (io.ReadWriter, error)
	// user is the name to put into the connection context; "" leaves it to what the
	// NameNode knows by then.
	user() string
}

// Bytes of the preamble.
const (
	authSimple = 0
	authSASL   = 0xdf // -33
	rpcVersion = 9
)

// simple is authentication by saying a name.
type simple struct{ name string }

func (simple) mechanism() byte { return authSimple }
func (s simple) user() string  { return s.name }

func (simple) open(_ context.Context, _ execute.NameNode, stream io.ReadWriter) (io.ReadWriter, error) {
	return stream, nil
}

const authenticationKey = "hadoop.security.authentication"

// Secure tells whether the configuration says kerberos.
func (c *Conf) Secure() (bool, error) {
	how, err := c.Get(authenticationKey)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(how) { // as Hadoop does
	case "", "simple":
		return false, nil
	case "kerberos":
		return true, nil
	}
	return false, fmt.Errorf("%s is %q, which is not supported", authenticationKey, how)
}

// authenticate finds out who the user is. It asks nobody but the files of this machine.
func (c *Client) authenticate() error {
	secure, err := c.opts.Conf.Secure()
	if err != nil {
		return err
	}
	if !secure {
		if c.opts.Keytab != "" || c.opts.Principal != "" {
			return fmt.Errorf("a keytab or principal is given, but the configuration does not say kerberos (%s)", authenticationKey)
		}
		if c.user, err = c.opts.userName(); err != nil {
			return err
		}
		c.auth = simple{c.user}
		return checkUser(c.user)
	}
	if c.opts.User != "" {
		return errors.New("with Kerberos the user is that of the ticket, and no other can be named")
	}
	if c.login, err = kerberos.New(kerberos.Options{
		Keytab: c.opts.Keytab, Principal: c.opts.Principal, LookupEnv: c.opts.LookupEnv, Now: c.opts.clock,
	}); err != nil {
		return err
	}
	rules, err := c.opts.Conf.Get("hadoop.security.auth_to_local")
	if err != nil {
		return err
	}
	mechanism, err := c.opts.Conf.Get("hadoop.security.auth_to_local.mechanism")
	if err != nil {
		return err
	}
	if c.user, err = shortName(c.login.Principal(), c.login.DefaultRealm(), rules, mechanism); err != nil {
		return err
	}
	if err := checkUser(c.user); err != nil {
		return err
	}
	c.auth, err = newSASL(c.opts.Conf, c.login)
	return err
}

// Login gives the user's login with Kerberos; nil without.
func (c *Client) Login() *kerberos.Login { return c.login }

// deniedTo is how a NameNode begins to say that a user may not do something. It has the short name that it
// takes the user for.
var deniedTo = regexp.MustCompile(`^Permission denied: user=([^,]+), access=`)

// sameUser compares the short name of the user with that of the NameNode. The home directory, and in it the
// trash, goes by that name, and both sides make it of the principal by rules of their own. No call tells
// it, but the refusal to one does: most users may not write into /. Who may is the superuser, mostly, of
// whom nothing is found out.
func (c *Client) sameUser(ctx context.Context, conn *conn) error {
	mode := hadoop.FsActionProto(Write)
	err := c.ask(ctx, conn, &hadoop.CheckAccessRequestProto{Path: proto.String(rootPath), Mode: &mode}, &hadoop.CheckAccessResponseProto{})
	remote, ok := errors.AsType[*execute.RemoteError](err)
	if !ok || !errors.Is(remote.Kind, execute.ErrPermission) {
		return err
	}
	if m := deniedTo.FindStringSubmatch(remote.Message); m != nil && m[1] != c.user {
		return fmt.Errorf("%w: NameNode %s takes %s for user %q, and hadoop.security.auth_to_local of this configuration makes %q of it: make that key the same as the cluster's, as the trash is in the user's home directory",
			errRefused, conn.nn.Address, c.login.Principal(), m[1], c.user)
	}
	return nil
}

package hdfs

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"fsweep/execute/hdfs/kerberos"
)

// httpAuth says who asks. Only a NameNode is told, never a DataNode.
type httpAuth interface {
	// authorize prepares a request.
	authorize(request *http.Request)
	// proof gives the header Authorization for the same request once more, after it was
	// answered with status 401; "" if there is none.
	proof(request *http.Request, response *http.Response) (string, error)
}

// webAuth gives that of a client.
func (c *Client) webAuth() httpAuth {
	if c.login == nil {
		return simpleAuth(c.user)
	}
	return &spnegoAuth{negotiate: c.login.Negotiate, resolve: canonical}
}

// simpleAuth names the user, as simple authentication does.
type simpleAuth string

func (user simpleAuth) authorize(request *http.Request) {
	q := request.URL.Query()
	q.Set("user.name", string(user))
	request.URL.RawQuery = q.Encode()
}

func (simpleAuth) proof(*http.Request, *http.Response) (string, error) { return "", nil }

// spnegoAuth proves who the user is by Kerberos (RFC 4559), where it is asked to. Web servers of a secure
// cluster need not ask, and have no Kerberos then.
type spnegoAuth struct {
	negotiate func(ctx context.Context, host string) (string, error)
	resolve   func(ctx context.Context, host string) []string
}

func (*spnegoAuth) authorize(*http.Request) {}

// proof asks for a ticket of HTTP/host: the host as it is configured, as Hadoop's client has it, and
// then as DNS calls it, where the KDC does not know that or it is an address.
func (a *spnegoAuth) proof(request *http.Request, response *http.Response) (string, error) {
	if !asksForProof(response) {
		return "", nil
	}
	ctx, host := request.Context(), strings.ToLower(request.URL.Hostname())
	var first error
	if net.ParseIP(host) == nil {
		token, err := a.negotiate(ctx, host)
		if err == nil || !errors.Is(err, kerberos.ErrUnknown) {
			return token, err
		}
		first = err
	}
	for _, name := range a.resolve(ctx, host) {
		if name == host {
			continue
		}
		token, err := a.negotiate(ctx, name)
		if err == nil || !errors.Is(err, kerberos.ErrUnknown) {
			return token, err
		}
		if first == nil {
			first = err
		}
	}
	if first == nil { // an address without a name
		return a.negotiate(ctx, host)
	}
	return "", first
}

// asksForProof tells whether a server wants SPNEGO.
func asksForProof(response *http.Response) bool {
	for _, v := range response.Header.Values("WWW-Authenticate") {
		if scheme, _, _ := strings.Cut(strings.TrimSpace(v), " "); strings.EqualFold(scheme, "Negotiate") {
			return true
		}
	}
	return false
}

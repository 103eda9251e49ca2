package hdfs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
)

// webClient sends single requests to the web servers of NameNodes and DataNodes. It
// follows no redirect and takes no proxy from the environment. net/http's own client is
// not used, only its transport: the client puts URLs into its errors, and one can carry
// a delegation token.
type webClient struct {
	auth      httpAuth
	transport *http.Transport
}

// newWebClient makes one; roots are whom certificates may come from, nil: whom the
// system trusts.
func newWebClient(auth httpAuth, roots *x509.CertPool, dial dialFunc) *webClient {
	return &webClient{auth: auth, transport: &http.Transport{
		Proxy:                  nil,
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true, // requests are rare, and servers close what is idle
		DisableCompression:     true, // Content-Length is to be the file's
		MaxResponseHeaderBytes: maxHTTPHead,
		Protocols:              http1(),
	}}
}

func http1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

func newGet(ctx context.Context, to *url.URL) *http.Request {
	return (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path, RawPath: to.RawPath, RawQuery: to.RawQuery},
		Host: to.Host, Header: http.Header{"Accept": {"*/*"}},
	}).WithContext(ctx)
}

// asUser sends one request to a NameNode, as the user, and again where it asks for a proof.
func (c *webClient) asUser(request *http.Request) (*http.Response, error) {
	c.auth.authorize(request)
	response, err := c.send(request)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	proof, err := c.auth.proof(request, response)
	if err == nil && proof == "" {
		return response, nil
	}
	_ = response.Body.Close() // nothing of it is wanted
	if err != nil {
		return nil, err
	}
	again := newGet(request.Context(), request.URL)
	again.Header.Set("Authorization", proof)
	return c.send(again)
}

// send sends one request, as nobody. Its errors hold no URL.
func (c *webClient) send(request *http.Request) (*http.Response, error) {
	response, err := c.transport.RoundTrip(request)
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		err = withURL.Err
	}
	return response, err
}

package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
)

// TestProof: a server that asks for SPNEGO gets a token of its name, one that does not ask gets none, and
// nobody is told a user's name.
func TestProof(t *testing.T) {
	t.Parallel()
	const token = "Negotiate " + secret
	for name, tc := range map[string]struct {
		asks    []string // values of WWW-Authenticate
		known   []string // hosts that the KDC knows
		dns     []string
		host    string
		want    string // the host that a token was made for
		refused bool
	}{
		"asked":                {asks: []string{"Negotiate"}, known: []string{"localhost"}, host: "localhost", want: "localhost"},
		"one of several":       {asks: []string{"PseudoAuth", "negotiate abc"}, known: []string{"localhost"}, host: "LOCALHOST", want: "localhost"},
		"an address":           {asks: []string{"Negotiate"}, known: []string{"nn.example.org"}, dns: []string{"other", "nn.example.org"}, host: "127.0.0.1", want: "nn.example.org"},
		"an alias":             {asks: []string{"Negotiate"}, known: []string{"nn.example.org"}, dns: []string{"localhost", "nn.example.org"}, host: "localhost", want: "nn.example.org"},
		"nobody knows it":      {asks: []string{"Negotiate"}, dns: []string{"nn.example.org"}, host: "localhost", refused: true},
		"no name":              {asks: []string{"Negotiate"}, host: "127.0.0.1", refused: true},
		"another kind":         {asks: []string{"Basic realm=x"}, known: []string{"localhost"}, host: "localhost"},
		"nothing is asked for": {known: []string{"localhost"}, host: "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var made []string
			auth := &spnegoAuth{
				negotiate: func(_ context.Context, host string) (string, error) {
					if slices.Contains(tc.known, host) {
						made = append(made, host)
						return token, nil
					}
					return "", fmt.Errorf("%w: %s", kerberos.ErrUnknown, host)
				},
				resolve: func(context.Context, string) []string { return tc.dns },
			}
			requests := 0
			web := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
				requests++
				if in.URL.Query().Has("user.name") {
					t.Errorf("asked %s", in.URL)
				}
				if in.Header.Get("Authorization") == token {
					_, _ = io.WriteString(out, "in")
					return
				}
				out.Header()["Www-Authenticate"] = tc.asks
				out.WriteHeader(http.StatusUnauthorized)
			}))
			t.Cleanup(web.Close)
			_, port, _ := strings.Cut(web.Listener.Addr().String(), ":")
			server := webServer{"http", tc.host + ":" + port}
			response, err := newWebClient(auth, nil, netDial).asUser(newGet(t.Context(), server.url("OPEN", 1)))
			if tc.refused {
				if !errors.Is(err, kerberos.ErrUnknown) || requests != 1 {
					t.Errorf("%v after %d requests", err, requests)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if tc.want == "" && response.StatusCode != http.StatusUnauthorized || tc.want != "" && (response.StatusCode != http.StatusOK || len(made) != 1 || made[0] != tc.want) {
				t.Errorf("status %d, tokens for %q", response.StatusCode, made)
			}
		})
	}
}

// TestProofOnce: a token that is not accepted is not sent again, and is in no error.
func TestProofOnce(t *testing.T) {
	t.Parallel()
	requests := 0
	web := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		requests++
		out.Header().Set("WWW-Authenticate", "Negotiate")
		http.Error(out, "no", http.StatusUnauthorized)
	}))
	defer web.Close()
	images := webOnly(t, "http", web.Listener.Addr().String(), nil)
	images.web.auth = &spnegoAuth{
		negotiate: func(context.Context, string) (string, error) { return "Negotiate " + secret, nil },
		resolve:   func(context.Context, string) []string { return []string{"localhost"} },
	}
	_, err := images.Image(t.Context(), serverAt(web.URL))
	fault, _ := errors.AsType[*execute.ImageError](err)
	if fault == nil || fault.Fault != execute.ImageRefused || requests != 2 || strings.Contains(err.Error(), secret) {
		t.Errorf("%v after %d requests", err, requests)
	}
	// No ticket: that is the reason, and nothing is sent.
	images.web.auth.(*spnegoAuth).negotiate = func(context.Context, string) (string, error) {
		return "", fmt.Errorf("%w: log in", kerberos.ErrNoTicket)
	}
	_, err = images.Image(t.Context(), serverAt(web.URL))
	if fault, _ := errors.AsType[*execute.ImageError](err); fault == nil || fault.Fault != execute.ImageRefused || !strings.Contains(err.Error(), "log in") || requests != 3 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

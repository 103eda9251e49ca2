package hdfs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
)

// Images gives the images that NameNodes keep, by HTTP or HTTPS, as NameNodes give
// them to each other (ImageServlet). It may be used by many goroutines.
type Images struct {
	client *Client
	web    *webClient
}

var _ execute.ImageServers = (*Images)(nil)

// NewImages makes one of a client, which goes on to belong to the caller.
func NewImages(c *Client) *Images {
	return &Images{client: c, web: newWebClient(c.webAuth(), c.opts.RootCAs, watched(c.opts.Dial, readIdle))}
}

// ImageServers implements [execute.ImageServers].
func (s *Images) ImageServers(ctx context.Context) []execute.ImageServer {
	out := make([]execute.ImageServer, len(s.client.nodes))
	var states []execute.NameNodeState
	var wg sync.WaitGroup
	wg.Go(func() { states = NewSurvey(s.client).NameNodes(ctx) })
	for i, n := range s.client.nodes {
		wg.Go(func() { out[i] = s.server(ctx, n.NameNode) })
	}
	wg.Wait()
	for i := range out {
		compare(&out[i], &states[i])
	}
	return out
}

// compare holds what a web server says against what the RPCs of its NameNode say.
// One of both is enough to know the role. Between two that differ there was a
// failover; then it counts as ACTIVE, which is to be spared.
func compare(web *execute.ImageServer, rpc *execute.NameNodeState) {
	if web.Role == execute.UnknownRole || rpc.Role == execute.ActiveRole {
		web.Role = rpc.Role
	}
	for _, id := range []struct{ what, web, rpc string }{
		{"cluster", web.ClusterID, rpc.ClusterID},
		{"block pool", web.BlockPoolID, rpc.BlockPoolID},
	} {
		if web.Err == nil && id.web != "" && id.rpc != "" && id.web != id.rpc {
			web.Err = &execute.ImageError{
				NameNode: web.NameNode, URL: web.URL, Fault: execute.ImageUnclear,
				Text: fmt.Sprintf("it is of %s %q, and %s, whose it should be, of %q: is its address that of another NameNode?", id.what, id.web, rpc.Address, id.rpc),
			}
		}
	}
	if web.ClusterID == "" {
		web.ClusterID = rpc.ClusterID
	}
	if web.BlockPoolID == "" {
		web.BlockPoolID = rpc.BlockPoolID
	}
}

// server asks the web server of one NameNode.
func (s *Images) server(ctx context.Context, nn execute.NameNode) execute.ImageServer {
	out := execute.ImageServer{NameNode: nn, TxID: execute.NoImage}
	at, err := webServerOf(s.client.opts.Conf, nn)
	if err != nil {
		out.Err = err
		return out
	}
	out.URL = at.scheme + "://" + at.address
	ctx, cancel := context.WithTimeout(ctx, s.client.opts.TryTimeout)
	defer cancel()
	var state string
	for _, a := range []struct {
		bean, attribute string
		to              *string
	}{{"NameNodeStatus", "State", &state}, {"NameNodeInfo", "ClusterId", &out.ClusterID}, {"NameNodeInfo", "BlockPoolId", &out.BlockPoolID}} {
		if out.JMX = s.jmx(ctx, &out, a.bean, a.attribute, a.to); out.JMX != nil {
			return out
		}
	}
	for _, role := range []execute.Role{execute.ActiveRole, execute.StandbyRole, execute.ObserverRole} {
		if strings.EqualFold(state, role.String()) {
			out.Role = role
		}
	}
	if out.TxID, out.JMX = s.newest(ctx, &out); out.JMX != nil {
		out.TxID = execute.NoImage
	}
	return out
}

// newest gives the last transaction in the newest image. NameNodes do not remember this
// answer, as they do those about metrics.
func (s *Images) newest(ctx context.Context, server *execute.ImageServer) (int64, error) {
	var text string // JSON in a string
	if err := s.jmx(ctx, server, "NameNodeInfo", "JournalTransactionInfo", &text); err != nil {
		return 0, err
	}
	var info struct{ MostRecentCheckpointTxID string }
	if err := decodeJSON(strings.NewReader(text), &info); err != nil {
		return 0, imageFault(server, execute.ImageUnclear, "its JournalTransactionInfo makes no sense: %v", err)
	}
	txid, err := strconv.ParseInt(info.MostRecentCheckpointTxID, 10, 64)
	if err != nil || txid < 0 {
		return 0, imageFault(server, execute.ImageUnclear, "its newest image ends with transaction %.40q", info.MostRecentCheckpointTxID)
	}
	return txid, nil
}

// Saved implements [execute.ImageServers]. A checkpoint in the middle is an error.
func (s *Images) Saved(ctx context.Context, server *execute.ImageServer) (txid, savedMs int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.client.opts.TryTimeout)
	defer cancel()
	txid, err = s.newest(ctx, server)
	if err != nil {
		return 0, 0, err
	}
	if err = s.jmx(ctx, server, "FSNamesystem", "LastCheckpointTime", &savedMs); err != nil {
		return 0, 0, err
	}
	again, err := s.newest(ctx, server)
	switch {
	case err != nil:
		return 0, 0, err
	case again != txid:
		return 0, 0, imageFault(server, execute.ImageGone, "a checkpoint was made at this moment")
	case savedMs <= 0:
		return 0, 0, imageFault(server, execute.ImageUnclear, "its last checkpoint was at %d ms", savedMs)
	}
	return txid, savedMs, nil
}

// jmx asks for one attribute. All of a bean would be megabytes of NameNodeInfo.
func (s *Images) jmx(ctx context.Context, server *execute.ImageServer, bean, attribute string, to any) error {
	response, err := s.get(ctx, server, "/jmx", url.Values{"get": {"Hadoop:service=NameNode,name=" + bean + "::" + attribute}})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Beans []map[string]any
	}
	if err := decodeJSON(response.Body, &answer); err != nil {
		return imageFault(server, execute.ImageUnclear, "/jmx: %v", err)
	}
	if len(answer.Beans) == 1 {
		switch to := to.(type) {
		case *string:
			if v, ok := answer.Beans[0][attribute].(string); ok && len(v) <= maxJMXText {
				*to = v
				return nil
			}
		case *int64:
			if v, err := strconv.ParseInt(fmt.Sprint(answer.Beans[0][attribute]), 10, 64); err == nil {
				*to = v
				return nil
			}
		}
	}
	return imageFault(server, execute.ImageUnclear, "/jmx does not tell %s of %s", attribute, bean)
}

// imageName is the only name that an image has.
var imageName = regexp.MustCompile(`^fsimage_([0-9]{19})$`)

// Image implements [execute.ImageServers].
func (s *Images) Image(ctx context.Context, server *execute.ImageServer) (*execute.Image, error) {
	response, err := s.get(ctx, server, "/imagetransfer", url.Values{"getimage": {"1"}, "txid": {"latest"}})
	if err != nil {
		return nil, err
	}
	image, err := imageOf(server, response)
	if err != nil {
		_ = response.Body.Close() // nothing of it is wanted
		return nil, err
	}
	return image, nil
}

// imageOf reads what is said before the bytes.
func imageOf(server *execute.ImageServer, response *http.Response) (*execute.Image, error) {
	h := response.Header
	image := &execute.Image{Length: response.ContentLength, Body: response.Body}
	names, sums := h.Values("X-Image-Edits-Name"), h.Values("X-MD5-Digest")
	if len(names) != 1 {
		return nil, imageFault(server, execute.ImageUnclear, "its answer names %d images: is it the web server of a NameNode?", len(names))
	}
	m := imageName.FindStringSubmatch(names[0])
	if m == nil {
		return nil, imageFault(server, execute.ImageUnclear, "it calls its image %.100q, which is not fsimage_ and 19 digits", names[0])
	}
	var err error
	if image.TxID, err = strconv.ParseInt(m[1], 10, 64); err != nil {
		return nil, imageFault(server, execute.ImageUnclear, "the image %s has a number that no transaction has", names[0])
	}
	image.Name = names[0]
	switch {
	case image.TxID == 0:
		return nil, imageFault(server, execute.ImageEmpty, "its only image is that of formatting, with nothing in it: there was no checkpoint yet")
	case len(sums) == 0:
		return nil, imageFault(server, execute.ImageUnverified, "it tells no MD5 of %s", image.Name)
	case h.Get("Content-Encoding") != "":
		return nil, imageFault(server, execute.ImageUnclear, "Content-Encoding is %.40q", h.Get("Content-Encoding"))
	case image.Length <= 0: // also chunks, which tell no length
		return nil, imageFault(server, execute.ImageUnclear, "it does not tell how long %s is", image.Name)
	}
	sum, err := hex.DecodeString(sums[0])
	if len(sums) > 1 || err != nil || len(sum) != len(image.MD5) {
		return nil, imageFault(server, execute.ImageUnclear, "the MD5 of %s is %.100q", image.Name, strings.Join(sums, ", "))
	}
	copy(image.MD5[:], sum)
	return image, nil
}

// get asks a NameNode's web server for a page. Errors are [*execute.ImageError].
func (s *Images) get(ctx context.Context, server *execute.ImageServer, path string, query url.Values) (*http.Response, error) {
	base, err := url.Parse(server.URL)
	if err != nil {
		return nil, imageFault(server, execute.ImageUnclear, "its address is no URL")
	}
	response, err := s.web.asUser(newGet(ctx, &url.URL{Scheme: base.Scheme, Host: base.Host, Path: path, RawQuery: query.Encode()}))
	if err != nil {
		return nil, noAnswer(server, err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	return nil, badStatus(server, path, response)
}

// noAnswer tells what went wrong before there was an answer.
func noAnswer(server *execute.ImageServer, err error) error {
	e := &execute.ImageError{NameNode: server.NameNode, URL: server.URL, Fault: execute.ImageNoAnswer, Err: err}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case kerberos.Ours(err) && !kerberos.Temporary(err):
		e.Fault, e.Text = execute.ImageRefused, "no proof for its web server (SPNEGO)"
	case certificate || name:
		e.Fault, e.Text = execute.ImageUntrusted, "its certificate is not accepted"
	case record:
		e.Fault, e.Text = execute.ImageUnclear, "it does not speak TLS there"
	}
	return e
}

// badStatus tells what an answer other than 200 means.
func badStatus(server *execute.ImageServer, path string, response *http.Response) error {
	says := quoteStatus(response.Status)
	switch code := response.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return imageFault(server, execute.ImageRefused, "%s is refused to this user: HTTP status %s", path, says)
	case code == http.StatusNotFound:
		return imageFault(server, execute.ImageNotServed, "there is no %s: HTTP status %s", path, says)
	case code == http.StatusGone && strings.Contains(response.Status, "NullPointerException"): // it has no name of a user
		return imageFault(server, execute.ImageRefused, "its web server does not ask who comes, so it gives images to nobody: hadoop.http.authentication.type of the NameNodes must be kerberos")
	case code == http.StatusGone:
		return imageFault(server, execute.ImageGone, "the image is gone: HTTP status %s", says)
	case code >= http.StatusMultipleChoices && code < http.StatusBadRequest:
		to := "nowhere"
		if u, err := url.Parse(response.Header.Get("Location")); err == nil && u.Host != "" {
			to = fmt.Sprintf("to %.300q", u.Scheme+"://"+u.Host)
		}
		return imageFault(server, execute.ImageRedirected, "it redirects %s (HTTP status %d), which is not followed", to, code)
	case code >= http.StatusInternalServerError:
		return imageFault(server, execute.ImageFailed, "HTTP status %s", says)
	}
	return imageFault(server, execute.ImageUnclear, "HTTP status %s", says)
}

// maxStatusText is how much of a status line is shown. NameNodes put a whole stack trace
// into it.
const maxStatusText = 300

// quoteStatus quotes a status line without its stack trace.
func quoteStatus(line string) string {
	if i := strings.Index(line, "\tat "); i >= 0 {
		line = strings.TrimRight(line[:i], "?\n")
	}
	if len(line) > maxStatusText {
		line = line[:maxStatusText] + "…"
	}
	return strconv.Quote(strings.ToValidUTF8(line, "\uFFFD"))
}

func imageFault(server *execute.ImageServer, fault execute.ImageFault, format string, args ...any) *execute.ImageError {
	return &execute.ImageError{NameNode: server.NameNode, URL: server.URL, Fault: fault, Text: fmt.Sprintf(format, args...)}
}

// Bounds of what /jmx says of one attribute.
const (
	maxJMX     = 256 << 10
	maxJMXText = 4 << 10
)

// decodeJSON reads one small value, with its numbers as they are written.
func decodeJSON(from io.Reader, to any) error {
	d := json.NewDecoder(io.LimitReader(from, maxJMX))
	d.UseNumber()
	return d.Decode(to)
}

package hdfs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Bounds of answers that are no file.
const (
	maxHTTPHead  = 64 << 10
	maxHTTPError = 64 << 10
)

// webHDFSWay reads by WebHDFS OPEN: the ACTIVE NameNode names a DataNode, whose own client
// decrypts, decodes and verifies checksums, and which sends plain bytes by HTTP or HTTPS.
//
// A Location can carry a delegation token, so no URL is put into an error or a log.
type webHDFSWay struct {
	nameNode fileNameNode
	conf     *Conf
	web      *webClient
}

// String names it.
func (*webHDFSWay) String() string { return "WebHDFS" }

// open implements [way].
func (w *webHDFSWay) open(ctx context.Context, f *foundFile) (io.ReadCloser, error) {
	active, err := w.nameNode.Active(ctx)
	if err != nil {
		return nil, err
	}
	server, err := httpServer(w.conf, active)
	if err != nil {
		return nil, err
	}
	if f.protection == privateTransfer && server.scheme != "https" {
		return nil, fmt.Errorf("%w: the data transfer is encrypted, and dfs.http.policy allows http only", execute.ErrUnreadable)
	}
	if err := w.identify(ctx, server, f); err != nil {
		return nil, err
	}
	to, err := w.redirect(ctx, server, f)
	if err != nil {
		return nil, err
	}
	return w.fetch(ctx, to, f)
}

// identify asks whether the HTTP address is that of the NameNode which our RPCs go to, by what
// it says of the file. An address that was mixed up would lead to an inode of the same id
// in another nameservice, and even to the same DataNodes, which may serve several.
func (w *webHDFSWay) identify(ctx context.Context, server webServer, f *foundFile) error {
	response, err := w.ask(ctx, server, "GETFILESTATUS", f.ID)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return httpError("NameNode "+server.address, server.address, response)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHTTPError))
	if err != nil {
		return fmt.Errorf("NameNode %s: %w", server.address, err)
	}
	var answer struct {
		FileStatus struct {
			Type                             string
			FileID, Length, ModificationTime int64
		}
	}
	got := &answer.FileStatus
	err = json.Unmarshal(body, &answer)
	if err != nil || got.Type != "FILE" || uint64(got.FileID) != f.ID || got.Length != f.Length || got.ModificationTime != f.MTimeMs {
		return fmt.Errorf("NameNode %s knows another file by that id: is its address that of this nameservice?", server.address)
	}
	return nil
}

// redirect asks the NameNode which DataNode to go to.
func (w *webHDFSWay) redirect(ctx context.Context, server webServer, f *foundFile) (*url.URL, error) {
	response, err := w.ask(ctx, server, "OPEN", f.ID)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusTemporaryRedirect {
		return nil, httpError("NameNode "+server.address, server.address, response)
	}
	to, err := url.Parse(response.Header.Get("Location"))
	if err != nil { // which has the whole of it
		return nil, fmt.Errorf("NameNode %s redirects to what is no URL", server.address)
	}
	if err := checkRedirect(server.url("OPEN", f.ID), to, f.blocks); err != nil {
		return nil, fmt.Errorf("NameNode %s redirects %w", server.address, err)
	}
	return to, nil
}

// checkRedirect allows only what a NameNode says for OPEN: the same file and scheme, at
// a DataNode that has some of it.
func checkRedirect(from, to *url.URL, blocks *hadoop.LocatedBlocksProto) error {
	if to.Scheme != from.Scheme {
		return fmt.Errorf("from %s to %q", from.Scheme, to.Scheme)
	}
	known := false
	for _, dn := range dataNodes(blocks) {
		port := dn.GetInfoPort()
		if to.Scheme == "https" {
			port = dn.GetInfoSecurePort()
		}
		sameHost := strings.EqualFold(to.Hostname(), dn.GetHostName()) || to.Hostname() == dn.GetIpAddr()
		known = known || port != 0 && sameHost && to.Port() == strconv.FormatUint(uint64(port), 10)
	}
	if !known {
		return fmt.Errorf("to %q, which is no DataNode of this file", to.Host)
	}
	query, err := url.ParseQuery(to.RawQuery)
	if err != nil || to.User != nil || to.Opaque != "" || to.Path != from.Path || !wholeFile(query) {
		return fmt.Errorf("to something else than this file at DataNode %s", to.Host)
	}
	return nil
}

// wholeFile tells whether a query opens a file from its first to its last byte.
func wholeFile(query url.Values) bool {
	offset := query.Get("offset")
	return strings.EqualFold(query.Get("op"), "OPEN") && (offset == "" || offset == "0") && query.Get("length") == ""
}

// fetch asks the DataNode for the bytes.
func (w *webHDFSWay) fetch(ctx context.Context, from *url.URL, f *foundFile) (io.ReadCloser, error) {
	response, err := w.web.send(newGet(ctx, from))
	if err != nil {
		return nil, fmt.Errorf("DataNode %s: %w", from.Host, err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, httpError("DataNode "+from.Host, from.Host, response)
	}
	encoding := response.Header.Get("Content-Encoding")
	if encoding == "" && (response.ContentLength < 0 || response.ContentLength == f.Length) {
		return response.Body, nil
	}
	_ = response.Body.Close() // nothing of it is wanted
	if encoding != "" {
		return nil, fmt.Errorf("DataNode %s: Content-Encoding is %q", from.Host, encoding)
	}
	return nil, fmt.Errorf("DataNode %s: Content-Length is %d, the file has %d bytes", from.Host, response.ContentLength, f.Length)
}

// ask asks a NameNode something about an inode, as the user.
func (w *webHDFSWay) ask(ctx context.Context, server webServer, operation string, id uint64) (*http.Response, error) {
	response, err := w.web.asUser(newGet(ctx, server.url(operation, id)))
	if err != nil {
		return nil, fmt.Errorf("NameNode %s: %w", server.address, err)
	}
	return response, nil
}

// httpError makes an error of an answer that is not the one asked for: the NameNode's
// own class and message where it gives them.
func httpError(who, address string, response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxHTTPError)) // what there is of it serves
	var answer struct {
		RemoteException *struct{ Exception, JavaClassName, Message string }
	}
	if json.Unmarshal(body, &answer) != nil || answer.RemoteException == nil {
		return fmt.Errorf("%s: HTTP status %d", who, response.StatusCode)
	}
	e := answer.RemoteException
	if strings.HasSuffix(e.Message, "Security enabled but user not authenticated by filter") {
		return fmt.Errorf("%s: HTTP status %d: its web server does not ask who comes, so it answers nobody: hadoop.http.authentication.type of the NameNodes must be kerberos", who, response.StatusCode)
	}
	class := e.JavaClassName
	if class == "" {
		class = e.Exception
	}
	return fmt.Errorf("%s: HTTP status %d: %w", who, response.StatusCode, &execute.RemoteError{
		Call: "OPEN", NameNode: address, Class: class, Message: e.Message, Kind: kindOf("OPEN", class, e.Message),
	})
}

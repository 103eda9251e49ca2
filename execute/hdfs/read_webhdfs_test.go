package hdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
)

const secret = "SECRETTOKEN"

// fakeWeb is WebHDFS at a NameNode and a DataNode; the hooks spoil it.
type fakeWeb struct {
	nameNode, dataNode *httptest.Server
	location           func(string) string // of the redirect
	refuse             http.HandlerFunc    // in place of the redirect
	answer             http.HandlerFunc    // in place of the bytes
	content            []byte
	status             string       // of the file, with a place for its length
	asked              atomic.Int64 // requests to the DataNode
}

func startWeb(t *testing.T, content []byte, start func(http.Handler) *httptest.Server) *fakeWeb {
	t.Helper()
	w := &fakeWeb{content: content, status: `{"FileStatus":{"accessTime":1,"fileId":16400,"length":%d,"modificationTime":1700000000123,"owner":"x","type":"FILE"}}`}
	w.dataNode = start(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		w.asked.Add(1)
		if in.URL.Query().Get("delegation") != secret || in.URL.Query().Has("user.name") {
			t.Errorf("DataNode was asked by %s", in.URL)
		}
		if w.answer != nil {
			w.answer(out, in)
			return
		}
		_, _ = out.Write(w.content)
	}))
	w.nameNode = start(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		op := in.URL.Query().Get("op")
		if in.URL.Path != "/webhdfs/v1/.reserved/.inodes/16400" || in.URL.RawQuery != "op="+op+"&user.name=alice" || in.Method != http.MethodGet {
			t.Errorf("NameNode was asked %s %s", in.Method, in.URL)
		}
		if op == "GETFILESTATUS" {
			_, _ = fmt.Fprintf(out, w.status, len(content))
			return
		}
		if op != "OPEN" {
			t.Errorf("NameNode was asked for %s", op)
		}
		if w.refuse != nil {
			w.refuse(out, in)
			return
		}
		to := w.dataNode.URL + in.URL.Path + "?op=OPEN&delegation=" + secret + "&namenoderpcaddress=ns1&offset=0"
		if w.location != nil {
			to = w.location(to)
		}
		out.Header().Set("Location", to)
		out.WriteHeader(http.StatusTemporaryRedirect)
	}))
	t.Cleanup(func() {
		w.nameNode.Close()
		w.dataNode.Close()
	})
	return w
}

// file describes the content, with the DataNode as its only one.
func (w *fakeWeb) file(t *testing.T) (*oneFile, confMap) {
	t.Helper()
	f := newOneFile(int64(len(w.content)))
	f.addBlock(7, len(w.content), nodeID(t, "", w.dataNode.Listener.Addr().String()))
	return f, confMap{"dfs.namenode.http-address": w.nameNode.Listener.Addr().String()}
}

func TestWebHDFSReads(t *testing.T) {
	for _, n := range []int{1, 4096, readAhead - 1, readAhead, readAhead + 1, 3 << 20} {
		w := startWeb(t, pattern(n), httptest.NewServer)
		f, conf := w.file(t)
		f.status.Encrypted, f.status.ErasureCoded = true, true // neither matters here
		// A proxy in the environment would be told every token.
		t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
		got, calls, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
		if err != nil || calls != 1 || !bytes.Equal(got, w.content) {
			t.Errorf("%d bytes: %d, %d calls, %v", n, len(got), calls, err)
		}
	}
}

// TestWebHDFSRedirects: a redirect that NameNodes do not make is not followed.
func TestWebHDFSRedirects(t *testing.T) {
	t.Parallel()
	replace := func(old, now string) func(string) string {
		return func(to string) string { return strings.Replace(to, old, now, 1) }
	}
	for name, location := range map[string]func(string) string{
		"another host": replace("127.0.0.1", "localhost"),
		"another port": func(to string) string { return strings.Replace(to, "/webhdfs", "1/webhdfs", 1) },
		"the default port": func(string) string {
			return "http://127.0.0.1/webhdfs/v1/.reserved/.inodes/16400?op=OPEN&delegation=" + secret
		},
		"another scheme":      replace("http://", "https://"),
		"another file":        replace("16400", "16401"),
		"a file behind it":    replace("16400", "16400/x"),
		"another operation":   replace("OPEN", "GETFILESTATUS"),
		"a part of the file":  replace("offset=0", "offset=1"),
		"a length":            replace("offset=0", "length=1"),
		"a user in it":        replace("http://", "http://alice:pw@"),
		"no host":             replace("http://", "/"),
		"none":                func(string) string { return "" },
		"no URL":              func(string) string { return "http://[" + secret },
		"a file of this host": func(string) string { return "file:///etc/passwd?" + secret },
		"a bad query":         replace("op=OPEN", "op=OPEN&%zz"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, []byte("_metadata"), httptest.NewServer)
			w.location = location
			f, conf := w.file(t)
			_, calls, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
			if !errors.Is(err, execute.ErrUnreadable) || calls != 0 || w.asked.Load() != 0 {
				t.Errorf("%d calls, DataNode asked %d times, %v", calls, w.asked.Load(), err)
			}
			noSecret(t, err)
		})
	}
}

// TestWebHDFSIdentifies: an address of another nameservice is noticed before it is read from.
func TestWebHDFSIdentifies(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		{"16400", "16401"}, {"123,", "124,"}, {"%d", "1%d"}, {"FILE\"", "DIRECTORY\""}, {"{\"FileStatus\"", "{\"Status\""}, {"}}", ""}, {"16400", "-16400"},
	} {
		w := startWeb(t, []byte("_metadata"), httptest.NewServer)
		w.status = strings.Replace(w.status, tc[0], tc[1], 1)
		f, conf := w.file(t)
		_, calls, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
		if !errors.Is(err, execute.ErrUnreadable) || calls != 0 || w.asked.Load() != 0 || !strings.Contains(err.Error(), "another file") {
			t.Errorf("%v: %d calls, %v", tc, calls, err)
		}
	}
}

// noSecret: what goes to logs holds no token and no URL.
func noSecret(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "://")) {
		t.Errorf("the error tells too much: %v", err)
	}
}

// TestWebHDFSBadBodies: too few bytes, too many, the wrong number announced, none at all. Of
// a file that is read ahead as a whole use sees nothing then; of a larger one, an error.
func TestWebHDFSBadBodies(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5000, readAhead + 100_000} {
		content := pattern(size)
		announce := func(announced, sent int) http.HandlerFunc {
			return func(out http.ResponseWriter, _ *http.Request) {
				raw(out, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", announced), append(content, content...)[:sent])
			}
		}
		plain := func(sent int) http.HandlerFunc {
			return func(out http.ResponseWriter, _ *http.Request) {
				raw(out, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", append(content, content...)[:sent])
			}
		}
		for name, tc := range map[string]struct {
			answer http.HandlerFunc
			early  bool // seen before the bytes are passed on, whatever their number
		}{
			"closed early":                 {announce(size, size-1), false},
			"closed early, no length":      {plain(size - 1), false},
			"closed at once":               {announce(size, 0), true},
			"nothing":                      {func(out http.ResponseWriter, _ *http.Request) { raw(out, "", nil) }, true},
			"a shorter length":             {announce(size-1, size-1), true},
			"a longer length":              {announce(size+1, size+1), true},
			"no length, one byte more":     {plain(size + 1), false},
			"a partial content":            {status(http.StatusPartialContent), true},
			"another redirect":             {http.RedirectHandler("/webhdfs/v1/x?"+secret, http.StatusTemporaryRedirect).ServeHTTP, true},
			"an error without JSON":        {status(http.StatusInternalServerError), true},
			"a head that never ends":       {endless("HTTP/1.1 200 OK\r\nX-Y: ", "z"), true},
			"heads that never end":         {endless("HTTP/1.1 200 OK\r\n", "X-Y: z\r\n"), true},
			"an error that never ends":     {endless("HTTP/1.1 500 Error\r\n\r\n", "{"), true},
			"a body that never ends":       {endless("HTTP/1.1 200 OK\r\n\r\n", string(content[:4096])), false},
			"chunks that are cut":          {chunked(content[:size-1], ""), false},
			"chunks that are not chunks":   {chunked(nil, "zz\r\n"), true},
			"chunks, one byte too few":     {chunked(content[:size-1], "0\r\n\r\n"), false},
			"an encoding nobody asked for": {encoded(content), true},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				t.Parallel()
				w := startWeb(t, content, httptest.NewServer)
				w.answer = tc.answer
				f, conf := w.file(t)
				got, calls, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
				if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%d bytes, %v", len(got), err)
				}
				if early := tc.early || size < readAhead; early != (calls == 0) || early != errors.Is(err, execute.ErrUnreadable) {
					t.Errorf("%d calls, %v", calls, err)
				}
				if len(got) > size {
					t.Errorf("%d bytes", len(got))
				}
				noSecret(t, err)
			})
		}
	}
}

// raw answers with these bytes and closes the connection.
func raw(out http.ResponseWriter, head string, body []byte) {
	conn, _, err := out.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, head)
	_, _ = conn.Write(body)
}

func status(code int) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(code) }
}

func endless(head, again string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		conn, _, err := out.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, err = io.WriteString(conn, head)
		for block := strings.Repeat(again, 100); err == nil; {
			_, err = io.WriteString(conn, block)
		}
	}
}

func chunked(body []byte, end string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		if len(body) > 0 {
			end = fmt.Sprintf("%x\r\n%s\r\n%s", len(body), body, end)
		}
		raw(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+end, nil)
	}
}

func encoded(content []byte) http.HandlerFunc {
	return func(out http.ResponseWriter, in *http.Request) {
		if in.Header.Get("Accept-Encoding") != "" {
			panic("asked for an encoding")
		}
		out.Header().Set("Content-Encoding", "gzip")
		_, _ = out.Write(content)
	}
}

// TestWebHDFSRefusals: class and message come through, from both servers.
func TestWebHDFSRefusals(t *testing.T) {
	t.Parallel()
	refusal := func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(out, `{"RemoteException":{"exception":"AccessControlException",`+
			`"javaClassName":"org.apache.hadoop.security.AccessControlException","message":"Permission denied: user=alice, access=READ"}}`)
	}
	for _, at := range []string{"NameNode", "DataNode"} {
		w := startWeb(t, []byte("_metadata"), httptest.NewServer)
		if at == "NameNode" {
			w.refuse = refusal
		} else {
			w.answer = refusal
		}
		f, conf := w.file(t)
		_, _, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
		var remote *execute.RemoteError
		if !errors.As(err, &remote) || remote.Class != "org.apache.hadoop.security.AccessControlException" ||
			remote.Message != "Permission denied: user=alice, access=READ" || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", at, err)
		}
	}
	for name, refuse := range map[string]http.HandlerFunc{
		"no redirect":   func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, "_metadata") },
		"another kind":  http.RedirectHandler("http://127.0.0.1/", http.StatusMovedPermanently).ServeHTTP,
		"no login":      status(http.StatusUnauthorized),
		"JSON, no such": func(out http.ResponseWriter, _ *http.Request) { http.Error(out, `{"a":1}`, http.StatusNotFound) },
	} {
		w := startWeb(t, []byte("_metadata"), httptest.NewServer)
		w.refuse = refuse
		f, conf := w.file(t)
		_, calls, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
		if !errors.Is(err, execute.ErrUnreadable) || calls != 0 || !strings.Contains(err.Error(), "HTTP status") {
			t.Errorf("%s: %d calls, %v", name, calls, err)
		}
	}
}

// TestWebHDFSSilent: a server that says nothing more ends with the context, or when it
// was silent for too long.
func TestWebHDFSSilent(t *testing.T) {
	t.Parallel()
	content := pattern(2 * readAhead)
	for _, sent := range []int{-1, 0, 1000, readAhead + 500_000} {
		for _, limit := range []time.Duration{300 * time.Millisecond, time.Minute} {
			t.Run(fmt.Sprintf("%d/%v", sent, limit), func(t *testing.T) {
				t.Parallel()
				w := startWeb(t, content, httptest.NewServer)
				w.answer = func(out http.ResponseWriter, in *http.Request) {
					if sent >= 0 {
						out.Header().Set("Content-Length", fmt.Sprint(len(content)))
						_, _ = out.Write(content[:sent])
						_ = http.NewResponseController(out).Flush()
					}
					<-in.Context().Done()
				}
				f, conf := w.file(t)
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				r, err := newFileReader(f, conf.conf(), "alice", simpleAuth("alice"), nil, netDial, 600*time.Millisecond)
				if err != nil {
					t.Fatal(err)
				}
				r.ways = r.ways[1:]
				began := time.Now()
				_, _, err = readAll(ctx, r, f.id())
				if err == nil || time.Since(began) > 3*time.Second {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if ended := errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil; ended != (limit < time.Second) {
					t.Errorf("ended by the context: %t, %v", ended, err)
				}
				noSecret(t, err)
			})
		}
	}
}

// TestWebHDFSSecure: https stays https, and its certificate is verified.
func TestWebHDFSSecure(t *testing.T) {
	t.Parallel()
	w := startWeb(t, pattern(5000), func(h http.Handler) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused handshake is meant
		s.StartTLS()
		return s
	})
	f := newOneFile(5000)
	n := nodeID(t, "", w.dataNode.Listener.Addr().String())
	n.InfoSecurePort, n.InfoPort = n.InfoPort, proto.Uint32(1)
	f.addBlock(7, 5000, n)
	f.defaults.EncryptTransfer = true
	conf := confMap{"dfs.http.policy": "HTTPS_ONLY", "dfs.namenode.https-address": w.nameNode.Listener.Addr().String()}
	r := onlyWay(t, f, conf, "WebHDFS")
	if _, calls, err := readAll(t.Context(), r, f.id()); !errors.Is(err, execute.ErrUnreadable) || calls != 0 || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown certificate: %v", err)
	}
	r.ways[0].(*webHDFSWay).web.transport.TLSClientConfig = w.nameNode.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	if got, _, err := readAll(t.Context(), r, f.id()); err != nil || !bytes.Equal(got, w.content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	w.location = func(to string) string { return strings.Replace(to, "https://", "http://", 1) }
	if _, calls, err := readAll(t.Context(), r, f.id()); !errors.Is(err, execute.ErrUnreadable) || calls != 0 || !strings.Contains(err.Error(), `from https to "http"`) {
		t.Errorf("downgrade: %v", err)
	}
}

// TestWebHDFSPrivacy: where data is encrypted on the way it must not go by plain http.
func TestWebHDFSPrivacy(t *testing.T) {
	t.Parallel()
	w := startWeb(t, pattern(5000), httptest.NewServer)
	f, conf := w.file(t)
	f.defaults.EncryptTransfer = true
	_, _, err := readAll(t.Context(), onlyWay(t, f, conf, "WebHDFS"), f.id())
	if !errors.Is(err, execute.ErrUnreadable) || w.asked.Load() != 0 || !strings.Contains(err.Error(), "http only") {
		t.Errorf("%v", err)
	}
}

func TestHTTPServer(t *testing.T) {
	t.Parallel()
	single, ha := execute.NameNode{Address: "nn.test:8020"}, execute.NameNode{Nameservice: "ns1", ID: "nn2", Address: "nn2.test:8020"}
	for _, tc := range []struct {
		conf confMap
		nn   execute.NameNode
		want string // or the error
	}{
		{nil, single, "http nn.test:9870"},
		{confMap{"dfs.http.policy": "HTTPS_ONLY"}, single, "https nn.test:9871"},
		{confMap{"dfs.http.policy": "http_and_https"}, single, "https nn.test:9871"},
		{confMap{"dfs.http.policy": "ANY"}, single, `dfs.http.policy is "ANY"`},
		{confMap{"dfs.webhdfs.enabled": "false"}, single, "dfs.webhdfs.enabled is false"},
		{confMap{"dfs.namenode.http-address": "web.test:50070"}, single, "http web.test:50070"},
		{confMap{"dfs.namenode.http-address": "0.0.0.0:50070"}, single, "http nn.test:50070"},
		{confMap{"dfs.namenode.http-address": "[::]:50070"}, single, "http nn.test:50070"},
		{confMap{"dfs.namenode.http-address": "web.test"}, single, `dfs.namenode.http-address is "web.test"`},
		{confMap{"dfs.namenode.http-address": "other.test:1"}, ha, "http nn2.test:9870"},
		{confMap{"dfs.namenode.http-address.ns1.nn1": "other.test:1", "dfs.namenode.http-address.ns1.nn2": "web2.test:2"}, ha, "http web2.test:2"},
		{confMap{"dfs.namenode.http-address.ns1": "web.test:3"}, execute.NameNode{Nameservice: "ns1", Address: "nn.test:8020"}, "http web.test:3"},
		{confMap{"dfs.namenode.http-address": "web.test:3"}, execute.NameNode{Nameservice: "ns1", Address: "nn.test:8020"}, "http web.test:3"},
		{confMap{"dfs.namenode.http-address": "web.test:3"}, execute.NameNode{Address: "[2001:db8::1]:8020"}, "http web.test:3"},
		{nil, execute.NameNode{Address: "[2001:db8::1]:8020"}, "http [2001:db8::1]:9870"},
	} {
		got, err := httpServer(tc.conf.conf(), tc.nn)
		if err == nil && got.scheme+" "+got.address != tc.want || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v %v: %v, %v; want %s", tc.conf, tc.nn, got, err, tc.want)
		}
		if _, _, bad := net.SplitHostPort(got.address); err == nil && bad != nil {
			t.Error(bad)
		}
	}
}

package hdfs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
)

const (
	imageText = "HDFSIMG1 and more"
	imageSum  = "b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4"
	image42   = "fsimage_0000000000000000042"
)

// webOnly is a client whose one NameNode has that web server, and no RPC.
func webOnly(t *testing.T, scheme, address string, roots *x509.CertPool) *Images {
	t.Helper()
	conf := map[string]string{"fs.defaultFS": "hdfs://127.0.0.1:1", "dfs.namenode." + scheme + "-address": address}
	if scheme == "https" {
		conf["dfs.http.policy"] = "HTTPS_ONLY"
	}
	c, err := Open(Options{
		Conf: NewConf(conf), User: "alice", RootCAs: roots, CallTimeout: time.Second, Patience: time.Millisecond, TryTimeout: time.Second,
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return NewImages(c)
}

func serverAt(url string) *execute.ImageServer {
	return &execute.ImageServer{NameNode: execute.NameNode{ID: "nn2", Address: "127.0.0.1:1"}, URL: url}
}

// good answers as a NameNode does; more changes the head.
func good(more func(http.Header)) http.HandlerFunc {
	return func(out http.ResponseWriter, in *http.Request) {
		h := out.Header()
		h.Set("X-Image-Edits-Name", image42)
		h.Set("X-MD5-Digest", imageSum)
		h.Set("Content-Length", fmt.Sprint(len(imageText)))
		if more != nil {
			more(h)
		}
		_, _ = io.WriteString(out, imageText)
	}
}

// TestImage asks as Hadoop's own client does, and takes what is said before the bytes.
func TestImage(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	web := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.Method != http.MethodGet || in.URL.Path != "/imagetransfer" || in.URL.RawQuery != "getimage=1&txid=latest&user.name=alice" {
			t.Errorf("asked %s %s", in.Method, in.URL)
		}
		good(nil)(out, in)
	}))
	defer web.Close()
	image, err := webOnly(t, "http", web.Listener.Addr().String(), nil).Image(t.Context(), serverAt(web.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer image.Body.Close()
	body, err := io.ReadAll(image.Body)
	if err != nil || string(body) != imageText || image.Name != image42 || image.TxID != 42 || image.Length != int64(len(imageText)) || fmt.Sprintf("%x", image.MD5) != imageSum {
		t.Errorf("%+v, %q, %v", image, body, err)
	}
}

// TestImageHostile: every answer that no NameNode gives, or that says no, is an error of its
// kind. None waits, none panics, none follows another address.
func TestImageHostile(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	head := func(name, value string) http.HandlerFunc {
		return good(func(h http.Header) { h.Set(name, value) })
	}
	without := func(name string) http.HandlerFunc { return good(func(h http.Header) { h.Del(name) }) }
	twice := func(name, value string) http.HandlerFunc { return good(func(h http.Header) { h.Add(name, value) }) }
	lines := func(text string) http.HandlerFunc {
		return func(out http.ResponseWriter, _ *http.Request) { raw(out, strings.ReplaceAll(text, "\n", "\r\n"), nil) }
	}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		fault  execute.ImageFault
		text   string
	}{
		"no name":                  {without("X-Image-Edits-Name"), execute.ImageUnclear, "names 0 images"},
		"two names":                {twice("X-Image-Edits-Name", image42), execute.ImageUnclear, "names 2 images"},
		"a path":                   {head("X-Image-Edits-Name", "../../etc/fsimage_0000000000000000042"), execute.ImageUnclear, `"../../etc/`},
		"a slash behind":           {head("X-Image-Edits-Name", image42+"/x"), execute.ImageUnclear, "not fsimage_ and 19 digits"},
		"a line behind":            {head("X-Image-Edits-Name", image42+"\tx"), execute.ImageUnclear, "not fsimage_ and 19 digits"},
		"edits":                    {head("X-Image-Edits-Name", "edits_0000000000000000001-0000000000000000042"), execute.ImageUnclear, "not fsimage_"},
		"a rollback image":         {head("X-Image-Edits-Name", "fsimage_rollback_0000000000000000042"), execute.ImageUnclear, "not fsimage_"},
		"18 digits":                {head("X-Image-Edits-Name", "fsimage_000000000000000042"), execute.ImageUnclear, "not fsimage_"},
		"a huge number":            {head("X-Image-Edits-Name", "fsimage_9999999999999999999"), execute.ImageUnclear, "that no transaction has"},
		"a name that is long":      {head("X-Image-Edits-Name", strings.Repeat("x", 50_000)), execute.ImageUnclear, `xxx"`},
		"formatted only":           {head("X-Image-Edits-Name", "fsimage_0000000000000000000"), execute.ImageEmpty, "no checkpoint yet"},
		"no MD5":                   {without("X-MD5-Digest"), execute.ImageUnverified, "no MD5"},
		"two MD5":                  {twice("X-MD5-Digest", imageSum), execute.ImageUnclear, "the MD5 of"},
		"half an MD5":              {head("X-MD5-Digest", imageSum[:31]), execute.ImageUnclear, "the MD5 of"},
		"a short MD5":              {head("X-MD5-Digest", imageSum[:30]), execute.ImageUnclear, "the MD5 of"},
		"no hexadecimal":           {head("X-MD5-Digest", strings.Repeat("zz", 16)), execute.ImageUnclear, "the MD5 of"},
		"no length":                {lines("HTTP/1.1 200 OK\nX-Image-Edits-Name: " + image42 + "\nX-MD5-Digest: " + imageSum + "\n\nHDFS"), execute.ImageUnclear, "how long"},
		"chunks":                   {lines("HTTP/1.1 200 OK\nX-Image-Edits-Name: " + image42 + "\nX-MD5-Digest: " + imageSum + "\nTransfer-Encoding: chunked\n\n0\n\n"), execute.ImageUnclear, "how long"},
		"length 0":                 {lines("HTTP/1.1 200 OK\nX-Image-Edits-Name: " + image42 + "\nX-MD5-Digest: " + imageSum + "\nContent-Length: 0\n\n"), execute.ImageUnclear, "how long"},
		"a negative length":        {lines("HTTP/1.1 200 OK\nContent-Length: -1\n\n"), execute.ImageNoAnswer, ""},
		"a length too large":       {lines("HTTP/1.1 200 OK\nContent-Length: 99999999999999999999\n\n"), execute.ImageNoAnswer, ""},
		"two lengths":              {lines("HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2\n\n"), execute.ImageNoAnswer, ""},
		"compressed":               {head("Content-Encoding", "gzip"), execute.ImageUnclear, "Content-Encoding"},
		"a part":                   {status(http.StatusPartialContent), execute.ImageUnclear, "206"},
		"401":                      {status(http.StatusUnauthorized), execute.ImageRefused, "401"},
		"403":                      {lines("HTTP/1.1 403 Only Namenode, Secondary Namenode, and administrators may access this servlet\nContent-Length: 0\n\n"), execute.ImageRefused, "administrators may access"},
		"404":                      {status(http.StatusNotFound), execute.ImageNotServed, "404"},
		"410":                      {lines("HTTP/1.1 410 GetImage failed. java.io.IOException: Could not find image with txid 77?\tat org.apache.hadoop.X(ImageServlet.java:158)\nContent-Length: 0\n\n"), execute.ImageGone, `txid 77"`},
		"410, not authenticated":   {lines("HTTP/1.1 410 GetImage failed. java.lang.NullPointerException: Cannot invoke\nContent-Length: 0\n\n"), execute.ImageRefused, "hadoop.http.authentication.type"},
		"503":                      {status(http.StatusServiceUnavailable), execute.ImageFailed, "503"},
		"an error that never ends": {endless("HTTP/1.1 500 Error\r\n\r\n", "x"), execute.ImageFailed, "500"},
		"a redirect":               {http.RedirectHandler(elsewhere.URL+"/imagetransfer?delegation=SECRET", http.StatusFound).ServeHTTP, execute.ImageRedirected, "127.0.0.1"},
		"a redirect to nowhere":    {status(http.StatusMovedPermanently), execute.ImageRedirected, "nowhere"},
		"a head that never ends":   {endless("HTTP/1.1 200 OK\r\nX-Y: ", "z"), execute.ImageNoAnswer, ""},
		"heads that never end":     {endless("HTTP/1.1 200 OK\r\n", "X-Y: z\r\n"), execute.ImageNoAnswer, ""},
		"nothing":                  {lines(""), execute.ImageNoAnswer, "EOF"},
		"no HTTP":                  {lines("SSH-2.0-OpenSSH\n"), execute.ImageNoAnswer, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(tc.answer)
			defer web.Close()
			image, err := webOnly(t, "http", web.Listener.Addr().String(), nil).Image(t.Context(), serverAt(web.URL))
			fault, _ := errors.AsType[*execute.ImageError](err)
			if image != nil || fault == nil || fault.Fault != tc.fault || !strings.Contains(err.Error(), tc.text) || !strings.HasPrefix(err.Error(), "nn2 ("+web.URL+"): ") {
				t.Fatalf("%+v, %v", image, err)
			}
			if len(err.Error()) > 600 || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "ImageServlet") {
				t.Errorf("the error tells too much: %v", err)
			}
		})
	}
}

// TestImageTLS: certificates are those that the caller trusts, or nothing comes.
func TestImageTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(good(nil))
	web.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are meant
	t.Cleanup(web.Close)
	plain := httptest.NewServer(good(nil))
	t.Cleanup(plain.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	for name, tc := range map[string]struct {
		roots *x509.CertPool
		url   string
		fault execute.ImageFault
	}{
		"trusted":       {trusted, web.URL, 0},
		"by nobody":     {nil, web.URL, execute.ImageUntrusted},
		"another name":  {trusted, strings.Replace(web.URL, "127.0.0.1", "localhost", 1), execute.ImageUntrusted},
		"no TLS there":  {trusted, strings.Replace(plain.URL, "http:", "https:", 1), execute.ImageUnclear},
		"TLS, not HTTP": {trusted, strings.Replace(web.URL, "https:", "http:", 1), execute.ImageUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image, err := webOnly(t, "https", web.Listener.Addr().String(), tc.roots).Image(t.Context(), serverAt(tc.url))
			if tc.fault == 0 && err == nil {
				image.Body.Close()
				return
			}
			if fault, _ := errors.AsType[*execute.ImageError](err); fault == nil || fault.Fault != tc.fault {
				t.Errorf("%v", err)
			}
		})
	}
}

// jmxOf answers /jmx as a NameNode does; "" leaves an attribute out.
func jmxOf(attributes map[string]string) http.HandlerFunc {
	return func(out http.ResponseWriter, in *http.Request) {
		_, attribute, _ := strings.Cut(in.URL.Query().Get("get"), "::")
		value, ok := attributes[attribute]
		if !ok {
			_, _ = fmt.Fprintf(out, `{"beans":[{"name":"x","result":"ERROR","message":"No attribute with name %s was found."}]}`, attribute)
			return
		}
		_, _ = fmt.Fprintf(out, `{"beans":[{"name":"x","modelerType":"y",%q:%s}]}`, attribute, value)
	}
}

func standbyBeans() map[string]string {
	return map[string]string{
		"State": `"standby"`, "ClusterId": `"CID-1"`, "BlockPoolId": `"BP-1"`,
		"JournalTransactionInfo": `"{\"MostRecentCheckpointTxId\":\"42\",\"LastAppliedOrWrittenTxId\":\"50\"}"`,
		"LastCheckpointTime":     `1795960800000`,
	}
}

func TestImageServers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attribute, value string
		bad              bool
	}{
		"as it is":       {"", "", false},
		"no state":       {"State", "", true},
		"a number":       {"ClusterId", "7", true},
		"long":           {"BlockPoolId", `"` + strings.Repeat("x", 5000) + `"`, true},
		"no JSON in it":  {"JournalTransactionInfo", `"x"`, true},
		"no number":      {"JournalTransactionInfo", `"{\"MostRecentCheckpointTxId\":\"-1\"}"`, true},
		"huge":           {"JournalTransactionInfo", `"{\"MostRecentCheckpointTxId\":\"99999999999999999999\"}"`, true},
		"without number": {"JournalTransactionInfo", `"{}"`, true},
		"no JSON":        {"State", "{", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			beans := standbyBeans()
			if beans[tc.attribute] = tc.value; tc.value == "" {
				delete(beans, tc.attribute)
			}
			web := httptest.NewServer(jmxOf(beans))
			defer web.Close()
			all := webOnly(t, "http", web.Listener.Addr().String(), nil).ImageServers(t.Context())
			if len(all) != 1 || all[0].URL != web.URL || all[0].Err != nil {
				t.Fatalf("%+v", all)
			}
			s := all[0]
			if tc.bad {
				if s.JMX == nil || s.TxID != execute.NoImage {
					t.Errorf("%+v", s)
				}
				return
			}
			if s.JMX != nil || s.Role != execute.StandbyRole || s.TxID != 42 || s.ClusterID != "CID-1" || s.BlockPoolID != "BP-1" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestImageSaved: a time is only good if the checkpoint did not change while it was asked for.
func TestImageSaved(t *testing.T) {
	t.Parallel()
	journal := func(txid int) string { return fmt.Sprintf(`"{\"MostRecentCheckpointTxId\":\"%d\"}"`, txid) }
	asked := 0
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		fault  execute.ImageFault
	}{
		"saved": {jmxOf(standbyBeans()), 0},
		"a checkpoint in the middle": {func(out http.ResponseWriter, in *http.Request) {
			asked++
			jmxOf(map[string]string{"JournalTransactionInfo": journal(40 + asked), "LastCheckpointTime": "5"})(out, in)
		}, execute.ImageGone},
		"no time":     {jmxOf(map[string]string{"JournalTransactionInfo": journal(42)}), execute.ImageUnclear},
		"never":       {jmxOf(map[string]string{"JournalTransactionInfo": journal(42), "LastCheckpointTime": "0"}), execute.ImageUnclear},
		"a fraction":  {jmxOf(map[string]string{"JournalTransactionInfo": journal(42), "LastCheckpointTime": "1.5"}), execute.ImageUnclear},
		"not for you": {status(http.StatusForbidden), execute.ImageRefused},
		"too much":    {endless("HTTP/1.1 200 OK\r\n\r\n", "   "), execute.ImageUnclear},
		"two beans":   {func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, `{"beans":[{},{}]}`) }, execute.ImageUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(tc.answer)
			defer web.Close()
			txid, ms, err := webOnly(t, "http", web.Listener.Addr().String(), nil).Saved(t.Context(), serverAt(web.URL))
			if tc.fault == 0 {
				if txid != 42 || ms != 1795960800000 || err != nil {
					t.Errorf("%d, %d, %v", txid, ms, err)
				}
				return
			}
			if fault, _ := errors.AsType[*execute.ImageError](err); fault == nil || fault.Fault != tc.fault {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestCompare: one of both ways tells the role; two that differ mean ACTIVE; other ids mean
// another cluster.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		web, rpc, want execute.Role
	}{
		{execute.StandbyRole, execute.StandbyRole, execute.StandbyRole},
		{execute.UnknownRole, execute.StandbyRole, execute.StandbyRole},
		{execute.StandbyRole, execute.UnknownRole, execute.StandbyRole},
		{execute.StandbyRole, execute.ActiveRole, execute.ActiveRole},
		{execute.ActiveRole, execute.StandbyRole, execute.ActiveRole},
		{execute.UnknownRole, execute.UnknownRole, execute.UnknownRole},
	} {
		s := execute.ImageServer{Role: tc.web}
		if compare(&s, &execute.NameNodeState{Role: tc.rpc}); s.Role != tc.want || s.Err != nil {
			t.Errorf("%v and %v: %+v", tc.web, tc.rpc, s)
		}
	}
	for _, tc := range []struct {
		web, rpc execute.NameNodeState
		bad      bool
	}{
		{execute.NameNodeState{ClusterID: "A", BlockPoolID: "B"}, execute.NameNodeState{ClusterID: "A", BlockPoolID: "B"}, false},
		{execute.NameNodeState{ClusterID: "A", BlockPoolID: "B"}, execute.NameNodeState{ClusterID: "C", BlockPoolID: "B"}, true},
		{execute.NameNodeState{ClusterID: "A", BlockPoolID: "B"}, execute.NameNodeState{ClusterID: "A", BlockPoolID: "D"}, true},
		{execute.NameNodeState{}, execute.NameNodeState{ClusterID: "A", BlockPoolID: "B"}, false},
		{execute.NameNodeState{ClusterID: "A"}, execute.NameNodeState{}, false},
	} {
		s := execute.ImageServer{ClusterID: tc.web.ClusterID, BlockPoolID: tc.web.BlockPoolID}
		if compare(&s, &tc.rpc); (s.Err != nil) != tc.bad || s.ClusterID == "" {
			t.Errorf("%+v: %+v", tc, s)
		}
	}
}

// TestImageInterrupted: what waits for an answer ends with its context.
func TestImageInterrupted(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = webOnly(t, "http", l.Addr().String(), nil).Image(ctx, serverAt("http://"+l.Addr().String()))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

package main

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fsweep/cmd/internal/sidecar"
)

// fakeNameNode has a web server as that of a NameNode, and no RPC.
type fakeNameNode struct {
	*httptest.Server
	state    string // "": /jmx is forbidden
	txid     atomic.Int64
	savedMs  atomic.Int64
	content  []byte
	transfer atomic.Pointer[http.HandlerFunc] // in place of the image
	sent     atomic.Int64                     // requests for the image
}

// answer makes requests for the image be answered otherwise.
func (n *fakeNameNode) answer(h http.HandlerFunc) { n.transfer.Store(&h) }

func (n *fakeNameNode) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	switch {
	case in.URL.Path == "/imagetransfer":
		n.sent.Add(1)
		if h := n.transfer.Load(); h != nil {
			(*h)(out, in)
			return
		}
		n.image(out, in)
	case in.URL.Path != "/jmx" || n.state == "":
		http.Error(out, "not for you", http.StatusForbidden)
	default:
		_, attribute, _ := strings.Cut(in.URL.Query().Get("get"), "::")
		value := map[string]any{
			"State": n.state, "ClusterId": "CID-1", "BlockPoolId": "BP-1", "LastCheckpointTime": n.savedMs.Load(),
			"JournalTransactionInfo": fmt.Sprintf(`{"MostRecentCheckpointTxId":"%d"}`, n.txid.Load()),
		}[attribute]
		_ = json.NewEncoder(out).Encode(map[string]any{"beans": []any{map[string]any{attribute: value}}})
	}
}

func (n *fakeNameNode) image(out http.ResponseWriter, _ *http.Request) {
	out.Header().Set("X-Image-Edits-Name", nameOf(n.txid.Load()))
	out.Header().Set("X-MD5-Digest", fmt.Sprintf("%x", md5.Sum(n.content)))
	out.Header().Set("Content-Length", fmt.Sprint(len(n.content)))
	_, _ = out.Write(n.content)
}

// fetchSite is a configuration with fake NameNodes, and a directory for images.
type fetchSite struct {
	t         *testing.T
	conf, dir string
	nodes     []*fakeNameNode
}

// newFetchSite has a NameNode of each state; several are the nameservice ns1.
func newFetchSite(t *testing.T, states ...string) *fetchSite {
	t.Helper()
	s := &fetchSite{t: t, conf: t.TempDir(), dir: t.TempDir()}
	keys := map[string]string{"dfs.nameservices": "ns1", "fs.defaultFS": "hdfs://ns1"}
	var ids []string
	for i, state := range states {
		n := &fakeNameNode{state: state, content: bytes.Repeat([]byte("HDFSIMG1"), 1<<17)}
		n.savedMs.Store(time.Now().Add(-time.Hour).UnixMilli())
		n.txid.Store(42)
		n.Server = httptest.NewServer(n)
		t.Cleanup(n.Close)
		s.nodes = append(s.nodes, n)
		suffix := ".ns1"
		if len(states) > 1 {
			ids = append(ids, fmt.Sprintf("nn%d", i+1))
			suffix += "." + ids[i]
		}
		keys["dfs.namenode.rpc-address"+suffix] = fmt.Sprintf("127.0.0.1:%d", i+1) // nobody is there
		keys["dfs.namenode.http-address"+suffix] = n.Listener.Addr().String()
	}
	if len(ids) > 0 {
		keys["dfs.ha.namenodes.ns1"] = strings.Join(ids, ",")
	}
	var b strings.Builder
	b.WriteString("<configuration>")
	for k, v := range keys {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>", k, v)
	}
	b.WriteString("</configuration>")
	if err := os.WriteFile(filepath.Join(s.conf, "hdfs-site.xml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// program gives the path of fsweep-exec, which is this test by another name ([TestMain]).
func (s *fetchSite) program() string {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	name := filepath.Join(s.conf, program)
	if err := os.Symlink(self, name); err != nil && !errors.Is(err, os.ErrExist) {
		s.t.Fatal(err)
	}
	return name
}

func (s *fetchSite) command(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.program(), append([]string{"fetch", "--conf", s.conf, "--timeout", "1s", s.dir}, args...)...)
	cmd.Env = append(os.Environ(), "HADOOP_USER_NAME=alice")
	return cmd
}

// exits runs it and requires an exit code.
func (s *fetchSite) exits(want int, cmd *exec.Cmd) (stdout, stderr string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		s.t.Fatalf("%q: exit code %d, want %d\n%s%s", cmd.Args, got, want, &out, &errs)
	}
	return out.String(), errs.String()
}

// files lists the directory without the lock.
func (s *fetchSite) files() []string {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".fsweep-fetch.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

const image42 = "fsimage_0000000000000000042"

// TestFetch is a whole fetch from the standby of a pair.
func TestFetch(t *testing.T) {
	t.Parallel()
	s := newFetchSite(t, "active", "standby")
	s.nodes[0].savedMs.Add(60_000) // the upload came a minute later
	stdout, stderr := s.exits(0, s.command())
	if stdout != filepath.Join(s.dir, image42)+"\n" || !strings.Contains(stderr, image42+" (1048576 bytes) from nn2, standby, "+s.nodes[1].URL) {
		t.Errorf("%q, %q", stdout, stderr)
	}
	if s.nodes[0].sent.Load() != 0 || s.nodes[1].sent.Load() != 1 {
		t.Error("the wrong NameNode was asked")
	}
	data, err := os.ReadFile(filepath.Join(s.dir, image42+sidecar.FetchedSuffix))
	if err != nil {
		t.Fatal(err)
	}
	f, err := sidecar.ParseFetched(data)
	if err != nil {
		t.Fatal(err)
	}
	want := sidecar.Fetched{
		Format: 1, ImageTimeMs: s.nodes[1].savedMs.Load(), TxID: 42, MD5: fmt.Sprintf("%x", md5.Sum(s.nodes[1].content)), ClusterID: "CID-1", Nameservice: "ns1",
		Source: "last checkpoint of NameNode nn2 (standby, " + s.nodes[1].URL + "), where the image is from",
	}
	if *f != want {
		t.Errorf("%+v\nwant %+v", *f, want)
	}
	got, err := os.ReadFile(filepath.Join(s.dir, image42))
	if err != nil || !bytes.Equal(got, s.nodes[1].content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	// Once more: it is there, and no byte is fetched.
	if _, stderr := s.exits(0, s.command()); strings.Contains(stderr, "from nn2") {
		t.Error(stderr)
	}
}

// TestFetchFails: each fault has its message and its exit code, and leaves no file.
func TestFetchFails(t *testing.T) {
	t.Parallel()
	content := newFetchSite(t, "standby").nodes[0].content
	answer := func(code int, text string) http.HandlerFunc {
		return func(out http.ResponseWriter, _ *http.Request) { http.Error(out, text, code) }
	}
	for name, tc := range map[string]struct {
		states   []string
		transfer func(n *fakeNameNode) http.HandlerFunc
		prepare  func(dir string) error
		args     []string
		code     int
		want     []string
	}{
		"only ACTIVE": {states: []string{"active"}, code: 3, want: []string{"there is only one NameNode", "is ACTIVE", "hint: --from-active"}},
		"two ACTIVE":  {states: []string{"active", "active"}, code: 3, want: []string{"no NameNode is a standby"}},
		"no JMX":      {states: []string{"", ""}, code: 5, want: []string{"nn1 is not known to be a standby", "hint: --from-active"}},
		"403": {
			transfer: func(*fakeNameNode) http.HandlerFunc { return answer(http.StatusForbidden, "") }, code: 5,
			want: []string{"is refused to this user: HTTP status", "hint: images are for NameNodes and administrators", "hint: --from-active"},
		},
		"404": {transfer: func(*fakeNameNode) http.HandlerFunc { return answer(http.StatusNotFound, "") }, code: 5, want: []string{"there is no /imagetransfer", "and not of a proxy"}},
		"410": {transfer: func(*fakeNameNode) http.HandlerFunc { return answer(http.StatusGone, "") }, code: 5, want: []string{"the image is gone"}},
		"500": {transfer: func(*fakeNameNode) http.HandlerFunc { return answer(http.StatusInternalServerError, "") }, code: 5, want: []string{`HTTP status "500 `}},
		"a redirect": {
			transfer: func(*fakeNameNode) http.HandlerFunc {
				return http.RedirectHandler("http://192.0.2.1/x", http.StatusFound).ServeHTTP
			}, code: 5, want: []string{`it redirects to "http://192.0.2.1"`, "hint: dfs.http.policy"},
		},
		"cut": {
			transfer: func(n *fakeNameNode) http.HandlerFunc {
				return func(out http.ResponseWriter, in *http.Request) {
					out.Header().Set("Content-Length", fmt.Sprint(len(content)))
					out.Header().Set("X-Image-Edits-Name", image42)
					out.Header().Set("X-MD5-Digest", strings.Repeat("0", 32))
					_, _ = out.Write(content[:700_000])
				}
			}, code: 5, want: []string{"was cut after 700000 of 1048576 bytes"},
		},
		"another MD5": {
			transfer: func(n *fakeNameNode) http.HandlerFunc {
				return func(out http.ResponseWriter, in *http.Request) {
					out.Header().Set("Content-Length", fmt.Sprint(len(content)))
					out.Header().Set("X-Image-Edits-Name", image42)
					out.Header().Set("X-MD5-Digest", strings.Repeat("0", 32))
					_, _ = out.Write(content)
				}
			}, code: 5, want: []string{"came with the MD5", "and the NameNode says 00000000000000000000000000000000"},
		},
		"larger than the disk": {
			transfer: func(n *fakeNameNode) http.HandlerFunc {
				return func(out http.ResponseWriter, in *http.Request) {
					out.Header().Set("Content-Length", "9000000000000000000")
					out.Header().Set("X-Image-Edits-Name", image42)
					out.Header().Set("X-MD5-Digest", strings.Repeat("0", 32))
					_, _ = out.Write(content)
				}
			}, code: 5, want: []string{"no space left on device", "9000000000000000000 bytes"},
		},
		"something is there": {
			prepare: func(dir string) error { return os.WriteFile(filepath.Join(dir, image42), []byte("mine"), 0o600) },
			code:    3, want: []string{"not overwritten", "has 4 bytes, not 1048576", "hint: fetch into another directory"},
		},
		"no directory":    {prepare: os.Remove, code: 5, want: []string{"writing ", "no such file or directory"}},
		"a bad rate":      {args: []string{"--rate", "fast"}, code: 2, want: []string{`"fast" is no number of bytes`}},
		"a negative rate": {args: []string{"--rate", "-1"}, code: 2, want: []string{`"-1" is no number of bytes`}},
		"a negative keep": {args: []string{"--keep", "-1"}, code: 2, want: []string{"--keep -1: must be 0 or more"}},
		"no tries":        {args: []string{"--tries", "0"}, code: 2, want: []string{"--tries 0: must be 1 to 100"}},
		"no certificates": {args: []string{"--ca", "/dev/null"}, code: 2, want: []string{"--ca: no certificate in /dev/null", "hint: --ca takes PEM", "JKS"}},
		"an empty --ca":   {args: []string{"--ca", ""}, code: 2, want: []string{"--ca is empty"}},
		"two directories": {args: []string{"/x"}, code: 2, want: []string{"fetch needs one directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.states == nil {
				tc.states = []string{"active", "standby"}
			}
			s := newFetchSite(t, tc.states...)
			for _, n := range s.nodes {
				if tc.transfer != nil {
					n.answer(tc.transfer(n))
				}
			}
			if tc.prepare != nil {
				if err := tc.prepare(s.dir); err != nil {
					t.Fatal(err)
				}
			}
			_, stderr := s.exits(tc.code, s.command(append([]string{"--tries", "1"}, tc.args...)...))
			for _, want := range tc.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in\n%s", want, stderr)
				}
			}
			if tc.prepare == nil {
				if got := s.files(); len(got) != 0 {
					t.Errorf("left %q", got)
				}
			}
		})
	}
}

// TestFetchWithoutTime: an image whose time nobody tells is there, without a sidecar file.
func TestFetchWithoutTime(t *testing.T) {
	t.Parallel()
	s := newFetchSite(t, "")
	for range 2 {
		_, stderr := s.exits(4, s.command("--from-active", "--keep", "1"))
		for _, want := range []string{"is complete and verified, but", "tells when it was saved", "hint: fsweep plan takes a guess", "--keep: no NameNode tells its cluster id"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("no %q in\n%s", want, stderr)
			}
		}
		if got := s.files(); !slices.Equal(got, []string{image42, image42 + ".md5"}) {
			t.Errorf("%q", got)
		}
	}
}

// slowly sends the image in pieces until the other side goes away.
func slowly(n *fakeNameNode, begun chan<- struct{}) http.HandlerFunc {
	return func(out http.ResponseWriter, in *http.Request) {
		out.Header().Set("X-Image-Edits-Name", image42)
		out.Header().Set("X-MD5-Digest", fmt.Sprintf("%x", md5.Sum(n.content)))
		out.Header().Set("Content-Length", fmt.Sprint(len(n.content)))
		for i := 0; i < len(n.content); i += 1024 {
			if _, err := out.Write(n.content[i : i+1024]); err != nil {
				return
			}
			out.(http.Flusher).Flush()
			if i == 8192 {
				close(begun)
			}
			select {
			case <-in.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}

// TestFetchSignals: a signal leaves nothing, and SIGKILL nothing that the next fetch does not
// clean up. Meanwhile no other one gets into the directory.
func TestFetchSignals(t *testing.T) {
	t.Parallel()
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 130, syscall.SIGINT: 130, syscall.SIGKILL: -1} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newFetchSite(t, "active", "standby")
			begun := make(chan struct{})
			s.nodes[1].answer(slowly(s.nodes[1], begun))
			cmd := s.command()
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-begun
			if got := s.files(); len(got) != 1 || !strings.HasPrefix(got[0], "."+image42+".fetch-") {
				t.Errorf("meanwhile there is %q", got)
			}
			if _, stderr := s.exits(3, s.command()); !strings.Contains(stderr, "another fetch is writing to this directory") {
				t.Error(stderr)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the status is looked at
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Errorf("exit code %d: %s", got, &errs)
			}
			if got := s.files(); sig != syscall.SIGKILL && len(got) != 0 || sig == syscall.SIGKILL && len(got) != 1 {
				t.Errorf("left %q", got)
			}
			s.nodes[1].transfer.Store(nil)
			s.exits(0, s.command())
			if got := s.files(); !slices.Equal(got, []string{image42, image42 + ".fetched.json", image42 + ".md5"}) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestFetchFullDisk: a file that cannot grow, as on a full disk.
func TestFetchFullDisk(t *testing.T) {
	t.Parallel()
	s := newFetchSite(t, "active", "standby")
	cmd := s.command()
	limited := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 100; exec "$@"`, "sh") // blocks of 512 bytes, or 1024
	limited.Args, limited.Env = append(limited.Args, cmd.Args...), cmd.Env
	if _, stderr := s.exits(5, limited); !strings.Contains(stderr, "file too large") {
		t.Error(stderr)
	}
	if got := s.files(); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

// TestFetchRetries: what passes is asked for again, and an image replaced in the middle
// gives way to the newer one.
func TestFetchRetries(t *testing.T) {
	t.Parallel()
	s := newFetchSite(t, "active", "standby")
	n := s.nodes[1]
	n.answer(func(out http.ResponseWriter, in *http.Request) {
		if n.sent.Load() == 1 {
			n.txid.Store(43)
			http.Error(out, "gone", http.StatusGone)
			return
		}
		n.image(out, in)
	})
	_, stderr := s.exits(0, s.command())
	if !strings.Contains(stderr, "the image is gone") || !strings.Contains(stderr, "trying again in 5s") || s.files()[0] != nameOf(43) {
		t.Errorf("%q\n%s", s.files(), stderr)
	}
}

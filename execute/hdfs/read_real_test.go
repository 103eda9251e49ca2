package hdfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/hdfs"
	"fsweep/execute/hdfstest/rig"
)

// realFiles is a cluster whose files are read.
type realFiles struct {
	*rig.Cluster
	client *hdfs.Client
}

func startFiles(t *testing.T, opts rig.Options) *realFiles {
	t.Helper()
	// A mebibyte a block, so that a few are enough for a file of several; and DataNodes that do
	// not wait long before they ask for a lost block again.
	conf := map[string]string{"dfs.blocksize": "1048576", "dfs.client.retry.window.base": "100"}
	maps.Copy(conf, opts.Config)
	opts.Config = conf
	c := rig.Start(t, opts)
	return &realFiles{c, c.Client(t, hdfs.Options{User: "alice"})}
}

// id asks for what a plan would say of a file.
func (c *realFiles) id(t *testing.T, path string) execute.FileID {
	t.Helper()
	s, err := c.client.Stat(t.Context(), execute.At(path))
	if err != nil {
		t.Fatal(err)
	}
	return execute.FileID{Path: path, ID: s.ID, Length: s.Length, MTimeMs: s.MTimeMs}
}

// atime is the access time as the superuser sees it.
func (c *realFiles) atime(t *testing.T, path string) int64 {
	t.Helper()
	s, err := c.client.Stat(t.Context(), execute.At(path))
	if err != nil {
		t.Fatal(err)
	}
	return s.ATimeMs
}

// read reads with one way, or with all if it has no name.
func (c *realFiles) read(t *testing.T, way string, file execute.FileID) (got []byte, calls int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	r, err := c.client.Reader()
	if way != "" {
		r, err = c.client.ReaderBy(way)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = r.Read(ctx, file, func(from io.Reader) error {
		calls++
		var err error
		got, err = io.ReadAll(from)
		return err
	})
	return got, calls, err
}

// someBytes are the same for each length.
func someBytes(n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	b := make([]byte, n)
	_, _ = r.Read(b) // never fails
	return b
}

// expectation is one row of the table in docs/format/hdfs-read.md.
type expectation struct {
	path        string
	content     []byte
	native, web bool   // who can read it
	refusal     string // of the native way
}

// check holds one file against what is expected: of each way, and of both together.
func (c *realFiles) check(t *testing.T, e expectation) {
	t.Helper()
	const old = 1_000_000_000_000 // an access time that a read would move
	for _, way := range []string{"native", "WebHDFS", ""} {
		s, err := c.client.Stat(t.Context(), execute.At(e.path))
		if err != nil {
			t.Fatal(err)
		}
		c.Admin().SetTimes(t, e.path, s.MTimeMs, old)
		file := c.id(t, e.path)
		can := way == "native" && e.native || way == "WebHDFS" && e.web || way == "" && (e.native || e.web)
		got, calls, err := c.read(t, way, file)
		if !can {
			if !errors.Is(err, execute.ErrUnreadable) || calls != 0 {
				t.Errorf("%s by %q: %d calls, %v", e.path, way, calls, err)
			}
			if way == "native" && !strings.Contains(err.Error(), e.refusal) {
				t.Errorf("%s: %v", e.path, err)
			}
			continue
		}
		if err != nil || calls != 1 || !bytes.Equal(got, e.content) {
			t.Errorf("%s by %q: %d bytes of %d, %d calls, %v", e.path, way, len(got), len(e.content), calls, err)
		}
		byWeb := len(e.content) > 0 && (way == "WebHDFS" || way == "" && !e.native)
		if moved := c.atime(t, e.path) != old; moved != byWeb {
			t.Errorf("%s by %q: access time moved: %t", e.path, way, moved)
		}
	}
}

// TestNameNodeReads: which way can read which file, with real DataNodes.
func TestNameNodeReads(t *testing.T) {
	c := startFiles(t, rig.Options{DataNodes: 5})
	a := c.Admin()
	for i, n := range []int{0, 1, 511, 512, 513, 1 << 20, 1<<20 + 1, 3<<20 + 77} {
		path := fmt.Sprintf("/plain/%d", i)
		a.Put(t, path, "root", someBytes(n))
		c.check(t, expectation{path: path, content: someBytes(n), native: true, web: true})
	}
	// RS-3-2-1024k: a cell is a mebibyte.
	for i, n := range []int{0, 1, 1 << 20, 1<<20 + 1, 3 << 20, 7_000_001} {
		path := fmt.Sprintf("/rs/%d", i)
		a.PutErasureCoded(t, path, someBytes(n))
		c.check(t, expectation{path: path, content: someBytes(n), native: n <= 1<<20, web: true, refusal: "larger than a cell"})
	}
	a.Mkdir(t, "/zone", "root", 0o755)
	a.EncryptionZone(t, "/zone")
	for i, n := range []int{0, 5000, 2<<20 + 3} {
		path := fmt.Sprintf("/zone/%d", i)
		a.Put(t, path, "root", someBytes(n))
		c.check(t, expectation{path: path, content: someBytes(n), native: n == 0, web: true, refusal: "ciphertext"})
	}
	name := "/plain/a b*?%2f#&+;\n\tä"
	a.Put(t, name, "root", []byte("content"))
	c.check(t, expectation{path: name, content: []byte("content"), native: true, web: true})
	c.onlyLooked(t)
	t.Run("permission", func(t *testing.T) { c.permissions(t) })
	t.Run("changes", func(t *testing.T) { c.changes(t) })
	t.Run("damage", func(t *testing.T) { c.damage(t) })
	t.Run("frozen", func(t *testing.T) { c.frozen(t) })
}

// onlyLooked: reading sent nothing but these to the NameNode, the library's own calls
// included, if there were any; and the NameNode took none for a change.
func (c *realFiles) onlyLooked(t *testing.T) {
	t.Helper()
	allowed := []string{
		"msync", "getFileLinkInfo", "isFileClosed", "checkAccess", "getListing", "getServerDefaults", "getDataEncryptionKey",
	}
	seen := c.Proxy(0).Requests()
	for _, r := range seen {
		if !slices.Contains(allowed, r.Method) {
			t.Errorf("%s was sent", r.Method)
		}
	}
	if changes := c.Mutations(t, "alice"); len(seen) == 0 || len(changes) > 0 {
		t.Errorf("%d requests; changes %v", len(seen), changes)
	}
}

// TestNameNodeReadsXOR is another layout of cells, and an older Hadoop.
func TestNameNodeReadsXOR(t *testing.T) {
	c := startFiles(t, rig.Options{Version: "3.2.2", DataNodes: 3})
	for i, n := range []int{0, 1000, 1 << 20, 1<<20 + 1, 3<<20 + 9} {
		path := fmt.Sprintf("/xor/%d", i)
		c.Admin().PutErasureCoded(t, path, someBytes(n))
		c.check(t, expectation{path: path, content: someBytes(n), native: n <= 1<<20, web: true, refusal: "larger than a cell"})
	}
	content := someBytes(2<<20 + 11)
	c.Admin().Put(t, "/plain/f", "root", content)
	c.check(t, expectation{path: "/plain/f", content: content, native: true, web: true})
	c.Admin().Mkdir(t, "/zone", "root", 0o755)
	c.Admin().EncryptionZone(t, "/zone")
	c.Admin().Put(t, "/zone/f", "root", content)
	c.check(t, expectation{path: "/zone/f", content: content, web: true, refusal: "ciphertext"})
	c.onlyLooked(t)
}

// TestNameNodeReadsHadoop2: what is encrypted needs an older Java there, to write it already.
func TestNameNodeReadsHadoop2(t *testing.T) {
	c := startFiles(t, rig.Options{Version: "2.10.2", DataNodes: 1})
	for i, n := range []int{0, 1, 2<<20 + 11} {
		path := fmt.Sprintf("/plain/%d", i)
		c.Admin().Put(t, path, "root", someBytes(n))
		c.check(t, expectation{path: path, content: someBytes(n), native: true, web: true})
	}
	c.onlyLooked(t)
}

// TestNameNodeReadsProtected: block tokens, which a listing does not carry, and encrypted
// transfer, which must not be undone by plain http.
func TestNameNodeReadsProtected(t *testing.T) {
	content := someBytes(1<<20 + 11)
	t.Run("block tokens", func(t *testing.T) {
		c := startFiles(t, rig.Options{DataNodes: 1, Config: map[string]string{"dfs.block.access.token.enable": "true"}})
		c.Admin().Put(t, "/f", "root", content)
		c.check(t, expectation{path: "/f", content: content, web: true, refusal: "ERROR_ACCESS_TOKEN"})
	})
	t.Run("encrypted transfer", func(t *testing.T) {
		c := startFiles(t, rig.Options{DataNodes: 1, Config: map[string]string{
			"dfs.block.access.token.enable": "true", "dfs.encrypt.data.transfer": "true",
		}})
		c.Admin().Put(t, "/f", "root", content)
		c.check(t, expectation{path: "/f", content: content, refusal: "protected (privacy)"})
		if _, _, err := c.read(t, "", c.id(t, "/f")); err == nil || !strings.Contains(err.Error(), "http only") {
			t.Error(err)
		}
	})
}

// frozen: the process of NameNode and DataNodes stops in the middle.
func (c *realFiles) frozen(t *testing.T) {
	content := someBytes(12 << 20) // more than what is read ahead and what sockets hold
	c.Admin().Put(t, "/frozen", "root", content)
	for _, way := range []string{"native", "WebHDFS"} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r, err := c.client.ReaderBy(way)
		if err != nil {
			t.Fatal(err)
		}
		var read int64
		err = r.Read(ctx, c.id(t, "/frozen"), func(from io.Reader) error {
			c.Freeze(t, 0)
			var err error
			read, err = io.Copy(io.Discard, from)
			return err
		})
		late := time.Since(deadline(ctx))
		c.Thaw(t, 0)
		if !errors.Is(err, context.DeadlineExceeded) || late > time.Second || read == int64(len(content)) {
			t.Errorf("%s: %d bytes, %v behind the deadline: %v", way, read, late, err)
		}
	}
}

func deadline(ctx context.Context) time.Time {
	d, _ := ctx.Deadline()
	return d
}

// permissions: a file of someone else is as closed as by Hadoop's own client.
func (c *realFiles) permissions(t *testing.T) {
	c.Admin().Put(t, "/plain/private", "root", []byte("private"))
	c.Admin().Chmod(t, "/plain/private", 0o600)
	file := c.id(t, "/plain/private")
	for _, way := range []string{"native", "WebHDFS", ""} {
		if got, calls, err := c.read(t, way, file); !errors.Is(err, execute.ErrPermission) || calls != 0 {
			t.Errorf("by %q: %q, %v", way, got, err)
		}
	}
	c.Admin().Chmod(t, "/plain/private", 0o604)
	for _, way := range []string{"native", "WebHDFS"} {
		if got, _, err := c.read(t, way, file); err != nil || string(got) != "private" {
			t.Errorf("by %q: %q, %v", way, got, err)
		}
	}
}

// changes: what happens to a file while it is read.
func (c *realFiles) changes(t *testing.T) {
	a := c.Admin()
	content := someBytes(3<<20 + 5)
	for name, tc := range map[string]struct {
		do   func(path string)
		want error
	}{
		"nothing":  {func(string) {}, nil},
		"renamed":  {func(path string) { a.Rename(t, path, path+"-elsewhere") }, nil},
		"appended": {func(path string) { a.Append(t, path, []byte("x")) }, execute.ErrChanged},
		"touched":  {func(path string) { a.SetTimes(t, path, 5, 5) }, execute.ErrChanged},
		"deleted":  {func(path string) { a.Delete(t, path) }, execute.ErrNotFound},
		"replaced": {func(path string) { a.Delete(t, path); a.Put(t, path, "root", content) }, execute.ErrNotFound},
	} {
		for _, way := range []string{"native", "WebHDFS"} {
			path := "/changes/" + way + "/" + name
			a.Put(t, path, "root", content)
			file := c.id(t, path)
			r, err := c.client.ReaderBy(way)
			if err != nil {
				t.Fatal(err)
			}
			err = r.Read(t.Context(), file, func(from io.Reader) error {
				tc.do(path)
				got, err := io.ReadAll(from)
				if err == nil && !bytes.Equal(got, content) {
					t.Errorf("%s by %s: other bytes", name, way)
				}
				return err
			})
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%s by %s: %v", name, way, err)
			}
		}
	}
	a.Open(t, "/changes/open")
	if _, calls, err := c.read(t, "", c.id(t, "/changes/open")); !errors.Is(err, execute.ErrChanged) || calls != 0 {
		t.Errorf("an open file: %d calls, %v", calls, err)
	}
}

// replicate has a file of one block on three DataNodes and gives the files there. No other
// file has a block of that size.
func (c *realFiles) replicate(t *testing.T, path string, size int) []string {
	t.Helper()
	_, _, address := c.NameNode(0)
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+address+"/webhdfs/v1"+path+"?op=SETREPLICATION&replication=3&user.name=root", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(put)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		var replicas []string
		for _, file := range c.BlockFiles(t) {
			// Those under way lie in a directory of their own.
			if s, err := os.Stat(file); err == nil && s.Size() == int64(size) && strings.Contains(file, "/finalized/") {
				replicas = append(replicas, file)
			}
		}
		if len(replicas) == 3 {
			return replicas
		}
		if time.Now().After(deadline) {
			t.Fatalf("replicas: %v", replicas)
		}
	}
}

// damage: to the files of DataNodes, behind their backs.
func (c *realFiles) damage(t *testing.T) {
	flip := func(file string) error {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 1
		return os.WriteFile(file, b, 0o600)
	}
	content := someBytes(700_001)
	c.Admin().Put(t, "/damage/f", "root", content)
	replicas := c.replicate(t, "/damage/f", len(content))
	file := c.id(t, "/damage/f")
	good := func(what string) {
		t.Helper()
		for range 5 { // the order of DataNodes is drawn
			if got, _, err := c.read(t, "native", file); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes, equal: %t, %v", what, len(got), bytes.Equal(got, content), err)
			}
		}
	}
	bad := func(what string) {
		t.Helper()
		for _, way := range []string{"native", "WebHDFS", ""} {
			if got, calls, err := c.read(t, way, file); !errors.Is(err, execute.ErrUnreadable) || calls != 0 {
				t.Errorf("%s by %q: %d bytes, %d calls, %v", what, way, len(got), calls, err)
			}
		}
	}
	for i, replica := range replicas {
		if err := flip(replica); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			good(fmt.Sprintf("%d of 3 replicas corrupt", i+1))
		}
	}
	bad("all replicas corrupt")
	for _, replica := range replicas {
		meta, err := filepath.Glob(replica + "_*.meta")
		if err != nil || len(meta) != 1 {
			t.Fatal(meta, err)
		}
		if err := errors.Join(os.Remove(replica), os.Remove(meta[0])); err != nil {
			t.Fatal(err)
		}
	}
	bad("all block files missing")
}

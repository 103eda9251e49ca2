package guardfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fsweep/execute"
)

// cluster is one file of an HDFS, which its own reader cannot read unless it has bytes.
type cluster struct {
	status  execute.Status
	open    bool
	bytes   string
	err     error // of its reader
	looks   int
	changes int // at which look the file becomes another; 0: never
}

func (c *cluster) Stat(context.Context, execute.Ref) (*execute.Status, error) {
	c.looks++
	s := c.status
	if c.looks == c.changes {
		s.MTimeMs++
	}
	return &s, nil
}

func (c *cluster) Closed(context.Context, execute.Ref) (bool, error) { return !c.open, nil }

func (c *cluster) Read(_ context.Context, _ execute.FileID, use func(io.Reader) error) error {
	if c.err != nil {
		return c.err
	}
	return use(strings.NewReader(c.bytes))
}

const text = "_metadata by hand"

var file = execute.FileID{Path: "/flink/a/_metadata", ID: 16400, Length: int64(len(text)), MTimeMs: 1_700_000_000_123}

func newCluster() *cluster {
	return &cluster{status: execute.Status{ID: 16400, Kind: execute.File, Length: file.Length, MTimeMs: file.MTimeMs}, err: fmt.Errorf("by nobody: %w", execute.ErrUnreadable)}
}

// directory has a manifest with one entry, and its file.
func directory(t *testing.T, change func(manifest string) string) string {
	t.Helper()
	dir := t.TempDir()
	manifest := fmt.Sprintf(`{"format":1,"guards":[{"path":"/flink/a/_metadata","inode_id":16400,"length":%d,"mtime_ms":%d,"file":"f"}]}`, file.Length, file.MTimeMs)
	if change != nil {
		manifest = change(manifest)
	}
	for name, content := range map[string]string{"guards.json": manifest, "f": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir string, c *cluster, of execute.FileID, use func(io.Reader) error) error {
	t.Helper()
	r, err := Open(dir, c, c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Read(t.Context(), of, use)
}

func readAll(t *testing.T, dir string, c *cluster, of execute.FileID) (got string, calls int, err error) {
	t.Helper()
	err = read(t, dir, c, of, func(from io.Reader) error {
		calls++
		b, err := io.ReadAll(from)
		got = string(b)
		return err
	})
	return got, calls, err
}

func TestReads(t *testing.T) {
	t.Parallel()
	c := newCluster()
	if got, calls, err := readAll(t, directory(t, nil), c, file); got != text || calls != 1 || err != nil || c.looks != 2 {
		t.Errorf("%q, %d calls, %v, %d looks", got, calls, err, c.looks)
	}
	// What the cluster's own reader can read, it reads.
	c = newCluster()
	c.err, c.bytes = nil, "from the cluster"
	if got, calls, err := readAll(t, directory(t, nil), c, file); got != "from the cluster" || calls != 1 || err != nil || c.looks != 0 {
		t.Errorf("%q, %d calls, %v", got, calls, err)
	}
}

// TestRefuses: whatever does not go together is not read, and says why.
func TestRefuses(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	replace := func(old, now string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, now, 1) }
	}
	for name, tc := range map[string]struct {
		manifest func(string) string
		cluster  func(*cluster)
		dir      func(dir string) error
		is       error
		text     string
		calls    int
	}{
		"another inode":     {manifest: replace("16400", "16401"), is: execute.ErrUnreadable, text: "the manifest does not have inode 16400"},
		"another length":    {manifest: replace(`"length":17`, `"length":18`), is: execute.ErrUnreadable, text: "fetch it again"},
		"another time":      {manifest: replace("123,", "124,"), is: execute.ErrUnreadable, text: "fetch it again"},
		"no such file":      {manifest: replace(`"f"`, `"g"`), is: execute.ErrUnreadable, text: "no such file"},
		"a shorter file":    {dir: func(dir string) error { return os.Truncate(dir+"/f", 3) }, is: execute.ErrUnreadable, text: "f has 3 bytes"},
		"a longer file":     {dir: func(dir string) error { return os.Truncate(dir+"/f", 30) }, is: execute.ErrUnreadable, text: "f has 30 bytes"},
		"a directory":       {manifest: replace(`"f"`, `"d"`), dir: func(dir string) error { return os.Mkdir(dir+"/d", 0o700) }, is: execute.ErrUnreadable, text: "not a regular file"},
		"a pipe":            {manifest: replace(`"f"`, `"p"`), dir: func(dir string) error { return syscall.Mkfifo(dir+"/p", 0o600) }, is: execute.ErrUnreadable, text: "not a regular file"},
		"a link out of it":  {manifest: replace(`"f"`, `"l"`), dir: func(dir string) error { return os.Symlink("/etc/passwd", dir+"/l") }, is: execute.ErrUnreadable, text: "escapes"},
		"changed since":     {cluster: func(c *cluster) { c.status.MTimeMs++ }, is: execute.ErrChanged},
		"longer since":      {cluster: func(c *cluster) { c.status.Length++ }, is: execute.ErrChanged},
		"no file any more":  {cluster: func(c *cluster) { c.status.Kind = execute.Directory }, is: execute.ErrChanged},
		"open":              {cluster: func(c *cluster) { c.open = true }, is: execute.ErrChanged},
		"changed meanwhile": {cluster: func(c *cluster) { c.changes = 2 }, is: execute.ErrChanged, calls: 1},
		"another error":     {cluster: func(c *cluster) { c.err = lost }, is: lost},
		"gone":              {cluster: func(c *cluster) { c.err = execute.ErrNotFound }, is: execute.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, dir := newCluster(), directory(t, tc.manifest)
			if tc.cluster != nil {
				tc.cluster(c)
			}
			if tc.dir != nil {
				if err := tc.dir(dir); err != nil {
					t.Fatal(err)
				}
			}
			_, calls, err := readAll(t, dir, c, file)
			if !errors.Is(err, tc.is) || calls != tc.calls || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%d calls, %v", calls, err)
			}
			if errors.Is(tc.is, execute.ErrUnreadable) && !strings.Contains(err.Error(), "by nobody") {
				t.Errorf("the reason of the other reader is missing: %v", err)
			}
		})
	}
}

// TestCut: a file that becomes shorter is an error, and never the end.
func TestCut(t *testing.T) {
	t.Parallel()
	dir := directory(t, nil)
	err := read(t, dir, newCluster(), file, func(from io.Reader) error {
		if err := os.Truncate(filepath.Join(dir, "f"), 3); err != nil {
			return err
		}
		got, err := io.ReadAll(from)
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q, %v", got, err)
		}
		return nil // whoever reads does not care
	})
	if err == nil || !strings.Contains(err.Error(), "was written to") {
		t.Error(err)
	}
}

// TestUseFails: the error of who reads is the error, and no reader is tried after that.
func TestUseFails(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	for _, own := range []error{nil, execute.ErrUnreadable} {
		c := newCluster()
		c.err, c.bytes = own, "x"
		calls := 0
		err := read(t, directory(t, nil), c, file, func(io.Reader) error { calls++; return bad })
		if !errors.Is(err, bad) || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
	}
}

// TestOpen: a directory without a manifest, or with a wrong one.
func TestOpen(t *testing.T) {
	t.Parallel()
	c := newCluster()
	for name, dir := range map[string]string{
		"missing": filepath.Join(t.TempDir(), "x"), "empty": t.TempDir(), "a file": filepath.Join(directory(t, nil), "f"),
		"wrong": directory(t, func(string) string { return "{}" }),
	} {
		if r, err := Open(dir, c, c); err == nil || r != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

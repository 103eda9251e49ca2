package imagedir

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"fsweep/cmd/internal/sidecar"
)

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// image is one with contents, and its files.
func image(txid int64, cluster string) (*New, string, *sidecar.Fetched) {
	content := fmt.Sprintf("HDFSIMG1 %d", txid)
	n := &New{TxID: txid, Length: int64(len(content)), MD5: md5.Sum([]byte(content)), ClusterID: cluster, Nameservice: "ns1"}
	return n, content, &sidecar.Fetched{ImageTimeMs: 1_795_960_800_000, Source: "test", TxID: txid, MD5: hex.EncodeToString(n.MD5[:]), ClusterID: cluster, Nameservice: "ns1"}
}

// put fetches one.
func put(t *testing.T, d *Dir, txid int64, cluster string) {
	t.Helper()
	n, content, side := image(txid, cluster)
	if have, err := d.Have(n); have || err != nil {
		t.Fatalf("%d: %v, %v", txid, have, err)
	}
	p, err := d.Create(n)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	if _, err := p.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(side); err != nil {
		t.Fatal(err)
	}
}

// names lists a directory without the lock.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.Name() != lockName {
			all = append(all, e.Name())
		}
	}
	return all
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	name7 = "fsimage_0000000000000000007"
	name9 = "fsimage_0000000000000000009"
)

func TestPut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	put(t, d, 7, "CID-1")
	if got := names(t, dir); !slices.Equal(got, []string{name7, name7 + ".fetched.json", name7 + ".md5"}) {
		t.Errorf("%q", got)
	}
	n, content, side := image(7, "CID-1")
	// What Hadoop writes: digits, a blank, a star, the name, the end of the line.
	for name, want := range map[string]string{name7: content, name7 + ".md5": hex.EncodeToString(n.MD5[:]) + " *" + name7 + "\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got := d.Sidecar(name7); got == nil || got.MD5 != side.MD5 || got.ImageTimeMs != side.ImageTimeMs {
		t.Errorf("%+v", got)
	}
	if have, err := d.Have(n); !have || err != nil {
		t.Errorf("%v, %v", have, err)
	}
}

// TestAbort: nothing is left of an image that did not come whole, at whatever step it ended.
func TestAbort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	n, content, _ := image(7, "CID-1")
	for step := range 3 {
		p, err := d.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if step > 0 {
			if _, err := p.Write([]byte(content[:step])); err != nil {
				t.Fatal(err)
			}
		}
		p.Abort()
		p.Abort()
		if got := names(t, dir); len(got) != 0 {
			t.Errorf("step %d left %q", step, got)
		}
	}
	// A sidecar file that could not be read again is not written.
	p, err := d.Create(n)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(&sidecar.Fetched{}); !errors.Is(err, sidecar.ErrInvalid) {
		t.Error(err)
	}
	p.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

// TestNotOverwritten: whatever stands in the way stays as it is.
func TestNotOverwritten(t *testing.T) {
	t.Parallel()
	_, content, side := image(7, "CID-1")
	n, _, _ := image(7, "CID-1")
	good, err := side.Encode()
	if err != nil {
		t.Fatal(err)
	}
	other, err := (&sidecar.Fetched{ImageTimeMs: 1, Source: "x", TxID: 7, MD5: strings.Repeat("0", 32)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	line := string(n.md5Line())
	for name, files := range map[string]map[string]string{
		"an image without files":        {name7: content},
		"an image of another length":    {name7: content + "x", name7 + ".md5": line, name7 + ".fetched.json": string(good)},
		"an image with another MD5":     {name7: content, name7 + ".md5": strings.Repeat("0", 32) + " *" + name7 + "\n", name7 + ".fetched.json": string(good)},
		"a file of another image":       {name7: content, name7 + ".md5": line, name7 + ".fetched.json": string(other)},
		"an MD5 without its image":      {name7 + ".md5": strings.Repeat("0", 32) + " *" + name7 + "\n"},
		"a file without its image":      {name7 + ".fetched.json": string(other)},
		"garbage in place of that file": {name7 + ".fetched.json": "{"},
		"an MD5 that is huge":           {name7 + ".md5": strings.Repeat(line, 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range files {
				write(t, dir, file, text)
			}
			have, err := open(t, dir).Have(n)
			if have || !errors.Is(err, ErrTaken) {
				t.Errorf("%v, %v", have, err)
			}
			for file, text := range files {
				if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != text {
					t.Errorf("%s was changed: %v", file, err)
				}
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, name7), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, dir).Have(n); !errors.Is(err, ErrTaken) {
			t.Error(err)
		}
	})
	// It appears while the image is being written.
	t.Run("meanwhile", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		p, err := open(t, dir).Create(n)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Abort()
		write(t, dir, name7, "mine")
		if err := p.Commit(nil); !errors.Is(err, ErrTaken) {
			t.Error(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name7)); string(got) != "mine" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestOrder: an older image, and one of another cluster, do not come beside what is there.
func TestOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	put(t, d, 9, "CID-1")
	for _, tc := range []struct {
		txid        int64
		cluster, ns string
		want        string
	}{
		{7, "CID-1", "ns1", "is newer than " + name7},
		{11, "CID-2", "ns1", `is of cluster "CID-1", and nameservice ns1 is now "CID-2"`},
		{11, "CID-1", "ns1", ""},
		{7, "CID-1", "ns2", ""}, // another nameservice of the federation
		{7, "CID-2", "ns2", ""},
		{7, "", "ns1", ""}, // nobody knows of what it is
	} {
		n, _, _ := image(tc.txid, tc.cluster)
		n.Nameservice = tc.ns
		_, err := d.Have(n)
		if (err != nil) != (tc.want != "") || err != nil && (!errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// TestKilled ends a fetch after each of its steps, and wants the next one to come to the
// same directory as if there had been none.
func TestKilled(t *testing.T) {
	t.Parallel()
	n, content, side := image(7, "CID-1")
	json, err := side.Encode()
	if err != nil {
		t.Fatal(err)
	}
	steps := []func(dir string){
		func(dir string) { write(t, dir, "."+name7+".fetch-123", content[:3]) },
		func(dir string) { write(t, dir, "."+name7+".fetch-123", content) },
		func(dir string) { write(t, dir, "."+name7+".fetched.json.fetch-9", string(json[:9])) },
		func(dir string) { write(t, dir, name7+".fetched.json", string(json)) },
		func(dir string) { write(t, dir, "."+name7+".md5.fetch-9", "x") },
		func(dir string) { write(t, dir, name7+".md5", string(n.md5Line())) },
	}
	for i := range steps {
		dir := t.TempDir()
		write(t, dir, ".fsimage_7.fetch-1", "not ours") // nor are these
		write(t, dir, ".x", "not ours")
		write(t, dir, name9, "not ours")
		for _, step := range steps[:i+1] {
			step(dir)
		}
		put(t, open(t, dir), 7, "CID-1")
		want := []string{".fsimage_7.fetch-1", ".x", name7, name7 + ".fetched.json", name7 + ".md5", name9}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("step %d: %q", i, got)
		}
	}
	// After the name was given, before the temporary one was removed.
	dir := t.TempDir()
	d := open(t, dir)
	put(t, d, 7, "CID-1")
	if err := os.Link(filepath.Join(dir, name7), filepath.Join(dir, "."+name7+".fetch-5")); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if have, err := open(t, dir).Have(n); !have || err != nil || len(names(t, dir)) != 3 {
		t.Errorf("%v, %v, %q", have, err, names(t, dir))
	}
}

// TestPrune: only what was fetched of this namespace goes, the oldest first.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	for txid := range int64(5) {
		put(t, d, 10+txid, "CID-1")
	}
	foreign := []string{"fsimage_0000000000000000001", "fsimage_0000000000000000002", "fsimage_0000000000000000002.md5", "fsimage_0000000000000000003", "fsimage_0000000000000000003.fetched.json", "fsimage_0000000000000000004"}
	for _, name := range foreign {
		write(t, dir, name, "by hand")
	}
	// Of this cluster, but the file is a link, which leads anywhere.
	_, _, side := image(4, "CID-1")
	json, err := side.Encode()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "target", string(json))
	if err := os.Symlink("target", filepath.Join(dir, "fsimage_0000000000000000004.fetched.json")); err != nil {
		t.Fatal(err)
	}
	// A sidecar file under the name of another image says nothing about that.
	write(t, dir, "fsimage_0000000000000000001.fetched.json", string(json))
	before := names(t, dir)

	n, _, _ := image(14, "")
	if removed, err := d.Prune(1, n); len(removed) != 0 || err != nil || !slices.Equal(names(t, dir), before) {
		t.Errorf("without a cluster id: %q, %v", removed, err)
	}
	n, _, _ = image(14, "CID-1")
	removed, err := d.Prune(2, n)
	if err != nil || !slices.Equal(removed, []string{nameOf(12), nameOf(11), nameOf(10)}) {
		t.Errorf("%q, %v", removed, err)
	}
	after := slices.DeleteFunc(before, func(name string) bool {
		return strings.HasPrefix(name, nameOf(10)) || strings.HasPrefix(name, nameOf(11)) || strings.HasPrefix(name, nameOf(12))
	})
	if got := names(t, dir); !slices.Equal(got, after) {
		t.Errorf("%q\nwant %q", got, after)
	}
	// A process that was killed while it removed one: the next goes on.
	if err := os.Remove(filepath.Join(dir, nameOf(13))); err != nil {
		t.Fatal(err)
	}
	if removed, err := d.Prune(1, n); err != nil || len(removed) != 0 || slices.ContainsFunc(names(t, dir), func(s string) bool { return strings.HasPrefix(s, nameOf(13)) }) {
		t.Errorf("%q, %v: %q", removed, err, names(t, dir))
	}
}

// TestBusy: one process at a time, and the temporary files of the one are not cleaned by another.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	n, _, _ := image(7, "CID-1")
	p, err := d.Create(n)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	if _, err := Open(dir); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestOpen: what is no directory, and a lock that is a link.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "file", "")
	for _, name := range []string{"file", "missing"} {
		if _, err := Open(filepath.Join(dir, name)); err == nil {
			t.Error(name)
		}
	}
	if err := os.Symlink("file", filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, syscall.ELOOP) {
		t.Error(err)
	}
}

// TestNoRoom: an image that is larger than the disk is not begun.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, _, _ := image(7, "CID-1")
	d := open(t, dir)
	for _, length := range []int64{1 << 62, 1<<63 - 1} {
		n.Length = length
		if _, err := d.Create(n); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "are free in") {
			t.Error(err)
		}
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

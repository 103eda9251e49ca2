package fakehdfs_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
)

// forest makes a cluster with n files in directories of 100, below a snapshottable one.
func forest(n int) *fakehdfs.FS {
	fs := fakehdfs.New(fakehdfs.Options{HA: true})
	for i := range n {
		fs.Put(fmt.Sprintf("/data/d%04d/f%02d", i/100, i%100), "alice", []byte("x"))
	}
	fs.AllowSnapshots("/data")
	fs.Snapshot("/data", "s1")
	fs.Mkdir("/data", "alice", 0o755)
	fs.Mkdir("/data/d0000", "alice", 0o755)
	return fs
}

// TestCloneIsApart changes each side in every way and looks at the other.
func TestCloneIsApart(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*fakehdfs.FS){
		"put":             func(f *fakehdfs.FS) { f.Put("/data/new", "bob", []byte("y")) },
		"put over":        func(f *fakehdfs.FS) { f.Put("/data/d0000/f00", "bob", []byte("y")) },
		"mkdir":           func(f *fakehdfs.FS) { f.Mkdir("/data/d0000", "bob", 0o700) },
		"append":          func(f *fakehdfs.FS) { f.Append("/data/d0000/f00", []byte("z")) },
		"delete":          func(f *fakehdfs.FS) { f.Delete("/data/d0000") },
		"rename":          func(f *fakehdfs.FS) { f.Rename("/data/d0000", "/data/moved") },
		"chmod":           func(f *fakehdfs.FS) { f.Chmod("/data/d0000/f01", 0) },
		"chown":           func(f *fakehdfs.FS) { f.Chown("/data/d0000/f01", "bob", "x") },
		"times":           func(f *fakehdfs.FS) { f.SetTimes("/data/d0000/f01", 1, 2) },
		"xattr":           func(f *fakehdfs.FS) { f.SetXAttr("/data/d0000/f01", "user.x", []byte("1")) },
		"acl":             func(f *fakehdfs.FS) { f.SetACL("/data/d0000/f01") },
		"quota":           func(f *fakehdfs.FS) { f.SetQuota("/data", 10_000, -1) },
		"symlink":         func(f *fakehdfs.FS) { f.Symlink("/data/link", "/data") },
		"open":            func(f *fakehdfs.FS) { f.Open("/data/open") },
		"snapshot":        func(f *fakehdfs.FS) { f.Snapshot("/data", "s2") },
		"delete snapshot": func(f *fakehdfs.FS) { f.DeleteSnapshot("/data", "s1") },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := forest(150)
			before := a.Dump()
			b := a.Clone()
			if b.Dump() != before {
				t.Fatal("a clone differs")
			}
			change(b)
			if a.Dump() != before {
				t.Error("a change of the clone is seen in the original")
			}
			if b.Dump() == before {
				t.Error("the change is not seen")
			}
			c := b.Clone()
			after := c.Dump()
			b.Delete("/data/d0001")
			if c.Dump() != after {
				t.Error("a change of the original is seen in the clone")
			}
		})
	}
}

// TestGoroutines has clients move files at once; each file arrives once.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	fs := forest(100)
	fs.Mkdir("/to", "alice", 0o755)
	var wg sync.WaitGroup
	for n := range 8 {
		c := fs.Client("alice")
		wg.Go(func() {
			for i := n / 2; i < 100; i += 4 { // two clients for each file
				from := fmt.Sprintf("/data/d0000/f%02d", i)
				st, err := c.Stat(context.Background(), execute.At(from))
				if err != nil {
					continue
				}
				parent, err := c.Stat(context.Background(), execute.ParentOf(st.ID))
				if err != nil {
					continue
				}
				call, err := c.NewCall(context.Background())
				if err != nil {
					t.Error(err)
				}
				_ = c.Rename(context.Background(), execute.Move{ID: st.ID, ParentID: parent.ID, From: from, To: fmt.Sprintf("/to/%02d", i)}, call)
			}
		})
	}
	wg.Wait()
	moved := 0
	for _, e := range fs.Entries() {
		if strings.HasPrefix(e.Path, "/to/") {
			moved++
		}
	}
	renames := 0
	for _, op := range fs.Mutating() {
		if op.Effect {
			renames++
		}
	}
	if moved != 100 || renames != 100 {
		t.Errorf("%d files arrived by %d renames", moved, renames)
	}
}

// TestManyInodes is the size of the executor's largest test.
func TestManyInodes(t *testing.T) {
	t.Parallel()
	fs := forest(200_000)
	c := fs.Client("alice")
	sum, err := c.Summary(context.Background(), execute.At("/data"), 300_000)
	if err != nil || sum.Files != 200_000 || sum.Directories != 2001 {
		t.Errorf("%+v, %v", sum, err)
	}
	if e, ok := fs.Lookup("/data/d1999/f99"); !ok || e.Length != 1 {
		t.Errorf("%+v, %v", e, ok)
	}
}

func BenchmarkClone(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			fs := forest(n)
			b.ReportAllocs()
			for b.Loop() {
				fs.Clone().Chmod("/data/d0000", 0o700)
			}
		})
	}
}

package fakehdfs_test

import (
	"slices"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

// The names and the moments are those of Hadoop's TrashPolicyDefault: yyMMddHHmmss, with -1 behind
// it if that is taken; deleted when they are older than the interval, not when they are as old.
func TestEmptier(t *testing.T) {
	t.Parallel()
	const trash = "/user/alice/.Trash"
	fs := fakehdfs.New(fakehdfs.Options{Trash: 2 * time.Hour, Start: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)})
	if got := fs.RenameCurrent(trash); got != "" {
		t.Errorf("without a trash: %q", got)
	}
	fs.Mkdir(trash+"/odd", "alice", 0o700)
	fs.Mkdir(trash+"/not-260304050607", "alice", 0o700)
	for _, want := range []string{"/260304050607", "/260304050607-1", "/260304050607-2"} {
		fs.Put(trash+"/Current/d/f", "alice", []byte("abc"))
		if got := fs.RenameCurrent(trash); got != trash+want {
			t.Errorf("renamed to %q, want %q", got, trash+want)
		}
	}
	fs.Put(trash+"/Current/g", "alice", nil)
	at := func(hour, minute, second int) {
		fs.Advance(time.Date(2026, 3, 4, hour, minute, second, 0, time.UTC).Sub(fs.Now()))
	}
	f, _ := fs.Lookup(trash + "/260304050607/d/f")
	at(7, 6, 6)
	if got := fs.DeleteCheckpoints(trash); len(got) > 0 {
		t.Errorf("too early: %q", got)
	}
	at(6, 0, 0)
	later := fs.RenameCurrent(trash)
	at(7, 6, 8)
	want := []string{trash + "/260304050607", trash + "/260304050607-1", trash + "/260304050607-2"}
	if got := fs.DeleteCheckpoints(trash); !slices.Equal(got, want) {
		t.Errorf("deleted %q, want %q", got, want)
	}
	if _, ok := fs.ByID(f.ID); ok {
		t.Error("what was in it is still there")
	}
	for _, p := range []string{later + "/g", trash + "/odd", trash + "/not-260304050607"} {
		if _, ok := fs.Lookup(p); !ok {
			t.Errorf("%s is gone", p)
		}
	}
	fs.SetTrash(0)
	at(23, 0, 0)
	if got := fs.DeleteCheckpoints(trash); len(got) > 0 {
		t.Errorf("without an interval: %q", got)
	}
}

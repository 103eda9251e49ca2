package main

import (
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
	"fsweep/execute/journalfile"
	"fsweep/proto/journal"
)

// moment is the nth call of a method that a program sends, to whatever NameNode. Of the
// renames of a run the first takes the lock, then come the items, then the lock goes.
type moment struct {
	method string
	nth    int
}

// happening is what happens at a moment.
type happening struct {
	before func()    // the call is held back until it has ended
	fault  rig.Fault // what the call meets
	next   func()    // before whatever is sent after it
}

// when has something happen at a moment, once. The function that it gives lets everything pass
// again, and requires that it happened.
func (s *site) when(m moment, h happening) func() {
	s.t.Helper()
	var mu sync.Mutex // the NameNodes have a proxy each
	n, stage := 0, 0
	judge := func(r rig.Request) rig.Fault {
		mu.Lock()
		defer mu.Unlock()
		if stage == 1 && h.next != nil {
			stage = 2
			h.next()
		}
		if r.Method != m.method || stage > 0 {
			return rig.Fault{}
		}
		if n++; n < m.nth {
			return rig.Fault{}
		}
		stage = 1
		if h.before != nil {
			h.before()
		}
		return h.fault
	}
	for i := range s.c.NameNodes() {
		s.c.Proxy(i).Handle(judge)
	}
	return func() {
		s.t.Helper()
		for i := range s.c.NameNodes() {
			s.c.Proxy(i).Handle(nil)
		}
		mu.Lock()
		defer mu.Unlock()
		if stage == 0 || stage == 1 && h.next != nil {
			s.t.Errorf("call %d of %s never came: %d came", m.nth, m.method, n)
		}
	}
}

// start starts fsweep-exec and gives what waits for its end.
func (s *site) start(args ...string) (cmd *exec.Cmd, wait func() (code int, output string)) {
	s.t.Helper()
	cmd = s.command(s.t.Context(), "fsweep-exec", args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, func() (int, string) {
		_ = cmd.Wait() // the code tells
		return cmd.ProcessState.ExitCode(), out.String()
	}
}

// id gives the inode id of what stood at a path.
func id(tree map[string]string, p string) string { return strings.Fields(tree[p])[0] }

// renames counts the renames of an inode by its id that a NameNode carried out.
func (s *site) renames(inode string) int {
	s.t.Helper()
	n := 0
	for _, e := range s.c.Mutations(s.t, s.user) {
		if e.Command == "rename" && e.Allowed && e.Source == "/.reserved/.inodes/"+inode {
			n++
		}
	}
	return n
}

// movedOnce requires that each item lies in the trash as it was, by one rename, that the newest
// journal says so and nothing else, and that the lock is free.
func (s *site) movedOnce(before map[string]string, items ...string) {
	s.t.Helper()
	s.trashed(before, true, items...)
	for _, p := range items {
		if n := s.renames(id(before, p)); n != 1 {
			s.t.Errorf("%q was renamed %d times", p, n)
		}
	}
	s.journalSays(before, items...)
	if s.c.Stat(s.t, "/ops/fsweep/LOCK") != "" {
		s.t.Error("the lock is still there")
	}
}

// journalSays requires that the newest journal has moved just these items, to where they are, and
// that nothing in it is open.
func (s *site) journalSays(before map[string]string, items ...string) {
	s.t.Helper()
	f := s.newest()
	defer f.Close()
	if pending, _ := f.State().Pending(); pending != nil || f.Ended() == nil {
		s.t.Errorf("the journal has intent %v open, and ends with %v", pending, f.Ended())
	}
	var got []string
	for m, err := range f.Moved() {
		if err != nil {
			s.t.Fatal(err)
		}
		got = append(got, string(m.Intent.Path))
		if now := s.c.Stat(s.t, string(m.Intent.Target)); !strings.HasPrefix(now, id(before, string(m.Intent.Path))+" ") {
			s.t.Errorf("the journal says that %q went to %q; there is %q", m.Intent.Path, m.Intent.Target, now)
		}
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(items)); !slices.Equal(got, want) {
		s.t.Errorf("the journal moved %q, want %q", got, want)
	}
}

// newest gives the journal that was begun last.
func (s *site) newest() *journalfile.File {
	s.t.Helper()
	var newest *journalfile.File
	for _, name := range s.journalFiles() {
		f, err := journalfile.Open(name)
		if err != nil {
			s.t.Fatal(err)
		}
		switch {
		case newest == nil:
			newest = f
		case f.Header().AtMs > newest.Header().AtMs:
			_ = newest.Close() // it was only read
			newest = f
		default:
			_ = f.Close() // the same
		}
	}
	if newest == nil {
		s.t.Fatal("there is no journal")
	}
	return newest
}

// newestName is the path of the newest journal of a run.
func (s *site) newestName() string {
	s.t.Helper()
	name, at := "", int64(0)
	for _, n := range s.journalFiles() {
		f, err := journalfile.Open(n)
		if err != nil {
			s.t.Fatal(err)
		}
		if h := f.Header(); h.Command == journal.CommandRun && h.AtMs > at {
			name, at = n, h.AtMs
		}
		_ = f.Close() // it was only read
	}
	return name
}

// nothingDone requires that the user changed nothing, or tried to, while do runs.
func (s *site) nothingDone(what string, do func()) {
	s.t.Helper()
	was := len(s.c.Mutations(s.t, s.user))
	do()
	if m := s.c.Mutations(s.t, s.user); len(m) != was {
		s.t.Errorf("%s: it did %v", what, m[was:])
	}
}

// soon does something in a while, and waits for it at the end of the test.
func soon(t *testing.T, d time.Duration, do func()) {
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		time.Sleep(d)
		do()
	}()
}

// split tells which items do not stand where they were any more.
func (s *site) split(before map[string]string, items ...string) (moved, still []string) {
	s.t.Helper()
	for _, p := range items {
		if strings.HasPrefix(s.c.Stat(s.t, p), id(before, p)+" ") {
			still = append(still, p)
		} else {
			moved = append(moved, p)
		}
	}
	return moved, still
}

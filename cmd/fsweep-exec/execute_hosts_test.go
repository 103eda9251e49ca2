package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
	"fsweep/proto/journal"
)

// TestNameNodeStray: a snapshot holds an item that is deleted and made again between the last look and
// the rename. Its id then leads to what has the name now, so that is moved. It is found out, moved back
// to the byte, and the run stops.
func TestNameNodeStray(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	paths := s.makeScratch(3, "x")
	s.makePlan(scratchRoot)
	a.AllowSnapshots(t, "/scratch")
	a.Snapshot(t, "/scratch", "s1")
	replaced := map[string]string{}
	happened := s.when(moment{"rename2", 2}, happening{before: func() {
		for _, p := range paths {
			a.Delete(t, p)
			a.Mkdir(t, p, owner, 0o755)
			a.Put(t, p+"/new", owner, nil)
			replaced[p] = s.c.Stat(t, p)
		}
	}})
	out := s.exits(5, s.executeArgs()...)
	happened()
	if !strings.Contains(out, "in place of") {
		t.Errorf("it does not say what happened\n%s", out)
	}
	for _, p := range paths {
		if now := s.c.Stat(t, p); now != replaced[p] || s.c.Stat(t, p+"/new") == "" {
			t.Errorf("%q is %q, was %q", p, now, replaced[p])
		}
	}
	f := s.newest()
	defer f.Close()
	others := 0
	for l, err := range f.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := l.(*journal.Settled); ok && v.How == journal.OtherInode {
			others++
		}
	}
	if others != 1 || len(f.State().Strays()) > 0 {
		t.Errorf("the journal has %d strays, and %v of them are not back", others, f.State().Strays())
	}
	s.journalSays(nil)
}

// TestNameNodeTwoHosts: two executors with journals of their own, as on two hosts. One has the lock, the
// other is refused. One that is stopped, and wakes up when somebody took its lock away and did the rest,
// does nothing more. A plan that was executed is refused on both.
func TestNameNodeTwoHosts(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	second := *s
	second.journals = s.journalDir()
	paths := s.makeScratch(4, "x")
	s.makePlan(scratchRoot)
	second.plan, second.digest = s.plan, s.digest
	before := s.tree("/")
	// The call that is under way when it stops arrives.
	stopped := make(chan struct{})
	started := make(chan int, 1)
	happened := s.when(moment{"rename2", 3}, happening{before: func() {
		pid := <-started
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		close(stopped)
	}})
	cmd, wait := s.start(s.executeArgs()...)
	started <- cmd.Process.Pid
	select {
	case <-stopped:
	case <-time.After(2 * time.Minute):
		t.Fatal("it never came to its second item")
	}
	happened()
	s.settled(before, 2, paths...)
	s.nothingDone("the other host", func() {
		if out := second.exits(3, second.executeArgs()...); !strings.Contains(out, fmt.Sprintf(".%d.", cmd.Process.Pid)) {
			t.Errorf("who holds the lock is not said\n%s", out)
		}
	})
	if n := len(second.journalFiles()); n > 0 {
		t.Errorf("%d journals of what was refused", n)
	}
	holder := strings.TrimSpace(second.exits(0, "unlock", "--plan", s.plan))
	second.exits(0, "unlock", "--plan", s.plan, "--holder", holder, "--journal-dir", second.journals)
	// Whose lock was taken away may have done anything: its plan is over, and a new one has the rest.
	s.nothingMovedBy(paths, func() { second.exits(3, second.executeArgs()...) })
	_, still := s.split(before, paths...)
	second.makePlan(scratchRoot)
	equalOutcomes(t, map[string]string{still[0]: "moved", still[1]: "moved"}, second.results(0, second.executeArgs()...).outcomes())
	s.trashed(before, true, paths...)
	// It wakes up.
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code, out := wait(); code != 5 || !strings.Contains(out, "is not this process's any more") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	s.trashed(before, true, paths...)
	for _, p := range paths {
		if n := s.renames(id(before, p)); n != 1 {
			t.Errorf("%q was renamed %d times", p, n)
		}
	}
	s.nothingDone("a plan that was executed", func() {
		s.exits(3, s.executeArgs()...)
		second.exits(3, second.executeArgs()...)
	})
	// Each undoes its own.
	run, others := s.newestName(), second.newestName()
	s.exits(0, "undo", run)
	second.exits(0, "undo", others)
	s.trashed(before, false, paths...)
}

// settled waits until so many items have gone.
func (s *site) settled(before map[string]string, n int, items ...string) {
	s.t.Helper()
	for range 100 {
		if moved, _ := s.split(before, items...); len(moved) == n {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("there are not %d items in the trash", n)
}

// TestNameNodeZones: what lies in an encryption zone goes to the trash of the zone, and comes back with
// the journal or without.
func TestNameNodeZones(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	a.Mkdir(t, "/zone", owner, 0o755)
	a.EncryptionZone(t, "/zone")
	a.Mkdir(t, "/zone/.Trash", owner, 0o1777)
	a.Mkdir(t, "/zone/scratch", owner, 0o755)
	for _, p := range []string{"/zone/scratch/tmp-1", "/zone/scratch/tmp-2"} {
		a.Mkdir(t, p, owner, 0o755)
		a.Put(t, p+"/part", owner, nil)
		s.old(p, 9)
	}
	for _, undo := range []func() []string{
		func() []string { return []string{s.newestName()} },
		func() []string { return []string{"--plan", s.plan, "--journal-dir", s.journals} },
	} {
		s.makePlan(`  - {path: /zone/scratch, layout: children, mode: execute, min_age: 24h, names: ["tmp-*"]}` + "\n")
		before := s.tree("/zone/scratch")
		s.exits(0, s.executeArgs()...)
		after := s.tree("/zone/.Trash/" + owner)
		for p, line := range before {
			if after["/zone/.Trash/"+owner+"/Current"+p] != line {
				t.Errorf("%q is not %q in the trash of the zone", p, line)
			}
		}
		a.RenameCurrent(t, "/zone/.Trash/"+owner)
		s.exits(0, append([]string{"undo"}, undo()...)...)
		differ(t, before, s.tree("/zone/scratch"))
	}
	if s.c.Stat(t, trashOfOwner) != "" {
		t.Error("there is a trash in the home")
	}
}

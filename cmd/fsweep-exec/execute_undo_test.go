package main

import (
	"fmt"
	"strings"
	"testing"

	"fsweep/execute/hdfstest/rig"
)

// backAsBefore requires that the whole namespace is as before, the directories of locks and the home
// left out.
func (s *site) backAsBefore(before map[string]string) {
	s.t.Helper()
	own := func(tree map[string]string) map[string]string {
		m := map[string]string{}
		for p, line := range tree {
			if !strings.HasPrefix(p, "/user/"+owner+"/") && !strings.HasPrefix(p, "/ops/fsweep/") {
				m[p] = line
			}
		}
		return m
	}
	differ(s.t, own(before), own(s.tree("/")))
}

// rules are the outcomes of an undo: restored, or kept and why.
func (s *site) undone(code int, args ...string) map[string]string {
	s.t.Helper()
	return s.results(code, append([]string{"undo"}, args...)...).outcomes()
}

// TestNameNodeUndo: whatever way an undo goes, it brings back what it may, exactly, and leaves the
// rest where it is.
func TestNameNodeUndo(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	for _, c := range []struct {
		name string
		do   func(paths []string, before map[string]string, run string)
	}{
		{"one item, then the rest", func(paths []string, before map[string]string, run string) {
			equalOutcomes(t, map[string]string{paths[1]: "restored"}, s.undone(0, run, "--item", paths[1]))
			s.trashed(before, false, paths[1])
			s.trashed(before, true, paths[0], paths[2])
			s.nothingMovedBy(paths, func() { s.exits(3, "undo", run, "--item", "/scratch/none") })
			equalOutcomes(t, map[string]string{paths[0]: "restored", paths[1]: "kept already-back", paths[2]: "restored"}, s.undone(4, run))
			s.backAsBefore(before)
			s.nothingMovedBy(paths, func() { s.exits(4, "undo", run) })
		}},
		{"by the plan alone, after the emptier", func(paths []string, before map[string]string, _ string) {
			a.RenameCurrent(t, trashOfOwner)
			equalOutcomes(t, map[string]string{paths[0]: "restored"}, s.undone(0, "--plan", s.plan, "--journal-dir", s.journalDir(), "--item", paths[0]))
			equalOutcomes(t, map[string]string{paths[1]: "restored", paths[2]: "restored"}, s.undone(0, "--plan", s.plan, "--journal-dir", s.journalDir()))
			s.backAsBefore(before)
			// What is done is done: the plan is never carried out again.
			s.nothingMovedBy(paths, func() { s.exits(3, s.executeArgs()...) })
		}},
		{"a place is taken", func(paths []string, before map[string]string, run string) {
			a.Mkdir(t, paths[0]+"/new", owner, 0o755)
			a.Put(t, paths[1], owner, nil)
			equalOutcomes(t, map[string]string{paths[0]: "kept taken", paths[1]: "kept taken", paths[2]: "restored"}, s.undone(4, run))
			s.trashed(before, true, paths[0], paths[1])
			if s.c.Stat(t, paths[0]+"/new") == "" || !strings.Contains(s.c.Stat(t, paths[1]), "FILE") && s.c.Stat(t, paths[1]) == "" {
				t.Error("what took the places is gone")
			}
			a.Delete(t, paths[0])
			a.Delete(t, paths[1])
			equalOutcomes(t, map[string]string{paths[0]: "restored", paths[1]: "restored", paths[2]: "kept already-back"}, s.undone(4, run))
			s.backAsBefore(before)
		}},
		{"its place is taken at the last moment", func(paths []string, before map[string]string, run string) {
			happened := s.when(moment{"rename2", 2}, happening{before: func() {
				for _, p := range paths {
					a.Mkdir(t, p, owner, 0o755)
				}
			}})
			equalOutcomes(t, map[string]string{paths[0]: "kept taken", paths[1]: "kept taken", paths[2]: "kept taken"}, s.undone(4, run))
			happened()
			s.trashed(before, true, paths...)
			for _, p := range paths {
				a.Delete(t, p)
			}
			s.exits(0, "undo", run)
			s.backAsBefore(before)
		}},
		{"the root is another, moved by others, purged", func(paths []string, before map[string]string, run string) {
			a.Rename(t, "/scratch", "/elsewhere")
			a.Mkdir(t, "/scratch", owner, 0o755)
			s.nothingDone("the root is another directory", func() { s.exits(3, "undo", run) })
			a.Delete(t, "/scratch")
			a.Rename(t, "/elsewhere", "/scratch")
			current := trashOfOwner + "/Current"
			a.Rename(t, current+paths[0], "/user/"+owner+"/mine")
			a.Delete(t, current+paths[1])
			for i, state := range []string{"moved-by-others", "purged", "in-trash"} {
				if out := s.exits(0, "where", paths[i], "--journal-dir", s.journals); !strings.Contains(out, "\n  state      "+state+"\n") {
					t.Errorf("where does not say %s\n%s", state, out)
				}
			}
			equalOutcomes(t, map[string]string{paths[0]: "kept moved-by-others", paths[1]: "kept purged", paths[2]: "restored"}, s.undone(4, run))
			s.trashed(before, false, paths[2])
		}},
	} {
		paths := s.makeScratch(3, strings.ReplaceAll(c.name, " ", "_"))
		s.makePlan(scratchRoot)
		before := s.tree("/")
		s.exits(0, s.executeArgs()...)
		c.do(paths, before, s.newestName())
		if t.Failed() {
			t.Fatal(c.name)
		}
		a.Delete(t, "/scratch")
	}
}

// nothingMovedBy requires that no item is renamed while do runs.
func (s *site) nothingMovedBy(paths []string, do func()) {
	s.t.Helper()
	count := func() map[string]string {
		m := map[string]string{}
		for _, e := range s.c.Mutations(s.t, s.user) {
			if e.Command == "rename" && e.Allowed && !strings.HasPrefix(e.Target, "/ops/fsweep/") {
				m[fmt.Sprint(len(m), e.Source)] = e.Target
			}
		}
		return m
	}
	was := len(count())
	do()
	if n := len(count()) - was; n > 0 {
		s.t.Errorf("%d of %q were renamed", n, paths)
	}
}

// TestNameNodeQuarantine: a policy can have items moved to a directory that nobody empties; they come
// back from there, with the journal or without.
func TestNameNodeQuarantine(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{TrashInterval: -1}) // it needs no trash
	a := s.c.Admin()
	a.Mkdir(t, "/ops/quarantine", owner, 0o700)
	for round, undo := range []func() []string{
		func() []string { return []string{s.newestName()} },
		func() []string { return []string{"--plan", s.plan, "--journal-dir", s.journalDir()} },
	} {
		paths := s.makeScratch(3, fmt.Sprint("q", round))
		s.makePlan(scratchRoot, "removal: quarantine:/ops/quarantine")
		before := s.tree("/")
		// One place is taken, so that item gets another name.
		a.Mkdir(t, "/ops/quarantine"+paths[1], owner, 0o700)
		a.Chown(t, "/ops/quarantine/scratch", owner, owner)
		equalOutcomes(t, map[string]string{paths[0]: "moved", paths[1]: "moved", paths[2]: "moved"}, s.results(0, s.executeArgs()...).outcomes())
		after := s.tree("/ops/quarantine")
		for _, p := range []string{paths[0], paths[2]} {
			if after["/ops/quarantine"+p] != before[p] {
				t.Errorf("%q is %q, want %q", p, after["/ops/quarantine"+p], before[p])
			}
			s.whereabouts(p, "/ops/quarantine"+p)
		}
		args := undo()
		s.exits(0, append([]string{"undo"}, args...)...)
		a.Delete(t, "/ops/quarantine"+paths[1]) // what took its place
		s.trashed(before, false, paths...)
		a.Delete(t, "/scratch")
		if s.c.Stat(t, trashOfOwner) != "" {
			t.Error("there is a trash")
		}
	}
}

// TestNameNodeRehearse: a rehearsal trashes and restores its own empty directory and nothing else, by
// two renames; what it cannot use it leaves alone.
func TestNameNodeRehearse(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	paths := s.makeScratch(2, "x")
	const own = "/scratch/fsweep-rehearsal"
	before := s.tree("/scratch")
	inode := ""
	for range 2 { // it uses its directory again
		s.exits(0, "rehearse", "/scratch", "--journal-dir", s.journals)
		now := s.tree("/scratch")
		if inode != "" && inode != now[own] || !strings.Contains(now[own], "kind 2") {
			t.Errorf("%q, was %q", now[own], inode)
		}
		inode = now[own]
		delete(now, own)
		differ(t, before, now)
	}
	number := strings.Fields(inode)[0]
	if n := s.renames(number); n != 4 {
		t.Errorf("it was renamed %d times", n)
	}
	for _, e := range s.c.Mutations(t, owner) {
		if e.Command == "rename" && e.Source != "/.reserved/.inodes/"+number || e.Command != "rename" && e.Command != "mkdirs" {
			t.Errorf("it did %v", e)
		}
	}
	s.nothingDone("in a directory that is missing, a file, and one that is not empty", func() {
		s.exits(3, "rehearse", "/none", "--journal-dir", s.journals)
		s.exits(3, "rehearse", paths[0]+"/sub/part-0", "--journal-dir", s.journals)
		a.Put(t, own+"/mine", owner, nil)
		s.exits(3, "rehearse", "/scratch", "--journal-dir", s.journals)
	})
	a.Delete(t, own+"/mine")
	// Somebody who may not: the refusal is shown, and it stays.
	a.Chown(t, "/scratch", "alice", "alice")
	out := s.exits(5, "rehearse", "/scratch", "--journal-dir", s.journals)
	if !strings.Contains(out, "Permission") && !strings.Contains(out, "permission") {
		t.Errorf("why is not said\n%s", out)
	}
	if !strings.HasPrefix(s.c.Stat(t, own), number+" ") {
		t.Error("it did not stay")
	}
}

// TestNameNodeNoParent: the directory of a job is gone. It is never made, and what lay in it waits in
// the trash until there is one.
func TestNameNodeNoParent(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{DataNodes: 1})
	a := s.c.Admin()
	for _, d := range []string{"/flink", "/flink/ckpt", "/flink/ckpt/orders"} {
		a.Mkdir(t, d, owner, 0o755)
	}
	for n := range 3 {
		s.makeRun(orders+runID(n), 20-n)
	}
	s.makePlan("  - {path: /flink/ckpt, layout: job-run, mode: execute, min_age: 24h, keep: 1}\n")
	before := s.tree("/")
	items := []string{orders + runID(0), orders + runID(1)}
	s.exits(0, s.executeArgs()...)
	s.movedOnce(before, items...)
	run := s.newestName()
	a.Rename(t, "/flink/ckpt/orders", "/flink/moved")
	want := map[string]string{items[0]: "kept no-parent", items[1]: "kept no-parent"}
	s.nothingMovedBy(items, func() { equalOutcomes(t, want, s.undone(4, run)) })
	if s.c.Stat(t, "/flink/ckpt/orders") != "" {
		t.Error("a directory was made")
	}
	a.Put(t, "/flink/ckpt/orders", owner, nil)
	s.nothingMovedBy(items, func() { equalOutcomes(t, want, s.undone(4, run)) })
	a.Delete(t, "/flink/ckpt/orders")
	// The first rename finds no directory any more.
	a.Rename(t, "/flink/moved", "/flink/ckpt/orders")
	happened := s.when(moment{"rename2", 2}, happening{before: func() { a.Rename(t, "/flink/ckpt/orders", "/flink/moved") }})
	equalOutcomes(t, want, s.undone(4, run))
	happened()
	a.Rename(t, "/flink/moved", "/flink/ckpt/orders")
	s.exits(0, "undo", run)
	s.backAsBefore(before)
}

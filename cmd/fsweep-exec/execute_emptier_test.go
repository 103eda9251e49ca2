package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
)

const trashOfOwner = "/user/" + owner + "/.Trash"

// whereabouts requires that where finds an item at a path.
func (s *site) whereabouts(item, at string) {
	s.t.Helper()
	if out := s.exits(0, "where", item, "--journal-dir", s.journals); !strings.Contains(out, "\n  now        "+at+"\n") {
		s.t.Errorf("where %q does not say %q:\n%s", item, at, out)
	}
}

// inTrash requires that items lie somewhere in the trash as they were, each by one rename, and gives
// where.
func (s *site) inTrash(before map[string]string, items ...string) map[string]string {
	s.t.Helper()
	after := s.tree(trashOfOwner)
	at := map[string]string{}
	for p, line := range after {
		for _, item := range items {
			if before[item] == line {
				at[item] = p
			}
		}
	}
	for _, item := range items {
		for p, line := range before {
			if (p == item || strings.HasPrefix(p, item+"/")) && after[at[item]+strings.TrimPrefix(p, item)] != line {
				s.t.Errorf("%q is not in the trash as it was: %q at %q", p, line, at[item])
			}
		}
		if n := s.renames(id(before, item)); n != 1 {
			s.t.Errorf("%q was renamed %d times", item, n)
		}
		if s.c.Stat(s.t, item) != "" {
			s.t.Errorf("%q is still there", item)
		}
	}
	return at
}

// TestNameNodeEmptier: somebody renames Current as the emptier does, at any moment of a run, before
// an undo and in the middle of one. Everything arrives once, where finds it and undo puts it back.
func TestNameNodeEmptier(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	checkpoint := func() { a.RenameCurrent(t, trashOfOwner) }
	for round, c := range []struct {
		moment moment
		happening
	}{
		{moment{"rename2", 3}, happening{before: checkpoint}},            // its place is gone
		{moment{"rename2", 3}, happening{next: checkpoint}},              // before the look where it arrived
		{moment{"rename2", 2}, happening{fault: lost, next: checkpoint}}, // the same, and no answer
		{moment{"mkdirs", 2}, happening{next: checkpoint}},               // the place was made just now
	} {
		if s.c.Stat(t, trashOfOwner) != "" {
			a.Delete(t, trashOfOwner)
		}
		paths := s.makeScratch(3, fmt.Sprint("r", round))
		s.makePlan(scratchRoot)
		before := s.tree("/")
		happened := s.when(c.moment, c.happening)
		s.exits(0, s.executeArgs()...)
		happened()
		at := s.inTrash(before, paths...)
		parents := map[string]bool{}
		for item, p := range at {
			s.whereabouts(item, p)
			parents[strings.TrimSuffix(p, item)] = true
		}
		if c.moment.method == "rename2" && len(parents) != 2 {
			t.Errorf("round %d: everything lies in %q, so nothing was in the middle", round, slices.Collect(maps.Keys(parents)))
		}
		// Before the undo, and in the middle of it.
		if s.c.Stat(t, trashOfOwner+"/Current") != "" {
			checkpoint()
		}
		for item, p := range s.inTrash(before, paths...) {
			s.whereabouts(item, p)
		}
		names := trashes(s)
		happened = s.when(moment{"rename2", 3}, happening{before: func() {
			for _, name := range names {
				a.Rename(t, name, name+"9")
			}
		}})
		s.exits(0, "undo", s.newestName())
		happened()
		s.trashed(before, false, paths...)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// trashes are the checkpoints in the trash.
func trashes(s *site) (names []string) {
	for p := range s.tree(trashOfOwner) {
		if path.Dir(p) == trashOfOwner && path.Base(p) != "Current" {
			names = append(names, p)
		}
	}
	return names
}

// TestNameNodeRealEmptier: the NameNode's own emptier makes a checkpoint in the middle of a run. What
// where says is true, and once the checkpoint is deleted undo brings back what is still there.
func TestNameNodeRealEmptier(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{TrashInterval: 2 * time.Minute, Config: map[string]string{"fs.trash.checkpoint.interval": "1"}})
	s.belts = "{max_percent_of_root: 100%, min_trash_interval: 1m}"
	s.pace = `{between_items: 1s, between_batches: 0ms, between_roots: 0ms, window: ""}`
	paths := s.makeScratch(8, "x")
	s.makePlan(scratchRoot)
	before := s.tree("/")
	// The emptier wakes up at whole minutes.
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute - 4*time.Second)))
	s.exits(0, s.executeArgs()...)
	at := s.inTrash(before, paths...)
	parents := map[string]int{}
	for item, p := range at {
		s.whereabouts(item, p)
		parents[strings.TrimSuffix(p, item)]++
	}
	if len(parents) != 2 {
		t.Fatalf("no checkpoint in the middle of the run: %v", parents)
	}
	run := s.newestName()
	s.exits(0, "undo", run, "--item", paths[0])
	s.trashed(before, false, paths[0])
	// The emptier deletes the checkpoint two minutes later; nobody waits for it here.
	for _, name := range trashes(s) {
		s.c.Admin().Delete(t, name)
	}
	code, out, errs := s.run("fsweep-exec", "undo", run)
	gone := s.purged(before, paths...)
	if code != 4 || len(gone) == 0 || len(gone) >= len(paths) {
		t.Errorf("exit code %d, %q are gone\n%s\n%s", code, gone, out, errs)
	}
	for _, p := range paths {
		if !slices.Contains(gone, p) {
			s.trashed(before, false, p)
		} else if out := s.exits(0, "where", p, "--journal-dir", s.journals); !strings.Contains(out, "purged") {
			t.Errorf("where says of what is gone\n%s", out)
		}
	}
}

// purged are the items that are nowhere any more.
func (s *site) purged(before map[string]string, items ...string) (gone []string) {
	s.t.Helper()
	left := map[string]bool{}
	for _, line := range s.tree("/") {
		left[line] = true
	}
	for _, p := range items {
		if !left[before[p]] {
			gone = append(gone, p)
		}
	}
	return gone
}

package main

import (
	"strings"
	"testing"

	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeKept: what forbids a move since the image keeps the item, and only that; what comes in the
// middle of a run stops it where the manual says so.
func TestNameNodeKept(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	for _, c := range []struct {
		name string
		do   func(paths []string, before map[string]string)
	}{
		{"marker file above", func(paths []string, before map[string]string) {
			a.Put(t, "/scratch/.fsweep-keep", "alice", nil)
			s.nothingMovedBy(paths, func() {
				equalOutcomes(t, map[string]string{paths[0]: "kept marked", paths[1]: "kept marked", paths[2]: "kept marked"}, s.results(4, s.executeArgs()...).outcomes())
			})
			s.trashed(before, false, paths...)
		}},
		{"marker file above in the middle", func(paths []string, before map[string]string) {
			// What was looked at just now counts for half a minute; the item at work goes in any case.
			happened := s.when(moment{"rename2", 1}, happening{before: func() { a.Put(t, paths[0]+"/.fsweep-keep", "alice", nil) }})
			got := s.results(4, s.executeArgs()...).outcomes()
			happened()
			if !strings.HasPrefix(got[paths[0]], "kept ") || got[paths[1]] != "moved" || got[paths[2]] != "moved" {
				t.Errorf("%v", got)
			}
			s.trashed(before, false, paths[0])
			s.trashed(before, true, paths[1:]...)
		}},
		{"hold in the middle", func(paths []string, before map[string]string) {
			// A look for holds counts for half a minute.
			s.pace = `{between_items: 31s, between_batches: 0ms, between_roots: 0ms, window: ""}`
			s.makePlan(scratchRoot)
			s.pace = quick
			happened := s.when(moment{"rename2", 2}, happening{before: func() { a.Put(t, "/ops/fsweep/HOLD", "alice", nil) }})
			out := s.exits(4, s.executeArgs()...)
			happened()
			moved, still := s.split(before, paths...)
			if len(moved) != 1 || !strings.Contains(out, "hold") {
				t.Errorf("%q were moved\n%s", moved, out)
			}
			s.movedOnce(before, moved...)
			s.trashed(before, false, still...)
			run := s.newestName()
			s.nothingMovedBy(paths, func() {
				if code, out, errs := s.run("fsweep-exec", "resume", run, "--plan", s.plan); code != 3 && code != 5 {
					t.Errorf("resume: exit code %d\n%s\n%s", code, out, errs)
				}
			})
			a.Delete(t, "/ops/fsweep/HOLD")
			s.exits(0, "undo", run)
			s.trashed(before, false, paths...)
		}},
		{"another user's directory at the last moment", func(paths []string, before map[string]string) {
			happened := s.when(moment{"rename2", 2}, happening{before: func() {
				for _, p := range paths {
					a.Mkdir(t, p+"/private", "alice", 0o700)
					a.Put(t, p+"/private/secret", "alice", nil)
				}
			}})
			got := s.results(5, s.executeArgs()...).outcomes()
			happened()
			refused := 0 // by the NameNode, whether or not a look sees it first
			for _, p := range paths {
				switch {
				case strings.HasPrefix(got[p], "failed "):
					refused++
				case !strings.HasPrefix(got[p], "kept "):
					t.Errorf("%q: %s", p, got[p])
				}
			}
			if refused == 0 {
				t.Errorf("%v", got)
			}
			s.trashed(before, false, paths...)
			s.journalSays(before)
		}},
		{"protected directories", func(paths []string, before map[string]string) {
			a.Protect(t, paths[0], paths[1]+"/sub")
			defer a.Protect(t)
			got := s.results(5, s.executeArgs()...).outcomes()
			if !strings.HasPrefix(got[paths[0]], "failed ") || !strings.HasPrefix(got[paths[1]], "failed ") || got[paths[2]] != "moved" {
				t.Errorf("%v", got)
			}
			s.trashed(before, false, paths[:2]...)
			s.movedOnce(before, paths[2])
		}},
		{"snapshots in an item", func(paths []string, before map[string]string) {
			a.AllowSnapshots(t, paths[0]+"/sub")
			a.Snapshot(t, paths[0]+"/sub", "s1")
			defer a.DeleteSnapshot(t, paths[0]+"/sub", "s1")
			code, out, errs := s.run("fsweep-exec", s.executeArgs()...)
			if code != 4 && code != 5 {
				t.Errorf("exit code %d\n%s\n%s", code, out, errs)
			}
			s.trashed(before, false, paths[0])
			s.movedOnce(before, paths[1:]...)
		}},
		{"snapshots above", func(paths []string, before map[string]string) {
			a.AllowSnapshots(t, "/scratch")
			a.Snapshot(t, "/scratch", "s1")
			// Deleted, and made again with the same name; the snapshot still has the old one.
			a.Delete(t, paths[0])
			a.Delete(t, paths[1])
			a.Mkdir(t, paths[1], owner, 0o755)
			got := s.results(4, s.executeArgs()...).outcomes()
			if !strings.HasPrefix(got[paths[0]], "kept ") || !strings.HasPrefix(got[paths[1]], "kept ") || got[paths[2]] != "moved" {
				t.Errorf("%v", got)
			}
			if s.c.Stat(t, paths[1]) == "" {
				t.Error("what has the name of an item is gone")
			}
			s.movedOnce(before, paths[2])
			s.exits(0, "undo", s.newestName())
			s.trashed(before, false, paths[2])
			a.DeleteSnapshot(t, "/scratch", "s1")
		}},
	} {
		paths := s.makeScratch(3, strings.ReplaceAll(c.name, " ", "_"))
		s.makePlan(scratchRoot)
		c.do(paths, s.tree("/"))
		if t.Failed() {
			t.Fatal(c.name)
		}
		a.Delete(t, "/scratch")
	}
}

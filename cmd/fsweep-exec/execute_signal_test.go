package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
)

// signalled runs fsweep-exec, which gets signals at a moment.
func (s *site) signalled(m moment, signals []os.Signal, args ...string) (int, string) {
	s.t.Helper()
	started := make(chan *exec.Cmd, 1)
	happened := s.when(m, happening{before: func() {
		cmd := <-started
		for _, sig := range signals {
			if err := cmd.Process.Signal(sig); err != nil {
				s.t.Error(err)
			}
			time.Sleep(20 * time.Millisecond) // the call goes on when it knows
		}
	}})
	cmd, wait := s.start(args...)
	started <- cmd
	code, out := wait()
	happened()
	return code, out
}

// TestNameNodeSignals: a signal stops a run behind the item at work, with the journal closed and
// the lock given back, and resume does the rest; an undo likewise.
func TestNameNodeSignals(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	for round, c := range []struct {
		signals []os.Signal
		moment  moment
		code    int
		moved   int
	}{
		{[]os.Signal{syscall.SIGTERM}, moment{"rename2", 3}, 130, 2},
		{[]os.Signal{syscall.SIGINT}, moment{"rename2", 2}, 130, 1},
		{[]os.Signal{syscall.SIGHUP}, moment{"getFileLinkInfo", 9}, 130, 0}, // in the checks
		{[]os.Signal{syscall.SIGTERM}, moment{"mkdirs", 1}, 130, 0},         // of the lock
		{[]os.Signal{syscall.SIGINT}, moment{"rename2", 1}, 130, 0},         // that takes it
		{[]os.Signal{syscall.SIGTERM}, moment{"mkdirs", 2}, 130, 1},         // in the trash
		{[]os.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM}, moment{"rename2", 4}, 130, 3},
		{[]os.Signal{syscall.SIGTERM}, moment{"rename2", 6}, 0, 4}, // that gives the lock back: all is done
	} {
		name := fmt.Sprintf("%v at %s %d", c.signals, c.moment.method, c.moment.nth)
		if c.moment.method == "mkdirs" && c.moment.nth == 2 {
			s.c.Admin().Delete(t, "/user/"+owner+"/.Trash")
		}
		paths := s.makeScratch(4, fmt.Sprint("r", round))
		s.makePlan(scratchRoot)
		before := s.tree("/")
		journals := len(s.journalFiles())
		code, out := s.signalled(c.moment, c.signals, s.executeArgs()...)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s", name, code, c.code, out)
		}
		if len(s.journalFiles()) > journals {
			moved, still := s.split(before, paths...)
			s.movedOnce(before, moved...)
			s.trashed(before, false, still...)
			f := s.newest()
			if end := f.Ended(); end == nil || end.ExitCode != int64(c.code) || end.Totals.Done != int64(c.moved) {
				t.Errorf("%s: the journal ends with %+v", name, end)
			}
			_ = f.Close() // it was only read
			s.exits(0, "resume", s.newestName(), "--plan", s.plan)
		} else {
			if c.moved > 0 {
				t.Errorf("%s: no journal", name)
			}
			s.exits(0, s.executeArgs()...)
		}
		s.movedOnce(before, paths...)
		if t.Failed() {
			t.Fatalf("%s: it is not as it must be\n%s", name, out)
		}
	}
	s.signalledUndo()
}

// signalledUndo stops an undo, and the one that goes on with it, in the middle.
func (s *site) signalledUndo() {
	t := s.t
	paths := s.makeScratch(4, "undo")
	s.makePlan(scratchRoot)
	before := s.tree("/")
	s.exits(0, s.executeArgs()...)
	run := s.newestName()
	for stopped := range 2 {
		code, out := s.signalled(moment{"rename2", 2}, []os.Signal{syscall.SIGTERM}, "undo", run)
		if code != 130 {
			t.Errorf("undo: exit code %d\n%s", code, out)
		}
		moved, back := s.split(before, paths...)
		if len(back) != stopped+1 {
			t.Errorf("%q are back after %d undos", back, stopped+1)
		}
		s.trashed(before, true, moved...)
		s.trashed(before, false, back...)
		if s.c.Stat(t, "/ops/fsweep/LOCK") != "" {
			t.Error("the lock is still there")
		}
	}
	s.exits(4, "undo", run) // two are back already
	s.trashed(before, false, paths...)
	for _, p := range paths {
		if n := s.renames(id(before, p)); n != 2 {
			t.Errorf("%q was renamed %d times", p, n)
		}
	}
}

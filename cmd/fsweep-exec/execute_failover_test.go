package main

import (
	"fmt"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
)

// accident is a way in which a run loses the NameNode that it talks to.
type accident struct {
	name string
	do   func(s *site, over func()) happening // over makes the other NameNode ACTIVE
}

var (
	lost = rig.Fault{Action: rig.DropAnswer}

	handed     = accident{"handed over", func(_ *site, over func()) happening { return happening{before: over} }}
	handedLost = accident{"handed over, the answer lost", func(_ *site, over func()) happening { return happening{fault: lost, next: over} }}
	killed     = accident{"killed", func(s *site, over func()) happening {
		return happening{before: func() { s.c.Kill(s.t, s.c.Active()); over() }}
	}}
	killedLost = accident{"killed behind it, the answer lost", func(s *site, over func()) happening {
		return happening{fault: lost, next: func() { s.c.Kill(s.t, s.c.Active()); over() }}
	}}
	// The call waits in a NameNode that does not answer any more, and is killed at last.
	frozen = accident{"frozen", func(s *site, over func()) happening {
		return happening{before: func() { s.c.Freeze(s.t, s.c.Active()); soon(s.t, 3*time.Second, over) }}
	}}
	frozenLost = accident{"frozen behind it, the answer lost", func(s *site, over func()) happening {
		return happening{fault: lost, next: func() { s.c.Freeze(s.t, s.c.Active()); soon(s.t, 3*time.Second, over) }}
	}}
)

// TestNameNodeFailover: whenever and however the ACTIVE NameNode goes, the run comes to its end with
// the other one: every item is renamed once, and the journal is true.
func TestNameNodeFailover(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{NameNodes: 2})
	s.pace = `{between_items: 0ms, between_batches: 0ms, between_roots: 0ms, window: "", rpc_timeout: 2s}`
	for round, c := range []struct {
		moment moment
		accident
	}{
		{moment{"getFileLinkInfo", 9}, handed}, // in the checks
		{moment{"getFileLinkInfo", 9}, frozen},
		{moment{"mkdirs", 1}, handedLost}, // of the lock
		{moment{"rename2", 1}, handed},    // that takes it
		{moment{"rename2", 1}, killedLost},
		{moment{"mkdirs", 2}, killed}, // in the trash
		{moment{"rename2", 3}, handed},
		{moment{"rename2", 3}, handedLost},
		{moment{"rename2", 2}, killed},
		{moment{"rename2", 4}, killedLost},
		{moment{"rename2", 3}, frozen},
		{moment{"rename2", 2}, frozenLost},
		{moment{"rename2", 5}, handedLost}, // that gives the lock back
		{moment{"rename2", 5}, killed},
	} {
		name := fmt.Sprintf("%s at %s %d", c.name, c.moment.method, c.moment.nth)
		if c.moment == (moment{"mkdirs", 2}) {
			s.c.Admin().Delete(t, "/user/"+owner+"/.Trash")
		}
		paths := s.makeScratch(3, fmt.Sprint("r", round))
		s.makePlan(scratchRoot)
		before := s.tree("/")
		began := time.Now()
		over := func() {
			if err := s.c.TryFailover(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		happened := s.when(c.moment, c.do(s, over))
		code, out, errs := s.run("fsweep-exec", s.executeArgs()...)
		happened()
		t.Logf("%s: %.1fs", name, time.Since(began).Seconds())
		s.c.Mend(t)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s\n%s", name, code, out, errs)
		}
		s.movedOnce(before, paths...)
		if t.Failed() {
			t.Fatalf("%s: it is not as it must be\n%s\n%s", name, out, errs)
		}
	}
}

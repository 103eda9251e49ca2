package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
)

const scratchRoot = `  - {path: /scratch, layout: children, mode: execute, min_age: 24h, names: ["tmp-*"]}
`

// makeScratch makes directories that may be cleared, and gives their paths.
func (s *site) makeScratch(n int, prefix string) (paths []string) {
	s.t.Helper()
	a := s.c.Admin()
	a.Mkdir(s.t, "/scratch", owner, 0o755)
	for i := range n {
		p := fmt.Sprintf("/scratch/tmp-%s-%d", prefix, i)
		a.Mkdir(s.t, p, owner, 0o755)
		a.Mkdir(s.t, p+"/sub", owner, 0o755)
		a.Put(s.t, p+"/sub/part-0", owner, nil)
		s.old(p, 9)
		paths = append(paths, p)
	}
	return paths
}

// trashed requires that everything went to the trash, or is still where it was, as it was.
func (s *site) trashed(before map[string]string, moved bool, paths ...string) {
	s.t.Helper()
	after := s.tree("/")
	for _, item := range paths {
		to := item
		if moved {
			to = "/user/" + owner + "/.Trash/Current" + item
		}
		for p, line := range before {
			if (p == item || strings.HasPrefix(p, item+"/")) && after[to+strings.TrimPrefix(p, item)] != line {
				s.t.Errorf("%q: not %s at %q", p, line, to)
			}
		}
	}
}

func (s *site) journalFiles() []string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.journals, "*.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

// TestNameNodeKilled kills the executor with SIGKILL at a random moment, again and again, and
// goes on with resume: everything that was planned is in the trash then, and nothing else
// moved.
func TestNameNodeKilled(t *testing.T) {
	t.Parallel()
	const rounds = 30
	s := newSite(t, rig.Options{})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	cut := 0
	for round := range rounds {
		paths := s.makeScratch(4, fmt.Sprint("r", round))
		stays := s.c.Stat(t, "/user")
		s.makePlan(scratchRoot)
		before := s.tree("/")
		cmd := s.command(t.Context(), "fsweep-exec", s.executeArgs()...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() != nil {
			cut++
		}
		journals := s.journalFiles()
		switch {
		case len(journals) == 0:
			s.exits(0, s.executeArgs()...)
		default:
			if code, out, errs := s.run("fsweep-exec", "resume", journals[0], "--plan", s.plan, "--unproven"); code != 0 && !strings.Contains(errs, "begun") {
				t.Fatalf("round %d: resume: exit code %d\n%s\n%s", round, code, out, errs)
			} else if code != 0 { // it was killed before anything was done
				s.exits(0, s.executeArgs()...)
			}
		}
		s.trashed(before, true, paths...)
		if s.c.Stat(t, "/ops/fsweep/LOCK") != "" {
			t.Fatalf("round %d: the lock is still there", round)
		}
		if now := s.c.Stat(t, "/user"); now != stays {
			t.Errorf("/user is %s, was %s", now, stays)
		}
		for _, name := range s.journalFiles() {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d of %d runs were cut", cut, rounds)
	if cut == 0 {
		t.Error("no run was cut")
	}
}

// TestNameNodeTwoAtOnce: of two executors of one plan, one moves everything, and the other
// nothing.
func TestNameNodeTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	for round := range 5 {
		paths := s.makeScratch(3, fmt.Sprint("two", round))
		s.makePlan(scratchRoot)
		before := s.tree("/")
		var wg sync.WaitGroup
		var codes [2]int
		var outs [2]bytes.Buffer
		for i := range codes {
			cmd := s.command(t.Context(), "fsweep-exec", s.executeArgs()...)
			cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
			wg.Go(func() {
				_ = cmd.Run() // the code tells
				codes[i] = cmd.ProcessState.ExitCode()
			})
		}
		wg.Wait()
		won := 0
		for i, code := range codes {
			switch code {
			case 0:
				won++
			case 3, 5:
			default:
				t.Errorf("exit code %d: %s", code, outs[i].String())
			}
		}
		if won != 1 {
			t.Errorf("exit codes %v\n%s\n%s", codes, outs[0].String(), outs[1].String())
		}
		s.trashed(before, true, paths...)
	}
}

// TestNameNodeRefused: what forbids a plan is refused by both dry run and execute, and
// nothing is asked for that changes anything.
func TestNameNodeRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	paths := s.makeScratch(2, "x")
	s.makePlan(scratchRoot)
	before := s.tree("/")
	plan, err := os.ReadFile(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code       string
		begin, end func()
	}{
		{"held", func() { a.Put(t, "/ops/fsweep/HOLD", owner, nil) }, func() { a.Delete(t, "/ops/fsweep/HOLD") }},
		{"safe-mode", func() { a.SafeMode(t, true) }, func() { a.SafeMode(t, false) }},
		{"trash-not-usable", func() { a.Put(t, "/user/flink/.Trash", owner, nil) }, func() { a.Delete(t, "/user/flink/.Trash") }},
		{"lock-dir-differs", func() { a.Rename(t, "/ops/fsweep", "/ops/old"); a.Mkdir(t, "/ops/fsweep", owner, 0o775) }, func() {
			a.Delete(t, "/ops/fsweep")
			a.Rename(t, "/ops/old", "/ops/fsweep")
		}},
	} {
		c.begin()
		for _, args := range [][]string{{"run", s.plan}, s.executeArgs()} {
			code, out, errs := s.run("fsweep-exec", args...)
			if code != 3 || !strings.Contains(out+errs, c.code) && !strings.Contains(out+errs, "lock-dir-changed") && !strings.Contains(errs, "not the one that the plan knows") {
				t.Errorf("%s: %q: exit code %d\n%s\n%s", c.code, args[:2], code, out, errs)
			}
		}
		c.end()
	}
	// The lock of somebody else, and of one who died.
	a.Mkdir(t, "/ops/fsweep/LOCK/somebody@else.1.2.3", owner, 0o755)
	if out := s.exits(3, s.executeArgs()...); !strings.Contains(out, "somebody@else.1.2.3") {
		t.Errorf("who holds the lock is not said: %s", out)
	}
	if out := s.exits(0, "run", s.plan); !strings.Contains(out, "somebody@else.1.2.3") {
		t.Errorf("who holds the lock is not said: %s", out)
	}
	if out := s.exits(0, "unlock", "--plan", s.plan); strings.TrimSpace(out) != "somebody@else.1.2.3" {
		t.Errorf("unlock says %q", out)
	}
	// Another plan than was approved, and one that was edited by one byte.
	other := "sha256:" + strings.Repeat("0", 64)
	s.exits(3, "run", s.plan, "--execute", other, "--journal-dir", s.journals)
	edited := filepath.Join(s.dir, "edited.jsonl")
	if err := os.WriteFile(edited, bytes.Replace(plan, []byte("tmp-x-0"), []byte("tmp-x-9"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := s.run("fsweep-exec", "run", edited, "--execute", s.digest, "--journal-dir", s.journals); code != 3 && code != 2 {
		t.Errorf("an edited plan: exit code %d\n%s\n%s", code, out, errs)
	}
	if err := os.WriteFile(edited, plan[:len(plan)-7], 0o600); err != nil {
		t.Fatal(err)
	}
	s.exits(2, "run", edited)
	s.exits(2, "run", s.plan, "--execute", s.digest, "--journal-dir", t.TempDir()) // it is emptied some day
	if m := s.c.Mutations(t, owner); len(m) > 0 {
		t.Errorf("what was refused did %v", m)
	}
	s.exits(2, "unlock", "--plan", s.plan, "--holder", "somebody@else.1.2.3")
	s.exits(3, "unlock", "--plan", s.plan, "--holder", "another", "--journal-dir", s.journals)
	s.exits(0, "unlock", "--plan", s.plan, "--holder", "somebody@else.1.2.3", "--journal-dir", s.journals)
	a.Delete(t, "/ops/fsweep/broken")
	delete(before, "/ops/fsweep")
	s.trashed(before, false, paths...)
	s.exits(0, s.executeArgs()...)
	s.trashed(before, true, paths...)
	if out := s.exits(0, "where", paths[0]+"/sub", "--journal-dir", s.journals); !strings.Contains(out, "/user/flink/.Trash/Current"+paths[0]) {
		t.Errorf("where says %s", out)
	}
	s.exits(4, "where", "/nowhere", "--journal-dir", s.journals)
}

// TestNameNodeNoTrash: without a trash nothing is ever moved.
func TestNameNodeNoTrash(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{TrashInterval: -1})
	paths := s.makeScratch(2, "x")
	s.makePlan(scratchRoot)
	before := s.tree("/")
	if r := s.results(3, "run", s.plan); len(r.Problems) != 1 || r.Problems[0].Code != "no-trash" {
		t.Errorf("%+v", r.Problems)
	}
	s.exits(3, s.executeArgs()...)
	s.trashed(before, false, paths...)
	if m := s.c.Mutations(t, owner); len(m) > 0 {
		t.Errorf("it did %v", m)
	}
}

// TestNameNodeObstacles: quotas, other users' directories, an encryption zone and old trash
// are no reason for anything but that items stay, or find another place.
func TestNameNodeObstacles(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	paths := s.makeScratch(4, "x")
	// One holds a directory that only somebody else may see into.
	a.Mkdir(t, paths[0]+"/private", "alice", 0o700)
	a.Put(t, paths[0]+"/private/secret", "alice", nil)
	s.old(paths[0], 9)
	// The place of another in the trash is taken, and a file stands in the way of a third.
	a.Mkdir(t, "/user/flink/.Trash/Current"+paths[1], owner, 0o700)
	a.Chown(t, "/user/flink/.Trash/Current/scratch", owner, owner)
	a.Chown(t, "/user/flink/.Trash/Current", owner, owner)
	a.Chown(t, "/user/flink/.Trash", owner, owner)
	zone := s.c.Can().EncryptionZones
	roots := scratchRoot
	if zone {
		a.Mkdir(t, "/zone", owner, 0o755)
		a.EncryptionZone(t, "/zone")
		a.Mkdir(t, "/zone/.Trash", owner, 0o1777)
		a.Mkdir(t, "/zone/scratch", owner, 0o755)
		a.Mkdir(t, "/zone/scratch/tmp-z", owner, 0o755)
		s.old("/zone/scratch/tmp-z", 9)
		roots += `  - {path: /zone/scratch, layout: children, mode: execute, min_age: 24h, names: ["tmp-*"]}
`
	}
	s.makePlan(roots)
	want := map[string]string{paths[0]: "kept not-visible", paths[1]: "moved", paths[2]: "moved", paths[3]: "moved"}
	if zone {
		want["/zone/scratch/tmp-z"] = "moved"
	}
	equalOutcomes(t, dryOf(want), s.results(4, "run", s.plan).outcomes())
	id := strings.Fields(s.c.Stat(t, paths[1]))[0]
	r := s.results(4, s.executeArgs()...)
	equalOutcomes(t, want, r.outcomes())
	for _, i := range r.Items {
		if i.Path == paths[1] {
			if !strings.HasPrefix(i.Target, "/user/flink/.Trash/Current"+paths[1]) || i.Target == "/user/flink/.Trash/Current"+paths[1] ||
				!strings.HasPrefix(s.c.Stat(t, i.Target), id+" ") {
				t.Errorf("%q went to %q: %s", i.Path, i.Target, s.c.Stat(t, i.Target))
			}
		}
	}
	if zone && s.c.Stat(t, "/zone/.Trash/flink/Current/zone/scratch/tmp-z") == "" {
		t.Error("what is in a zone did not go to the trash of the zone")
	}
	// A home that has no room: the NameNode refuses, and the item stays.
	full := s.makeScratch(1, "full")
	s.makePlan(scratchRoot)
	before := s.tree("/")
	a.SetQuota(t, "/user/flink", 1, -1)
	code, out, errs := s.run("fsweep-exec", s.executeArgs()...)
	if code != 5 || !strings.Contains(out+errs, "Quota") {
		t.Errorf("a full home: exit code %d\n%s\n%s", code, out, errs)
	}
	s.trashed(before, false, full...)
}

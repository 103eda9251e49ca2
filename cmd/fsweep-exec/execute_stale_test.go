package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
)

// named makes a configuration in which a cluster has a logical name, as clusters have that were set up
// alike.
func (s *site) named(c *rig.Cluster) {
	s.t.Helper()
	s.name, s.conf = "prod", s.t.TempDir()
	_, _, http := c.NameNode(0)
	property := func(name, value string) string {
		return "<property><name>" + name + "</name><value>" + value + "</value></property>\n"
	}
	for file, text := range map[string]string{
		"core-site.xml": property("fs.defaultFS", "hdfs://prod"),
		"hdfs-site.xml": property("dfs.nameservices", "prod") + property("dfs.namenode.rpc-address.prod", c.Proxy(0).Addr()) +
			property("dfs.namenode.http-address.prod", http),
	} {
		if err := os.WriteFile(filepath.Join(s.conf, file), []byte("<configuration>\n"+text+"</configuration>\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestNameNodeOtherCluster: a plan and a journal meet a cluster that was set up alike, with the same
// name, paths and inode ids. Nothing of it is touched, and the journal stays as it is.
func TestNameNodeOtherCluster(t *testing.T) {
	t.Parallel()
	s, other := newSite(t, rig.Options{}), newSite(t, rig.Options{})
	s.named(s.c)
	other.named(other.c)
	paths := s.makeScratch(3, "x")
	other.makeScratch(3, "x")
	for p, line := range s.tree("/") {
		if other.tree("/")[p] == "" || id(other.tree("/"), p) != strings.Fields(line)[0] {
			t.Fatalf("%q has other inode ids", p)
		}
	}
	s.makePlan(scratchRoot)
	before := s.tree("/")
	run := s.stoppedRun(moment{"rename2", 3})
	journal, err := os.ReadFile(run)
	if err != nil {
		t.Fatal(err)
	}
	other.plan, other.digest, other.journals = s.plan, s.digest, s.journals
	other.nothingDone("another cluster", func() {
		for _, args := range [][]string{
			{"run", s.plan},
			other.executeArgs(),
			{"resume", run, "--plan", s.plan},
			{"undo", run},
			{"undo", "--plan", s.plan, "--journal-dir", s.journals},
			{"unlock", "--plan", s.plan, "--holder", "somebody", "--journal-dir", s.journals},
		} {
			if out := other.exits(3, args...); !strings.Contains(out, "other-cluster") && !strings.Contains(out, "namespace with id") && !strings.Contains(out, "of cluster") {
				t.Errorf("%q does not say why\n%s", args, out)
			}
		}
	})
	if now, err := os.ReadFile(run); err != nil || !bytes.Equal(now, journal) {
		t.Error("the journal was changed")
	}
	if n := len(s.journalFiles()); n != 1 {
		t.Errorf("%d journals", n)
	}
	s.exits(0, "resume", run, "--plan", s.plan)
	s.movedOnce(before, paths...)
}

// stoppedRun executes the plan and stops it with SIGTERM at a moment. It gives the journal.
func (s *site) stoppedRun(m moment) string {
	s.t.Helper()
	if code, out := s.signalled(m, []os.Signal{syscall.SIGTERM}, s.executeArgs()...); code != 130 {
		s.t.Fatalf("exit code %d\n%s", code, out)
	}
	return s.newestName()
}

// edit makes another plan of the plan, with a new digest that somebody approved by mistake.
func (s *site) edit(pattern, with string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.plan)
	if err != nil {
		s.t.Fatal(err)
	}
	re := regexp.MustCompile(pattern)
	if !re.Match(b) {
		s.t.Fatalf("the plan has no %s", pattern)
	}
	b = re.ReplaceAll(b, []byte(with))
	name := filepath.Join(s.dir, fmt.Sprintf("edited-%d.jsonl", time.Now().UnixNano()))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func digestOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(b))
}

// TestNameNodeStale: plans that are expired, of another time, executed, cut, edited or of a version
// to come are refused by dry run and execute with the exit code of the manual, and nothing is touched.
func TestNameNodeStale(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	paths := s.makeScratch(3, "x")
	s.makePlan(scratchRoot)
	before := s.tree("/")
	good, err := os.ReadFile(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Now().UnixMilli()
	s.nothingDone("plans that are refused", func() {
		for _, c := range []struct {
			name, pattern, with string
			code                int
			says                string
		}{
			{"expired", `"expires_ms":\d+`, fmt.Sprintf(`"expires_ms":%d`, ms-1), 3, "expired"},
			{"not executable", `"executable":true`, `"executable":false`, 3, "not-executable"},
			{"another namespace", `"namespace_id":\d+`, `"namespace_id":1`, 3, "other-cluster"},
			{"another anchor", `("anchors":\[\{"path":"[^"]*","inode_id":)\d+`, `${1}99999`, 3, "anchor-differs"},
			{"another lock directory", `("lock_dir":\{"path":"[^"]*","inode_id":)\d+`, `${1}99999`, 3, "lock"},
			{"a version to come", `"format":1`, `"format":2`, 2, "format"},
			{"an item less", `"items":3`, `"items":2`, 2, ""},
			{"a key that nobody knows", `"executable":true`, `"executable":true,"force":true`, 2, ""},
		} {
			name := s.edit(c.pattern, c.with)
			for _, args := range [][]string{{"run", name}, {"run", name, "--execute", digestOf(t, name), "--journal-dir", s.journals, "--unproven"}} {
				code, out, errs := s.run("fsweep-exec", args...)
				if code != c.code || !strings.Contains(out+errs, c.says) {
					t.Errorf("%s: %q: exit code %d\n%s\n%s", c.name, args[:2], code, out, errs)
				}
			}
		}
		name := s.edit(`"nameservice":"[^"]*"`, `"nameservice":"prod"`)
		s.exits(3, "run", name, "--nameservice", s.nameservice())
		s.exits(3, "run", name, "--nameservice", s.nameservice(), "--execute", digestOf(t, name), "--journal-dir", s.journals)
		s.damaged(good)
	})
	if n := len(s.journalFiles()); n != 0 {
		t.Errorf("%d journals of what was refused", n)
	}
	s.trashed(before, false, paths...)
	s.exits(0, s.executeArgs()...)
	s.movedOnce(before, paths...)
	// Executed: here, elsewhere, and by another name of the file.
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(copied, good, 0o600); err != nil {
		t.Fatal(err)
	}
	s.exits(0, "undo", s.newestName())
	s.nothingDone("a plan that was carried out", func() {
		for _, plan := range []string{s.plan, copied} {
			for _, dir := range []string{s.journals, s.journalDir()} {
				for _, args := range [][]string{{"run", plan}, {"run", plan, "--execute", s.digest, "--journal-dir", dir}} {
					if out := s.exits(3, args...); !strings.Contains(out, "carried out") && !strings.Contains(out, "executed already") {
						t.Errorf("%q: %s", args, out)
					}
				}
			}
		}
	})
}

// damaged runs plans with a byte changed, and plans that were cut, with the digest of the good one and
// with their own.
func (s *site) damaged(good []byte) {
	t := s.t
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	name := filepath.Join(s.dir, "damaged.jsonl")
	for n := range 40 {
		b := bytes.Clone(good)
		if n%4 == 0 {
			b = b[:r.IntN(len(b))]
		} else {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := s.run("fsweep-exec", "run", name, "--execute", s.digest, "--journal-dir", s.journals); code != 2 && code != 3 {
			t.Errorf("seed %d, round %d: exit code %d\n%s\n%s", seed, n, code, out, errs)
		}
	}
}

// TestNameNodeJournals: journals of another user and another plan, in use, edited, cut or of a version to
// come are neither resumed nor undone, and nothing is touched; a torn last line is no harm.
func TestNameNodeJournals(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	s.c.Admin().Mkdir(t, "/user/alice", "alice", 0o755)
	first := s.makeScratch(3, "x")
	s.makePlan(scratchRoot)
	other := s.plan
	s.makePlan(scratchRoot, "guard_age: 25h") // another digest
	before := s.tree("/")
	cut := s.stoppedRun(moment{"rename2", 3})
	good, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	s.nothingDone("journals that are refused", func() {
		s.exits(3, "resume", cut, "--plan", other)
		for _, c := range []struct {
			name string
			data []byte
		}{
			{"a byte changed", bytes.Replace(good, []byte(`"purpose":"move"`), []byte(`"purpose":"mave"`), 1)},
			{"an id changed", regexp.MustCompile(`"inode_id":(\d+)`).ReplaceAll(good, []byte(`"inode_id":1$1`))},
			{"a line less", regexp.MustCompile(`(?m)^.*"type":"done".*\n`).ReplaceAll(good, nil)},
			{"a version to come", bytes.Replace(good, []byte(`"format":1`), []byte(`"format":2`), 1)},
			{"nothing", nil},
			{"a piece of the first line", good[:50]},
		} {
			dir := s.journalDir()
			name := filepath.Join(dir, filepath.Base(cut))
			if err := os.WriteFile(name, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"resume", name, "--plan", s.plan}, {"undo", name}} {
				if code, out, errs := s.run("fsweep-exec", args...); code != 2 {
					t.Errorf("%s: %s: exit code %d\n%s\n%s", c.name, args[0], code, out, errs)
				}
			}
			if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, c.data) {
				t.Errorf("%s: the journal was changed", c.name)
			}
		}
	})
	s.user = "alice"
	s.nothingDone("another user's journal", func() {
		for _, args := range [][]string{{"resume", cut, "--plan", s.plan}, {"undo", cut}} {
			if out := s.exits(3, args...); !strings.Contains(out, `of user "flink"`) {
				t.Errorf("%s does not say why\n%s", args[0], out)
			}
		}
	})
	s.user = owner
	// A torn line is cut off, and the rest is done.
	if err := os.WriteFile(cut, append(good, `{"type":"intent","seq":`...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.exits(0, "resume", cut, "--plan", s.plan)
	s.movedOnce(before, first...)
	s.exits(0, "undo", cut)
	s.nothingDone("journals of an undo", func() {
		for _, name := range s.journalFiles() {
			if name != cut {
				s.exits(3, "resume", name, "--plan", s.plan)
				s.exits(3, "undo", name)
			}
		}
	})
	s.backAsBefore(before)
}

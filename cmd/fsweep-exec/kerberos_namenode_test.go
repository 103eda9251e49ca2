package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute/hdfstest/rig"
)

// secured is a cluster with Kerberos, and how the user of the programs logs in there.
type secured struct {
	*site
	flags []string
}

// newSecured logs in with a keytab, or with the ticket of another Kerberos client.
func newSecured(t *testing.T, o rig.Options, cache bool) *secured {
	t.Helper()
	s := &secured{site: newSite(t, o)}
	s.env = []string{"KRB5_CONFIG=" + s.c.Krb5Conf()}
	if cache {
		s.env = append(s.env, "KRB5CCNAME=FILE:"+s.c.Kinit(t, owner))
	} else {
		s.flags = s.as(owner)
	}
	return s
}

func (s *secured) as(user string) []string {
	return []string{"--keytab", s.c.Keytab(s.t, user), "--principal", user}
}

func (s *secured) with(args ...string) []string { return append(args, s.flags...) }

// debris makes what has no references, and plans it.
func (s *secured) debris(pace string) (moved map[string]string) {
	a := s.c.Admin()
	moved = map[string]string{}
	a.Mkdir(s.t, "/scratch", owner, 0o755)
	for _, name := range []string{"tmp-1", "tmp-2", "tmp-3", hostile} {
		a.Mkdir(s.t, scratch+name, owner, 0o755)
		a.Put(s.t, scratch+name+"/part-0", owner, nil)
		s.old(scratch+name, 9)
		moved[scratch+name] = "moved"
	}
	if pace != "" {
		s.pace = strings.Replace(s.pace, "between_items: 0ms", "between_items: "+pace, 1)
	}
	s.makePlan(`  - {path: /scratch, layout: children, mode: execute, min_age: 24h, names: ["tmp-*"]}` + "\n")
	return moved
}

// noSecrets looks through journals, logs of the servers and all that the programs wrote.
func (s *secured) noSecrets() {
	s.t.Helper()
	look := func(what string, b []byte) {
		for _, found := range s.c.Leaks(s.t, b) {
			s.t.Errorf("%s has a secret: %s", what, found)
		}
	}
	look("the output", s.seen)
	files := 0
	for _, pattern := range []string{filepath.Join(s.journals, "*"), filepath.Join(s.journals, "of-bob", "*"), filepath.Join(s.c.Dir(), "*.log"), filepath.Join(s.c.Dir(), "*.err"), filepath.Join(s.dir, "*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, file := range found {
			if b, err := os.ReadFile(file); err == nil {
				look(file, b)
				files++
			}
		}
	}
	if files < 5 {
		s.t.Errorf("only %d files were looked at", files)
	}
}

// TestNameNodeKerberosRun goes from probe to undo with the built programs, in each quality.
func TestNameNodeKerberosRun(t *testing.T) {
	for _, tc := range []struct {
		quality   string
		nameNodes int
		cache     bool
		lifetime  time.Duration
	}{
		{quality: "authentication", cache: true},
		{quality: "integrity", lifetime: 3 * time.Second},
		{quality: "privacy", nameNodes: 2},
	} {
		t.Run(tc.quality, func(t *testing.T) {
			s := newSecured(t, rig.Options{NameNodes: tc.nameNodes, Kerberos: &rig.Kerberos{RPCProtection: tc.quality, TicketLifetime: tc.lifetime}}, tc.cache)
			pace := ""
			if tc.lifetime > 0 {
				pace = "1500ms"
			}
			moved := s.debris(pace)
			before := s.tree("/")
			text := s.exits(0, s.with("probe", "--plan", s.plan)...)
			for _, want := range []string{"kerberos", owner} {
				if !strings.Contains(text, want) {
					t.Errorf("probe does not say %q:\n%s", want, text)
				}
			}
			equalOutcomes(t, dryOf(moved), s.results(0, s.with("run", s.plan)...).outcomes())
			s.foreigner(before)
			if tc.lifetime > 0 {
				defer s.disconnecting()()
			}
			equalOutcomes(t, moved, s.results(0, s.with(s.executeArgs()...)...).outcomes())
			if tc.nameNodes > 1 {
				s.c.Failover(t)
			}
			for item := range moved {
				if text := s.exits(0, s.with("where", item, "--journal-dir", s.journals)...); !strings.Contains(text, "/user/"+owner+"/.Trash/Current/scratch") {
					t.Errorf("where %q:\n%s", item, text)
				}
			}
			journals, err := filepath.Glob(filepath.Join(s.journals, "*.jsonl"))
			if err != nil || len(journals) != 1 {
				t.Fatalf("%q, %v", journals, err)
			}
			s.exits(0, s.with("undo", journals[0])...)
			after := s.tree("/")
			for p, line := range before {
				if after[p] != line {
					t.Errorf("%q was %s and is %s", p, line, after[p])
				}
			}
			s.noSecrets()
		})
	}
}

// foreigner has a user without rights try the same, and users that are none.
func (s *secured) foreigner(before map[string]string) {
	s.t.Helper()
	theirs := filepath.Join(s.journals, "of-bob")
	if err := os.Mkdir(theirs, 0o700); err != nil {
		s.t.Fatal(err)
	}
	args := s.executeArgs()
	args[slices.Index(args, s.journals)] = theirs
	if code, out, _ := s.run("fsweep-exec", append(args, s.as("bob")...)...); code == 0 {
		s.t.Errorf("bob may do that:\n%s", out)
	}
	if out := s.exits(2, "probe", "--keytab", s.c.Keytab(s.t, "bob"), "--principal", "bob@OTHER.TEST"); !strings.Contains(out, "no key of bob@OTHER.TEST") {
		s.t.Errorf("another realm:\n%s", out)
	}
	differ(s.t, before, s.tree("/"))
}

// disconnecting ends all connections again and again, so that new ones need tickets.
func (s *secured) disconnecting() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
				s.c.Proxy(0).Disconnect()
			}
		}
	}()
	return func() { close(done); <-ended }
}

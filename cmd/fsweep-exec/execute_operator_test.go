package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeOperator is what operators do around a run, and mistakes that cost nothing: outputs
// in the wrong place, other files among the journals, undo once more, undo of a journal that was
// cut, undo when the trash was emptied.
func TestNameNodeOperator(t *testing.T) {
	s := newSite(t, rig.Options{})
	// A cluster without a logical name: a rehearsal works, there and back, and leaves its directory.
	s.c.Admin().Mkdir(t, "/scratch", owner, 0o755)
	if out := s.exits(0, "rehearse", "/scratch/", "--journal-dir", s.journals); !strings.Contains(out, "MOVED") || !strings.Contains(out, "RESTORED") {
		t.Errorf("rehearse says %s", out)
	}
	if _, ok := s.tree("/scratch")["/scratch/fsweep-rehearsal"]; !ok {
		t.Error("the directory of the rehearsal is gone")
	}
	s.exits(3, "rehearse", "/nowhere", "--journal-dir", s.journals)
	for _, name := range s.journalFiles() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}

	paths := s.makeScratch(3, "x")
	s.makePlan(scratchRoot)
	before := s.tree("/scratch")
	s.exits(0, "probe", "--plan", s.plan)
	s.exits(2, append(s.executeArgs(), "-o", filepath.Join(s.journals, "results.jsonl"))...)
	if m := s.journalFiles(); len(m) != 0 {
		t.Errorf("a refused run left %q", m)
	}
	s.exits(0, s.executeArgs()...)
	if out := s.exits(3, "probe", "--plan", s.plan); !strings.Contains(out, "plan_executed") {
		t.Errorf("probe says %s", out)
	}
	journal := s.journalFiles()[0]
	outputs(t, s, journal)
	others(t, s, journal, paths[0])
	undoAgain(t, s, journal)
	after := s.tree("/scratch")
	maps.DeleteFunc(after, func(p, _ string) bool { return strings.HasPrefix(p, "/scratch/fsweep-rehearsal") })
	maps.DeleteFunc(before, func(p, _ string) bool { return strings.HasPrefix(p, "/scratch/fsweep-rehearsal") })
	differ(t, before, after)
}

// outputs: no command replaces what it reads, nor any journal.
func outputs(t *testing.T, s *site, journal string) {
	t.Helper()
	for _, args := range [][]string{
		{"resume", journal, "--plan", s.plan, "-o", journal},
		{"resume", journal, "--plan", s.plan, "-o", s.plan},
		{"undo", journal, "-o", journal},
		{"undo", "--plan", s.plan, "--journal-dir", s.journals, "-o", s.plan},
		{"undo", "--plan", s.plan, "--journal-dir", s.journals, "-o", journal},
		{"run", s.plan, "-o", journal},
		{"probe", "-o", journal},
		{"rehearse", "/scratch", "--journal-dir", s.journals, "-o", journal},
	} {
		want := map[string][]byte{}
		for _, name := range []string{journal, s.plan} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want[name] = text
		}
		s.exits(2, args...)
		for name, text := range want {
			if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
				t.Fatalf("%q replaced %s, %v", args, name, err)
			}
		}
	}
}

// others: files that are no journals, journals of other clusters, and such that were not begun
// hide nothing that the rest tells.
func others(t *testing.T, s *site, journal, moved string) {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"0-not-begun.jsonl": {"", 0},
		"0-torn.jsonl":      {string(text[:100]), 0},
		"0-other.jsonl":     {"{\"no\":\"journal\"}\n", 4},
		"0-edited.jsonl":    {strings.Replace(string(text), moved, moved+"y", 1), 4},
	} {
		name = filepath.Join(s.journals, name)
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := s.exits(c.want, "where", moved+"/", "--journal-dir", s.journals)
		if !strings.Contains(out, "/user/flink/.Trash/Current"+moved) || c.want != 0 && !strings.Contains(out, filepath.Base(name)) {
			t.Errorf("with %s where says %s", name, out)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if out := s.exits(0, "where", "/", "--journal-dir", s.journals); strings.Count(out, "in-trash") != 3 {
		t.Errorf("where / says %s", out)
	}
	if out := s.exits(4, "where", moved+`\n`, "--journal-dir", s.journals); !strings.Contains(out, "names are typed as they are") {
		t.Errorf("where says %s", out)
	}
}

// undoAgain undoes a journal of three items that was cut, then the rest of it, then all once more;
// in the end one is purged and one is restored by nobody.
func undoAgain(t *testing.T, s *site, journal string) {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(s.dir, "cut.jsonl")
	first := bytes.Index(text, []byte(`"purpose":"move"`))
	second := first + 1 + bytes.Index(text[first+1:], []byte(`"purpose":"move"`))
	end := bytes.LastIndexByte(text[:second], '\n') + 1
	if err := os.WriteFile(cut, text[:end], 0o600); err != nil {
		t.Fatal(err)
	}
	r := s.results(4, "undo", cut, "--journal-dir", s.journals)
	if r.Summary.Restored.Items != 1 {
		t.Errorf("%+v", r.Summary)
	}
	if r = s.results(4, "undo", journal); r.Summary.Restored.Items != 2 || r.Summary.Skipped.Items != 1 {
		t.Errorf("%+v", r.Summary)
	}
	if r = s.results(4, "undo", journal, "--item", "/scratch/"); r.Summary.Restored.Items != 0 || r.Summary.Skipped.Items != 3 {
		t.Errorf("%+v", r.Summary)
	}
	if r = s.results(0, "undo", "--plan", s.plan, "--journal-dir", s.journals); len(r.Items) != 0 {
		t.Errorf("%+v", r.Items)
	}
	// Somebody moves one away: an undo by the plan says so.
	a := s.c.Admin()
	a.Rename(t, "/scratch/tmp-x-0", "/away")
	if r = s.results(4, "undo", "--plan", s.plan, "--journal-dir", s.journals); r.outcomes()["/scratch/tmp-x-0"] != "kept moved-by-others" || len(r.Items) != 1 {
		t.Errorf("%+v", r.Items)
	}
	a.Rename(t, "/away", "/scratch/tmp-x-0")
}

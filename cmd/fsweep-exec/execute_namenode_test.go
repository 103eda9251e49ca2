package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsweep/execute/hdfstest/rig"
)

const (
	orders  = "/flink/ckpt/orders/"
	clicks  = "/flink/ckpt/clicks/"
	users   = "/flink/ckpt/users/"
	again   = "/flink/ckpt/again/"
	scratch = "/scratch/"
)

// hostile is a name that steers terminals and breaks lists.
const hostile = "tmp-\x1b[31m\n* 'a b'"

const allRoots = `  - {path: /flink/ckpt, layout: job-run, mode: execute, min_age: 24h, keep: 1}
  - {path: /flink/sp, layout: savepoints, mode: execute, min_age: 24h, keep: 1}
  - {path: /scratch, layout: children, mode: execute, min_age: 24h, names: ["tmp-*"]}
  - {path: /flink/run, layout: run, mode: execute, min_age: 24h}
  - {path: /flink/ha, layout: ha-storage, mode: execute, min_age: 24h}
`

const liveSources = `live:
  - {file: live.txt, format: lines}
  - {file: live.json, format: kubernetes}
`

// writeLists writes the live lists: jobs by id, and one cluster of high availability.
func writeLists(s *site, ids ...string) {
	s.t.Helper()
	for name, text := range map[string]string{
		"live.txt": strings.Join(ids, "\n") + "\n",
		"live.json": `{"kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"alive-cluster-config-map",` +
			`"labels":{"configmap-type":"high-availability","app":"alive"}}}]}`,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// makeNamespace makes trees for all roots; of each job the last run is the newest.
func makeNamespace(s *site) {
	a := s.c.Admin()
	for _, d := range []string{"/flink", "/flink/ckpt", "/flink/ckpt/orders", "/flink/ckpt/clicks", "/flink/ckpt/users", "/flink/ckpt/again", "/flink/sp", "/flink/sp/orders", "/scratch"} {
		a.Mkdir(s.t, d, owner, 0o755)
	}
	for n := range 9 {
		s.makeRun(orders+runID(n), 20-n)
	}
	for n := range 3 {
		s.makeRun(clicks+runID(20+n), 20-n)
		s.makeRun(users+runID(30+n), 20-n)
		s.makeRun(again+runID(50+n), 20-n)
	}
	for n, name := range []string{"savepoint-aaaaaa-0123456789ab", "savepoint-bbbbbb-0123456789ab"} {
		a.Mkdir(s.t, "/flink/sp/orders/"+name, owner, 0o755)
		a.Put(s.t, "/flink/sp/orders/"+name+"/_metadata", owner, metadata())
		s.old("/flink/sp/orders/"+name, 20-n)
	}
	for n := range 3 {
		a.Mkdir(s.t, "/flink/run", owner, 0o755)
		s.makeRun("/flink/run/"+runID(60+n), 20)
	}
	for _, name := range []string{"alive", "dead"} {
		a.Mkdir(s.t, "/flink/ha", owner, 0o755)
		a.Mkdir(s.t, "/flink/ha/"+name, owner, 0o755)
		a.Mkdir(s.t, "/flink/ha/"+name+"/blob", owner, 0o755)
		s.old("/flink/ha/"+name, 20)
	}
	writeLists(s, runID(60))
	for _, name := range []string{"tmp-1", "tmp-2", hostile} {
		a.Mkdir(s.t, scratch+name, owner, 0o755)
		a.Put(s.t, scratch+name+"/part-0", owner, nil)
		s.old(scratch+name, 9)
	}
}

// change does what happens between an image and the night, and gives what is expected of
// each item then.
func change(s *site) map[string]string {
	a := s.c.Admin()
	want := map[string]string{
		orders + runID(0): "moved",
		orders + runID(2): "moved",
		orders + runID(7): "moved",
		scratch + "tmp-1": "moved",
		scratch + hostile: "moved",

		"/flink/sp/orders/savepoint-aaaaaa-0123456789ab": "moved",
	}
	// Something is added deep inside.
	a.Put(s.t, orders+runID(1)+"/chk-7/late", owner, nil)
	want[orders+runID(1)] = "kept changed"
	// The same name with the same length, by a later deployment.
	length := s.c.Stat(s.t, again+runID(50)+"/chk-7/_metadata")
	a.Delete(s.t, again+runID(50))
	s.makeRun(again+runID(50), 20)
	if now := s.c.Stat(s.t, again+runID(50)+"/chk-7/_metadata"); strings.Fields(now)[2] != strings.Fields(length)[2] {
		s.t.Fatalf("%s and %s", length, now)
	}
	// It is a run that the plan does not know, too, so all of the job stays.
	want[again+runID(50)], want[again+runID(51)] = "kept replaced", "kept new-run"
	// Somebody moves one away, somebody deletes one.
	a.Rename(s.t, orders+runID(3), "/flink/saved-run")
	want[orders+runID(3)] = "kept moved-away"
	a.Delete(s.t, orders+runID(4))
	want[orders+runID(4)] = "kept gone"
	// Markers, as attribute and as file.
	a.SetXAttr(s.t, orders+runID(5), "user.fsweep.keep", nil)
	want[orders+runID(5)] = "kept marked"
	// A file is open for writing.
	a.Open(s.t, orders+runID(6)+"/chk-7/open")
	want[orders+runID(6)] = "kept changed"
	// A job gets a run that the plan does not know.
	s.makeRun(clicks+runID(29), 0)
	want[clicks+runID(20)], want[clicks+runID(21)] = "kept new-run", "kept new-run"
	// A new job restores from a candidate.
	a.Mkdir(s.t, "/flink/ckpt/restored", owner, 0o755)
	s.makeRun("/flink/ckpt/restored/"+runID(40), 0, users+runID(31)+"/shared/sst")
	want[users+runID(30)], want[users+runID(31)] = "moved", "kept referenced"
	// A run is in a live list since.
	writeLists(s, runID(60), runID(62))
	want["/flink/run/"+runID(61)], want["/flink/run/"+runID(62)] = "moved", "kept live"
	want["/flink/ha/dead"] = "moved"
	// One gets another owner.
	a.Chown(s.t, scratch+"tmp-2", "alice", "alice")
	want[scratch+"tmp-2"] = "kept changed"
	return want
}

func dryOf(want map[string]string) map[string]string {
	dry := maps.Clone(want)
	for p, o := range dry {
		if o == "moved" {
			dry[p] = "would-move"
		}
	}
	return dry
}

// TestNameNodeExecute carries out a plan that fsweep made from an image that a real
// NameNode saved, after many things changed; the wire and the audit logs show what
// was asked for, and undo puts all back.
func TestNameNodeExecute(t *testing.T) {
	for _, c := range []struct {
		name    string
		options rig.Options
	}{
		{"3.4.2", rig.Options{DataNodes: 1}},
		{"2.10.2", rig.Options{Version: "2.10.2", DataNodes: 1}},
		{"HA", rig.Options{NameNodes: 2, DataNodes: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.options)
			makeNamespace(s)
			s.makePlan(allRoots, liveSources)
			all := s.results(0, "run", s.plan)
			if n := all.Summary.Planned.Items; n != 21 || all.Summary.WouldMove.Items != n {
				t.Errorf("%d items, %d would move: %v", n, all.Summary.WouldMove.Items, all.outcomes())
			}
			want := change(s)
			before := s.tree("/")
			for _, deep := range []string{"--deep=false", "--deep"} {
				equalOutcomes(t, dryOf(want), s.results(4, "run", s.plan, deep).outcomes())
			}
			text := s.exits(4, "run", s.plan)
			for _, line := range []string{"WOULD-DELETE  " + orders + runID(0), "KEEP          " + orders + runID(1), "START_TIME", "END_TIME", "ROOT          /flink/ckpt"} {
				if !strings.Contains(text, line) {
					t.Errorf("no %q in\n%s", line, text)
				}
			}
			if strings.Contains(text, "\x1b") {
				t.Error("a name steers the terminal")
			}
			if m := s.c.Mutations(t, owner); len(m) > 0 {
				t.Fatalf("a dry run did %v", m)
			}
			differ(t, before, s.tree("/"))
			executeAll(t, s, want, before)
		})
	}
}

func equalOutcomes(t *testing.T, want, got map[string]string) {
	t.Helper()
	for p, w := range want {
		if got[p] != w {
			t.Errorf("%q: %s, want %s", p, got[p], w)
		}
	}
	for p, g := range got {
		if want[p] == "" {
			t.Errorf("%q: %s, not expected", p, g)
		}
	}
}

func executeAll(t *testing.T, s *site, want, before map[string]string) {
	t.Helper()
	proven := s.executeArgs()
	if r := s.results(3, proven[:len(proven)-1]...); len(r.Problems) != 1 || r.Problems[0].Code != "unproven" {
		t.Errorf("without --unproven: %+v", r.Problems)
	}
	if m := s.c.Mutations(t, owner); len(m) > 0 {
		t.Fatalf("what was refused did %v", m)
	}
	equalOutcomes(t, want, s.results(4, s.executeArgs()...).outcomes())
	exactly(t, s, want, before)
	trash := "/user/" + owner + "/.Trash/Current"
	// Everything else is where it was.
	after := s.tree("/")
	for p, line := range before {
		gone := false
		for item, w := range want {
			gone = gone || w == "moved" && (p == item || strings.HasPrefix(p, item+"/"))
		}
		if gone {
			if after[trash+p] != line {
				t.Errorf("%q is not in the trash as it was: %s, was %s", p, after[trash+p], line)
			}
			p = trash + p
		}
		if after[p] != line {
			t.Errorf("%q is %s, was %s", p, after[p], line)
		}
	}
	s.exits(3, s.executeArgs()...) // it was carried out
	if s.results(3, "run", s.plan).Problems[0].Code != "executed" {
		t.Error("a dry run does not say that it was carried out")
	}
	undoAll(t, s, before)
}

// logged escapes the control characters of hostile as audit logs do.
var logged = strings.NewReplacer("\x1b", `\u001B`, "\n", `\n`)

// exactly requires that the audit log has the renames of the items that were moved, by inode id and
// each to its own place, those of the lock before and behind them, the directories that this
// needs, each made once, and nothing else.
func exactly(t *testing.T, s *site, want, before map[string]string) {
	t.Helper()
	trash := "/user/" + owner + "/.Trash/Current"
	var expected []string
	made := map[string]bool{}
	for p, w := range want {
		if w == "moved" {
			id, _, _ := strings.Cut(before[p], " ")
			expected = append(expected, fmt.Sprintf("rename %q to %q", "/.reserved/.inodes/"+id, logged.Replace(trash+p)))
			made[trash+path.Dir(p)] = true
		}
	}
	for dir := range made {
		expected = append(expected, fmt.Sprintf("mkdirs %q", dir))
	}
	done := "/ops/fsweep/done/" + strings.TrimPrefix(s.digest, "sha256:")
	lock, _, _ := strings.Cut(s.c.Stat(t, done), " ")
	expected = append(expected,
		"mkdirs the new lock", `mkdirs "/ops/fsweep/done"`,
		fmt.Sprintf("rename %q to %q", "/.reserved/.inodes/"+lock, "/ops/fsweep/LOCK"), fmt.Sprintf("rename %q to %q", "/.reserved/.inodes/"+lock, done))
	var got []string
	for _, e := range s.c.Mutations(t, owner) {
		line := fmt.Sprintf("%s %q", e.Command, e.Source)
		switch {
		case e.Command == "mkdirs" && strings.HasPrefix(e.Source, "/ops/fsweep/new-"):
			line = "mkdirs the new lock"
		case e.Target != "":
			line += fmt.Sprintf(" to %q", e.Target)
		}
		if !e.Allowed {
			line += " refused"
		}
		got = append(got, line)
	}
	if n := len(got); n < 4 || !strings.HasSuffix(got[1], `"/ops/fsweep/LOCK"`) || !strings.HasSuffix(got[n-1], fmt.Sprintf("%q", done)) {
		t.Errorf("not between lock and release: %q", got)
	}
	slices.Sort(expected)
	slices.Sort(got)
	if !slices.Equal(expected, got) {
		t.Errorf("the audit log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(expected, "\n"))
	}
}

// undoAll moves everything back: ids, paths and times of files are as before.
func undoAll(t *testing.T, s *site, before map[string]string) {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(s.journals, "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("journals %q: %v", journals, err)
	}
	s.exits(0, "undo", journals[0])
	after := s.tree("/")
	for p := range after {
		if strings.HasPrefix(p, "/user/"+owner) || strings.HasPrefix(p, "/ops/fsweep") {
			delete(after, p)
		}
	}
	for p := range before {
		if strings.HasPrefix(p, "/user/"+owner) || strings.HasPrefix(p, "/ops/fsweep") {
			delete(before, p)
		}
	}
	differ(t, before, after)
}

package main

import (
	"path"
	"strings"
	"testing"

	"fsweep/execute/hdfstest/rig"
	"fsweep/proto/pathtext"
)

// oddNames are names that a NameNode takes and that lists, shells, terminals, URIs and trashes may
// mistake for something else.
var oddNames = []string{
	"line\nbreak", "cr\rlf\r\n", "tab\t", "bell\a", "esc\x1b[2J", "del\x7f", "nul%00", "two  blanks ", " blank before", "star*", "a?b", "[a-z]", "{a,b}",
	"$HOME", "${user.name}", "`id`", "$(id)", "a;b", "a|b", "a&b", "a>b", "'single'", `"double"`, `back\slash`, `\n`, "%2F", "%", "100%", "a=b", "a,b", "#a", "~", "-rf",
	"-", "...", "..a", ".Trash", "Current", "LOCK", "done", "new-1", ".fsweep", "fsweep-rehearsal", ".snapshot.", ".reserved", "null", "NaN",
	"ä", "a\u0308", "\u00a0", "\u2028", "\u202eright to left", "\ufeff", "\ufffd", "日本語", "😀", "e\u0301\u0301", "İ", "\u200b",
	strings.Repeat("n", 251), strings.Repeat("é", 125), strings.Repeat("語", 83),
}

// TestNameNodeNames: whatever names HDFS allows, of items and of what lies in them, go to the trash
// exactly and come back exactly, with and without a collision there.
func TestNameNodeNames(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	a.Mkdir(t, "/scratch", owner, 0o755)
	var paths []string
	for _, name := range oddNames {
		p := "/scratch/tmp-" + name
		a.Mkdir(t, p, owner, 0o755)
		a.Mkdir(t, p+"/"+name, owner, 0o755)
		a.Put(t, p+"/"+name+"/"+name, owner, nil)
		s.old(p, 9)
		paths = append(paths, p)
	}
	s.makePlan(scratchRoot)
	before := s.tree("/")
	want := map[string]string{}
	for _, p := range paths {
		want[string(pathtext.Append(nil, p))] = "moved"
	}
	equalOutcomes(t, want, shownOutcomes(s.results(0, s.executeArgs()...)))
	s.movedOnce(before, paths...)
	for _, p := range paths {
		s.whereabouts(p, string(pathtext.Append(nil, trashOfOwner+"/Current"+p)))
	}
	s.exits(0, "undo", s.newestName())
	s.backAsBefore(before)
	// Again, and every place is taken by a file now: a suffix, or a directory beside where the name
	// has no room for one.
	for _, p := range paths {
		a.Put(t, trashOfOwner+"/Current"+p, owner, nil)
	}
	s.makePlan(scratchRoot)
	s.exits(0, s.executeArgs()...)
	for item, at := range s.arrived(before, 3, paths...) {
		if at == trashOfOwner+"/Current"+item || !strings.HasPrefix(at, trashOfOwner+"/Current/scratch") {
			t.Errorf("%q went to %q", item, at)
		}
		if s.c.Stat(t, trashOfOwner+"/Current"+item) == "" {
			t.Errorf("what took the place of %q is gone", item)
		}
	}
	s.exits(0, "undo", "--plan", s.plan, "--journal-dir", s.journals)
	s.backAsBefore(before)
}

// shownOutcomes are the outcomes by the text form of the paths.
func shownOutcomes(r *result) map[string]string {
	m := map[string]string{}
	for p, o := range r.outcomes() {
		m[string(pathtext.Append(nil, p))] = o
	}
	return m
}

// TestNameNodeNoRoom: where the trash has no name or no path for an item, that stays and the
// others go.
func TestNameNodeNoRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	long := strings.Repeat("x", 250)
	root := "/" + long
	a.Mkdir(t, root, owner, 0o755)
	for _, name := range []string{"tmp-" + long[4:], "tmp-short"} {
		a.Mkdir(t, path.Join(root, name), owner, 0o755)
		a.Put(t, path.Join(root, name, "part"), owner, nil)
		s.old(path.Join(root, name), 9)
	}
	// The longest path that a NameNode takes, and one that has room for the trash before it.
	deep := "/deep"
	a.Mkdir(t, deep, owner, 0o755)
	for len(deep) < 7700 {
		deep += "/" + long
		a.Mkdir(t, deep, owner, 0o755)
	}
	fits := 8000 - len(trashOfOwner+"/Current") - len(deep) - 1
	for _, n := range []int{fits, fits + 1} {
		p := deep + "/tmp-" + strings.Repeat("y", n-4)
		a.Mkdir(t, p, owner, 0o755)
		s.old(p, 9)
	}
	a.Put(t, trashOfOwner+"/Current"+root+"/tmp-"+long[4:], owner, nil)
	for _, d := range []string{trashOfOwner, trashOfOwner + "/Current", trashOfOwner + "/Current" + root} {
		a.Chown(t, d, owner, owner)
	}
	children := ", layout: children, mode: execute, min_age: 24h, names: [\"tmp-*\"]}\n"
	s.makePlan("  - {path: " + root + children + "  - {path: " + deep + children)
	before := s.tree("/")
	want := map[string]string{
		root + "/tmp-" + long[4:]: "kept no-place-in-trash", root + "/tmp-short": "moved",
		deep + "/tmp-" + strings.Repeat("y", fits-4): "moved", deep + "/tmp-" + strings.Repeat("y", fits-3): "kept no-place-in-trash",
	}
	equalOutcomes(t, want, s.results(4, s.executeArgs()...).outcomes())
	for p, w := range want {
		s.trashed(before, w == "moved", p)
	}
	s.exits(0, "undo", s.newestName())
	delete(before, trashOfOwner)
	s.trashed(before, false, root+"/tmp-short", deep+"/tmp-"+strings.Repeat("y", fits-4))
}

// TestNameNodeFileInTheWay: files stand where the trash needs directories. Each gets passed by, with
// its name and a suffix; one in place of Current or the trash refuses the plan.
func TestNameNodeFileInTheWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, rig.Options{})
	a := s.c.Admin()
	for _, d := range []string{"/a", "/a/b", "/a/b/c", trashOfOwner, trashOfOwner + "/Current"} {
		a.Mkdir(t, d, owner, 0o755)
	}
	for round, file := range []string{"/a", "/a/b", "/a/b/c", "/a/b/c/tmp-1"} {
		for _, name := range []string{"tmp-1", "tmp-2"} {
			a.Mkdir(t, "/a/b/c/"+name, owner, 0o755)
			a.Mkdir(t, "/a/b/c/"+name+"/in", owner, 0o755)
			s.old("/a/b/c/"+name, 9)
		}
		blocker := trashOfOwner + "/Current" + file
		for d := path.Dir(file); d != "/"; d = path.Dir(d) {
			a.Mkdir(t, trashOfOwner+"/Current"+d, owner, 0o700)
		}
		a.Put(t, blocker, owner, nil)
		for d := path.Dir(file); d != "/"; d = path.Dir(d) {
			a.Chown(t, trashOfOwner+"/Current"+d, owner, owner)
		}
		s.makePlan("  - {path: /a/b/c, layout: children, mode: execute, min_age: 24h, names: [\"tmp-*\"]}\n")
		before := s.tree("/")
		r := s.results(0, s.executeArgs()...)
		for _, i := range r.Items {
			if i.Outcome != "moved" || s.tree("/")[i.Target] != before[i.Path] {
				t.Errorf("round %d: %+v", round, i)
			}
			if free := i.Target == trashOfOwner+"/Current"+i.Path; free != (round == 3 && i.Path == "/a/b/c/tmp-2") {
				t.Errorf("round %d: %q went to %q", round, i.Path, i.Target)
			}
		}
		if now := s.tree("/")[blocker]; now != before[blocker] {
			t.Errorf("what was in the way is %q, was %q", now, before[blocker])
		}
		s.exits(0, "undo", s.newestName())
		s.backAsBefore(before)
		a.Delete(t, trashOfOwner+"/Current")
	}
	for _, file := range []string{trashOfOwner + "/Current", trashOfOwner} {
		s.makePlan("  - {path: /a/b/c, layout: children, mode: execute, min_age: 24h, names: [\"tmp-*\"]}\n")
		if s.c.Stat(t, file) != "" {
			a.Delete(t, file)
		}
		a.Put(t, file, owner, nil)
		s.nothingDone(file, func() {
			for _, args := range [][]string{{"run", s.plan}, s.executeArgs()} {
				if r := s.results(3, args...); len(r.Problems) == 0 || r.Problems[0].Code != "trash-not-usable" {
					t.Errorf("%q: %+v", file, r.Problems)
				}
			}
		})
	}
}

// arrived is inTrash for what was renamed n times in all.
func (s *site) arrived(before map[string]string, n int, items ...string) map[string]string {
	s.t.Helper()
	byLine := map[string]string{}
	for p, line := range s.tree(trashOfOwner) {
		byLine[line] = p
	}
	at := map[string]string{}
	for _, p := range items {
		if at[p] = byLine[before[p]]; at[p] == "" {
			s.t.Errorf("%q is not in the trash", p)
		}
		if got := s.renames(id(before, p)); got != n {
			s.t.Errorf("%q was renamed %d times", p, got)
		}
	}
	return at
}

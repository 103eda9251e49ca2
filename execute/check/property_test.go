package check_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/check"
	"fsweep/execute/fakehdfs"
)

// TestProperty: a random tree, a plan of everything in it, random changes. What may move
// then is what the plan says, to every id, mtime and length; what was not changed
// and is not referred to may move.
func TestProperty(t *testing.T) {
	t.Parallel()
	moved, kept := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 8))
		w := &world{t: t, fs: fakehdfs.New(fakehdfs.Options{HA: true, NoLog: true, PageSize: 1 + rng.IntN(5)}), deep: true}
		w.live = check.Named{IDs: []string{run(900)}, HAConfigMaps: 1}
		w.fs.Mkdir("/ops/fsweep", "flink", 0o755)
		w.grow(rng)
		w.old("/", 20)
		before := subtrees(w)
		for p := range before {
			w.items = append(w.items, planned{path: p})
		}
		r, d := w.plan()
		w.fs.Advance(time.Hour)
		referred := ""
		for range rng.IntN(4) {
			w.meddle(rng)
		}
		if rng.IntN(3) == 0 {
			referred = w.items[rng.IntN(len(w.items))].path
			w.fs.Put("/apps/a/chk-2/_metadata", "flink", metadata("hdfs://ns1"+referred+"/shared/x"))
		}
		after := subtrees(w)
		s := w.session(r, d, func(o *check.Options) { o.Workers = 1 + rng.IntN(4) })
		if err := s.Check(context.Background()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for p, v := range verdicts(t, s) {
			same := before[p].tree == after[p].tree
			switch {
			case v.Move && !same:
				t.Errorf("seed %d: %s may move, was\n%s\nis\n%s", seed, p, before[p].tree, after[p].tree)
			case v.Move && p == referred:
				t.Errorf("seed %d: %s may move and is referred to", seed, p)
			case !v.Move && before[p] == after[p] && p != referred && !excused(p, v.Rule, before, after):
				t.Errorf("seed %d: %s stays: %+v", seed, p, v)
			}
			if v.Move {
				moved++
			} else {
				kept++
			}
		}
	}
	t.Logf("%d may move, %d stay", moved, kept)
	if moved < 400 || kept < 400 {
		t.Errorf("%d may move, %d stay: the test tests nothing", moved, kept)
	}
}

// excused tells whether a change elsewhere keeps an item: another run of its job was
// touched and has nothing complete, or one cannot be looked into any more.
func excused(p string, rule check.Rule, before, after map[string]state) bool {
	for q := range before {
		sameJob := path.Dir(q) == path.Dir(p)
		if rule == check.MayBeRestored && q != p && sameJob && before[q].tree != after[q].tree ||
			rule == check.BlindGuard && q != p && before[q].rest != after[q].rest {
			return true
		}
	}
	return false
}

// grow makes jobs with runs that hold anything, and a guard elsewhere.
func (w *world) grow(rng *rand.Rand) {
	w.fs.Put("/apps/a/chk-1/_metadata", "flink", metadata("hdfs://ns1/apps/a/shared/x"))
	for job := range 1 + rng.IntN(3) {
		for n := range 1 + rng.IntN(3) {
			dir := fmt.Sprintf("%s/job%d/%s", jobs, job, run(job*10+n))
			w.fs.Mkdir(dir+"/shared", "flink", 0o755)
			for range rng.IntN(6) {
				w.fs.Put(dir+"/"+[]string{"chk-1/", "shared/", "taskowned/", "taskowned/a/b/"}[rng.IntN(4)]+fmt.Sprint("f", rng.IntN(9)), "flink", make([]byte, rng.IntN(9)))
			}
			if rng.IntN(2) == 0 {
				w.fs.Put(dir+"/chk-2/_metadata", "flink", metadata("hdfs://ns1"+dir+"/shared/x"))
			}
		}
	}
}

// meddle changes one thing below the root.
func (w *world) meddle(rng *rand.Rand) {
	var files, dirs []fakehdfs.Entry
	for _, e := range w.fs.Entries() {
		if strings.Count(e.Path, "/") < 4 || !strings.HasPrefix(e.Path, jobs+"/") {
			continue
		}
		if e.Kind == execute.File {
			files = append(files, e)
		} else {
			dirs = append(dirs, e)
		}
	}
	if len(files) == 0 || len(dirs) == 0 {
		return
	}
	file, dir := files[rng.IntN(len(files))], dirs[rng.IntN(len(dirs))]
	parent := path.Dir(file.Path)
	was, _ := w.fs.Lookup(parent)
	back := rng.IntN(2) == 0 // somebody sets the time back
	switch rng.IntN(13) {
	case 0:
		w.fs.Put(dir.Path+"/new", "flink", nil)
		parent, was = dir.Path, dir
	case 1:
		w.fs.Put(file.Path, "flink", []byte(file.Content))
	case 2:
		w.fs.Append(file.Path, []byte("x"))
		if back {
			w.fs.SetTimes(file.Path, file.MTimeMs, -1)
		}
	case 3:
		w.fs.Delete(file.Path)
	case 4:
		w.fs.Rename(file.Path, file.Path+"-renamed")
	case 5:
		w.fs.Rename(dir.Path, "/elsewhere-"+decimal(dir.ID))
		return
	case 6:
		w.fs.SetTimes(file.Path, 1000, -1)
	case 7:
		w.fs.SetTimes(dir.Path, 1000, -1)
		return
	case 8:
		w.fs.Chown(dir.Path, "eve", "eve")
	case 9:
		w.fs.SetXAttr(dir.Path, "user.fsweep.keep", nil)
	case 10:
		w.fs.Symlink(dir.Path+"/link", "/x")
		parent, was = dir.Path, dir
	case 11:
		w.fs.Open(dir.Path + "/open")
		parent, was = dir.Path, dir
	case 12:
		w.fs.Chmod(dir.Path, 0o700)
	}
	if back {
		w.fs.SetTimes(parent, was.MTimeMs, -1)
	}
}

// state is an item: tree has what the plan promises, rest what else may keep it.
type state struct{ tree, rest string }

// subtrees gives the state of all runs.
func subtrees(w *world) map[string]state {
	all := map[string]state{}
	for _, e := range w.fs.Entries() {
		parts := strings.Split(e.Path, "/")
		if !strings.HasPrefix(e.Path, jobs+"/") || len(parts) < 5 {
			continue
		}
		top := strings.Join(parts[:5], "/")
		s := all[top]
		s.tree += fmt.Sprintln(e.Path, e.ID, e.Kind, e.Length, e.MTimeMs, e.Children)
		if e.Path == top {
			s.tree += fmt.Sprintln(e.Owner, e.Group, e.XAttrs)
		}
		s.rest += fmt.Sprintln(e.Owner, e.Group, e.Permission, e.XAttrs, e.Open)
		all[top] = s
	}
	return all
}

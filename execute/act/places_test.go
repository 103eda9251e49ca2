package act

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

// TestPlaces: where an item goes when something is in the way, and what keeps it where it is.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const current = "/user/alice/.Trash/Current"
	long := "/data/" + longName + "/" + longName
	for name, c := range map[string]struct {
		item   string
		change func(w *world)
		rule   string // why it stays
		where  string // in which directory it is then, with a time in place of #
	}{
		"the trash is a file": {item: "/data/a/plain", rule: "no-directory", change: func(w *world) {
			w.fs.Delete("/user/alice/.Trash")
			w.fs.Put("/user/alice/.Trash", user, nil)
		}},
		"Current is a file": {item: "/data/a/plain", rule: "no-directory", change: func(w *world) {
			w.fs.Delete(current)
			w.fs.Put(current, user, nil)
		}},
		"another quarantine": {item: "/data/a/plain", rule: "quarantine-changed", change: func(w *world) {
			w.fs.Mkdir("/quarantine", user, 0o700)
			w.plan.Header.Removal, w.plan.Header.Quarantine = planfile.RemovalQuarantine, []planfile.Place{{Path: "/quarantine", InodeID: w.id("/data")}}
		}},
		"names without room for a time": {item: long, where: current + "/data#/" + longName, change: func(w *world) {
			w.fs.Mkdir(current+long, user, 0o700)
			w.fs.Mkdir(current+"/data/"+longName, user, 0o700)
		}},
		"a file with a name without room": {item: long, rule: "no-place-in-trash", change: func(w *world) { w.fs.Put(current+"/data/"+longName, user, nil) }},
		"no trash yet":                    {item: "/data/a/plain", where: current + "/data/a", change: func(w *world) { w.fs.Delete("/user/alice/.Trash") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakehdfs.Options{})
			w.fs.Put(long+"/x", user, nil)
			for _, p := range []string{"/data/" + longName, long} {
				w.fs.Mkdir(p, user, 0o755)
			}
			w.items, w.plan.Items = nil, 1
			w.add(c.item)
			c.change(w)
			res, err := w.run(context.Background())
			if err != nil {
				t.Fatal(err, res)
			}
			e, _ := w.fs.ByID(w.items[0].InodeID)
			if c.rule != "" {
				if e.Path != c.item || res.Totals.Skipped != 1 || !strings.Contains(string(w.disk.data), `"rule":"`+c.rule+`"`) {
					t.Errorf("%q, %+v\n%s", e.Path, res, w.brief())
				}
				return
			}
			before, after, _ := strings.Cut(c.where, "#")
			if !strings.HasPrefix(e.Path, before) || !strings.HasSuffix(e.Path, after+c.item[strings.LastIndexByte(c.item, '/'):]) || res.Totals.Done != 1 {
				t.Errorf("%q, %+v", e.Path, res)
			}
			for _, op := range w.fs.Mutating() {
				if d, ok := w.fs.Lookup(op.Path); op.Call == "mkdirs" && ok && strings.HasPrefix(op.Path, "/user/") && d.Permission != 0o700 {
					t.Errorf("%q has permission %o", op.Path, d.Permission)
				}
			}
			w.truth(t, w.disk)
		})
	}
}

// TestUndoAtLast: what keeps an undo from moving an item back, seen before, or by the NameNode in the last moment.
func TestUndoAtLast(t *testing.T) {
	t.Parallel()
	const trashed = "/user/alice/.Trash/Current/data/a"
	fault := func(k fakehdfs.FaultKind) fakehdfs.Fault { return fakehdfs.Fault{Kind: k} }
	for name, c := range map[string]struct {
		change func(w *world)
		fault  fakehdfs.Fault
		last   func(fs *fakehdfs.FS) // before the item is asked for
		rule   string
		code   int
	}{
		"its name is taken at last":       {fault: fault(fakehdfs.NameTaken), rule: "taken"},
		"its directory is gone at last":   {fault: fault(fakehdfs.ParentGone), rule: "no-parent"},
		"somebody moves it at last":       {rule: "moved-by-others", last: func(fs *fakehdfs.FS) { fs.Rename(trashed+"/plain", "/user/alice/saved") }},
		"a file has its directory's name": {rule: "no-parent", change: func(w *world) { w.fs.Delete("/data/a"); w.fs.Put("/data/a", user, nil) }},
		"its directory left the trash":    {rule: "moved-by-others", change: func(w *world) { w.fs.Rename(trashed, "/user/alice/kept") }},
		"refused":                         {fault: fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Permission()}, code: ExitAnomaly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := single(t)
			w.timeout = 5 * time.Second
			if _, err := w.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(w)
			}
			w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
				if _, locked := w.fs.Lookup("/locks/LOCK"); locked && op.Port == "NewCall" && c.last != nil {
					return fakehdfs.Fault{Do: func(fs *fakehdfs.FS) {
						if _, ok := fs.Lookup(trashed + "/plain"); ok {
							c.last(fs)
						}
					}}
				}
				if op.Call == "rename2" && op.ID == w.items[0].InodeID {
					return c.fault
				}
				return fakehdfs.Fault{}
			})
			res, err := w.undo(context.Background(), "")
			if c.code == 0 {
				c.code = ExitIncomplete
			}
			if err != nil || res.ExitCode != c.code || res.Totals.Done != 0 || c.rule != "" && !strings.Contains(string(w.undoDisk.data), `"rule":"`+c.rule+`"`) {
				t.Errorf("%v, %+v\n%s", err, res, w.undoDisk.data)
			}
		})
	}
}

// TestUndoRefused: what an undo refuses leaves no journal and changes nothing.
func TestUndoRefused(t *testing.T) {
	t.Parallel()
	ran := single(t)
	if _, err := ran.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	undone := ran.clone()
	if _, err := undone.undo(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	undone.disk, undone.undoDisk = undone.undoDisk, &disk{}
	locked := ran.clone()
	locked.fs.Mkdir("/locks/LOCK/bob@host", "bob", 0o755)
	for rule, w := range map[string]*world{"other-command": undone, "locked": locked, "pending": cut(t, false), "strays": astray(t)} {
		w.undoDisk = &disk{}
		n := len(w.fs.Mutating())
		res, err := w.undo(context.Background(), "")
		var r *Refusal
		if !errors.As(err, &r) || r.Rule != rule || res.ExitCode != ExitRefused || len(w.fs.Mutating()) != n || len(w.undoDisk.data) > 0 {
			t.Errorf("%s: %v, %+v", rule, err, res)
		}
	}
}

// astray is a world in which another inode was moved by mistake, and the process died before it moved it back.
func astray(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, fakehdfs.Options{NoSnapshot: true})
	w.fs.AllowSnapshots("/data/a")
	w.fs.Snapshot("/data/a", "s1")
	w.items, w.plan.Items = w.items[:1], 1
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		switch {
		case op.Call == "rename2" && op.ID == w.items[0].InodeID:
			w.fs.Delete("/data/a/plain")
			w.fs.Mkdir("/data/a/plain", user, 0o755)
		case op.Call == "rename2" && op.Path != "" && strings.Contains(string(w.disk.data), "other-inode"):
			return fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.SafeMode()}
		}
		return fakehdfs.Fault{}
	})
	if res, err := w.run(context.Background()); err == nil || res.Totals.Done != 0 {
		t.Fatal(err, res)
	}
	w.fs.Plan(nil)
	w.fs.Delete("/locks/LOCK")
	return w
}

// TestGoneWhileLost: the first answer is lost, the second is a refusal, and the item is somewhere else: nobody
// knows who moved it.
func TestGoneWhileLost(t *testing.T) {
	t.Parallel()
	w := single(t)
	n := 0
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call != "rename2" || op.ID != w.items[0].InodeID {
			return fakehdfs.Fault{}
		}
		switch n++; n {
		case 1:
			return fakehdfs.Fault{Kind: fakehdfs.Lost}
		case 2:
			return fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.SafeMode(), Do: func(fs *fakehdfs.FS) { fs.Rename("/data/a/plain", "/data/b/other") }}
		}
		return fakehdfs.Fault{}
	})
	res, err := w.run(context.Background())
	if !errors.Is(err, execute.ErrSafeMode) || res.ExitCode != ExitAnomaly || res.Totals.Unknown != 1 || !strings.Contains(string(w.disk.data), `"how":"gone"`) {
		t.Errorf("%v, %+v\n%s", err, res, w.brief())
	}
}

package act

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// TestRefused: what must not begin changes nothing and makes no journal.
func TestRefused(t *testing.T) {
	t.Parallel()
	ran := newWorld(t, fakehdfs.Options{})
	for _, c := range []struct {
		name   string
		change func(w *world)
		do     func(w *world) (*Result, error)
		want   string
	}{
		{"preflight", nil, func(w *world) (*Result, error) {
			p := w.params(w.disk)
			p.Check.(*checker).before = &Refusal{Rule: "expired", Text: "expired"}
			return Run(context.Background(), p)
		}, "expired"},
		{"no lock directory", func(w *world) { w.fs.Rename("/locks", "/l2") }, nil, "missing-directory"},
		{"another lock directory", func(w *world) {
			w.fs.Rename("/locks", "/l2")
			w.fs.Mkdir("/locks", user, 0o777)
		}, nil, "lock-dir-changed"},
		{"the lock directory is a file", func(w *world) {
			w.fs.Rename("/locks", "/l2")
			w.fs.Put("/locks", user, nil)
		}, nil, "no-directory"},
		{"locked", func(w *world) { w.fs.Mkdir("/locks/LOCK/bob@host", "bob", 0o755) }, nil, "locked"},
		{"unlock without a lock", nil, func(w *world) (*Result, error) {
			return Unlock(context.Background(), w.params(w.disk), "bob@host")
		}, "not-locked"},
		{"rehearsal with something in it", func(w *world) { w.fs.Put("/user/alice/fsweep-rehearsal/x", user, nil) }, func(w *world) (*Result, error) {
			return Rehearse(context.Background(), w.params(w.disk), "/user/alice")
		}, "not-empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := ran.clone()
			if c.change != nil {
				c.change(w)
			}
			if c.do == nil {
				c.do = func(w *world) (*Result, error) { return w.run(context.Background()) }
			}
			res, err := c.do(w)
			var r *Refusal
			if !errors.As(err, &r) || r.Rule != c.want || res.ExitCode != ExitRefused {
				t.Errorf("%v, %+v", err, res)
			}
			if n := len(w.fs.Mutating()); n > 0 || len(w.disk.data) > 0 {
				t.Errorf("%d changes, %d bytes of a journal", n, len(w.disk.data))
			}
		})
	}
}

// TestOthersJournal: journals of other plans, clusters and commands are neither resumed
// nor undone, and not written to.
func TestOthersJournal(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	before.during(t, 2, cancel)
	if _, err := before.run(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	before.fs.Plan(nil)
	for name, c := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"plan":        {func(w *world) { w.plan.Digest = sha256.Sum256([]byte("another")) }, "other-plan"},
		"nameservice": {func(w *world) { w.plan.Header.Nameservice = "ns2" }, "other-cluster"},
		"user":        {func(w *world) { w.user = "root" }, "other-user"}, // who could do everything
		"anchor": {func(w *world) {
			w.fs.Rename("/data", "/old")
			w.fs.Mkdir("/data", user, 0o755)
		}, "other-cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, do := range map[string]func(w *world) (*Result, error){
				"resume": func(w *world) (*Result, error) { return w.run(context.Background()) },
				"undo":   func(w *world) (*Result, error) { return w.undo(context.Background(), "") },
			} {
				w := before.clone()
				c.change(w)
				size := len(w.disk.data)
				res, err := do(w)
				var r *Refusal
				if !errors.As(err, &r) || r.Rule != c.want || res.ExitCode != ExitRefused {
					t.Errorf("%s: %v, %+v", what, err, res)
				}
				if len(w.fs.Mutating()) > 0 || len(w.disk.data) != size {
					t.Errorf("%s: something was changed", what)
				}
			}
		})
	}
}

// TestUndoLeaves: what somebody else moved, what is gone, and what has no place any more is
// left where it is.
func TestUndoLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	const trash = "/user/alice/.Trash/Current"
	w.fs.Rename(trash+"/data/a/plain", trash+"/plain")
	long, _ := w.fs.ByID(w.items[4].InodeID)
	w.fs.Rename(long.Path, "/user/alice/mine")
	w.fs.Rename("/data/b", "/elsewhere")
	w.fs.Mkdir("/data/c/two words\n*", user, 0o755)
	w.fs.Delete("/zone/.Trash/alice")
	res, err := w.undo(context.Background(), "")
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Done != 1 || res.Totals.Skipped != 5 {
		t.Errorf("%v, %+v", err, res)
	}
	got := map[string]string{}
	r, err := journal.Open(&file{disk: w.undoDisk})
	if err != nil {
		t.Fatal(err)
	}
	for l, err := range r.Lines() {
		if s, ok := l.(*journal.Skipped); ok && err == nil {
			got[string(s.Path)] = s.Rule
		}
	}
	for p, want := range map[planfile.Path]State{
		"/data/a/plain": MovedByOthers, "/data/c/" + planfile.Path(longName): MovedByOthers,
		"/data/b/below-a-file": "no-parent", "/data/c/two words\n*": "taken", "/zone/d/sealed": Purged,
	} {
		if got[string(p)] != string(want) {
			t.Errorf("%q: %q, not %q", p, got[string(p)], want)
		}
	}
	if _, ok := w.fs.Lookup("/data/b"); ok {
		t.Error("a missing parent was made")
	}
}

// TestUndoByPlan restores without a journal, from the trash and from a quarantine, whatever was in
// the way there.
func TestUndoByPlan(t *testing.T) {
	t.Parallel()
	for _, quarantine := range []bool{false, true} {
		before := newWorld(t, fakehdfs.Options{})
		if quarantine {
			before.items = before.items[:7] // nothing leaves a zone
			before.plan.Header.Removal = planfile.RemovalQuarantine
			before.plan.Header.Quarantine = []planfile.Place{{Path: "/quarantine"}}
			before.fs.Mkdir("/quarantine/data/a/taken", user, 0o700)
			before.fs.Put("/quarantine/data/b", user, nil)
			before.fs.Mkdir("/quarantine/data/a", user, 0o700)
			before.fs.Mkdir("/quarantine/data", user, 0o700)
			before.fs.Mkdir("/quarantine", user, 0o700)
		}
		w := before.clone()
		ran, err := w.run(context.Background())
		if err != nil || ran.Totals.Done < 5 {
			t.Fatal(err, ran)
		}
		if !quarantine {
			w.fs.RenameCurrent("/user/alice/.Trash")
		}
		w.watchSends(t, w.undoDisk, nil)
		res, err := Undo(context.Background(), w.params(w.undoDisk), &UndoOf{Items: w.planned()})
		if err != nil || res.ExitCode != ExitDone || res.Totals.Done != ran.Totals.Done {
			t.Errorf("quarantine %t: %v, %+v, of %d", quarantine, err, res, ran.Totals.Done)
		}
		if !quarantine {
			w.unplanned(t, before)
		}
		for _, i := range w.items {
			if w.id(string(i.Path)) != i.InodeID {
				t.Errorf("%q is not back", i.Path)
			}
		}
	}
}

// TestUndoByPlanOrder: of a run that moved in parts the checkpoints come back last.
func TestUndoByPlanOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	run := w.id("/data/a/plain")
	w.items = nil
	for _, p := range []string{"/data/a/plain/chk-1", "/data/a/plain/shared", "/data/b/kept"} {
		w.add(p)
	}
	w.keep = nil
	w.items[0].SplitOf, w.items[0].Kind, w.items[1].SplitOf = run, planfile.KindCheckpoint, run
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	items := func(yield func(*planfile.Item, error) bool) {
		for i := range w.items {
			if !yield(&w.items[i], nil) {
				return
			}
		}
	}
	n := len(w.fs.Mutating())
	if res, err := Undo(context.Background(), w.params(w.undoDisk), &UndoOf{Items: items}); err != nil || res.Totals.Done != 3 {
		t.Fatal(err, res)
	}
	var back []string
	for _, op := range w.fs.Mutating()[n:] {
		if !strings.HasPrefix(op.Move.To, "/locks/") && op.Call == "rename2" {
			back = append(back, op.Move.To)
		}
	}
	if want := []string{"/data/a/plain/shared", "/data/b/kept", "/data/a/plain/chk-1"}; !slices.Equal(back, want) {
		t.Errorf("%q, want %q", back, want)
	}
	bad := errors.New("the plan has become shorter")
	broken := func(yield func(*planfile.Item, error) bool) { yield(nil, bad) }
	if res, err := Undo(context.Background(), w.params(&disk{}), &UndoOf{Items: broken}); !errors.Is(err, bad) || res.ExitCode != ExitAnomaly {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestHomeless: a home is never made.
func TestHomeless(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.fs.Rename("/user/alice", "/user/gone")
	w.fs.Rename("/zone/.Trash", "/zone/gone")
	res, err := w.run(context.Background())
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Done != 0 || res.Totals.Skipped != 8 {
		t.Errorf("%v, %+v", err, res)
	}
	for _, p := range []string{"/user/alice", "/zone/.Trash"} {
		if _, ok := w.fs.Lookup(p); ok {
			t.Errorf("%q was made", p)
		}
	}
}

// TestNotText: where nobody can ask for a path, nothing is moved to one like it, as it could not
// be moved back.
func TestNotText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.fs.Mkdir("/data/a/bad\xff", user, 0o755)
	w.add("/data/a/bad\xff")
	w.items, w.plan.Items = w.items[len(w.items)-1:], 1
	p := w.params(w.disk)
	p.Check.(*checker).blind = true
	res, err := Run(context.Background(), p)
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Skipped != 1 || !strings.Contains(w.brief(), `"rule":"not-text"`) {
		t.Errorf("%v, %+v\n%s", err, res, w.brief())
	}
	if got := w.state(); got != "\"/data/a/bad\\xff\" home\n" {
		t.Error(got)
	}
}

// TestTrashFull: a quota of the home stops the run, as all others would fail likewise.
func TestTrashFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.fs.SetQuota("/user/alice", 14, -1)
	res, err := w.run(context.Background())
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly || res.Totals.Failed != 1 {
		t.Errorf("%v, %+v\n%s", err, res, w.brief())
	}
	w.truth(t, w.disk)
}

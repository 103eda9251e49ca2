package act

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// ran is a world whose plan was carried out: six items are in a trash, two stay.
func ran(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, fakehdfs.Options{})
	if res, err := w.run(context.Background()); err != nil || res.Totals.Done != 6 {
		t.Fatalf("%v, %+v", err, res)
	}
	return w
}

func (w *world) planItems() iter.Seq2[*planfile.Item, error] {
	return func(yield func(*planfile.Item, error) bool) {
		for i := range w.items {
			if !yield(&w.items[i], nil) {
				return
			}
		}
	}
}

// TestUndoCut: a journal that was cut behind any line never makes an undo that says that all is
// back, unless all is.
func TestUndoCut(t *testing.T) {
	t.Parallel()
	origin := ran(t)
	lines := bytes.SplitAfter(origin.disk.data, []byte("\n"))
	lines = lines[:len(lines)-1] // behind the last newline
	undone := 0
	for n := 1; n < len(lines); n++ {
		w := origin.clone()
		data := slices.Concat(lines[:n]...)
		r, err := journal.Open(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		notes := 0
		p := w.params(w.undoDisk)
		p.Watch = func(e Event) {
			if e.Kind == NotEnded {
				notes++
			}
		}
		res, err := Undo(context.Background(), p, &UndoOf{Journal: r, File: "j.jsonl"})
		switch pending, _ := r.State().Pending(); {
		case pending != nil:
			if err == nil || res.ExitCode != ExitRefused {
				t.Errorf("cut behind line %d: %v, %+v", n, err, res)
			}
		case err != nil || res.ExitCode != ExitIncomplete || notes != 1:
			t.Errorf("cut behind line %d: %v, %+v, %d notes", n, err, res, notes)
		default:
			undone++
		}
	}
	if undone < 6 {
		t.Errorf("only %d of %d journals were undone", undone, len(lines)-1)
	}
}

// TestUndoByPlanGone: an undo without a journal tells of each item that is not where the plan
// has it what became of it.
func TestUndoByPlanGone(t *testing.T) {
	t.Parallel()
	w := ran(t)
	const trash = "/user/alice/.Trash/Current"
	w.fs.Delete(trash + "/data/a/plain")
	w.fs.Rename(trash+"/data/c/two words\n*", "/data/c/elsewhere")
	got := map[planfile.Path]string{}
	p := w.params(w.undoDisk)
	p.Watch = func(e Event) {
		if e.Kind == ItemSkipped || e.Kind == ItemUndone {
			got[e.Path] = string(e.Kind) + " " + e.Rule
		}
	}
	res, err := Undo(context.Background(), p, &UndoOf{Items: w.planItems()})
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Done != 4 || res.Totals.Skipped != 2 {
		t.Errorf("%v, %+v", err, res)
	}
	for path, want := range map[planfile.Path]string{
		"/data/a/plain": "skipped purged", "/data/c/two words\n*": "skipped moved-by-others", "/data/a/taken": "undone ", "/data/b/kept": "", "/data/c/foreign": "",
	} {
		if got[path] != want {
			t.Errorf("%q: %q, want %q", path, got[path], want)
		}
	}
	// Without a home there is no trash that could hold anything.
	w = ran(t)
	w.fs.Rename("/user/alice", "/user/gone")
	res, err = Undo(context.Background(), w.params(w.undoDisk), &UndoOf{Items: w.planItems(), Path: "/data/a"})
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Done != 0 || res.Totals.Skipped != 2 {
		t.Errorf("no home: %v, %+v", err, res)
	}
}

// TestHolderOfFile: whatever has the name of the lock holds it, and is told at once.
func TestHolderOfFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.fs.Put("/locks/LOCK", user, nil)
	begin := w.fs.Now()
	if holder, err := Holder(context.Background(), w.params(nil)); err != nil || holder != "somebody" {
		t.Errorf("%q, %v", holder, err)
	}
	if took := w.fs.Now().Sub(begin); took >= lookPause {
		t.Errorf("it took %s", took)
	}
}

// TestLookOnce: before anything is changed, a cluster that does not answer is asked once, with
// the patience that the client has; nobody waits for five times that.
func TestLookOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	asked := 0
	w.fs.Plan(func(fakehdfs.Op) fakehdfs.Fault { asked++; return fakehdfs.Fault{Kind: fakehdfs.Lost} })
	if _, err := Holder(context.Background(), w.params(nil)); err == nil || asked != 1 {
		t.Errorf("%d questions, %v", asked, err)
	}
}

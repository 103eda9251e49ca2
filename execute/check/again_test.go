package check_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/check"
	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

// again looks once more at the item with a path.
func again(t *testing.T, s *check.Session, p string) check.Verdict {
	t.Helper()
	for i := range s.Items() {
		if string(i.Path) == p {
			v, err := s.Again(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no item %s", p)
	return check.Verdict{}
}

// near tells whether a verdict is of a time: the fake's clock goes on a little with each
// question.
func near(v check.Verdict, ms int64) bool { return v.AtMs >= ms && v.AtMs < ms+500 }

// TestAgainAge: a verdict is as old as the oldest answer, whoever was asked about when it
// was given: jobs and markers above are shared.
func TestAgainAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, d := w.plan()
	s := w.session(r, d)
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.fs.Advance(time.Minute)
	first := w.fs.Now().UnixMilli()
	if v := again(t, s, order0); !v.Move || !near(v, first) {
		t.Errorf("at %d: %+v", first, v)
	}
	w.fs.Advance(29 * time.Second)
	if v := again(t, s, order0); !v.Move || !near(v, first) { // nothing was asked again
		t.Errorf("at %d: %+v", first, v)
	}
	if v := again(t, s, order1); !v.Move || !near(v, first) { // itself is new, its job is not
		t.Errorf("at %d: %+v", first, v)
	}
	w.fs.Advance(time.Second)
	now := w.fs.Now().UnixMilli()
	if v := again(t, s, order1); !v.Move || !near(v, now) {
		t.Errorf("at %d: %+v", now, v)
	}
	w.fs.Advance(-2 * time.Hour) // nothing can be young in the future
	now = w.fs.Now().UnixMilli()
	if v := again(t, s, order1); !v.Move || !near(v, now) {
		t.Errorf("at %d: %+v", now, v)
	}
}

// lingering is an Inspector that something happens to while it counts a subtree.
type lingering struct {
	execute.Inspector
	during func()
}

func (l lingering) Summary(ctx context.Context, dir execute.Ref, limit int64) (*execute.Summary, error) {
	l.during()
	return l.Inspector.Summary(ctx, dir, limit)
}

// TestLongLook: what was asked first is asked again if the rest took long.
func TestLongLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		takes  time.Duration
		change func(*world)
		want   check.Rule
	}{
		{"nothing", time.Hour, func(*world) {}, ""},
		{"marker", time.Minute, func(w *world) { w.fs.SetXAttr(scratch, "user.fsweep.keep", nil) }, check.Marked},
		{"touched", time.Minute, func(w *world) { w.fs.SetTimes(scratch+"/spark-1", 5, -1) }, check.Changed},
		{"moved away", time.Minute, func(w *world) { w.fs.Rename(scratch+"/spark-1", "/x") }, check.MovedAway},
		{"a short one", time.Second, func(w *world) { w.fs.SetXAttr(scratch, "user.fsweep.keep", nil) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items = slices.DeleteFunc(w.items, func(p planned) bool { return p.path != scratch+"/spark-1" })
			r, d := w.plan()
			client := w.fs.Client("flink")
			during := func() {}
			s, err := check.New(r, d, lingering{client, func() { during() }}, client, check.Options{
				Now: w.fs.Now, Lists: func(planfile.Input, bool) (*check.Named, error) { return &w.live, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			w.fs.Advance(time.Minute)
			begin := w.fs.Now().UnixMilli()
			during = func() { w.fs.Advance(c.takes); during = func() {}; c.change(w) }
			v := again(t, s, scratch+"/spark-1")
			if v.Rule != c.want {
				t.Errorf("%+v, want %q", v, c.want)
			}
			end := w.fs.Now().UnixMilli()
			if want := map[bool]int64{false: end - 100, true: begin}[c.takes < 30*time.Second]; v.Move && !near(v, want) {
				t.Errorf("it is of %d, began %d, ended %d", v.AtMs, begin, end)
			}
		})
	}
}

// TestRestored: an item that an earlier process moved and somebody brought back stays, and is a guard
// again: what it refers to stays, too. So does one of which nobody may see whether it is back.
func TestRestored(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		w := newWorld(t)
		w.fs.Put(order0+"/chk-3/_metadata", "flink", metadata(single0+"/shared/x"))
		w.old(order0, 20)
		r, d := w.plan()
		e, _ := w.fs.Lookup(order0)
		if hidden {
			w.fs.Mkdir(jobs+"/orders", "root", 0o700)
		}
		s := w.session(r, d, func(o *check.Options) { o.Moved = func(id uint64) bool { return id == e.ID } })
		if err := s.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !hidden {
			w.expect(s, keeps{order0: check.Restored, single0: check.ReferredTo})
		} else if v := verdicts(t, s)[order0]; v.Rule != check.Restored {
			t.Errorf("%+v", v)
		}
		if back, err := s.Guards(context.Background(), true); err != nil || len(back) > 0 {
			t.Errorf("%v, %v", back, err)
		}
	}
}

// TestMovedBefore: an item that an earlier process moved is no guard any more, and comes back if
// something refers to it.
func TestMovedBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		moved bool
		refer bool
		want  keeps
		back  []string
	}{
		{"by an earlier process", true, false, nil, nil},
		{"by an earlier process, and referred to", true, true, keeps{order0: check.ReferredTo, single0: check.ReferredTo}, []string{order0}},
		{"by somebody", false, false, keeps{order0: check.MovedAway, single0: check.ReferredTo}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fs.Put(order0+"/chk-3/_metadata", "flink", metadata(single0+"/shared/x"))
			w.old(order0, 20)
			r, d := w.plan()
			e, _ := w.fs.Lookup(order0)
			w.fs.Rename(order0, "/user/flink/trashed")
			if c.refer {
				w.fs.Put(outside, "other", metadata(order0+"/shared/x"))
			}
			asked := 0
			w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
				if op.ID == e.ID || op.Path == order0 {
					asked++
				}
				return fakehdfs.Fault{}
			})
			s := w.session(r, d, func(o *check.Options) {
				o.Moved = func(id uint64) bool { return c.moved && id == e.ID }
			})
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			w.expect(s, c.want)
			if c.moved && !c.refer && asked != 1 { // whether it is back
				t.Errorf("asked about it %d times", asked)
			}
			back, err := s.Guards(context.Background(), false)
			var got []string
			for _, i := range back {
				got = append(got, string(i.Path))
			}
			if err != nil || !slices.Equal(got, c.back) {
				t.Errorf("back %q, %v, want %q", got, err, c.back)
			}
		})
	}
}

// TestCheckedOnce: a check that failed has failed for good, and nothing may move.
func TestCheckedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, d := w.plan()
	s := w.session(r, d)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fail := s.Check(ctx)
	if fail == nil {
		t.Fatal("it did not fail")
	}
	if err := s.Check(context.Background()); !errors.Is(err, fail) {
		t.Errorf("%v, and before %v", err, fail)
	}
	for i := range s.Items() {
		t.Errorf("%s is given out", i.Path)
	}
}

// TestHeld: a hold is seen within half a minute, and one that cannot be seen is one.
func TestHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, d := w.plan()
	s := w.session(r, d)
	expect := func(want planfile.Path) {
		t.Helper()
		if got, err := s.Held(context.Background()); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	expect("")
	w.fs.Put("/ops/HOLD", "x", nil)
	w.fs.Advance(29 * time.Second)
	expect("")
	w.fs.Advance(time.Second)
	expect("/ops/HOLD")
	w.fs.Delete("/ops/HOLD") // it is looked at again at once
	expect("")
	w.fs.Advance(30 * time.Second)
	w.fs.Mkdir("/ops", "root", 0o700)
	expect("/ops/HOLD")
}

// TestSplitRunGoesOn: somebody goes on with a run of which parts were moved.
func TestSplitRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.split(order1)
	r, d := w.plan()
	s := w.session(r, d)
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range s.Items() {
		if string(i.Path) == order1+"/chk-4" {
			w.fs.Rename(string(i.Path), "/user/flink/chk-4")
			s.Moved(i)
		}
	}
	w.fs.Mkdir(order1+"/chk-5", "flink", 0o755)
	back, err := s.Guards(context.Background(), true)
	if err != nil || len(back) != 1 || string(back[0].Path) != order1+"/chk-4" {
		t.Errorf("%v, %v", back, err)
	}
	if v := verdicts(t, s)[order1+"/shared"]; v.Move || v.Rule != check.Changed {
		t.Errorf("%+v", v)
	}
}

// TestStays: what was not moved after all, whatever the reason, is a guard again: what it refers to stays,
// and comes back if it went before. Other parts of its run stay, too.
func TestStays(t *testing.T) {
	t.Parallel()
	item := func(s *check.Session, p string) *planfile.Item {
		for i := range s.Items() {
			if string(i.Path) == p {
				return i
			}
		}
		t.Fatalf("no item %s", p)
		return nil
	}
	for _, movedBefore := range []bool{false, true} {
		w := newWorld(t)
		w.fs.Put(order1+"/chk-4/_metadata", "flink", metadata(order0+"/shared/x"))
		w.old(order1, 20)
		r, d := w.plan()
		s := w.session(r, d)
		if err := s.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.expect(s, nil) // both may move, so neither is a guard
		var want []string
		if movedBefore {
			w.fs.Rename(order0, "/user/flink/trashed")
			s.Moved(item(s, order0))
			want = []string{order0}
		}
		s.Stays(item(s, order1))
		if !movedBefore {
			if v := again(t, s, order0); v.Move || v.Rule != check.ReferredTo {
				t.Errorf("%+v", v)
			}
		}
		back, err := s.Guards(context.Background(), false)
		var got []string
		for _, i := range back {
			got = append(got, string(i.Path))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("back %q, %v, want %q", got, err, want)
		}
		if v := verdicts(t, s)[order1]; v.Move || v.Rule != check.NotMoved {
			t.Errorf("%+v", v)
		}
	}
	w := newWorld(t)
	w.split(order1)
	r, d := w.plan()
	s := w.session(r, d)
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.Stays(item(s, order1+"/chk-4"))
	if v := verdicts(t, s)[order1+"/shared"]; v.Move || v.Rule != check.NotMoved {
		t.Errorf("%+v", v)
	}
}

// TestClockSetBack: what was looked at before the clock was set back is looked at again: the guards at the
// next move, and at the end roots as well.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, d := w.plan()
	s := w.session(r, d)
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.fs.Advance(-2 * time.Hour)
	w.fs.Put(outside, "other", metadata(order0+"/shared/x"))
	if v := again(t, s, order0); v.Move || v.Rule != check.ReferredTo {
		t.Errorf("%+v", v)
	}
	for i := range s.Items() {
		if string(i.Path) == single0 || string(i.Path) == savepoint {
			w.fs.Rename(string(i.Path), "/user/flink/moved-"+string(i.Run))
			s.Moved(i)
		}
	}
	w.fs.Advance(-2 * time.Hour)
	w.fs.Put(outside, "other", metadata(single0+"/shared/x", "/y"))
	w.fs.Mkdir(runs+"/"+run(99)+"/chk-1", "flink", 0o755) // may be restoring from anything
	back, err := s.Guards(context.Background(), true)
	var got []string
	for _, i := range back {
		got = append(got, string(i.Path))
	}
	slices.Sort(got)
	if want := []string{single0, savepoint}; err != nil || !slices.Equal(got, want) {
		t.Errorf("back %q, %v, want %q", got, err, want)
	}
}

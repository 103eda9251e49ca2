package check_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/check"
	"fsweep/proto/planfile"
)

// TestReferences gives the newest checkpoint of payments, or another guard, something
// to refer to.
func TestReferences(t *testing.T) {
	t.Parallel()
	guard := pay1 + "/chk-7/_metadata"
	refers := func(refs ...string) func(*world) {
		return func(w *world) { w.fs.Put(guard, "flink", metadata(refs...)); w.old(pay1, 20) }
	}
	broken := func(text string) func(*world) {
		return func(w *world) {
			w.fs.Put(guard, "flink", []byte("\x00\x01 no metadata "+text+" \xff"))
			w.old(pay1, 20)
		}
	}
	// Owned by the user "flink" in the root of jobs, as the guard is.
	unreadable := func(w *world) {
		for _, p := range []string{order0, order1, order2 + "/chk-2", pay0, single0, savepoint} {
			w.fs.Chown(p, "flink", "")
		}
		w.fs.Unreadable(guard, "no DataNode has it")
	}
	near := keeps{order0: check.BlindGuard, order1: check.BlindGuard, order2 + "/chk-2": check.BlindGuard, order2 + "/shared/unreferenced": check.BlindGuard, pay0: check.BlindGuard}
	for _, c := range []struct {
		name string
		make func(*world)
		want keeps
	}{
		{"a file of another run", refers("hdfs://ns1" + order1 + "/shared/0001-shared-file"), keeps{order1: check.ReferredTo}},
		{"no scheme", refers(order1 + "/shared/0001-shared-file"), keeps{order1: check.ReferredTo}},
		{"no authority", refers("hdfs:" + order1 + "/x"), keeps{order1: check.ReferredTo}},
		{"another authority", refers("hdfs://old-name:8020" + order1 + "/x"), keeps{order1: check.ReferredTo}},
		{"another scheme", refers("viewfs://c" + order1 + "/x"), keeps{order1: check.ReferredTo}},
		{"slashes and dots", refers("hdfs://ns1//flink/./c/orders/../orders/" + run(1) + "//shared/x"), keeps{order1: check.ReferredTo}},
		{"raw path", refers("hdfs://ns1/.reserved/raw" + order1 + "/x"), keeps{order1: check.ReferredTo}},
		{"the directory", refers(order1 + "/shared"), keeps{order1: check.ReferredTo}},
		{"a name that begins the same", refers(order1+"0/shared/x", order2+"/chk-20/x"), nil},
		{"a file that is an item", refers(order2 + "/shared/unreferenced"), keeps{order2 + "/shared/unreferenced": check.ReferredTo}},
		{"a directory that holds items", refers(order2 + "/shared"), keeps{order2 + "/shared/unreferenced": check.ReferredTo}},
		{"a root", refers(jobs, "/flink", "/x"), nil},
		{"foreign", func(w *world) {
			w.header.ForeignAuthorities = []string{"other:8020"}
			refers("hdfs://other:8020" + order1 + "/state")(w)
		}, nil},
		{"foreign, and not", func(w *world) {
			w.header.ForeignAuthorities = []string{"other:8020"}
			refers("hdfs://other:8020"+order1+"/state", "hdfs://ns1"+order1+"/state", "hdfs://third"+order0+"/state")(w)
		}, keeps{order0: check.ReferredTo, order1: check.ReferredTo}},
		{"a file elsewhere by its name only", refers("0001-shared-file"), keeps{order1: check.ReferredTo}},
		{"a file beside", func(w *world) {
			w.fs.Put(pay1+"/chk-7/0001-shared-file", "flink", nil)
			refers("0001-shared-file")(w)
		}, nil},
		{"pointer", func(w *world) {
			w.fs.Put(clusters+"/cluster-b/completedCheckpoint0123", "flink", pointer("hdfs://ns1"+savepoint+"/_metadata"))
		}, keeps{savepoint: check.ReferredTo}},
		{"pointer, escaped", func(w *world) {
			w.fs.Put(clusters+"/cluster-b/completedCheckpoint0123", "flink", pointer("hdfs://ns1/flink/%73p/savepoint-aaaaaa-0123456789ab/x"))
		}, keeps{savepoint: check.ReferredTo}},
		{"chain", func(w *world) {
			refers(order0 + "/chk-3")(w)
			w.fs.Put(order0+"/chk-3/_metadata", "flink", metadata(single0+"/shared/x"))
			w.fs.Put(single0+"/chk-8/_metadata", "flink", metadata(savepoint+"/x"))
			w.old("/flink", 20)
		}, keeps{order0: check.ReferredTo, single0: check.ReferredTo, savepoint: check.ReferredTo}},
		{"not decodable, names nothing", broken("at all"), nil},
		{"not decodable, names a run", broken("hdfs://ns1" + order1 + "/shared"), keeps{order1: check.ReferredTo}},
		{"not decodable, names an id", broken(run(1)), keeps{order1: check.SaidToBe}},
		{"not decodable, names a file", broken("state-file-of-savepoint"), keeps{savepoint: check.SaidToBe}},
		{"not readable", unreadable, near},
		{"not readable, everything", func(w *world) {
			unreadable(w)
			w.header.UnreadableGuard = planfile.UnreadableEverything
		}, keeps{
			order0: check.BlindGuard, order1: check.BlindGuard, order2 + "/chk-2": check.BlindGuard, order2 + "/shared/unreferenced": check.BlindGuard, pay0: check.BlindGuard,
			single0: check.BlindGuard, savepoint: check.BlindGuard, clusters + "/cluster-a": check.BlindGuard, scratch + "/spark-1": check.BlindGuard,
		}},
		{"not readable, outside of all roots", func(w *world) {
			w.fs.Unreadable(outside, "x")
			w.fs.Chown(scratch+"/spark-1", "other", "")
		}, keeps{scratch + "/spark-1": check.BlindGuard}},
		{"not readable, waived", func(w *world) { unreadable(w); w.waive = guard }, nil},
		{"may not be read", func(w *world) {
			unreadable(w)
			w.fs.Put(guard, "flink", metadata("/x"))
			w.fs.Chmod(guard, 0)
			w.old(pay1, 20)
		}, near},
		{"empty", func(w *world) { w.fs.Put(guard, "flink", nil); w.old(pay1, 20) }, nil},
		{"a guard in an item that moves", func(w *world) {
			w.fs.Put(order0+"/chk-3/_metadata", "flink", metadata(single0+"/shared/x"))
			w.old(order0, 20)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.make(w)
			r, d := w.plan()
			w.fs.Advance(time.Hour)
			s := w.session(r, d)
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			w.expect(s, c.want)
		})
	}
}

// split plans the parts of a run in its place.
func (w *world) split(run string) {
	top, _ := w.fs.Lookup(run)
	w.items = slices.DeleteFunc(w.items, func(p planned) bool { return p.path == run })
	for _, part := range []string{"shared", "taskowned", "chk-4"} {
		w.items = append(w.items, planned{run + "/" + part, func(i *planfile.Item) { i.SplitOf = top.ID }})
	}
}

// TestOrder: root by root, the newest run of a job first, of a run that moves in parts
// chk-N first, then taskowned, then shared.
func TestOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.split(order1)
	w.old(order0, 15) // newer than order1
	r, d := w.plan()
	w.fs.Advance(time.Hour)
	s := w.session(r, d)
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, v := range s.Items() {
		got = append(got, string(i.Path))
		if !v.Move {
			t.Errorf("%s: %+v", i.Path, v)
		}
	}
	want := []string{
		order0, order2 + "/chk-2", order2 + "/shared/unreferenced", order1 + "/chk-4", order1 + "/taskowned", order1 + "/shared",
		pay0, clusters + "/cluster-a", single0, savepoint, scratch + "/spark-1",
	}
	slices.Sort(want[1:6])
	slices.Sort(got[1:6])
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSplitRun: what is said of one part is said of all.
func TestSplitRun(t *testing.T) {
	t.Parallel()
	parts := []string{"shared", "taskowned", "chk-4"}
	for _, c := range []struct {
		name   string
		change func(*world)
		want   check.Rule
	}{
		{"nothing", func(*world) {}, ""},
		{"part changed", func(w *world) { w.fs.Put(order1+"/shared/y", "flink", nil) }, check.Changed},
		{"new checkpoint", func(w *world) { w.fs.Mkdir(order1+"/chk-5", "flink", 0o755) }, check.Changed},
		{"referred to", func(w *world) { w.fs.Put(outside, "other", metadata(order1+"/shared/0001-shared-file")) }, check.ReferredTo},
	} {
		w := newWorld(t)
		top, _ := w.fs.Lookup(order1)
		w.items = slices.DeleteFunc(w.items, func(p planned) bool { return p.path == order1 })
		want := keeps{}
		for _, part := range parts {
			w.items = append(w.items, planned{order1 + "/" + part, func(i *planfile.Item) { i.SplitOf = top.ID }})
			if c.want != "" {
				want[order1+"/"+part] = c.want
			}
		}
		r, d := w.plan()
		w.fs.Advance(time.Hour)
		c.change(w)
		s := w.session(r, d)
		if err := s.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Log(c.name)
		w.expect(s, want)
	}
}

// TestAgain: what changes between the check and the move.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		wait   time.Duration
		change func(*world)
		item   string
		want   check.Rule
	}{
		{"nothing", time.Hour, func(*world) {}, order0, ""},
		{"half a minute", 30 * time.Second, func(w *world) { w.fs.Put(order0+"/x", "flink", nil) }, order0, check.Changed},
		{"fresh", 29 * time.Second, func(w *world) { w.fs.Put(order0+"/x", "flink", nil) }, order0, ""}, // the last reads see it
		{"changed", 2 * time.Minute, func(w *world) { w.fs.Put(order0+"/x", "flink", nil) }, order0, check.Changed},
		{"new run", 2 * time.Minute, func(w *world) { w.flinkRun(jobs+"/orders/"+run(99), 1) }, order0, check.NewRun},
		{"new savepoint", 2 * time.Minute, func(w *world) {
			w.fs.Put(saves+"/savepoint-cccccc-0123456789ab/_metadata", "flink", metadata(savepoint+"/x"))
		}, savepoint, check.ReferredTo},
		{"new single run", 2 * time.Minute, func(w *world) { w.flinkRun(runs+"/"+run(99), 1, single0+"/shared/x") }, single0, check.ReferredTo},
		{"marker on root", 2 * time.Minute, func(w *world) { w.fs.Put(jobs+"/.fsweep-keep", "flink", nil) }, order0, check.Marked},
		{"a guard goes on", 20 * time.Minute, func(w *world) {
			w.fs.Put(pay1+"/chk-8/_metadata", "flink", metadata(order0+"/shared/x"))
		}, order0, check.ReferredTo},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r, d := w.plan()
			s := w.session(r, d)
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			w.expect(s, nil)
			w.fs.Advance(c.wait)
			c.change(w)
			for i := range s.Items() {
				if string(i.Path) != c.item {
					continue
				}
				if v, err := s.Again(context.Background(), i); err != nil || v.Rule != c.want || v.Move != (c.want == "") {
					t.Errorf("%+v, %v, want %q", v, err, c.want)
				}
			}
		})
	}
}

// TestGuards: after moves, something refers to what was moved.
func TestGuards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*world)
		want   []string
	}{
		{"nothing", func(*world) {}, nil},
		{"a kept run goes on", func(w *world) {
			w.fs.Put(pay1+"/chk-8/_metadata", "flink", metadata("hdfs://ns1"+order0+"/shared/x"))
		}, []string{order0}},
		{"a new run", func(w *world) { w.flinkRun(jobs+"/new/"+run(99), 1, order0+"/shared/x") }, []string{order0}},
		{"a new run at the old place", func(w *world) { w.flinkRun(order0, 1, pay0+"/shared/x") }, []string{order0, pay0}}, // it refers to its own files, too
		{"a new run without a checkpoint", func(w *world) { w.fs.Mkdir(jobs+"/payments/"+run(99)+"/shared", "flink", 0o755) }, []string{pay0}},
		{"outside", func(w *world) {
			w.fs.Put("/other/app/chk-2/_metadata", "other", metadata(pay0+"/x"))
		}, []string{pay0}},
		{"a run with new state in a job", func(w *world) { w.flinkRun(jobs+"/payments/"+run(99), 1) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r, d := w.plan()
			s := w.session(r, d)
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			for i := range s.Items() {
				if p := string(i.Path); p == order0 || p == pay0 {
					w.fs.Rename(p, "/user/flink/"+decimal(i.InodeID))
					s.Moved(i)
				}
			}
			c.change(w)
			for round := range 2 {
				back, err := s.Guards(context.Background(), true)
				var got []string
				for _, i := range back {
					got = append(got, string(i.Path))
				}
				want := c.want
				if round > 0 { // each only once
					want = nil
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%q, %v, want %q", got, err, want)
				}
			}
		})
	}
}

func decimal(id uint64) string { return fmt.Sprint(id) }

// counting counts reads that run at once.
type counting struct {
	execute.Reader
	now, most, all atomic.Int64
}

func (c *counting) Read(ctx context.Context, f execute.FileID, use func(io.Reader) error) error {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	c.all.Add(1)
	for old := c.most.Load(); n > old && !c.most.CompareAndSwap(old, n); old = c.most.Load() {
	}
	return c.Reader.Read(ctx, f, use)
}

// TestManyGuards: each is read once, and few at a time.
func TestManyGuards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 10_000
	for i := range n {
		w.fs.Put(fmt.Sprintf("/apps/a%d/chk-1/_metadata", i), "other", metadata(fmt.Sprintf("/apps/a%d/shared/x", i)))
	}
	w.fs.Put("/apps/a777/chk-1/_metadata", "other", metadata(savepoint+"/x"))
	w.old("/apps", 20)
	r, d := w.plan()
	c := w.fs.Client("flink")
	reads := &counting{Reader: c}
	s, err := check.New(r, d, c, reads, check.Options{Now: w.fs.Now, Workers: 3, Lists: func(planfile.Input, bool) (*check.Named, error) { return &w.live, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.expect(s, keeps{savepoint: check.ReferredTo})
	// Those of the world: orders 1, payments 1, runs 1, savepoints 1, cluster 1, outside 1,
	// and that of the savepoint, which stays.
	if got := reads.all.Load(); got != n+7 {
		t.Errorf("%d reads, want %d", got, n+7)
	}
	if got := reads.most.Load(); got > 3 {
		t.Errorf("%d reads at once", got)
	}
}

package check_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"fsweep/execute/check"
	"fsweep/proto/planfile"
)

type keeps = map[string]check.Rule

// TestOneChange changes exactly one thing after the plan was made.
func TestOneChange(t *testing.T) {
	t.Parallel()
	stateful := keeps{order0: check.MayBeRestored, order1: check.MayBeRestored, pay0: check.MayBeRestored, single0: check.MayBeRestored, savepoint: check.MayBeRestored, order2 + "/chk-2": check.MayBeRestored}
	jobOrders := func(r check.Rule) keeps {
		return keeps{order0: r, order1: r, order2 + "/chk-2": r, order2 + "/shared/unreferenced": r}
	}
	everything := func(w *world, r check.Rule) keeps {
		k := keeps{}
		for _, i := range w.items {
			k[i.path] = r
		}
		return k
	}
	for _, c := range []struct {
		name   string
		before func(w *world)
		change func(w *world)
		want   keeps
		all    check.Rule
	}{
		{name: "nothing"},
		{name: "gone", change: func(w *world) { w.fs.Delete(order0) }, want: keeps{order0: check.Gone}},
		{name: "created again, same length", change: func(w *world) {
			w.fs.Delete(order0)
			w.flinkRun(order0, 3)
			w.old(order0, 20)
		}, want: jobAnd(jobOrders(check.NewRun), keeps{order0: check.Replaced})},
		{name: "moved away", change: func(w *world) { w.fs.Rename(order0, "/elsewhere") }, want: keeps{order0: check.MovedAway}},
		{name: "job moved away", change: func(w *world) { w.fs.Rename(jobs+"/payments", jobs+"/paid") }, want: keeps{pay0: check.MovedAway}},
		{name: "touched", change: func(w *world) { w.fs.SetTimes(order0, w.fs.Now().UnixMilli(), -1) }, want: keeps{order0: check.Changed}},
		{name: "touched inside", change: func(w *world) { w.fs.SetTimes(order0+"/shared", w.fs.Now().UnixMilli(), -1) }, want: keeps{order0: check.Changed}},
		{name: "owner", change: func(w *world) { w.fs.Chown(order0, "eve", "") }, want: keeps{order0: check.Changed}},
		{name: "file inside appended to", change: func(w *world) { w.fs.Append(scratch+"/spark-1/deep/x", []byte("y")) }, want: keeps{scratch + "/spark-1": check.TotalsChanged}},
		{name: "file inside replaced, times set back", before: func(w *world) { w.deep = true }, change: func(w *world) {
			dir := scratch + "/spark-1/deep"
			old, _ := w.fs.Lookup(dir)
			w.fs.Put(dir+"/x", "flink", []byte("z"))
			w.fs.SetTimes(dir, old.MTimeMs, -1)
		}, want: keeps{scratch + "/spark-1": check.TreeChanged}},
		{name: "file inside touched", before: func(w *world) { w.deep = true }, change: func(w *world) { w.fs.SetTimes(scratch+"/spark-1/deep/x", 5, -1) }, want: keeps{scratch + "/spark-1": check.TreeChanged}},
		{name: "new file", change: func(w *world) { w.fs.Open(scratch + "/spark-1/deep/y") }, want: keeps{scratch + "/spark-1": check.Changed}},
		{name: "file item open", change: func(w *world) {
			p := order2 + "/shared/unreferenced"
			e, _ := w.fs.Lookup(p)
			w.fs.Append(p, nil)
			w.fs.SetTimes(p, e.MTimeMs, -1)
			w.fs.Append(p, []byte("z"))
		}, want: keeps{order2 + "/shared/unreferenced": check.Changed}},
		{name: "marker file in item", change: func(w *world) { w.fs.Put(order0+"/.fsweep-keep", "flink", nil) }, want: keeps{order0: check.Marked}},
		{name: "marker on item", change: func(w *world) { w.fs.SetXAttr(order0, "user.fsweep.keep", nil) }, want: keeps{order0: check.Marked}},
		{name: "marker on job", change: func(w *world) { w.fs.SetXAttr(jobs+"/payments", "user.fsweep.keep", nil) }, want: keeps{pay0: check.Marked}},
		{name: "marker file in root", change: func(w *world) { w.fs.Put(saves+"/.fsweep-keep", "flink", nil) }, want: keeps{savepoint: check.Marked}},
		{name: "new run, complete", change: func(w *world) { w.flinkRun(jobs+"/orders/"+run(99), 1) }, want: jobOrders(check.NewRun)},
		{name: "new run without a checkpoint", change: func(w *world) { w.fs.Mkdir(jobs+"/orders/"+run(99)+"/shared", "flink", 0o755) }, want: jobOrders(check.NewRun)},
		{name: "new job without a checkpoint", change: func(w *world) { w.fs.Mkdir(jobs+"/new/"+run(99)+"/shared", "flink", 0o755) }, want: stateful},
		{name: "new job that goes on with a run", change: func(w *world) {
			w.flinkRun(jobs+"/new/"+run(99), 1, "hdfs://ns1"+pay0+"/shared/000a-shared-file")
		}, want: keeps{pay0: check.ReferredTo}},
		{name: "new single run without a checkpoint", change: func(w *world) { w.fs.Mkdir(runs+"/"+run(99)+"/chk-1", "flink", 0o755) }, want: stateful},
		{name: "new single run that goes on with a savepoint", change: func(w *world) { w.flinkRun(runs+"/"+run(99), 1, "hdfs://ns1"+savepoint+"/state-file-of-savepoint") }, want: keeps{savepoint: check.ReferredTo}},
		{name: "new savepoint", change: func(w *world) {
			w.fs.Put(saves+"/savepoint-cccccc-0123456789ab/_metadata", "flink", metadata("/flink/run/"+run(20)+"/shared/x"))
		}, want: keeps{single0: check.ReferredTo}},
		{name: "new cluster", change: func(w *world) {
			w.fs.Put(clusters+"/cluster-c/completedCheckpoint9", "flink", pointer("hdfs://ns1"+pay0+"/chk-6"))
		}, want: keeps{pay0: check.ReferredTo}},
		{name: "kept run goes on, with a new checkpoint", change: func(w *world) {
			w.fs.Delete(pay1 + "/chk-7")
			w.fs.Put(pay1+"/chk-8/_metadata", "flink", metadata("hdfs://ns1"+pay0+"/shared/000a-shared-file"))
		}, want: keeps{pay0: check.ReferredTo}},
		{name: "run outside of all roots goes on", change: func(w *world) {
			w.fs.Delete("/other/app/chk-1")
			w.fs.Put("/other/app/chk-2/_metadata", "other", metadata("hdfs://ns1"+single0+"/shared/0014-shared-file"))
		}, want: keeps{single0: check.ReferredTo}},
		{name: "kept run lost its checkpoint and lives", change: func(w *world) {
			w.fs.Delete(pay1 + "/chk-7")
			w.old(pay1, 5)
			w.live.IDs = append(w.live.IDs, run(11))
		}, want: keeps{pay0: check.MayBeRestored}},
		{name: "kept run lost its checkpoint and is young", change: func(w *world) {
			w.fs.Put(pay1+"/chk-8/part", "flink", nil)
			w.fs.Delete(pay1 + "/chk-7")
		}, want: keeps{pay0: check.MayBeRestored}},
		{name: "run lives", change: func(w *world) { w.live.IDs = append(w.live.IDs, "A1B2C3D4-e5f6-0718-293a-4b5c6d7e000a") }, want: keeps{pay0: check.Live}},
		{name: "cluster lives", change: func(w *world) { w.live.Clusters = append(w.live.Clusters, "cluster-a") }, want: keeps{clusters + "/cluster-a": check.Live}},
		{name: "pinned inside", change: func(w *world) { w.pins.Paths = []string{pay0 + "/chk-6"} }, want: keeps{pay0: check.Pinned}},
		{name: "pinned above", change: func(w *world) { w.pins.Paths = []string{runs} }, want: keeps{single0: check.Pinned}},
		{name: "named by a live list", change: func(w *world) { w.live.Paths = []string{savepoint} }, want: keeps{savepoint: check.Pinned}},
		{name: "root replaced", change: func(w *world) {
			w.fs.Rename(scratch, "/scratch-old")
			w.fs.Rename("/scratch-old/spark-1", "/spark-1")
			w.fs.Mkdir(scratch, "flink", 0o755)
			w.fs.Rename("/spark-1", scratch+"/spark-1")
		}, want: keeps{scratch + "/spark-1": check.RootChanged}},
		{name: "snapshottable", change: func(w *world) { w.fs.AllowSnapshots(scratch + "/spark-1") }, want: keeps{scratch + "/spark-1": check.Snapshottable}},
		{name: "may not be listed", change: func(w *world) {
			w.fs.Chown(scratch+"/spark-1/deep", "eve", "")
			w.fs.Chmod(scratch+"/spark-1/deep", 0o700)
		}, want: keeps{scratch + "/spark-1": check.NotVisible}},
		{name: "a path that is no text", before: func(w *world) {
			w.fs.Put(scratch+"/bad\xff/x", "flink", nil)
			w.old(scratch, 20)
			w.items = append(w.items, planned{path: scratch + "/bad\xff"})
		}, want: keeps{scratch + "/bad\xff": check.NotText}},
		{name: "observed", before: func(w *world) {
			w.header.Roots = w.roots()
			w.header.Roots[4].Mode = planfile.ModeObserve
		}, want: keeps{scratch + "/spark-1": check.Observed}},
		{name: "deferred becomes a guard", before: func(w *world) {
			w.flinkRun(pay0, 6, "hdfs://ns1"+order1+"/shared/0001-shared-file")
			w.old(pay0, 20)
			for i := range w.items {
				if w.items[i].path == pay0 {
					w.items[i].edit = func(i *planfile.Item) { i.Deferred = "max_items" }
				}
			}
		}, want: keeps{pay0: check.Deferred, order1: check.ReferredTo}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.before != nil {
				c.before(w)
			}
			r, d := w.plan()
			w.fs.Advance(time.Hour)
			if c.change != nil {
				c.change(w)
			}
			s := w.session(r, d)
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if c.all != "" {
				want = everything(w, c.all)
			}
			w.expect(s, want)
			if n := w.fs.Mutating(); len(n) > 0 {
				t.Errorf("it changed something: %v", n)
			}
		})
	}
}

func jobAnd(a, b keeps) keeps {
	maps.Copy(a, b)
	return a
}

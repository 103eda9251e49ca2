package check_test

import (
	"context"
	"testing"
	"time"

	"fsweep/execute/check"
	"fsweep/execute/fakehdfs"
)

// TestFaults puts each fault at each question: a check that gives verdicts in spite of
// it lets nothing move that would not move without.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fs.Put(pay1+"/chk-7/_metadata", "flink", metadata("hdfs://ns1"+order1+"/shared/x", "no-such-file"))
	w.fs.Chown(order1, "flink", "") // as the guard: then it stays if that cannot be read
	w.old("/flink", 20)
	r, d := w.plan()
	w.fs.Advance(time.Hour)
	w.fs.SetTimes(savepoint, 5, -1)
	w.fs.Mkdir(jobs+"/payments/"+run(99)+"/shared", "flink", 0o755)
	prepared := w.fs
	one := func(o *check.Options) { o.Workers = 1 } // so that a number always means the same question

	check1 := func(prepare func(*fakehdfs.FS, func())) (map[string]check.Verdict, int, error) {
		w := *w
		w.fs = prepared.Clone()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		prepare(w.fs, cancel)
		s := w.session(r, d, one)
		if _, err := s.Preflight(ctx); err != nil {
			return nil, 0, err
		}
		if err := s.Check(ctx); err != nil {
			return nil, 0, err
		}
		return verdicts(t, s), w.fs.Ops(), nil
	}
	base, n, err := check1(func(*fakehdfs.FS, func()) {})
	if err != nil {
		t.Fatal(err)
	}
	want := keeps{savepoint: check.Changed, pay0: check.NewRun, order1: check.ReferredTo, order0: ""}
	for p, rule := range want {
		if base[p].Rule != rule {
			t.Errorf("%s: %+v", p, base[p])
		}
	}
	failed, same := 0, 0
	for op := 1; op <= n; op++ {
		for _, fault := range fakehdfs.Faults() {
			switch fault.Kind {
			case fakehdfs.False, fakehdfs.Pretend: // nobody can tell a NameNode that lies
				continue
			case fakehdfs.NameTaken, fakehdfs.ParentGone, fakehdfs.Swapped: // other clusters, with other verdicts
				continue
			default:
			}
			got, _, err := check1(func(fs *fakehdfs.FS, cancel func()) {
				f := fault.Fault
				if f.Kind == fakehdfs.Frozen { // until the context ends
					f.Do = func(*fakehdfs.FS) { cancel() }
				}
				fs.At(op, f)
			})
			if err != nil {
				failed++
				continue
			}
			same++
			for p, v := range got {
				if v.Move && !base[p].Move {
					t.Errorf("%s at %d: %s may move", fault.Name, op, p)
				}
			}
		}
	}
	t.Logf("%d questions: %d checks failed, %d did not", n, failed, same)
	if failed == 0 || same == 0 {
		t.Error("faults do nothing")
	}
}

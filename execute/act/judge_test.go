package act

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
)

// single is a world of one item.
func single(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, fakehdfs.Options{})
	w.items, w.plan.Items = w.items[:1], 1
	return w
}

const inTrash = "/user/alice/.Trash/Current/data/a/plain"

// TestTakenWhileLost: the first answer is lost, and the second is that the name is taken: nothing happened, and
// the item gets another name.
func TestTakenWhileLost(t *testing.T) {
	t.Parallel()
	w := single(t)
	n := 0
	w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call != "rename2" || op.ID != w.items[0].InodeID {
			return fakehdfs.Fault{}
		}
		switch n++; n {
		case 1:
			return fakehdfs.Fault{Kind: fakehdfs.Lost}
		case 2:
			return fakehdfs.Fault{Kind: fakehdfs.NameTaken}
		}
		return fakehdfs.Fault{}
	})
	res, err := w.run(context.Background())
	if err != nil || res.ExitCode != ExitDone || res.Totals.Done != 1 || n != 3 || strings.Count(string(w.disk.data), `"how":"not-happened"`) != 1 {
		t.Errorf("%v, %+v, asked for %d times\n%s", err, res, n, w.brief())
	}
	w.truth(t, w.disk)
}

// TestSuccessThatIsNone: the NameNode says that it moved the item. It counts when the item is seen to have
// arrived, at once or half a minute later; otherwise nothing more is done.
func TestSuccessThatIsNone(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		w := single(t)
		w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
			if op.Call != "rename2" || op.ID != w.items[0].InodeID {
				return fakehdfs.Fault{}
			}
			if later {
				w.soon = func() { w.fs.Rename("/data/a/plain", inTrash) }
			}
			return fakehdfs.Fault{Kind: fakehdfs.Pretend}
		})
		begin := w.fs.Now()
		res, err := w.run(context.Background())
		if d := w.fs.Now().Sub(begin); d < lookGap || d > lookGap+time.Minute {
			t.Errorf("it took %s", d)
		}
		if later && (err != nil || res.ExitCode != ExitDone || res.Totals.Done != 1) {
			t.Errorf("later: %v, %+v", err, res)
		}
		var a *Anomaly
		if !later && (!errors.As(err, &a) || res.ExitCode != ExitAnomaly || res.Totals.Done != 0 || res.Totals.Unknown != 1) {
			t.Errorf("never: %v, %+v", err, res)
		}
	}
}

// TestMovedBySomebody: what somebody else moved, while nobody knew whether the run did, did not arrive.
func TestMovedBySomebody(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(fs *fakehdfs.FS){
		"elsewhere": func(fs *fakehdfs.FS) { fs.Rename("/data/a/plain", "/data/b/other") },
		"beside, with another in its place": func(fs *fakehdfs.FS) {
			fs.Rename("/data/a/plain", "/data/a/other")
			fs.Mkdir("/data/a/plain", user, 0o755)
		},
	} {
		w := cut(t, false)
		do(w.fs)
		w.fs.Advance(20 * time.Minute)
		res, err := w.run(context.Background())
		var a *Anomaly
		if !errors.As(err, &a) || res.ExitCode != ExitAnomaly || res.Totals.Unknown != 1 || res.Totals.Done != 0 {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
		w.truth(t, w.disk)
	}
}

// stranger gives calls that are not of its own client, once it was asked a few times.
type stranger struct {
	execute.Mover
	left int
}

func (s *stranger) NewCall(ctx context.Context) (execute.Call, error) {
	call, err := s.Mover.NewCall(ctx)
	if s.left--; s.left < 0 {
		call.ClientID[0]++
	}
	return call, err
}

// TestStranger: a call of another client is never used: its NameNode may know it already.
func TestStranger(t *testing.T) {
	t.Parallel()
	w := single(t)
	p := w.params(w.disk)
	p.Move = &stranger{p.Move, 2} // the first look, and the lock
	res, err := Run(context.Background(), p)
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly || len(w.renames(w.items[0].InodeID)) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestMismatchStops: when more items are not as planned than the plan allows, the run stops. What stays for other
// reasons does not count.
func TestMismatchStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop    string
		skipped int64
		want    error
		code    int
	}{
		{"mismatch:12%", 1, ErrMismatch, ExitBreaker},
		{"mismatch:13%", 2, ErrMismatch, ExitBreaker},
		{"mismatch:50%", 5, ErrMismatch, ExitBreaker},
		{"mismatch:100%", 8, nil, ExitIncomplete},
		{"anomaly", 8, nil, ExitIncomplete},
	} {
		w := newWorld(t, fakehdfs.Options{})
		w.plan.Header.Pace.StopOn = c.stop
		w.keep, w.changed = nil, true
		res, err := w.run(context.Background())
		if !errors.Is(err, c.want) || res.ExitCode != c.code || res.Totals.Skipped != c.skipped {
			t.Errorf("%s: %v, %+v", c.stop, err, res)
		}
	}
	w := newWorld(t, fakehdfs.Options{})
	w.plan.Header.Pace.StopOn = "mismatch:12%"
	for _, i := range w.items {
		w.keep[i.InodeID] = "referenced"
	}
	if res, err := w.run(context.Background()); err != nil || res.Totals.Skipped != 8 {
		t.Errorf("%v, %+v", err, res)
	}
}

package act

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
)

// renames gives the renames of an item that were sent.
func (w *world) renames(id uint64) (ops []fakehdfs.Op) {
	for _, op := range w.fs.Mutating() {
		if op.Call == "rename2" && op.ID == id {
			ops = append(ops, op)
		}
	}
	return ops
}

// TestStale: between the oldest answer of the checks and the rename lie 60 s at most,
// wherever the time goes.
func TestStale(t *testing.T) {
	t.Parallel()
	slow := func(call string, d time.Duration) func(*world, fakehdfs.Op, int) {
		return func(w *world, op fakehdfs.Op, nth int) {
			if op.Port == call && nth == 1 {
				w.fs.Advance(d)
			}
		}
	}
	for _, c := range []struct {
		name    string
		age     time.Duration
		during  func(w *world, op fakehdfs.Op, nth int)
		moved   bool
		settled int // intents that were announced and not sent
	}{
		{name: "young", age: 59900 * time.Millisecond, moved: true},
		{name: "old", age: 60*time.Second + time.Millisecond},
		{name: "from the future", age: -time.Second},
		{name: "a place in the trash takes long", age: 50 * time.Second, during: slow("Mkdirs", 11*time.Second), moved: true},
		{name: "a NameNode takes long", age: 50 * time.Second, during: slow("NewCall", 11*time.Second), moved: true},
		{name: "the disk takes long", age: 50 * time.Second, during: slow("fsync", 11*time.Second), moved: true, settled: 1},
		{name: "somebody sets the clock back", during: slow("fsync", -time.Second), moved: true, settled: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakehdfs.Options{})
			w.items, w.plan.Items, w.age = w.items[:1], 1, c.age
			checked := map[string]int{} // operations since the item was checked last
			w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
				if _, ok := w.fs.Lookup("/locks/LOCK"); !ok || op.Call == "rename2" && op.ID != w.items[0].InodeID {
					return fakehdfs.Fault{}
				}
				call := op.Port
				if call == "fsync" && !strings.Contains(string(w.disk.data[w.disk.durable:]), `"purpose":"move"`) {
					return fakehdfs.Fault{}
				}
				if checked[call]++; c.during != nil {
					c.during(w, op, checked[call])
				}
				return fakehdfs.Fault{}
			})
			res, err := w.run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(w.renames(w.items[0].InodeID)); (n == 1) != c.moved || n > 1 {
				t.Errorf("%d renames, %+v\n%s", n, res, w.brief())
			}
			if n := strings.Count(string(w.disk.data), `"text":"not-sent"`); n != c.settled {
				t.Errorf("%d were announced and not sent\n%s", n, w.brief())
			}
			if !c.moved && (res.Totals.Failed != 1 || res.ExitCode != ExitAnomaly) {
				t.Errorf("%+v", res)
			}
			w.truth(t, w.disk)
		})
	}
}

// TestStops: a hold that somebody makes, and the end of the plan's time, stop a run between
// two items; the guards are read once more all the same.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		stop func(w *world, interrupt func())
		want error
		code int
	}{
		{"hold", func(w *world, _ func()) { w.held = "/ops/HOLD" }, ErrHeld, ExitIncomplete},
		{"expired", func(w *world, _ func()) { w.fs.Advance(time.Hour) }, ErrExpired, ExitIncomplete},
		{"signal", func(_ *world, interrupt func()) { interrupt() }, ErrInterrupted, ExitInterrupted},
		{"window", func(w *world, _ func()) { w.fs.Advance(30 * time.Minute) }, ErrWindow, ExitIncomplete},
	} {
		for _, referred := range []bool{false, true} {
			w := newWorld(t, fakehdfs.Options{}) // 03:04:05
			w.plan.Header.Pace.Window = "03:00-03:30"
			w.plan.Header.ExpiresMs = w.fs.Now().Add(20 * time.Minute).UnixMilli()
			if errors.Is(c.want, ErrWindow) {
				w.plan.Header.ExpiresMs = 0
			}
			if errors.Is(c.want, ErrExpired) {
				w.plan.Header.Pace.Window = ""
			}
			if referred {
				w.referred = []uint64{w.items[0].InodeID}
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			n := 0
			w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
				if op.Port == "fsync" && strings.Contains(string(w.disk.data[w.disk.durable:]), `"type":"done"`) && len(w.renames(w.items[1].InodeID)) == 1 {
					if n++; n == 1 {
						c.stop(w, cancel)
					}
				}
				return fakehdfs.Fault{}
			})
			res, err := w.run(ctx)
			code, done, home := c.code, int64(2), 0
			if referred {
				code, done, home = ExitAnomaly, 1, 1
			}
			if !errors.Is(err, c.want) || res.ExitCode != code || res.Totals.Done != done || res.Totals.Undone != int64(home) {
				t.Errorf("%s, referred %t: %v, %+v\n%s", c.name, referred, err, res, w.brief())
			}
			if _, ok := w.fs.Lookup("/locks/LOCK"); ok {
				t.Errorf("%s: the lock is still there", c.name)
			}
			w.truth(t, w.disk)
		}
	}
}

// TestReferredInTheMiddle: an item that turns out to be referred to comes back before anything else is
// moved, and then the run ends.
func TestReferredInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.referred, w.early = []uint64{w.items[0].InodeID}, true
	res, err := w.run(context.Background())
	var a *Anomaly
	if !errors.As(err, &a) || res.ExitCode != ExitAnomaly || res.Totals.Done != 0 || res.Totals.Undone != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	if len(w.renames(w.items[1].InodeID)) > 0 || w.id("/data/a/plain") != w.items[0].InodeID {
		t.Error(w.state())
	}
	w.truth(t, w.disk)
}

// TestExpiry: at the very moment at which a plan expires it has expired.
func TestExpiry(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]error{-1: ErrExpired, 0: ErrExpired, 1: nil} {
		w := newWorld(t, fakehdfs.Options{})
		r := newRun(w.params(w.disk))
		r.p.Plan.Header.ExpiresMs = w.fs.Now().UnixMilli() + ms
		if err := r.mayGoOn(context.Background()); !errors.Is(err, want) {
			t.Errorf("%d ms: %v", ms, err)
		}
	}
}

// TestLateResend: while a resume looked at everything, NameNodes forgot the call, or somebody
// took the lock away: then what was asked for is not asked for again.
func TestLateResend(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(*world){
		"late": func(w *world) { w.fs.Advance(replayed) },
		"unlocked": func(w *world) {
			holder, err := Holder(context.Background(), w.params(nil))
			if err != nil {
				t.Error(err)
			}
			if _, err := Unlock(context.Background(), w.params(&disk{}), holder); err != nil {
				t.Error(err)
			}
		},
		"held":           func(w *world) { w.held = "/ops/HOLD" },
		"checks are old": func(w *world) { w.age = time.Hour },
		"changed":        func(w *world) { w.changed = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := cut(t, false)
			w.fs.Advance(time.Minute)
			once := false
			w.checking = func() {
				if !once {
					once = true
					during(w)
				}
			}
			_, _ = w.run(context.Background())
			if !once {
				t.Error("nothing was checked")
			}
			for _, op := range w.fs.Mutating() {
				if op.Resent {
					t.Errorf("asked for again: %+v", op)
				}
			}
			if name != "unlocked" { // that stands in another journal
				w.truth(t, w.disk)
			}
		})
	}
}

// TestListed: what the plan holds back is told, nothing is written of it, and a root that has
// nothing else is no reason to pause.
func TestListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	sealed := w.id("/zone/d/sealed")
	w.listed = map[uint64]bool{sealed: true}
	w.keep[sealed] = "observe"
	begin := w.fs.Now()
	p := w.params(w.disk)
	var told []Event
	p.Watch = func(e Event) {
		if e.Kind == ItemListed || e.Kind == RootBegins {
			told = append(told, e)
		}
	}
	if _, err := Run(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if len(told) != 3 || told[1].Path != "/zone" || told[2].Path != "/zone/d/sealed" || told[2].Rule != "observe" || told[2].Item == nil {
		t.Errorf("%+v", told)
	}
	if strings.Contains(string(w.disk.data), "sealed") {
		t.Errorf("the journal speaks of it:\n%s", w.brief())
	}
	if d := w.fs.Now().Sub(begin); d >= time.Minute {
		t.Errorf("it took %s", d)
	}
	if w.id("/zone/d/sealed") != sealed {
		t.Error("it was moved")
	}
}

// TestInstead: what cannot be resumed says what to do.
func TestInstead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	// The answer to the first rename of the undo is lost, and so are those to all others.
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" && op.ID == w.items[0].InodeID {
			return fakehdfs.Fault{Kind: fakehdfs.Lost}
		}
		return fakehdfs.Fault{}
	})
	_, err := w.undo(context.Background(), "/data/a/plain")
	if err == nil || !strings.Contains(err.Error(), "unlock, and undo again") {
		t.Errorf("%v", err)
	}
	w.fs.Plan(nil)
	p := w.params(w.undoDisk)
	j, err := w.reopen(w.undoDisk, p)
	if err != nil {
		t.Fatal(err)
	}
	size := len(w.undoDisk.data)
	var r *Refusal
	if _, err = Resume(context.Background(), p, j); !errors.As(err, &r) || r.Rule != "other-command" || !strings.Contains(r.Text, "unlock, and undo again") {
		t.Errorf("%v", err)
	}
	if len(w.undoDisk.data) != size {
		t.Error("something was written to it")
	}
	for _, c := range []journal.Command{journal.CommandRun, journal.CommandUndo, journal.CommandRehearse, journal.CommandUnlock} {
		if instead[c] == "" {
			t.Errorf("no word about %q", c)
		}
	}
	w.restored(t) // as it was said
	if e, ok := w.fs.Lookup("/data/a/plain"); !ok || e.ID != w.items[0].InodeID {
		t.Error("it is not back")
	}
}

// TestNoAnswer: a rename of which no answer comes is asked for once more only as long as the item
// would be moved: with the lock, without a hold, and by checks that are young.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		after   bool // the first request did arrive
		during  func(t *testing.T, w *world)
		resent  int
		arrived bool
		code    int
	}{
		{name: "soon", resent: 1, arrived: true, code: ExitDone},
		{name: "soon, and it had arrived", after: true, arrived: true, code: ExitDone},
		{name: "somebody takes the item away", during: func(_ *testing.T, w *world) { w.fs.Rename("/data/a/plain", "/data/e/saved") }, code: ExitAnomaly},
		{name: "late", during: late, resent: 1, arrived: true, code: ExitDone},
		{name: "late, and it had arrived", after: true, during: late, arrived: true, code: ExitDone},
		{name: "late, and it changed", during: func(t *testing.T, w *world) {
			late(t, w)
			w.changed = true
		}, code: ExitAnomaly},
		{name: "late, and the checks take long", during: func(t *testing.T, w *world) {
			late(t, w)
			w.age = time.Hour
		}, code: ExitAnomaly},
		{name: "a hold", during: func(_ *testing.T, w *world) { w.held = "/ops/HOLD" }, code: ExitAnomaly},
		{name: "a hold, and it had arrived", after: true, during: func(_ *testing.T, w *world) { w.held = "/ops/HOLD" }, arrived: true, code: ExitDone},
		{name: "the lock is gone", during: func(t *testing.T, w *world) {
			holder, err := Holder(context.Background(), w.params(nil))
			if err != nil {
				t.Error(err)
			}
			if _, err := Unlock(context.Background(), w.params(&disk{}), holder); err != nil {
				t.Error(err)
			}
		}, code: ExitAnomaly},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakehdfs.Options{})
			w.items, w.plan.Items = w.items[:1], 1
			lost := false
			w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
				if lost || op.Call != "rename2" || op.ID != w.items[0].InodeID {
					return fakehdfs.Fault{}
				}
				lost = true
				return fakehdfs.Fault{Kind: fakehdfs.Lost, After: c.after, Do: func(*fakehdfs.FS) {
					if c.during != nil {
						w.soon = func() { c.during(t, w) }
					}
				}}
			})
			res, err := w.run(context.Background())
			resent := 0
			for _, op := range w.renames(w.items[0].InodeID) {
				if op.Resent {
					resent++
				}
			}
			if !lost || resent != c.resent || res.ExitCode != c.code || res.Totals.Done == 1 != c.arrived || res.Totals.Unknown == 0 != c.arrived {
				t.Errorf("sent again %d times, %v, %+v\n%s", resent, err, res, w.brief())
			}
			if strings.Contains(w.state(), " trash\n") != (c.arrived || c.after) {
				t.Error(w.state())
			}
		})
	}
}

// TestNoAnswerToUndo: neither is what an undo asked for, without the lock.
func TestNoAnswerToUndo(t *testing.T) {
	t.Parallel()
	for _, unlocked := range []bool{false, true} {
		w := newWorld(t, fakehdfs.Options{})
		if _, err := w.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		n, lost := len(w.renames(w.items[0].InodeID)), false
		w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
			if lost || op.Call != "rename2" || op.ID != w.items[0].InodeID {
				return fakehdfs.Fault{}
			}
			lost = true
			return fakehdfs.Fault{Kind: fakehdfs.Lost, Do: func(*fakehdfs.FS) {
				w.soon = func() {
					if unlocked {
						w.fs.Rename("/locks/LOCK", "/locks/taken-away")
					}
				}
			}}
		})
		res, err := w.undo(context.Background(), "/data/a/plain")
		sent := len(w.renames(w.items[0].InodeID)) - n
		if unlocked && (sent != 1 || res.ExitCode != ExitAnomaly || res.Totals.Unknown != 1) || !unlocked && (sent != 2 || err != nil || res.Totals.Done != 1) {
			t.Errorf("unlocked %t: sent %d times, %v, %+v", unlocked, sent, err, res)
		}
	}
}

func late(_ *testing.T, w *world) { w.fs.Advance(maxStale + time.Second) }

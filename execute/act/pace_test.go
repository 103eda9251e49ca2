package act

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

func TestInWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window, now string
		want        bool
	}{
		{"", "12:00", true},
		{"01:00-05:00", "00:59", false},
		{"01:00-05:00", "01:00", true},
		{"01:00-05:00", "04:59", true},
		{"01:00-05:00", "05:00", false},
		{"22:00-04:00", "21:59", false},
		{"22:00-04:00", "22:00", true},
		{"22:00-04:00", "00:00", true},
		{"22:00-04:00", "03:59", true},
		{"22:00-04:00", "04:00", false},
	} {
		now, err := time.Parse("15:04", c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := inWindow(c.window, now); err != nil || got != c.want {
			t.Errorf("%s in %q: %t, %v", c.now, c.window, got, err)
		}
	}
	for _, bad := range []string{"01:00", "1-2", "01:00-25:00", "x-y"} {
		if ok, err := inWindow(bad, time.Now()); err == nil || ok {
			t.Errorf("%q: %t, %v", bad, ok, err)
		}
	}
}

// calls notes calls of a duration, one a second.
func calls(p *pace, now time.Time, n int, took time.Duration) time.Time {
	for range n {
		now = now.Add(time.Second)
		p.took(now, took)
	}
	return now
}

func TestLatency(t *testing.T) {
	t.Parallel()
	p := pace{plan: planfile.Pace{BetweenItemsMs: 100}}
	judge := func(now time.Time, doubled bool, want error) {
		t.Helper()
		got, err := p.judge(now)
		if got != doubled || !errors.Is(err, want) {
			t.Errorf("doubled %t, %v", got, err)
		}
	}
	now := calls(&p, time.Unix(1_800_000_000, 0), 59, 10*time.Millisecond)
	judge(now, false, nil)
	now = calls(&p, now, 59, 30*time.Millisecond) // exactly three times as long
	judge(now, false, nil)
	now = calls(&p, now, 59, 31*time.Millisecond)
	judge(now, true, nil)
	judge(now, false, nil) // not again within a minute
	if d := p.next(); d != 200*time.Millisecond {
		t.Errorf("pause %s", d)
	}
	now = calls(&p, now, 62, 31*time.Millisecond)
	judge(now, true, nil)
	if d := p.next(); d != 400*time.Millisecond {
		t.Errorf("pause %s", d)
	}
	// Over two seconds, but not for a minute.
	now = calls(&p, now, 61, 2001*time.Millisecond)
	judge(now, true, nil)
	now = calls(&p, now, 59, 2001*time.Millisecond)
	judge(now, false, nil)
	now = calls(&p, now, 2, 2001*time.Millisecond)
	judge(now, false, ErrSlow)
	now = calls(&p, now, 61, 2000*time.Millisecond)
	if _, err := p.judge(now); err != nil {
		t.Errorf("two seconds: %v", err)
	}
}

// TestPercentile: five slow calls of a hundred are no reason, six are.
func TestPercentile(t *testing.T) {
	t.Parallel()
	for slow, want := range map[int]time.Duration{5: time.Millisecond, 6: time.Second} {
		var p pace
		now := time.Unix(1_800_000_000, 0)
		for i := range 100 {
			took := time.Millisecond
			if i < slow {
				took = time.Second
			}
			p.took(now, took)
		}
		if got := p.percentile(); got != want {
			t.Errorf("%d slow ones: %s", slow, got)
		}
	}
}

// naivePace judges as it is written in the design: all calls of the last minute, sorted.
type naivePace struct {
	calls         []sample
	begin         time.Time
	first         time.Duration
	slow, doubled time.Time
	doublings     int
}

func (p *naivePace) judge(now time.Time) (doubled bool, tripped bool) {
	var took []time.Duration
	var kept []sample
	for _, c := range p.calls {
		if age := now.Sub(c.at); age >= 0 && age <= time.Minute {
			took, kept = append(took, c.took), append(kept, c)
		}
	}
	p.calls = kept
	var busy time.Duration
	for _, d := range took {
		busy += d
	}
	if len(took) < 20 && busy < 30*time.Second {
		p.slow = time.Time{}
		return false, false
	}
	slices.Sort(took)
	p95 := took[int(math.Ceil(float64(len(took))*95/100))-1]
	switch {
	case p95 <= 2*time.Second:
		p.slow = time.Time{}
	case p.slow.IsZero() || now.Before(p.slow):
		p.slow = now
	case now.Sub(p.slow) >= time.Minute:
		return false, true
	}
	if now.Sub(p.begin) < time.Minute || p.first == 0 {
		p.first = max(p95, time.Millisecond)
		return false, false
	}
	if p95 <= 3*p.first || p.doublings == 6 || !p.doubled.IsZero() && now.Sub(p.doubled) < time.Minute {
		return false, false
	}
	p.doubled = now
	p.doublings++
	return true, false
}

// TestJudge holds judge against what is naive, whatever the clock does.
func TestJudge(t *testing.T) {
	t.Parallel()
	var doubled, tripped int
	rapid.Check(t, func(t *rapid.T) {
		var p pace
		var naive naivePace
		now := time.Unix(1_800_000_000, 0)
		usual := time.Duration(rapid.IntRange(1, 100).Draw(t, "usual"))
		for range rapid.IntRange(1, 20).Draw(t, "phases") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 20, 61, -1, -30, -90}).Draw(t, "jump")) * time.Second)
			factor := rapid.SampledFrom([]int{1, 1, 3, 4, 40, 3000}).Draw(t, "factor")
			each := rapid.SampledFrom([]int{1, 10, 20, 21}).Draw(t, "each")
			for i := range rapid.IntRange(1, 120).Draw(t, "calls") {
				took := usual * time.Millisecond
				if i%each == 0 {
					took *= time.Duration(factor)
				}
				now = now.Add(700 * time.Millisecond)
				p.took(now, took)
				if naive.begin.IsZero() {
					naive.begin = now
				}
				naive.calls = append(naive.calls, sample{now, took})
				got, err := p.judge(now)
				want, trips := naive.judge(now)
				if got != want || errors.Is(err, ErrSlow) != trips || p.doublings != naive.doublings {
					t.Fatalf("call %d: doubled %t, %v; it is %t, %t", len(naive.calls), got, err, want, trips)
				}
				if want {
					doubled++
				}
				if trips {
					tripped++
				}
			}
		}
	})
	if doubled == 0 || tripped == 0 {
		t.Errorf("doubled %d times, tripped %d times: it shows nothing", doubled, tripped)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	p := pace{plan: planfile.Pace{BetweenItemsMs: 1000, Batch: 3, BetweenBatchesMs: 10_000}}
	for i, want := range []time.Duration{1, 1, 10, 1, 1, 10, 1} {
		if d := p.next(); d != want*time.Second {
			t.Errorf("pause %d: %s", i+1, d)
		}
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	p := pace{plan: planfile.Pace{StopOn: "mismatch:5%"}}
	for i := range 5 {
		if err := p.drifted(100); err != nil {
			t.Errorf("%d of 100: %v", i+1, err)
		}
	}
	if err := p.drifted(100); !errors.Is(err, ErrMismatch) || exitCode(err) != ExitBreaker {
		t.Errorf("6 of 100: %v", err)
	}
}

// TestPauses: the time that a run takes is the sum of its pauses.
func TestPauses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.plan.Header.Pace.BetweenItemsMs = 10_000
	begin := w.fs.Now()
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	// Six were moved, in two roots.
	want := 6*10*time.Second + time.Minute
	if d := w.fs.Now().Sub(begin); d < want || d > want+time.Second {
		t.Errorf("it took %s", d)
	}
}

// TestWindowCloses: nothing is begun behind the end of the window, and a resume within the
// next one goes on.
func TestWindowCloses(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{}) // 03:04:05
	before.plan.Header.Pace.Window = "03:00-03:05"
	before.plan.Header.Pace.BetweenItemsMs = 40_000
	w := before.clone()
	res, err := w.run(context.Background())
	if !errors.Is(err, ErrWindow) || res.ExitCode != ExitIncomplete || res.Totals.Done != 2 {
		t.Errorf("%v, %+v", err, res)
	}
	if res, err = w.run(context.Background()); !errors.Is(err, ErrWindow) || res.Totals.Done != 2 {
		t.Errorf("outside: %v, %+v", err, res)
	}
	late := before.clone()
	late.fs.Advance(time.Hour)
	var r *Refusal
	if _, err := late.run(context.Background()); !errors.As(err, &r) || r.Rule != "window" || len(late.fs.Mutating()) > 0 {
		t.Errorf("late: %v", err)
	}
	w.fs.Advance(24*time.Hour - 2*time.Minute)
	w.plan.Header.Pace.BetweenItemsMs = 0
	w.plan.Header.Pace.BetweenRootsMs = 0
	if _, err = w.run(context.Background()); err != nil {
		t.Error(err)
	}
	w.same(t, before, wantState)
}

// TestSlowNameNode trips the breaker.
func TestSlowNameNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.timeout = time.Minute
	w.watchSends(t, w.disk, func(op fakehdfs.Op) fakehdfs.Fault {
		if op.NameNode == "" { // the disk is as fast as ever
			return fakehdfs.Fault{}
		}
		return fakehdfs.Fault{Kind: fakehdfs.Slow, For: 2100 * time.Millisecond}
	})
	res, err := w.run(context.Background())
	if !errors.Is(err, ErrSlow) || res.ExitCode != ExitBreaker {
		t.Errorf("%v, %+v", err, res)
	}
	w.truth(t, w.disk)
}

// TestTrashInterval: what earlier runs moved counts.
func TestTrashInterval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	w.plan.Header.Belts.MaxInodes = 21
	p := w.params(w.disk)
	p.Spent = func(since time.Time) (int64, error) {
		if d := w.fs.Now().Sub(since); d < 24*time.Hour || d > 24*time.Hour+time.Second {
			t.Errorf("since %s", d)
		}
		return 10, nil
	}
	res, err := Run(context.Background(), p)
	if err != nil || res.ExitCode != ExitIncomplete || res.Totals.Done != 2 || res.Totals.Inodes != 10 {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestVerySlow: a NameNode that takes so long that there are few calls in a minute trips the breaker,
// too. A few slow ones among pauses do not.
func TestVerySlow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took, pause time.Duration
		want        error
	}{
		{3 * time.Second, 0, ErrSlow},
		{10 * time.Second, 0, ErrSlow},
		{25 * time.Second, 5 * time.Second, ErrSlow},
		{90 * time.Second, 0, ErrSlow},
		{5 * time.Second, 20 * time.Second, nil},
		{2 * time.Second, 2 * time.Second, nil},
	} {
		var p pace
		now := time.Unix(1_800_000_000, 0)
		var err error
		for end := now.Add(10 * time.Minute); err == nil && now.Before(end); {
			now = now.Add(c.took)
			p.took(now, c.took)
			_, err = p.judge(now)
			now = now.Add(c.pause)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("calls of %s, with pauses of %s: %v", c.took, c.pause, err)
		}
	}
}

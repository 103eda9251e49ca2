package act

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fsweep/execute/fakehdfs"
)

// crash lets the process die at operation n, before or after its effect.
func (w *world) crash(n int, after bool) {
	w.disk.after, w.undoDisk.after = after, after
	if after {
		w.fs.CrashAfter(n)
	} else {
		w.fs.CrashBefore(n)
	}
}

var (
	moments = []bool{false, true}
	// Shorter and longer than NameNodes remember calls.
	delays = []time.Duration{time.Minute, 20 * time.Minute}
)

// until runs until there is an end, which an anomaly is, too: what was referred to is back.
func (w *world) until(t *testing.T) {
	t.Helper()
	var err error
	for range 5 {
		_, err = w.run(context.Background())
		if err == nil {
			return
		}
		w.fs.Failover()
	}
	t.Errorf("it does not come to an end: %v", err)
}

func operations(t *testing.T, w *world, do func(*world)) int {
	t.Helper()
	w = w.clone()
	do(w)
	return w.fs.Ops()
}

// TestCrash: whenever a process dies, or its machine loses power, the next one comes to the
// same end.
func TestCrash(t *testing.T) {
	t.Parallel()
	for k, s := range scenes() {
		before := s.world(t)
		n := operations(t, before, func(w *world) { w.until(t) })
		first := operations(t, before, func(w *world) { _, _ = w.run(context.Background()) })
		step := every{first: 1, short: 11, others: min(1+3*k, 7), othersShort: 23}.of(k)
		for _, delay := range delays {
			for _, after := range moments {
				t.Run(fmt.Sprintf("%s %s after=%t", s.name, delay, after), func(t *testing.T) {
					t.Parallel()
					before := before.clone()
					for i := 1 + k%step; i <= n && !t.Failed(); i += step {
						died := before.clone()
						died.watchSends(t, died.disk, nil)
						died.crash(i, after)
						if _, err := died.run(context.Background()); i <= first && !errors.Is(err, fakehdfs.ErrDead) {
							t.Errorf("operation %d: no crash: %v", i, err)
						}
						died.fs.Advance(delay)
						files := died.disk.left()
						if delay != delays[0] { // there, all of them
							files = files[i%len(files):][:1]
						}
						for k, left := range files {
							w := died.clone()
							w.disk.data, w.disk.durable = left, len(left)
							w.watchSends(t, w.disk, nil)
							w.until(t)
							w.same(t, before, s.state)
							if t.Failed() {
								t.Fatalf("crash at operation %d, file %d\n%s", i, k, w.brief())
							}
						}
					}
				})
			}
		}
	}
}

// same holds everything against what it has to be.
func (w *world) same(t *testing.T, before *world, state string) {
	t.Helper()
	if got := w.state(); got != state {
		t.Errorf("items:\n%s", got)
	}
	w.unplanned(t, before)
	w.nothingOverwritten(t, before)
	w.truth(t, w.disk)
	if e, ok := w.fs.Lookup("/locks/LOCK"); ok {
		t.Errorf("the lock is still there: %d", e.ID)
	}
}

// TestCrashTwice: a process dies, and the one that goes on dies, too.
func TestCrashTwice(t *testing.T) {
	t.Parallel()
	for k, s := range scenes() {
		before := s.world(t)
		n := operations(t, before, func(w *world) { w.until(t) })
		again := every{first: 1, short: 1, others: 6, othersShort: 6}.of(k)
		step := 97
		if testing.Short() {
			step = 191
		}
		for _, delay := range delays {
			t.Run(s.name+" "+delay.String(), func(t *testing.T) {
				t.Parallel()
				before := before.clone()
				for i := 1; i <= n && !t.Failed(); i += step {
					first := before.clone()
					first.crash(i, i%2 == 0)
					_, _ = first.run(context.Background())
					first.fs.Advance(delay)
					m := operations(t, first, func(w *world) { w.until(t) })
					for k := 1 + i%again; k <= m && !t.Failed(); k += again {
						w := first.clone()
						w.watchSends(t, w.disk, nil)
						w.crash(k, k/max(2, again)%2 == 0)
						_, _ = w.run(context.Background())
						w.fs.Advance(delay)
						all := w.disk.left()
						w.disk.data = all[k%len(all)]
						w.disk.durable = len(w.disk.data)
						w.until(t)
						w.same(t, before, s.state)
						if t.Failed() {
							t.Logf("crashes at operations %d and %d\n%s", i, k, w.brief())
						}
					}
				}
			})
		}
	}
}

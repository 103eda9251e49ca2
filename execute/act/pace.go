package act

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fsweep/proto/planfile"
)

const (
	minute       = time.Minute
	slowFactor   = 3
	tooSlow      = 2 * time.Second
	minSamples   = 20
	maxSamples   = 10_000
	maxDoublings = 6
)

// pace holds the pauses between moves, and the latency of calls.
type pace struct {
	plan      planfile.Pace
	doublings int

	begin    time.Time // of the first call
	first    time.Duration
	samples  []sample  // of the last minute, by time unless the clock was set back
	back     bool      // it was
	slow     time.Time // since when the latency is over the limit; zero: it is not
	judged   time.Time
	items    int64
	mismatch int64
}

type sample struct {
	at   time.Time
	took time.Duration
}

// took notes a call.
func (p *pace) took(at time.Time, d time.Duration) {
	if p.begin.IsZero() {
		p.begin = at
	}
	if len(p.samples) == maxSamples {
		p.samples = slices.Delete(p.samples, 0, maxSamples/2)
	}
	if n := len(p.samples); n > 0 && at.Before(p.samples[n-1].at) {
		p.back = true
	}
	p.samples = append(p.samples, sample{at, d})
}

// forget drops the calls that are older than a minute, or from the future.
func (p *pace) forget(now time.Time) {
	if n := len(p.samples); p.back || n > 0 && p.samples[n-1].at.After(now) {
		p.samples = slices.DeleteFunc(p.samples, func(s sample) bool { return s.at.After(now) })
		slices.SortStableFunc(p.samples, func(a, b sample) int { return a.at.Compare(b.at) })
		p.back = false
	}
	k := 0
	for k < len(p.samples) && now.Sub(p.samples[k].at) > minute {
		k++
	}
	p.samples = p.samples[k:]
}

// judge looks at the 95th percentile of the last minute. It says whether the pauses were
// doubled, and gives ErrSlow when there is no going on. It is asked before each item, so it
// sorts only what can matter.
func (p *pace) judge(now time.Time) (bool, error) {
	p.forget(now)
	// Few calls say little, unless there are so few because each takes so long.
	few := len(p.samples) < minSamples && p.busy() < minute/2
	begins := now.Sub(p.begin) < minute || p.first == 0
	if few || !begins && p.within(min(tooSlow, slowFactor*p.first)) {
		p.slow = time.Time{}
		return false, nil
	}
	p95 := p.percentile()
	switch {
	case p95 <= tooSlow:
		p.slow = time.Time{}
	case p.slow.IsZero() || p.slow.After(now):
		p.slow = now
	case now.Sub(p.slow) >= minute:
		return false, fmt.Errorf("%w: 95 of 100 calls took up to %s, for a minute", ErrSlow, p95.Round(time.Millisecond))
	}
	if begins {
		p.first = max(p95, time.Millisecond)
		return false, nil
	}
	if p95 <= slowFactor*p.first || p.doublings == maxDoublings || !p.judged.IsZero() && now.Sub(p.judged) < minute {
		return false, nil
	}
	p.judged = now
	p.doublings++
	return true, nil
}

// busy gives how long all calls of the last minute took.
func (p *pace) busy() (d time.Duration) {
	for i := range p.samples {
		d += p.samples[i].took
	}
	return d
}

// rank gives how many of n calls took no longer than the 95th percentile of them.
func rank(n int) int { return (n*95 + 99) / 100 }

func (p *pace) percentile() time.Duration {
	took := make([]time.Duration, len(p.samples))
	for i, s := range p.samples {
		took[i] = s.took
	}
	slices.Sort(took)
	return took[rank(len(took))-1]
}

// within tells whether the 95th percentile is a limit at most.
func (p *pace) within(limit time.Duration) bool {
	n := 0
	for i := range p.samples {
		if p.samples[i].took <= limit {
			n++
		}
	}
	return n >= rank(len(p.samples))
}

// pause gives a pause of the plan, in milliseconds, as long as it is now.
func (p *pace) pause(ms int64) time.Duration {
	return time.Duration(ms) * time.Millisecond << p.doublings
}

// next gives the pause behind an item that was moved.
func (p *pace) next() time.Duration {
	p.items++
	d := p.pause(p.plan.BetweenItemsMs)
	if p.plan.Batch > 0 && p.items%p.plan.Batch == 0 {
		d = max(d, p.pause(p.plan.BetweenBatchesMs))
	}
	return d
}

// drifted notes that an item was not as planned, and gives ErrMismatch when more are not
// than the plan allows.
func (p *pace) drifted(planned int64) error {
	p.mismatch++
	text, ok := strings.CutPrefix(p.plan.StopOn, "mismatch:")
	if !ok {
		return nil
	}
	percent, err := strconv.ParseInt(strings.TrimSuffix(text, "%"), 10, 64)
	if err != nil {
		return fmt.Errorf("stop_on %q is not understood: %w", p.plan.StopOn, err)
	}
	if p.mismatch*100 > percent*planned {
		return fmt.Errorf("%w: %d of %d", ErrMismatch, p.mismatch, planned)
	}
	return nil
}

// InWindow tells whether a time is in the window in which a plan may move something.
func InWindow(p *planfile.Pace, now time.Time) (bool, error) { return inWindow(p.Window, now) }

// inWindow tells whether a time is in a window of the day, "01:00-05:00", which may go
// over midnight. The end does not belong to it.
func inWindow(window string, now time.Time) (bool, error) {
	if window == "" {
		return true, nil
	}
	from, to, ok := strings.Cut(window, "-")
	begin, err1 := time.Parse("15:04", from)
	end, err2 := time.Parse("15:04", to)
	if !ok || err1 != nil || err2 != nil {
		return false, fmt.Errorf("window %q is not understood", window)
	}
	at := now.Hour()*60 + now.Minute()
	b, e := begin.Hour()*60+begin.Minute(), end.Hour()*60+end.Minute()
	if b <= e {
		return at >= b && at < e, nil
	}
	return at >= b || at < e, nil
}

// wait sleeps between two items. An end of the context is ErrInterrupted.
func (a *actor) wait(ctx context.Context, d time.Duration) error {
	if d > 0 && a.p.Clock.Sleep(ctx, d) != nil {
		return ErrInterrupted
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return nil
}

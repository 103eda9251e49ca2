package main

import (
	"testing"
	"time"

	"fsweep/analyze"
	"fsweep/analyze/cleanup"
)

// TestClockSkew: an image that is up to five minutes from the future has another
// clock, and is from the present. Whoever types one of the two times means it.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const ok = 5 * time.Minute
	for _, c := range []struct {
		name   string
		ahead  time.Duration
		source string // of a time that is known before; empty: none
		typed  bool   // --now
		now    time.Duration
		fails  bool
	}{
		{"before", -time.Hour, "", false, 0, false},
		{"skew", ok, "", false, ok, false},
		{"future", ok + 1, "", false, 0, true},
		{"sidecar", ok, "s", false, ok, false},
		{"sidecar of the future", ok + 1, "s", false, 0, true},
		{"typed now", 1, "", true, 0, true},
		{"typed image time", 1, byFlag, false, 0, true},
	} {
		p := &cleanup.Policy{ImageMaxAge: cleanup.Duration(26 * time.Hour), PlanTTL: cleanup.Duration(24 * time.Hour)}
		r := ruling{in: &inputs{policy: p, now: clock}, from: &origin{saved: clock.Add(time.Hour), source: c.source}}
		if at := clock.Add(c.ahead); c.source != "" {
			r.from.time = at
		} else {
			r.source = analyze.Source{ImageTimeMs: at.UnixMilli(), ImageTimeSource: "newest"}
			if c.ahead%time.Millisecond != 0 { // to the millisecond
				r.source.ImageTimeMs++
			}
		}
		var typed time.Time
		if c.typed {
			typed = clock
		}
		err := r.checkTimes(typed) // before the image is read
		if err == nil {
			if err = r.dated(typed); err == nil {
				err = r.checkTimes(typed)
			}
		}
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := r.in.now.Sub(clock); got != c.now {
			t.Errorf("%s: the present is %v later", c.name, got)
		}
		if err == nil && (r.in.given.Now != r.in.now || r.in.given.ImageTime.After(r.in.now)) {
			t.Errorf("%s: %v, %v", c.name, r.in.given.Now, r.in.given.ImageTime)
		}
	}
}

// TestGuess: the image is not younger than its file, and not older than what is in it
// unless somebody set a time.
func TestGuess(t *testing.T) {
	t.Parallel()
	newest := time.UnixMilli(1_795_910_400_000)
	for _, c := range []struct {
		saved, want time.Time
		source      string
	}{
		{newest.Add(time.Hour), newest, "newest"},
		{newest, newest, "newest"},
		{newest.Add(-1), newest.Add(-1), byFile},
		{time.Unix(0, 0), newest, "newest"}, // copied without a time
	} {
		from := &origin{saved: c.saved}
		from.guess(newest, "newest")
		if from.time != c.want || from.source != c.source || !from.guessed {
			t.Errorf("%v: %+v", c.saved, from)
		}
	}
}

package cleanup

import (
	"math"
	"testing"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	const s, m, h, d = 1000, 60_000, 3_600_000, 86_400_000
	for ms, want := range map[int64]string{
		0: "0ms", 999: "999ms", s: "1s", 59*s + 999: "59s", m: "1m", m + s: "1m1s", 30 * m: "30m", h: "1h", 5*h + 12*m + 30*s: "5h12m",
		d - 1: "23h59m", d: "1d", 6*d + 3*h + 59*m: "6d3h", 6*d + 59*m: "6d", 1000 * d: "1000d", -d: "-1d", -1500: "-1s",
		math.MaxInt64: "106751991167d7h", math.MinInt64: "-106751991167d7h",
	} {
		if got := span(ms); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	const image = 1_795_176_000_000
	for mtime, want := range map[int64]string{0: "?", -5: "?", image: "0ms", image + 1: "future", image - 6*86_400_000 - 3*3_600_000: "6d3h", math.MinInt64: "?", math.MaxInt64: "future"} {
		if got := age(mtime, image); got != want {
			t.Errorf("%d: %s, want %s", mtime, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		0: "1970-01-01T00:00:00Z", 1_795_176_000_999: "2026-11-20T12:00:00Z", -1: "1969-12-31T23:59:59Z", 253_402_300_799_999: "9999-12-31T23:59:59Z",
		253_402_300_800_000: "253402300800000ms", math.MaxInt64: "9223372036854775807ms", math.MinInt64: "-9223372036854775808ms",
	} {
		if got := clock(ms); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1.0KiB", 1536: "1.5KiB", 10 << 40: "10TiB", -2048: "-2.0KiB", math.MaxInt64: "8.0EiB", math.MinInt64: "-8.0EiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestPercent: what is full says so, and what is not never does.
func TestPercent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		part, whole int64
		want        string
	}{
		{0, 100, "0.0%"},
		{98, 100, "98.0%"},
		{100, 100, "100.0%"},
		{150, 100, "150.0%"},
		{999_999, 1_000_000, "99.9%"},
		{1, 3, "33.3%"},
		{-5, 100, "-5.0%"},
		{5, 0, ""},
		{1, -1, ""},
	} {
		if got := percent(tc.part, tc.whole); got != tc.want {
			t.Errorf("%d of %d: %s, want %s", tc.part, tc.whole, got, tc.want)
		}
	}
}

// TestPad: wide characters take two columns, combining ones none.
func TestPad(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"": "   |", "ab": "ab |", "日": "日 |", "e\u0301": "e\u0301  |", "abcd": "abcd|"} {
		if got := pad(s, 3) + "|"; got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := padLeft("日", 4); got != "  日" {
		t.Errorf("%q", got)
	}
}

package main

import "testing"

// TestAllowedGarbage: what may lie and what is in use are together as large as the
// room, or a sixth more than what is in use.
func TestAllowedGarbage(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		live, room uint64
		want       int
	}{
		{200 * mib, 350 * mib, 75},
		{350 * mib, 350 * mib, usualGarbage},
		{340 * mib, 350 * mib, usualGarbage}, // 2 % would be a run of the collector after the other
		{600 * mib, 350 * mib, usualGarbage},
		{mib, 350 * mib, mostGarbage}, // it has hardly begun
		{0, 350 * mib, usualGarbage},  // the collector has not run yet
		{200 * mib, 0, usualGarbage},
		{1 << 62, 1<<64 - 1, 300}, // nothing overflows
	} {
		if got := allowedGarbage(c.live, c.room); got != c.want {
			t.Errorf("%d of %d: %d %%, want %d", c.live, c.room, got, c.want)
		}
	}
}

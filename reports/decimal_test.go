package reports

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestDecimal compares with strconv at every place where the number of digits or
// a group of them changes, and at random.
func TestDecimal(t *testing.T) {
	check := func(v uint64, spare int) {
		t.Helper()
		dst := append(make([]byte, 0, 3+spare), "abc"...)
		if got, want := string(appendUint(dst, v)), "abc"+strconv.FormatUint(v, 10); got != want {
			t.Fatalf("%d: %q", v, got)
		}
		if got, want := string(appendInt(dst, int64(v))), "abc"+strconv.FormatInt(int64(v), 10); got != want {
			t.Fatalf("%d: %q", int64(v), got)
		}
	}
	for v := range uint64(200_000) { // all that four digits and their neighbours can be
		check(v, int(v%30))
		check(v*10_000+v, 0)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for p, digits := uint64(1), 0; digits < 20; p, digits = p*10, digits+1 {
		for d := range uint64(1000) {
			check(p+d, digits)
			check(p-d, 30)
			check(p*(d%10)-1, 30)
			check(p+r.Uint64N(p), 30)
		}
	}
	for _, v := range []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64, math.MaxUint32, 0} {
		check(v, 0)
		check(v, 30)
	}
}

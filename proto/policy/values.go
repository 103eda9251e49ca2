package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is how a value is written in YAML.
type kind uint8

const (
	textKind   kind = iota // plain or in quotes
	numberKind             // plain, and a number
	otherKind              // null, true, false and what else YAML has
)

// value is a scalar as it stands in the file.
type value struct {
	text string
	kind kind
	ns   Nameservice // of the policy, for paths
}

// scalar is a type of the policy that stands in one YAML scalar.
type scalar interface {
	set(v value) error // an error says what is wrong and what would be right
	yaml() string      // canonical; set reads it back
}

// wantText refuses numbers and the like where text belongs.
func (v value) wantText(what string) error {
	switch {
	case v.kind == textKind:
		return nil
	case v.kind == numberKind:
		return fmt.Errorf(`%s is a number, where %s belongs; in quotes it is text: "%s"`, v.text, what, v.text)
	case v.text == "" || strings.EqualFold(v.text, "null") || v.text == "~":
		return fmt.Errorf("nothing, where %s belongs; leave the key out for its default", what)
	}
	return fmt.Errorf(`%s stands for something else in YAML; as %s write it in quotes: "%s"`, v.text, what, v.text)
}

// Count is a number of things.
type Count int64

func (c *Count) set(v value) error {
	n, err := strconv.ParseInt(v.text, 10, 64)
	if v.kind == textKind && err == nil {
		return fmt.Errorf("%q is text; write the number without quotes", v.text)
	}
	if v.kind != numberKind || err != nil || strconv.FormatInt(n, 10) != v.text {
		return fmt.Errorf("%q is no whole number in plain digits, such as 500", v.text)
	}
	*c = Count(n)
	return nil
}

func (c *Count) yaml() string { return strconv.FormatInt(int64(*c), 10) }

// InodeID is the id that the NameNode gave an inode.
type InodeID uint64

func (id *InodeID) set(v value) error {
	n, err := strconv.ParseUint(v.text, 10, 64)
	if v.kind != numberKind || err != nil || n == 0 || strconv.FormatUint(n, 10) != v.text {
		return fmt.Errorf("%q is no inode id in plain digits, such as 16386", v.text)
	}
	*id = InodeID(n)
	return nil
}

func (id *InodeID) yaml() string { return strconv.FormatUint(uint64(*id), 10) }

// Duration is a length of time in whole milliseconds, as times in an image and in a
// plan are, and never negative. It is written like Go's, with d for days of 24 hours:
// 26h, 6d, 1d12h, 200ms. A bare number is refused: nobody can see its unit.
type Duration time.Duration

var durationUnits = map[string]int64{
	"ms": int64(time.Millisecond), "s": int64(time.Second), "m": int64(time.Minute), "h": int64(time.Hour), "d": 24 * int64(time.Hour),
}

func (d *Duration) set(v value) error {
	const example = "such as 30s, 26h or 6d"
	if v.kind == numberKind {
		return fmt.Errorf("%s has no unit; write %sh, %sd or another unit", v.text, v.text, v.text)
	}
	if err := v.wantText("a duration, " + example); err != nil {
		return err
	}
	if strings.HasPrefix(v.text, "-") {
		return fmt.Errorf("%q is negative", v.text)
	}
	var sum int64
	rest := v.text
	for first := true; rest != "" || first; first = false {
		number, unit, tail := cutQuantity(rest)
		size, ok := durationUnits[unit]
		if number == "" || !ok {
			return fmt.Errorf("%q is no duration; write one with the units ms, s, m, h, d, %s", v.text, example)
		}
		n, err := exact(number, size)
		if err != nil {
			return fmt.Errorf("%q: %w", v.text, err)
		}
		if sum += n; sum < 0 {
			return fmt.Errorf("%q is longer than %d days", v.text, math.MaxInt64/durationUnits["d"])
		}
		rest = tail
	}
	if sum%int64(time.Millisecond) != 0 {
		return fmt.Errorf("%q is not in whole milliseconds; the units are ms, s, m, h, d, %s", v.text, example)
	}
	*d = Duration(sum)
	return nil
}

func (d *Duration) yaml() string { return d.String() }

// String gives hours, minutes, seconds and milliseconds without those that are zero:
// 144h, 1h30m, 200ms.
func (d Duration) String() string {
	if d < Duration(time.Millisecond) {
		return "0h"
	}
	var b strings.Builder
	rest := int64(d)
	for _, unit := range []string{"h", "m", "s", "ms"} {
		if n := rest / durationUnits[unit]; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit)
			rest %= durationUnits[unit]
		}
	}
	return b.String()
}

// Size is a number of bytes. Units are powers of 1000 (kB, MB, GB, TB, PB) or of
// 1024 (KiB, MiB, GiB, TiB, PiB), or B. Only 0 needs none.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"PiB", 1 << 50},
	{"PB", 1e15},
	{"TiB", 1 << 40},
	{"TB", 1e12},
	{"GiB", 1 << 30},
	{"GB", 1e9},
	{"MiB", 1 << 20},
	{"MB", 1e6},
	{"KiB", 1 << 10},
	{"kB", 1e3},
	{"B", 1},
}

func (s *Size) set(v value) error {
	if v.kind == numberKind {
		if v.text != "0" {
			return fmt.Errorf("%s has no unit; write %sGiB, %sB or another unit", v.text, v.text, v.text)
		}
		*s = 0
		return nil
	}
	if err := v.wantText("a size, such as 10GiB or 500MB"); err != nil {
		return err
	}
	number, unit, tail := cutQuantity(v.text)
	if unit == "KB" {
		unit = "kB" // seen everywhere, and nothing else is meant
	}
	for _, u := range sizeUnits {
		if number == "" || tail != "" || u.name != unit {
			continue
		}
		n, err := exact(number, u.bytes)
		if err != nil {
			return fmt.Errorf("%q: %w", v.text, err)
		}
		*s = Size(n)
		return nil
	}
	return fmt.Errorf("%q is no size; write one with a unit of B, kB, MB, GB, TB, PB (1000) or KiB, MiB, GiB, TiB, PiB (1024), such as 10GiB", v.text)
}

func (s *Size) yaml() string { return s.String() }

// String gives the size in the unit that makes the smallest whole number.
func (s Size) String() string {
	if s == 0 {
		return "0"
	}
	for _, u := range sizeUnits {
		if int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(s)/u.bytes, u.name)
		}
	}
	return "0" // not reached: all is a multiple of 1 B
}

// cutQuantity cuts a number and its unit from the start of s.
func cutQuantity(s string) (number, unit, rest string) {
	digit := func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }
	n := strings.IndexFunc(s, func(r rune) bool { return !digit(r) })
	if n < 0 {
		return s, "", ""
	}
	number, s = s[:n], s[n:]
	if n = strings.IndexFunc(s, digit); n < 0 {
		return number, s, ""
	}
	return number, s[:n], s[n:]
}

// exact multiplies a decimal number with a unit. The product must be whole: a
// limit that was silently rounded is another limit than the one that was written.
func exact(number string, unit int64) (int64, error) {
	whole, fraction, dot := strings.Cut(number, ".")
	fraction = strings.TrimRight(fraction, "0")
	scale := int64(1)
	for range fraction {
		if scale > 1e15 {
			return 0, fmt.Errorf("%s has too many digits", number)
		}
		scale *= 10
	}
	n, err := strconv.ParseInt(whole+fraction, 10, 64)
	if whole == "" || dot && strings.HasSuffix(number, ".") || strings.Contains(fraction, ".") {
		return 0, fmt.Errorf("%q is no decimal number", number)
	}
	// The fraction is brought down first, so that 1.5PiB does not overflow on its way.
	for p := range slices.Values([]int64{2, 5}) {
		for scale%p == 0 && unit%p == 0 {
			scale, unit = scale/p, unit/p
		}
	}
	switch {
	case err != nil || n > math.MaxInt64/unit:
		return 0, fmt.Errorf("%s is too large", number)
	case n*unit%scale != 0:
		return 0, fmt.Errorf("%s is not a whole number of the smallest unit", number)
	}
	return n * unit / scale, nil
}

// Percent is a whole number of hundredths from 1 to 100, written 30 or 30%.
type Percent int

func (p *Percent) set(v value) error {
	digits := strings.TrimSuffix(v.text, "%")
	n, err := strconv.Atoi(digits)
	if v.kind == otherKind || err != nil || strconv.Itoa(n) != digits {
		return fmt.Errorf("%q is no whole number of percent, such as 30%%", v.text)
	}
	if n < 1 || n > 100 {
		return fmt.Errorf("%q is not between 1%% and 100%%", v.text)
	}
	*p = Percent(n)
	return nil
}

func (p *Percent) yaml() string { return strconv.Itoa(int(*p)) + "%" }

// Factor is a decimal number of at most three places, in thousandths: 1.5 is 1500.
type Factor int64

func (f *Factor) set(v value) error {
	n, err := exact(v.text, 1000)
	if v.kind != numberKind || err != nil {
		return fmt.Errorf("%q is no number with at most three decimal places, such as 1.5", v.text)
	}
	*f = Factor(n)
	return nil
}

func (f *Factor) yaml() string {
	s := fmt.Sprintf("%d.%03d", *f/1000, *f%1000)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Window is a time of day from From to To, in minutes after midnight; it goes over
// midnight if From is after To. The zero value is any time.
type Window struct{ From, To int }

func (w *Window) set(v value) error {
	if v.kind == textKind && v.text == "" {
		*w = Window{}
		return nil
	}
	from, to, ok := strings.Cut(v.text, "-")
	a, errFrom := time.Parse("15:04", from)
	b, errTo := time.Parse("15:04", to)
	if v.kind != textKind || !ok || len(from) != 5 || len(to) != 5 || errFrom != nil || errTo != nil {
		return fmt.Errorf(`%q is no time window; write one from 00:00 to 23:59, such as "01:00-05:00", or "" for any time`, v.text)
	}
	if a.Equal(b) {
		return fmt.Errorf(`%q ends when it begins; write "" for any time`, v.text)
	}
	*w = Window{From: a.Hour()*60 + a.Minute(), To: b.Hour()*60 + b.Minute()}
	return nil
}

func (w *Window) yaml() string {
	if *w == (Window{}) {
		return `""`
	}
	return fmt.Sprintf(`"%02d:%02d-%02d:%02d"`, w.From/60, w.From%60, w.To/60, w.To%60)
}

// Date is a day in UTC.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

func (d *Date) set(v value) error {
	t, err := time.Parse(time.DateOnly, v.text)
	if err != nil {
		return fmt.Errorf("%q is no date; write it as 2026-12-31", v.text)
	}
	d.Year, d.Month, d.Day = t.Date()
	return nil
}

func (d *Date) yaml() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// Over tells whether the day has ended.
func (d Date) Over(now time.Time) bool {
	return !now.Before(time.Date(d.Year, d.Month, d.Day+1, 0, 0, 0, 0, time.UTC))
}

// Removal is where items go: the trash, or a quarantine directory.
type Removal struct {
	Quarantine Path // empty: trash
}

func (r *Removal) set(v value) error {
	if v.text == "trash" {
		*r = Removal{}
		return nil
	}
	dir, ok := strings.CutPrefix(v.text, "quarantine:")
	if !ok {
		return fmt.Errorf("%q is neither trash nor quarantine:/absolute/path", v.text)
	}
	path, err := CleanPath(dir, v.ns, true)
	if err != nil {
		return err
	}
	r.Quarantine = Path(path)
	return nil
}

func (r *Removal) yaml() string {
	if r.Quarantine == "" {
		return "trash"
	}
	return quote("quarantine:" + string(r.Quarantine))
}

// StopOn is what stops a run that is under way: any anomaly, and if Mismatch is
// set also this share of items that are not as the plan says.
type StopOn struct {
	Mismatch Percent // 0: only anomalies
}

func (s *StopOn) set(v value) error {
	if v.text == "anomaly" {
		*s = StopOn{}
		return nil
	}
	share, ok := strings.CutPrefix(v.text, "mismatch:")
	if !ok || !strings.HasSuffix(share, "%") {
		return fmt.Errorf("%q is neither anomaly nor mismatch:N%%, such as mismatch:5%%", v.text)
	}
	return s.Mismatch.set(value{text: share})
}

func (s *StopOn) yaml() string {
	if s.Mismatch == 0 {
		return "anomaly"
	}
	return fmt.Sprintf("mismatch:%d%%", s.Mismatch)
}

package cleanup

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/text"

	"fsweep/proto/pathtext"
)

// escape gives the text form of a name.
func escape[T ~string](name T) string { return string(pathtext.Append(nil, string(name))) }

// printable makes text safe for a line that is text already: a backslash stays.
// Facts of a plan come from a file, which anybody may have written.
func printable(s string) string {
	return strings.ReplaceAll(escape(s), `\\`, `\`)
}

// clock shows a time in UTC, to the second.
func clock(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return strconv.FormatInt(ms, 10) + "ms" // no calendar has that
	}
	return t.Format("2006-01-02T15:04:05Z")
}

// span shows a length of time with its two largest units, rounded down: 6d3h, 5h12m,
// 30m, 20s, 200ms. Lengths that are exact in days or hours say no more than that.
func span(ms int64) string {
	if ms < 0 {
		if ms == math.MinInt64 {
			ms++
		}
		return "-" + span(-ms)
	}
	units := []struct {
		name string
		ms   int64
	}{{"d", 86_400_000}, {"h", 3_600_000}, {"m", 60_000}, {"s", 1000}, {"ms", 1}}
	for i, u := range units[:4] {
		if ms < u.ms {
			continue
		}
		s := strconv.FormatInt(ms/u.ms, 10) + u.name
		if next := units[i+1]; next.name != "ms" && ms%u.ms >= next.ms {
			s += strconv.FormatInt(ms%u.ms/next.ms, 10) + next.name
		}
		return s
	}
	return strconv.FormatInt(ms, 10) + "ms"
}

// age is what column AGE shows: a question mark where a time says nothing.
func age(mtimeMs, imageMs int64) string {
	switch {
	case mtimeMs <= 0:
		return "?"
	case mtimeMs > imageMs:
		return "future"
	}
	return span(imageMs - mtimeMs)
}

func exact(n int64) string { return strconv.FormatInt(n, 10) }

func count(n int64) string { return humanize.Comma(n) }

// size shows bytes rounded, without a blank, so that a column is a field.
func size(n int64) string {
	sign, v := "", uint64(n)
	if n < 0 {
		sign, v = "-", -v
	}
	return sign + strings.ReplaceAll(humanize.IBytes(v), " ", "")
}

// plural gives a number with the word that fits it.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// percent shows a share with one decimal; empty if there is none. Shares below 100 %
// are never shown as 100.0: a quota that has room is not full.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	v := float64(part) / float64(whole) * 100
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if part < whole && s == "100.0" {
		s = "99.9"
	}
	return s + "%"
}

// pad fills up to a width of columns, of which wide characters take two.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-text.StringWidthWithoutEscSequences(s)))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-text.StringWidthWithoutEscSequences(s))) + s
}

package policy

import (
	"strings"
	"testing"
	"time"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to   scalar
		text string
		kind kind
		want string // canonical, or part of the error after "!"
	}{
		{new(Duration), "26h", textKind, "26h"},
		{new(Duration), "1d12h", textKind, "36h"},
		{new(Duration), "1.5h", textKind, "1h30m"},
		{new(Duration), "90s", textKind, "1m30s"},
		{new(Duration), "1500ms", textKind, "1s500ms"},
		{new(Duration), "0.001s", textKind, "1ms"},
		{new(Duration), "1ns", textKind, "!is no duration; write one with the units ms, s, m, h, d, such as"},
		{new(Duration), "1500us", textKind, "!is no duration; write one with the units ms, s, m, h, d, such as"},
		{new(Duration), "1µs", textKind, "!is no duration; write one with the units ms, s, m, h, d, such as"},
		{new(Duration), "0.5ms", textKind, "!is not in whole milliseconds; the units are ms, s, m, h, d, such as"},
		{new(Duration), "1h0.0001s", textKind, "!is not in whole milliseconds"},
		{new(Duration), "0h", textKind, "0h"},
		{new(Duration), "106751d", textKind, "2562024h"},
		{new(Duration), "106752d", textKind, "!too large"},
		{new(Duration), "106751d106751d", textKind, "!longer than"},
		{new(Duration), "0.0000001ms", textKind, "!not a whole number"},
		{new(Duration), "144", numberKind, "!144 has no unit; write 144h"},
		{new(Duration), "144", textKind, "!is no duration"},
		{new(Duration), "-1h", textKind, "!negative"},
		{new(Duration), "1 h", textKind, "!is no duration"},
		{new(Duration), "h", textKind, "!is no duration"},
		{new(Duration), "1w", textKind, "!is no duration"},
		{new(Duration), "1h30", textKind, "!is no duration"},
		{new(Duration), ".5h", textKind, "!no decimal number"},
		{new(Duration), "1.2.3h", textKind, "!no decimal number"},
		{new(Duration), "", textKind, "!is no duration"},
		{new(Size), "10GiB", textKind, "10GiB"},
		{new(Size), "500MB", textKind, "500MB"},
		{new(Size), "1.5PiB", textKind, "1536TiB"},
		{new(Size), "0.5KiB", textKind, "512B"},
		{new(Size), "1KB", textKind, "1kB"},
		{new(Size), "8191PiB", textKind, "8191PiB"},
		{new(Size), "8192PiB", textKind, "!too large"},
		{new(Size), "0", numberKind, "0"},
		{new(Size), "0.1KiB", textKind, "!not a whole number"},
		{new(Size), "10", numberKind, "!no unit"},
		{new(Size), "10G", textKind, "!is no size"},
		{new(Size), "10 GiB", textKind, "!is no size"},
		{new(Size), "10gib", textKind, "!is no size"},
		{new(Size), "1GiB1MiB", textKind, "!is no size"},
		{new(Percent), "30", numberKind, "30%"},
		{new(Percent), "100%", textKind, "100%"},
		{new(Percent), "0", numberKind, "!between"},
		{new(Percent), "101%", textKind, "!between"},
		{new(Percent), "0.3", numberKind, "!no whole number of percent"},
		{new(Percent), "+5%", textKind, "!no whole number of percent"},
		{new(Percent), "050%", textKind, "!no whole number of percent"},
		{new(Count), "500", numberKind, "500"},
		{new(Count), "-1", numberKind, "-1"}, // check refuses it, and says why
		{new(Count), "010", numberKind, "!no whole number"},
		{new(Count), "1_000", numberKind, "!no whole number"},
		{new(Count), "1e3", numberKind, "!no whole number"},
		{new(Count), "500", textKind, "!without quotes"},
		{new(Count), "9223372036854775808", numberKind, "!no whole number"},
		{new(InodeID), "18446744073709551615", numberKind, "18446744073709551615"},
		{new(InodeID), "0", numberKind, "!no inode id"},
		{new(Factor), "1.5", numberKind, "1.5"},
		{new(Factor), "2", numberKind, "2"},
		{new(Factor), "1.0625", numberKind, "!at most three"},
		{new(Window), "01:00-05:00", textKind, `"01:00-05:00"`},
		{new(Window), "22:30-05:15", textKind, `"22:30-05:15"`},
		{new(Window), "", textKind, `""`},
		{new(Window), "1:00-5:00", textKind, "!no time window"},
		{new(Window), "01:00-24:00", textKind, "!no time window"},
		{new(Window), "01:00", textKind, "!no time window"},
		{new(Window), "01:00-01:00", textKind, "!ends when it begins"},
		{new(Date), "2026-12-31", textKind, "2026-12-31"},
		{new(Date), "2026-02-30", textKind, "!no date"},
		{new(Date), "31.12.2026", textKind, "!no date"},
		{new(Removal), "trash", textKind, "trash"},
		{new(Removal), "quarantine:/ops//q/", textKind, `"quarantine:/ops/q"`},
		{new(Removal), "quarantine:ops", textKind, "!not absolute"},
		{new(Removal), "delete", textKind, "!neither trash nor"},
		{new(StopOn), "anomaly", textKind, "anomaly"},
		{new(StopOn), "mismatch:5%", textKind, "mismatch:5%"},
		{new(StopOn), "mismatch:0%", textKind, "!between"},
		{new(StopOn), "mismatch:5", textKind, "!neither anomaly nor"},
		{new(Nameservice), "nameservice1", textKind, "nameservice1"},
		{new(Nameservice), "nn1.example.org:8020", textKind, "nn1.example.org:8020"},
		{new(Nameservice), "10.0.0.1", textKind, "!is an address"},
		{new(Nameservice), "hdfs://ns1", textKind, "!no port"},
		{new(Nameservice), "ns1/", textKind, "!neither a nameservice"},
		{new(Nameservice), "host:0", textKind, "!no port"},
		{new(Nameservice), "host:99999", textKind, "!no port"},
		{new(Authority), "other:8020", textKind, "other:8020"},
		{new(Name), "a*b [c] %", textKind, `"a*b [c] %"`},
		{new(Name), "line\nbreak", textKind, `"line\u000abreak"`},
		{new(Name), "true", textKind, `"true"`},
		{new(Name), "007", textKind, `"007"`},
		{new(Name), "007", numberKind, `!in quotes it is text: "007"`},
		{new(Name), "true", otherKind, "!stands for something else"},
		{new(Name), "", otherKind, "!nothing, where a name belongs"},
		{new(Name), "a/b", textKind, "!is a path"},
		{new(Name), "..", textKind, "!no name"},
		{new(Glob), "spark-*", textKind, `"spark-*"`},
		{new(Glob), "x", textKind, "x"},
		{new(Glob), "ab?", textKind, `"ab?"`},
		{new(Glob), "*", textKind, "!matches nearly everything"},
		{new(Glob), "**", textKind, "!matches nearly everything"},
		{new(Glob), "?*", textKind, "!matches nearly everything"},
		{new(Glob), "*.*", textKind, "!matches nearly everything"},
		{new(Glob), "a*", textKind, "!matches nearly everything"},
		{new(Glob), "spark-[0-9]", textKind, "!only * and ? are wildcards"},
		{new(Glob), "{a,b}", textKind, "!only * and ? are wildcards"},
		{new(Layout), "jobrun", textKind, `!"jobrun" is not job-run, run, savepoints, ha-storage or children`},
		{new(Mode), "execute", textKind, "execute"},
		{new(Reason), "  ", textKind, "!empty reason"},
		{new(File), "a b.txt", textKind, `"a b.txt"`},
		{new(File), "", textKind, "!no name of a file"},
	} {
		err := c.to.set(value{text: c.text, kind: c.kind, ns: "nameservice1"})
		part, bad := strings.CutPrefix(c.want, "!")
		switch {
		case bad && (err == nil || !strings.Contains(err.Error(), part)):
			t.Errorf("%T %q: %v, want %q", c.to, c.text, err, part)
		case !bad && err != nil:
			t.Errorf("%T %q: %v", c.to, c.text, err)
		case !bad && c.to.yaml() != c.want:
			t.Errorf("%T %q: %s, want %s", c.to, c.text, c.to.yaml(), c.want)
		}
	}
}

func TestCleanPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ns   Nameservice
		in   string
		want string // or part of the error after "!"
	}{
		{"ns1", "/a/b", "/a/b"},
		{"ns1", "//a///b//", "/a/b"},
		{"ns1", "hdfs://ns1/a/b/", "/a/b"},
		{"ns1", "hdfs:///a", "/a"},
		{"ns1", "hdfs:/a", "/a"},
		{"ns1", "/a b/ü/%20", "/a b/ü/%20"},
		{"nn:8020", "hdfs://nn/a", "/a"},
		{"nn:8020", "hdfs://nn:8020/a", "/a"},
		{"nn:8020", "hdfs://nn:9000/a", `!is on "nn:9000"`},
		{"ns1", "hdfs://ns2/a", `!is on "ns2"; this policy is for nameservice "ns1"`},
		{"ns1", "hdfs://10.0.0.1:8020/a/b", "!the cluster's logical URI is hdfs://ns1/a/b"},
		{"ns1", "hdfs://10.0.0.1/a/b", "!the cluster's logical URI is hdfs://ns1/a/b"},
		{"ns1", "hdfs://nn1.example.org/a", "!the cluster's logical URI is hdfs://ns1/a"},
		{"ns1", "s3://bucket/a", "!neither an absolute path nor a URI of HDFS"},
		{"ns1", "file:///a", "!neither an absolute path nor a URI of HDFS"},
		{"ns1", "ns1:/a", "!neither an absolute path nor a URI of HDFS"},
		{"ns1", "a/b", "!is not absolute"},
		{"ns1", "", "!is not absolute"},
		{"ns1", "/", "!is the root directory"},
		{"ns1", "///", "!is the root directory"},
		{"ns1", "hdfs://ns1", "!is the root directory"},
		{"ns1", "/a/../b", `!has the component ".."`},
		{"ns1", "/a/./b", `!has the component "."`},
		{"ns1", "/a/.snapshot/b", "!leads through .snapshot"},
		{"ns1", "/.reserved/raw/a", "!leads through .reserved"},
		{"ns1", "/a/b:c", "!control character or colon"},
		{"ns1", "/a/*", "!has the wildcard"},
		{"ns1", "/a/b[1]", "!has the wildcard"},
		{"ns1", "/a/{b,c}", "!has the wildcard"},
	} {
		got, err := CleanPath(c.in, c.ns, true)
		if part, bad := strings.CutPrefix(c.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q", c.in, err, part)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%q: %q %v, want %q", c.in, got, err, c.want)
		}
	}
	if p, err := CleanPath("/a[1]/b*\xff", "ns1", false); err != nil || p != "/a[1]/b*\xff" {
		t.Errorf("%q %v", p, err)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	if !Path("/a/b").Holds("/a/b/c") || !Path("/a/b").Holds("/a/b") || Path("/a/b").Holds("/a/bc") || Path("/a/b").Holds("/a") {
		t.Error("a path holds what is below it, and nothing else")
	}
	if got := Path("/a").below("/a/b/c"); got != "b" {
		t.Errorf("%q leads there", got)
	}
}

func TestGlobMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g    Glob
		name string
		want bool
	}{
		{"spark-*", "spark-1", true},
		{"spark-*", "spark-", true},
		{"spark-*", "xspark-1", false},
		{"ab?", "abü", true},
		{"ab?", "ab", false},
		{"a.c", "abc", false},
		{"spark-*", "spark-\xff", true},
	} {
		if c.g.Match(c.name) != c.want {
			t.Errorf("%s and %q", c.g, c.name)
		}
	}
}

func TestDateOver(t *testing.T) {
	t.Parallel()
	d := Date{2026, time.December, 31}
	last := time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC)
	if d.Over(last) || !d.Over(last.Add(time.Second)) {
		t.Error("a day ends at midnight UTC")
	}
}

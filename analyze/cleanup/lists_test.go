package cleanup

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadPins(t *testing.T) {
	t.Parallel()
	in := func(text string) Input {
		return Input{Name: "pins.txt", Reader: strings.NewReader(text), ModTime: now.Add(-time.Hour)}
	}
	got, err := ReadPins(in("\ufeff # kept for the audit\n/a/b/\n\nhdfs://nameservice1/c d/\xff\r\n/a//b\n/x#y/#z\n"), PinFile{MaxAge: 24 * hour}, "nameservice1", now)
	if diff := cmp.Diff([]Path{"/a/b", "/c d/\xff", "/x#y/#z"}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"# nothing\n":              "pins.txt: empty",
		"/a\nb\n":                  `pins.txt:2: not understood: "b" is not absolute: a path starts with /`,
		"/a/savepoint-*\n":         `pins.txt:1: not understood: "/a/savepoint-*" has the wildcard "*": a path names one place`,
		"/a\n\n/b\n/\n":            `pins.txt:4: not understood: "/" is the root directory of HDFS`,
		"/a\n\n/a/b # why\n":       `pins.txt:3: not understood: "# why" looks like a comment behind "/a/b"; a comment is a line of its own`,
		"/a\t#why\n":               `pins.txt:1: not understood: "#why" looks like a comment behind "/a"; a comment is a line of its own`,
		"hdfs://10.0.0.1:8020/a\n": `pins.txt:1: not understood: "hdfs://10.0.0.1:8020/a" names the host "10.0.0.1:8020"; the cluster's logical URI is hdfs://nameservice1/a`,
	} {
		got, err := ReadPins(in(text), PinFile{MaxAge: 24 * hour}, "nameservice1", now)
		if err == nil || err.Error() != want || got != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadPins(in("/a"), PinFile{MaxAge: hour / 2}, "nameservice1", now); !errors.Is(err, ErrStale) {
		t.Errorf("a stale list: %v", err)
	}
}

func TestReadJobMap(t *testing.T) {
	t.Parallel()
	m, err := ReadJobMap(Input{Name: "map.txt", Reader: strings.NewReader(
		"# savepoint, job\nsavepoint-1a2b3c-0123456789ab orders\n1a2b3c\tbilling and more \n4d5e6f views\n")})
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"savepoint-1a2b3c-0123456789ab": "orders", // its own name is stronger
		"savepoint-1a2b3c-ba9876543210": "billing and more",
		"savepoint-4d5e6f-ba9876543210": "views",
		"savepoint-777777-ba9876543210": "",
		"4d5e6f":                        "",
		"":                              "",
	} {
		if got, ok := m.Job(dir); got != want || ok != (want != "") {
			t.Errorf("%q belongs to %q", dir, got)
		}
	}
	for text, want := range map[string]string{
		"":                                  "map.txt: empty",
		"1a2b3c\n":                          `map.txt:1: not understood: "1a2b3c" has no job after the savepoint`,
		"1a2b3c a\n\n1a2b3c b\n":            `map.txt:3: not understood: "1a2b3c" is here a second time; before it belonged to "a"`,
		"1a2b3c orders # Ann's\n":           `map.txt:1: not understood: "# Ann's" looks like a comment behind "1a2b3c orders"; a comment is a line of its own`,
		"000000 a\n":                        `map.txt:1: not understood: "000000" stands in the savepoints of all jobs in application mode; name the directories`,
		"ffffff a\n":                        `map.txt:1: not understood: "ffffff" stands in the savepoints of all jobs in application mode; name the directories`,
		"1A2B3C a\n":                        `map.txt:1: not understood: "1A2B3C" is neither a directory such as savepoint-1a2b3c-0123456789ab nor 6 hex digits`,
		"savepoint-1a2b3c-0123456789ab a/b": `map.txt:1: not understood: the job: "a/b" is a path; an exact first-level name has no slash`,
	} {
		if _, err := ReadJobMap(Input{Name: "map.txt", Reader: strings.NewReader(text)}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAnyPath(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Path{
		"/":                     "/",
		"//":                    "/",
		"hdfs://nameservice1":   "/",
		"/a//b/":                "/a/b",
		"hdfs:/a":               "/a",
		"hdfs:///a/b":           "/a/b",
		"hdfs://nameservice1/a": "/a",
		"/a*/[b]\n\xff":         "/a*/[b]\n\xff",
		"/a:b/c":                "/a:b/c",
	} {
		if got, err := AnyPath(s, "nameservice1"); err != nil || got != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{
		"":                        `"" is not absolute: a path starts with /`,
		"a/b":                     `"a/b" is not absolute: a path starts with /`,
		"/a/../b":                 `"/a/../b" has the component ".."`,
		"/a/.snapshot/s":          `"/a/.snapshot/s" leads through .snapshot, which is no directory of the image`,
		"hdfs://other/a":          `"hdfs://other/a" is on "other"; this policy is for nameservice "nameservice1"`,
		"hdfs://nn1.example/a":    `"hdfs://nn1.example/a" names the host "nn1.example"; the cluster's logical URI is hdfs://nameservice1/a`,
		"s3://bucket/a":           `"s3://bucket/a" is neither an absolute path nor a URI of HDFS such as hdfs://nameservice1/path`,
		"/.reserved/.inodes/1234": `"/.reserved/.inodes/1234" leads through .reserved, which is no directory of the image`,
	} {
		if got, err := AnyPath(s, "nameservice1"); err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}

// TestShrunk: nine of ten are enough lost to ask, and a first list has nothing to
// be compared with.
func TestShrunk(t *testing.T) {
	t.Parallel()
	set := func(ids, clusters int) *LiveSet {
		return &LiveSet{Name: "l", IDs: make([]string, ids), Clusters: make([]string, clusters)}
	}
	for _, c := range []struct {
		now    *LiveSet
		before LiveCount
		shrunk bool
	}{
		{set(91, 0), LiveCount{IDs: 100, Clusters: 0}, false},
		{set(90, 0), LiveCount{IDs: 100, Clusters: 0}, true},
		{set(1, 0), LiveCount{}, false},
		{set(0, 1), LiveCount{}, false},
		{set(5, 18), LiveCount{IDs: 5, Clusters: 20}, true},
		{set(5, 19), LiveCount{IDs: 5, Clusters: 20}, false},
		{set(0, 0), LiveCount{}, true},
		{set(0, 3), LiveCount{IDs: 1, Clusters: 3}, true},
	} {
		err := c.now.Shrunk(c.before)
		if (err != nil) != c.shrunk || err != nil && !errors.Is(err, ErrShrunk) {
			t.Errorf("%v after %v: %v", c.now.Count(), c.before, err)
		}
	}
}

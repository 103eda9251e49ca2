package imagetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseTree(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_000_000_000_000)
	tree, err := ParseTree(`
# a comment, and a blank line

/r/a/f        -1d   10 owner=u:g repl=2 xattr=user.k atime=-30m
/r/a/sub/deep -2h30m   0 open
/r/a/         @5       ns-quota=7 ds-quota=8 type-quota=SSD:9
"/r/b \n\xff/" +1s      ez
/r/l -> /x/y  -1h
/r/e/
/s/f          -1h
/s/           snapshottable snapshot=one snapshot=two
`, at)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range tree.Nodes() {
		got = append(got, fmt.Sprintf("%d %d %q %d %d", n.ID, n.Kind, n.Path(), n.MTimeMs-at.UnixMilli(), len(n.Blocks)))
	}
	if diff := cmp.Diff([]string{
		`16385 2 "/" 1000 0`, `16386 2 "/r" 1000 0`, fmt.Sprintf(`16387 2 "/r/a" %d 0`, 5-at.UnixMilli()), `16388 1 "/r/a/f" -86400000 1`,
		`16389 2 "/r/a/sub" -9000000 0`, `16390 1 "/r/a/sub/deep" -9000000 0`, `16391 2 "/r/b \n\xff" 1000 0`, `16392 3 "/r/l" -3600000 0`,
		`16393 2 "/r/e" 0 0`, `16394 2 "/s" -3600000 0`, `16395 1 "/s/f" -3600000 0`,
	}, got); diff != "" {
		t.Error(diff)
	}
	f, a := tree.Root.child("r").child("a").child("f"), tree.Dir("/r/a")
	if f.Owner != "u" || f.Group != "g" || f.Replication != 2 || f.Blocks[0].Bytes != 10 || f.ATimeMs != at.UnixMilli()-1800_000 || f.XAttrs[0].Name != "k" {
		t.Errorf("%+v", f)
	}
	if a.NSQuota != 7 || a.DSQuota != 8 || a.TypeQuotas[0].Quota != 9 || a.child("sub").child("deep").Open == nil || tree.Root.child("r").child("l").Target != "/x/y" {
		t.Errorf("%+v", a)
	}
	if len(tree.snapshots) != 2 || string(tree.snapshots[1].Root.Name) != "two" || len(tree.snapshotDirs) != 1 {
		t.Errorf("%v, %v", tree.snapshots, tree.snapshotDirs)
	}
}

func TestParseTreeErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"r -1d":                          "not absolute",
		"/r":                             "has no time",
		"/r -1x":                         `"-1x"`,
		"/r -xd":                         `"-xd"`,
		"/r @x":                          `"x"`,
		"/r -1d 1z":                      `"1z"`,
		"/r/ -1d 5":                      `"5"`,
		"/r -1d key=1":                   `key=1`,
		"/r/ key=1":                      `"key"`,
		"/r/ ns-quota=x":                 `"x"`,
		"/r/ type-quota=FLOPPY:1":        "FLOPPY",
		"/r/ snapshot":                   "snapshot=",
		"/r -1d owner=x":                 "owner=x",
		"/r -1d xattr=trusted.x":         "trusted.x",
		"/r -1d atime=":                  `""`,
		`"/r -1d`:                        "invalid syntax",
		`"" -1d`:                         "empty",
		"/r -1d\n/r -2d":                 "line 2: \"/r\" stands there twice",
		"/ok -1d\n\n/r/ repl=a":          "line 3: ",
		"/" + strings.Repeat("a", 2<<20): "too long",
	} {
		if _, err := ParseTree(line, time.UnixMilli(0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", line, err, want)
		}
	}
}

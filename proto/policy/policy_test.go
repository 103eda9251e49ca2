package policy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// minimal is a policy with nothing but what is required.
const minimal = `version: 1
nameservice: nameservice1
lock_dir: /ops/fsweep
roots:
  - path: /flink-checkpoints
    layout: job-run
`

func mustParse(t *testing.T, src string) *Policy {
	t.Helper()
	p, err := Parse("policy.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRefused: testdata/refused.txtar has policies and, below each, what a person
// is told about it.
func TestRefused(t *testing.T) {
	t.Parallel()
	const name = "testdata/refused.txtar"
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		src, want := &a.Files[i], &a.Files[i+1]
		if want.Name != src.Name+": told" {
			t.Fatalf("%q follows %q", want.Name, src.Name)
		}
		_, err := Parse("policy.yaml", src.Data)
		policy, ok := errors.AsType[*Error](err)
		if !ok || len(policy.Problems) == 0 {
			t.Errorf("%s: %v", src.Name, err)
			continue
		}
		got := policy.Error() + "\n"
		if *update {
			want.Data = []byte(got)
		}
		if diff := cmp.Diff(string(want.Data), got); diff != "" {
			t.Errorf("%s:\n%s", src.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefusedBytes has what cannot stand in a text file.
func TestRefusedBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", "policy.yaml: the policy is empty; nothing is planned without one"},
		{
			"what the lexer drops", "!!!",
			"policy.yaml:1:1: not valid YAML: this is not understood\n    1 | !!!\n      | ^",
		},
		{
			"a tab in a name", minimal + "    exclude_jobs: [a, d\tgraph]\n",
			"policy.yaml:7:23: a tab or a line break in text without quotes; write it in quotes on one line\n" +
				"    7 |     exclude_jobs: [a, d␦graph]\n      |                       ^",
		},
		{
			"a name over two lines", minimal + "    exclude_jobs:\n      - d\n        graph\n",
			"policy.yaml:8:9: a tab or a line break in text without quotes; write it in quotes on one line\n" +
				"    8 |       - d\n      |         ^",
		},
		{
			"a tab for a blank", minimal + "    keep:\t3\n",
			"policy.yaml:7:11: a tab before this; write blanks\n    7 |     keep:␦3\n      |           ^",
		},
		{
			"a value below its key", minimal + "    keep:\n      3\n",
			"policy.yaml:8:7: roots[0].keep: a value in another line than its key, line 7\n    8 |       3\n      |       ^",
		},
		{
			"no blank after a colon", minimal + "    incomplete_checkpoints: {older_than:48h}\n",
			"policy.yaml:7:40: a blank is missing after this colon; if it belongs to a text, write that in quotes\n" +
				"    7 |     incomplete_checkpoints: {older_than:48h}\n      |                                        ^",
		},
		{
			"a bracket in a name", minimal + "    jobs: [a}b]\n",
			"policy.yaml:7:12: text with } in it must be in quotes\n    7 |     jobs: [a}b]\n      |            ^",
		},
		{
			"a comma too many", minimal + "    jobs: [a,,b]\n",
			"policy.yaml:7:14: nothing stands before this comma\n    7 |     jobs: [a,,b]\n      |              ^",
		},
		{"only comments", "# nothing\n\n---\n", "policy.yaml: the policy is empty; nothing is planned without one"},
		{"too large", strings.Repeat("#\n", MaxBytes), "policy.yaml: 2097152 bytes are too large for a policy; the limit is 1048576"},
		{
			"not UTF-8", "version: 1\nlock_dir: /a\xff\n",
			"policy.yaml:2:13: the file is not UTF-8 here\n    2 | lock_dir: /a\ufffd\n      |             ^",
		},
		{
			"a tab", "version: 1\nbelts:\n\tmax_items: 5\n",
			"policy.yaml:3:1: a tab where the line is indented; YAML allows only blanks\n    3 | ␦max_items: 5\n      | ^",
		},
		{
			"a control character", "version: 1\nlock_dir: /a\x1b[2Jb\n",
			"policy.yaml:2:13: the control character U+001B; in double quotes it can be written as \"\\u001b\"\n    2 | lock_dir: /a␦[2Jb\n      |             ^",
		},
		{
			"UTF-16", "v\x00e\x00r\x00",
			"policy.yaml:1:2: the control character U+0000; in double quotes it can be written as \"\\u0000\"\n    1 | v␦e␦r␦\n      |  ^",
		},
		{
			"a long line", minimal + "protect: [" + strings.Repeat("/aaaaaaaaa, ", 30) + "/b/*/c, " + strings.Repeat("/aaaaaaaaa, ", 30) + "]\n",
			"policy.yaml:7:374: protect[30]: \"/b/*/c\" has the wildcard \"*\": a path names one place\n" +
				"    7 | …aaaaaaaaa, /aaaaaaaaa, /aaaaaaaaa, /aaaaaaaaa, /b/*/c, /aaaaaaaaa, /aaaaaaaaa, /aaaaaaaaa, /aaaaaaaa…\n" +
				"      |                                                    ^",
		},
	} {
		_, err := Parse("policy.yaml", []byte(c.src))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// TestHostile: what is made to take time or memory ends at once, and in an error.
func TestHostile(t *testing.T) {
	t.Parallel()
	const n = MaxBytes / 8
	for name, src := range map[string]string{
		"flow lists":    strings.Repeat("[", n),
		"flow mappings": strings.Repeat("{a: ", n/4),
		"lists":         strings.Repeat("- ", n/2),
		"deep mappings": func() string {
			var b strings.Builder
			for i := range 1000 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
		"keys":       strings.Repeat("a: 1\n", n/5),
		"tabs":       minimal + "# " + strings.Repeat("a\t", n/2) + "\n[",
		"quotes":     strings.Repeat("'", n),
		"bangs":      strings.Repeat("!", n),
		"documents":  strings.Repeat("---\n", n/4) + "a",
		"laughs":     "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n",
		"replaced":   strings.Repeat("\ufffd", n/3),
		"many items": minimal + "protect: [" + strings.Repeat("/a,", n/3) + "]\n",
	} {
		// A machine that is busy with other tests may take longer once, but not each time.
		took := time.Hour
		for try := 0; try < 3 && took > 5*time.Second; try++ {
			began := time.Now()
			if _, err := Parse("policy.yaml", []byte(src)); err == nil || len(err.Error()) > 5000 {
				t.Errorf("%s: %.5000v", name, err)
			}
			took = min(took, time.Since(began))
		}
		if took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// TestDefaults: a policy that leaves all out has the defaults, one that writes
// them out is the same, and another order or form of values is too.
func TestDefaults(t *testing.T) {
	t.Parallel()
	p := mustParse(t, minimal)
	want := Defaults()
	want.Version, want.Nameservice, want.LockDir, want.HoldPaths = 1, "nameservice1", "/ops/fsweep", []Path{"/ops/fsweep/HOLD"}
	want.Roots = []Root{DefaultRoot(JobRun)}
	want.Roots[0].Path = "/flink-checkpoints"
	want.name = "policy.yaml"
	if diff := cmp.Diff(&want, p, cmp.AllowUnexported(Policy{})); diff != "" {
		t.Error(diff)
	}
	other := mustParse(t, "\ufeff---\r\nroots: [{layout: 'job-run', path: \"hdfs://nameservice1//flink-checkpoints/\", min_age: 6d, keep_within: 0s}]\r\n"+
		"lock_dir: hdfs:///ops/fsweep/\r\nbelts: {max_percent_of_root: 30, max_bytes: 0B}\r\npace: {between_roots: 60s}\r\n"+
		"nameservice: nameservice1 # after what needs it\r\nversion: 1\r\n")
	if other.Digest() != p.Digest() {
		t.Errorf("another form is another policy:\n%s", cmp.Diff(string(p.canonical()), string(other.canonical())))
	}
	var b bytes.Buffer
	if err := p.Print(&b); err != nil || !bytes.Equal(b.Bytes(), p.canonical()) {
		t.Errorf("%v\n%s", err, &b)
	}
	for layout, age := range map[Layout]Duration{JobRun: 144 * hour, Run: 144 * hour, Savepoints: 168 * hour, HAStorage: 168 * hour, Children: 0} {
		if r := DefaultRoot(layout); r.MinAge != age || r.Mode != Observe {
			t.Errorf("%s: %+v", layout, r)
		}
	}
}

// TestTabsBeforeComments: those harm nobody.
func TestTabsBeforeComments(t *testing.T) {
	t.Parallel()
	mustParse(t, strings.ReplaceAll(minimal, "\n", "\t# a\tcomment\t\n"))
}

// TestNestedRoots: the way that is right.
func TestNestedRoots(t *testing.T) {
	t.Parallel()
	p := mustParse(t, minimal+`    exclude_jobs: [a]
  - {path: /flink-checkpoints/a/b, layout: job-run}
  - {path: /flink-checkpoints2, layout: job-run}
protect: [/flink-checkpoints/c, /flink-checkpoints/a/b/d]
`)
	if len(p.Roots) != 3 {
		t.Errorf("%+v", p.Roots)
	}
}

// TestLongLists: what a plan has no room for is refused with the policy, at the first
// that is too much.
func TestLongLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value string }{{"protect", "/p/%d"}, {"hold_paths", "/h/%d"}, {"foreign_authorities", "other-%d"}} {
		for _, n := range []int{10_000, 10_001} {
			var b strings.Builder
			b.WriteString(minimal + c.key + ":\n")
			for i := range n {
				fmt.Fprintf(&b, "  - "+c.value+"\n", i)
			}
			_, err := Parse("policy.yaml", []byte(b.String()))
			if n == 10_000 {
				if err != nil {
					t.Errorf("%s: %v", c.key, err)
				}
				continue
			}
			line := strings.Count(minimal, "\n") + n + 1
			want := fmt.Sprintf("policy.yaml:%d:5: %s[10000]: there are 10001 of %s; a plan has room for 10000\n", line, c.key, c.key)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

// TestProtectedRoots are allowed, and noted: nothing in them is ever planned.
func TestProtectedRoots(t *testing.T) {
	t.Parallel()
	p, err := Parse("policy.yaml", []byte(`version: 1
nameservice: nameservice1
lock_dir: /ops/fsweep
protect: [/a/b, /c]
roots:
  - {path: /a, layout: job-run, exclude_jobs: [b]}
  - {path: /a/b, layout: job-run}
  - {path: /c/d, layout: job-run}
  - {path: /cd, layout: job-run}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/a/b is under protect: nothing in it is ever planned", "/c/d is under protect: nothing in it is ever planned"}
	if diff := cmp.Diff(want, p.Notes()); diff != "" {
		t.Error(diff)
	}
}

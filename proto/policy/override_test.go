package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const two = minimal + `    exclude_jobs: [dgraph]
    jobs: [a, b]
    keep: 3
  - path: /flink-checkpoints/dgraph
    layout: job-run
    keep: 3
  - path: /tmp
    layout: children
    names: ["spark-*"]
    min_age: 30d
`

func ptr[T any](v T) *T { return &v }

func TestWith(t *testing.T) {
	t.Parallel()
	p := mustParse(t, two)
	before := p.Digest()
	same, err := p.With(Overrides{})
	if err != nil || same.Digest() != before || len(same.Notes()) != 0 {
		t.Errorf("no flags: %v %v", err, same.Notes())
	}
	out, err := p.With(Overrides{
		Roots: []string{"hdfs://nameservice1/flink-checkpoints/", "/flink-checkpoints"}, Jobs: []string{"a", "a"},
		ExcludeJobs: []string{"dgraph", "x*"}, MinAge: ptr(200 * hour), Keep: ptr(5),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := p.Roots[0]
	want.Jobs, want.ExcludeJobs, want.MinAge, want.Keep = []Name{"a"}, []Name{"dgraph", "x*"}, 200*hour, 5
	if diff := cmp.Diff([]Root{want}, out.Roots); diff != "" || len(out.Notes()) != 0 {
		t.Errorf("%v\n%s", out.Notes(), diff)
	}
	if p.Digest() != before || out.Digest() == before {
		t.Error("flags change the policy in force, not the file's")
	}
	again, err := Parse("printed", out.canonical())
	if err != nil || again.Digest() != out.Digest() {
		t.Errorf("a policy with flags does not come back: %v", err)
	}
}

func TestWithNotes(t *testing.T) {
	t.Parallel()
	out, err := mustParse(t, two).With(Overrides{MinAge: ptr(100 * hour), Keep: ptr(1), Roots: []string{"/tmp", "/flink-checkpoints"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/flink-checkpoints: min_age is 100h by a flag, less than 144h in the policy",
		"/flink-checkpoints: keep is 1 by a flag, less than 3 in the policy",
		"/tmp: min_age is 100h by a flag, less than 720h in the policy",
	}
	if diff := cmp.Diff(want, out.Notes()); diff != "" || out.Roots[1].Keep != 0 {
		t.Errorf("%+v\n%s", out.Roots[1], diff)
	}
}

func TestWithRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		o    Overrides
		want []string
	}{
		{
			"another root",
			Overrides{Roots: []string{"/flink-checkpoint", "/tmp", "/b"}},
			[]string{
				"policy.yaml: --root: /b is no root of the policy; those are /flink-checkpoints, /flink-checkpoints/dgraph, /tmp",
				"policy.yaml: --root: /flink-checkpoint is no root of the policy; those are /flink-checkpoints, /flink-checkpoints/dgraph, /tmp",
			},
		},
		{"no path", Overrides{Roots: []string{"tmp"}}, []string{`policy.yaml: --root: "tmp" is not absolute: a path starts with /`}},
		{"below a root", Overrides{Roots: []string{"/tmp/x"}}, []string{"policy.yaml: --root: /tmp/x is no root of the policy; those are /flink-checkpoints, /flink-checkpoints/dgraph, /tmp"}},
		{
			"a job that the policy does not list",
			Overrides{Roots: []string{"/flink-checkpoints"}, Jobs: []string{"c"}},
			[]string{`policy.yaml: --job: "c" is not among the jobs that the policy lists for /flink-checkpoints`},
		},
		{
			"selected and excluded",
			Overrides{Roots: []string{"/tmp"}, Jobs: []string{"c"}, ExcludeJobs: []string{"c"}},
			[]string{`policy.yaml: roots[0].jobs[0]: "c" is also under exclude_jobs`},
		},
		{"a path as job", Overrides{Roots: []string{"/tmp"}, ExcludeJobs: []string{"/tmp/c"}}, []string{`policy.yaml: --exclude-job: "/tmp/c" is a path; an exact first-level name has no slash`}},
		{
			"keep nothing",
			Overrides{Roots: []string{"/flink-checkpoints"}, Keep: ptr(0)},
			[]string{"policy.yaml: roots[0].keep: keep 0 with keep_within 0h would leave nothing to restore from"},
		},
		{"keep less than nothing", Overrides{Roots: []string{"/flink-checkpoints"}, Keep: ptr(-1)}, []string{"policy.yaml: roots[0].keep: must not be negative"}},
		{"nothing to count", Overrides{Roots: []string{"/tmp"}, Keep: ptr(1)}, []string{"policy.yaml: --keep: no selected root groups by job, so there is nothing to count"}},
		{"no age", Overrides{Roots: []string{"/tmp"}, MinAge: ptr(Duration(0))}, []string{"policy.yaml: roots[0].min_age: must be more than zero"}},
		{
			"an image of tomorrow",
			Overrides{Now: now, ImageTime: now.Add(24 * time.Hour)},
			[]string{"policy.yaml: --image-time: 2026-11-30T12:00:00Z is after --now 2026-11-29T12:00:00Z"},
		},
		{
			"an image of half a second later",
			Overrides{Now: now, ImageTime: now.Add(500 * time.Millisecond)},
			[]string{"policy.yaml: --image-time: 2026-11-29T12:00:00.5Z is after --now 2026-11-29T12:00:00Z"},
		},
	} {
		_, err := mustParse(t, two).With(c.o)
		policy, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Split(policy.Error(), "\n"); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// TestDigestOfBytes: names that are not UTF-8 can come from flags alone; policies
// with different ones differ.
func TestDigestOfBytes(t *testing.T) {
	t.Parallel()
	p, err := Parse("p", []byte("version: 1\nnameservice: ns1\nlock_dir: /ops\nroots:\n  - path: /r\n    layout: job-run\n"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[32]byte]string{}
	for _, name := range []string{"a\xff", "a\xfe", "a\ufffd", "a\u00ff", `a\xff`, "a"} {
		q, err := p.With(Overrides{ExcludeJobs: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[q.Digest()]; ok {
			t.Errorf("%q and %q have one digest", name, other)
		}
		seen[q.Digest()] = name
	}
}

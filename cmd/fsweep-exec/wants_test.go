package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/execute/probe"
)

// TestPlanWants: what of a plan a probe looks for.
func TestPlanWants(t *testing.T) {
	t.Parallel()
	got, err := planWants("../../proto/planfile/testdata/empty.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := probe.Options{
		MinTrashInterval: 24 * time.Hour, Quarantine: "/quarantine", LockDir: "/ops/fsweep",
		Anchors: []probe.AnchorOptions{{Path: "/flink-checkpoints", ID: 16400}},
		Roots:   []probe.RootOptions{{Path: "/tmp", Layout: "children", Execute: true, WantID: 17400}},
		Plan: &probe.PlanOptions{
			Executable: true, ExpiresAt: time.UnixMilli(1764386400000), ClusterID: "CID-8f6c", NamespaceID: 1234567890,
			Mark: "/ops/fsweep/done/59531463bf39c3f385406d696a935b3387387da761903ad93c7e2f8b57f21a16", // what sha256sum says of the file
		},
	}
	if diff := cmp.Diff(want, got.options); diff != "" || got.nameservice != "nameservice1" || got.from != "the plan" {
		t.Errorf("%q %q\n%s", got.nameservice, got.from, diff)
	}
	full, err := planWants("../../proto/planfile/testdata/full.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range full.options.Roots {
		if r.Path == "/flink-savepoints" {
			t.Error("a root that the plan stopped is looked at")
		}
	}
	if len(full.options.Roots) != 6 || len(full.options.Holds) != 1 || full.options.Quarantine != "" {
		t.Errorf("%+v", full.options)
	}
}

// TestPolicyWants: what of a policy a probe looks for.
func TestPolicyWants(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "policy.yaml")
	const text = `version: 1
nameservice: ns1
removal: quarantine:/q
lock_dir: hdfs://ns1/ops//fsweep
belts: {min_trash_interval: 36h}
hold_paths: [/a, /b]
roots:
  - {path: /cp, layout: job-run, mode: execute, exclude_jobs: [x], jobs: [y, z], ignore: [README]}
  - {path: /sp, layout: savepoints}
`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := policyWants(name)
	if err != nil {
		t.Fatal(err)
	}
	want := probe.Options{
		MinTrashInterval: 36 * time.Hour, Quarantine: "/q", LockDir: "/ops/fsweep", Holds: []string{"/a", "/b"},
		Roots: []probe.RootOptions{
			{Path: "/cp", Layout: "job-run", Execute: true, Jobs: []string{"y", "z"}, Excluded: []string{"x", "README"}},
			{Path: "/sp", Layout: "savepoints"},
		},
	}
	if diff := cmp.Diff(want, got.options); diff != "" || got.nameservice != "ns1" {
		t.Error(got.nameservice, diff)
	}
}

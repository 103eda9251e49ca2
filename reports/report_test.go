package reports

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze"
	"fsweep/analyze/namespace"
)

var update = flag.Bool("update", false, "write the golden files")

// sampleReport has a value in every place, and names that need escaping.
func sampleReport() *analyze.Report {
	totals := analyze.Totals{Directories: 3, Files: 1234567, Symlinks: 1, Length: 5 << 30, SpaceConsumed: 15 << 30}
	charge := func(used, quota int64) analyze.Charge { return analyze.Charge{Used: used, Set: true, Quota: quota} }
	q := analyze.QuotaRow{
		Path: []byte("/q/\xff\n"), INodeID: 16400, Owner: "ann", Namespace: charge(9, 10), Space: charge(3<<30, 2<<30), TypeUncharged: true,
	}
	q.Type[namespace.SSD] = charge(0, 1<<30)
	q.Type[namespace.Disk].Used = 5
	row := analyze.DirRow{Path: []byte("/a\tb"), INodeID: 16401, Totals: totals, Children: 1 << 19, Owner: "bob"}
	return &analyze.Report{
		Source: analyze.Source{
			Image: "dir/fsimage_7", SizeBytes: 1 << 20, Txid: 7, LayoutVersion: -66, NamespaceID: 42, Codec: "org.example.Codec",
			VerifiedReason: "there is no .md5 file beside the image", ImageTimeMs: 1795959275368, ImageTimeSource: "newest inode time",
		},
		Findings:       []namespace.Finding{{Code: "some_code", Count: 2, Message: "Something is odd.", INodes: []uint64{1, 2}}},
		Totals:         totals,
		SnapshotTotals: analyze.Totals{Files: 1, Length: -5000, SpaceConsumed: -1 << 63},
		Quotas:         []analyze.QuotaRow{q, {Path: []byte("/zero"), INodeID: 2, Space: charge(0, 0)}},
		Top:            analyze.TopDirectories{BySpace: []analyze.DirRow{row}, ByINodes: []analyze.DirRow{row}, ByChildren: []analyze.DirRow{row}},
		Users:          []analyze.OwnerRow{{Name: "ann", Totals: totals}},
		Groups:         []analyze.OwnerRow{{Name: "grp-ü\u202e", Totals: totals}},
		StorageTypes:   namespace.TypeSpace{1, 2, 3, 4, 5},
		StoragePolicy:  []analyze.PolicyRow{{Files: 1, Length: 2, SpaceConsumed: 3}, {Name: "HOT", Files: 1}},
		ErasureCoding:  []analyze.PolicyRow{{Files: 1}, {Name: "RS-3-2-1024k", Files: 1}},
		OpenFiles: analyze.OpenFiles{Count: 2, Length: 10, Oldest: []analyze.OpenFileRow{
			{Path: []byte("/open"), INodeID: 9, Length: 5, MTimeMs: -1, ClientName: "client\x1b", ClientMachine: "host"},
		}},
		Snapshots: analyze.Snapshots{Count: 1, Directories: []analyze.SnapshottableRow{
			{Path: []byte("/snap"), INodeID: 10, Snapshots: []analyze.SnapshotRow{{ID: 1, Name: "s\xfe", MTimeMs: 0}}, Held: totals},
		}},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update to accept):\n%s", file, diff)
	}
}

func TestReportText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Text(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", b.Bytes())
}

func TestReportJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := JSON(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", b.Bytes())
}

// TestEmptyReportJSON requires that lists are there when they are empty.
func TestEmptyReportJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := JSON(&b, &analyze.Report{}); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"erasure_coding_policies", "findings", "groups", "open_files", "quotas", "snapshot_totals", "snapshots", "source",
		"storage_policies", "storage_types", "top_directories", "totals", "users",
	}
	if diff := cmp.Diff(want, sortedKeys(v)); diff != "" {
		t.Error(diff)
	}
	for _, key := range []string{"findings", "groups", "quotas", "users"} {
		if list, ok := v[key].([]any); !ok || len(list) != 0 {
			t.Errorf("%s: %v", key, v[key])
		}
	}
	if err := Text(&b, &analyze.Report{}); err != nil {
		t.Fatal(err)
	}
}

package cleanup

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/proto/planfile"
)

// planFile is a plan with an item in each of two roots, one that is deferred, and
// so many more of these.
func planFile(t *testing.T, more int) []byte {
	t.Helper()
	h := header()
	h.LockDir, h.Anchors, h.UnreadableGuard, h.Warnings = planfile.Place{Path: "/ops/lock"}, []planfile.Place{{Path: "/data", InodeID: 2}}, planfile.UnreadableEverything, nil
	h.Belts.MaxPercentOfRoot = 100
	h.Pace = planfile.Pace{Batch: 50, RPCTimeoutMs: 30_000, StopOn: "anomaly"}
	h.Roots = []planfile.Root{
		{Path: "/data/flink", InodeID: 3, Layout: planfile.LayoutJobRun, Mode: planfile.ModeExecute, Inodes: 100},
		{Path: "/data/missing", Layout: planfile.LayoutRun, Mode: planfile.ModeExecute, Stopped: []planfile.Stop{{Reason: "missing_root", Path: "/data/missing"}}},
		{Path: "/data/sp", InodeID: 4, Layout: planfile.LayoutSavepoints, Mode: planfile.ModeObserve, Inodes: 10},
	}
	var b bytes.Buffer
	w, err := planfile.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	item := func(n uint64, path, root planfile.Path, job, run planfile.Name, deferred string) planfile.Item {
		return planfile.Item{
			Kind: planfile.KindUnit, Path: path, InodeID: 100 + n, ParentID: 50, Owner: "flink", Group: "g", MTimeMs: imageTime - 5*day, Root: root, Job: job, Run: run,
			Entries: 1, Totals: planfile.Totals{Directories: 1}, Fingerprint: planfile.TreeHash{1}, Rule: "beyond_keep", Deferred: deferred,
			Evidence: []planfile.Fact{number("metadata_mtime_ms", imageTime-9*day), number("subtree_mtime_ms", imageTime-8*day), number("keep", 1)}, NeedsReferenceProof: true,
		}
	}
	items := []planfile.Item{
		item(1, "/data/flink/a\n/"+runA, "/data/flink", "a\n", runA, ""),
		item(2, "/data/flink/a\n/"+runB, "/data/flink", "a\n", runB, "max_items"),
		item(3, "/data/sp/savepoint-aaaaaa-000000000001", "/data/sp", "", "savepoint-aaaaaa-000000000001", ""),
	}
	for n := range more {
		run := fmt.Sprintf("c%031d", n)
		items = slices.Insert(items, 2+n, item(uint64(n)+10, planfile.Path("/data/flink/a\n/"+run), "/data/flink", "a\n", planfile.Name(run), "max_items"))
	}
	for _, i := range items {
		if err := w.Item(i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFromFile: a plan file alone says the same of its items.
func TestFromFile(t *testing.T) {
	t.Parallel()
	r, d, err := planfile.Open(bytes.NewReader(planFile(t, 0)))
	if err != nil {
		t.Fatal(err)
	}
	p, failed := FromFile(r, "my plan.jsonl", d)
	var b bytes.Buffer
	if err := Text(&b, p, TextOptions{}); err != nil || failed() != nil {
		t.Fatal(err, failed())
	}
	times := "  8d  0  0B  2026-11-11T12:00:00Z  2026-11-12T12:00:00Z  "
	why := "beyond_keep: not among the newest 1 of its job, unchanged since 2026-11-12T12:00:00Z, last _metadata 2026-11-11T12:00:00Z"
	for _, want := range []string{
		"\nROOT          /data/flink  layout job-run, mode execute, 100 inodes\nWOULD-DELETE  /data/flink/a\\n/" + runA + times + why + "; if no guard refers to it\n" +
			"KEEP          /data/flink/a\\n/" + runB + times + "deferred: max_items; " + why + "\n",
		"\nERROR         /data/missing  root stopped, nothing in it is planned: missing_root: path /data/missing\n",
		"\nWOULD-DELETE  /data/sp/savepoint-aaaaaa-000000000001" + times,
		"\n  would be moved      1 item, 1 inode, 0B: beyond_keep 1\n", "\n  only listed         1 item, 1 inode, 0B: beyond_keep 1; in roots",
		"fsweep-exec run 'my plan.jsonl' --execute " + d.String() + " --journal-dir DIR\n", "\nplan: my plan.jsonl " + d.String() + "\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	var kinds []string
	for root := range p.Roots {
		for j := range root.Jobs {
			for u := range j.Units {
				kinds = append(kinds, fmt.Sprint(u.Kind, " ", u.InodeID))
			}
		}
	}
	if diff := cmp.Diff([]string{"run 101", "run 102", "savepoint 103"}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestFromFileChanged: a file that changes while it is shown is an error.
func TestFromFileChanged(t *testing.T) {
	t.Parallel()
	plan := planFile(t, 1000) // some blocks
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Write(plan); err != nil {
		t.Fatal(err)
	}
	r, d, err := planfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	p, failed := FromFile(r, "p", d)
	if _, err := file.WriteAt(bytes.Repeat([]byte{'x'}, 10), int64(len(plan)/2)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Text(&b, p, TextOptions{}); err != nil || failed() == nil {
		t.Errorf("%v, %v", err, failed())
	}
}

// TestItemReason: the same words for who has nothing but an item.
func TestItemReason(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		item planfile.Item
		want string
	}{
		{planfile.Item{Rule: "old_child"}, "old_child: its name is listed, and it is old"},
		{planfile.Item{Rule: "not_live", NeedsReferenceProof: true}, "not_live: no live list has it; if no guard refers to it"},
		{planfile.Item{Rule: "stale_checkpoint", Conditional: true, Evidence: []planfile.Fact{number("checkpoint", 0), number("oldest_kept_checkpoint", 8)}}, "stale_checkpoint: complete, but older than those that stay: chk-0 is below chk-8; if no guard refers to it"},
		{planfile.Item{Rule: "beyond_keep", NeedsReferenceProof: true, Deferred: "max_inodes", SplitOf: 7, Run: "r\n"}, `deferred: max_inodes; beyond_keep: not among the newest of its job; a part of run r\n`},
		{planfile.Item{Rule: "not\nknown", Deferred: "nor\tthis"}, `deferred: nor\tthis; not\nknown`},
	} {
		if got := ItemReason(tc.item); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/b.jsonl": "a/b.jsonl", "my plan": "'my plan'", "it's": `'it'\''s'`, "-": "PLAN", "a\nb": "PLAN", "$(x)": "'$(x)'", "plän": "'plän'"} {
		if got := shellWord(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

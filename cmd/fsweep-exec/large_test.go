package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"fsweep/execute/act"
	"fsweep/execute/check"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
	"fsweep/reports/execution"
)

// plan writes a plan of all runs but the kept ones.
func (v *vast) plan(t *testing.T) *openPlan {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	b := bufio.NewWriter(f)
	now := v.Now().UnixMilli()
	const day = int64(86_400_000)
	root := planfile.Root{Path: "/c", InodeID: vastRoot, Layout: planfile.LayoutJobRun, Mode: planfile.ModeExecute, Inodes: 10_000_000}
	w, err := planfile.NewWriter(b, planfile.Header{
		Tool: "fsweep", Version: "1.0.0", Nameservice: "ns1",
		Source: planfile.Source{Image: "fsimage_1", SizeBytes: 1, TxID: 1, NamespaceID: 1, LayoutVersion: -66, ImageTimeMs: now, ImageTimeSource: "sidecar"},
		Policy: planfile.Policy{Name: "policy.yaml", Digest: planfile.Digest{1}}, NowMs: now, ExpiresMs: now + day, Complete: true, Executable: true,
		Preflight: planfile.PreflightRoot, Removal: planfile.RemovalTrash, UnreadableGuard: planfile.UnreadableOwnerAndRoot, GuardAgeMs: day,
		LockDir: planfile.Place{Path: "/ops/fsweep", InodeID: v.named["/ops/fsweep"]}, HoldPaths: []planfile.Place{{Path: "/ops/HOLD"}},
		Anchors: []planfile.Place{{Path: "/c", InodeID: vastRoot}}, Belts: planfile.Belts{MinTrashIntervalMs: day}, Roots: []planfile.Root{root},
		Pace: planfile.Pace{Batch: 50, BetweenItemsMs: 200, RPCTimeoutMs: 60_000, StopOn: "anomaly"},
	})
	if err != nil {
		t.Fatal(err)
	}
	each := v.runs / v.jobs
	runs := func(fn func(n int)) {
		for j := range v.jobs {
			for n := j * each; n < (j+1)*each; n++ {
				fn(n)
			}
			fn(v.runs + j)
		}
	}
	for j := range v.jobs {
		_ = w.Known(planfile.Known{Kind: planfile.KnownJob, Path: planfile.Path(v.jobPath(j)), InodeID: vastJob + uint64(j), Root: "/c"}) // Close has the first error
		for n := j * each; n <= (j+1)*each; n++ {
			k := n
			if n == (j+1)*each {
				k = v.runs + j
			}
			_ = w.Known(planfile.Known{Kind: planfile.KnownRun, Path: planfile.Path(v.runPath(k)), InodeID: vastID(k), Root: "/c"})
		}
	}
	runs(func(n int) {
		g := planfile.Guard{
			Kind: planfile.GuardMetadata, Path: planfile.Path(v.runPath(n) + "/chk-1/_metadata"), InodeID: vastID(n) + 3, Length: int64(len(vastMetadata)),
			MTimeMs: vastMTime, Owner: "flink", Root: "/c",
		}
		if n < v.runs {
			g.Item = vastID(n)
		}
		_ = w.Guard(g)
	})
	size := int64(len(vastMetadata))
	for n := range v.runs {
		_ = w.Item(planfile.Item{
			Kind: planfile.KindUnit, Path: planfile.Path(v.runPath(n)), InodeID: vastID(n), ParentID: vastJob + uint64(v.job(n)), Owner: "flink", Group: "flink",
			MTimeMs: vastMTime, Root: "/c", Job: planfile.Name(filepath.Base(v.jobPath(v.job(n)))), Run: planfile.Name(vastName(n)), Children: 2, Entries: 4,
			Totals: planfile.Totals{Files: 1, Directories: 3, Length: size, Space: 3 * size}, Fingerprint: planfile.TreeHash{1}, Rule: "old-run", NeedsReferenceProof: true,
		})
		for k, dir := range []planfile.Name{"chk-1", "shared"} {
			_ = w.Directory(planfile.Directory{Path: dir, InodeID: vastID(n) + 1 + uint64(k), MTimeMs: vastMTime, Children: int64(1 - k)})
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := openPlanFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lines is a journal that nobody keeps.
type lines struct{ enc *journal.Encoder }

func (l lines) Append(line journal.Line) error { _, err := l.enc.Encode(line); return err }
func (l lines) Sync() error                    { return nil }
func (l lines) State() journal.State           { return l.enc.State() }
func (l lines) Last() journal.Hash             { return l.enc.Last() }
func (l lines) Journal() *journal.Reader       { return nil }

// TestManyItems carries out a plan of 50,000 runs in less than 50 MB: what is kept is so much for
// each item, in tables that double, so that 200,000 of them take less than 200 MB. It does not
// run beside other tests, whose memory it would count.
func TestManyItems(t *testing.T) {
	if testing.Short() {
		t.Skip("asks a million questions")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent)) // as main does
	v := newVast(500, 100)
	plan := v.plan(t)
	defer plan.close()
	before := v.before()
	s, err := check.New(plan.Reader, plan.digest, v, v, check.Options{Now: v.Now, Approved: &plan.digest})
	if err != nil {
		t.Fatal(err)
	}
	report := execution.New(io.Discard, execution.Options{JSON: true})
	e := &task{plan: plan, report: report, execute: true}
	report.Begin(execution.Head{Command: "run", Execute: true})
	p := &act.Params{
		Look: v, Move: v, Clock: v, Random: random, Check: &checker{s: s, report: report}, Watch: e.watch, Plan: plan.actPlan(int64(v.runs)),
		Process: act.Process{Tool: program, Version: "1", User: "flink", Host: "host", PID: 1},
		Create: func(h *journal.Header) (act.Journal, error) {
			l := lines{journal.NewEncoder()}
			return l, l.Append(h)
		},
	}
	began := time.Now()
	res, err := act.Run(context.Background(), p)
	if err != nil || res.ExitCode != act.ExitDone || res.Totals.Done != int64(v.runs) {
		t.Fatalf("%v, %+v", err, res)
	}
	for n, moved := range v.moved {
		if moved != (n < v.runs) {
			t.Fatalf("run %d moved: %t", n, moved)
		}
	}
	used := float64(v.peak-min(v.peak, before)) / 1e6
	t.Logf("%d items in %v, %d questions, %.0f MB, of %.0f MB before", v.runs, time.Since(began), v.asked, used, float64(before)/1e6)
	if used > 50 {
		t.Errorf("it took %.0f MB", used)
	}
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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

// lines is a journal in a file, without syncs.
type lines struct {
	f    *os.File
	enc  *journal.Encoder
	read *journal.Reader
	left int // lines that can be written still
}

var errFull = errors.New("the disk is full")

func (l *lines) Append(line journal.Line) error {
	if i, ok := line.(*journal.Intent); ok && i.Purpose == journal.PurposeMove {
		if l.left--; l.left < 0 {
			return errFull
		}
	}
	b, err := l.enc.Encode(line)
	if err == nil {
		_, err = l.f.Write(b)
	}
	return err
}
func (l *lines) Sync() error              { return nil }
func (l *lines) State() journal.State     { return l.enc.State() }
func (l *lines) Last() journal.Hash       { return l.enc.Last() }
func (l *lines) Journal() *journal.Reader { return l.read }

// bulk is a plan of very many runs, and the file of the journal of its run.
type bulk struct {
	*vast
	plan    *openPlan
	journal string
}

func newBulk(t *testing.T, jobs, perJob int) *bulk {
	t.Helper()
	b := &bulk{vast: newVast(jobs, perJob), journal: filepath.Join(t.TempDir(), "journal.jsonl")}
	b.plan = b.vast.plan(t)
	t.Cleanup(b.plan.close)
	return b
}

// process is a new one, whose journals go to a file.
func (b *bulk) process(t *testing.T, name string, most int) (*act.Params, *task, *checker) {
	t.Helper()
	b.user++
	report := execution.New(io.Discard, execution.Options{JSON: true})
	e := &task{plan: b.plan, report: report, execute: true}
	report.Begin(execution.Head{Command: "run", Execute: true})
	s, err := check.New(b.plan.Reader, b.plan.digest, b, b, check.Options{Now: b.Now, Approved: &b.plan.digest})
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{s: s, report: report}
	p := &act.Params{
		Look: b, Move: b, Clock: b, Random: random, Check: c, Watch: e.watch, Plan: b.plan.actPlan(int64(b.runs)),
		Process: act.Process{Tool: program, Version: "1", User: "flink", Host: "host", PID: 1},
		Create: func(h *journal.Header) (act.Journal, error) {
			f, err := os.Create(name)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = f.Close() }) // it was only needed for the test
			l := &lines{f: f, enc: journal.NewEncoder(), left: most}
			return l, l.Append(h)
		},
	}
	return p, e, c
}

// opened reads the journal of the run, for a process that goes on with it or undoes it.
func (b *bulk) opened(t *testing.T) *lines {
	t.Helper()
	f, err := os.OpenFile(b.journal, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	r, err := journal.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return &lines{f: f, enc: r.Encoder(), read: r, left: 1 << 30}
}

// takes does something in less than so many MB.
func (b *bulk) takes(t *testing.T, what string, limit float64, do func() error) {
	t.Helper()
	before := b.before()
	asked, began := b.asked, time.Now()
	if err := do(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	used := float64(b.peak-min(b.peak, before)) / 1e6
	t.Logf("%s: %d items in %v, %d questions, %.0f MB, of %.0f MB before", what, b.runs, time.Since(began), b.asked-asked, used, float64(before)/1e6)
	if used > limit {
		t.Errorf("%s took %.0f MB", what, used)
	}
}

// through gives an error unless a command moved so many.
func through(res *act.Result, err error, done int) error {
	if err != nil || res.ExitCode != act.ExitDone || res.Totals.Done != int64(done) {
		return errors.Join(err, fmt.Errorf("%+v", res))
	}
	return nil
}

// TestManyItems looks at a plan of 50,000 runs, carries it out, dies in the middle, resumes,
// and undoes it, each in less than 50 MB: what is kept is so much for each item, in tables that
// double, so that 200,000 of them take less than 200 MB. A resume also has what the journal says of
// half of them; of its 58 MB 11 are there before, and 11 + 4 x 47 = 199. It does not run beside
// other tests, whose memory it would count.
func TestManyItems(t *testing.T) {
	if testing.Short() {
		t.Skip("asks a million questions")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent)) // as main does
	ctx := context.Background()
	b := newBulk(t, 500, 100)
	half := b.runs / 2
	b.takes(t, "dry run", 50, func() error {
		p, e, c := b.process(t, "", 0)
		e.execute = false
		res, err := e.dry(ctx, p, c)
		if err == nil && res.ExitCode != act.ExitDone {
			err = fmt.Errorf("%+v", res)
		}
		return err
	})
	b.takes(t, "run", 50, func() error {
		p, _, _ := b.process(t, b.journal, half)
		res, err := act.Run(ctx, p)
		if !errors.Is(err, errFull) || res.Totals.Done != int64(half) {
			return errors.Join(err, fmt.Errorf("it did not die: %+v", res))
		}
		return nil
	})
	b.takes(t, "resume", 58, func() error {
		j := b.opened(t)
		p, _, c := b.process(t, "", 0)
		s, err := check.New(b.plan.Reader, b.plan.digest, b, b, check.Options{
			Now: b.Now, Approved: &b.plan.digest, Moved: func(id uint64) bool { return j.State().Outcome(id) == journal.OutcomeDone },
		})
		if err != nil {
			return err
		}
		c.s = s
		res, err := act.Resume(ctx, p, j)
		return through(res, err, b.runs)
	})
	for n, moved := range b.moved {
		if moved != (n < b.runs) {
			t.Fatalf("run %d moved: %t", n, moved)
		}
	}
	b.takes(t, "where", 50, func() error {
		p, _, _ := b.process(t, "", 0)
		list, err := act.Where(ctx, p, b.opened(t).read, "j.jsonl", "/c")
		if err != nil || len(list) != b.runs || list[0].State != act.InTrash {
			return errors.Join(err, fmt.Errorf("%d are found", len(list)))
		}
		return nil
	})
	b.takes(t, "undo", 25, func() error {
		p, _, _ := b.process(t, b.journal+".undo", b.runs)
		res, err := act.Undo(ctx, p, &act.UndoOf{Journal: b.opened(t).read, File: "j.jsonl"})
		return through(res, err, b.runs)
	})
	for n := range b.runs {
		b.moved[n] = true
	}
	b.takes(t, "undo by plan", 25, func() error {
		p, _, _ := b.process(t, b.journal+".undo", b.runs)
		items := func(yield func(*planfile.Item, error) bool) {
			for i, err := range b.plan.Items() {
				if !yield(&i, err) {
					return
				}
			}
		}
		res, err := act.Undo(ctx, p, &act.UndoOf{Items: items})
		return through(res, err, b.runs)
	})
	for n, moved := range b.moved {
		if moved {
			t.Fatalf("run %d is not back", n)
		}
	}
}

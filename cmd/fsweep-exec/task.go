package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
	"fsweep/execute/check"
	"fsweep/execute/journalfile"
	"fsweep/proto/journal"
	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
	"fsweep/reports/execution"
)

func escaped[T ~string](name T) string { return string(pathtext.Append(nil, string(name))) }

// task is one command that checks, or changes, a cluster, with its results.
type task struct {
	env        *cli.Env
	command    string
	cluster    *clusterOptions
	results    *resultOptions
	check      check.Options
	lists      string    // directory of live lists and pins; empty: that of the plan
	guards     string    // directory of guards that were fetched by hand; empty: none
	plan       *openPlan // nil: of commands that go without
	journalDir string
	execute    bool // it may change something
	unproven   bool
	inputs     []string // files that the output must not replace

	report  *execution.Report
	roots   map[planfile.Path]bool // that were shown
	journal string                 // path, once there is one
	session *check.Session
}

// do connects, makes the check, calls what the command does and shows what came of it.
func (e *task) do(ctx context.Context, work func(context.Context, *act.Params, *checker) (*act.Result, error)) error {
	h := e.plan.Header()
	c, err := e.cluster.open(h.Nameservice)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.same(h.Nameservice, "the plan"); err != nil {
		return err
	}
	p, err := e.params(c, h)
	if err != nil {
		return err
	}
	reader, closeReader, err := e.reader(c)
	if err != nil {
		return err
	}
	defer closeReader()
	e.check.Survey = c
	e.check.Lists = readList(h, e.listsDir())
	if e.session, err = check.New(e.plan.Reader, e.plan.digest, c, reader, e.check); err != nil {
		return err
	}
	// What was done is shown, even if the command was interrupted.
	inputs := append(listFiles(&h, e.listsDir()), e.plan.name)
	out, err := createOutput(context.WithoutCancel(ctx), e.env, e.results.output, e.journalDir, append(inputs, e.inputs...)...)
	if err != nil {
		return err
	}
	defer out.Abort()
	if e.execute {
		p.Move = c.client.Mover()
		e.env.Finish()
	}
	e.report = execution.New(out, execution.Options{JSON: e.results.format.Value == "json", MaxListLines: e.results.maxLines})
	e.begin(ctx, c, h)
	res, err := e.attempt(ctx, p, work)
	e.refused(res, err)
	if end := e.end(ctx, p, res, err); end != nil {
		return errors.Join(end, ended(res, err))
	}
	if end := out.Commit(); end != nil {
		return errors.Join(end, ended(res, err))
	}
	return ended(res, err)
}

// listsDir is where lists are that the plan names without a directory.
func (e *task) listsDir() string {
	if e.lists != "" {
		return e.lists
	}
	return filepath.Dir(e.plan.name)
}

// attempt does the work unless the plan forbids it by what it says of its items.
func (e *task) attempt(ctx context.Context, p *act.Params, work func(context.Context, *act.Params, *checker) (*act.Result, error)) (*act.Result, error) {
	c := &checker{s: e.session, report: e.report}
	n, err := e.plan.count(e.report.Planned)
	if err != nil {
		return nil, err
	}
	p.Check, p.Plan.Items = c, n.movable
	p.Watch = e.watch
	if e.execute && n.unproven > 0 && !e.unproven {
		e.report.Problem(execution.Problem{Code: "unproven", Facts: []planfile.Fact{{Name: "items", Number: n.unproven}}})
		return &act.Result{ExitCode: act.ExitRefused}, &act.Refusal{Rule: "unproven", Text: "no reference proof yet"}
	}
	return work(ctx, p, c)
}

// refused shows what forbids all, unless a check did.
func (e *task) refused(res *act.Result, err error) {
	r, ok := errors.AsType[*act.Refusal](err)
	if ok && exitCode(res, err) == act.ExitRefused && !e.report.Forbidden() {
		e.report.Problem(execution.Problem{Code: r.Rule, Text: r.Text})
	}
}

func (e *task) begin(ctx context.Context, c *cluster, h planfile.Header) {
	head := execution.Head{
		Tool: program, Version: cli.ModuleVersion(), Command: e.command, Execute: e.execute, StartMs: nowMs(),
		Conf: c.conf, URI: c.uri, User: c.client.User(),
	}
	if e.plan != nil {
		head.PlanFile, head.Digest, head.Header = base(e.plan.name), e.plan.digest, h
	}
	// That nobody is ACTIVE is an error of the checks, which ask again.
	if n, err := c.Active(ctx); err == nil {
		head.NameNode = n.Address
	}
	e.report.Begin(head)
}

// end shows the sums. Quotas and trash interval are only shown: without them there is less
// to read.
func (e *task) end(ctx context.Context, p *act.Params, res *act.Result, err error) error {
	end := execution.End{AtMs: nowMs(), ExitCode: exitCode(res, err)}
	if err != nil {
		end.Stopped = err.Error()
	}
	if res != nil && res.Last != (journal.Hash{}) {
		end.Last = res.Last.String()
	}
	if d, err := p.Look.Defaults(context.WithoutCancel(ctx)); err == nil && p.Plan.Header.Removal == planfile.RemovalTrash {
		end.TrashIntervalMs = d.TrashInterval.Milliseconds()
	}
	if e.plan != nil {
		if quotas, err := e.plan.quotas(); err == nil {
			end.Quotas = quotas
		}
	}
	if e.journal != "" {
		e.report.Note("journal: " + escaped(e.journal))
	}
	return e.report.End(end)
}

// params are what acting needs, but the checks.
func (e *task) params(c *cluster, h planfile.Header) (*act.Params, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	p := &act.Params{
		Look: c, Survey: c, Clock: wallClock{}, Random: random,
		Process: act.Process{Tool: program, Version: cli.ModuleVersion(), User: c.client.User(), Host: host, PID: os.Getpid()},
		Plan:    act.Plan{Header: h},
	}
	if e.plan != nil {
		p.Plan = e.plan.actPlan(0)
	}
	if !e.execute {
		return p, nil
	}
	dir, err := journalfile.OpenDir(e.journalDir)
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("--journal-dir: %w", err), "journals are what a crash is resumed from and a run is undone by: keep them on a disk that nobody empties")
	}
	p.Create = func(h *journal.Header) (act.Journal, error) {
		w, err := dir.Create(h)
		if err != nil {
			return nil, err
		}
		e.journal = w.Path()
		return w, nil
	}
	p.Spent = func(since time.Time) (int64, error) { return spent(dir, since) }
	return p, nil
}

// spent counts the inodes that the journals of a directory moved since a time, or may have moved.
func spent(dir *journalfile.Dir, since time.Time) (int64, error) {
	names, err := dir.Names()
	if err != nil {
		return 0, err
	}
	var n int64
	for _, name := range names {
		m, err := spentBy(filepath.Join(dir.Path(), name), since)
		if err != nil {
			return 0, &act.Refusal{Rule: "journals", Text: fmt.Sprintf("the journal %q cannot be read, so nobody knows how much is in the trash (a file that is none must not end in %s there): %s", name, journalfile.Suffix, err)}
		}
		if n += m; n < 0 { // more than there can be
			n = math.MaxInt64
		}
	}
	return n, nil
}

func spentBy(name string, since time.Time) (int64, error) {
	f, err := journalfile.Open(name)
	if errors.Is(err, journal.ErrNotBegun) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if h := f.Header(); h.Command != journal.CommandRun {
		return 0, nil
	}
	var n int64
	for m, err := range f.Moved() {
		if err != nil {
			return 0, err
		}
		if m.AtMs >= since.UnixMilli() {
			n += m.Intent.Inodes
		}
	}
	if i, _ := f.State().Pending(); i != nil && i.Purpose == journal.PurposeMove && i.AtMs >= since.UnixMilli() {
		n += i.Inodes
	}
	return n, nil
}

// watch shows what happens.
func (e *task) watch(v act.Event) {
	item := execution.Item{Path: v.Path, Item: v.Item, Rule: v.Rule, Facts: v.Facts, Target: v.Target, Message: v.Message, AtMs: v.At.UnixMilli()}
	for i, f := range item.Facts {
		if f.Name == guardFact {
			item.Facts = append(item.Facts[:i:i], item.Facts[i+1:]...)
			name, _ := pathtext.Parse(f.Text) // checker wrote it
			item.Guard = planfile.Path(name)
			break
		}
	}
	switch v.Kind {
	case act.RootBegins:
		e.seen(v.Path)
		e.report.RootBegins(v.Path, item.AtMs)
		return
	case act.RootEnds:
		e.report.RootEnds(item.AtMs)
		return
	case act.Locked, act.Unlocked:
		e.report.Note(string(v.Kind) + " " + escaped(v.Path) + escaped(v.Target))
		return
	case act.SettledNow:
		e.report.Note("an intent of the journal is settled: " + escaped(v.Path) + ": " + v.Rule)
		return
	case act.NotEnded:
		e.report.Note("the journal ends without a last line, so the run was killed or lines are lost: " +
			"if lines are lost, undo --plan finds what else it moved")
		return
	case act.PausesDouble:
		e.report.Note("the NameNode answers slowly: pauses are twice as long from now on")
		return
	case act.ItemDone:
		item.Outcome = execution.Moved
	case act.ItemSkipped, act.ItemListed:
		item.Outcome = execution.Kept
	case act.ItemFailed:
		item.Outcome = execution.Failed
	case act.ItemUndone:
		item.Outcome = execution.Restored
	case act.ItemUnknown:
		item.Outcome = execution.Unknown
	}
	e.report.Item(item)
}

func (e *task) seen(root planfile.Path) {
	if e.roots == nil {
		e.roots = map[planfile.Path]bool{}
	}
	e.roots[root] = true
}

// otherRoots shows the roots of the plan that have no items, and why.
func (e *task) otherRoots() {
	h := e.plan.Header()
	for i := range h.Roots {
		r := &h.Roots[i]
		if e.roots[r.Path] {
			continue
		}
		e.report.RootBegins(r.Path, nowMs())
		for _, s := range r.Stopped {
			e.report.Note("the plan has nothing of it: " + s.Reason + " " + escaped(s.Path))
		}
		e.report.RootEnds(nowMs())
	}
}

// wallClock is the clock of this machine.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// random gives 32 hexadecimal digits that nobody else has.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// exitCode is that of a command that ended with a result, an error, or both.
func exitCode(res *act.Result, err error) int {
	switch {
	case res != nil:
		return res.ExitCode
	case isRefusal(err):
		return cli.ExitRefused
	case err != nil && errors.Is(err, context.Canceled):
		return cli.ExitInterrupted
	case err != nil:
		return cli.ExitFailure
	}
	return cli.ExitOK
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*act.Refusal](err)
	return ok
}

// ended turns a result into the error that ends the program with its exit code.
func ended(res *act.Result, err error) error {
	code := exitCode(res, err)
	if err == nil {
		err = errors.New(endings[code])
	}
	switch code {
	case cli.ExitOK:
		return nil
	case cli.ExitRefused:
		return &cli.RefusedError{Err: err}
	case cli.ExitIncomplete:
		return &cli.IncompleteError{Err: err}
	case cli.ExitTripped:
		return cli.WithHint(&cli.TrippedError{Err: err}, "what was not reached can be carried out by resume, or by a new plan")
	case cli.ExitInterrupted:
		return &cli.StoppedError{Err: err}
	}
	return &cli.FailedError{Err: err}
}

var endings = map[int]string{
	cli.ExitIncomplete: "some items stay; the results say why",
	cli.ExitFailure:    "some items could not be moved, or it is not known; the results and the journal say which",
	cli.ExitRefused:    "refused",
}

// connect opens the cluster of a plan, and gives what acting needs.
func (e *task) connect(plan act.Plan) (*cluster, *act.Params, error) {
	c, err := e.cluster.open(plan.Header.Nameservice)
	if err != nil {
		return nil, nil, err
	}
	if err := c.same(plan.Header.Nameservice, "the plan"); err != nil {
		c.close()
		return nil, nil, err
	}
	p, err := e.params(c, plan.Header)
	if err != nil {
		c.close()
		return nil, nil, err
	}
	p.Plan, p.Watch = plan, e.watch
	if p.Plan.Header.Nameservice == "" {
		p.Plan.Header.Nameservice = c.name()
	}
	return c, p, nil
}

// without does what needs no checks of a plan, and shows what came of it.
func (e *task) without(ctx context.Context, plan act.Plan, work func(context.Context, *act.Params) (*act.Result, error)) error {
	c, p, err := e.connect(plan)
	if err != nil {
		return err
	}
	defer c.close()
	p.Move = c.client.Mover()
	out, err := createOutput(context.WithoutCancel(ctx), e.env, e.results.output, e.journalDir, e.inputs...)
	if err != nil {
		return err
	}
	defer out.Abort()
	e.env.Finish()
	e.report = execution.New(out, execution.Options{JSON: e.results.format.Value == "json", MaxListLines: e.results.maxLines})
	e.begin(ctx, c, plan.Header)
	res, err := work(ctx, p)
	e.refused(res, err)
	if end := e.end(ctx, p, res, err); end != nil {
		return errors.Join(end, ended(res, err))
	}
	if end := out.Commit(); end != nil {
		return errors.Join(end, ended(res, err))
	}
	return ended(res, err)
}

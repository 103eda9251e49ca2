package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
	"fsweep/execute/check"
	"fsweep/proto/planfile"
	"fsweep/reports/execution"
)

// resultOptions are the flags that say how results are shown.
type resultOptions struct {
	format   cli.Choice
	output   string
	maxLines int
}

const usualListLines = 1000

func (o *resultOptions) addFlags(flags *pflag.FlagSet) {
	o.format = cli.Choice{Value: "text"}
	cli.AddChoice(flags, &o.format, "format", "form of the results", "text", "json")
	cli.AddOutput(flags, &o.output)
	flags.IntVar(&o.maxLines, "max-list-lines", usualListLines, "how many lines of a kind text has; 0: all")
}

func (o *resultOptions) validate(cmd *cobra.Command, env *cli.Env) error {
	if o.maxLines < 0 {
		return cli.Usage(cmd, fmt.Errorf("--max-list-lines %d: must be 0 or more", o.maxLines))
	}
	return cli.CheckOutput(env, o.output)
}

// checkOptions are the flags that say how much is looked at.
type checkOptions struct {
	deep   bool
	budget int64
	lists  string
	guards string
}

const usualBudget = 10_000_000

func (o *checkOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.deep, "deep", false, "list everything in the items and compare fingerprints")
	flags.Int64Var(&o.budget, "summary-inodes", usualBudget, "how many inodes the NameNode may be made to count in all; 0: none")
	flags.StringVar(&o.lists, "lists-dir", "", "`directory` of the live lists and pins that the plan names; without it that of the plan")
	flags.StringVar(&o.guards, "guards-dir", "", "`directory` with guards.json and files that were fetched by hand, for guards that cannot be read otherwise")
}

func (o *checkOptions) validate(cmd *cobra.Command) error {
	if o.budget < 0 {
		return cli.Usage(cmd, fmt.Errorf("--summary-inodes %d: must be 0 or more", o.budget))
	}
	if f := cmd.Flags().Lookup("guards-dir"); f.Changed && o.guards == "" { // an unset variable of a script
		return cli.Usage(cmd, errors.New("--guards-dir is empty"))
	}
	return nil
}

// options of package check; there, 0 stands for the usual.
func (o *checkOptions) of() check.Options {
	c := check.Options{Deep: o.deep, Budget: o.budget}
	if c.Budget == 0 {
		c.Budget = -1
	}
	return c
}

type runOptions struct {
	clusterOptions
	resultOptions
	checkOptions
	approved   string
	journalDir string
	unproven   bool
}

func newRun(env *cli.Env) *cobra.Command {
	o := runOptions{}
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Check a plan on the live cluster, and carry it out if told to",
		Long: `run checks everything that a plan wants to move on the live cluster: that it is the
very same inodes, unchanged, that nobody uses, marks or refers to it, and that the
cluster is the one of the image. Without --execute it ends there and nothing is changed:
WOULD-DELETE is what would be moved to the trash, KEEP what stays, and why.

With --execute and the digest of the plan that was approved, it moves item by item to
the trash by inode id, each one checked once more directly before. What it does stands in
a journal before it is asked for; --journal-dir names a directory for journals that
nobody empties. SIGINT and SIGTERM let the item at work come to its end; resume goes on.

Nothing is ever deleted: the NameNode empties the trash after its interval.` + exitStatus,
		Example: `  fsweep-exec run plan.jsonl
  fsweep-exec run plan.jsonl --format json -o dry-run.json
  fsweep-exec run plan.jsonl --execute sha256:… --journal-dir /var/lib/fsweep`,
		Args: oneArgument("the plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd, env); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, args[0])
		},
	}
	flags := cmd.Flags()
	o.clusterOptions.addFlags(flags)
	o.resultOptions.addFlags(flags)
	o.checkOptions.addFlags(flags)
	flags.StringVar(&o.approved, "execute", "", "`digest` of the plan that was approved, sha256:…: carry it out")
	flags.StringVar(&o.journalDir, "journal-dir", "", "`directory` for journals, not a temporary one; needed with --execute")
	flags.BoolVar(&o.unproven, "unproven", false, "with --execute: move state of Flink, too, before there is the proof that nothing needed goes")
	return cmd
}

func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return cli.Usage(cmd, fmt.Errorf("%s wants one argument: %s", cmd.Name(), what))
		}
		return nil
	}
}

func (o *runOptions) validate(cmd *cobra.Command, env *cli.Env) error {
	for _, flag := range []string{"execute", "journal-dir"} {
		if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" { // an unset variable of a script
			return cli.Usage(cmd, fmt.Errorf("--%s is empty", flag))
		}
	}
	if o.approved != "" {
		if _, err := planfile.ParseDigest(o.approved); err != nil {
			return cli.Usage(cmd, fmt.Errorf("--execute wants the digest of the plan, sha256: and 64 hex digits: %w", err))
		}
		if o.journalDir == "" {
			return cli.Usage(cmd, errors.New("--execute needs --journal-dir"))
		}
	}
	if o.approved == "" && o.unproven {
		return cli.Usage(cmd, errors.New("--unproven goes with --execute"))
	}
	return errors.Join(o.resultOptions.validate(cmd, env), o.checkOptions.validate(cmd), o.clusterOptions.validate(cmd))
}

func (o *runOptions) run(ctx context.Context, env *cli.Env, name string) error {
	plan, err := openPlanFile(name)
	if err != nil {
		return err
	}
	defer plan.close()
	e := task{env: env, command: "run", cluster: &o.clusterOptions, results: &o.resultOptions, plan: plan, journalDir: o.journalDir}
	e.check, e.lists, e.guards = o.of(), o.lists, o.guards
	if o.approved != "" {
		digest, err := planfile.ParseDigest(o.approved)
		if err != nil {
			return err
		}
		if digest != plan.digest {
			return &cli.RefusedError{Err: fmt.Errorf("%s is not the plan that was approved: its digest is %s", name, plan.digest)}
		}
		e.check.Approved, e.execute, e.unproven = &digest, true, o.unproven
	}
	return e.do(ctx, func(ctx context.Context, p *act.Params, c *checker) (*act.Result, error) {
		if !e.execute {
			return e.dry(ctx, p, c)
		}
		res, err := act.Run(ctx, p)
		if err == nil {
			e.otherRoots()
		}
		return res, err
	})
}

// outside notes that an execute would be refused because of the time of day.
func (e *task) outside(now time.Time) error {
	h := e.plan.Header()
	in, err := act.InWindow(&h.Pace, now)
	if err == nil && !in {
		e.report.Note("it is " + now.Format("15:04") + " on this machine, outside of the window " + h.Pace.Window + " of the plan, so an execute would be refused now")
	}
	return err
}

// dry is everything but the act: time, conditions, lock, items and guards.
func (e *task) dry(ctx context.Context, p *act.Params, c *checker) (*act.Result, error) {
	refused := func(err error) (*act.Result, error) { return &act.Result{ExitCode: act.ExitRefused}, err }
	if err := e.outside(p.Clock.Now()); err != nil {
		return nil, err
	}
	if err := e.lockable(ctx, p); err != nil {
		if isRefusal(err) {
			return refused(err)
		}
		return nil, err
	}
	if err := c.Preflight(ctx); err != nil {
		if isRefusal(err) {
			return refused(err)
		}
		return nil, err
	}
	if err := c.Check(ctx); err != nil {
		return nil, err
	}
	code, err := e.list(c)
	return &act.Result{ExitCode: code}, err
}

// lockable looks whether the lock could be had, and the plan was not executed.
func (e *task) lockable(ctx context.Context, p *act.Params) error {
	holder, err := act.Holder(ctx, p)
	if r, ok := errors.AsType[*act.Refusal](err); ok {
		e.report.Problem(execution.Problem{Code: r.Rule, Path: p.Plan.Header.LockDir.Path, Text: r.Text})
		return err
	}
	if err != nil {
		return err
	}
	if holder != "" {
		e.report.Note("somebody holds the lock, so an execute would be refused now: " + holder)
	}
	err = act.NotExecuted(ctx, p)
	if r, ok := errors.AsType[*act.Refusal](err); ok {
		e.report.Problem(execution.Problem{Code: r.Rule, Path: p.Plan.Header.LockDir.Path, Text: r.Text})
	}
	return err
}

// list shows all items of a dry run, root by root.
func (e *task) list(c *checker) (int, error) {
	var root planfile.Path
	code := act.ExitDone
	for i, v := range c.s.Items() {
		if i.Root != root {
			root = i.Root
			e.seen(root)
			e.report.RootBegins(root, nowMs())
		}
		if v.Move {
			e.report.Item(execution.Item{Outcome: execution.WouldMove, Path: i.Path, Item: i})
			continue
		}
		e.report.Item(kept(i, &v, 0))
		if !heldBack(&v) {
			code = act.ExitIncomplete
		}
	}
	e.report.RootEnds(nowMs())
	e.otherRoots()
	return code, c.s.Err()
}

func nowMs() int64 { return time.Now().UnixMilli() }

func base(name string) string { return filepath.Base(name) }

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute"
	"fsweep/execute/act"
	"fsweep/execute/journalfile"
	"fsweep/proto/planfile"
	"fsweep/reports/execution"
)

type whereOptions struct {
	clusterOptions
	journalDir string
	format     cli.Choice
}

func newWhere(env *cli.Env) *cobra.Command {
	o := whereOptions{format: cli.Choice{Value: "text"}}
	cmd := &cobra.Command{
		Use:   "where PATH --journal-dir DIR",
		Short: "Tell which run moved a path, where it is, and when it is purged",
		Long: `where looks into all journals of a directory for what was moved that is, holds or lies
below a path, and asks the cluster where it is now. It changes nothing.` + exitStatus,
		Example: `  fsweep-exec where /flink/checkpoints/orders --journal-dir /var/lib/fsweep`,
		Args:    oneArgument("a path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.journalDir == "" {
				return cli.Usage(cmd, errors.New("where needs --journal-dir"))
			}
			if err := planfile.Path(args[0]).Clean(); err != nil {
				return cli.Usage(cmd, fmt.Errorf("%q: %w", args[0], err))
			}
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, planfile.Path(args[0]))
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.StringVar(&o.journalDir, "journal-dir", "", "`directory` of journals")
	cli.AddChoice(flags, &o.format, "format", "form of the answer", "text", "json")
	return cmd
}

func (o *whereOptions) run(ctx context.Context, env *cli.Env, at planfile.Path) error {
	dir, err := journalfile.OpenDir(o.journalDir)
	if err != nil {
		return err
	}
	names, err := dir.Names()
	if err != nil {
		return err
	}
	var c *cluster
	var found []act.Whereabouts
	for _, name := range names {
		list, err := o.lookup(ctx, &c, filepath.Join(dir.Path(), name), at)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, list...)
	}
	if c != nil {
		c.close()
	}
	out, err := env.Create(ctx, "", cli.OutputOptions{})
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	if err := o.show(b, found); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if len(found) == 0 {
		return &cli.IncompleteError{Err: fmt.Errorf("no journal in %q moved %q, or anything in it", o.journalDir, string(at))}
	}
	return nil
}

// lookup looks into one journal; the first one says which cluster to ask.
func (o *whereOptions) lookup(ctx context.Context, c **cluster, name string, at planfile.Path) ([]act.Whereabouts, error) {
	f, err := journalfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := f.Header()
	if *c == nil {
		if *c, err = o.open(h.Nameservice); err != nil {
			return nil, err
		}
	}
	if err := (*c).same(h.Nameservice, "the journal"); err != nil {
		return nil, err
	}
	p := &act.Params{Look: *c, Clock: wallClock{}}
	list, err := act.Where(ctx, p, f.Reader, filepath.Base(name), at)
	if err != nil {
		return nil, &cli.FailedError{Err: err}
	}
	return list, nil
}

func (o *whereOptions) show(w io.Writer, found []act.Whereabouts) error {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.UTC().Format(time.RFC3339)
	}
	if o.format.Value == "json" {
		list := []map[string]any{}
		for _, f := range found {
			list = append(list, map[string]any{
				"journal": f.Journal, "from": escaped(f.From), "inode_id": f.InodeID, "moved_at": stamp(f.At), "to": escaped(f.To),
				"state": f.State, "path": escaped(f.Path), "purged_from": stamp(f.PurgedFrom), "purged_until": stamp(f.PurgedUntil),
			})
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(list)
	}
	for _, f := range found {
		now := escaped(f.Path)
		if now == "" {
			now = "-"
		}
		if _, err := fmt.Fprintf(w, "%s\n  inode      %d\n  moved      %s to %s\n  journal    %s\n  state      %v\n  now        %s\n  purged     %s to %s\n",
			escaped(f.From), f.InodeID, stamp(f.At), escaped(f.To), escaped(f.Journal), f.State, now, stamp(f.PurgedFrom), stamp(f.PurgedUntil)); err != nil {
			return err
		}
	}
	return nil
}

type unlockOptions struct {
	clusterOptions
	plan, holder, journalDir string
}

func newUnlock(env *cli.Env) *cobra.Command {
	o := unlockOptions{}
	cmd := &cobra.Command{
		Use:   "unlock --plan PLAN --holder HOLDER --journal-dir DIR",
		Short: "Take the lock away from a process that is gone",
		Long: `unlock takes the lock away from whoever holds it, and keeps it below broken/ in the lock
directory. The holder is typed as it is shown without --holder. Make sure that its
process is gone, and resume its journal rather than this if there is one: resume takes
the lock over by itself. A process that still runs stops before its next item.` + exitStatus,
		Example: `  fsweep-exec unlock --plan plan.jsonl
  fsweep-exec unlock --plan plan.jsonl --holder flink@host1.4711.1796000000000.0123456789ab --journal-dir /var/lib/fsweep`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage(cmd, fmt.Errorf("%q: unlock takes no arguments, only flags", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.plan == "" {
				return cli.Usage(cmd, errors.New("unlock needs --plan, which says where the lock is"))
			}
			if o.holder != "" && o.journalDir == "" {
				return cli.Usage(cmd, errors.New("--holder needs --journal-dir"))
			}
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), env)
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.StringVar(&o.plan, "plan", "", "`file` that fsweep plan wrote")
	flags.StringVar(&o.holder, "holder", "", "`name` of who holds the lock, as it is shown; without it, it is only shown")
	flags.StringVar(&o.journalDir, "journal-dir", "", "`directory` for the journal")
	return cmd
}

func (o *unlockOptions) run(ctx context.Context, env *cli.Env) error {
	plan, err := openPlanFile(o.plan)
	if err != nil {
		return err
	}
	defer plan.close()
	t := task{env: env, command: "unlock", cluster: &o.clusterOptions, plan: plan, journalDir: o.journalDir, execute: o.holder != ""}
	c, p, err := t.connect(plan.actPlan(0))
	if err != nil {
		return err
	}
	defer c.close()
	if o.holder == "" {
		holder, err := act.Holder(ctx, p)
		if err != nil {
			return ended(nil, err)
		}
		if holder == "" {
			holder = "nobody holds the lock"
		}
		_, err = fmt.Fprintln(env.Stdout, escaped(holder))
		return err
	}
	env.Finish()
	p.Move = c.client.Mover()
	res, err := act.Unlock(ctx, p, o.holder)
	return ended(res, err)
}

type rehearseOptions struct {
	clusterOptions
	resultOptions
	journalDir string
}

func newRehearse(env *cli.Env) *cobra.Command {
	o := rehearseOptions{}
	cmd := &cobra.Command{
		Use:   "rehearse DIR --journal-dir DIR",
		Short: "Trash and restore an empty directory of its own",
		Long: `rehearse makes an empty directory fsweep-rehearsal in a directory that exists, moves it to
the trash and back, as a run and an undo do. It shows that this user can do both
there. The empty directory remains: nothing here deletes.` + exitStatus,
		Example: `  fsweep-exec rehearse /flink/checkpoints --journal-dir /var/lib/fsweep`,
		Args:    oneArgument("a directory of the cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.journalDir == "" {
				return cli.Usage(cmd, errors.New("rehearse needs --journal-dir"))
			}
			if err := planfile.Path(args[0]).Clean(); err != nil {
				return cli.Usage(cmd, fmt.Errorf("%q: %w", args[0], err))
			}
			if err := errors.Join(o.resultOptions.validate(cmd, env), o.clusterOptions.validate(cmd)); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, planfile.Path(args[0]))
		},
	}
	flags := cmd.Flags()
	o.clusterOptions.addFlags(flags)
	o.resultOptions.addFlags(flags)
	flags.StringVar(&o.journalDir, "journal-dir", "", "`directory` for the journal")
	return cmd
}

func (o *rehearseOptions) run(ctx context.Context, env *cli.Env, dir planfile.Path) error {
	t := task{env: env, command: "rehearse", cluster: &o.clusterOptions, results: &o.resultOptions, journalDir: o.journalDir, execute: true}
	plan := act.Plan{Header: planfile.Header{Removal: planfile.RemovalTrash}}
	return t.without(ctx, plan, func(ctx context.Context, p *act.Params) (*act.Result, error) {
		// The journal must tell this cluster from others: by the directory itself.
		st, err := p.Look.Stat(ctx, execute.At(string(dir)))
		if err != nil {
			return nil, err
		}
		p.Plan.Header.Anchors = []planfile.Place{{Path: dir, InodeID: st.ID}}
		return act.Rehearse(ctx, p, dir)
	})
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
		p.Plan.Header.Nameservice = c.ns.Name
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
	out, err := e.env.Create(context.WithoutCancel(ctx), e.results.output, cli.OutputOptions{Inputs: e.inputs, Private: true})
	if err != nil {
		return err
	}
	defer out.Abort()
	e.env.Finish()
	e.report = execution.New(out, execution.Options{JSON: e.results.format.Value == "json", MaxListLines: e.results.maxLines})
	e.begin(ctx, c, plan.Header)
	res, err := work(ctx, p)
	if end := e.end(ctx, p, res, err); end != nil {
		return errors.Join(end, ended(res, err))
	}
	if end := out.Commit(); end != nil {
		return errors.Join(end, ended(res, err))
	}
	return ended(res, err)
}

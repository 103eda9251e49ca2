package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
	"fsweep/execute/journalfile"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

type undoOptions struct {
	clusterOptions
	resultOptions
	plan, item, journalDir string
}

func newUndo(env *cli.Env) *cobra.Command {
	o := undoOptions{}
	cmd := &cobra.Command{
		Use:   "undo JOURNAL",
		Short: "Move back what a run moved",
		Long: `undo moves back what a run moved and the trash still has, by inode id, the newest first,
to where it was. It takes the same lock, and has a journal of its own, beside the one
that is undone or in --journal-dir. What somebody else moved, what was purged, and what
has no place any more is left and said (exit code 4); a directory that is missing is
never made.

Without a journal, --plan finds what is in the trash of what a plan wanted to move.` + exitStatus,
		Example: `  fsweep-exec undo /var/lib/fsweep/JOURNAL.jsonl
  fsweep-exec undo /var/lib/fsweep/JOURNAL.jsonl --item /flink/checkpoints/orders
  fsweep-exec undo --plan plan.jsonl --journal-dir /var/lib/fsweep`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 == (o.plan != "") {
				return cli.Usage(cmd, errors.New("undo wants a journal or --plan, and not both"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.resultOptions.validate(cmd, env), o.clusterOptions.validate(cmd)); err != nil {
				return err
			}
			if f := cmd.Flags().Lookup("item"); f.Changed && o.item == "" { // an unset variable of a script
				return cli.Usage(cmd, errors.New("--item is empty"))
			}
			if o.item != "" {
				at, err := typedTree(o.item)
				if err != nil {
					return cli.Usage(cmd, fmt.Errorf("--item %q: %w", o.item, err))
				}
				o.item = string(at)
			}
			if o.plan != "" && o.journalDir == "" {
				return cli.Usage(cmd, errors.New("--plan needs --journal-dir"))
			}
			if o.plan != "" {
				return o.byPlan(cmd.Context(), env)
			}
			return o.byJournal(cmd.Context(), env, args[0])
		},
	}
	flags := cmd.Flags()
	o.clusterOptions.addFlags(flags)
	o.resultOptions.addFlags(flags)
	flags.StringVar(&o.plan, "plan", "", "`file` that fsweep plan wrote, where there is no journal")
	flags.StringVar(&o.item, "item", "", "`path` at or below which items are moved back; without it all")
	flags.StringVar(&o.journalDir, "journal-dir", "", "`directory` for the journal of the undo; without it that of JOURNAL")
	return cmd
}

func (o *undoOptions) task(env *cli.Env) *task {
	return &task{env: env, command: "undo", cluster: &o.clusterOptions, results: &o.resultOptions, journalDir: o.journalDir, execute: true}
}

func (o *undoOptions) byJournal(ctx context.Context, env *cli.Env, name string) error {
	f, err := journalfile.Open(name)
	if err != nil {
		return journalError(err)
	}
	defer f.Close()
	if f.Busy {
		return &cli.RefusedError{Err: fmt.Errorf("%s: %w", name, journalfile.ErrLocked)}
	}
	p, err := planOf(f.Reader)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if o.journalDir == "" {
		o.journalDir = filepath.Dir(name)
	}
	t := o.task(env)
	t.inputs = []string{name}
	return t.without(ctx, p, func(ctx context.Context, p *act.Params) (*act.Result, error) {
		return act.Undo(ctx, p, &act.UndoOf{Journal: f.Reader, File: filepath.Base(name), Path: planfile.Path(o.item)})
	})
}

func (o *undoOptions) byPlan(ctx context.Context, env *cli.Env) error {
	plan, err := openPlanFile(o.plan)
	if err != nil {
		return err
	}
	defer plan.close()
	t := o.task(env)
	t.plan, t.inputs = plan, []string{o.plan}
	return t.without(ctx, plan.actPlan(0), func(ctx context.Context, p *act.Params) (*act.Result, error) {
		roots := plan.roots()
		items := func(yield func(*planfile.Item, error) bool) {
			for i, err := range plan.Items() {
				if r := roots[i.Root]; err == nil && (i.Deferred != "" || r == nil || r.Mode != planfile.ModeExecute) {
					continue // no run moves it, so nothing is to be told of it
				}
				if !yield(&i, err) || err != nil {
					return
				}
			}
		}
		return act.Undo(ctx, p, &act.UndoOf{Items: items, Path: planfile.Path(o.item)})
	})
}

// planOf gives what a journal says of its plan: what an undo needs of it. Where the lock is,
// is told by the intent that took it.
func planOf(j *journal.Reader) (act.Plan, error) {
	h := j.Header()
	if h.Command != journal.CommandRun || h.Plan == nil {
		return act.Plan{}, &cli.RefusedError{Err: fmt.Errorf("the journal is of %q; what is undone is a run", h.Command)}
	}
	p := act.Plan{File: string(h.Plan.File), Digest: h.Plan.Digest, Header: planfile.Header{
		Nameservice: h.Nameservice, Removal: planfile.RemovalTrash, Preflight: planfile.PreflightRoot,
	}}
	if h.Cluster != nil {
		p.Header.Source.NamespaceID, p.Header.Source.ClusterID = h.Cluster.NamespaceID, h.Cluster.ID
	}
	for _, a := range h.Anchors {
		p.Header.Anchors = append(p.Header.Anchors, planfile.Place{Path: a.Path, InodeID: a.InodeID})
	}
	for l, err := range j.Lines() {
		if err != nil {
			return act.Plan{}, err
		}
		if i, ok := l.(*journal.Intent); ok && i.Purpose == journal.PurposeLock {
			p.Header.LockDir = planfile.Place{Path: planfile.Path(path.Dir(string(i.Target))), InodeID: i.ParentID}
			return p, nil
		}
	}
	return act.Plan{}, &cli.RefusedError{Err: errors.New("the journal never took the lock, so it moved nothing")}
}

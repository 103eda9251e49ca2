package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
)

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
	err = ended(res, err)
	if t.journal != "" {
		_, said := fmt.Fprintf(env.Stdout, "journal    %s\nlast hash  %s\n", escaped(t.journal), res.Last)
		err = errors.Join(err, said)
	}
	return err
}

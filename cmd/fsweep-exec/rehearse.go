package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute"
	"fsweep/execute/act"
	"fsweep/proto/planfile"
)

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
			dir, err := typedPath(args[0])
			if err != nil {
				return cli.Usage(cmd, fmt.Errorf("%q: %w", args[0], err))
			}
			if err := errors.Join(o.resultOptions.validate(cmd, env), o.clusterOptions.validate(cmd)); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, dir)
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
		switch st, err := p.Look.Stat(ctx, execute.At(string(dir))); {
		case err == nil:
			p.Plan.Header.Anchors = []planfile.Place{{Path: dir, InodeID: st.ID}}
		case !errors.Is(err, execute.ErrNotFound) && !errors.Is(err, execute.ErrNotDirectory): // those are refused
			return nil, err
		}
		return act.Rehearse(ctx, p, dir)
	})
}

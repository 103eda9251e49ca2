// Command fsweep-exec looks at a live HDFS, and carries out there what fsweep has
// planned and a person has approved. It reads no image and decides nothing that a plan
// does not say: it can only do less.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
)

const program = "fsweep-exec"

// garbagePercent is how much garbage may be beside what is in use. NameNodes answer far more
// slowly than it is collected, and a plan can have 200,000 items.
const garbagePercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	os.Exit(cli.Main(cli.System(program), run))
}

func run(ctx context.Context, env *cli.Env) error {
	root := newRoot(env)
	root.SetArgs(env.Args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	return root.ExecuteContext(ctx)
}

func newRoot(env *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Carry out clean-up plans of fsweep on a live HDFS",
		Long: `fsweep-exec talks to the NameNodes of one nameservice, which it finds in the Hadoop
configuration: --conf DIR, or else HADOOP_CONF_DIR. It moves to the trash what a plan
of fsweep says and a person approved, and never deletes. probe, where, fetch and run
without --execute change nothing.` + exitStatus,
		Args:          cli.NoSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       cli.Version(program),

		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usage(cmd, errors.New("which command?"))
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(cli.Usage)
	root.AddCommand(newProbe(env), newRun(env), newResume(env), newUndo(env), newWhere(env), newRehearse(env), newUnlock(env), newFetch(env))
	return root
}

// exitStatus ends the help of every command.
const exitStatus = `

EXIT STATUS
  0    done; of probe: an execute could work
  2    bad input: the command line, the Hadoop configuration, the policy, the plan or the
       journal
  3    refused by a safety rule, nothing was changed; of probe: it would be
  4    done, but some items stay; of probe: not in all roots or directories
  5    something failed, or nobody knows whether it happened: see the journal; the cluster
       could not be asked; an output could not be written, or there is not enough memory
  6    stopped by a breaker: the NameNode is too slow, or too much is not as planned
  70   a bug in fsweep-exec
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away, as in "fsweep-exec … | head"
With 3, 4, 6, 130, and 5 because of the cluster, the output is written, and says why.`

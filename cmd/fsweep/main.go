// Command fsweep reads a NameNode's fsimage offline: what is in it, who uses how
// much, how full the quotas are, and what of Flink's leftovers may go; and the
// metadata files of Flink: what they refer to. It opens no network connection and
// changes nothing but the output file that it is told to write, and, with a plan,
// the file that notes what live lists named.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
)

func main() {
	limitGarbage(usualGarbage)
	env := cli.System("fsweep")
	env.MemoryHint = "docs/PERFORMANCE.md says what each command takes; --workers 1 takes least, and NDJSON less than JSON"
	os.Exit(cli.Main(env, run))
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
		Use:   "fsweep",
		Short: "Inventory, quota reports and clean-up plans from an HDFS fsimage, offline",
		Long: `fsweep reads a downloaded fsimage of an HDFS NameNode and reports what is in it:
inodes and bytes of every directory exactly as that NameNode would count them,
quotas, owners, snapshots, erasure coding and open files. It talks to no
cluster.

An .md5 file beside the image is always verified. Without one, fsweep reads the
image all the same and every output says that it was not verified.

plan decides by a policy what of the leftovers of Flink may be moved to the trash,
and explain says why for single paths; neither moves anything. The command
references reads no image: it lists what Flink's checkpoints and savepoints refer
to. The help of these three says what differs in their exit status.` + exitStatus,
		Args:          cli.NoSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       cli.Version("fsweep"),

		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usage(cmd, errors.New("which command?"))
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(cli.Usage)
	root.AddCommand(newInspect(env), newReport(env), newQuota(env), newInventory(env), newReferences(env), newPlan(env), newExplain(env))
	return root
}

// exitStatus ends the help of every command.
const exitStatus = `

EXIT STATUS
  0    done
  2    bad input: the command line, or an image that cannot be read, is damaged,
       unsupported, or does not have the MD5 of its .md5 file
  5    an output could not be written, or there is not enough memory
  70   a bug in fsweep
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away, as in "fsweep … | head"
Whenever it is not 0, no output file appears and an existing one stays as it was.`

// oneImage accepts exactly one argument.
func oneImage(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return cli.Usage(cmd, errors.New("no image given"))
	}
	return cli.WithHint(cli.Usage(cmd, fmt.Errorf("one image at a time, not %d: %q", len(args), args)),
		"quote a name that has spaces in it")
}

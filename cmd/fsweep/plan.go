package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/cmd/internal/cli"
)

type planOptions struct {
	cleanupOptions
	maxListLines int
	listContents bool
	printPolicy  bool
	suggest      bool
}

func newPlan(env *cli.Env) *cobra.Command {
	o := planOptions{cleanupOptions: cleanupOptions{readOptions: readOptions{format: cli.Choice{Value: "text"}}}}
	cmd := &cobra.Command{
		Use:   "plan IMAGE --policy FILE [-o PLAN]",
		Short: "Decide what a clean-up of Flink's leftovers may move, and why",
		Long:  planLong + planStatus,
		Example: `  fsweep plan --suggest fsimage_0000000000000012345
  fsweep plan --policy cleanup.yaml fsimage_0000000000000012345
  fsweep plan --policy cleanup.yaml --root /flink-checkpoints --exclude-job orders \
              -o plan.jsonl fsimage_0000000000000012345
  fsweep plan --policy cleanup.yaml --print-policy`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.printPolicy && len(args) == 0 {
				return nil
			}
			return oneImage(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd); err != nil {
				return err
			}
			switch {
			case o.printPolicy:
				return o.print(cmd.Context(), env)
			case o.suggest:
				return o.runSuggest(cmd.Context(), env, args[0])
			}
			return o.run(cmd.Context(), env, args[0])
		},
	}
	o.addPlanFlags(cmd.Flags())
	return cmd
}

func (o *planOptions) addPlanFlags(flags *pflag.FlagSet) {
	cli.AddChoice(flags, &o.format, "format", "form of what is shown", "text", "json")
	o.addFlags(flags)
	flags.Lookup("output").Usage = "`file` for the plan, complete or not at all; - is standard output, and what is shown goes to standard error"
	flags.Lookup("output").DefValue = ""
	o.output = ""
	o.addPolicyFlags(flags)
	flags.IntVar(&o.maxListLines, "max-list-lines", 1000, "lines of a list that are shown, 0 for all; the plan has all")
	flags.BoolVar(&o.listContents, "list-contents", false, "show what is in the items, too")
	flags.BoolVar(&o.printPolicy, "print-policy", false, "show the policy that is in force, and do nothing else")
	flags.BoolVar(&o.suggest, "suggest", false, "list trees that look like roots of Flink, and do nothing else")
}

// planLong is the help.
const planLong = `plan decides by a policy which runs, savepoints, directories of high availability
and other leftovers may be moved to the trash, and shows that with a reason for
every line. It changes nothing: with -o it writes a plan, which another program
carries out on the live cluster after it checked every item again, and after a
person approved the digest that is shown.

What is younger than min_age, named by a live list or a pin, excluded, marked or
among the newest of its job stays; of debris in what stays older_than decides.
Everything that can refer to what is planned becomes a guard, and is read before
anything moves. A root with an entry that does not fit its layout is stopped:
nothing in it is planned.

Live lists, pins and job maps are files that the policy names. With -o, what live
lists named is noted in a file beside the policy, POLICY.live-state.json, so that
the next plan notices lists that lost entries, and ids that lived before.

--suggest needs no policy: it lists trees that look like roots of Flink, with a
policy to begin with, all in comments. --print-policy shows what is in force,
with all defaults and flags; it needs no image.`

// planStatus ends the help in place of exitStatus.
const planStatus = `

EXIT STATUS
  0    done
  2    bad input: the command line, the policy, a list that it names, or an image
       that cannot be read, is damaged, or does not have the MD5 of its .md5 file
  3    refused by a safety rule: the image is too old, or its plan would have
       expired already; a list is empty, stale or lost a tenth of its entries; or
       every root is stopped, or excluded, selected or protected names do not exist
  4    some roots are stopped; the plan is executable without them
  5    an output could not be written, or there is not enough memory
  70   a bug in fsweep
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away, as in "fsweep … | head"
A plan file appears, complete, with 0 and 4, with 3 if roots are stopped (it then
has no items and is not executable), and if only what is shown could not be
written. Otherwise none appears, and an existing one stays as it was.`

func (o *planOptions) validate(cmd *cobra.Command) error {
	flags := cmd.Flags()
	alone := func(flag string, others ...string) error {
		for _, other := range others {
			if flags.Changed(other) {
				return cli.Usage(cmd, fmt.Errorf("--%s goes without --%s", flag, other))
			}
		}
		return nil
	}
	switch {
	case o.maxListLines < 0:
		return cli.Usage(cmd, errors.New("--max-list-lines must not be negative"))
	case flags.Changed("output") && o.output == "":
		return cli.Usage(cmd, errors.New("-o needs the name of a file, or - for standard output"))
	case o.suggest:
		if err := alone("suggest", append([]string{"print-policy", "output", "list-contents"}, policyFlags...)...); err != nil {
			return err
		}
	case o.printPolicy:
		if err := alone("print-policy", "output"); err != nil {
			return err
		}
		if o.format.Value == "json" {
			return cli.Usage(cmd, errors.New("--print-policy goes without --format json: a policy is YAML"))
		}
		fallthrough
	default:
		if err := o.needPolicy(cmd); err != nil {
			return err
		}
	}
	return o.cleanupOptions.validate(cmd)
}

// print shows the policy that is in force.
func (o *planOptions) print(ctx context.Context, env *cli.Env) error {
	p, err := o.readPolicy()
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(o.overrides.Jobs, o.overrides.ExcludeJobs) {
		if !utf8.ValidString(name) {
			return fmt.Errorf("the name %q is not UTF-8, so no policy can have it; flags can", name)
		}
	}
	out, err := env.Create(ctx, "-", cli.OutputOptions{})
	if err != nil {
		return err
	}
	defer out.Abort()
	for _, note := range p.Notes() {
		env.Warn("%s", note)
	}
	if err := p.Print(out); err != nil {
		return err
	}
	return out.Commit()
}

// run makes the plan and shows it.
func (o *planOptions) run(ctx context.Context, env *cli.Env, name string) error {
	in, err := o.readInputs(env)
	if err != nil {
		return err
	}
	im, err := openImage(name, o.noVerify)
	if err != nil {
		return err
	}
	bar := o.progress(env)
	defer bar.Stop()
	var outcome error
	err = im.with(ctx, func(ctx context.Context) error {
		outcome, err = o.make(ctx, env, im, in, bar)
		return err
	})
	if err != nil {
		return err
	}
	return outcome
}

// make makes the plan of an image and shows it. outcome is what the exit code says
// of a plan that was made.
func (o *planOptions) make(ctx context.Context, env *cli.Env, im *image, in *inputs, bar *cli.Progress) (outcome, err error) {
	c, err := o.newRuling(im, in)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.checkTimes(o.now.Time); err != nil {
		return nil, err
	}
	files, err := createPlan(ctx, env, o.output, c)
	if err != nil {
		return nil, err
	}
	defer files.abort()
	if err := c.decide(ctx, &o.cleanupOptions, bar); err != nil {
		return nil, err
	}
	result, err := c.write(ctx, files, o, bar)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	if err := im.unchanged(); err != nil {
		return nil, err
	}
	if err := files.commit(ctx, c.in); err != nil {
		return nil, err
	}
	bar.Stop()
	return c.outcome(), o.show(ctx, env, c, result, files)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/plan"
	"fsweep/cmd/internal/cli"
)

type explainOptions struct {
	cleanupOptions
	paths []string
}

func newExplain(env *cli.Env) *cobra.Command {
	o := explainOptions{cleanupOptions: cleanupOptions{readOptions: readOptions{format: cli.Choice{Value: "text"}}}}
	cmd := &cobra.Command{
		Use:   "explain IMAGE --policy FILE PATH…",
		Short: "Say why a path is kept or planned, and what would change that",
		Long: `explain decides as plan does, with the same policy and flags, and says of each PATH
what it is, what becomes of it and by which rules, with the facts that these saw;
which guards would be asked; and what would have to change. A PATH is absolute or
a URI of the policy's nameservice; it may lie anywhere in the image, and need not
be in it. Names are taken byte by byte: * is a star.

What plan refuses (an image that is too old, protected paths that do not exist,
all roots stopped) is a warning here, and stands in the answer.` + explainStatus,
		Example: `  fsweep explain --policy cleanup.yaml fsimage_0000000000000012345 \
         /flink-checkpoints/orders/8413978720d4030c5d631f3b2b9c30d4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return cli.Usage(cmd, errors.New("no path given"))
			}
			return oneImage(cmd, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.needPolicy(cmd); err != nil {
				return err
			}
			if err := o.validate(cmd); err != nil {
				return err
			}
			o.paths = args[1:]
			return o.run(cmd.Context(), env, args[0])
		},
	}
	flags := cmd.Flags()
	cli.AddChoice(flags, &o.format, "format", "form of the answer", "text", "json")
	o.addFlags(flags)
	o.addPolicyFlags(flags)
	return cmd
}

// explainStatus ends the help in place of exitStatus.
const explainStatus = `

EXIT STATUS
  0    done, whatever the answer is, and also if roots are stopped
  2    bad input: the command line, the policy, a list that it names, or an image
       that cannot be read, is damaged, or does not have the MD5 of its .md5 file
  3    a list is empty, stale or lost a tenth of its entries, or the image is from
       the future or from another nameservice: then nothing can be decided
  5    an output could not be written, or there is not enough memory
  70   a bug in fsweep
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away, as in "fsweep … | head"
Whenever it is not 0, no output file appears and an existing one stays as it was.`

func (o *explainOptions) run(ctx context.Context, env *cli.Env, name string) error {
	if err := cli.CheckOutput(env, o.output); err != nil {
		return err
	}
	in, err := o.readInputs(env)
	if err != nil {
		return err
	}
	paths, err := anyPaths(o.paths, in.policy.Nameservice)
	if err != nil {
		return &cli.UsageError{Command: env.Name + " explain", Err: err}
	}
	im, err := openImage(name, o.noVerify)
	if err != nil {
		return err
	}
	bar := o.progress(env)
	defer bar.Stop()
	return im.with(ctx, func(ctx context.Context) error {
		c, err := o.newRuling(im, in)
		if err != nil {
			return err
		}
		out, err := env.Create(ctx, o.output, cli.OutputOptions{Ready: im.verified, Inputs: append(append(im.inputs(), in.files...), in.state.name)})
		if err != nil {
			return err
		}
		defer out.Abort()
		if err := o.explain(ctx, env, c, paths, out, bar); err != nil {
			return err
		}
		if err := im.unchanged(); err != nil {
			return err
		}
		return out.Commit()
	})
}

// anyPaths reads the paths that somebody asks about, each once.
func anyPaths(args []string, ns cleanup.Nameservice) ([]cleanup.Path, error) {
	var paths []cleanup.Path
	seen := map[cleanup.Path]bool{}
	for _, arg := range args {
		p, err := cleanup.AnyPath(arg, ns)
		if err != nil {
			return nil, err
		}
		if !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// explain decides as a plan does, and answers.
func (o *explainOptions) explain(ctx context.Context, env *cli.Env, c *ruling, paths []cleanup.Path, out io.Writer, bar *cli.Progress) error {
	if err := c.load(ctx, &o.cleanupOptions, bar); err != nil {
		return err
	}
	if err := c.checkTime(o.now.Time); err != nil {
		return err
	}
	defer c.close()
	if err := c.rule(ctx, o.workers); err != nil {
		return err
	}
	answers, err := plan.Ask(ctx, &plan.Request{Tree: c.tree, Collector: c.collector, Survey: c.survey, Decider: c.decider, Policy: c.in.policy, Inputs: c.in.given}, paths)
	if err != nil {
		return tempHint(err)
	}
	defer answers.Close()
	places, err := findPaths(ctx, c.tree, o.workers, slices.Concat(paths, c.in.policy.Protect))
	if err != nil {
		return err
	}
	places, protected := places[:len(paths)], places[len(paths):]
	c.refusals(protected)
	if err := c.im.verified(ctx); err != nil {
		return err
	}
	c.im.describe(&c.source)
	bar.Stop()
	c.im.warn(env)
	for _, w := range append(c.in.policy.Notes(), c.in.warnings...) {
		env.Warn("%s", w)
	}
	for _, r := range c.refused {
		env.Warn("%s; a plan would be refused", r)
	}
	return o.answer(ctx, c, answers, places, out)
}

// refusals collects for what plan would make no plan, or an empty one.
func (c *ruling) refusals(protected []place) {
	for _, err := range []error{cmp.Or(c.tooOld(), c.expired()), notProtected(protected)} {
		if err != nil {
			c.refused = append(c.refused, err.Error())
		}
	}
	if refused, ok := errors.AsType[*cli.RefusedError](c.outcome()); ok {
		c.refused = append(c.refused, refused.Error())
	}
}

// notProtected gives the error of a plan about protected paths that do not exist.
func notProtected(protected []place) error {
	var missing []string
	for i := range protected {
		if !protected[i].exists() {
			missing = append(missing, shown(string(protected[i].path)))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("%w: ['%s']", plan.ErrNotFound, strings.Join(missing, "', '"))
}

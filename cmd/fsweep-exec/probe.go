package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/probe"
	view "fsweep/reports/probe"
)

type probeOptions struct {
	clusterOptions
	policy string
	plan   string
	format cli.Choice
	output string
}

// probeExitStatus says what the codes mean of a probe, which are fewer than in [exitStatus].
const probeExitStatus = `

EXIT STATUS
  0    an execute could work, whatever warnings there are
  2    bad input: the command line, the Hadoop configuration, the policy or the plan
  3    an execute would be refused, or could move nothing but what is only observed
  4    an execute could work, but not in all roots or directories
  5    the cluster could not be asked; an output could not be written, or there is not
       enough memory
  70   a bug in fsweep-exec
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away, as in "fsweep-exec … | head"
With 0, 3, 4, and 5 because of the cluster, the output is written, and has every reason.`

func newProbe(env *cli.Env) *cobra.Command {
	o := probeOptions{format: cli.Choice{Value: "text"}}
	cmd := &cobra.Command{
		Use:   "probe [--policy FILE | --plan PLAN]",
		Short: "Show what the cluster looks like, and whether an execute could work",
		Long: `probe asks the cluster, and changes nothing: which NameNodes there are and which of
them is ACTIVE, their versions and clocks, safe mode, the trash and whether this user
can use it. With --policy, also the lock directory, the quarantine, hold paths, and of
each root whether it exists, who owns it, and whether this user may move anything out
of it: out of the root itself, or, where the layout has jobs, out of each of them. With
--plan all that comes from the plan, whose anchors and ids are compared as well.

Every reason why an execute would not work is listed, with what can be done about it.
What the cluster does not tell an ordinary user is shown as unknown. What lies inside
of runs is not looked at: that is for the dry run of a plan.` + probeExitStatus,
		Example: `  fsweep-exec probe
  fsweep-exec probe --conf /etc/hadoop/conf --policy cleanup.yaml
  fsweep-exec probe --nameservice nameservice1 --format json | jq .findings
  fsweep-exec probe --plan plan.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage(cmd, fmt.Errorf("%q: probe takes no arguments, only flags", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd, env); err != nil {
				return err
			}
			return o.run(cmd.Context(), env)
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.StringVar(&o.policy, "policy", "", "`file` that says what may be planned, and where locks and holds are")
	flags.StringVar(&o.plan, "plan", "", "`file` that fsweep plan wrote, in place of a policy")
	cli.AddChoice(flags, &o.format, "format", "form of the answer", "text", "json")
	cli.AddOutput(flags, &o.output)
	return cmd
}

func (o *probeOptions) validate(cmd *cobra.Command, env *cli.Env) error {
	if o.policy != "" && o.plan != "" {
		return cli.Usage(cmd, errors.New("--policy goes without --plan, which has all that matters of its policy"))
	}
	for _, flag := range []string{"policy", "plan"} {
		if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" { // an unset variable of a script
			return cli.Usage(cmd, fmt.Errorf("--%s needs the name of a file", flag))
		}
	}
	if err := cli.CheckOutput(env, o.output); err != nil {
		return err
	}
	return o.clusterOptions.validate(cmd)
}

func (o *probeOptions) run(ctx context.Context, env *cli.Env) error {
	w, err := o.wants()
	if err != nil {
		return err
	}
	c, err := o.open(w.nameservice)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.same(w.nameservice, w.from); err != nil {
		return err
	}
	out, err := createOutput(ctx, env, o.output, "", o.policy, o.plan)
	if err != nil {
		return err
	}
	defer out.Abort()
	w.options.Nameservice, w.options.Timeout, w.options.Now = c.uri, o.timeout, time.Now()
	report, err := probe.Look(ctx, c, w.options)
	if err != nil {
		return err
	}
	if err := o.write(out, &view.Source{
		Tool: program, Version: cli.ModuleVersion(), Conf: c.conf, URI: c.uri, Authentication: c.authentication,
		Policy: o.policy, Plan: o.plan, Report: report,
	}); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	return outcome(report)
}

func (o *probeOptions) write(out io.Writer, s *view.Source) error {
	b := bufio.NewWriter(out)
	write := view.Text
	if o.format.Value == "json" {
		write = view.JSON
	}
	if err := write(b, s); err != nil {
		return err
	}
	return b.Flush()
}

// outcome is what the exit code says of a probe. Reasons and advice are in the output;
// the error only names them.
func outcome(r *probe.Report) error {
	var codes []string
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Level != probe.Warning && !slices.Contains(codes, string(f.Code)) {
			codes = append(codes, string(f.Code))
		}
	}
	err := fmt.Errorf("%s: %s", view.Verdict(r), strings.Join(codes, ", "))
	switch r.Outcome() {
	case probe.Works:
		return nil
	case probe.Incomplete:
		return &cli.IncompleteError{Err: err}
	case probe.Refused:
		return &cli.RefusedError{Err: err}
	case probe.Failed:
	}
	return &cli.FailedError{Err: err}
}

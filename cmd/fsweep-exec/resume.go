package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
	"fsweep/execute/journalfile"
	"fsweep/proto/journal"
)

type resumeOptions struct {
	clusterOptions
	resultOptions
	checkOptions
	plan     string
	unproven bool
}

func newResume(env *cli.Env) *cobra.Command {
	o := resumeOptions{}
	cmd := &cobra.Command{
		Use:   "resume JOURNAL --plan PLAN",
		Short: "Go on with a run that ended before its end",
		Long: `resume goes on where a run ended, whatever ended it: a signal, a crash, a window, a
breaker. It first finds out what became of the change that was asked for last, takes
the lock over, checks everything again and then carries out the rest. The plan must be
the one of the journal, byte for byte, and is checked as in run.

It writes to the same journal. What is done already is not looked at again.` + exitStatus,
		Example: `  fsweep-exec resume /var/lib/fsweep/JOURNAL.jsonl --plan plan.jsonl`,
		Args:    oneArgument("the journal"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.plan == "" {
				return cli.Usage(cmd, errors.New("resume needs --plan, the plan of the journal"))
			}
			if err := errors.Join(o.resultOptions.validate(cmd, env), o.checkOptions.validate(cmd), o.clusterOptions.validate(cmd)); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, args[0])
		},
	}
	flags := cmd.Flags()
	o.clusterOptions.addFlags(flags)
	o.resultOptions.addFlags(flags)
	o.checkOptions.addFlags(flags)
	flags.StringVar(&o.plan, "plan", "", "`file` that fsweep plan wrote")
	flags.BoolVar(&o.unproven, "unproven", false, "as of run")
	return cmd
}

func (o *resumeOptions) run(ctx context.Context, env *cli.Env, name string) error {
	plan, err := openPlanFile(o.plan)
	if err != nil {
		return err
	}
	defer plan.close()
	dir, err := journalfile.OpenDir(filepath.Dir(name))
	if err != nil {
		return err
	}
	w, err := dir.Reopen(filepath.Base(name))
	if err != nil {
		return journalError(err)
	}
	defer w.Close() // the error of a Writer is that of every call before
	e := task{
		env: env, command: "resume", cluster: &o.clusterOptions, results: &o.resultOptions, plan: plan, journalDir: filepath.Dir(name),
		check: o.of(), lists: o.lists, guards: o.guards, execute: true, unproven: o.unproven, journal: w.Path(),
		inputs: []string{name},
	}
	h := w.Journal().Header()
	if err := act.Resumable(&h); err != nil {
		return &cli.RefusedError{Err: fmt.Errorf("%s: %w", name, err)}
	}
	if p := h.Plan; p == nil || p.Digest != plan.digest {
		return &cli.RefusedError{Err: fmt.Errorf("%s is not of the plan %s", name, o.plan)}
	}
	e.check.Approved = &plan.digest
	e.check.Moved = movedBefore(w.State())
	return e.do(ctx, func(ctx context.Context, p *act.Params, _ *checker) (*act.Result, error) {
		res, err := act.Resume(ctx, p, w)
		if err == nil {
			e.otherRoots()
		}
		return res, err
	})
}

// movedBefore tells what a journal has moved, moved back as well: a run does neither twice, so that the
// checks must not take it for something that is going to move.
func movedBefore(s journal.State) func(uint64) bool {
	return func(id uint64) bool {
		o := s.Outcome(id)
		return o == journal.OutcomeDone || o == journal.OutcomeUndone
	}
}

// journalError tells what is wrong with a journal: damage is an input, and what another
// process writes is a refusal. The error names the file already.
func journalError(err error) error {
	if errors.Is(err, journalfile.ErrLocked) || errors.Is(err, journalfile.ErrTemporary) {
		return &cli.RefusedError{Err: err}
	}
	return err
}

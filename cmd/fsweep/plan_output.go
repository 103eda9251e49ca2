package main

import (
	"bytes"
	"context"
	"slices"

	"fsweep/cmd/internal/cli"
)

// planFiles are what a plan writes: itself, and what live lists named. Nothing
// appears under its name before everything is there, and the plan is last.
type planFiles struct {
	plan  *cli.Output // nil: nobody wants it
	state *cli.Output // nil: there is nothing to remember
	name  string      // of the plan; empty: none
	// held is the last line so far. A plan without its last line is none, so whoever
	// reads a pipe has none either before all is well.
	held []byte
}

const stateHint = "what live lists named is noted with every plan; live_state in the policy can name another place"

// createPlan asks the file system at once whether the files can be written.
func createPlan(ctx context.Context, env *cli.Env, name string, c *ruling) (*planFiles, error) {
	f := &planFiles{name: name}
	if name == "" {
		return f, nil
	}
	inputs := slices.Concat(c.im.inputs(), c.in.files)
	var err error
	memory := []string{c.in.state.name, c.in.state.name + cli.LockSuffix}
	f.plan, err = env.Create(ctx, name, cli.OutputOptions{Ready: c.im.verified, Inputs: slices.Concat(inputs, memory)})
	if err != nil || len(c.in.policy.Live) == 0 {
		return f, err
	}
	if f.state, err = env.Create(ctx, c.in.state.name, cli.OutputOptions{Ready: c.im.verified, Inputs: inputs}); err != nil {
		f.abort()
		return nil, cli.WithHint(err, stateHint)
	}
	return f, nil
}

// Write implements io.Writer.
func (f *planFiles) Write(p []byte) (int, error) {
	if f.plan == nil {
		return len(p), nil
	}
	f.held = append(f.held, p...)
	// What stands before the line that was ended last, or is not ended yet.
	n := bytes.LastIndexByte(bytes.TrimSuffix(f.held, []byte{'\n'}), '\n') + 1
	if n == 0 {
		return len(p), nil
	}
	if _, err := f.plan.Write(f.held[:n]); err != nil {
		return 0, err
	}
	f.held = append(f.held[:0], f.held[n:]...)
	return len(p), nil
}

// commit gives the files their names.
func (f *planFiles) commit(ctx context.Context, in *inputs) error {
	if f.plan == nil {
		return nil
	}
	if f.state != nil {
		if err := in.writeState(ctx, f.state); err != nil {
			return err
		}
	}
	if _, err := f.plan.Write(f.held); err != nil {
		return err
	}
	return f.plan.Commit()
}

// abort gives up what was not committed.
func (f *planFiles) abort() {
	for _, out := range []*cli.Output{f.plan, f.state} {
		if out != nil {
			out.Abort()
		}
	}
}

// toStdout tells whether the plan goes to standard output, so that nothing else may.
func (f *planFiles) toStdout() bool { return f.plan != nil && f.plan.Stdout() }

// stderrWriter writes what is shown where the plan takes standard output.
type stderrWriter struct{ env *cli.Env }

// Write implements io.Writer.
func (w stderrWriter) Write(p []byte) (int, error) {
	n, err := w.env.Stderr.Write(p)
	if err != nil {
		err = &cli.OutputError{Name: "standard error", Err: err}
	}
	return n, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/analyze/namespace"
	"fsweep/cmd/internal/cli"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
}

// String, Set and Type implement pflag.Value.
func (c *choice) String() string { return c.value }

// Set takes the value that the user typed.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", strings.Join(c.allowed, " or "))
	}
	c.value = s
	return nil
}

// Type is shown in the help.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// addChoice adds a flag whose first word is the default, unless required.
func addChoice(flags *pflag.FlagSet, c *choice, name, help string, allowed ...string) {
	c.allowed = allowed
	flags.Var(c, name, help)
	if c.value == "" {
		return
	}
	flags.Lookup(name).DefValue = c.value
}

// readOptions are the flags of all commands that read an image. Each adds the
// formats that it has.
type readOptions struct {
	format     choice
	output     string
	workers    int
	noVerify   bool
	noProgress bool
}

func (o *readOptions) addFlags(flags *pflag.FlagSet) {
	addOutput(flags, &o.output)
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "goroutines that decode; changes no output")
	flags.BoolVar(&o.noVerify, "no-verify", false, "do not read the .md5 file; every output says so")
	flags.BoolVar(&o.noProgress, "no-progress", false, "no progress bar on a terminal")
}

// onImage is what cobra calls for a command that reads one image.
func onImage(env *cli.Env, o interface {
	validate(cmd *cobra.Command) error
	run(ctx context.Context, env *cli.Env, name string) error
},
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := o.validate(cmd); err != nil {
			return err
		}
		return o.run(cmd.Context(), env, args[0])
	}
}

const maxWorkers = 1024

func (o *readOptions) validate(cmd *cobra.Command) error {
	if o.workers < 1 || o.workers > maxWorkers {
		return usage(cmd, fmt.Errorf("--workers %d: must be 1 to %d", o.workers, maxWorkers))
	}
	return nil
}

func (o *readOptions) progress(env *cli.Env) *cli.Progress {
	if o.noProgress {
		return nil
	}
	return env.Progress()
}

// show draws what a package tells of its progress.
func show(bar *cli.Progress) func(namespace.Progress) {
	if bar == nil {
		return nil
	}
	return func(p namespace.Progress) { bar.Update(p.Stage, p.INodes, p.Bytes, p.Total) }
}

func addOutput(flags *pflag.FlagSet, name *string) {
	flags.StringVarP(name, "output", "o", "-", "`file` to write, complete or not at all; - is standard output")
}

// checkOutput refuses the empty name: an unset variable of a script, most likely.
func checkOutput(env *cli.Env, name string) error {
	if name != "" {
		return nil
	}
	return &cli.UsageError{Command: env.Name, Err: errors.New("-o needs the name of a file, or - for standard output")}
}

var errNegativeTop = errors.New("--top must not be negative")

// wrapped breaks a sentence into lines for the help.
func wrapped(s string) string {
	const width = 80
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(s) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

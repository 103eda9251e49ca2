package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/analyze/namespace"
	"fsweep/cmd/internal/cli"
)

// readOptions are the flags of all commands that read an image. Each adds the
// formats that it has.
type readOptions struct {
	format     cli.Choice
	output     string
	workers    int
	noVerify   bool
	noProgress bool
}

func (o *readOptions) addFlags(flags *pflag.FlagSet) {
	cli.AddOutput(flags, &o.output)
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
		return cli.Usage(cmd, fmt.Errorf("--workers %d: must be 1 to %d", o.workers, maxWorkers))
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

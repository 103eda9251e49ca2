package main

import (
	"context"

	"github.com/spf13/cobra"

	"fsweep/analyze"
	"fsweep/cmd/internal/cli"
	"fsweep/reports"
)

type inspectOptions struct{ readOptions }

func newInspect(env *cli.Env) *cobra.Command {
	o := inspectOptions{readOptions{format: cli.Choice{Value: "text"}}}
	cmd := &cobra.Command{
		Use:   "inspect IMAGE",
		Short: "Show header, sections and record counts of an image",
		Long: `inspect reads every section of an image and shows its versions, codec, section
table, how many records of each kind there are, and whether the MD5 was
verified. Sections that this version does not know are marked and skipped.` + exitStatus,
		Args: oneImage,
		RunE: onImage(env, &o),
	}
	flags := cmd.Flags()
	cli.AddChoice(flags, &o.format, "format", "form of the output", "text", "json")
	o.addFlags(flags)
	return cmd
}

func (o *inspectOptions) run(ctx context.Context, env *cli.Env, name string) error {
	return o.write(ctx, env, name, func(ctx context.Context, im *image, out *cli.Output, bar *cli.Progress) error {
		i, err := analyze.Inspect(ctx, im.Image, analyze.Options{Image: name, Workers: o.workers, Progress: show(bar)})
		if err != nil {
			return err
		}
		if err := im.verified(ctx); err != nil {
			return err
		}
		im.describe(&i.Source)
		bar.Stop()
		if o.format.Value == "json" {
			return reports.InspectionJSON(out, i)
		}
		return reports.InspectionText(out, i)
	})
}

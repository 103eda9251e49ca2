package main

import (
	"context"

	"github.com/spf13/cobra"

	"fsweep/analyze"
	"fsweep/cmd/internal/cli"
	"fsweep/reports"
)

type reportOptions struct {
	readOptions
	top int
}

func newReport(env *cli.Env) *cobra.Command {
	o := reportOptions{readOptions: readOptions{format: cli.Choice{Value: "text"}}}
	cmd := &cobra.Command{
		Use:   "report IMAGE",
		Short: "Report totals, quotas, largest directories, owners, snapshots, open files",
		Long: `report shows totals, quotas, the largest directories, users and groups, storage
types and policies, erasure coding, open files and snapshots of an image, as
text for people or as JSON with stable keys. Times are UTC. In text, names are
escaped: \n, \xNN and the like, \\ for a backslash.` + exitStatus,
		Example: `  fsweep report fsimage_0000000000000012345
  fsweep report --format json -o report.json fsimage_0000000000000012345`,
		Args: oneImage,
		RunE: onImage(env, &o),
	}
	flags := cmd.Flags()
	cli.AddChoice(flags, &o.format, "format", "form of the report", "text", "json")
	flags.IntVar(&o.top, "top", 20, "length of the lists of largest directories and oldest open files")
	o.addFlags(flags)
	return cmd
}

func (o *reportOptions) validate(cmd *cobra.Command) error {
	if o.top < 0 {
		return cli.Usage(cmd, errNegativeTop)
	}
	return o.readOptions.validate(cmd)
}

func (o *reportOptions) run(ctx context.Context, env *cli.Env, name string) error {
	return o.write(ctx, env, name, func(ctx context.Context, im *image, out *cli.Output, bar *cli.Progress) error {
		r, _, err := analyze.Load(ctx, im.Image, analyze.Options{Image: name, Workers: o.workers, Top: o.top, Progress: show(bar)})
		if err != nil {
			return err
		}
		if err := im.verified(ctx); err != nil {
			return err
		}
		im.describe(&r.Source)
		im.date(env, &r.Source)
		bar.Stop()
		if o.format.Value == "json" {
			return reports.JSON(out, r)
		}
		return reports.Text(out, r)
	})
}

// write opens an image and an output, has fn turn one into the other, and
// commits the output if all went well and the MD5 is right.
func (o *readOptions) write(ctx context.Context, env *cli.Env, name string,
	fn func(context.Context, *image, *cli.Output, *cli.Progress) error,
) error {
	if err := cli.CheckOutput(env, o.output); err != nil {
		return err
	}
	im, err := openImage(name, o.noVerify)
	if err != nil {
		return err
	}
	bar := o.progress(env)
	defer bar.Stop()
	return im.with(ctx, func(ctx context.Context) error {
		out, err := env.Create(ctx, o.output, cli.OutputOptions{Ready: im.verified, Inputs: im.inputs()})
		if err != nil {
			return err
		}
		defer out.Abort()
		if err := fn(ctx, im, out, bar); err != nil {
			return err
		}
		if err := im.unchanged(); err != nil {
			return err
		}
		return out.Commit()
	})
}

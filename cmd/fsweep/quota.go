package main

import (
	"context"

	"github.com/spf13/cobra"

	"fsweep/analyze"
	"fsweep/analyze/namespace"
	"fsweep/cmd/internal/cli"
	"fsweep/reports"
)

type quotaOptions struct{ readOptions }

func newQuota(env *cli.Env) *cobra.Command {
	o := quotaOptions{readOptions{format: cli.Choice{Value: "text"}}}
	cmd := &cobra.Command{
		Use:   "quota IMAGE",
		Short: "List every directory with a quota: limit, used, left, percent",
		Long: `quota lists every directory that has a namespace, space or storage-type quota,
sorted by path. A quota that is not set is absent or empty, never a number.

` + wrapped(analyze.DriftNote) + `

A storage-type quota where no storage policy is in force is set but not charged:
files there count against no storage type.` + exitStatus,
		Args: oneImage,
		RunE: onImage(env, &o),
	}
	flags := cmd.Flags()
	cli.AddChoice(flags, &o.format, "format", "form of the list", "text", "json", "ndjson", "csv")
	o.addFlags(flags)
	return cmd
}

func (o *quotaOptions) run(ctx context.Context, env *cli.Env, name string) error {
	return o.write(ctx, env, name, func(ctx context.Context, im *image, out *cli.Output, bar *cli.Progress) error {
		t, err := namespace.Load(ctx, im.Image, namespace.Options{Workers: o.workers, Progress: show(bar)})
		if err != nil {
			return err
		}
		if err := im.verified(ctx); err != nil {
			return err
		}
		bar.Stop()
		src := analyze.NewSource(name, im.Image, t)
		im.describe(&src)
		im.date(env, &src)
		rows := analyze.Quotas(t)
		findings := analyze.Findings(name, t, rows)
		switch o.format.Value {
		case "json":
			return reports.QuotaJSON(out, &src, findings, rows)
		case "text":
			return reports.QuotaText(out, &src, findings, rows)
		}
		im.warn(env)
		warnFindings(env, findings)
		w := reports.NewRows(t, rowFormat(o.format.Value))
		b := w.QuotaHeader(nil)
		for i := range rows {
			b = w.Quota(b, &rows[i])
		}
		_, err = out.Write(b)
		return err
	})
}

func rowFormat(name string) reports.Format {
	if name == "csv" {
		return reports.CSV
	}
	return reports.NDJSON
}

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"fsweep/analyze/namespace"
	"fsweep/cmd/internal/cli"
	"fsweep/fsimage"
	"fsweep/reports"
)

type inventoryOptions struct {
	readOptions
	of cli.Choice
}

func newInventory(env *cli.Env) *cobra.Command {
	var o inventoryOptions
	cmd := &cobra.Command{
		Use:   "inventory IMAGE --of inodes|directories --format ndjson|csv",
		Short: "Write a row for every inode or directory",
		Long: `inventory writes one row for every live inode, or for every live directory with
its quota usage and content summary, in the order of the image.

ndjson: one JSON object a line. Keys without a value are absent. A path that is
not UTF-8 is shown escaped (\xNN for a byte, \\ for a backslash), and its exact
bytes follow in path_b64, which no other path has.

csv: RFC 4180 with a header of the same keys (type_used.DISK for nested ones).
Fields without a value are empty, lists are JSON, path has its exact bytes.` + exitStatus,
		Example: `  fsweep inventory fsimage_0000000000000012345 --of inodes --format csv -o inodes.csv
  fsweep inventory fsimage_0000000000000012345 --of directories --format ndjson | jq .`,
		Args: oneImage,
		RunE: onImage(env, &o),
	}
	flags := cmd.Flags()
	cli.AddChoice(flags, &o.of, "of", "what a row is about (required)", "inodes", "directories")
	cli.AddChoice(flags, &o.format, "format", "form of the rows (required)", "ndjson", "csv")
	o.addFlags(flags)
	return cmd
}

func (o *inventoryOptions) validate(cmd *cobra.Command) error {
	switch {
	case o.of.Value == "":
		return cli.Usage(cmd, errors.New("--of inodes or --of directories is required"))
	case o.format.Value == "":
		return cli.Usage(cmd, errors.New("--format ndjson or --format csv is required"))
	}
	return o.readOptions.validate(cmd)
}

func (o *inventoryOptions) run(ctx context.Context, env *cli.Env, name string) error {
	return o.write(ctx, env, name, func(ctx context.Context, im *image, out *cli.Output, bar *cli.Progress) error {
		t, err := namespace.Load(ctx, im.Image, namespace.Options{
			Workers: o.workers, Progress: show(bar), NoSums: o.of.Value == "inodes",
		})
		if err != nil {
			return err
		}
		if out.Terminal() {
			bar.Stop()
		}
		im.warn(env)
		warnFindings(env, t.Findings())
		return o.rows(ctx, im, t, out, bar)
	})
}

func warnFindings(env *cli.Env, findings []namespace.Finding) {
	for _, f := range findings {
		env.Warn("%s (%d): %s", f.Code, f.Count, f.Message)
	}
}

// rows writes the inventory. Each worker formats its batches into a buffer of its
// own and waits for its turn to write it.
func (o *inventoryOptions) rows(ctx context.Context, im *image, t *namespace.Tree, out *cli.Output, bar *cli.Progress) error {
	sec, _ := im.Section(fsimage.SectionINode)
	before := im.BytesRead()
	writers := make([]rowWriter, o.workers)
	for i := range writers {
		writers[i].rows = reports.NewRows(t, rowFormat(o.format.Value))
		// About what a batch takes; growing to it would leave garbage behind.
		writers[i].buf = make([]byte, 0, min(t.NumINodes()*512, 6<<20))
	}
	header := writers[0].rows.INodeHeader
	if o.of.Value == "directories" {
		header = writers[0].rows.DirectoryHeader
	}
	if h := header(nil); len(h) > 0 {
		if _, err := out.Write(h); err != nil {
			return err
		}
	}
	q := newQueue(ctx, out)
	defer q.close()
	err := t.EachINode(ctx, o.workers, func(worker int, b *namespace.EntryBatch) error {
		err := cli.Guard(func() error { return writers[worker].format(b, o.of.Value == "directories") })
		done, err := q.put(b.Seq, &writers[worker], err)
		bar.Update("writing", done, im.BytesRead()-before, sec.Length)
		return err
	})
	if first := q.err(); first != nil && err != nil {
		return first
	}
	return err
}

// rowWriter is what one worker needs to format a batch.
type rowWriter struct {
	rows *reports.Rows
	buf  []byte
	n    int64
}

func (w *rowWriter) format(b *namespace.EntryBatch, directories bool) error {
	w.buf, w.n = w.buf[:0], 0
	return b.Each(func(e *namespace.Entry) error {
		w.n++
		if !directories {
			w.buf = w.rows.INode(w.buf, e)
		} else if e.Dir != namespace.NoDir {
			w.buf = w.rows.Directory(w.buf, e)
		}
		return nil
	})
}

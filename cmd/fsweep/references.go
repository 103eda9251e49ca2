package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fsweep/analyze/flink"
	"fsweep/cmd/internal/cli"
	"fsweep/proto/flinkmeta"
	"fsweep/reports"
)

type referencesOptions struct {
	format cli.Choice
	output string
}

func newReferences(env *cli.Env) *cobra.Command {
	o := referencesOptions{format: cli.Choice{Value: "text"}}
	cmd := &cobra.Command{
		Use:   "references FILE…",
		Short: "List what Flink's checkpoints and savepoints refer to",
		Long: `references lists every file and directory that a Flink checkpoint or savepoint
refers to. A FILE is a _metadata file, or a completedCheckpoint* file of Flink's
high availability; which of them, its contents tell. A folder stands for all of
them below it, - for standard input. Flink 1.3 to 2.3 are understood.

For each file the directories referred to are summed up, and marked where they
are OUTSIDE the file's own run: a run restored with CLAIM or LEGACY goes on using
files of older runs, and these must stay. The own run is the directory that holds
the checkpoint's chk-N according to the references, else the folder above chk-N, or
the savepoint's own folder; so keep files in JOB/RUN/chk-N/ when you copy them. The
path that is taken as its directory is shown. Where it is not clear, nothing is marked.

What is referred to is not looked for. A relative path of a checkpoint means a file
beside the _metadata file, or, after CLAIM or LEGACY from a native savepoint, one
that is still in the savepoint (FLINK-39964): nothing in the file tells which.

A file that cannot be decoded to its exact end is an error that says where; what
was found in it until then, and all else, is still listed. In a folder, symlinks to
files are followed; one to a folder is an error, unless that is searched as well.` + referencesStatus,
		Example: `  run=8413978720d4030c5d631f3b2b9c30d4; mkdir -p job/$run/chk-8
  hdfs dfs -get /flink/checkpoints/job/$run/chk-8/_metadata job/$run/chk-8/
  fsweep references job/$run
  fsweep references --format ndjson checkpoints ha | jq -r .path | sort -u
  hdfs dfs -cat /flink/savepoints/savepoint-841397-5db0a0bd8d6e/_metadata | fsweep references -`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return cli.Usage(cmd, errors.New("no file given"))
			case slices.Contains(args, ""): // an unset variable of a script, most likely
				return cli.Usage(cmd, errors.New("a file without a name"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	flags := cmd.Flags()
	cli.AddChoice(flags, &o.format, "format", "form of the list", "text", "json", "ndjson")
	cli.AddOutput(flags, &o.output)
	flags.Lookup("output").Usage = "`file` to write, also if some FILE is damaged; - is standard output"
	return cmd
}

// referencesStatus ends the help instead of exitStatus.
const referencesStatus = `

EXIT STATUS
  0    done
  2    bad input: the command line; or a file that cannot be decoded or read, or a
       folder that cannot be read, has no such file, or is skipped as a symlink.
       All of them are named, and the rest is written: an output file appears all
       the same
  5    an output could not be written, or there is not enough memory
  70   a bug in fsweep
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away, as in "fsweep … | head"
When it is neither 0 nor 2, no output file appears and an existing one stays as it
was; nor when the command line is wrong.`

func (o *referencesOptions) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := cli.CheckOutput(env, o.output); err != nil {
		return err
	}
	f := finder{env: env, seen: map[string]bool{}}
	if err := f.find(ctx, args); err != nil {
		return err
	}
	inputs := make([]string, len(f.files))
	for i, file := range f.files {
		inputs[i] = file.input()
	}
	out, err := env.Create(ctx, o.output, cli.OutputOptions{Inputs: inputs})
	if err != nil {
		return err
	}
	defer out.Abort()
	format := referencesFormat(o.format.Value)
	l := lister{env: env, w: reports.NewReferences(out, format)}
	if format != reports.ReferencesNDJSON {
		l.twins = newTwins()
	}
	for _, file := range f.files {
		if err := l.list(ctx, file); err != nil {
			return err
		}
	}
	if err := l.w.Close(l.failed+f.failed == 0); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if l.twins != nil {
		l.twins.warn(env)
	}
	return l.failure(len(f.files), f.failed)
}

func referencesFormat(name string) reports.ReferencesFormat {
	switch name {
	case "json":
		return reports.ReferencesJSON
	case "ndjson":
		return reports.ReferencesNDJSON
	}
	return reports.ReferencesText
}

// lister writes one file after the other and counts those that failed.
type lister struct {
	env    *cli.Env
	w      *reports.References
	twins  *twins // nil: nothing but references is asked for
	failed int
	// of what kind, for the hints
	truncated, unknown, unsupported bool
}

// list gives an error only if it makes no sense to go on.
func (l *lister) list(ctx context.Context, file metadataFile) error {
	l.w.Begin(file.name, file.place)
	m := &flink.Metadata{}
	r, err := file.open()
	if err == nil {
		m, err = l.read(&contextReader{ctx, r}, file)
		_ = r.Close() // was only read
	}
	if _, isOutput := errors.AsType[*cli.OutputError](err); isOutput || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if err != nil {
		l.failed++
		l.truncated = l.truncated || errors.Is(err, flinkmeta.ErrTruncated)
		l.unknown = l.unknown || errors.Is(err, flinkmeta.ErrNotMetadata)
		l.unsupported = l.unsupported || errors.Is(err, flinkmeta.ErrUnsupported)
		err = withoutPath(err)
		l.env.Error(named(file.name, err))
	}
	return l.w.End(m, err)
}

// read reads a file and writes its references.
func (l *lister) read(r io.Reader, file metadataFile) (*flink.Metadata, error) {
	if l.twins == nil {
		return flink.List(r, l.w.Ref)
	}
	m, err := flink.Read(r, file.location, func(ref *flink.Ref) error {
		l.twins.ref(ref)
		return l.w.Ref(ref)
	})
	l.twins.end(file.name, m)
	return m, err
}

// failure is the error at the end, after all that could be written is.
func (l *lister) failure(files, notFound int) error {
	var parts []string
	if l.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d files could not be decoded", l.failed, files))
	}
	if notFound > 0 {
		parts = append(parts, fmt.Sprintf("files or folders that could not be read: %d", notFound))
	}
	if len(parts) == 0 {
		return nil
	}
	err := errors.New(strings.Join(parts, "; "))
	if l.truncated {
		err = cli.WithHint(err, "truncated: compare the size with that in HDFS and copy the file again")
	}
	if l.unknown {
		err = cli.WithHint(err, "Flink's files are called _metadata, in chk-N or a savepoint, and completedCheckpoint*, in the high availability directory")
	}
	if l.unsupported {
		err = cli.WithHint(err, "unsupported: a newer Flink may have written it; remove nothing that it could refer to")
	}
	return err
}

// withoutPath drops the name that the system's error has; it is said already.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/cmd/internal/imagedir"
	"fsweep/execute"
	"fsweep/execute/fetch"
	"fsweep/execute/hdfs"
)

type fetchOptions struct {
	clusterOptions
	dir        string
	fromActive bool
	rate       byteRate
	keep       int
	tries      int
	format     cli.Choice
}

// fetchExitStatus says what the codes mean of a fetch.
const fetchExitStatus = `

EXIT STATUS
  0    the newest image is in DIR, whether it was fetched now or before
  2    bad input: the command line or the Hadoop configuration
  3    refused, nothing was fetched: only the ACTIVE NameNode has an image, and
       --from-active is not given; DIR has another file of that name, a newer image, or
       those of another cluster; another fetch is writing to it
  4    the image is in DIR, but no NameNode tells when it was saved, so there is no
       .fetched.json beside it
  5    no NameNode gave an image; it could not be written; there is not enough memory
  70   a bug in fsweep-exec
  130  interrupted by SIGINT, SIGTERM or SIGHUP
  141  the reader of the output went away
With all but 0 and 4 there is no new image in DIR, and nothing half-written.`

const (
	usualRate  = 50_000_000 // bytes a second
	usualTries = 3
	maxTries   = 100
	firstPause = 5 * time.Second
)

func newFetch(env *cli.Env) *cobra.Command {
	o := fetchOptions{rate: usualRate, format: cli.Choice{Value: "text"}}
	cmd := &cobra.Command{
		Use:   "fetch DIR",
		Short: "Fetch the newest image from a NameNode",
		Long: `fetch writes the newest image of the nameservice into DIR, by HTTP or HTTPS, as
dfs.http.policy says: fsimage_N, with fsimage_N.md5 as Hadoop writes it and
fsimage_N.fetched.json, which says when the image was saved, of which cluster it is and
where it is from. fsweep reads both. The MD5 is verified, and the image has its name only when
all of it is on the disk. What is in DIR is never overwritten; if it has the newest image
already, nothing is fetched. The output is the path of the image.

A standby is asked, or an observer: of those the one whose image is the newest. The ACTIVE NameNode
is asked only with --from-active, as it has to be where there is no other. An image is
as old as the last checkpoint.` + fetchExitStatus,
		Example: `  fsweep-exec fetch /var/lib/fsweep/images --keep 3
  fsweep report "$(fsweep-exec fetch /var/lib/fsweep/images)"
  fsweep-exec fetch --from-active --rate 20MB /var/lib/fsweep/images`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return cli.Usage(cmd, errors.New("fetch needs one directory"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = args[0]
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), env)
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.BoolVar(&o.fromActive, "from-active", false, "also ask the ACTIVE NameNode")
	flags.Var(&o.rate, "rate", "how many `bytes` a second, as 50MB or 20MiB; 0: as fast as they come")
	flags.IntVar(&o.keep, "keep", 0, "how many images stay in DIR of those that were fetched of this nameservice; older ones are removed; 0: all")
	flags.IntVar(&o.tries, "tries", usualTries, "how often to ask before giving up")
	cli.AddChoice(flags, &o.format, "format", "form of the answer", "text", "json")
	return cmd
}

// byteRate is bytes a second.
type byteRate int64

// String implements pflag.Value.
func (r *byteRate) String() string {
	if *r == usualRate {
		return "50MB"
	}
	return fmt.Sprint(int64(*r))
}

// Set implements pflag.Value.
func (r *byteRate) Set(s string) error {
	n, err := humanize.ParseBytes(strings.TrimSuffix(s, "/s"))
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("%q is no number of bytes, as 50MB", s)
	}
	*r = byteRate(n)
	return nil
}

// Type implements pflag.Value.
func (*byteRate) Type() string { return "bytes" }

func (o *fetchOptions) validate(cmd *cobra.Command) error {
	switch {
	case o.keep < 0:
		return cli.Usage(cmd, fmt.Errorf("--keep %d: must be 0 or more", o.keep))
	case o.tries < 1 || o.tries > maxTries:
		return cli.Usage(cmd, fmt.Errorf("--tries %d: must be 1 to %d", o.tries, maxTries))
	}
	return o.clusterOptions.validate(cmd)
}

func (o *fetchOptions) run(ctx context.Context, env *cli.Env) error {
	c, err := o.open("")
	if err != nil {
		return err
	}
	defer c.close()
	dir, err := imagedir.Open(o.dir)
	if err != nil {
		return storeError(o.dir, err)
	}
	defer dir.Close()
	out, err := env.Create(ctx, "-", cli.OutputOptions{})
	if err != nil {
		return err
	}
	defer out.Abort()
	env.Finish() // what is half-written is removed before the end
	s := &store{dir: dir, nameservice: c.ns.Name, name: o.dir}
	bar := env.Progress()
	defer bar.Stop()
	got, err := fetch.Newest(ctx, hdfs.NewImages(c.client), fetch.Options{
		FromActive: o.fromActive, BytesPerSecond: int64(o.rate), Tries: o.tries, Pause: firstPause, Begin: s.begin,
		Progress: func(name string, done, total int64) { bar.Update(name, cli.NoInodes, done, total) },
		Note:     func(sentence string) { env.Note("%s", sentence) },
		Clock:    wallClock{},
	})
	bar.Stop()
	if err != nil {
		return fetchError(err)
	}
	var removed []string
	if o.keep > 0 {
		if removed, err = dir.Prune(o.keep, s.of(got)); err != nil {
			return storeError(o.dir, err)
		}
	}
	if err := s.show(out, got, removed, o.format.Value == "json"); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	return o.verdict(env, s, got, time.Now())
}

// old is the age of an image at which the checkpoints are worth a look: they are made every hour.
const old = 24 * time.Hour

// verdict says what is missing of an image that is there.
func (o *fetchOptions) verdict(env *cli.Env, s *store, got *fetch.Fetched, now time.Time) error {
	if o.keep > 0 && got.From.ClusterID == "" {
		env.Warn("--keep: no NameNode tells its cluster id, so nothing was removed: of which cluster older images are is not known")
	}
	if side := s.dir.Sidecar(got.Name); side != nil {
		if age := now.Sub(time.UnixMilli(side.ImageTimeMs)).Round(time.Minute); age > old {
			env.Warn("%s is the newest image and %s old: are checkpoints made?", got.Name, age)
		}
		return nil
	}
	err := errors.New("nothing in the directory tells when it was saved: there is no .fetched.json beside it")
	if got.Unknown != nil {
		err = fmt.Errorf("no NameNode tells when it was saved: %w", got.Unknown)
	}
	return cli.WithHint(&cli.IncompleteError{Err: fmt.Errorf("%s is complete and verified, but %w", got.Name, err)},
		"fsweep plan takes a guess, and --image-time says better; the user needs access to /jmx of the NameNode")
}

// fetchError gives an error its exit code and advice.
func fetchError(err error) error {
	if stored, ok := errors.AsType[*storedError](err); ok {
		return stored.Err
	}
	if _, ok := errors.AsType[*fetch.SparedError](err); ok {
		return cli.WithHint(&cli.RefusedError{Err: err},
			"--from-active fetches from it; sending an image costs disk and network, and --rate bounds that")
	}
	none, ok := errors.AsType[*fetch.NoServerError](err)
	if !ok {
		return err // that of ctx
	}
	failed := error(&cli.FailedError{Err: err})
	if none.Spared() {
		failed = cli.WithHint(failed, "--from-active also asks the ACTIVE NameNode, and those of which nobody knows what they are")
	}
	seen := map[execute.ImageFault]bool{}
	for _, e := range none.Unwrap() {
		fault, ok := errors.AsType[*execute.ImageError](e)
		if !ok || seen[fault.Fault] {
			continue
		}
		seen[fault.Fault] = true
		if advice := faultAdvice[fault.Fault]; advice != "" {
			failed = cli.WithHint(failed, "%s", advice)
		}
	}
	return failed
}

// faultAdvice says what can be done.
var faultAdvice = map[execute.ImageFault]string{
	execute.ImageRefused:    "images are for NameNodes and administrators: on a cluster with Kerberos the user must be in dfs.cluster.administrators or be the NameNode's own principal",
	execute.ImageNotServed:  "is dfs.namenode.http-address (or https-address) that of the NameNode, and not of a proxy or another service?",
	execute.ImageRedirected: "dfs.http.policy and dfs.namenode.http-address or https-address must be those of the NameNode itself",
	execute.ImageUntrusted:  "--ca names a file with the certificate (PEM) that the server's comes from; the Java truststore of ssl-client.xml is not read",
	execute.ImageUnclear:    "does dfs.http.policy say what the NameNode speaks, and is dfs.namenode.http-address (or https-address) its address?",
	execute.ImageUnverified: "the NameNode has no .md5 file beside its image; `hdfs dfsadmin -saveNamespace` (in safe mode) or the next checkpoint writes both",
	execute.ImageEmpty:      "wait for the first checkpoint, or have it made: `hdfs dfsadmin -saveNamespace` in safe mode",
}

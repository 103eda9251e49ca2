package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
	"fsweep/execute/journalfile"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

type whereOptions struct {
	clusterOptions
	journalDir string
	format     cli.Choice
}

func newWhere(env *cli.Env) *cobra.Command {
	o := whereOptions{format: cli.Choice{Value: "text"}}
	cmd := &cobra.Command{
		Use:   "where PATH --journal-dir DIR",
		Short: "Tell which run moved a path, where it is, and when it is purged",
		Long: `where looks into all journals of a directory for what was moved that is, holds or lies
below a path, and asks the cluster where it is now. It changes nothing.` + exitStatus,
		Example: `  fsweep-exec where /flink/checkpoints/orders --journal-dir /var/lib/fsweep`,
		Args:    oneArgument("a path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.journalDir == "" {
				return cli.Usage(cmd, errors.New("where needs --journal-dir"))
			}
			at, err := typedTree(args[0])
			if err != nil {
				return cli.Usage(cmd, fmt.Errorf("%q: %w", args[0], err))
			}
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, at)
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.StringVar(&o.journalDir, "journal-dir", "", "`directory` of journals")
	cli.AddChoice(flags, &o.format, "format", "form of the answer", "text", "json")
	return cmd
}

func (o *whereOptions) run(ctx context.Context, env *cli.Env, at planfile.Path) error {
	dir, err := journalfile.OpenDir(o.journalDir)
	if err != nil {
		return err
	}
	names, err := dir.Names()
	if err != nil {
		return err
	}
	l := lookup{o: o, clusters: map[string]*cluster{}}
	defer l.close()
	for _, name := range names {
		if err := l.journal(ctx, filepath.Join(dir.Path(), name), at); err != nil {
			return err
		}
	}
	out, err := env.Create(ctx, "", cli.OutputOptions{})
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	if err := o.show(b, l.found); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	return l.outcome(o.journalDir, at)
}

// lookup is what where found in several journals. One that cannot be read, and a cluster that
// cannot be asked, do not hide what the others tell.
type lookup struct {
	o        *whereOptions
	clusters map[string]*cluster // by nameservice; nil: could not be asked
	found    []act.Whereabouts
	unread   []error // journals
	unasked  []error // clusters
}

func (l *lookup) close() {
	for _, c := range l.clusters {
		if c != nil {
			c.close()
		}
	}
}

// journal looks into one journal and asks the cluster that it is of. With --nameservice those
// of others are left out. The error is that of ctx.
func (l *lookup) journal(ctx context.Context, name string, at planfile.Path) error {
	f, err := journalfile.Open(name)
	if errors.Is(err, journal.ErrNotBegun) {
		return nil // so nothing was done
	}
	if err != nil {
		l.unread = append(l.unread, err)
		return nil
	}
	defer f.Close()
	ns := f.Header().Nameservice
	c, known := l.clusters[ns]
	if !known {
		if c, err = l.o.open(ns); err != nil {
			l.unasked = append(l.unasked, fmt.Errorf("%s: %w", filepath.Base(name), err))
		}
		l.clusters[ns] = c
	}
	if c == nil || l.o.nameservice != "" && c.same(ns, "the journal") != nil {
		return nil
	}
	list, err := act.Where(ctx, &act.Params{Look: c, Clock: wallClock{}}, f.Reader, filepath.Base(name), at)
	if ctx.Err() != nil {
		return err
	}
	l.found = append(l.found, list...)
	if err != nil {
		l.unasked = append(l.unasked, fmt.Errorf("%s: %w", filepath.Base(name), err))
		l.clusters[ns] = nil
		c.close()
	}
	return nil
}

// outcome is what the exit code says.
func (l *lookup) outcome(dir string, at planfile.Path) error {
	errs := slices.Concat(l.unread, l.unasked)
	switch {
	case len(l.unasked) > 0:
		return &cli.FailedError{Err: errors.Join(errs...)}
	case len(l.unread) > 0:
		return &cli.IncompleteError{Err: fmt.Errorf("what these journals moved is not known (%d): %w", len(errs), errors.Join(errs...))}
	case len(l.found) == 0:
		err := &cli.IncompleteError{Err: fmt.Errorf("no journal in %q moved %q, or anything in it", dir, string(at))}
		if hint := escapedHint(at); hint != "" {
			return cli.WithHint(err, "%s", hint)
		}
		return err
	}
	return nil
}

func (o *whereOptions) show(w io.Writer, found []act.Whereabouts) error {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.UTC().Format(time.RFC3339)
	}
	if o.format.Value == "json" {
		list := []map[string]any{}
		for _, f := range found {
			list = append(list, map[string]any{
				"journal": f.Journal, "from": escaped(f.From), "inode_id": f.InodeID, "moved_at": stamp(f.At), "to": escaped(f.To),
				"state": f.State, "path": escaped(f.Path), "purged_from": stamp(f.PurgedFrom), "purged_until": stamp(f.PurgedUntil),
			})
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(list)
	}
	for _, f := range found {
		now := escaped(f.Path)
		if now == "" {
			now = "-"
		}
		if _, err := fmt.Fprintf(w, "%s\n  inode      %d\n  moved      %s to %s\n  journal    %s\n  state      %v\n  now        %s\n  purged     %s to %s\n",
			escaped(f.From), f.InodeID, stamp(f.At), escaped(f.To), escaped(f.Journal), f.State, now, stamp(f.PurgedFrom), stamp(f.PurgedUntil)); err != nil {
			return err
		}
	}
	return nil
}

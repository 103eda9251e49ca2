package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
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
			if err := planfile.Path(args[0]).Clean(); err != nil {
				return cli.Usage(cmd, fmt.Errorf("%q: %w", args[0], err))
			}
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, planfile.Path(args[0]))
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
	var c *cluster
	defer func() {
		if c != nil {
			c.close()
		}
	}()
	var found []act.Whereabouts
	for _, name := range names {
		list, err := o.lookup(ctx, &c, filepath.Join(dir.Path(), name), at)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, list...)
	}
	out, err := env.Create(ctx, "", cli.OutputOptions{})
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	if err := o.show(b, found); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if len(found) == 0 {
		return &cli.IncompleteError{Err: fmt.Errorf("no journal in %q moved %q, or anything in it", o.journalDir, string(at))}
	}
	return nil
}

// lookup looks into one journal; the first one says which cluster to ask.
func (o *whereOptions) lookup(ctx context.Context, c **cluster, name string, at planfile.Path) ([]act.Whereabouts, error) {
	f, err := journalfile.Open(name)
	if errors.Is(err, journal.ErrNotBegun) { // so nothing was done
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := f.Header()
	if *c == nil {
		if *c, err = o.open(h.Nameservice); err != nil {
			return nil, err
		}
	}
	if err := (*c).same(h.Nameservice, "the journal"); err != nil {
		return nil, err
	}
	p := &act.Params{Look: *c, Clock: wallClock{}}
	list, err := act.Where(ctx, p, f.Reader, filepath.Base(name), at)
	if err != nil {
		return nil, &cli.FailedError{Err: err}
	}
	return list, nil
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

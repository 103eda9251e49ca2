package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fsweep/analyze"
	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/analyze/plan"
	"fsweep/cmd/internal/cli"
	"fsweep/proto/pathtext"
)

// ruling is what a policy says of an image.
type ruling struct {
	in     *inputs
	im     *image
	from   *origin
	source analyze.Source // of the image

	tree      *namespace.Tree
	collector *plan.Collector
	survey    *flink.Survey
	decider   *cleanup.Decider
	decision  *cleanup.Decision // of a plan, of roots alone
	refused   []string          // why no plan would be made, or an empty one; of explain
}

// close gives up temporary files.
func (c *ruling) close() {
	if c.survey != nil {
		c.survey.Close()
	}
}

func (o *cleanupOptions) newRuling(im *image, in *inputs) (*ruling, error) {
	from, err := o.readOrigin(im, in)
	if err != nil {
		return nil, err
	}
	return &ruling{in: in, im: im, from: from}, nil
}

// load reads the image, and finds out when it was saved.
func (c *ruling) load(ctx context.Context, o *cleanupOptions, bar *cli.Progress) error {
	t, err := namespace.Load(ctx, c.im.Image, namespace.Options{Workers: o.workers, Progress: show(bar)})
	if err != nil {
		return err
	}
	planGarbage(t.NumINodes())
	c.tree, c.source = t, analyze.NewSource(c.im.name, c.im.Image, t)
	if err := c.from.sameTxID(c.source.Txid); err != nil {
		return err
	}
	return c.dated(o.now.Time)
}

// decide looks at the roots and decides. Whether the image is too old was asked
// before, if its time was known; here it is known in any case.
func (c *ruling) decide(ctx context.Context, o *cleanupOptions, bar *cli.Progress) error {
	if err := c.load(ctx, o, bar); err != nil {
		return err
	}
	if err := c.checkTimes(o.now.Time); err != nil {
		return err
	}
	return c.rule(ctx, o.workers)
}

// rule looks at the roots, and decides about them. What is in them is decided when a plan
// is written, or paths are asked about.
func (c *ruling) rule(ctx context.Context, workers int) (err error) {
	c.collector = plan.NewCollector(c.tree, c.in.policy)
	if c.survey, err = flink.Look(ctx, c.tree, cleanup.Declarations(c.in.policy), c.collector.Options(workers)); err != nil {
		return tempHint(err)
	}
	if c.decider, err = cleanup.NewDecider(ctx, c.survey, c.in.policy, c.in.given); err != nil {
		return tempHint(err)
	}
	c.decision = c.decider.Decision()
	c.unsure()
	if d := c.from.doubts(c.tree.NewestMs()); d != "" {
		c.warn("%s", d)
	}
	pins, err := missingPins(ctx, c.tree, c.survey, workers, c.in.given.Pins)
	c.in.warnings = append(c.in.warnings, pins...)
	if err != nil {
		return err
	}
	for _, f := range c.tree.Findings() {
		c.warn("finding %s (%d): %s", f.Code, f.Count, f.Message)
	}
	if f, ok := analyze.NameFinding(c.im.name, c.source.Txid); ok {
		c.warn("finding %s: %s", f.Code, f.Message)
	}
	return nil
}

func (c *ruling) warn(format string, args ...any) {
	c.in.warnings = append(c.in.warnings, fmt.Sprintf(format, args...))
}

// notFound gives a sentence for each root of which names do not exist.
func (c *ruling) notFound() []string {
	var out []string
	for _, r := range c.survey.Roots {
		for _, m := range r.Misfits {
			if m.Reason == flink.ExcludedNotFound || m.Reason == flink.SelectedNotFound {
				out = append(out, fmt.Sprintf("%s, in %s", m.Detail, pathtext.Append(nil, r.Path)))
			}
		}
	}
	return out
}

// outcome is what the exit code says of a plan that was made; nil if all roots are in it.
func (c *ruling) outcome() error {
	var stopped []string
	for _, r := range c.decision.Roots {
		if len(r.Stopped) > 0 {
			stopped = append(stopped, fmt.Sprintf("%s (%s)", pathtext.Append(nil, string(r.Policy.Path)), stopText(r.Stopped[0])))
		}
	}
	if names := c.notFound(); len(names) > 0 {
		return cli.WithHint(&cli.RefusedError{Err: errors.New(strings.Join(names, "; "))},
			"names under exclude_jobs, jobs, --exclude-job and --job are exact and of the first level; every selected root must have them (--root selects)")
	}
	switch n, all := len(stopped), len(c.decision.Roots); {
	case n == 0:
		return nil
	case n == all && all == 1:
		return &cli.RefusedError{Err: fmt.Errorf("the root is stopped, nothing is planned: %s", list(stopped))}
	case n == all:
		return &cli.RefusedError{Err: fmt.Errorf("all %d roots stopped, nothing is planned: %s", all, list(stopped))}
	default:
		return &cli.IncompleteError{Err: fmt.Errorf("%d of %d roots stopped, nothing in them is planned: %s", n, all, list(stopped))}
	}
}

// stopText says in short why a root is stopped.
func stopText(f cleanup.Fact) string {
	if f.Rule == cleanup.Misfits {
		return fmt.Sprintf("misfits: %d, the first is %s, %s", f.N, pathtext.Append(nil, string(f.Path)), f.Text)
	}
	return string(f.Rule)
}

// list shows the first few.
func list(all []string) string {
	const few = 10
	if len(all) > few {
		all = append(slices.Clone(all[:few]), fmt.Sprintf("and %d more", len(all)-few))
	}
	return strings.Join(all, ", ")
}

// pinWarnings gives warnings for pins that the image does not have.
func pinWarnings(missing []cleanup.Path) []string {
	const few = 20
	var out []string
	for _, p := range missing[:min(len(missing), few)] {
		out = append(out, fmt.Sprintf("the pinned path %s is not in the image", pathtext.Append(nil, string(p))))
	}
	if n := len(missing) - few; n > 0 {
		out = append(out, fmt.Sprintf("%d more pinned paths are not in the image", n))
	}
	return out
}

// write writes the plan to w. The result has to be closed.
func (c *ruling) write(ctx context.Context, w io.Writer, o *planOptions, bar *cli.Progress) (*plan.Result, error) {
	if err := c.im.verified(ctx); err != nil {
		return nil, err
	}
	c.im.describe(&c.source)
	if !c.source.Verified {
		c.warn("the image was not verified: %s", c.source.VerifiedReason)
	}
	result, err := plan.Write(ctx, w, &plan.Request{
		Tree: c.tree, Collector: c.collector, Survey: c.survey, Decider: c.decider, Policy: c.in.policy, Inputs: c.in.given,
		Source: sourceOf(&c.source, c.from), Tool: "fsweep", Version: cli.ModuleVersion(), PolicyName: c.in.planPolicy().Name,
		Live: c.in.live, Pins: c.in.pins, Warnings: c.in.warnings, Contents: o.listContents, Workers: o.workers, Progress: show(bar),
	})
	if errors.Is(err, plan.ErrNotFound) {
		return nil, cli.WithHint(&cli.RefusedError{Err: err}, "a path that is written wrong protects nothing; mend it, or take it out of the policy")
	}
	return result, tempHint(err)
}

// tempHint says of an error about a temporary file what it is for.
func tempHint(err error) error {
	if temp, ok := errors.AsType[*plan.TempError](err); ok {
		return cli.WithHint(&cli.OutputError{Name: "a temporary file in " + temp.Dir, Err: temp.Err},
			"what does not fit in memory is sorted there; TMPDIR names another directory")
	}
	return err
}

package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/analyze/plan"
	"fsweep/cmd/internal/cli"
	"fsweep/proto/planfile"
	view "fsweep/reports/cleanup"
)

// show writes what people, or programs, read about a plan.
func (o *planOptions) show(ctx context.Context, env *cli.Env, c *ruling, result *plan.Result, files *planFiles) error {
	src := &planSource{
		decision: c.decision, header: result.Header, footer: result.Footer, quotas: result.Quotas, digest: result.Digest,
		file: files.name, entries: newEntries(ctx, result), contents: o.listContents,
	}
	v := planView(src)
	// The plan itself has nothing that another run would not find again.
	v.Header.Warnings = slices.Concat(v.Header.Warnings, c.in.remarks)
	if files.toStdout() {
		v.File = "PLAN" // whoever reads it knows where it goes
	}
	write := func(w io.Writer) error {
		b := bufio.NewWriter(w)
		var err error
		if o.format.Value == "json" {
			err = view.JSON(b, v)
		} else {
			err = view.Text(b, v, view.TextOptions{MaxListLines: o.maxListLines, ListContents: o.listContents})
		}
		if err = cmp.Or(tempHint(src.entries.err), tempHint(src.err), err); err != nil {
			return err
		}
		return b.Flush()
	}
	if files.toStdout() {
		return write(stderrWriter{env})
	}
	out, err := env.Create(ctx, "-", cli.OutputOptions{})
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

// sweepView is what became of the files of a sweep.
func sweepView(w *plan.Swept) view.Sweep {
	files := func(t plan.FileTotals) view.Files { return view.Files{Files: t.Files, Bytes: t.Bytes} }
	return view.Sweep{
		Path: planfile.Path(w.Path), InodeID: w.INodeID, Rule: string(w.Rule),
		Planned: files(w.Planned), Deferred: files(w.Deferred), Kept: files(w.PassedOver), Freed: w.Freed,
	}
}

// answer writes what people, or programs, read about paths.
func (o *explainOptions) answer(ctx context.Context, c *ruling, answers *plan.Answers, places []place, out io.Writer) error {
	src := &explainSource{
		ctx: ctx, tree: c.tree, survey: c.survey, answers: answers, decision: c.decision, policy: c.in.policy, jobMaps: c.in.given.JobMaps, now: c.in.now,
	}
	all := &view.Explanations{Source: sourceOf(&c.source, c.from), Policy: c.in.planPolicy(), NowMs: c.in.now.UnixMilli(), Refused: c.refused}
	for i := range places {
		p := &places[i]
		t := explainTarget{path: p.path, exists: p.exists(), inodeID: p.inodeID, file: p.file, atimeMs: p.atimeMs}
		if p.dir != namespace.NoDir {
			t.inodeID = c.tree.ID(p.dir)
		}
		x, err := explainView(src, answers.Asked[i], t)
		if err != nil {
			return tempHint(err)
		}
		all.Paths = append(all.Paths, x)
	}
	b := bufio.NewWriter(out)
	write := view.ExplainText
	if o.format.Value == "json" {
		write = view.ExplainJSON
	}
	err := write(b, all)
	if err = cmp.Or(tempHint(src.err), err); err != nil {
		return err
	}
	return b.Flush()
}

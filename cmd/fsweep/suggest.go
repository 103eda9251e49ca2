package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fsweep/analyze"
	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/cmd/internal/cli"
	"fsweep/reports"
)

// runSuggest lists what could be declared in a policy.
func (o *planOptions) runSuggest(ctx context.Context, env *cli.Env, name string) error {
	o.output = "-"
	return o.write(ctx, env, name, func(ctx context.Context, im *image, out *cli.Output, bar *cli.Progress) error {
		t, err := namespace.Load(ctx, im.Image, namespace.Options{Workers: o.workers, Progress: show(bar)})
		if err != nil {
			return err
		}
		trees, err := flink.Suggest(ctx, t, flink.Options{Workers: o.workers})
		if err != nil {
			return tempHint(err)
		}
		if err := im.verified(ctx); err != nil {
			return err
		}
		s := &reports.Suggestions{Source: analyze.NewSource(name, im.Image, t), Findings: t.Findings(), Trees: trees, Policy: suggestPolicy(trees)}
		im.describe(&s.Source)
		im.date(env, &s.Source)
		bar.Stop()
		if o.format.Value == "json" {
			return reports.SuggestionsJSON(out, s)
		}
		return reports.SuggestionsText(out, s)
	})
}

// maxSuggested is how many roots a suggested policy has: more than a person wants to
// go through, and few enough to be checked one by one. maxTried bounds the checks.
const (
	maxSuggested = 50
	maxTried     = 200
)

// sketch is a policy in the making. Whatever it holds is a policy that is accepted.
type sketch struct {
	roots   []sketchedRoot
	left    []string // why trees are not in it
	tried   int
	further int // trees beyond the limits
}

type sketchedRoot struct {
	path    cleanup.Path
	layout  flink.Layout
	exclude []string
}

// suggestPolicy gives a policy for the trees, every line a comment.
func suggestPolicy(trees []flink.Suggestion) string {
	var s sketch
	for i := range trees {
		s.add(&trees[i])
	}
	if len(trees) == 0 {
		return "# # Nothing looks like a root of Flink.\n"
	}
	var b strings.Builder
	for line := range strings.Lines(s.text()) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	return b.String()
}

// add takes a tree in, unless no policy can have it.
func (s *sketch) add(x *flink.Suggestion) {
	if s.tried++; len(s.roots) >= maxSuggested || s.tried > maxTried {
		s.further++
		return
	}
	path := reports.Escape(string(x.Path))
	if !utf8.Valid(x.Path) {
		s.left = append(s.left, path+": a name that is not UTF-8 cannot be written in a policy")
		return
	}
	if x.Units == 0 {
		s.left = append(s.left, path+": only results of jobs are there")
		return
	}
	more := sketch{left: s.left, tried: s.tried}
	for _, r := range s.roots {
		r.exclude = append([]string(nil), r.exclude...)
		if name, inside := strings.CutPrefix(string(x.Path), string(r.path)+"/"); inside {
			first, _, _ := strings.Cut(name, "/")
			r.exclude = append(r.exclude, first)
		}
		more.roots = append(more.roots, r)
	}
	more.roots = append(more.roots, sketchedRoot{path: cleanup.Path(x.Path), layout: x.Layout})
	if why := more.refused(); why != "" {
		s.left = append(s.left, path+": "+why)
		return
	}
	*s = more
}

// refused tells why this is no policy.
func (s *sketch) refused() string {
	p, err := cleanup.ParsePolicy("", []byte(s.text()))
	if err != nil {
		if list, ok := errors.AsType[*cleanup.PolicyError](err); ok && len(list.Problems) > 0 {
			// It may have the path as it is; ␦ is what excerpts have for what cannot be seen.
			return strings.Map(func(r rune) rune {
				if unicode.IsPrint(r) {
					return r
				}
				return '␦'
			}, list.Problems[0].Message)
		}
		return err.Error()
	}
	for i := range p.Roots {
		if p.Roots[i].Path != s.roots[i].path {
			return "its name would be read as another one"
		}
	}
	return ""
}

func (s *sketch) text() string {
	var b strings.Builder
	if len(s.roots) > 0 {
		s.head(&b)
	}
	for _, r := range s.roots {
		r.write(&b)
	}
	for _, why := range s.left {
		b.WriteString("# left out: " + why + "\n")
	}
	if s.further > 0 {
		fmt.Fprintf(&b, "# left out: %d more trees\n", s.further)
	}
	return b.String()
}

func (s *sketch) head(b *strings.Builder) {
	b.WriteString("version: 1\n")
	b.WriteString("nameservice: nameservice1       # write the cluster's own\n")
	b.WriteString("lock_dir: /ops/fsweep           # in HDFS, shared by all operators, outside of all roots\n")
	if s.needsLive() {
		b.WriteString("live:                           # what exists, in any state; nothing is planned without it\n" +
			"  - file: flink-k8s.json        # kubectl get flinkdeployments,flinksessionjobs,flinkstatesnapshots,configmaps -A -o json\n" +
			"    format: kubernetes\n")
	}
	b.WriteString("roots:\n")
}

func (s *sketch) needsLive() bool {
	for _, r := range s.roots {
		if r.layout == flink.RunLayout || r.layout == flink.HAStorage {
			return true
		}
	}
	return false
}

func (r *sketchedRoot) write(b *strings.Builder) {
	b.WriteString("  - path: " + yamlText(string(r.path)) + "\n    layout: " + r.layout.String() + "\n" +
		"    mode: observe               # execute, after you have read for a while what it lists\n")
	switch r.layout {
	case flink.JobRun:
		b.WriteString("    keep: 1                     # newest runs of each job\n")
		b.WriteString("    keep_within: 168h           # at least the retention of the jobs' sources\n")
		b.WriteString("    min_age: 144h\n")
	case flink.RunLayout:
		b.WriteString("    min_age: 144h\n")
	case flink.Savepoints:
		b.WriteString("    keep: 2                     # newest savepoints of each job\n")
		b.WriteString("    keep_within: 168h           # at least the retention of the jobs' sources\n")
		b.WriteString("    min_age: 168h\n")
	default:
		b.WriteString("    min_age: 168h\n")
	}
	if len(r.exclude) > 0 {
		b.WriteString("    exclude_jobs:               # roots of their own\n")
	}
	done := map[string]bool{}
	for _, name := range r.exclude {
		if !done[name] {
			b.WriteString("      - " + yamlText(name) + "\n")
		}
		done[name] = true
	}
}

// yamlText writes text as YAML, in quotes unless it is plain beyond doubt.
func yamlText(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == ""
	if plain && strings.HasPrefix(s, "/") {
		return s
	}
	return strconv.Quote(s)
}

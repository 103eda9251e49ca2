package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/probe"
	"fsweep/proto/planfile"
	"fsweep/proto/policy"
)

// wants is what a policy or a plan makes a probe look for.
type wants struct {
	options     probe.Options
	nameservice string // "" without policy and plan
	from        string // "the policy" or "the plan"
}

func (o *probeOptions) wants() (*wants, error) {
	switch {
	case o.policy != "":
		return policyWants(o.policy)
	case o.plan != "":
		return planWants(o.plan)
	}
	return &wants{}, nil
}

// openInput opens a regular file: a pipe would wait for whoever writes it, and a plan
// is read twice.
func openInput(name string) (*os.File, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return os.Open(name)
}

func policyWants(name string) (*wants, error) {
	f, err := openInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, policy.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	p, err := policy.Parse(name, text)
	if _, ok := errors.AsType[*policy.Error](err); ok {
		return nil, cli.WithHint(&cli.LinesError{Err: err}, "docs/policy.md has all keys and rules; an editor can use proto/policy/policy.schema.json")
	}
	if err != nil {
		return nil, err
	}
	w := &wants{nameservice: string(p.Nameservice), from: "the policy", options: probe.Options{
		MinTrashInterval: time.Duration(p.Belts.MinTrashInterval), Quarantine: string(p.Removal.Quarantine), LockDir: string(p.LockDir),
	}}
	for _, h := range p.HoldPaths {
		w.options.Holds = append(w.options.Holds, string(h))
	}
	for i := range p.Roots {
		r := &p.Roots[i]
		w.options.Roots = append(w.options.Roots, probe.RootOptions{
			Path: string(r.Path), Layout: string(r.Layout), Execute: r.Mode == policy.Execute,
			Jobs: texts(r.Jobs), Excluded: append(texts(r.ExcludeJobs), texts(r.Ignore)...),
		})
	}
	return w, nil
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// markOf gives the path that exists on the cluster once a plan was carried out.
func markOf(h *planfile.Header, digest planfile.Digest) string {
	return path.Join(string(h.LockDir.Path), "done", strings.TrimPrefix(digest.String(), "sha256:"))
}

func planWants(name string) (*wants, error) {
	f, err := openInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, digest, err := planfile.Open(f)
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "a plan is what fsweep plan -o writes; it must not be edited")
	}
	h := plan.Header()
	w := &wants{nameservice: h.Nameservice, from: "the plan", options: probe.Options{
		MinTrashInterval: time.Duration(h.Belts.MinTrashIntervalMs) * time.Millisecond, LockDir: string(h.LockDir.Path),
		Plan: &probe.PlanOptions{
			Executable: h.Executable, ExpiresAt: time.UnixMilli(h.ExpiresMs), ClusterID: h.Source.ClusterID, NamespaceID: h.Source.NamespaceID,
			Mark: markOf(&h, digest),
		},
	}}
	for _, q := range h.Quarantine {
		w.options.Quarantine = string(q.Path)
	}
	for _, p := range h.HoldPaths {
		w.options.Holds = append(w.options.Holds, string(p.Path))
	}
	for _, a := range h.Anchors {
		w.options.Anchors = append(w.options.Anchors, probe.AnchorOptions{Path: string(a.Path), ID: a.InodeID})
	}
	for i := range h.Roots {
		r := &h.Roots[i]
		if len(r.Stopped) > 0 {
			continue // nothing in it is planned
		}
		w.options.Roots = append(w.options.Roots, probe.RootOptions{
			Path: string(r.Path), Layout: string(r.Layout), Execute: r.Mode == planfile.ModeExecute, WantID: r.InodeID,
		})
	}
	return w, nil
}

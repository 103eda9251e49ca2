package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/cmd/internal/cli"
	"fsweep/proto/planfile"
)

// inputs are the policy that is in force, and what the files say that it names.
type inputs struct {
	policy     *cleanup.Policy
	name       string // of the policy's file, as it was typed
	target     string // what that leads to; names in the policy are relative to its directory
	dir        string // of target
	now        time.Time
	given      cleanup.Inputs // without the times
	live, pins []planfile.Input
	state      *liveState
	files      []string // that no output may replace
	warnings   []string // in the plan as well
	remarks    []string // about what another run does not find again
}

// readPolicy gives the policy that is in force with flags.
func (o *cleanupOptions) readPolicy() (*cleanup.Policy, error) {
	f, err := openInput(o.policy)
	if err != nil {
		return nil, cli.WithHint(err, "a policy is a file; the lists that it names are looked for beside it")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, cleanup.MaxPolicyBytes+1))
	if err != nil {
		return nil, err
	}
	p, err := cleanup.ParsePolicy(o.policy, text)
	if err == nil {
		p, err = p.With(o.overrides)
	}
	if _, ok := errors.AsType[*cleanup.PolicyError](err); ok {
		return nil, cli.WithHint(&cli.LinesError{Err: err}, "docs/policy.md has all keys and rules; an editor can use proto/policy/policy.schema.json")
	}
	return p, err
}

// planPolicy names the policy in a plan.
func (in *inputs) planPolicy() planfile.Policy {
	return planfile.Policy{Name: shown(filepath.Base(in.name)), Digest: in.policy.Digest()}
}

// openInput opens a regular file. A pipe would wait for whoever writes it, and has
// no time that says how old its contents are.
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

// readInputs reads the policy and all files that it names.
func (o *cleanupOptions) readInputs(env *cli.Env) (*inputs, error) {
	p, err := o.readPolicy()
	if err != nil {
		return nil, err
	}
	in, err := newInputs(p, o.policy, o.now.Time)
	if err != nil {
		return nil, err
	}
	if in.now.IsZero() {
		in.now = time.Now().UTC().Truncate(time.Millisecond)
	}
	for _, read := range []func(*cleanupOptions) error{in.readLive, in.readPins, in.readJobMaps, in.readState} {
		if err := read(o); err != nil {
			return nil, listHint(err)
		}
	}
	for _, remark := range in.remarks {
		env.Warn("%s", remark)
	}
	return in, nil
}

// newInputs gives the inputs of a policy before anything that it names was read.
func newInputs(p *cleanup.Policy, name string, now time.Time) (*inputs, error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	return &inputs{policy: p, name: name, target: target, dir: filepath.Dir(target), now: now, files: []string{name}}, nil
}

// listHint tells what may not be trusted from what cannot be read.
func listHint(err error) error {
	switch {
	case errors.Is(err, cleanup.ErrStale):
		return cli.WithHint(&cli.RefusedError{Err: err}, "write the list again; its age is that of the file, so copy it with its time (cp -p)")
	case errors.Is(err, cleanup.ErrEmpty):
		return cli.WithHint(&cli.RefusedError{Err: err}, "a failed export is more likely than that there is nothing; write the list again")
	case errors.Is(err, cleanup.ErrShrunk):
		return cli.WithHint(&cli.RefusedError{Err: err}, "was everything asked for: all namespaces, all clusters? If so many jobs did end, give --accept-fewer-live once")
	case errors.Is(err, fs.ErrNotExist):
		return cli.WithHint(err, "the policy names this file, so nothing is planned without it; names are relative to the policy's directory")
	}
	return err
}

// beside gives the name of a file that the policy names: beside the policy itself,
// not beside a link to it.
func (in *inputs) beside(file cleanup.File) string {
	if filepath.IsAbs(string(file)) {
		return string(file)
	}
	return filepath.Join(in.dir, string(file))
}

// list opens a list and gives it to fn.
func (in *inputs) list(file cleanup.File, fn func(cleanup.Input) error) error {
	name := in.beside(file)
	in.files = append(in.files, name)
	f, err := openInput(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return fn(cleanup.Input{Name: string(file), Reader: f, ModTime: fi.ModTime()})
}

func (in *inputs) readLive(*cleanupOptions) error {
	for _, source := range in.policy.Live {
		err := in.list(source.File, func(list cleanup.Input) error {
			set, err := cleanup.ReadLive(list, source, cleanup.LiveOptions{
				Now: in.now, Nameservice: in.policy.Nameservice, Foreign: in.policy.ForeignAuthorities,
			})
			if err != nil {
				return err
			}
			in.given.Live = append(in.given.Live, set)
			in.live = append(in.live, planfile.Input{
				File: string(source.File), Format: string(source.Format), MaxAgeMs: time.Duration(source.MaxAge).Milliseconds(),
				IDs: int64(len(set.IDs)), Clusters: int64(len(set.Clusters)), Paths: int64(len(set.Paths)),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *inputs) readPins(*cleanupOptions) error {
	for _, file := range in.policy.Pins {
		err := in.list(file.File, func(list cleanup.Input) error {
			pins, err := cleanup.ReadPins(list, file, in.policy.Nameservice, in.now)
			if err != nil {
				return err
			}
			in.given.Pins = append(in.given.Pins, pins...)
			in.pins = append(in.pins, planfile.Input{
				File: string(file.File), Format: string(cleanup.Lines), MaxAgeMs: time.Duration(file.MaxAge).Milliseconds(),
				Paths: int64(len(pins)),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *inputs) readJobMaps(*cleanupOptions) error {
	in.given.JobMaps = map[cleanup.Path]*cleanup.JobMap{}
	for i := range in.policy.Roots {
		r := &in.policy.Roots[i]
		if r.JobMap == "" {
			continue
		}
		err := in.list(r.JobMap, func(list cleanup.Input) error {
			m, err := cleanup.ReadJobMap(list)
			in.given.JobMaps[r.Path] = m
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

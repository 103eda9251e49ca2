package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/cmd/internal/cli"
	"fsweep/cmd/internal/sidecar"
)

// liveState is the file that remembers what live lists named.
type liveState struct {
	name        string
	nameservice string
	missing     bool
	*sidecar.LiveState
}

// readState reads what is remembered, and holds the live lists against it. What it
// adds to the decision depends on the ids that do not live now alone, so that a
// plan that is made again from the same files is the same.
func (in *inputs) readState(o *cleanupOptions) error {
	in.state = &liveState{name: in.stateName(), nameservice: string(in.policy.Nameservice)}
	if err := in.state.read(); err != nil {
		return cli.WithHint(err, "this file says what lived before; restore it from a backup. Without it old runs of jobs that come back can look dead, so remove it only if you know that none will")
	}
	now := in.now.UnixMilli()
	in.state.Forget(now)
	if in.state.missing && len(in.given.Live) > 0 {
		in.remarks = append(in.remarks, fmt.Sprintf("%s is not there: nothing is known of what lived before; a plan that is written makes it", shown(in.state.name)))
	}
	live := map[string]bool{}
	in.given.PreviousLive = map[string]cleanup.LiveCount{}
	for _, set := range in.given.Live {
		for _, id := range set.IDs {
			live[id] = true
		}
		if before, ok := in.state.Sources[set.Name]; ok && !o.acceptFewer {
			in.given.PreviousLive[set.Name] = cleanup.LiveCount{IDs: int(before.IDs), Clusters: int(before.Clusters)}
		}
		if err := set.Shrunk(in.given.PreviousLive[set.Name]); err != nil {
			return err
		}
	}
	if o.acceptFewer {
		in.warnings = append(in.warnings, "--accept-fewer-live was given: live lists were not compared with what they named the last time")
	}
	in.given.SeenLive = in.state.SeenSince(now-time.Duration(in.policy.LiveMemory).Milliseconds(), live)
	return nil
}

// stateName is the name of the file: that of the policy, or one beside the policy.
// Whoever reaches the policy by a link has the same memory.
func (in *inputs) stateName() string {
	if in.policy.LiveState == "" {
		return filepath.Join(in.dir, filepath.Base(in.target)+sidecar.LiveStateSuffix)
	}
	if name := in.beside(in.policy.LiveState); name != "-" {
		return name
	}
	return "./-" // "-" would be the standard output
}

// read reads the file; one that is not there yet remembers nothing.
func (l *liveState) read() error {
	l.LiveState = sidecar.NewLiveState(l.nameservice)
	f, err := openInput(l.name)
	if l.missing = errors.Is(err, fs.ErrNotExist); l.missing {
		if _, linked := os.Lstat(l.name); linked == nil {
			return err // a link that leads nowhere is no file that was never written
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, sidecar.MaxLiveStateBytes+1))
	if err != nil {
		return err
	}
	state, err := sidecar.ParseLiveState(data, l.nameservice)
	if err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	l.LiveState = state
	return nil
}

// writeState writes what is remembered from now on to out, and commits it. What
// this run read before stays known, whatever became of the file meanwhile: it may be
// an older copy, or gone. What another run wrote meanwhile stays too, and none
// writes between the reading and the commit.
func (in *inputs) writeState(ctx context.Context, out *cli.Output) error {
	lock, err := cli.LockBeside(ctx, in.state.name)
	if err != nil {
		return cli.WithHint(err, stateHint)
	}
	defer lock.Unlock()
	now, known := in.now.UnixMilli(), in.state.LiveState
	if err := in.state.read(); err != nil {
		return err
	}
	in.state.Merge(known)
	in.state.Forget(now)
	for _, set := range in.given.Live {
		in.state.Note(set.Name, set.IDs, len(set.Clusters), now)
	}
	data, err := in.state.Encode()
	if err != nil {
		return &cli.OutputError{Name: in.state.name, Err: err}
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Commit()
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/cmd/internal/cli"
)

func stateInputs(t *testing.T, dir string, live ...string) *inputs {
	t.Helper()
	name := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &cleanup.Policy{Nameservice: "ns1", LiveMemory: cleanup.Duration(30 * 24 * time.Hour)}
	in, err := newInputs(p, name, time.UnixMilli(1_795_910_400_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range live {
		in.given.Live = append(in.given.Live, &cleanup.LiveSet{Name: id, IDs: []string{id}})
	}
	if err := in.readState(&cleanupOptions{}); err != nil {
		t.Fatal(err)
	}
	return in
}

func (in *inputs) remember(t *testing.T, env *cli.Env) {
	out, err := env.Create(t.Context(), in.state.name, cli.OutputOptions{})
	if err == nil {
		err = in.writeState(t.Context(), out)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestStateKeepsWhatWasKnown: what this run read at its start stays known, whatever
// became of the file meanwhile: an older copy was put back, another plan that did not
// know it won the race, or somebody moved the file away.
func TestStateKeepsWhatWasKnown(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), &cli.Env{Name: "t", Stdout: os.Stdout, Stderr: os.Stderr}
	lived := strings.Repeat("1", 32)
	stateInputs(t, dir, lived).remember(t, env)
	in := stateInputs(t, dir)
	if len(in.given.SeenLive) != 1 {
		t.Fatal(in.given.SeenLive)
	}
	if err := os.Remove(in.state.name); err != nil {
		t.Fatal(err)
	}
	in.remember(t, env)
	if seen := stateInputs(t, dir).given.SeenLive; len(seen) != 1 || seen[0] != lived {
		t.Errorf("%q", seen)
	}
}

// TestPlansAtOnce: policies may share a state. What each of several plans that end at
// once knows is in it afterwards.
func TestPlansAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	dir, env := t.TempDir(), &cli.Env{Name: "t", Stdout: os.Stdout, Stderr: os.Stderr}
	var all []*inputs
	for i := range n {
		all = append(all, stateInputs(t, dir, fmt.Sprintf("%032x", i)))
	}
	var wg sync.WaitGroup
	for _, in := range all {
		wg.Go(func() { in.remember(t, env) })
	}
	wg.Wait()
	if seen := stateInputs(t, dir).given.SeenLive; len(seen) != n {
		t.Errorf("%d of %d: %q", len(seen), n, seen)
	}
}

// TestStateLink: a link that leads nowhere is not a state that was never written.
func TestStateLink(t *testing.T) {
	t.Parallel()
	in := stateInputs(t, t.TempDir())
	if err := os.Symlink("elsewhere", in.state.name); err != nil {
		t.Fatal(err)
	}
	if err := in.readState(&cleanupOptions{}); err == nil {
		t.Error("read as if nothing had lived before")
	}
}

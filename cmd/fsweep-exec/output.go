package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/journalfile"
	"fsweep/proto/planfile"
)

// precious are the beginnings of files that no results ever replace, whether or not the command
// knows them: a lost journal means that nothing can be resumed or undone.
var precious = [][]byte{[]byte(`{"type":"journal",`), []byte(`{"type":"plan",`)}

// createOutput opens the output of a command, readable for its owner only. Refused are the
// files that it reads, every journal and plan, and a name in the directory of journals that
// would be taken for one by the next run.
func createOutput(ctx context.Context, env *cli.Env, name, journalDir string, inputs ...string) (*cli.Output, error) {
	if err := replaces(name); err != nil {
		return nil, err
	}
	if journalDir != "" && filepath.Ext(name) == journalfile.Suffix && sameDirectory(filepath.Dir(name), journalDir) {
		return nil, fmt.Errorf("the output %q would be taken for a journal: in a directory of journals, no other name may end in %s", name, journalfile.Suffix)
	}
	return env.Create(ctx, name, cli.OutputOptions{Inputs: inputs, Private: true})
}

// replaces tells whether an output would replace a journal or a plan.
func replaces(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	fi, err := os.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil //nolint:nilerr // what cannot be looked at is an error of whoever creates it
	}
	f, err := os.Open(name)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	defer f.Close()
	start := make([]byte, 32)
	n, _ := io.ReadFull(f, start) // a shorter file is no journal
	is := func(begin []byte) bool { return bytes.HasPrefix(start[:n], begin) }
	if slices.ContainsFunc(precious, is) {
		return fmt.Errorf("the output %q would replace a journal or a plan", name)
	}
	return nil
}

func sameDirectory(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

// listFiles are the files of live lists and pins of a plan. Names that are relative are so
// to dir.
func listFiles(h *planfile.Header, dir string) (names []string) {
	for _, in := range slices.Concat(h.Live, h.Pins) {
		names = append(names, inDirectory(dir, in.File))
	}
	return names
}

func inDirectory(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fsweep/cmd/internal/cli"
)

// standardInput stands for it among the arguments.
const standardInput = "-"

// metadataFile is a file to read.
type metadataFile struct {
	name string // as the user knows it
	// location is its absolute path without symlinks, empty for standard input.
	location string
}

// open opens the file.
func (f metadataFile) open() (io.ReadCloser, error) {
	if f.location == "" {
		return io.NopCloser(os.Stdin), nil
	}
	return os.Open(f.location)
}

// input is a path that leads to the file.
func (f metadataFile) input() string {
	if f.location == "" {
		return "/dev/stdin"
	}
	return f.location
}

// finder turns arguments into files: each once, in the order of the arguments,
// those of a folder sorted. What is wrong is an error line, and counted.
type finder struct {
	env    *cli.Env
	files  []metadataFile
	seen   map[string]bool // by location
	failed int
}

func (f *finder) find(ctx context.Context, args []string) error {
	for _, name := range args {
		if name == standardInput {
			f.add(metadataFile{name: name})
			continue
		}
		location, fi, err := resolve(name)
		switch {
		case err != nil:
			f.fail(name, err)
		case fi.IsDir():
			if err := f.folder(ctx, name, location); err != nil {
				return err
			}
		case !fi.Mode().IsRegular():
			// Opening a pipe can wait for ever, opening a device can do anything.
			f.fail(name, cli.WithHint(errors.New("not a regular file"), "give - to read standard input"))
		default:
			f.add(metadataFile{name, location})
		}
	}
	return nil
}

func (f *finder) fail(name string, err error) {
	f.failed++
	f.env.Error(fmt.Errorf("%s: %w", name, withoutPath(err)))
}

func (f *finder) add(file metadataFile) {
	if !f.seen[file.location] {
		f.seen[file.location] = true
		f.files = append(f.files, file)
	}
}

// resolve follows symlinks: one that a user names is meant.
func resolve(name string) (location string, fi fs.FileInfo, err error) {
	if location, err = filepath.EvalSymlinks(name); err != nil {
		return "", nil, err
	}
	if location, err = filepath.Abs(location); err != nil {
		return "", nil, err
	}
	fi, err = os.Stat(location)
	return location, fi, err
}

// folder adds what is below a folder.
func (f *finder) folder(ctx context.Context, name, location string) error {
	var found []metadataFile
	failed := f.failed
	err := filepath.WalkDir(location, func(path string, d fs.DirEntry, err error) error {
		if stop := ctx.Err(); stop != nil {
			return stop
		}
		below := filepath.Join(name, strings.TrimPrefix(path, location))
		switch {
		case err != nil:
			f.fail(below, err)
		case d.Type() == fs.ModeSymlink && leadsToFolder(path):
			f.env.Warn("%s: skipped: a symlink", below)
		case d.IsDir() || !isMetadataName(d.Name()):
		case !d.Type().IsRegular():
			f.env.Warn("%s: skipped: not a regular file", below)
		default:
			found = append(found, metadataFile{below, path})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(a, b metadataFile) int { return strings.Compare(a.name, b.name) })
	for _, file := range found {
		f.add(file)
	}
	if len(found) == 0 && f.failed == failed {
		f.fail(name, errors.New("no _metadata or completedCheckpoint* file in this folder"))
	}
	return nil
}

// leadsToFolder tells whether a symlink hides a folder from the search.
func leadsToFolder(link string) bool {
	fi, err := os.Stat(link)
	return err == nil && fi.IsDir()
}

// isMetadataName tells whether Flink gives this name to files with references.
// What a crash leaves, ._metadata.inprogress.*, is no complete checkpoint.
func isMetadataName(name string) bool {
	return name == "_metadata" || strings.HasPrefix(name, "completedCheckpoint")
}

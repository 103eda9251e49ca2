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
	"fsweep/reports"
)

// standardInput stands for it among the arguments.
const standardInput = "-"

// metadataFile is a file to read.
type metadataFile struct {
	name  string // as the user knows it
	place string // the same, or location if it is a symlink
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

// finder turns arguments into files: each once, under its first name, in the order
// of the arguments, those of a folder sorted. What is wrong is an error line, and counted.
type finder struct {
	env    *cli.Env
	files  []metadataFile
	seen   map[string]bool // by location
	roots  []string        // locations of the folders among the arguments
	failed int
}

func (f *finder) find(ctx context.Context, args []string) error {
	for _, name := range args {
		if location, fi, err := resolve(name); err == nil && fi.IsDir() && name != standardInput {
			f.roots = append(f.roots, location)
		}
	}
	for _, name := range args {
		if name == standardInput {
			f.add(metadataFile{name: name, place: name})
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
			f.fail(name, cli.WithHint(errNotRegular, "give - to read standard input"))
		default:
			file := metadataFile{name, name, location}
			if fi, err := os.Lstat(name); err != nil || fi.Mode().Type() == fs.ModeSymlink {
				file.place = location
			}
			f.add(file)
		}
	}
	return nil
}

func (f *finder) fail(name string, err error) {
	f.failed++
	f.env.Error(named(name, err))
}

// named puts a name before an error, escaped as in the text output, so that
// different names stay different.
func named(name string, err error) error {
	return fmt.Errorf("%s: %w", reports.Escape(name), withoutPath(err))
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
		case d.Type() == fs.ModeSymlink:
			target, err := f.follow(path)
			if err != nil {
				f.fail(below, err)
			} else if target != "" {
				found = append(found, metadataFile{below, target, target})
			}
		case d.IsDir() || !isMetadataName(d.Name()):
		case !d.Type().IsRegular():
			f.fail(below, errNotRegular)
		default:
			found = append(found, metadataFile{below, below, path})
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

var errNotRegular = errors.New("not a regular file")

// follow gives the file that a symlink in a folder leads to, empty if it is none of
// those looked for. An error is what may hide one: a symlink to a folder is not
// followed, as it can lead round in a circle and out of what was asked for.
func (f *finder) follow(link string) (location string, err error) {
	location, fi, err := resolve(link)
	wanted := isMetadataName(filepath.Base(link))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !wanted:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("a symlink that leads to no file: %w", withoutPath(err))
	case fi.IsDir() && f.searched(location):
		return "", nil
	case fi.IsDir():
		return "", cli.WithHint(errors.New("a symlink to a folder, not followed"), "name the folder that it leads to as well")
	case !wanted:
		return "", nil
	case !fi.Mode().IsRegular():
		return "", errors.New("a symlink to something that is not a regular file")
	}
	return location, nil
}

// searched tells whether a folder is one of those asked for, or in one.
func (f *finder) searched(location string) bool {
	return slices.ContainsFunc(f.roots, func(root string) bool {
		below, err := filepath.Rel(root, location)
		return err == nil && filepath.IsLocal(below)
	})
}

// isMetadataName tells whether Flink gives this name to files with references.
// What a crash leaves, ._metadata.inprogress.*, is no complete checkpoint.
func isMetadataName(name string) bool {
	return name == "_metadata" || strings.HasPrefix(name, "completedCheckpoint")
}

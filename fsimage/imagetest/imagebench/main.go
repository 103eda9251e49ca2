// Imagebench writes large synthetic images and measures programs that read them.
//
//	imagebench write -inodes N [-dirs PCT] [-sparse K] … DIR   prints the path, writes truth.json beside it
//	imagebench bare IMAGE                                      the least work a reader can do, as JSON
//	imagebench inflate IMAGE                                   decompresses the sections and prints their size, as JSON
//	imagebench measure [-runs N] -- CMD ARG…                   wall and CPU seconds and peak memory, as JSON
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"fsweep/fsimage/imagetest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "imagebench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want write, bare, inflate or measure")
	}
	switch args[0] {
	case "write":
		return write(args[1:])
	case "bare":
		return bare(args[1:])
	case "inflate":
		return inflate(args[1:])
	case "measure":
		return measure(args[1:])
	}
	return fmt.Errorf("unknown verb %q", args[0])
}

func write(args []string) error {
	var spec imagetest.Spec
	fs := flag.NewFlagSet("write", flag.ContinueOnError)
	fs.IntVar(&spec.Inodes, "inodes", 1_000_000, "inodes")
	fs.Uint64Var(&spec.Seed, "seed", 1, "seed")
	fs.IntVar(&spec.DirPercent, "dirs", 13, "per cent of directories")
	fs.IntVar(&spec.Flink, "flink", 1, "times the usual share of Flink")
	fs.IntVar(&spec.RunInodes, "run", 0, "inodes of a run of Flink; 0: as there are directories")
	fs.IntVar(&spec.Sparse, "sparse", 1, "ids for each inode")
	fs.Uint64Var(&spec.FirstID, "first-id", 0, "id of the first inode after the root")
	top := fs.Bool("top-ids", false, "ids up to 2^63-1")
	fs.IntVar(&spec.Buckets, "buckets", 0, "size of the NameNode's inode table")
	fs.IntVar(&spec.SnapshotCells, "cells", 0, "snapshottable directories; negative for none")
	fs.IntVar(&spec.SubSections, "sub", 0, "sub-sections")
	fs.StringVar(&spec.Codec, "codec", "", "Java class name of the codec")
	namespace := fs.Uint("namespace", 1, "namespace id")
	fs.Int64Var(&spec.TxID, "txid", 1, "transaction id")
	sum := fs.Bool("md5", false, "write the .md5 file")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("write: want one directory")
	}
	spec.NamespaceID = uint32(*namespace)
	if *top {
		spec.FirstID = spec.LastFirstID()
	}
	dir := fs.Arg(0)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path, truth, err := imagetest.WriteFile(dir, spec, *sum)
	if err != nil {
		return err
	}
	b, err := json.Marshal(truth)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "truth.json"), b, 0o600); err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

func bare(args []string) error {
	if len(args) != 1 {
		return errors.New("bare: want one image")
	}
	r, err := imagetest.BareDecode(args[0])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func inflate(args []string) error {
	if len(args) != 1 {
		return errors.New("inflate: want one image")
	}
	n, err := imagetest.Inflate(args[0])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]int64{"bytes": n})
}

// usage is the cost of one command: the run with the least CPU, and the highest
// peak memory of all.
type usage struct {
	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	PeakBytes   int64   `json:"peak_bytes"`
	ExitStatus  int     `json:"exit_status"`
}

func measure(args []string) error {
	fs := flag.NewFlagSet("measure", flag.ContinueOnError)
	runs := fs.Int("runs", 1, "runs; the cheapest counts")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("measure: want a command")
	}
	var best usage
	for n := range *runs {
		u, err := once(fs.Args())
		if err != nil {
			return err
		}
		peak := max(u.PeakBytes, best.PeakBytes)
		if n == 0 || u.CPUSeconds < best.CPUSeconds {
			wall := best.WallSeconds
			best = u
			if n > 0 {
				best.WallSeconds = min(wall, u.WallSeconds)
			}
		}
		best.WallSeconds = min(best.WallSeconds, u.WallSeconds)
		best.PeakBytes = peak
		if u.ExitStatus != 0 {
			best.ExitStatus = u.ExitStatus
			break
		}
	}
	return json.NewEncoder(os.Stdout).Encode(best)
}

// once runs a command without its output; what it says on stderr is shown if it
// fails. Peak memory is at least this process's own, which a child starts with: so
// nothing large may happen here.
func once(args []string) (usage, error) {
	cmd := exec.Command(args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	u := usage{WallSeconds: time.Since(start).Seconds()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return u, err
	}
	state := cmd.ProcessState
	u.CPUSeconds = (state.UserTime() + state.SystemTime()).Seconds()
	if u.ExitStatus = state.ExitCode(); u.ExitStatus != 0 {
		if _, err := os.Stderr.Write(said.Bytes()); err != nil {
			return u, err
		}
	}
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.PeakBytes = ru.Maxrss << 10 // Linux counts KiB
	}
	return u, nil
}

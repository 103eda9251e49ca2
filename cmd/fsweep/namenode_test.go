package main_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNameNode has real NameNodes make namespaces that no one has seen before,
// one line of Hadoop after the other, and compares everything with the answers
// of NameNodes started from the images.
//
// A difference comes back with FSWEEP_SEED=<the seed in the log>: the operations
// and their order follow from it (inode times, and how far an unfinished
// truncation got, do not). FSWEEP_HADOOP names other versions.
func TestNameNode(t *testing.T) {
	if os.Getenv("FSWEEP_NAMENODE") != "1" {
		t.Skip("needs a JDK and Maven: scripts/test turns it on (FSWEEP_NAMENODE=1)")
	}
	seed := nameNodeSeed(t)
	program := buildProgram(t)
	versions := []string{"3.4.2", "3.2.2"}
	if s := os.Getenv("FSWEEP_HADOOP"); s != "" {
		versions = strings.Fields(s)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			out := randomNamespace(t, version, seed)
			truths, err := filepath.Glob(filepath.Join(out, "truth-*"))
			if err != nil || len(truths) < 2 {
				t.Fatalf("truths: %v, %v", truths, err)
			}
			for _, truth := range truths {
				variant := filepath.Base(truth)[len("truth-"):]
				t.Run(variant, func(t *testing.T) {
					compareTruth(t, program, imageIn(t, filepath.Join(out, variant)), truth)
				})
			}
		})
	}
}

// randomNamespace has a NameNode make and save a namespace, and says what is in
// it. Some orders of snapshots, renames and deletions damage HDFS's own structures;
// a NameNode that notices this when it saves them stops, and then the next seed has
// its turn.
func randomNamespace(t *testing.T, version string, seed int64) string {
	t.Helper()
	const refusedItself, attempts = 3, 4
	for i := range int64(attempts) {
		out := t.TempDir()
		t.Logf("FSWEEP_SEED=%d", seed+i)
		log, err := tryRig(t, "run", version, strconv.FormatInt(seed+i, 10), out)
		if err == nil {
			t.Logf("%s", log)
			return out
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != refusedItself {
			t.Fatalf("rig: %v\n%s", err, log)
		}
		t.Logf("the NameNode would not save its namespace")
	}
	t.Fatalf("no NameNode saved its namespace, of %d", attempts)
	return ""
}

// nameNodeSeed is FSWEEP_SEED, or a new one.
func nameNodeSeed(t *testing.T) int64 {
	t.Helper()
	s := os.Getenv("FSWEEP_SEED")
	if s == "" {
		return rand.Int64()
	}
	seed, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("FSWEEP_SEED: %v", err)
	}
	return seed
}

// runRig runs scripts/rigs/hadoop/rig and returns what it says.
func runRig(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := tryRig(t, args...)
	if err != nil {
		t.Fatalf("rig %v: %v\n%s", args, err, out)
	}
	return out
}

// tryRig is runRig for what may fail. The script and its Java program are a
// process group, which ends with the test whatever happens. The first run of a
// version fetches Hadoop.
func tryRig(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "../../scripts/rigs/hadoop/rig", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}

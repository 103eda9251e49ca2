package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// image is one that a real NameNode saved, with its .md5 beside it.
const image = "testdata/images/3.4.2/plain/fsimage_*"

// TestNoSocket runs every command of fsweep under strace: not one system call
// of the network family, whatever libraries are linked.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	needStrace(t)
	img := imagePath(t)
	bin := filepath.Join(t.TempDir(), "fsweep")
	run(t, "go", "build", "-o", bin, "./cmd/fsweep")
	out := t.TempDir()
	policy := strictPolicy(t)
	for _, tc := range []struct {
		name string
		args []string
		file string // where the output goes, if not to stdout
	}{
		{name: "inspect", args: []string{"inspect", img}},
		{name: "report", args: []string{"report", img}},
		{name: "report json", args: []string{"report", img, "--format", "json"}},
		{name: "report to file", args: []string{"report", img, "--format", "text", "-o"}, file: filepath.Join(out, "report.txt")},
		{name: "quota", args: []string{"quota", img}},
		{name: "inventory inodes ndjson", args: []string{"inventory", img, "--of", "inodes", "--format", "ndjson", "-o", "-"}},
		{name: "inventory inodes csv", args: []string{"inventory", img, "--of", "inodes", "--format", "csv", "-o"}, file: filepath.Join(out, "inodes.csv")},
		{name: "inventory directories ndjson", args: []string{"inventory", img, "--of", "directories", "--format", "ndjson", "-o"}, file: filepath.Join(out, "dirs.ndjson")},
		{name: "inventory directories csv", args: []string{"inventory", img, "--of", "directories", "--format", "csv", "-o", "-"}},
		{name: "references", args: []string{"references", "testdata/flink/odd-paths.ser"}},
		{name: "references json", args: []string{"references", "testdata/flink/odd-paths.ser", "--format", "json", "-o"}, file: filepath.Join(out, "references.json")},
		{name: "plan", args: []string{"plan", img, "--policy", policy, "--now", policyNow, "-o"}, file: filepath.Join(out, "plan.jsonl")},
		{name: "plan json", args: []string{"plan", img, "--policy", policy, "--now", policyNow, "--format", "json"}},
		{name: "plan suggest", args: []string{"plan", img, "--suggest"}},
		{name: "plan print policy", args: []string{"plan", "--policy", policy, "--print-policy"}},
		{name: "explain", args: []string{"explain", img, "--policy", policy, "--now", policyNow, "/flink-savepoints"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			args := tc.args
			if tc.file != "" {
				args = append(args, tc.file)
			}
			stdout, calls, err := straced(t, bin, args...)
			if err != nil {
				t.Fatal(err)
			}
			if len(calls) > 0 {
				t.Errorf("%d network calls:\n%s", len(calls), strings.Join(calls, "\n"))
			}
			// A command that does nothing opens no socket either.
			if tc.file != "" {
				if stdout, err = os.ReadFile(tc.file); err != nil {
					t.Fatal(err)
				}
			}
			if len(bytes.TrimSpace(stdout)) == 0 {
				t.Error("the command printed nothing")
			}
		})
	}
}

// policyNow is the present of the plans, an hour after the image.
const policyNow = "2026-11-29T14:35:00Z"

// strictPolicy writes a policy with a list of what lives, which was just made.
func strictPolicy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	now, err := time.Parse(time.RFC3339, policyNow)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(write("live.txt", "0123456789abcdef0123456789abcdef\n"), now, now); err != nil {
		t.Fatal(err)
	}
	return write("policy.yaml", `version: 1
nameservice: ns1
lock_dir: /ops/fsweep
live: [{file: live.txt, format: lines}]
roots: [{path: /flink-savepoints, layout: savepoints}]
`)
}

// TestNoSocketCheckCanFail shows that a program that dials is caught, from any
// of its threads and from a child process.
func TestNoSocketCheckCanFail(t *testing.T) {
	t.Parallel()
	needStrace(t)
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "dial")
	const dials = `package main

import (
	"net"
	"os"
	"os/exec"
)

func main() {
	if len(os.Args) > 1 {
		if err := exec.Command(os.Args[0]).Run(); err != nil {
			os.Exit(1)
		}
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := net.Dial("tcp", "127.0.0.1:1"); err == nil {
			c.Close()
		}
	}()
	<-done
}
`
	if err := os.WriteFile(src, []byte(dials), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "go", "build", "-o", bin, src)
	for _, args := range [][]string{nil, {"child"}} {
		_, calls, err := straced(t, bin, args...)
		if err != nil {
			t.Fatal(err)
		}
		seen := strings.Join(calls, "\n")
		if !strings.Contains(seen, "socket(AF_INET") || !strings.Contains(seen, "connect(") {
			t.Errorf("args %q: a dial was not seen:\n%s", args, seen)
		}
	}
}

// call is a line of strace -f -o FILE: a process id and a call, begun or
// resumed; signals and exits are not calls.
var call = regexp.MustCompile(`^\d+ +(\w+\(|<\.\.\. \w+ resumed)`)

// straced runs a program and returns its stdout and its network calls, also if it fails.
func straced(t *testing.T, bin string, args ...string) (stdout []byte, calls []string, err error) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), "strace", append([]string{
		"-f", "-qq", "-e", "trace=%network", "-e", "signal=none", "-o", trace, "--", bin,
	}, args...)...)
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, failed := cmd.Output()
	text, err := os.ReadFile(trace)
	for line := range strings.Lines(string(text)) {
		if call.MatchString(line) {
			calls = append(calls, strings.TrimSpace(line))
		}
	}
	if failed != nil {
		err = fmt.Errorf("%s: %w\n%s", cmd, failed, stderr.Bytes())
	}
	return stdout, calls, err
}

// needStrace skips where no program can be traced; CI, and whoever sets
// FSWEEP_REQUIRE_STRACE, want a failure instead.
func needStrace(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", os.DevNull, "true").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("CI") != "" || os.Getenv("FSWEEP_REQUIRE_STRACE") != "" {
		t.Fatalf("strace is needed and cannot be used: %v\n%s", err, out)
	}
	t.Skipf("strace cannot be used (%v %s): not shown that fsweep opens no socket", err, bytes.TrimSpace(out))
}

// imagePath finds the bundled image, as a path from the module's top folder.
func imagePath(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(image)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".md5") {
			return strings.TrimPrefix(name, ".."+string(filepath.Separator))
		}
	}
	t.Fatalf("no image matches %s", image)
	return ""
}

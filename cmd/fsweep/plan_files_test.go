package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsweep/proto/planfile"
)

// sweptImage writes an image with many files of a sweep, and a policy for it, and
// gives the arguments of a plan.
func sweptImage(t *testing.T, image, policy string) []string {
	t.Helper()
	c := millionFiles(30_000)
	if err := os.WriteFile(image, c.tree.Image().Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nnameservice: ns1\nlock_dir: /ops/fsweep\n" + largeBelts + "roots:\n" + c.policy
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := largeTime.UTC().Format(time.RFC3339)
	return []string{"plan", image, "--policy", policy, "--image-time", at, "--now", at}
}

// TestPlanTemporaryFile: that the file for sorting cannot be made says nothing about
// the image, and names the directory.
func TestPlanTemporaryFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// So many workers that each has room for few files in memory.
	args := append(sweptImage(t, filepath.Join(dir, "fsimage"), filepath.Join(dir, "p.yaml")), "--workers", "256", "-o", filepath.Join(dir, "plan.jsonl"))
	for _, temp := range []string{filepath.Join(dir, "missing"), dir} {
		cmd := exec.CommandContext(t.Context(), buildProgram(t), args...)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if temp == dir {
			if err != nil {
				t.Errorf("%v: %s", err, &stderr)
			}
			continue
		}
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 5 || !strings.Contains(stderr.String(), "writing a temporary file in "+temp+": no such file or directory\n") ||
			!strings.Contains(stderr.String(), "hint: ") || strings.Contains(stderr.String(), "MD5 is that of") {
			t.Errorf("%v: %s", err, &stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "plan.jsonl")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a plan: %v", err)
		}
	}
}

// TestStoredTemporaryFile: that there is no room for the checkpoints of a large run ends plan
// and explain alike. What was there stays as it was, and of temporary files nothing is left.
func TestStoredTemporaryFile(t *testing.T) {
	t.Parallel()
	dir, temp := t.TempDir(), t.TempDir()
	c := manyCheckpoints(3000)
	path := c.explain
	c.write(t, dir)
	for name, x := range map[string]struct{ temp, limit, want string }{
		"missing": {filepath.Join(dir, "missing"), "unlimited", "no such file or directory"},
		"full":    {temp, "100", "file too large"}, // 50 KiB; checkpoints take some hundred
	} {
		out := filepath.Join(dir, name+".out")
		if err := os.WriteFile(out, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{c.command("plan", "-o", out), c.command("explain", "-o", out, path)} {
			script := []string{"-c", "ulimit -f " + x.limit + ` && exec "$@"`, "sh", buildProgram(t)}
			cmd := exec.CommandContext(t.Context(), "sh", append(script, args...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+x.temp)
			b, err := cmd.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != 5 || !strings.Contains(string(b), "writing a temporary file in "+x.temp+": "+x.want+"\n") || !strings.Contains(string(b), "TMPDIR") {
				t.Errorf("%s: %s: %v: %s", name, args[0], err, b)
			}
			if b, err := os.ReadFile(out); err != nil || string(b) != "before" {
				t.Errorf("%s: %s: the output is %.100q, %v", name, args[0], b, err)
			}
		}
	}
	for of, want := range map[string]int{temp: 0, dir: 6} { // image, its MD5, policy, list, two outputs
		if list, err := os.ReadDir(of); err != nil || len(list) != want {
			t.Errorf("%v, %v", list, err)
		}
	}
}

// TestPlanFileNames: image and policy have any names; a plan shows them in text form.
func TestPlanFileNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "plan\xfe.jsonl")
	image := filepath.Join(dir, "fsimage_7\xff\n")
	args := sweptImage(t, image, filepath.Join(dir, "p\xff\"\n.yaml"))
	sidecar := `{"format":1,"image_time_ms":1,"source":"s","txid":1,"md5":"00000000000000000000000000000000"}`
	if err := os.WriteFile(image+".fetched.json", []byte(sidecar), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		append(args, "-o", out), append(args, "--format", "json"), append(append([]string{"explain"}, args[1:]...), "/r", "--format", "json"),
	} {
		if b, err := exec.CommandContext(t.Context(), buildProgram(t), args...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", args, err, b)
		}
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := planfile.Open(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header()
	if h.Source.Image != `fsimage_7\xff\n` || h.Policy.Name != `p\xff\"\n.yaml` && h.Policy.Name != `p\xff"\n.yaml` {
		t.Errorf("%q, %q", h.Source.Image, h.Policy.Name)
	}
}

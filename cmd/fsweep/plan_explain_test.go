package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// files writes down what a world has beside its image; false if files cannot say it.
func (w *planWorld) files() (map[string]string, bool) {
	var live strings.Builder
	live.WriteString(`{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nothing-cluster-config-map", "labels": {"app": "nothing", "configmap-type": "high-availability"}}, "data": {}}`)
	for _, id := range w.live {
		fmt.Fprintf(&live, `, {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "metadata": {"name": "nothing"}, "status": {"jobStatus": {"jobId": %q}}}`, id)
	}
	live.WriteString("]}\n")
	pins := "/elsewhere/nothing\n"
	for _, p := range w.pins {
		if strings.ContainsAny(p, "\n*") || strings.TrimSpace(p) != p {
			return nil, false
		}
		pins += p + "\n"
	}
	w.protect = nil
	return map[string]string{"live": live.String(), "pins": pins}, true
}

// TestExplainEveryPath: the program plans what the packages plan, and explain says of
// every path of the image what the plan says: in an item, in one that a belt keeps
// back, or kept. Only what holds an item can be either.
func TestExplainEveryPath(t *testing.T) {
	t.Parallel()
	paths, inItems := 0, 0
	randomPlanWorlds(t, 40, func(t *testing.T, _ *rand.Rand, again func() *planWorld) {
		w := again()
		files, ok := w.files()
		if !ok {
			return
		}
		fromPackages, d := w.plan(t, 1)
		code, stopped := 0, 0
		for _, r := range d.Roots {
			if len(r.Stopped) > 0 {
				code = 4
				stopped++
			}
		}
		if stopped == len(d.Roots) {
			code = 3
		}
		c := planCase{tree: w.tree, at: scriptImageTime, policy: w.policy(), files: files}
		dir := c.write(t)
		plan := planOf(t, code, dir, "fsimage", c.at)
		if got, want := itemsOf(t, plan), itemsOf(t, fromPackages); !slices.Equal(got, want) {
			t.Fatalf("items of the program %q, of the packages %q", got, want)
		}
		var args []string
		for _, n := range w.tree.Nodes() {
			if n != w.tree.Root {
				args = append(args, n.Path())
			}
		}
		verdicts := explainAll(t, dir, c.at, args)
		for i, p := range args {
			want := []string{"keep", "none"}
			for _, l := range planLines(t, plan) {
				switch {
				case l.Type != "item":
				case holds(l.path(), p) && l.Rule == "unreferenced_shared":
					want = []string{"candidate", "deferred"} // belts count these files when the plan is written
				case holds(l.path(), p) && l.Deferred != nil:
					want = []string{"deferred"}
				case holds(l.path(), p):
					want = []string{"candidate"}
				case holds(p, l.path()):
					want = []string{"keep", "none", "candidate", "deferred"}
				}
			}
			if !slices.Contains(want, verdicts[i]) {
				t.Errorf("%q: %s, want one of %s", p, verdicts[i], want)
			}
			if paths++; want[0] == "candidate" || want[0] == "deferred" {
				inItems++
			}
		}
	})
	t.Logf("%d paths, %d of them in items", paths, inItems)
}

// explainAll asks for many paths at once, in their order.
func explainAll(t *testing.T, dir string, at time.Time, paths []string) (verdicts []string) {
	t.Helper()
	args := append([]string{
		"explain", "fsimage", "--policy", "policy.yaml", "--format", "json",
		"--image-time", at.UTC().Format(time.RFC3339Nano), "--now", at.UTC().Add(time.Hour).Format(time.RFC3339Nano),
	}, paths...)
	cmd := exec.CommandContext(t.Context(), "fsweep", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("explain in %s: %v", filepath.Base(dir), err)
	}
	var answer struct {
		Explanations []struct {
			Path    string
			PathB64 []byte `json:"path_b64"`
			Verdict string
		}
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Explanations) != len(paths) {
		t.Fatalf("%d explanations of %d paths", len(answer.Explanations), len(paths))
	}
	for i, e := range answer.Explanations {
		if e.Path != paths[i] && string(e.PathB64) != paths[i] {
			t.Errorf("an answer about %q, not %q", e.Path, paths[i])
		}
		verdicts = append(verdicts, e.Verdict)
	}
	return verdicts
}

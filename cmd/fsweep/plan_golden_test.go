package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

var update = flag.Bool("update", false, "write the golden plans anew")

// planCase is an image, a policy and its lists, and the items that it must give.
type planCase struct {
	tree   *imagetest.Tree
	at     time.Time // of the image; the plan is made an hour later
	policy string
	files  map[string]string // that the policy names
	flags  []string
	items  []string // as the script command "items" lists them
}

// run gives the plan that fsweep makes.
func (c *planCase) run(t testing.TB, code int) []byte {
	t.Helper()
	return planOf(t, code, c.write(t), "fsimage", c.at, c.flags...)
}

// write writes the image and the files into a directory of their own.
func (c *planCase) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	b := c.tree.Image().Bytes()
	now := c.at.Add(time.Hour)
	files := map[string]string{
		"policy.yaml": c.policy, "fsimage": string(b), "fsimage.md5": fmt.Sprintf("%x *fsimage\n", md5.Sum(b)),
	}
	maps.Copy(files, c.files)
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, now, now)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// planOf runs fsweep in a directory and gives the plan. The time zone is an odd one:
// no plan depends on it.
func planOf(t testing.TB, code int, dir, image string, at time.Time, flags ...string) []byte {
	t.Helper()
	args := append([]string{
		"plan", image, "--policy", "policy.yaml", "-o", "plan.jsonl",
		"--image-time", at.UTC().Format(time.RFC3339Nano), "--now", at.UTC().Add(time.Hour).Format(time.RFC3339Nano),
	}, flags...)
	cmd := exec.CommandContext(t.Context(), "fsweep", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TZ=Asia/Kathmandu")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && code == 0:
	case errors.As(err, &exit) && exit.ExitCode() == code:
	default:
		t.Fatalf("fsweep %s: %v\n%s", args, err, out)
	}
	plan, err := os.ReadFile(filepath.Join(dir, "plan.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPlan(plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

func itemsOf(t testing.TB, plan []byte) (items []string) {
	t.Helper()
	for _, l := range planLines(t, plan) {
		if l.Type == "item" {
			items = append(items, l.item())
		}
	}
	return items
}

const goldenPolicy = `version: 1
nameservice: ns1
lock_dir: /ops/fsweep
belts: {max_percent_of_root: 100%}
`

// TestGoldenPlans: a plan for each layout, of trees that real Flink jobs wrote. The
// items were read off the trees; a golden plan that changes must be looked at again.
func TestGoldenPlans(t *testing.T) {
	t.Parallel()
	claim, claimed := flinkTree(t, "2.3.0/rocks-inc-3runs-CLAIM/r3-c3")
	// 1000 inodes, and of the 20 days the unreferenced files need 7.
	claim.Dir("/flink").Quota(1000, 100<<20)
	legacy, restored := flinkTree(t, "1.20.5/sp-CANONICAL-restore-LEGACY/r2-c3")
	ha, killed := flinkTree(t, "1.20.5/hdfs-ha-zk/c3")
	children, err := imagetest.ParseTree(childrenTree, scriptImageTime)
	if err != nil {
		t.Fatal(err)
	}
	const job, next = "/flink/checkpoints/job/", "cf69ed94fb5843f2122aafa987dc2cbb"
	for name, c := range map[string]planCase{
		// Two runs from which the third was restored with CLAIM. They have shared files
		// only, and the third may need all of them.
		"job-run": {
			tree: claim, at: claimed,
			policy: goldenPolicy + "roots:\n  - {path: /flink/checkpoints, layout: job-run, mode: execute, unreferenced_shared: {older_than: 168h}}\n",
			items: append(sharedItems(job+"34ea95bc8a313dd76afdb4e8cb4ced51/shared/"),
				"unit "+job+"bfd5c66a733143d92ecd63584574441b beyond_keep proof",
				"unit "+job+"dd93f4303ee210e26c7da05f6a18e3cc beyond_keep proof"),
		},
		"run": {
			tree: legacy, at: restored,
			policy: goldenPolicy + "live: [{file: live.txt, format: lines}]\nroots:\n  - {path: /flink/checkpoints/job, layout: run}\n",
			files:  map[string]string{"live.txt": next + "\n"},
			items:  []string{"unit " + job + "e5d247fc2322ed462e446f436b912971 not_live proof"},
		},
		"savepoints": {
			tree: legacy, at: restored,
			policy: goldenPolicy + "live: [{file: live.txt, format: lines}]\nroots:\n  - {path: /flink/savepoints, layout: savepoints, mode: execute}\n",
			files:  map[string]string{"live.txt": next + "\n"},
			items:  []string{"unit /flink/savepoints/savepoint-e5d247-2940f90d5724 run_dead proof"},
		},
		// A JobManager that was killed leaves everything. The store of results is no cluster.
		"ha-storage": {
			tree: ha, at: killed,
			policy: goldenPolicy + "live: [{file: k8s.json, format: kubernetes}]\nroots:\n  - {path: /flink/ha, layout: ha-storage, mode: execute}\n",
			files: map[string]string{"k8s.json": `{"apiVersion": "v1", "kind": "List", "items": [
				{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "metadata": {"name": "other", "namespace": "flink"},
				 "status": {"jobStatus": {"jobId": "0123456789abcdef0123456789abcdef"}}},
				{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other-cluster-config-map", "namespace": "flink",
				 "labels": {"app": "other", "configmap-type": "high-availability", "type": "flink-native-kubernetes"}}, "data": {}}]}`},
			items: []string{"unit /flink/ha/lab-cluster not_live proof"},
		},
		"children": {
			tree: children, at: scriptImageTime,
			policy: goldenPolicy + "roots:\n  - {path: /tmp, layout: children, names: [\"spark-*\"], min_age: 720h, mode: execute}\n",
			items:  []string{`child "/tmp/spark-\xff old" old_child`, "child /tmp/spark-1 old_child"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slices.Sort(c.items)
			plan := c.run(t, 0)
			got := itemsOf(t, plan)
			sorted := slices.Clone(got)
			if slices.Sort(sorted); !slices.Equal(sorted, c.items) {
				t.Errorf("items %q, want %q", sorted, c.items)
			}
			compareItems(t, plan, treeInodes(c.tree))
			for _, workers := range []string{"1", "4"} {
				c.flags = []string{"--workers", workers}
				if !bytes.Equal(c.run(t, 0), plan) {
					t.Errorf("another plan with %s workers", workers)
				}
			}
			compareGolden(t, filepath.Join("testdata", "plans", name+".jsonl"), plan)
		})
	}
}

// sharedItems are the files that the third run wrote to shared, from the listing.
func sharedItems(shared string) (items []string) {
	for _, name := range []string{
		"22372a2b-eaf4-44f5-9b2e-2ffda217a3b8", "3c0cc5df-28cb-4a74-b4e0-c13a1380a2f0", "3c82375a-2d0d-4b62-9275-b76c857097a5",
		"4827d8c4-3381-4e49-b8d0-e504f89ad16d", "4fda4b3d-7c68-4f2a-93bc-364a4da743ca", "8a2de1ea-1d86-4c6e-bc67-4d743b2f2655",
		"923ad897-d012-4b6c-9e1b-953bfa52c2c9", "99930be2-6ba2-4e69-9ec3-247589fa7148", "d84c5750-7097-4c08-9580-1676578b77d1",
		"d9f732fe-aa20-411c-be47-4f0376eee539", "dade9953-d61a-4ab7-befc-4c7e8278d2b4",
	} {
		items = append(items, "file "+shared+name+" unreferenced_shared conditional proof")
	}
	return items
}

const childrenTree = `
/tmp/                                 ns-quota=1000
/tmp/spark-1/deep/er/file             -40d 1000 repl=2
/tmp/spark-1/deep/link -> /tmp        -40d
/tmp/spark-1/empty/                   -50d
"/tmp/spark-\xff old/new\nline/file"  -40d 5 owner=dave:users
/tmp/spark-2/file                     -30d 9
/tmp/other/file                       -40d 9
/elsewhere/_metadata                  -1d  9
`

var toolVersion = regexp.MustCompile(`"version":"[^"]*"`)

// compareGolden compares all bytes but the version of the program.
func compareGolden(t *testing.T, file string, plan []byte) {
	t.Helper()
	plan = toolVersion.ReplaceAll(plan, []byte(`"version":"test"`))
	if *update {
		if err := os.WriteFile(file, plan, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, old := bytes.Split(plan, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(got), len(old)) {
		if i >= len(got) || i >= len(old) || !bytes.Equal(got[i], old[i]) {
			t.Fatalf("%s: line %d differs, of %d and %d; -update writes it anew\n%s", file, i+1, len(got), len(old), bytes.Join(got[min(i, len(got)):min(i+1, len(got))], nil))
		}
	}
}

// flinkTree makes an image of a listing of testdata/flink, below /flink. Its time is
// 20 days after the last change.
func flinkTree(t *testing.T, name string) (*imagetest.Tree, time.Time) {
	t.Helper()
	f, err := os.Open("../../testdata/flink/trees.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.Name == name+"/tree.txt" {
			return plantListing(t, r)
		}
	}
}

func plantListing(t *testing.T, r io.Reader) (*imagetest.Tree, time.Time) {
	t.Helper()
	tree, newest := imagetest.NewTree(), int64(0)
	for lines := bufio.NewScanner(r); lines.Scan(); {
		p := strings.SplitN(lines.Text(), " ", 4)
		if p[0] == "#" || p[3] == "." {
			continue
		}
		var n *imagetest.Node
		if path := "/flink/" + p[3]; p[0] == "d" {
			n = tree.Dir(path)
		} else {
			size, err := strconv.ParseUint(p[1], 10, 62)
			if err != nil {
				t.Fatal(err)
			}
			n = tree.File(path, size)
		}
		var err error
		if n.MTimeMs, err = strconv.ParseInt(p[2], 10, 64); err != nil {
			t.Fatal(err)
		}
		n.ATimeMs, newest = n.MTimeMs, max(newest, n.MTimeMs)
	}
	return tree, time.UnixMilli(newest).Add(20 * 24 * time.Hour)
}

package flink

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/fsimage/imagetest"
)

// realTrees are listings of the directories of real Flink jobs, by name:
// version, case, snapshot. testdata/flink/README.md says how they were made.
func realTrees(t *testing.T) map[string][]inode {
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
	trees := map[string][]inode{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return trees
		} else if err != nil {
			t.Fatal(err)
		}
		var list []inode
		for lines := bufio.NewScanner(r); lines.Scan(); {
			parts := strings.SplitN(lines.Text(), " ", 4)
			if parts[0] == "#" || parts[3] == "." {
				continue
			}
			size, _ := strconv.ParseInt(parts[1], 10, 64)
			mtime, err := strconv.ParseInt(parts[2], 10, 64)
			if err != nil {
				t.Fatal(h.Name, lines.Text())
			}
			kind := imagetest.File
			if parts[0] == "d" {
				kind = imagetest.Directory
			}
			list = append(list, inode{kind: kind, size: size, mtime: mtime, atime: mtime, names: append([]string{"flink"}, strings.Split(parts[3], "/")...)})
		}
		trees[strings.TrimSuffix(h.Name, "/tree.txt")] = list
	}
}

// image plants a listing.
func image(list []inode) *imagetest.Tree {
	it := imagetest.NewTree()
	it.Dir("/flink")
	for _, e := range list {
		var n *imagetest.Node
		if e.kind == imagetest.Directory {
			n = it.Dir(e.path())
		} else if n = it.File(e.path()); e.size > 0 {
			n.Blocks = append(n.Blocks, it.Block(uint64(e.size)))
		}
		n.MTimeMs, n.ATimeMs = e.mtime, e.atime
	}
	return it
}

// TestRealTrees: each directory of each real tree, declared as what it is, has
// no misfit and nothing unknown, and exactly what the listing says.
func TestRealTrees(t *testing.T) {
	t.Parallel()
	trees := realTrees(t)
	if len(trees) < 140 {
		t.Fatalf("%d trees", len(trees))
	}
	total := map[string]int{}
	for name, list := range trees {
		it := image(list)
		tree := load(t, it)
		has := func(dir string) bool { _, ok := tree.Lookup([]byte(dir)); return ok }
		var decls []Declaration
		switch {
		case strings.Contains(name, "entropy"):
			decls = append(decls, decl(JobRun, "/flink/checkpoints/_entropy_"))
		case strings.Contains(name, "nosubdir"):
			decls = append(decls, decl(RunLayout, "/flink/checkpoints"))
		default:
			decls = append(decls, decl(JobRun, "/flink/checkpoints"), decl(RunLayout, "/flink/checkpoints/job"))
		}
		if has("/flink/savepoints") {
			decls = append(decls, decl(Savepoints, "/flink/savepoints"))
		}
		if has("/flink/ha") {
			decls = append(decls, decl(HAStorage, "/flink/ha"))
		}
		for _, dc := range decls {
			d := discover(t, tree, dc)
			n := newNaive(dc, listing(it))
			compareNaive(t, d, n, total)
			if len(n.misfits)+len(n.unknown) > 0 {
				t.Errorf("%s, %s: %v %v", name, dc.Path, n.misfits, n.unknown)
			}
			if t.Failed() {
				t.Fatalf("%s, %v %s", name, dc.Layout, dc.Path)
			}
		}
	}
	t.Log(total)
	if total["units"] < 200 || total["guards"] < 200 || total["checkpoints"] < 200 {
		t.Error("too few")
	}
}

// TestRealCases: what a person sees who looks at these trees.
func TestRealCases(t *testing.T) {
	t.Parallel()
	trees := realTrees(t)
	for _, c := range []struct {
		tree string
		decl Declaration
		want []string
	}{
		{"1.20.5/rocks-inc-3runs-CLAIM/r3-c3", decl(JobRun, "/flink/checkpoints"), []string{
			// The claimed runs have shared files only, and look like debris.
			"job: run chk-8, shared 9 0 0, taskowned 0 0 0", "job: run, shared 4 0 0, taskowned 0 0 0", "job: run, shared 6 0 0, taskowned 0 0 0",
		}},
		{"1.20.5/changelog/c2", decl(JobRun, "/flink/checkpoints"), []string{"job: run chk-2, shared 0 0 0, taskowned 2 0 0"}},
		{"1.20.5/filemerge-2runs-CLAIM/r2-c1", decl(JobRun, "/flink/checkpoints"), []string{
			"job: skeleton run, shared 0 0 0, taskowned 0 0 0", "job: run chk-3, shared 8 4 0, taskowned 2 1 0",
		}},
		{"2.3.0/forst/c1", decl(JobRun, "/flink/checkpoints"), []string{"job: run chk-2, shared 7 0 0, taskowned 0 0 0"}},
		{"2.3.0/nosubdir/r2-c1", decl(RunLayout, "/flink/checkpoints"), []string{": run chk-5, shared 13 0 0, taskowned 0 0 0"}},
		{"2.3.0/nosubdir/r2-c1", decl(JobRun, "/flink/checkpoints"), []string{"checkpoint_misplaced chk-5", "checkpoint_misplaced shared", "checkpoint_misplaced taskowned"}},
		{"1.20.5/entropy/c1", decl(JobRun, "/flink/checkpoints"), []string{"reserved_name _entropy_"}},
		{"1.20.5/entropy/c1", decl(JobRun, "/flink/checkpoints/_entropy_"), []string{"job: run chk-1, shared 5 0 0, taskowned 0 0 0"}},
		{"1.20.5/in-progress/inprogress", decl(JobRun, "/flink/checkpoints"), []string{"job: skeleton run chk-1!, shared 0 0 0, taskowned 0 0 0"}},
		{"1.20.5/in-progress/cancelled", decl(JobRun, "/flink/checkpoints"), []string{"job: skeleton run, shared 0 0 0, taskowned 0 0 0"}},
		{"1.20.5/finished/finished", decl(JobRun, "/flink/checkpoints"), []string{"job: skeleton run, shared 0 0 0, taskowned 0 0 0"}},
		{"2.3.0/sp-NATIVE-restore-CLAIM/sp", decl(Savepoints, "/flink/savepoints"), []string{": savepoint complete 13 files"}},
		{"1.20.5/hdfs-ha-zk/c3", decl(HAStorage, "/flink/ha"), []string{": ha-cluster lab-cluster 3 pointers"}},
		{"1.20.5/hdfs-ha-zk/zz-after-cluster-close", decl(HAStorage, "/flink/ha"), []string{": skeleton ha-cluster lab-cluster 0 pointers"}},
		// One level too deep, and too shallow.
		{"1.20.5/changelog/c2", decl(JobRun, "/flink/checkpoints/job"), []string{"run_misplaced 15898662a47506c469aaded5d0045b77"}},
		{"1.20.5/changelog/c2", decl(JobRun, "/flink"), []string{"run_without_state 15898662a47506c469aaded5d0045b77", "run_without_state job"}},
		// The changelog's own directories are no runs.
		{"1.20.5/changelog/c2", decl(RunLayout, "/flink/changelog"), []string{"run_without_state 15898662a47506c469aaded5d0045b77"}},
		{"1.20.5/changelog/c2", decl(Children, "/flink", names("checkpoints")), []string{"flink_state chk-2", "flink_state _metadata", "flink_state dstl", "flink_state shared", "flink_state taskowned"}},
	} {
		list, ok := trees[c.tree]
		if !ok {
			t.Fatal(c.tree)
		}
		r := discover(t, load(t, image(list)), c.decl).Roots[0]
		var got []string
		for _, m := range r.Misfits {
			s := string(m.Path)
			got = append(got, fmt.Sprint(string(m.Reason), " ", s[strings.LastIndexByte(s, '/')+1:]))
		}
		for _, j := range r.Jobs {
			for _, u := range j.Units {
				got = append(got, fmt.Sprintf("%s:%s", j.Name, described(u)))
			}
		}
		if len(r.Misfits) > 0 {
			got = got[:len(r.Misfits)]
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %v: %s", c.tree, c.decl.Layout, diff)
		}
	}
}

func described(u *Unit) string {
	var b strings.Builder
	if u.Skeleton {
		b.WriteString(" skeleton")
	}
	b.WriteString(" " + u.Kind.String())
	switch u.Kind {
	case RunUnit:
		for _, c := range u.Checkpoints {
			fmt.Fprintf(&b, " chk-%d", c.N)
			if !c.Complete() {
				b.WriteByte('!')
			}
		}
		fmt.Fprintf(&b, ", shared %d %d %d, taskowned %d %d %d", u.Shared.Totals.Files, u.Shared.Merged, u.Shared.ForSt, u.Taskowned.Totals.Files, u.Taskowned.Merged, u.Taskowned.ForSt)
	case SavepointUnit:
		if u.Complete() {
			b.WriteString(" complete")
		}
		fmt.Fprintf(&b, " %d files", u.Totals.Files)
	case ClusterUnit:
		fmt.Fprintf(&b, " %s %d pointers", u.Name, u.Pointers)
	case ChildUnit:
	}
	return b.String()
}

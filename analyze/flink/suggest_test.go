package flink

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/namespace"
	"fsweep/fsimage/imagetest"
)

func suggestions(t *testing.T, tree *namespace.Tree) []string {
	t.Helper()
	var first []string
	for _, workers := range []int{1, 3} {
		list, err := Suggest(t.Context(), tree, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprintf("%s %v: %d jobs, %d units, %d checkpoints", s.Path, s.Layout, s.Jobs, s.Units, s.Checkpoints))
		}
		if first != nil && !slices.Equal(first, got) {
			t.Errorf("%d workers: %q, not %q", workers, got, first)
		}
		first = got
	}
	return first
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), slices.Concat(
		runAt("/flink/cp/job1/"+runA), runAt("/flink/cp/job1/"+runB), runAt("/flink/cp/job2/"+runA),
		runAt("/sessions/"+runA), runAt("/plain/etl"), runAt("/user/x/.Trash/Current/cp/j/"+runA), runAt("/"+runB),
		[]string{
			"/flink/sp/" + sp1 + "/_metadata", "/grouped/a/" + sp1 + "/", "/grouped/b/" + sp2 + "/", "/sessions/README", "/" + sp1 + "/_metadata",
			"/ha/c1/completedCheckpoint0123456789ab", "/ha/c1/submittedJobGraph1", "/ha/c2/completedCheckpoint0123456789ab", "/ha2/job-result-store/c/",
			"/home/ann/shared/x", "/home/ann/chk-x/", "/x/completedCheckpointsAreNoCluster/",
		})...)
	if diff := cmp.Diff([]string{
		"/flink/cp job-run: 2 jobs, 3 units, 3 checkpoints",
		"/flink/sp savepoints: 0 jobs, 1 units, 0 checkpoints",
		"/grouped savepoints: 2 jobs, 2 units, 0 checkpoints",
		"/ha ha-storage: 0 jobs, 2 units, 0 checkpoints",
		"/ha2 ha-storage: 0 jobs, 0 units, 0 checkpoints",
		"/plain run: 0 jobs, 1 units, 1 checkpoints",
		"/sessions run: 0 jobs, 1 units, 1 checkpoints",
	}, suggestions(t, load(t, it))); diff != "" {
		t.Error(diff)
	}
}

// TestSuggestQuota: the share of every quota that the tree is charged to.
func TestSuggestQuota(t *testing.T) {
	t.Parallel()
	it := plant(imagetest.NewTree(), append(runAt("/a/cp/"+runA), "/a/cp/README", "/a/x")...)
	it.Dir("/a").Quota(100, 1<<20)
	it.Dir("/a/cp").Quota(50, imagetest.NoQuota)
	list, err := Suggest(t.Context(), load(t, it), Options{})
	if err != nil || len(list) != 1 || len(list[0].Quotas) != 2 {
		t.Fatalf("%v: %+v", err, list)
	}
	// cp, README, the run, its three directories and three files.
	near, far := list[0].Quotas[0], list[0].Quotas[1]
	if string(near.Path) != "/a/cp" || near.Quota.Namespace != 50 || near.Quota.Space != namespace.Unset || near.Used.Namespace != 9 || near.Here.Namespace != 9 {
		t.Errorf("%+v", near)
	}
	if string(far.Path) != "/a" || far.Quota.Namespace != 100 || far.Used.Namespace != 11 || far.Here.Namespace != 9 || far.Used.Space != 150 || far.Here.Space != 120 {
		t.Errorf("%+v", far)
	}
	if want := (Totals{Directories: 5, Files: 4, Length: 40, Space: 120}); list[0].Totals != want {
		t.Errorf("%+v", list[0].Totals)
	}
}

// TestSuggestReal: what a person would declare for real trees.
func TestSuggestReal(t *testing.T) {
	t.Parallel()
	trees := realTrees(t)
	for name, want := range map[string][]string{
		"1.20.5/hdfs-ha-zk/c3":             {"/flink/checkpoints job-run: 1 jobs, 1 units, 2 checkpoints", "/flink/ha ha-storage: 0 jobs, 1 units, 0 checkpoints"},
		"2.3.0/sp-NATIVE-restore-CLAIM/sp": {"/flink/checkpoints job-run: 1 jobs, 1 units, 1 checkpoints", "/flink/savepoints savepoints: 0 jobs, 1 units, 0 checkpoints"},
		"2.3.0/nosubdir/r2-c1":             {"/flink/checkpoints run: 0 jobs, 1 units, 1 checkpoints"},
		"1.20.5/entropy/c1":                {"/flink/checkpoints/_entropy_ job-run: 1 jobs, 1 units, 1 checkpoints"},
		"1.20.5/changelog/r2-claim-c1":     {"/flink/checkpoints job-run: 1 jobs, 2 units, 2 checkpoints"},
	} {
		if diff := cmp.Diff(want, suggestions(t, load(t, image(trees[name])))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

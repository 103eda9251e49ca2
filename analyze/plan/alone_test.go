package plan

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/analyze/cleanup"
	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// TestDeferredAlone: where nothing groups units, and among the debris of one, what is
// deferred keeps nothing else back; in a group it keeps back what is older, and of a run
// that is split the parts behind it.
func TestDeferredAlone(t *testing.T) {
	t.Parallel()
	const belt = "max_bytes"
	tooMuch := cleanup.Fact{Rule: cleanup.BeltBytes, N: 70, Limit: 50}
	for name, tc := range map[string]struct {
		roots   string
		files   []string // of the first a snapshot has 60 bytes more, in one that is gone
		want    []string
		because cleanup.Fact // of one that is deferred
	}{
		"children": {
			"{path: /s/t, layout: children, names: [sp-*], min_age: 1h, mode: execute}",
			[]string{"/s/t/sp-2/a", "/s/t/sp-1/a", "/s/t/sp-3/a"},
			[]string{"/s/t/sp-1 ", "/s/t/sp-2 " + belt, "/s/t/sp-3 "},
			tooMuch,
		},
		"ha-storage": {
			"{path: /s/ha, layout: ha-storage, min_age: 1h, mode: execute}",
			[]string{"/s/ha/a/blob/x", "/s/ha/b/blob/x"},
			[]string{"/s/ha/a " + belt, "/s/ha/b "},
			tooMuch,
		},
		"run": {
			"{path: /s/run, layout: run, min_age: 1h, mode: execute}",
			[]string{"/s/run/" + runB + "/shared/a", "/s/run/" + runC + "/shared/a"},
			[]string{"/s/run/" + runB + " " + belt, "/s/run/" + runC + " "},
			tooMuch,
		},
		"job-run": {
			"{path: /s/cp, layout: job-run, mode: execute}",
			[]string{"/s/cp/j/" + runB + "/shared/a", "/s/cp/j/" + runA + "/chk-1/_metadata", "/s/cp/j/" + runC + "/shared/a", "/s/cp/k/" + runA + "/chk-1/_metadata", "/s/cp/k/" + runC + "/shared/a"},
			[]string{"/s/cp/j/" + runB + " " + belt, "/s/cp/j/" + runC + " newer_deferred", "/s/cp/k/" + runC + " "},
			cleanup.Fact{Rule: cleanup.NewerDeferred, Path: "/s/cp/j/" + runB},
		},
		"split": {
			"{path: /s/cp, layout: job-run, mode: execute}",
			[]string{"/s/cp/j/" + runB + "/chk-5/state", "/s/cp/j/" + runB + "/shared/a", "/s/cp/j/" + runB + "/shared/b", "/s/cp/j/" + runA + "/chk-1/_metadata", "/s/cp/j/" + runC + "/shared/a"},
			[]string{"/s/cp/j/" + runB + "/chk-5 " + belt, "/s/cp/j/" + runB + "/shared other_part_deferred", "/s/cp/j/" + runC + " newer_deferred"},
			cleanup.Fact{Rule: cleanup.EarlierPartStays, Path: "/s/cp/j/" + runB + "/chk-5"},
		},
	} {
		w := newWorld("live: [{file: l, format: kubernetes}]\nbelts: {max_percent_of_root: 100%, max_bytes: 50B, max_inodes_per_move: 5}\nroots: [" + tc.roots + "]\n")
		w.live = []string{"ffffffffffffffffffffffffffffff01"}
		var gone *imagetest.Node
		for i, path := range tc.files {
			age := int64(300 + 50*i)
			if strings.Contains(path, "_metadata") {
				age = 2
			}
			w.put(path, age, 10)
			if i == 0 {
				gone = w.put(path+"-gone", 600, 60)
			}
		}
		w.snapshot("/s")
		dir := gone.Parent
		w.it.Detach(gone)
		w.it.Diff(dir, &pb.SnapshotDiffSection_DirectoryDiff{SnapshotId: proto.Uint32(1), DeletedINode: []uint64{gone.ID}})
		m := w.write(t, 1)
		var got []string
		for _, i := range m.plan.items {
			got = append(got, string(i.Path)+" "+i.Deferred)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		found := false
		for _, w := range m.written {
			found = found || len(w.Why) == 1 && w.Why[0] == tc.because
		}
		if !found {
			t.Errorf("%s: %+v", name, m.written)
		}
	}
}

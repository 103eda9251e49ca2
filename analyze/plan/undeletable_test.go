package plan

import (
	"slices"
	"testing"

	"fsweep/fsimage/imagetest"
)

// TestUndeletable: an erasure coded file that a snapshot shows must not get into the
// trash: NameNodes fail to delete it there (analyze/namespace measured that). Other
// files may, and so may this one without a snapshot.
func TestUndeletable(t *testing.T) {
	t.Parallel()
	run := "/s/cp/job/" + runA
	for _, snapshot := range []bool{false, true} {
		w := newWorld("belts: {max_percent_of_root: 100%}\n" +
			"roots: [{path: /s/cp, layout: job-run, mode: execute, unreferenced_shared: {older_than: 200h}}]\n")
		w.put(run+"/chk-9/_metadata", 2, 10)
		stripe := func(n *imagetest.Node) {
			n.EC, n.Replication = 1, 0
			n.Blocks[0].ID = 1<<63 | n.Blocks[0].ID<<4
		}
		stripe(w.put(run+"/chk-9/._metadata.inprogress.a", 300, 10))
		stripe(w.put(run+"/shared/striped", 300, 10))
		w.put(run+"/shared/replicated", 300, 10)
		if snapshot {
			w.snapshot("/s")
		}
		m := w.write(t, 2)
		var got []string
		for _, i := range m.plan.items {
			got = append(got, string(i.Path[len(run):])+" "+i.Deferred)
		}
		want := []string{"/chk-9/._metadata.inprogress.a ", "/shared/replicated ", "/shared/striped "}
		passed := int64(0)
		if snapshot {
			// Debris stands for itself: what is deferred keeps no other debris back.
			want, passed = []string{"/chk-9/._metadata.inprogress.a undeletable", "/shared/replicated "}, 1
		}
		if !slices.Equal(got, want) {
			t.Errorf("with a snapshot %v: %q, want %q", snapshot, got, want)
		}
		for _, s := range m.Sweeps {
			if s.PassedOver.Files != passed {
				t.Errorf("with a snapshot %v: %+v", snapshot, s)
			}
		}
	}
}

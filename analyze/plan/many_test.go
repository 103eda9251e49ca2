package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/internal/extsort"
	pb "fsweep/proto/fsimage"
	"fsweep/proto/planfile"
)

// TestManyItems: more items than a worker has sums for, with the inodes of all of them
// in turn.
func TestManyItems(t *testing.T) {
	t.Parallel()
	w := newWorld("belts: {max_items: 5000, max_percent_of_root: 100%}\nroots: [{path: /t, layout: children, names: [sp-*], min_age: 1h, mode: execute}]\n")
	for round := range 4 {
		for i := range 700 {
			w.put(fmt.Sprintf("/t/sp-%d/d%d/f", i, round), 500, uint64(round))
		}
	}
	m := w.write(t, 2)
	if len(m.plan.items) != 700 {
		t.Fatal(len(m.plan.items))
	}
	newNaive(w.it).check(t, m)
}

// TestBeltsAndSnapshots: what snapshots hold counts against the belts of a plan, though
// the decision does not know of it. What is older in the job stays as well.
func TestBeltsAndSnapshots(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]string{
		107: {"job/" + runA + "/shared/s ", "job/" + runB + " ", "job/" + runC + " ", "other/" + runB + " "},
		100: {"job/" + runA + "/shared/s max_bytes", "job/" + runB + " ", "job/" + runC + " ", "other/" + runB + " "},
		99:  {"job/" + runA + "/shared/s ", "job/" + runB + " ", "job/" + runC + " ", "other/" + runB + " max_bytes"},
		89:  {"job/" + runA + "/shared/s ", "job/" + runB + " ", "job/" + runC + " max_bytes", "other/" + runB + " "},
		69:  {"job/" + runA + "/shared/s ", "job/" + runB + " max_bytes", "job/" + runC + " newer_deferred", "other/" + runB + " "},
	} {
		w := newWorld(fmt.Sprintf("belts: {max_bytes: %dB, max_percent_of_root: 100%%}\nroots: [{path: /s/cp, layout: job-run, mode: execute, unreferenced_shared: {older_than: 200h}}]\n", limit))
		for _, job := range []string{"job", "other"} {
			w.put("/s/cp/"+job+"/"+runA+"/chk-9/_metadata", 2, 10)
			w.put("/s/cp/"+job+"/"+runB+"/chk-4/_metadata", 400, 10)
		}
		w.put("/s/cp/job/"+runC+"/chk-4/_metadata", 500, 20)
		w.put("/s/cp/job/"+runA+"/shared/s", 300, 7)
		gone := w.put("/s/cp/job/"+runB+"/chk-4/gone", 600, 60)
		w.snapshot("/s")
		w.it.Detach(gone)
		w.it.Diff(w.it.Dir("/s/cp/job/"+runB+"/chk-4"), &pb.SnapshotDiffSection_DirectoryDiff{SnapshotId: proto.Uint32(1), DeletedINode: []uint64{gone.ID}})
		m := w.write(t, 1)
		if len(m.decision.Deferred) > 0 {
			t.Fatal("the decision knows")
		}
		for path, w := range m.written {
			if len(w.Why) == 0 {
				continue
			}
			switch f := w.Why[0]; {
			case f.Rule == cleanup.NewerDeferred && f.Path == "/s/cp/job/"+runB: // what it would make, and the limit
			case f.Rule != cleanup.BeltBytes || f.N <= f.Limit || f.Limit != int64(limit):
				t.Errorf("limit %d: %s: %+v", limit, path, w.Why)
			}
		}
		var got []string
		for _, i := range m.plan.items {
			got = append(got, string(i.Path[len("/s/cp/"):])+" "+i.Deferred)
			if i.Run == runB && i.Job == "job" && (i.Totals.Length != 70 || i.Entries != 3 || i.Freed != planfile.Freed{HeldBySnapshots: 30}) {
				t.Errorf("%+v", i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
}

// TestManyUnitsEnd: a job can have so many units that an interruption cannot wait for all.
func TestManyUnitsEnd(t *testing.T) {
	t.Parallel()
	const units = 100
	w := newWorld("roots: [{path: /f/cp, layout: job-run}]\n")
	for i := range units {
		w.put(fmt.Sprintf("/f/cp/job/%032x/chk-1/_metadata", i+1), int64(300+i), 10)
	}
	r, _ := w.request(t, 1)
	b := newBuilder(r)
	defer b.close()
	ctx, cancel := context.WithCancel(t.Context())
	b.units = extsort.New(extsort.Options{})
	steps := 0
	err := r.Decider.Each(t.Context(), func(s *cleanup.Step) error {
		cancel() // while the job is decided about
		steps += len(s.Job.Units)
		return b.addUnits(ctx, jobKey{}, s)
	})
	if !errors.Is(err, context.Canceled) || steps != units {
		t.Errorf("%v after %d units", err, steps)
	}
	if err := b.units.Finish(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.unknownOf(ctx, jobKey{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLargeJobEnds: an interruption ends what is decided about one job that is larger than
// memory, of which units come one by one.
func TestLargeJobEnds(t *testing.T) {
	t.Parallel()
	const units = 100
	w := newWorld("roots: [{path: /f/cp, layout: job-run}]\n")
	w.sortLimit, w.tempDir = 1, t.TempDir()
	for i := range units {
		w.put(fmt.Sprintf("/f/cp/job/%032x/chk-1/_metadata", i+1), int64(300+i), 10)
	}
	r, _ := w.request(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	step := func(s *cleanup.Step) error {
		if len(s.Job.Units) != 1 || s.First != steps {
			t.Errorf("%d units behind %d, want one behind %d", len(s.Job.Units), s.First, steps)
		}
		if steps++; steps == 7 {
			cancel()
		}
		return nil
	}
	if err := r.Decider.Each(ctx, step); !errors.Is(err, context.Canceled) || steps != 7 {
		t.Errorf("%v after %d units", err, steps)
	}
	if err := r.Decider.Each(ctx, step); !errors.Is(err, context.Canceled) || steps != 7 {
		t.Errorf("%v after %d units", err, steps)
	}
	steps = 8
	if err := r.Decider.Each(t.Context(), func(s *cleanup.Step) error {
		if steps++; s.Job.Units[0].Newer != int64(steps-9) {
			t.Errorf("%d are newer than unit %d", s.Job.Units[0].Newer, steps-9)
		}
		return nil
	}); err != nil || steps != 8+units {
		t.Errorf("%v after %d units", err, steps-8)
	}
}

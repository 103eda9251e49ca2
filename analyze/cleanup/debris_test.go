package cleanup

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/flink"
)

func emptyMetadata(c *flink.Checkpoint) { c.Metadata = &flink.File{Name: "_metadata"} }

func leftover(age float64, open bool) func(*flink.Checkpoint) {
	return func(c *flink.Checkpoint) {
		c.InProgress = append(c.InProgress, flink.File{Name: "._metadata.inprogress.1", INodeID: 77, Length: 5, MTimeMs: days(age), Open: open})
	}
}

func TestDebrisSentences(t *testing.T) {
	t.Parallel()
	const r = "j/" + idA
	kept := func(edits ...func(*flink.Unit)) *world { return root(JobRun, job("j", run(idA, 1, edits...))) }
	stale := func(w *world) { w.root().StaleCheckpoints = &StaleCheckpoints{KeepNewest: 1, OlderThan: 24 * hour} }
	for _, s := range []struct {
		says string
		w    *world
		want []string
	}{
		{"chk-N without _metadata, older than a grace, N below the newest complete", kept(chk(5, 3, false), chk(6, 2.5, false, emptyMetadata)), []string{"checkpoint " + r + "/chk-5", "checkpoint " + r + "/chk-6"}},
		{"not younger than the grace", kept(chk(5, 2, false)), nil},
		{"not with data that was read within the grace", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.Times.NewestDataATimeMs = days(1) })), nil},
		{"not above the newest complete", kept(chk(8, 3, false)), nil},
		{"not with a file open", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.OpenFiles = 1 })), nil},
		{"not with a _metadata that is being written", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.Metadata = &flink.File{Open: true} })), nil},
		{"not with a marker", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.MarkedInside = true })), nil},
		{"not with a quota", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.Flags.Quota = true })), nil},
		{"not of unknown age", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.Times.UnknownMTimes = 1 })), nil},
		{"not in a run without a complete checkpoint", root(JobRun, job("j", run(idA, 3, nothingComplete, chk(5, 3, false)))), nil},
		{"a live unit is kept whole", kept(chk(5, 3, false)).with(lives(idA)), nil},
		{"a pinned one too", kept(chk(5, 3, false)).with(func(w *world) { w.in.Pins = []Path{"/r/" + r + "/chk-7"} }), nil},
		{"numbers say nothing where ids are used again", root(JobRun, job("j", run(reused, 1, chk(5, 3, false)))), nil},
		{"_metadata.inprogress leftovers", kept(chk(6, 2, true, leftover(3, false))), []string{"file " + r + "/chk-6/._metadata.inprogress.1"}},
		{"not one that is open", kept(chk(6, 2, true, leftover(3, true))), nil},
		{"not one that is young", kept(chk(6, 2, true, leftover(2, false))), nil},
		{"not one beside data that was read within the grace", kept(chk(6, 2, true, leftover(3, false), func(c *flink.Checkpoint) { c.Times.NewestDataATimeMs = days(1) })), nil},
		{"one in debris goes with it", kept(chk(5, 3, false, leftover(3, false))), []string{"checkpoint " + r + "/chk-5"}},
		{"a run that goes as a whole has no debris", root(JobRun, job("j", run(idA, 1), run(idB, 20, chk(5, 30, false)))), []string{"unit j/" + idB}},
		{"stale checkpoints are opt-in", kept(chk(5, 30, true), chk(6, 20, true)), nil},
		{"stale checkpoints beyond the newest K by number", kept(chk(5, 30, true), chk(6, 20, true)).with(stale), []string{"checkpoint " + r + "/chk-5", "checkpoint " + r + "/chk-6"}},
		{"K are kept", kept(chk(5, 30, true), chk(6, 20, true)).with(stale, func(w *world) { w.root().StaleCheckpoints.KeepNewest = 2 }), []string{"checkpoint " + r + "/chk-5"}},
		{"older than min_age", kept(chk(6, 5, true)).with(stale), nil},
		{"older than its own age", kept(chk(6, 20, true)).with(stale, func(w *world) { w.root().StaleCheckpoints.OlderThan = 480 * hour }), nil},
		{"not if times contradict numbers", root(JobRun, job("j", run(idA, 20, chk(6, 10, true)))).with(stale), nil},
	} {
		t.Run(s.says, func(t *testing.T) {
			t.Parallel()
			d := s.w.decide(t)
			if diff := cmp.Diff(s.want, moved(d)); diff != "" {
				t.Error(diff)
			}
			for _, i := range d.Items {
				if !i.NeedsReferenceProof || i.Conditional != (i.Rule == StaleCheckpoint) || len(i.AppendFacts(nil)) == 0 || i.Inodes < 1 {
					t.Errorf("%+v", i)
				}
			}
		})
	}
}

// TestUnreferencedShared: the rule is opt-in, and names where to look.
func TestUnreferencedShared(t *testing.T) {
	t.Parallel()
	shared := func(u *flink.Unit) { u.Shared = flink.Area{INodeID: 9, Totals: flink.Totals{Files: 3}} }
	w := root(JobRun, job("j", run(idA, 1, shared), run(idB, 20, shared)), job("k", run(idC, 1, shared))).with(lives(idC))
	if d := w.decide(t); len(d.Sweeps) != 0 {
		t.Error(d.Sweeps)
	}
	w.root().UnreferencedShared = &UnreferencedShared{OlderThan: 24 * hour}
	d := w.decide(t)
	if len(d.Sweeps) != 1 || d.Sweeps[0].Path != "/r/j/"+idA+"/shared" || d.Sweeps[0].BeforeMs != days(6) || d.Sweeps[0].INodeID != 9 {
		t.Errorf("%+v", d.Sweeps)
	}
}

// TestSweptFiles: each file counts by itself, and on from what was decided.
func TestSweptFiles(t *testing.T) {
	t.Parallel()
	shared := func(u *flink.Unit) { u.Shared = flink.Area{INodeID: 9, Totals: flink.Totals{Files: 3}} }
	w := root(JobRun, job("j", run(idA, 1, shared), run(idB, 20)))
	w.root().UnreferencedShared = &UnreferencedShared{OlderThan: 24 * hour}
	w.p.Belts.MaxItems = 2
	d := w.decide(t)
	s := d.Sweeps[0]
	old := flink.File{INodeID: 5, Length: 3, MTimeMs: days(7)}
	for says, i := range map[string]*Item{
		"open":        d.File(s, s.Path+"/f", 9, flink.File{MTimeMs: days(7), Open: true}, 0),
		"young":       d.File(s, s.Path+"/f", 9, flink.File{MTimeMs: days(6)}, 0),
		"unknown age": d.File(s, s.Path+"/f", 9, flink.File{}, 0),
		"read":        d.File(s, s.Path+"/f", 9, old, days(1)),
		"elsewhere":   d.File(s, s.Path+"x/f", 9, old, 0),
		"itself":      d.File(s, s.Path, 9, old, 0),
	} {
		if i != nil {
			t.Error(says)
		}
	}
	if i := d.File(s, s.Path+"/op/f", 8, old, days(7)); i == nil || !i.Conditional || !i.NeedsReferenceProof || i.Kind != FileItem || i.INodeID != 5 || i.ParentID != 8 || i.Bytes != 3 || len(i.Deferred) != 0 {
		t.Errorf("%+v", i)
	}
	if i := d.File(s, s.Path+"/op/g", 8, old, days(7)); i == nil || len(i.Deferred) != 1 || i.Deferred[0] != (Fact{Rule: BeltItems, N: 3, Limit: 2}) {
		t.Errorf("%+v", i)
	}
}

// TestReferenceProof: every unit that holds or held Flink state needs it.
func TestReferenceProof(t *testing.T) {
	t.Parallel()
	bare := func(u *flink.Unit) { u.Totals, u.Skeleton = flink.Totals{Directories: 3}, false; nothingComplete(u) }
	for want, w := range map[bool]*world{
		true:  root(JobRun, job("j", run(idA, 10), run(idB, 20, bare), run(idC, 30, skeleton))),
		false: root(Children, job("", unit(flink.ChildUnit, "spark-1", 10))),
	} {
		d := w.decide(t)
		if len(d.Items) == 0 || slices.ContainsFunc(d.Items, func(i *Item) bool { return i.NeedsReferenceProof != want }) {
			t.Errorf("%v: %+v", want, d.Items)
		}
	}
}

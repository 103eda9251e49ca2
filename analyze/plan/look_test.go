package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
)

// look takes down what became of all items, and compares jobs and units with those that
// were decided about in memory.
func (m *made) look(t testing.TB) {
	t.Helper()
	m.written, m.Sweeps = map[cleanup.Path]Written{}, map[*cleanup.Sweep]SweepTotals{}
	var got, want, swept, sweeps []string
	err := m.Each(t.Context(), func(e *Entry) error {
		if e.Unit == nil {
			got = append(got, showJob(e.Root, e.Job), fmt.Sprintf("%d %+v", e.NumUnknown, e.Unknown))
			return nil
		}
		if e.More { // of the unit before
			if !e.Unit.Many() {
				t.Errorf("%s has more items than it says", e.Unit.Path)
			}
			got[len(got)-1] += showItems(e.Unit.Items)
		} else {
			got = append(got, showUnit(e.Unit))
		}
		for i := range e.Sweeps {
			w := &e.Sweeps[i]
			swept = append(swept, fmt.Sprintf("%q %d %v %d %q", w.Path, w.INodeID, w.Rule, w.BeforeMs, w.Unit.Path))
			if w.Looked {
				m.Sweeps[w.Sweep] = w.SweepTotals
			} else if w.SweepTotals != (SweepTotals{}) {
				t.Errorf("%s: %+v", w.Path, w.SweepTotals)
			}
		}
		for n, i := range e.Unit.Items {
			w := e.Items[n]
			w.Why = slices.Clone(w.Why)
			m.written[i.Path] = w
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range m.decision.Roots {
		for _, j := range r.Jobs {
			n, unknown := int64(0), []flink.Misfit(nil)
			var units []string
			for _, u := range j.Units {
				units = append(units, showUnit(u))
				if !j.Job.Grouped() {
					n += u.Unit.NumUnknown
					unknown = append(unknown, u.Unit.Unknown...)
				}
			}
			want = append(append(want, showJob(r, j), fmt.Sprintf("%d %+v", n, unknown[:min(len(unknown), flink.MaxListed)])), units...)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, w := range m.decision.Sweeps {
		sweeps = append(sweeps, fmt.Sprintf("%q %d %v %d %q", w.Path, w.INodeID, w.Rule, w.BeforeMs, w.Unit.Path))
	}
	if diff := cmp.Diff(sweeps, swept); diff != "" {
		t.Error(diff)
	}
}

func showJob(r *cleanup.RootDecision, j *cleanup.JobDecision) string {
	return fmt.Sprintf("%s %v %q %v %q %v %d %+v %d %+v %+v", r.Policy.Path, r.Stopped, j.Name, j.Mapped, j.Job.Name, j.Job.Excluded, j.Job.INodeID, j.Job.Totals, j.Job.NumUnknown, j.Job.Unknown, j.Stopped)
}

func showUnit(u *cleanup.UnitDecision) string {
	f := u.Unit
	text := fmt.Sprintf("%q %v %v %v %v %d %d %q %d %+v %+v %d %d %d %+v %v", u.Path, u.Verdict, u.Rule, u.Whole(), u.NeedsReferenceProof, u.Newer, f.Kind, f.Name, f.INodeID, f.Totals,
		f.Times.Newest, f.Times.NewestMetadataMs, f.Times.NewestDataATimeMs, f.NumUnknown, f.Unknown, f.Times.HasMetadata)
	return text + fmt.Sprintf(" %+v", u.Keeps) + showItems(u.Items)
}

func showItems(items []*cleanup.Item) (text string) {
	for _, i := range items {
		text += fmt.Sprintf(" %v %v %q %d %d %d %d %d %v %v %+v %+v", i.Kind, i.Rule, i.Path, i.INodeID, i.ParentID, i.SplitOf, i.Inodes, i.Bytes, i.NeedsReferenceProof, i.Conditional, i.Facts, i.Deferred)
	}
	return text
}

// TestManyUnknown: of the entries that are not Flink's in what nothing groups the first are
// listed, in the order of the units, and all are counted.
func TestManyUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld("live: [{file: k8s, format: kubernetes}]\nroots: [{path: /sp, layout: savepoints}]\n")
	w.live = []string{runE}
	for i := range 60 {
		for k := range 20 {
			w.put(fmt.Sprintf("/sp/savepoint-0000aa-%012x/odd-%d/", i, k), int64(400+(i*37)%60))
		}
	}
	m := w.write(t, 2) // compares
	n := 0
	if err := m.Each(t.Context(), func(e *Entry) error {
		if e.Unit == nil && (e.NumUnknown != 1200 || len(e.Unknown) != flink.MaxListed) {
			t.Errorf("%d of %d", len(e.Unknown), e.NumUnknown)
		}
		n++
		return nil
	}); err != nil || n != 61 {
		t.Error(n, err)
	}
}

package cleanup

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/flink"
)

// TestStaysSentences: what is said of a checkpoint that no rule takes, and nothing else.
func TestStaysSentences(t *testing.T) {
	t.Parallel()
	const day = 86_400_000
	chk5 := Path("/r/j/" + idA + "/chk-5")
	readAt := func(age float64) func(*flink.Checkpoint) {
		return func(c *flink.Checkpoint) { c.Times.NewestDataATimeMs = days(age) }
	}
	stale := func(keep Count, age Duration) func(*world) {
		return func(w *world) { w.root().StaleCheckpoints = &StaleCheckpoints{KeepNewest: keep, OlderThan: age} }
	}
	kept := func(edits ...func(*flink.Unit)) *world { return root(JobRun, job("j", run(idA, 1, edits...))) }
	changed := func(age float64, limit int64, key string) Fact {
		return Fact{Rule: DebrisChanged, TimeMs: days(age), Place: flink.CheckpointPlace, LimitMs: limit * day, Text: key}
	}
	for _, s := range []struct {
		says string
		w    *world
		want []Fact
	}{
		{"taken", kept(chk(5, 3, false)), nil},
		{"young", kept(chk(5, 2, false)), []Fact{changed(2, 2, "incomplete_checkpoints.older_than")}},
		{"read", kept(chk(5, 3, false, readAt(1))), []Fact{{Rule: DebrisRead, TimeMs: days(1), LimitMs: 2 * day, Text: "incomplete_checkpoints.older_than"}}},
		{"marked", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.MarkedInside = true })), []Fact{{Rule: Marked, Path: chk5}}},
		{"quota, open and young", kept(chk(5, 1, false, func(c *flink.Checkpoint) { c.Flags.Quota, c.OpenFiles = true, 2 })), []Fact{{Rule: QuotaDirectory}, {Rule: OpenFile, N: 2}, changed(1, 2, "incomplete_checkpoints.older_than")}},
		{"its _metadata is open", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.Metadata = &flink.File{Open: true} })), []Fact{{Rule: OpenFile, N: 1}}},
		{"unknown age", kept(chk(5, 3, false, func(c *flink.Checkpoint) { c.Times.UnknownMTimes = 3 })), []Fact{{Rule: UnknownAge, N: 3}}},
		{"stale is off", kept(chk(5, 30, true)), []Fact{{Rule: StaleOff, N: 5}}},
		{"stale", kept(chk(5, 30, true)).with(stale(1, 24*hour)), nil},
		{"among the newest", kept(chk(5, 30, true)).with(stale(2, 24*hour)), []Fact{{Rule: AmongNewest, N: 5, Limit: 2}}},
		{"younger than min_age decides", kept(chk(5, 5, true)).with(stale(1, 24*hour)), []Fact{changed(5, 6, "min_age")}},
		{"its own age decides", kept(chk(5, 8, true)).with(stale(1, 240*hour)), []Fact{changed(8, 10, "stale_checkpoints.older_than")}},
		{"numbered again", root(JobRun, job("j", run(idA, 20, chk(5, 10, true)))).with(stale(1, 24*hour)), []Fact{{Rule: NumberedAgain, N: 5, Limit: 7, TimeMs: days(10)}}},
	} {
		d := s.w.decide(t)
		u := d.Roots[0].Jobs[0].Units[0]
		if diff := cmp.Diff(s.want, checkpointStays(t, d, u, u.Unit.Checkpoints[0])); diff != "" {
			t.Errorf("%s: %s", s.says, diff)
		}
	}
	d := kept(chk(8, 3, false)).decide(t)
	u := d.Roots[0].Jobs[0].Units[0]
	if diff := cmp.Diff([]Fact{{Rule: BeingWritten, N: 8, Limit: 7}}, checkpointStays(t, d, u, u.Unit.Checkpoints[1])); diff != "" {
		t.Error(diff)
	}
}

func checkpointStays(t testing.TB, d *Decision, u *UnitDecision, c *flink.Checkpoint) []Fact {
	t.Helper()
	facts, err := d.CheckpointStays(u, c)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestFileStays: a file of a sweep, and the limit that decides.
func TestFileStays(t *testing.T) {
	t.Parallel()
	const day = 86_400_000
	for _, s := range []struct {
		older Duration
		f     flink.File
		atime int64
		want  []Fact
	}{
		{240 * hour, flink.File{MTimeMs: days(11)}, 0, nil},
		{240 * hour, flink.File{MTimeMs: days(11)}, days(11), nil},
		{240 * hour, flink.File{MTimeMs: days(9)}, 0, []Fact{{Rule: DebrisChanged, TimeMs: days(9), LimitMs: 10 * day, Text: "unreferenced_shared.older_than"}}},
		{24 * hour, flink.File{MTimeMs: days(6)}, days(5), []Fact{
			{Rule: DebrisChanged, TimeMs: days(6), LimitMs: 6 * day, Text: "min_age"}, {Rule: DebrisRead, TimeMs: days(5), LimitMs: 6 * day, Text: "min_age"},
		}},
		{240 * hour, flink.File{MTimeMs: days(11), Open: true}, 0, []Fact{{Rule: OpenFile, N: 1}}},
		{240 * hour, flink.File{MTimeMs: 0}, 0, []Fact{{Rule: UnknownAge, N: 1}}},
		{240 * hour, flink.File{MTimeMs: days(-1)}, 0, []Fact{{Rule: UnknownAge, TimeMs: days(-1)}}},
	} {
		w := root(JobRun, job("j", run(idA, 1)))
		w.root().UnreferencedShared = &UnreferencedShared{OlderThan: s.older}
		d := w.decide(t)
		if diff := cmp.Diff(s.want, d.FileStays(d.Roots[0].Jobs[0].Units[0], &s.f, s.atime)); diff != "" {
			t.Errorf("%+v: %s", s, diff)
		}
	}
	d := root(JobRun, job("j", run(idA, 1))).decide(t)
	if diff := cmp.Diff([]Fact{{Rule: SweepOff}}, d.FileStays(d.Roots[0].Jobs[0].Units[0], &flink.File{MTimeMs: days(99)}, 0)); diff != "" {
		t.Error(diff)
	}
}

// TestStaysAgrees: in runs that are kept, though not whole, exactly what is no item has
// a reason to stay.
func TestStaysAgrees(t *testing.T) {
	t.Parallel()
	items, stay, files := 0, 0, 0
	randomWorlds(t, 2000, func(t *testing.T, r *rand.Rand, w *world, _ func() *world) {
		d := w.decide(t)
		for _, u := range allUnits(d) {
			if u.Verdict != Keep || u.whole || u.Unit.Kind != flink.RunUnit {
				continue
			}
			is := func(p Path) bool { return slices.ContainsFunc(u.Items, func(i *Item) bool { return i.Path == p }) }
			for _, c := range u.Unit.Checkpoints {
				path := checkpointPath(u, c)
				facts := checkpointStays(t, d, u, c)
				if is(path) == (len(facts) > 0) {
					t.Errorf("%s: item %v, %v", path, is(path), facts)
				}
				if items++; len(facts) > 0 {
					items, stay = items-1, stay+1
				}
				for _, f := range c.InProgress {
					facts, own := d.UnfinishedStays(u, c, f.INodeID)
					if file := path + Path("/"+f.Name); own && !is(path) && u.Unit.NewestComplete() != nil && is(file) == (len(facts) > 0) {
						t.Errorf("%s: item %v, %v", file, is(file), facts)
					}
				}
			}
		}
		for _, s := range d.Sweeps {
			f := flink.File{INodeID: 9, Length: 1, MTimeMs: pick(r, []int64{0, -5, days(pick(r, someAges)), days(8), days(-1)}), Open: oneIn(r, 5)}
			atime := pick(r, []int64{0, days(pick(r, someAges)), days(50)})
			facts := d.FileStays(s.Unit, &f, atime)
			if i := d.File(s, s.Path+"/f", 8, f, atime); (i == nil) != (len(facts) > 0) {
				t.Errorf("%+v, read %d: %v", f, atime, facts)
			}
			files++
		}
	})
	if t.Log(items, stay, files); !testing.Short() && (items < 20 || stay < 100 || files < 100) {
		t.Error("too few to say anything")
	}
}

func allUnits(d *Decision) (all []*UnitDecision) {
	for _, r := range d.Roots {
		for _, j := range r.Jobs {
			all = append(all, j.Units...)
		}
	}
	return all
}

package cleanup

import (
	"testing"

	"fsweep/analyze/flink"
)

func flagged(f flink.Flags) func(*flink.Unit) { return func(u *flink.Unit) { u.Flags = f } }

func unitMarked(u *flink.Unit) { u.MarkedInside = true }

func policyOf(edit func(*Root)) func(*world) { return func(w *world) { edit(w.root()) } }

// named gives a job an unknown entry, and other things that discovery says.
func edited(j *flink.Job, edit func(*flink.Job)) *flink.Job {
	edit(j)
	return j
}

func TestKeepSentences(t *testing.T) {
	t.Parallel()
	checkSentences(t, []sentence{
		{"the newest N by the newest mtime of a complete checkpoint's _metadata", root(JobRun, job("j", run(idA, 10), run(idB, 20), run(idC, 30))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: beyond, "j/" + idC: beyond,
		}},
		{"keep 2 keeps two", root(JobRun, job("j", run(idA, 10), run(idB, 20), run(idC, 30))).with(policyOf(func(r *Root) { r.Keep = 2 })), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "newest_by_metadata newest_by_subtree newest_by_files", "j/" + idC: beyond,
		}},
		{"the union of the newest by _metadata and the newest by the whole subtree", root(JobRun, job("j", run(idA, 10), run(idB, 20, touch(8)), run(idC, 30))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_complete", "j/" + idB: "newest_by_subtree newest_by_files newer_than_complete", "j/" + idC: beyond,
		}},
		{"and by files alone: where debris was moved away a directory is new, and displaces nothing", root(JobRun, job("j", run(idA, 10), run(idB, 20, touchDir(8)), run(idC, 30, touch(15)), run(idD, 40))).with(policyOf(func(r *Root) { r.Keep = 2 })), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "newest_by_metadata newest_by_subtree newer_than_complete",
			"j/" + idC: "newest_by_files", "j/" + idD: beyond,
		}},
		{"what changed after the newest files stays, whatever changed later", root(JobRun, job("j", run(idA, 10), run(idB, 40, touchDir(7)), run(idC, 50, touch(45), touchDir(12)), run(idD, 60, touch(30)), run(idE, 70, touchDir(31)))).with(policyOf(func(r *Root) { r.Keep = 2 })), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "newest_by_metadata newest_by_subtree newer_than_complete",
			"j/" + idC: "newer_than_files", "j/" + idD: "newest_by_files", "j/" + idE: beyond,
		}},
		{"what has no file takes no place among files", root(JobRun, job("j", run(idA, 10), run(idB, 9, skeleton), run(idC, 30), run(idD, 40))).with(policyOf(func(r *Root) { r.Keep = 2 })), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "newest_by_subtree newer_than_complete",
			"j/" + idC: "newest_by_metadata newest_by_files", "j/" + idD: beyond,
		}},
		{"marker files never rank", root(JobRun, job("j", run(idA, 10), run(idB, 20, unitMarked, func(u *flink.Unit) { u.Times.Newest.Ms = days(7) }), run(idC, 30))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "marked newer_than_complete", "j/" + idC: beyond,
		}},
		{"a unit of which only marked directories are left takes no place", root(JobRun, job("j", run(idA, 10), run(idB, 20, unitMarked, func(u *flink.Unit) { u.Times.Rank = flink.Stamp{Ms: days(7)} }))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "marked",
		}},
		{"keep is per job, never across jobs", root(JobRun, job("j", run(idA, 10)), job("k", run(idB, 200), run(idC, 300))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "k/" + idB: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "k/" + idC: beyond,
		}},
		{"all within keep_within", root(JobRun, job("j", run(idA, 10), run(idB, 20), run(idC, 30))).with(policyOf(func(r *Root) { r.KeepWithin = 20 * 24 * hour })), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete keep_within", "j/" + idB: "keep_within", "j/" + idC: beyond,
		}},
		{"the newest run that has a complete checkpoint and everything newer", root(JobRun, job("j", run(idA, 10, nothingComplete), run(idB, 12, nothingComplete), run(idC, 20), run(idD, 30))), map[string]string{
			"j/" + idA: "newest_by_subtree newest_by_files newer_than_complete", "j/" + idB: "newer_than_complete", "j/" + idC: "newest_by_metadata newest_complete", "j/" + idD: beyond,
		}},
		{"keep 0 with keep_within keeps the newest complete run", root(JobRun, job("j", run(idA, 10), run(idB, 20))).with(policyOf(func(r *Root) { r.Keep, r.KeepWithin = 0, hour })), map[string]string{
			"j/" + idA: "newest_complete", "j/" + idB: beyond,
		}},
		{"with none complete, everything but empty skeletons", root(JobRun, job("j", run(idA, 10, nothingComplete), run(idB, 20, nothingComplete), run(idC, 30, skeleton))), map[string]string{
			"j/" + idA: "newest_by_subtree newest_by_files nothing_complete", "j/" + idB: "nothing_complete", "j/" + idC: "MOVE empty_skeleton",
		}},
		{"equal newest times: all of them kept and said", root(JobRun, job("j", run(idA, 10), run(idB, 10), run(idC, 30))), map[string]string{
			"j/" + idA: "newest_by_metadata equal_newest newest_by_subtree equal_newest newest_by_files equal_newest newest_complete", "j/" + idB: "equal_newest equal_newest equal_newest newest_complete", "j/" + idC: beyond,
		}},
		{"equal newest files too", root(JobRun, job("j", run(idA, 10), run(idB, 20, touch(10), touchDir(9)), run(idC, 30))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_files equal_newest newest_complete", "j/" + idB: "newest_by_subtree equal_newest newer_than_complete", "j/" + idC: beyond,
		}},
		{"for which on_tie stops too", root(JobRun, job("j", run(idA, 10), run(idB, 20, touch(10), touchDir(9)), run(idC, 30))).with(policyOf(func(r *Root) { r.OnTie = StopOnTie })), map[string]string{
			"j/" + idA: "root_stopped newest_by_metadata newest_by_files equal_newest newest_complete", "j/" + idB: "root_stopped newest_by_subtree equal_newest newer_than_complete", "j/" + idC: "root_stopped",
		}},
		{"equal times further down are no tie", root(JobRun, job("j", run(idA, 10), run(idB, 20), run(idC, 20))).with(policyOf(func(r *Root) { r.OnTie = StopOnTie })), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: beyond, "j/" + idC: beyond,
		}},
		{"or on_tie stop", root(JobRun, job("j", run(idA, 10), run(idB, 10)), job("k", run(idC, 20), run(idD, 30))).with(policyOf(func(r *Root) { r.OnTie = StopOnTie })), map[string]string{
			"j/" + idA: "root_stopped newest_by_metadata equal_newest newest_by_subtree equal_newest newest_by_files equal_newest newest_complete", "j/" + idB: "root_stopped equal_newest equal_newest equal_newest newest_complete",
			"k/" + idC: "root_stopped newest_by_metadata newest_by_subtree newest_by_files newest_complete", "k/" + idD: "root_stopped",
		}},
		{"min_age only narrows", root(JobRun, job("j", run(idA, 1), run(idB, 6), run(idC, 6.01))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete min_age", "j/" + idB: "min_age", "j/" + idC: beyond,
		}},
		{"access only protects", root(JobRun, job("j", run(idA, 10), run(idB, 20, func(u *flink.Unit) { u.Times.NewestDataATimeMs = days(5) }), run(idC, 30, func(u *flink.Unit) { u.Times.NewestDataATimeMs = days(7) }))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: "accessed", "j/" + idC: beyond,
		}},
		{"savepoints are grouped by JOB directory", root(Savepoints, job("j", sp(spA, 10), sp(spB, 20), sp(spC, 30))), map[string]string{
			"j/" + spA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + spB: "newest_by_metadata newest_by_subtree newest_by_files", "j/" + spC: beyond,
		}},
	})
}

func TestAgeSentences(t *testing.T) {
	t.Parallel()
	unknownTimes := func(edit func(*flink.Times)) *world {
		return root(JobRun, job("j", run(idA, 10), run(idB, 20, func(u *flink.Unit) { edit(&u.Times) }), run(idC, 30)))
	}
	want := func(b string) map[string]string {
		return map[string]string{"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: b, "j/" + idC: beyond}
	}
	checkSentences(t, []sentence{
		{"mtime 0 or negative is an unknown age", unknownTimes(func(t *flink.Times) { t.UnknownMTimes, t.OldestMs = 1, 0 }), want("unknown_age")},
		{"negative everywhere", unknownTimes(func(t *flink.Times) { t.Newest.Ms, t.OldestMs, t.UnknownMTimes = -1, -5, 3 }), want("unknown_age")},
		{"an mtime in the future is an unknown age, and takes no other's place", unknownTimes(func(t *flink.Times) { t.Newest.Ms, t.Rank.Ms = days(-1), days(-1) }), want("unknown_age newer_than_complete min_age")},
		{"where only runs of unknown age are complete, nobody can tell what is newer", root(JobRun, job("j", run(idA, 10, nothingComplete), run(idB, 20, func(u *flink.Unit) { u.Times.UnknownMTimes = 1 }), run(idC, 30, nothingComplete), run(idD, 40, skeleton))), map[string]string{
			"j/" + idA: "newest_by_subtree newest_by_files complete_of_unknown_age", "j/" + idB: "unknown_age", "j/" + idC: "complete_of_unknown_age", "j/" + idD: "MOVE empty_skeleton",
		}},
		{"a _metadata from the future takes no other's place", unknownTimes(func(t *flink.Times) { t.NewestMetadataMs = days(-1) }), want("unknown_age")},
	})
}

func TestNamedSentences(t *testing.T) {
	t.Parallel()
	two := func(edits ...func(*flink.Unit)) *world {
		return root(JobRun, job("j", run(idA, 10), run(idB, 20, edits...)))
	}
	want := func(b string) map[string]string {
		return map[string]string{"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: b}
	}
	both := func(rule string) map[string]string {
		return map[string]string{"j/" + idA: rule + " newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + idB: rule}
	}
	protect := func(p ...Path) func(*world) { return func(w *world) { w.p.Protect = p } }
	pin := func(p ...Path) func(*world) { return func(w *world) { w.in.Pins = p } }
	checkSentences(t, []sentence{
		{"a run id that ends in 16 zeros is never a candidate by age", root(JobRun, job("j", run(idA, 10), run(reused, 20))), map[string]string{
			"j/" + idA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", "j/" + reused: "constant_id",
		}},
		{"an id seen in the live list before is never a candidate by age", two().with(func(w *world) { w.in.SeenLive = []string{idB} }), want("seen_live_before")},
		{"a live unit is kept", two().with(lives(idB)), want("live")},
		{"a pinned unit is kept", two().with(pin("/r/j/" + idB)), want("pinned")},
		{"a pin in a unit keeps it", two().with(pin("/r/j/"+idB+"/chk-7/_metadata", "/r/j/"+idB+"-x")), want("pinned")},
		{"a pin of a name that is longer is another one", two().with(pin("/r/j/" + idB + "x")), want(beyond)},
		{"initialSavepointPath and the like pin", two().with(lives(), func(w *world) { w.in.Live[0].Paths = []Path{"/r/j/" + Path(idB) + "/chk-7"} }), want("pinned")},
		{"a protected path is never in an item", two().with(protect("/r/j/" + idB + "/shared/x")), want("protected")},
		{"a protected path is never above an item", two().with(protect("/r/j")), both("protected")},
		{"the lock directory and hold paths are protected", two().with(func(w *world) { w.p.HoldPaths = []Path{"/r/j/" + idB + "/HOLD"} }), want("protected")},
		{"another root is never in an item", two().with(func(w *world) {
			second(w)
			w.p.Roots[1].Path, w.d.Roots[1].Path = "/r/j/"+idB+"/s", []byte("/r/j/"+idB+"/s")
		}), want("holds_root")},
		{"keep markers on the item", two(func(u *flink.Unit) { u.Marked = true }), want("marked")},
		{"keep markers on the job", root(JobRun, edited(job("j", run(idA, 10), run(idB, 20)), func(j *flink.Job) { j.Marked = true })), both("marked")},
		{"keep markers on the root", two().with(func(w *world) { w.d.Roots[0].Marked = true }), both("marked")},
		{"an excluded job is left alone", two().with(policyOf(func(r *Root) { r.ExcludeJobs = []Name{"j"} })), both("excluded")},
		{"a job that is not selected is left alone", root(JobRun, edited(job("j", run(idA, 10), run(idB, 20)), func(j *flink.Job) { j.Selected = false })), both("not_selected")},
		{"an unknown entry stops its job", root(JobRun, edited(job("j", run(idA, 10), run(idB, 20)), func(j *flink.Job) { j.NumUnknown = 1 })), both("unknown_entry")},
		{"a misfit stops the root", two().with(func(w *world) { w.d.Roots[0].NumMisfits = 1 }), both("root_stopped")},
		{"a quota directory is never a candidate", two(flagged(flink.Flags{Quota: true})), want("quota_directory")},
		{"a directory with snapshots is never a candidate", two(flagged(flink.Flags{Snapshottable: true, SnapshotsInside: true})), want("snapshottable")},
		{"nor is one above it", two(flagged(flink.Flags{SnapshottableInside: true, SnapshotsInside: true})), want("snapshottable")},
		{"the root of an encryption zone is never a candidate", two(flagged(flink.Flags{EncryptionZone: true})), want("encryption_zone")},
		{"snapshots and encryption above are no misfit", two(flagged(flink.Flags{SnapshotsAbove: true, Encrypted: true})), want(beyond)},
		{"anything holding an open file is never a candidate", two(func(u *flink.Unit) { u.OpenFiles = 1 }), want("open_file")},
		{"a live run without a complete checkpoint may be restoring from anything", root(JobRun, job("j", run(idA, 10, nothingComplete), run(idB, 20))).with(lives(idA)), map[string]string{
			"j/" + idA: "may_be_restoring_from live newest_by_subtree newest_by_files newer_than_complete", "j/" + idB: "may_be_restoring_from newest_by_metadata newest_complete",
		}},
		{"so may one that is younger than the guard age", root(JobRun, job("j", run(idA, 0.9, nothingComplete), run(idB, 20), run(idC, 30))), map[string]string{
			"j/" + idA: "may_be_restoring_from newest_by_subtree newest_by_files newer_than_complete min_age",
			"j/" + idB: "may_be_restoring_from newest_by_metadata newest_complete", "j/" + idC: "may_be_restoring_from",
		}},
	})
}

func TestLayoutSentences(t *testing.T) {
	t.Parallel()
	cluster := func(name string, age float64) *flink.Unit { return unit(flink.ClusterUnit, name, age) }
	child := func(name string, age float64) *flink.Unit { return unit(flink.ChildUnit, name, age) }
	const constant = "00000000000000000000000000000000"
	ids := func(ids ...string) func(*world) { return func(w *world) { w.in.Live[0].IDs = ids } }
	second := func(ids ...string) func(*world) {
		return func(w *world) {
			w.in.Live = append(w.in.Live, &LiveSet{Name: "second", Format: Lines, IDs: ids})
		}
	}
	mapped := func(w *world) {
		w.in.JobMaps = map[Path]*JobMap{"/r": {dirs: map[string]string{spA: "orders", spB: "orders", spC: "bills"}, runs: map[string]string{}}}
		w.root().Keep = 1
	}
	checkSentences(t, []sentence{
		{"run: no grouping, what does not live goes by age", root(Run, job("", run(idA, 10), run(idB, 20), run(idC, 5), run("orders", 20))).with(lives(idA)), map[string]string{
			idA: "live", idB: "MOVE not_live", idC: "min_age", "orders": "MOVE not_live",
		}},
		{"run: what no live list can name stays", root(Run, job("", run("orders", 20, func(u *flink.Unit) { u.RunID = false }))).with(lives()), map[string]string{"orders": "no_run_id"}},
		{"run: a live list is needed", root(Run, job("", run(idA, 10))), map[string]string{idA: "root_stopped"}},
		{"run: a live list without an id says of no run that it is dead", root(Run, job("", run(idA, 10))).with(lives("a"), ids()), map[string]string{idA: "root_stopped"}},
		{"run: nor does one with an id that all jobs share", root(Run, job("", run(idA, 10))).with(lives("a"), ids(constant)), map[string]string{idA: "root_stopped"}},
		{"run: all live lists together name runs", root(Run, job("", run(idA, 10), run(idB, 10))).with(lives("a"), ids(), second(idB)), map[string]string{idA: "MOVE not_live", idB: "live"}},
		{"run: an unknown entry stops its unit", root(Run, job("", run(idA, 10, func(u *flink.Unit) { u.NumUnknown = 1 }), run(idB, 10))).with(lives()), map[string]string{
			idA: "unknown_entry", idB: "MOVE not_live",
		}},
		{"run: ids are the same however they are written", root(Run, job("", run("AAAAAA00-0000-0000-0000-000000000001", 10))).with(lives(idA)), map[string]string{"AAAAAA00-0000-0000-0000-000000000001": "live"}},
		{"ha-storage: a cluster that lives is kept", root(HAStorage, job("", cluster("a", 10), cluster("b", 10), cluster("c", 6))).with(lives("a")), map[string]string{
			"a": "live", "b": "MOVE not_live", "c": "min_age",
		}},
		{"ha-storage: one source has the ConfigMaps", root(HAStorage, job("", cluster("a", 10), cluster("b", 10))).with(lives("a"), second(idB)), map[string]string{"a": "live", "b": "MOVE not_live"}},
		{"ha-storage: the live list must have ConfigMaps", root(HAStorage, job("", cluster("a", 10))).with(lives(), func(w *world) { w.in.Live[0].HAConfigMaps = 0 }), map[string]string{"a": "root_stopped"}},
		{"children: by age", root(Children, job("", child("spark-1", 10), child("spark-2", 5))), map[string]string{"spark-1": "MOVE old_child", "spark-2": "min_age"}},
		{"a flat root without a map: everything is kept", root(Savepoints, job("", sp(spA, 400), sp(spB, 300))), map[string]string{spA: "run_not_known_dead", spB: "run_not_known_dead"}},
		{"unless older than min_age and its run is known dead", root(Savepoints, job("", sp(spA, 400), sp(spB, 300), sp(spC, 5), sp(spOfAll, 400))).with(lives(idA)), map[string]string{
			spA: "run_not_known_dead", spB: "MOVE run_dead", spC: "min_age", spOfAll: "run_not_known_dead",
		}},
		{"a live list without an id says so of no run", root(Savepoints, job("", sp(spB, 300))).with(lives("a"), ids()), map[string]string{spB: "run_not_known_dead"}},
		{"nor does one with an id that all jobs share", root(Savepoints, job("", sp(spB, 300))).with(lives("a"), ids(constant)), map[string]string{spB: "run_not_known_dead"}},
		{"a run that was seen alive is not known dead", root(Savepoints, job("", sp(spB, 300))).with(lives(), func(w *world) { w.in.SeenLive = []string{idB} }), map[string]string{spB: "seen_live_before"}},
		{"a job map groups a flat root", root(Savepoints, job("", sp(spA, 10), sp(spB, 20), sp(spC, 30), sp(spOfAll, 40))).with(mapped), map[string]string{
			spA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", spB: beyond, spC: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", spOfAll: "run_not_known_dead",
		}},
		{"a job map does not join a directory of that name", root(Savepoints, job("", sp(spA, 10), sp(spB, 20)), job("orders", sp(spC, 30))).with(mapped), map[string]string{
			spA: "newest_by_metadata newest_by_subtree newest_by_files newest_complete", spB: beyond, "orders/" + spC: "newest_by_metadata newest_by_subtree newest_by_files newest_complete",
		}},
		{"a unit that is not selected is left alone", root(Children, job("", child("spark-1", 10), unit(flink.ChildUnit, "spark-2", 10, func(u *flink.Unit) { u.Selected = false }))), map[string]string{"spark-1": "MOVE old_child", "spark-2": "not_selected"}},
	})
}

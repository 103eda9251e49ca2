package cleanup

import (
	"iter"
	"slices"

	"fsweep/proto/planfile"
)

const (
	hour      = int64(3_600_000)
	day       = 24 * hour
	imageTime = int64(1_795_176_000_000) // 2026-11-20T12:00:00Z
	runA      = "aaaaaa00000000000000000000000001"
	runB      = "bbbbbb00000000000000000000000002"
	runC      = "cccccc00000000000000000000000003"
)

func number(name string, n int64) planfile.Fact { return planfile.Fact{Name: name, Number: n} }

func header() planfile.Header {
	return planfile.Header{
		Tool: "fsweep", Version: "1.0",
		Source: planfile.Source{
			Image: "fsimage_0000000000000012345", MD5: "0123456789abcdef0123456789abcdef", SizeBytes: 3 << 30, Verified: true, TxID: 12345,
			NamespaceID: 7, LayoutVersion: -67, ImageTimeMs: imageTime, ImageTimeSource: "--image-time",
		},
		Policy: planfile.Policy{Name: "prod.yaml", Digest: planfile.Digest{1}}, NowMs: imageTime + hour, ExpiresMs: imageTime + day, Nameservice: "nameservice1",
		Executable: true, Preflight: planfile.PreflightRoot, Removal: planfile.RemovalTrash,
		Warnings: []string{"a pin\x1b[2J does not exist: /a\\b"},
		Belts:    planfile.Belts{MaxItems: 500, MaxInodesPerMove: 100_000, MaxInodes: 500_000, MaxPercentOfRoot: 30, MinTrashIntervalMs: day},
	}
}

// sample is a plan with everything: all kinds of lines, names of all kinds, and the
// numbers 0, 1, many and huge.
func sample() *Plan {
	limit, space, disk := int64(1_000_000), int64(10<<40), int64(9<<40)
	roots := []*Root{flinkRoot(), {
		Root:  planfile.Root{Path: "/savepoints", InodeID: 18, Layout: planfile.LayoutSavepoints, Mode: planfile.ModeObserve, Inodes: 1},
		Stops: []Reason{{Rule: "misfits", Facts: []planfile.Fact{number("misfits", 2004), {Name: "path", Text: "/savepoints/chk-1"}, {Name: "misfit", Text: "checkpoint_misplaced"}}}}, ExcludedNotFound: []string{"dgrahp"}, SelectedNotFound: []string{"it's", `back\slash`},
		Misfits:    []Misfit{{Path: "/savepoints/chk-1", InodeID: 19, Reason: "checkpoint_misplaced", Detail: "one level too deep?"}, {Path: "/savepoints/a\nb\xff", Reason: "unknown_file"}},
		NumMisfits: 2002, Jobs: seq[*Job](),
	}, {
		Root: planfile.Root{Path: "/tmp/spark", InodeID: 20, Layout: planfile.LayoutChildren, Mode: planfile.ModeObserve, Inodes: 12},
		Jobs: seq(&Job{Units: seq(child())}),
	}}
	return &Plan{
		Header: header(), Footer: planfile.Footer{Guards: 1234}, File: "plan.jsonl", Digest: planfile.Digest{2},
		Quotas: []planfile.Quota{
			{Path: "/flink", InodeID: 15, NSQuota: &limit, NSBefore: 999_999, NSAfter: 970_000, DSQuota: &space, DSBefore: 11 << 40, DSAfter: 5 << 40, TypeQuota: planfile.TypeLimit{Disk: &disk}, TypesBefore: planfile.TypeSpace{Disk: 9 << 40}, TypesAfter: planfile.TypeSpace{Disk: 3 << 40}},
			{Path: "/q\xfe", InodeID: 16, NSBefore: 5, NSAfter: 5, DSQuota: new(int64)},
		},
		Roots: slices.Values(roots),
	}
}

func seq[T any](list ...T) iter.Seq[T] { return slices.Values(list) }

func flinkRoot() *Root {
	return &Root{
		Root: planfile.Root{Path: "/flink", InodeID: 17, Layout: planfile.LayoutJobRun, Mode: planfile.ModeExecute, Inodes: 12_345_678},
		Jobs: seq(
			&Job{Name: "fraud", Path: "/flink/fraud", InodeID: 30, Excluded: true, Stopped: []Reason{{Rule: "excluded"}}, Totals: Totals{Files: 1, Directories: 1, Length: 1}, Units: seq[*Unit]()},
			&Job{Name: "orders", Path: "/flink/orders", InodeID: 31, Totals: Totals{Files: 1_234_567, Directories: 40, Length: 5 << 40}, Units: seq(keptRun(), candidate(), deferredRun(), splitRun())},
			&Job{
				Name: "a*\u202eb\n\xff", Path: "/flink/a*\u202eb\n\xff", InodeID: 32, Stopped: []Reason{{Rule: "unknown_entry", Facts: []planfile.Fact{number("unknown_entries", 1), {Name: "path", Text: `/flink/a*\u{202e}b\n\xff/ core `}}}},
				Totals: Totals{Directories: 2}, Unknown: []Misfit{{Path: "/flink/a*\u202eb\n\xff/ core ", InodeID: 33, Reason: "unknown_directory"}}, NumUnknown: 1,
				Units: seq(&Unit{Kind: "run", Path: "/flink/a*\u202eb\n\xff/" + runA, InodeID: 34, Verdict: Keep, Reasons: []Reason{{Rule: "unknown_entry", Facts: []planfile.Fact{number("unknown_entries", 1)}}, {Rule: "unknown_age", Facts: []planfile.Fact{number("unknown_mtimes", 1)}}}, Times: Times{SubtreeMs: -5}, Totals: Totals{Directories: 1}}),
			},
			&Job{Name: "bills", Mapped: true, Units: seq[*Unit]()},
		),
	}
}

func keptRun() *Unit {
	return &Unit{
		Kind: "run", Path: "/flink/orders/" + runA, InodeID: 100, Verdict: Keep,
		Reasons: []Reason{
			{Rule: "newest_by_metadata", Facts: []planfile.Fact{number("metadata_mtime_ms", imageTime-day), number("position", 1), number("keep", 1)}},
			{Rule: "newest_by_subtree", Facts: []planfile.Fact{number("subtree_mtime_ms", imageTime-hour), number("position", 1), number("keep", 1)}},
			{Rule: "min_age", Facts: []planfile.Fact{number("subtree_mtime_ms", imageTime-hour), number("min_age_ms", 6*day)}},
		},
		Times:  Times{SubtreeMs: imageTime - hour, SubtreeOf: "shared", HasMetadata: true, MetadataMs: imageTime - day},
		Totals: Totals{Files: 1_000_000, Directories: 4, Length: 4 << 40},
		Items: []*Item{{Item: planfile.Item{
			Kind: planfile.KindCheckpoint, Path: "/flink/orders/" + runA + "/chk-3", InodeID: 101, Entries: 3, Rule: "incomplete_checkpoint",
			Totals:   planfile.Totals{Files: 2, Directories: 1, Length: 2048, Space: 6144},
			Evidence: []planfile.Fact{number("checkpoint", 3), number("newest_complete_checkpoint", 9), number("newest_mtime_ms", imageTime-30*day), number("older_than_ms", 2*day)}, NeedsReferenceProof: true,
			Freed: planfile.Freed{AfterTrash: 6144},
		}}},
		Sweeps: []Sweep{{Path: "/flink/orders/" + runA + "/shared", InodeID: 102, Rule: "unreferenced_shared", Planned: Files{1, 5}, Deferred: Files{2, 2 << 30}, Kept: Files{3, 7}, Freed: planfile.Freed{AfterTrash: 15}}},
		Parts: []Part{
			{Name: "chk-9", InodeID: 103, MTimeMs: imageTime - day, Complete: "yes", Totals: Totals{Files: 12, Directories: 1, Length: 3 << 20}},
			{Name: "chk-3", InodeID: 101, MTimeMs: imageTime - 30*day, Complete: "no", Totals: Totals{Files: 2, Directories: 1, Length: 2048}},
			{Name: "shared", InodeID: 102, Totals: Totals{Files: 999_986, Directories: 1, Length: 4 << 40}},
		},
	}
}

func run(name string, age int64, items ...*Item) *Unit {
	facts := []planfile.Fact{number("subtree_mtime_ms", imageTime-age), number("newer_in_job", 1), number("keep", 1)}
	u := &Unit{
		Kind: "run", Path: planfile.Path("/flink/orders/" + name), InodeID: 200, Verdict: Candidate, Reasons: []Reason{{Rule: "beyond_keep", Facts: facts}},
		Times: Times{SubtreeMs: imageTime - age, SubtreeOf: "shared"}, Totals: Totals{Files: 1, Directories: 2, Length: 1 << 30}, Items: items,
	}
	for _, i := range items {
		i.Kind, i.Rule, i.Evidence, i.NeedsReferenceProof = planfile.KindUnit, "beyond_keep", facts, true
	}
	return u
}

func candidate() *Unit {
	return run(runB, 6*day+3*hour, &Item{Item: planfile.Item{
		Path: "/flink/orders/" + runB, InodeID: 200, Entries: 3, Totals: planfile.Totals{Files: 1, Directories: 2, Length: 1 << 30, Space: 3 << 30},
		Freed: planfile.Freed{AfterTrash: 2 << 30, HeldBySnapshots: 1 << 30},
	}})
}

func deferredRun() *Unit {
	return run(runC, 40*day, &Item{
		Item:      planfile.Item{Path: "/flink/orders/" + runC, InodeID: 200, Entries: 3, Totals: planfile.Totals{Files: 1, Directories: 2, Length: 1 << 30}, Deferred: "max_items"},
		Deferrals: []Reason{{Rule: "max_items", Facts: []planfile.Fact{number("items", 501), number("max_items", 500)}}, {Rule: "max_inodes"}},
	})
}

func splitRun() *Unit {
	const dir = "/flink/orders/dddddd00000000000000000000000004"
	u := run("dddddd00000000000000000000000004", 50*day,
		&Item{Item: planfile.Item{Path: dir + "/chk-7", InodeID: 301, Entries: 2, SplitOf: 200, Run: "dddddd00000000000000000000000004", Totals: planfile.Totals{Files: 1, Directories: 1, Length: 7}}},
		&Item{Item: planfile.Item{Path: dir + "/shared", InodeID: 302, Entries: 2, SplitOf: 200, Run: "dddddd00000000000000000000000004", Totals: planfile.Totals{Files: 1, Directories: 1, Length: 8}, Deferred: "max_inodes"}})
	u.Items[0].Kind, u.Items[1].Kind = planfile.KindCheckpoint, planfile.KindFile
	return u
}

func child() *Unit {
	return &Unit{
		Kind: "child", Path: "/tmp/spark/日本", InodeID: 400, Verdict: Candidate, Reasons: []Reason{{Rule: "old_child"}}, Times: Times{SubtreeMs: imageTime - 400*day},
		Totals: Totals{Directories: 1},
		Items:  []*Item{{Item: planfile.Item{Kind: planfile.KindChild, Path: "/tmp/spark/日本", InodeID: 400, Entries: 1, Rule: "old_child", Totals: planfile.Totals{Directories: 1}}}},
	}
}

func explanations() *Explanations {
	deferred := deferredRun()
	root, h := flinkRoot(), header()
	job := &Job{Name: "orders", Path: "/flink/orders", InodeID: 31}
	kept := keptRun()
	return &Explanations{Source: h.Source, Policy: h.Policy, NowMs: h.NowMs, Paths: []*Explanation{
		{Path: kept.Path, InodeID: 100, What: IsUnit, Exists: true, Root: root, Job: job, Unit: kept, Verdict: Keep, Reasons: kept.Reasons},
		{
			Path: kept.Path + "/chk-9", InodeID: 103, What: IsCheckpoint, Exists: true, Root: root, Job: job, Unit: kept, Part: &kept.Parts[0], Verdict: Keep, OwnReasons: 1,
			Reasons: append([]Reason{{Rule: "stale_off", Facts: []planfile.Fact{number("checkpoint", 9)}}}, kept.Reasons...),
		},
		{
			Path: deferred.Path, InodeID: 200, What: IsUnit, Exists: true, Root: root, Job: job, Unit: deferred, Item: deferred.Items[0], Verdict: Deferred, Reasons: deferred.Reasons,
			NumGuards: 1234, Guards: []Guard{
				{Near: "job", Guard: planfile.Guard{Kind: planfile.GuardMetadata, Path: kept.Path + "/chk-9/_metadata", InodeID: 104, Length: 5000}},
				{Near: "elsewhere", Guard: planfile.Guard{Kind: planfile.GuardHAPointer, Path: "/ha/c\xff/completedCheckpoint1", InodeID: 105, Length: 1, Waived: "known\tgood"}},
			},
		},
		{Path: "/flink/orders/gone\xff", What: IsMissing, Root: root, Job: job, Verdict: NoVerdict, Reasons: []Reason{{Rule: "missing"}, {Rule: "no_unit"}}},
		{Path: "/", InodeID: 16385, What: IsAbove, Exists: true, Roots: []planfile.Path{"/flink", "/q\xfe"}, Verdict: NoVerdict, Reasons: []Reason{{Rule: "above_root"}}},
	}}
}

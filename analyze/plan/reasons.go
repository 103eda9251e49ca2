package plan

import (
	"cmp"
	"slices"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
)

// Reason is a rule with what it saw, in the names of a plan file.
type Reason struct {
	Rule  string
	Facts []planfile.Fact
}

// Reasons gives facts the names that plans and reports have for them. Names end in
// the unit of a number: times are milliseconds since 1970, lengths of time are
// milliseconds. Paths and names are in text form. A fact that a rule does not have is
// left out.
func Reasons(facts []cleanup.Fact) []Reason {
	out := make([]Reason, len(facts))
	for i := range facts {
		out[i] = Reason{Rule: string(facts[i].Rule), Facts: appendFacts(nil, &facts[i])}
	}
	return out
}

// Evidence gives what selected an item: what the rule saw, the times of its unit, and
// what the policy says where the rule depends on it. Each name stands once.
func Evidence(i *cleanup.Item) []planfile.Fact { return appendEvidence(nil, i) }

func appendEvidence(out []planfile.Fact, i *cleanup.Item) []planfile.Fact {
	var few [4]cleanup.Fact // as many as an item has
	facts := i.AppendFacts(few[:0])
	for f := range facts {
		out = appendFacts(out, &facts[f])
	}
	if i.Root == nil || i.Unit == nil || i.Unit.Verdict != cleanup.Candidate {
		return out
	}
	policy := i.Root.Policy
	if i.Rule == cleanup.BeyondKeep {
		out = append(out, number("newer_in_job", newer(i)), number("keep", int64(policy.Keep)))
		if policy.KeepWithin > 0 {
			out = append(out, number("keep_within_ms", milliseconds(policy.KeepWithin)))
		}
	}
	return append(out, number("min_age_ms", milliseconds(policy.MinAge)))
}

// newer counts what is newer than a unit in its job, where the newest stands first.
func newer(i *cleanup.Item) int64 {
	if len(i.Job.Units) == 0 { // one by one: of each it was counted before
		return i.Unit.Newer
	}
	at, _ := slices.BinarySearchFunc(i.Job.Units, i.Unit, func(x, y *cleanup.UnitDecision) int {
		return cmp.Compare(y.Unit.Times.Newest.Ms, x.Unit.Times.Newest.Ms)
	})
	return int64(at)
}

func milliseconds(d cleanup.Duration) int64 { return int64(d) / 1e6 }

func number(name string, n int64) planfile.Fact { return planfile.Fact{Name: name, Number: n} }

// fields names the fields of a rule's fact; empty: it has no such field.
type fields struct{ time, place, length, n, limit, path, text string }

// names has a row for every rule with facts; [cleanup.Rule] says which have what.
var names = map[cleanup.Rule]fields{
	cleanup.Misfits:          {n: "misfits", path: "path", text: "misfit"},
	cleanup.NoLiveList:       {},
	cleanup.NoConfigMaps:     {},
	cleanup.TieStops:         {time: "tied_mtime_ms", path: "path", text: "job"},
	cleanup.OtherRootStopped: {path: "other_root"},
	cleanup.NamesNotFound:    {path: "other_root"},

	cleanup.RootStopped:   {text: "stopped_by"},
	cleanup.UnknownEntry:  {n: "unknown_entries", path: "path", text: "entry"},
	cleanup.JobExcluded:   {},
	cleanup.NotSelected:   {},
	cleanup.Marked:        {path: "marked_path"},
	cleanup.Protected:     {path: "protected_path"},
	cleanup.HoldsRoot:     {path: "other_root"},
	cleanup.Pinned:        {path: "pin"},
	cleanup.Live:          {text: "live_name"},
	cleanup.ConstantID:    {},
	cleanup.SeenLive:      {text: "seen_name"},
	cleanup.MayBeRestored: {path: "restoring_run", time: "restoring_mtime_ms", place: "restoring_mtime_of", length: "guard_age_ms"},

	cleanup.QuotaDirectory:    {},
	cleanup.Snapshottable:     {},
	cleanup.EncryptionZone:    {},
	cleanup.OpenFile:          {n: "open_files"},
	cleanup.UnknownAge:        {time: "future_mtime_ms", place: "future_mtime_of", n: "unknown_mtimes"},
	cleanup.NewestByMetadata:  {time: "metadata_mtime_ms", n: "position", limit: "keep"},
	cleanup.NewestBySubtree:   {time: "subtree_mtime_ms", place: "subtree_mtime_of", n: "position", limit: "keep"},
	cleanup.NewestByFiles:     {time: "files_mtime_ms", place: "files_mtime_of", n: "position", limit: "keep"},
	cleanup.NewerThanFiles:    {time: "subtree_mtime_ms", place: "subtree_mtime_of", n: "position_by_files"},
	cleanup.EqualNewest:       {time: "equal_mtime_ms", place: "equal_mtime_of", n: "position", limit: "keep", text: "ranking"},
	cleanup.NewestComplete:    {time: "metadata_mtime_ms"},
	cleanup.NewerThanComplete: {time: "subtree_mtime_ms", place: "subtree_mtime_of"},
	cleanup.NothingComplete:   {},
	cleanup.CompleteUnknown:   {path: "complete_run"},
	cleanup.WithinKeepWithin:  {time: "subtree_mtime_ms", place: "subtree_mtime_of", length: "keep_within_ms"},
	cleanup.WithinMinAge:      {time: "subtree_mtime_ms", place: "subtree_mtime_of", length: "min_age_ms"},
	cleanup.Accessed:          {time: "data_atime_ms", length: "min_age_ms"},
	cleanup.RunNotKnownDead:   {text: "run_digits"},
	cleanup.NoRunID:           {},

	cleanup.BeyondKeep:           {},
	cleanup.EmptySkeleton:        {},
	cleanup.NotLive:              {},
	cleanup.RunDead:              {},
	cleanup.OldChild:             {},
	cleanup.IncompleteCheckpoint: {n: "checkpoint", limit: "newest_complete_checkpoint", time: "newest_mtime_ms", place: "newest_mtime_of", length: "older_than_ms"},
	cleanup.UnfinishedMetadata:   {time: "file_mtime_ms", length: "older_than_ms"},
	cleanup.StaleCheckpoint:      {n: "checkpoint", limit: "oldest_kept_checkpoint", time: "metadata_mtime_ms", length: "older_than_ms"},
	cleanup.UnreferencedFile:     {time: "file_mtime_ms"},

	cleanup.BeltItems:        {n: "items", limit: "max_items"},
	cleanup.BeltInodesMove:   {n: "inodes", limit: "max_inodes_per_move"},
	cleanup.BeltInodes:       {n: "inodes", limit: "max_inodes"},
	cleanup.BeltBytes:        {n: "planned_bytes", limit: "max_bytes"},
	cleanup.BeltPercent:      {n: "inodes", limit: "max_inodes_of_root"},
	cleanup.NewerDeferred:    {path: "newer_unit"},
	cleanup.EarlierPartStays: {path: "earlier_part"},

	cleanup.NoneComplete:  {},
	cleanup.BeingWritten:  {n: "checkpoint", limit: "newest_complete_checkpoint"},
	cleanup.StaleOff:      {n: "checkpoint"},
	cleanup.AmongNewest:   {n: "checkpoint", limit: "keep_newest"},
	cleanup.NumberedAgain: {n: "checkpoint", limit: "oldest_kept_checkpoint", time: "metadata_mtime_ms"},
	cleanup.SweepOff:      {},
	cleanup.DebrisChanged: {time: "changed_mtime_ms", place: "changed_mtime_of", length: "limit_ms", text: "limit"},
	cleanup.DebrisRead:    {time: "read_atime_ms", length: "limit_ms", text: "limit"},

	cleanup.TimeOfMetadata: {time: "metadata_mtime_ms"},
	cleanup.TimeOfSubtree:  {time: "subtree_mtime_ms", place: "subtree_mtime_of"},
	cleanup.TimeOfAccess:   {time: "data_atime_ms"},
}

// appendFacts appends the parts of a fact. The number 0 is one where the rule has a
// number at all, but not of unknown ages, which have a time or a count, nor of access
// times, where it stands for none.
func appendFacts(out []planfile.Fact, f *cleanup.Fact) []planfile.Fact {
	n := names[f.Rule]
	either := f.Rule == cleanup.UnknownAge || f.Rule == cleanup.TimeOfAccess
	add := func(name string, v int64) {
		if name != "" && (v != 0 || !either) {
			out = append(out, number(name, v))
		}
	}
	say := func(name, text string) {
		if name != "" && text != "" {
			out = append(out, planfile.Fact{Name: name, Text: string(pathtext.Append(nil, text))})
		}
	}
	add(n.time, f.TimeMs)
	if f.Place != flink.NoPlace {
		say(n.place, f.Place.String())
	}
	add(n.length, f.LimitMs)
	add(n.n, f.N)
	add(n.limit, f.Limit)
	say(n.path, string(f.Path))
	say(n.text, f.Text)
	return out
}

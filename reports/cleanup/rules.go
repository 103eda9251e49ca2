package cleanup

// rules has every rule in words; those of package analyze/cleanup are its constants,
// which a test compares. Names of facts are those of package analyze/plan.
var rules = map[string]words{
	// These stop a root.
	"misfits": {
		"what lies there does not fit the layout[: {misfits|entry|entries}][, the first: {path}][, {misfit}]",
		"the entries leave the root, stand under ignore, or path and layout of the root are corrected",
	},
	"no_live_list": {
		"the layout needs a live list, and none names a run: ids that end in 16 zeros are those of many jobs",
		"a live list has the id of a run",
	},
	"no_configmaps": {
		"the layout needs a live list with ConfigMaps of Flink's high availability, and none has one",
		"a live source of format kubernetes has the ConfigMaps of all clusters, with their labels",
	},
	"on_tie_stop": {
		"several of the newest of job {job} have the same time {tied_mtime_ms}[, one is {path}], and on_tie is stop",
		"on_tie is keep, or the job is excluded",
	},
	"other_root_stopped": {
		"root {other_root} is stopped, and preflight is all",
		"nothing stops {other_root} any more, or preflight is root",
	},
	"names_not_found": {
		"names under exclude_jobs or jobs, or in a flag, do not exist in root {other_root}: nobody knows what was meant",
		"the names are written as they are in {other_root}, or leave the policy",
	},

	// These keep a unit with all that is in it.
	"root_stopped": {
		"its root is stopped[: {stopped_by}]",
		"nothing stops the root any more",
	},
	"unknown_entry": {
		"{unknown_entries|entry|entries} in it that Flink does not make[, the first: {path}][, {entry}]",
		"somebody finds out what that is, and moves it away",
	},
	"excluded":     {"exclude_jobs has its name", "its name leaves exclude_jobs (and --exclude-job)"},
	"not_selected": {"others are selected by jobs or --job", "jobs and --job are empty or have its name"},
	"marked": {
		"a keep marker is on {marked_path} or below it",
		"the marker is removed: the file .fsweep-keep, or the attribute user.fsweep.keep",
	},
	"protected":  {"{protected_path} is protected", "{protected_path} is none of protect, hold_paths and lock_dir any more"},
	"holds_root": {"the root {other_root} is in it", "{other_root} is no root any more"},
	"pinned":     {"{pin} is pinned", "{pin} is in no file under pins and in no live list any more"},
	"live":       {"a live list has {live_name}", "no live list has {live_name} any more; a run then stays as seen_live_before"},
	"constant_id": {
		"later deployments use an id that ends in 16 zeros again, so no age says anything",
		"never: only a person can know",
	},
	"seen_live_before": {
		"a live list had {seen_name} before, so a deployment may use it again",
		"no live list had {seen_name} for live_memory (policy)",
	},
	"may_be_restoring_from": {
		"{restoring_run} has no complete checkpoint, and lives or is younger than guard_age {guard_age_ms} ({restoring_mtime_ms}[ in {restoring_mtime_of}]): it may be restoring from any run of the job",
		"{restoring_run} completes a checkpoint, or has ended and is older than guard_age: not before {restoring_mtime_ms+guard_age_ms}",
	},

	// These keep a unit, though debris in it may go.
	"quota_directory": {"it has a quota, or a directory in it has one", "the quota is cleared"},
	"snapshottable":   {"it is snapshottable or has snapshots, or a directory in it", "snapshots are deleted and no longer allowed"},
	"encryption_zone": {"it is the root of an encryption zone, or a directory in it is", "it holds no root of a zone any more"},
	"open_file":       {"{open_files|file is|files are} open for writing", "all files in it are closed"},
	"unknown_age": {
		"its age is not known[: {future_mtime_ms} is after the image time][ ({future_mtime_of})][: {unknown_mtimes|time is|times are} 0 or negative]",
		"no time in it is 0, negative or after the image time",
	},
	"newest_by_metadata": {
		"number {position} of the newest {keep} by complete _metadata ({metadata_mtime_ms})",
		"a newer run of the job completes a checkpoint (or a newer savepoint is complete), so that {keep|is|are} newer than this",
	},
	"newest_by_subtree": {
		"number {position} of the newest {keep} by anything in it ({subtree_mtime_ms}[ in {subtree_mtime_of}])",
		"{keep|other of the job has|others of the job have} changed later than this",
	},
	"newest_by_files": {
		"number {position} of the newest {keep} by files alone ({files_mtime_ms}[ in {files_mtime_of}])",
		"{keep|other of the job has a newer file|others of the job have newer files}",
	},
	"newer_than_files": {
		"changed at {subtree_mtime_ms}[ in {subtree_mtime_of}], not before the newest files of number {position_by_files} by files alone",
		"{position_by_files|other of the job has|others of the job have} files that are newer than this",
	},
	"equal_newest": {
		"as new as the last that {ranking} keeps ({equal_mtime_ms}[ in {equal_mtime_of}], number {position}, keep {keep})",
		"something newer in the job takes the place of both",
	},
	"newest_complete": {
		"the newest complete checkpoint of the job is in it ({metadata_mtime_ms})",
		"a newer run of the job completes a checkpoint (or a newer savepoint is complete)",
	},
	"newer_than_complete": {
		"changed at {subtree_mtime_ms}[ in {subtree_mtime_of}], after the newest complete checkpoint of the job",
		"a run of the job completes a checkpoint after that",
	},
	"nothing_complete": {
		"nothing in the job is complete, so all that has files stays",
		"a run of the job completes a checkpoint",
	},
	"complete_of_unknown_age": {
		"the complete checkpoints of the job are in runs of unknown age, such as {complete_run}, so all that has files stays",
		"the times in {complete_run} are put right, or another run of the job completes a checkpoint",
	},
	"keep_within": {
		"changed at {subtree_mtime_ms}[ in {subtree_mtime_of}], within keep_within {keep_within_ms}",
		"the image is from {subtree_mtime_ms+keep_within_ms} or later",
	},
	"min_age": {
		"changed at {subtree_mtime_ms}[ in {subtree_mtime_of}], within min_age {min_age_ms}",
		"the image is from {subtree_mtime_ms+min_age_ms} or later",
	},
	"accessed": {
		"read at {data_atime_ms}, within min_age {min_age_ms}",
		"the image is from {data_atime_ms+min_age_ms} or later, and nobody reads it",
	},
	"run_not_known_dead": {
		"nobody says that its run[ {run_digits}…] is dead",
		"a job map or a JOB directory groups it, or live lists name runs, but none {run_digits}…; 000000 and ffffff are those of many jobs",
	},
	"no_run_id": {
		"its name is no id of a run, so no live list can have it",
		"never: only a person can know",
	},

	// These select.
	"beyond_keep": {
		"not among the newest [{keep} ]of its job[, {newer_in_job|newer one|newer ones}][, unchanged since {subtree_mtime_ms}][, last _metadata {metadata_mtime_ms}]",
		"",
	},
	"empty_skeleton": {"no file in it, only empty directories or nothing at all[, unchanged since {subtree_mtime_ms}]", ""},
	"not_live":       {"no live list has it[, unchanged since {subtree_mtime_ms}][, last _metadata {metadata_mtime_ms}]", ""},
	"run_dead":       {"no live list has its run[, unchanged since {subtree_mtime_ms}][, _metadata {metadata_mtime_ms}]", ""},
	"old_child":      {"its name is listed, and it is old[: unchanged since {subtree_mtime_ms}]", ""},
	"incomplete_checkpoint": {
		"[chk-{checkpoint} has ]no complete _metadata, and one with a higher number is complete[: chk-{newest_complete_checkpoint}][, unchanged since {newest_mtime_ms}][ ({newest_mtime_of})][, older_than {older_than_ms}]",
		"",
	},
	"unfinished_metadata": {"a _metadata that was never finished, beside a complete one[, unchanged since {file_mtime_ms}][, older_than {older_than_ms}]", ""},
	"stale_checkpoint": {
		"complete, but older than those that stay[: chk-{checkpoint} is below chk-{oldest_kept_checkpoint}][, _metadata {metadata_mtime_ms}][, older_than {older_than_ms}]",
		"",
	},
	"unreferenced_shared": {"old state that perhaps no checkpoint refers to any more[, unchanged since {file_mtime_ms}]", ""},

	// These defer.
	"max_items":           {"max_items[ {max_items}][: it would be number {items}]", "a plan has room for it: the next one, or a larger max_items"},
	"max_inodes_per_move": {"max_inodes_per_move[ {max_inodes_per_move}][: it has {inodes|inode|inodes}]", "max_inodes_per_move is larger"},
	"max_inodes":          {"max_inodes[ {max_inodes}][: it would make {inodes|inode|inodes}]", "a plan has room for it: the next one, or a larger max_inodes"},
	"max_bytes":           {"max_bytes[ {max_bytes}][: it would make {planned_bytes}]", "a plan has room for it: the next one, or a larger max_bytes"},
	"max_percent_of_root": {
		"max_percent_of_root[, {max_inodes_of_root|inode|inodes}][: it would make {inodes|inode|inodes}]",
		"a plan has room for it: the next one, or a larger max_percent_of_root",
	},
	"newer_deferred":      {"a newer one of its job is deferred[: {newer_unit}]", "[{newer_unit} is ]planned"},
	"other_part_deferred": {"a part that must go before it is deferred[: {earlier_part}]", "[{earlier_part} is ]planned"},

	"undeletable": {
		"it has an erasure coded file that a snapshot shows, and no NameNode that is known can delete such a file once it was moved",
		"the snapshots that show it are deleted",
	},
	"inconsistent_image": {"what the image says of it contradicts itself, or it has names that no client can use", "a newer image has it right"},

	// These are reasons of explanations, for what is no unit.
	"missing":       {"it does not exist in the image", "a newer image has it"},
	"outside_roots": {"no root of the policy holds it", "the policy declares a root that holds it"},
	"above_root":    {"roots are below it, and nothing that holds a root is ever planned", "never"},
	"root_itself":   {"a root itself is never planned", "never: only what is in it"},
	"job_itself":    {"a job directory itself is never planned, only what is in it", "never: only what is in it"},
	"no_unit":       {"it is in no unit of the layout, and nothing else is ever planned", "never"},
	"parts_first":   {"its parts go first, as it is too large for one move", "its parts are gone"},
	"none_complete": {"no checkpoint of the run is complete, so nothing tells debris from what is being written", "the run completes a checkpoint"},
	"being_written": {"chk-{checkpoint} is not complete, but above the newest complete one[, chk-{newest_complete_checkpoint}]: it may still be written", "the run completes a checkpoint with a higher number"},
	"among_newest":  {"chk-{checkpoint} is complete, and among the newest {keep_newest} by number (keep_newest)", "checkpoints with higher numbers complete, so that it is not among the newest {keep_newest} any more"},
	"numbered_again": {
		"the _metadata of chk-{checkpoint} ({metadata_mtime_ms}) is newer than that of chk-{oldest_kept_checkpoint}: another deployment may have begun to count again",
		"the checkpoints that stay are all newer than it",
	},
	"debris_changed": {
		"changed at {changed_mtime_ms}[ in {changed_mtime_of}], within {limit} {limit_ms}",
		"the image is from {changed_mtime_ms+limit_ms} or later",
	},
	"debris_read": {
		"read at {read_atime_ms}, within {limit} {limit_ms}",
		"the image is from {read_atime_ms+limit_ms} or later, and nobody reads it",
	},
	"stale_off":         {"chk-{checkpoint} is complete, and the policy has no stale_checkpoints", "the policy has stale_checkpoints, and a rule selects it"},
	"sweep_off":         {"the policy has no unreferenced_shared", "the policy has unreferenced_shared, and no checkpoint refers to it"},
	"only_files":        {"unreferenced_shared takes files in it, and never the directory", "its unit becomes a candidate"},
	"not_of_checkpoint": {"no rule for debris is about what lies there", "its unit becomes a candidate"},

	// These are what a decision looked at.
	"metadata_mtime": {"newest complete _metadata {metadata_mtime_ms}", "a checkpoint completes"},
	"subtree_mtime":  {"newest change {subtree_mtime_ms}[ in {subtree_mtime_of}]", "something in it changes"},
	"data_atime":     {"data last read {data_atime_ms}", "somebody reads it"},
}

package execution

import (
	"slices"
	"strings"

	"fsweep/proto/planfile"
	"fsweep/reports/cleanup"
)

// kept has a sentence for each rule that keeps an item, or, in an undo, leaves it where
// it is; facts are those of execute/check and execute/act. A rule that is not in it
// stands for itself.
var kept = map[string]string{
	"deferred":            "the plan keeps it back[: {deferred}]",
	"observe":             "its root is only observed: mode observe in the policy",
	"not-text":            "its path is not UTF-8, so that no NameNode can be asked for a place like it in the trash, nor for its own to move it back",
	"restored":            "an earlier process moved it, and it is back where it was[: {path}]",
	"root-changed":        "its root is gone, or another directory has its place[: inode {inode_in_plan} in the plan, {inode_now} now]",
	"gone":                "it is not there any more",
	"replaced":            "another inode has its path[: {inode_in_plan} in the plan, {inode_now} now]",
	"moved-away":          "somebody moved it elsewhere",
	"marked":              "a keep marker is on it, in it or above it[: {path}]",
	"changed":             "it changed since the image[: {path}][: {what}][, {now} now][: time {mtime_ms_in_plan} in the plan, {mtime_ms_now} now][: {children_in_plan} entries in the plan, {children_now} now][: length {length_in_plan} in the plan, {length_now} now][: owner {owner_in_plan} in the plan, {owner_now} now]",
	"totals-changed":      "there is more or less in it than in the image[: {files_in_plan} files in the plan, {files_now} now][: {directories_in_plan} directories in the plan, {directories_now} now][: {length_in_plan} bytes in the plan, {length_now} now][: {space_consumed_in_plan} bytes on disk in the plan, {space_consumed_now} now][: {inodes_in_plan} inodes in the plan, {now} now]",
	"tree-changed":        "what is in it is not what was in the image: the fingerprint differs",
	"open-file":           "{path} is open for writing",
	"snapshottable":       "{path} is snapshottable",
	"encryption-zone":     "{path} is the root of an encryption zone",
	"not-visible":         "the user may not see all of it[: {path}][: {error}]",
	"live":                "a live list has it[: {id}]",
	"pinned":              "{pin} is pinned",
	"new-run":             "its job has a run that the plan does not know[: {run}]",
	"may-be-restored":     "it may be restored right now by a run without a complete checkpoint[: {live} lives][: {new_run} is new][: {young_run} is young]",
	"referenced":          "referenced[: {reference}][: a file named {relative_reference}]",
	"named-by-a-guard":    "a file that cannot be decoded has its name[: {name}]",
	"belt-trash-interval": "{inodes_moved} inodes went to the trash in its present interval, and max_inodes is {max_inodes}",
	"changed-at-last":     "it changed directly before its move",
	"no-place-in-trash":   "every name that it could have in the trash is taken",
	"missing-directory":   "there is nothing to move it into[: {reason}]",
	"no-directory":        "there is nothing to move it into[: {reason}]",
	"purged":              "it is nowhere: the trash was emptied, or somebody deleted it",
	"already-back":        "it is where it was before the run",
	"moved-by-others":     "it is not where the run put it: somebody moved it",
	"no-parent":           "the directory that it was in is gone, and none is made",
	"taken":               "something else has its place now",
	"refused":             "the NameNode refused[: {class}]",
	"not-moved":           "another part of its run could not be moved",
	"guard-not-readable":  "nobody knows what a file refers to that cannot be read[: {error}]",
}

// problems has a sentence and an advice for each code that forbids all.
var problems = map[string][2]string{
	"not-approved":        {"this is not the plan that was approved: {approved}", "approve this one, or carry out that one"},
	"not-executable":      {"the plan itself says that it must not be carried out", "see what fsweep plan said"},
	"expired":             {"the plan has expired", "make one from a newer image"},
	"clock-behind":        {"this machine's clock is before the time of the image", "set the clock"},
	"other-nameservice":   {"the plan is for {in_plan}, and this is {now}", "check --conf and --nameservice"},
	"other-cluster":       {"this is another cluster than that of the image[: cluster {cluster_id_in_plan} in the plan, {cluster_id_now} now][: namespace {namespace_id_in_plan} in the plan, {namespace_id_now} now]", "check --conf and --nameservice"},
	"safe-mode":           {"the NameNode is in safe mode and takes no changes", "wait: hdfs dfsadmin -safemode get"},
	"no-anchor":           {"the plan has no anchor, so nothing proves that this is the cluster of the image", "make a plan with a version that writes anchors"},
	"anchor-differs":      {"an anchor has another inode id than in the image, or is gone[: {in_plan} in the plan, {now} now]", "check --conf and --nameservice: most likely this is another cluster"},
	"held":                {"the hold path exists: somebody wants nothing to be executed", "whoever made it removes it"},
	"not-known":           {"whether it exists is not known[: {error}]", "let the user see it"},
	"no-trash":            {"the NameNode has no trash: fs.trash.interval is 0 there", "have it set, or use removal: quarantine:/path in the policy"},
	"trash-too-short":     {"the trash keeps for {interval_ms} only, and the policy wants {min_trash_interval_ms}", "have fs.trash.interval raised on the NameNode"},
	"trash-not-usable":    {"the trash cannot be used[: {now}][: {error}]", "fsweep-exec probe says more"},
	"quarantine-differs":  {"the quarantine is not the directory of the plan[: {now} now]", "make the quarantine, and a new plan"},
	"lock-dir-differs":    {"the lock directory is not that of the plan[: {now} now]", "make a plan from a newer image"},
	"lock-dir-not-usable": {"this user could not take the lock, or not give it back[: {now}][: {error}]", "correct owner, mode or ACL: all who execute must be able to write there"},
	"list-not-usable":     {"the list {file} cannot be used[: {error}]", "write the list again"},
	"list-shrunk":         {"the list {file} names a tenth less than when the plan was made, or nothing[: {ids_in_plan} ids then, {ids_now} now][: {clusters_in_plan} clusters then, {clusters_now} now]", "look at how the list is written; if it is right, make a new plan"},
	"unproven":            {"the plan has {items|item|items} of layouts that hold state of Flink, and there is no reference proof yet: that with a real Flink nothing is moved that a job needs", "--unproven carries it out all the same"},
	"locked":              {"somebody holds the lock", "wait for that run; if its process is gone: resume its journal, or unlock"},
	"executed":            {"the plan was carried out before, to its end or in part", "resume its journal, or make a new plan"},
}

// why says why an item is kept: the rule, and the sentence for people.
func why(i *Item) string {
	says, ok := kept[i.Rule]
	if !ok {
		s := cleanup.Printable(i.Rule)
		if f := facts(i.Facts); f != "" {
			s += ": " + f
		}
		return guarded(i, s)
	}
	s := cleanup.Sentence(says, readable(i.Facts))
	if !strings.HasPrefix(s, i.Rule) {
		s = i.Rule + ": " + s
	}
	return guarded(i, s)
}

// readable shows times that are compared as times.
func readable(list []planfile.Fact) []planfile.Fact {
	out := slices.Clone(list)
	for i := range out {
		f := &out[i]
		if f.Text == "" && (strings.HasSuffix(f.Name, "mtime_ms_in_plan") || strings.HasSuffix(f.Name, "mtime_ms_now")) {
			f.Text = cleanup.Clock(f.Number)
		}
	}
	return out
}

// guarded adds the file because of which an item stays, unless the sentence names it.
func guarded(i *Item, s string) string {
	switch guard := cleanup.Escape(i.Guard); {
	case guard == "" || strings.Contains(s, guard):
	case i.Rule == "referenced":
		s += " by " + guard
	default:
		s += " (" + guard + ")"
	}
	return s
}

func facts(list []planfile.Fact) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = cleanup.Printable(list[i].Name) + " " + cleanup.ShowFact(&list[i])
	}
	return strings.Join(parts, ", ")
}

// sentence says what forbids all.
func (p *Problem) sentence() string {
	says, ok := problems[p.Code]
	switch {
	case p.Text != "":
		return cleanup.Printable(p.Text)
	case ok:
		return cleanup.Sentence(says[0], p.Facts)
	}
	return facts(p.Facts)
}

// Advice says what can be done about a problem; empty if nothing is known.
func Advice(code string) string { return problems[code][1] }

package cleanup

import (
	"strings"

	"fsweep/proto/planfile"
)

// toKeep says how a candidate is kept, by what its rule and its layout look at.
func toKeep(x *Explanation) string {
	i := x.Item
	if i == nil || x.Root == nil {
		return "pin it"
	}
	switch i.Rule {
	case "incomplete_checkpoint":
		return ways(x, "in it", "its run") + ", or raise incomplete_checkpoints.older_than"
	case "unfinished_metadata":
		return ways(x, "beside it or in its run") + ", or raise incomplete_checkpoints.older_than"
	case "stale_checkpoint":
		return ways(x, "in it", "its run") + ", or raise stale_checkpoints (keep_newest, older_than) or min_age"
	case "unreferenced_shared":
		return ways(x, "beside it or in its run") + ", or raise unreferenced_shared (older_than) or min_age"
	}
	where := []string{"in it"}
	switch {
	case i.SplitOf != 0:
		where = append(where, "its run")
	case i.Totals.Directories == 0 && i.Totals.Files+i.Totals.Symlinks > 0: // a file is no place for another
		where = nil
	}
	return ways(x, where...) + ", " + byLayout(x)
}

// ways are those that every layout has. Only some have a directory for each job.
func ways(x *Explanation, where ...string) string {
	if x.Job != nil && x.Job.Path != "" {
		where = append(where, "its job")
	}
	places := "in its root"
	if len(where) > 0 {
		places = strings.Join(where, ", ") + " or its root"
	}
	return "pin it, set a keep marker (a file .fsweep-keep " + places + ", or the attribute user.fsweep.keep)"
}

// byLayout are the keys that keep units of a layout; the policy refuses the others.
func byLayout(x *Explanation) string {
	grouped := x.Job != nil && x.Job.Name != ""
	switch x.Root.Layout {
	case planfile.LayoutRun:
		return "exclude its name, have it in a live list, or raise min_age"
	case planfile.LayoutHAStorage:
		return "exclude its name, have its cluster in a live list, or raise min_age"
	case planfile.LayoutChildren:
		return "exclude its name, take it off names, or raise min_age"
	case planfile.LayoutSavepoints:
		switch {
		case !grouped:
			return "exclude its name, have its run in a live list, or raise min_age"
		case x.Job.Mapped:
			return "exclude its name, or raise keep, keep_within or min_age"
		}
	case planfile.LayoutJobRun:
	}
	return "exclude the job, or raise keep, keep_within or min_age"
}

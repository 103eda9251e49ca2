package planfile

import (
	"strings"

	"fsweep/proto/internal/canonical"
)

// itemPlace demands that an item stands where its kind stands in its layout, and
// that job and run are the names in its path.
func itemPlace(i *Item, r *Root) error {
	rel := string(i.Path[len(r.Path)+1:])
	depth := strings.Count(rel, "/") + 1
	job, run, ok := "", "", false
	switch r.Layout {
	case LayoutJobRun:
		job, run = component(rel, 0), component(rel, 1)
		ok = plainName(job) && plainName(run) && runItem(i, rel, depth, 2)
	case LayoutRun:
		run = component(rel, 0)
		ok = plainName(run) && runItem(i, rel, depth, 1)
	case LayoutSavepoints:
		run = component(rel, depth-1)
		if job = string(i.Job); depth == 2 { // flat: the job is that of a map, if any
			job = component(rel, 0)
		}
		ok = i.Kind == KindUnit && depth <= 2 && savepointName(run) && (depth == 1 || plainName(job))
	case LayoutHAStorage:
		run = rel
		ok = i.Kind == KindUnit && depth == 1 && plainName(rel) && rel != "job-result-store" && rel != "application-result-store"
	case LayoutChildren:
		ok = i.Kind == KindChild && depth == 1
	}
	switch {
	case !ok:
		return invalidf("%q is no place for an item of kind %q in a root of layout %s", i.Path, i.Kind, r.Layout)
	case i.Kind == KindUnit && !i.IsDirectory():
		return invalidf("a unit that is no directory")
	case job != string(i.Job) || run != string(i.Run):
		return invalidf("job %q and run %q are not those of the path", i.Job, i.Run)
	case i.SplitOf != 0 && (i.Kind == KindUnit || i.Kind == KindChild || i.SplitOf == i.InodeID):
		return invalidf("an item of kind %q cannot be a part of a run", i.Kind)
	}
	return nil
}

// runItem checks an item in a layout whose runs are runDepth below the root.
func runItem(i *Item, rel string, depth, runDepth int) bool {
	below := component(rel, runDepth)
	direct := depth != runDepth+1 || i.SplitOf == 0 || i.SplitOf == i.ParentID
	switch i.Kind {
	case KindUnit:
		return depth == runDepth
	case KindCheckpoint:
		return depth == runDepth+1 && checkpointName(below) && i.IsDirectory() && direct
	case KindFile:
		if checkpointName(below) {
			return i.SplitOf == 0 && depth == runDepth+2 && unfinishedName(component(rel, runDepth+1)) && !i.IsDirectory()
		}
		if below != "shared" && below != "taskowned" {
			return false
		}
		// Directories only as parts of a run that moves as a whole.
		return i.SplitOf != 0 && direct || depth > runDepth+1 && !i.IsDirectory()
	case KindChild:
	}
	return false
}

// plainName: what can be a job or a run; the names of what is in a run show a root
// that was declared one level off.
func plainName(s string) bool {
	return s != "" && s != "shared" && s != "taskowned" && !checkpointName(s) && !strings.HasPrefix(s, "savepoint-")
}

// checkpointName: chk- and a number as Flink writes it.
func checkpointName(s string) bool {
	n, ok := strings.CutPrefix(s, "chk-")
	return ok && n != "" && len(n) <= 19 && strings.Trim(n, "0123456789") == "" && (n[0] != '0' || n == "0")
}

// unfinishedName: of a file that was to become a `_metadata`.
func unfinishedName(s string) bool {
	return strings.HasPrefix(strings.TrimPrefix(s, "."), "_metadata.inprogress")
}

// savepointName: savepoint-, 6 and 12 lower-case hexadecimal digits.
func savepointName(s string) bool {
	n, ok := strings.CutPrefix(s, "savepoint-")
	return ok && len(n) == 19 && n[6] == '-' && strings.Trim(n[:6], canonical.HexDigits) == "" && strings.Trim(n[7:], canonical.HexDigits) == ""
}

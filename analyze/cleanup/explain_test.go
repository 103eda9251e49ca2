package cleanup

// answer is all that was decided about a path. What is nil does not hold it.
type answer struct {
	Root *RootDecision
	Job  *JobDecision
	Unit *UnitDecision
	Item *Item // that the path is, or lies in
}

// explain finds what was decided about a path, which may lie anywhere: the innermost
// root that holds it, and what there holds it.
func explain(d *Decision, path Path) answer {
	var a answer
	for _, r := range d.Roots {
		if r.Policy.Path.Holds(path) && (a.Root == nil || a.Root.Policy.Path.Holds(r.Policy.Path)) {
			a.Root = r
		}
	}
	if a.Root == nil {
		return a
	}
	for _, j := range a.Root.Jobs {
		if j.Job.Grouped() && (a.Root.Policy.Path + Path("/"+j.Name)).Holds(path) {
			a.Job = j
		}
		for _, u := range j.Units {
			if !u.Path.Holds(path) {
				continue
			}
			a.Job, a.Unit = j, u
			for _, i := range u.Items {
				if i.Path.Holds(path) {
					a.Item = i
				}
			}
			return a
		}
	}
	return a
}

package analyze

import (
	"cmp"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// policySums has the sums of each policy by its name.
type policySums map[string]*PolicyRow

func (s policySums) at(name string) *PolicyRow {
	if s[name] == nil {
		s[name] = &PolicyRow{Name: name}
	}
	return s[name]
}

func storagePolicies(t *namespace.Tree) []PolicyRow {
	sums := policySums{}
	for name, f := range t.PolicyTotals() {
		sums.at(name).add(&PolicyRow{Files: f.Files, Length: f.Length, SpaceConsumed: f.Space})
	}
	return policyRows(sums)
}

func (p *PolicyRow) subtract(o *PolicyRow) {
	p.Files -= o.Files
	p.Length -= o.Length
	p.SpaceConsumed -= o.SpaceConsumed
}

// ecRows names the erasure coding policies; the files of all without one are
// replicated.
func ecRows(t *namespace.Tree, ec map[uint32]*PolicyRow, all Totals) []PolicyRow {
	sums := policySums{}
	plain := &PolicyRow{Files: all.Files, Length: all.Length, SpaceConsumed: all.SpaceConsumed}
	for id, row := range ec {
		sums.at(t.FileECPolicy(&fsimage.INodeFile{Striped: true, ECPolicy: id})).add(row)
		plain.subtract(row)
	}
	if sums[""] != nil { // striped, but with a policy that the image does not define
		plain.add(sums[""])
	}
	sums[""] = plain
	return policyRows(sums)
}

// policyRows sorts by name and leaves out policies that no file has.
func policyRows(sums policySums) []PolicyRow {
	rows := make([]PolicyRow, 0, len(sums))
	for _, row := range sums {
		if row.Files != 0 {
			rows = append(rows, *row)
		}
	}
	slices.SortFunc(rows, func(a, b PolicyRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

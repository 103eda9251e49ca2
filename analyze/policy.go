package analyze

import (
	"cmp"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// storagePolicyName gives the name of a policy that a file has of its own, empty
// for none. Every NameNode has these and no others.
func storagePolicyName(id uint32) string {
	switch id {
	case 1:
		return "PROVIDED"
	case 2:
		return "COLD"
	case 5:
		return "WARM"
	case 7:
		return "HOT"
	case 10:
		return "ONE_SSD"
	case 12:
		return "ALL_SSD"
	case 14:
		return "ALL_NVDIMM"
	case 15:
		return "LAZY_PERSIST"
	}
	return ""
}

// storagePolicies sums the live files by effective policy. Which policy a
// directory passes on is known only when all directories were read, so files
// cannot be sorted while they pass. But the files directly in a directory are its
// whole subtree less the subtrees of its directories, so it is enough to add each
// subtree under the directory's policy and take it off under its parent's. Files
// with a policy of their own, in own, are then moved to it.
func storagePolicies(t *namespace.Tree, own map[dirPolicy]*PolicyRow) []PolicyRow {
	sums := map[string]*PolicyRow{}
	at := func(name string) *PolicyRow {
		if sums[name] == nil {
			sums[name] = &PolicyRow{Name: name}
		}
		return sums[name]
	}
	for d := range t.Dirs() {
		mine := at(t.StoragePolicy(d))
		c := t.Summary(d).Live()
		row := PolicyRow{Files: c.Files, Length: c.Length, SpaceConsumed: c.Space}
		mine.add(&row)
		if d != t.Root() {
			at(t.StoragePolicy(t.Parent(d))).subtract(&row)
		}
	}
	for key, row := range own {
		at(t.StoragePolicy(key.dir)).subtract(row)
		at(storagePolicyName(key.policy)).add(row)
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
	sums := map[string]*PolicyRow{}
	plain := &PolicyRow{Files: all.Files, Length: all.Length, SpaceConsumed: all.SpaceConsumed}
	for id, row := range ec {
		name := t.FileECPolicy(&fsimage.INodeFile{Striped: true, ECPolicy: id})
		if sums[name] == nil {
			sums[name] = &PolicyRow{Name: name}
		}
		sums[name].add(row)
		plain.subtract(row)
	}
	if sums[""] != nil { // striped, but with a policy that the image does not define
		plain.add(sums[""])
	}
	sums[""] = plain
	return policyRows(sums)
}

// policyRows sorts by name and leaves out policies that no file has.
func policyRows(sums map[string]*PolicyRow) []PolicyRow {
	rows := make([]PolicyRow, 0, len(sums))
	for _, row := range sums {
		if row.Files != 0 {
			rows = append(rows, *row)
		}
	}
	slices.SortFunc(rows, func(a, b PolicyRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

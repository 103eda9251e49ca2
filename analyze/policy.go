package analyze

import (
	"cmp"
	"context"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// Every NameNode has these storage policies and no others.
var storagePolicyNames = [16]string{
	1: "PROVIDED", 2: "COLD", 5: "WARM", 7: "HOT", 10: "ONE_SSD", 12: "ALL_SSD", 14: "ALL_NVDIMM", 15: "LAZY_PERSIST",
}

// knownPolicy maps ids that no policy has to 0, unspecified.
func knownPolicy(id uint32) uint8 {
	if id < uint32(len(storagePolicyNames)) && storagePolicyNames[id] != "" {
		return uint8(id)
	}
	return 0
}

// effectivePolicy is the policy of a file: its own, else that of its directory.
// Erasure coded files honour only some.
func effectivePolicy(own uint8, ofDir string, striped bool) string {
	name := storagePolicyNames[own]
	if own == 0 {
		name = ofDir
	}
	if striped && name != "HOT" && name != "COLD" && name != "ALL_SSD" {
		return ""
	}
	return name
}

// policySums has the sums of each policy by its name.
type policySums map[string]*PolicyRow

func (s policySums) at(name string) *PolicyRow {
	if s[name] == nil {
		s[name] = &PolicyRow{Name: name}
	}
	return s[name]
}

// storagePolicies sums the live files by effective policy. Which policy a
// directory passes on is known only when all directories were read, so files
// cannot be sorted while they pass. But the files directly in a directory are its
// whole subtree less the subtrees of its directories, so it is enough to add each
// subtree under the directory's policy and take it off under its parent's. The
// special files, for which another policy can be in force, are then moved to it.
func storagePolicies(t *namespace.Tree, special map[dirPolicy]*PolicyRow) []PolicyRow {
	sums := policySums{}
	for d := range t.Dirs() {
		c := t.Summary(d).Live()
		row := PolicyRow{Files: c.Files, Length: c.Length, SpaceConsumed: c.Space}
		sums.at(t.StoragePolicy(d)).add(&row)
		if d != t.Root() {
			sums.at(t.StoragePolicy(t.Parent(d))).subtract(&row)
		}
	}
	for key, row := range special {
		ofDir := t.StoragePolicy(key.dir)
		sums.at(ofDir).subtract(row)
		sums.at(effectivePolicy(key.own, ofDir, key.striped)).add(row)
	}
	return policyRows(sums)
}

// storagePoliciesAgain does the same with another pass over the files, for
// images with more special files than can be remembered.
func storagePoliciesAgain(ctx context.Context, t *namespace.Tree, workers int) ([]PolicyRow, error) {
	all := make([]policySums, workers)
	err := t.EachINode(ctx, workers, func(w int, b *namespace.EntryBatch) error {
		sums := policySums{}
		err := b.Each(func(e *namespace.Entry) error {
			if e.INode.Type != fsimage.FileType {
				return nil
			}
			sums.at(e.StoragePolicy()).add(&PolicyRow{Files: 1, Length: e.Length(), SpaceConsumed: e.SpaceConsumed()})
			return nil
		})
		if all[w] == nil {
			all[w] = policySums{}
		}
		for name, row := range sums {
			all[w].at(name).add(row)
		}
		return err
	})
	sums := policySums{}
	for _, one := range all {
		for name, row := range one {
			sums.at(name).add(row)
		}
	}
	return policyRows(sums), err
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

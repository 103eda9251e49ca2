package analyze

import (
	"bytes"
	"fmt"
	"slices"

	"fsweep/analyze/namespace"
)

// DriftNote says how far the consumption of quotas can be trusted. Every output
// that shows it has to say so.
const DriftNote = "Consumption is not stored in an image. It is recomputed here as a NameNode does when it starts from this image; " +
	"the figures of one that has been running for long can have drifted from that."

// QuotaRow is a directory with a quota.
type QuotaRow struct {
	Path          Path
	INodeID       uint64
	Owner         string
	StoragePolicy string                           // effective; empty if unspecified
	Namespace     Charge                           // inodes
	Space         Charge                           // bytes
	Type          [len(namespace.TypeNames)]Charge // bytes by storage type
	// TypeUncharged: a type quota is set, but no storage policy is in force
	// here, so files without a policy of their own are not charged to it.
	TypeUncharged bool
}

// Charge is what is used, and the quota for it.
type Charge struct {
	Used  int64
	Set   bool
	Quota int64 // if Set
}

func charge(used, quota int64) Charge {
	if quota == namespace.Unset {
		return Charge{Used: used}
	}
	return Charge{used, true, quota}
}

// Left is what may still be used, negative when the quota is exceeded. It means
// something if Set.
func (c Charge) Left() int64 { return c.Quota - c.Used }

// Percent is how much of the quota is used; false without a quota, or with one
// of 0, of which nothing can be a part.
func (c Charge) Percent() (float64, bool) {
	if !c.Set || c.Quota == 0 {
		return 0, false
	}
	return 100 * float64(c.Used) / float64(c.Quota), true
}

// Quotas gives all live directories with a quota, by path.
func Quotas(t *namespace.Tree) []QuotaRow {
	dirs := t.QuotaDirs()
	rows := make([]QuotaRow, 0, len(dirs))
	var path []byte
	for _, d := range dirs {
		q, _ := t.Quota(d)
		u := t.Usage(d)
		path = t.AppendPath(path[:0], d)
		r := QuotaRow{
			Path:          bytes.Clone(path),
			INodeID:       t.ID(d),
			Owner:         t.Owner(d),
			StoragePolicy: t.StoragePolicy(d),
			Namespace:     charge(u.Namespace, q.Namespace),
			Space:         charge(u.Space, q.Space),
		}
		for i := range r.Type {
			r.Type[i] = charge(u.Type[i], q.Type[i])
		}
		r.TypeUncharged = q.HasType() && r.StoragePolicy == ""
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b QuotaRow) int { return bytes.Compare(a.Path, b.Path) })
	return rows
}

// maxFindingINodes is how many inode ids a finding names.
const maxFindingINodes = 10

// UnchargedFinding tells when type quotas are set that nothing is charged to.
func UnchargedFinding(rows []QuotaRow) (namespace.Finding, bool) {
	f := namespace.Finding{Code: "type_quota_not_charged"}
	for _, r := range rows {
		if !r.TypeUncharged {
			continue
		}
		f.Count++
		if len(f.INodes) < maxFindingINodes {
			f.INodes = append(f.INodes, r.INodeID)
		}
	}
	f.Message = fmt.Sprintf("Directories with a storage-type quota but no storage policy in force: %d. "+
		"Files there without a policy of their own are not charged to it, so it limits nothing.", f.Count)
	return f, f.Count > 0
}

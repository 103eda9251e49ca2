package analyze

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// Options of [Load].
type Options struct {
	Image    string // name of the file, for [Source]
	Workers  int    // goroutines; 0: GOMAXPROCS
	Top      int    // length of the top lists
	Progress func(stage string, done, total int64)
}

// Load reads an image and makes its report, in one pass over the files.
func Load(ctx context.Context, im *fsimage.Image, o Options) (*Report, *namespace.Tree, error) {
	var c collectors
	t, err := namespace.Load(ctx, im, namespace.Options{Workers: o.Workers, Progress: o.Progress, Observe: c.observe})
	if err != nil {
		return nil, nil, err
	}
	sums := c.merge()
	s := t.Summary(t.Root())
	r := &Report{
		Source:         NewSource(o.Image, im, t),
		Findings:       slices.Clone(t.Findings()),
		Totals:         totals(s.Live()),
		SnapshotTotals: totals(s.Snapshot),
		Quotas:         Quotas(t),
		StorageTypes:   t.Usage(t.Root()).Type,
		Users:          ownerRows(sums.users, func(id uint32) string { return t.OwnerName(fsimage.Permission(id) << 40) }),
		Groups:         ownerRows(sums.groups, func(id uint32) string { return t.GroupName(fsimage.Permission(id) << 16) }),
		StoragePolicy:  storagePolicies(t, sums.own),
		Snapshots:      snapshots(t),
	}
	r.ErasureCoding = ecRows(t, sums.ec, r.Totals)
	r.OpenFiles = openFiles(t, o.Top)
	if r.Top, err = topDirectories(ctx, t, o.Top); err != nil {
		return nil, nil, err
	}
	if f, ok := NameFinding(o.Image, r.Source.Txid); ok {
		r.Findings = append(r.Findings, f)
	}
	if f, ok := UnchargedFinding(r.Quotas); ok {
		r.Findings = append(r.Findings, f)
	}
	return r, t, nil
}

// ownerRows names the ids. Different ids can have one name in an image that
// contradicts itself; their sums belong together.
func ownerRows(sums map[uint32]*Totals, name func(uint32) string) []OwnerRow {
	byName := map[string]*Totals{}
	for id, s := range sums {
		n := name(id)
		if byName[n] == nil {
			byName[n] = &Totals{}
		}
		byName[n].add(s)
	}
	rows := make([]OwnerRow, 0, len(byName))
	for n, s := range byName {
		rows = append(rows, OwnerRow{n, *s})
	}
	slices.SortFunc(rows, func(a, b OwnerRow) int {
		return cmp.Or(cmp.Compare(b.SpaceConsumed, a.SpaceConsumed), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func openFiles(t *namespace.Tree, top int) OpenFiles {
	files := slices.Clone(t.OpenFiles())
	o := OpenFiles{Count: int64(len(files))}
	for i := range files {
		o.Length += files[i].Length
	}
	slices.SortFunc(files, func(a, b namespace.OpenFile) int {
		return cmp.Or(cmp.Compare(a.MTimeMs, b.MTimeMs), cmp.Compare(a.ID, b.ID))
	})
	for _, f := range files[:min(top, len(files))] {
		o.Oldest = append(o.Oldest, OpenFileRow{t.FilePath(nil, f), f.ID, f.Length, f.MTimeMs, f.ClientName, f.ClientMachine})
	}
	return o
}

func snapshots(t *namespace.Tree) Snapshots {
	var s Snapshots
	for _, d := range t.Snapshottable() {
		row := SnapshottableRow{Path: t.AppendPath(nil, d.Dir), INodeID: t.ID(d.Dir), Held: totals(t.Summary(d.Dir).Snapshot)}
		for _, snap := range d.Snapshots {
			row.Snapshots = append(row.Snapshots, SnapshotRow{snap.ID, string(snap.Name), snap.MTimeMs})
		}
		slices.SortFunc(row.Snapshots, func(a, b SnapshotRow) int { return cmp.Compare(a.ID, b.ID) })
		s.Count += int64(len(row.Snapshots))
		s.Directories = append(s.Directories, row)
	}
	slices.SortFunc(s.Directories, func(a, b SnapshottableRow) int { return bytes.Compare(a.Path, b.Path) })
	return s
}

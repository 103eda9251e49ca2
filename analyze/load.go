package analyze

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// Options of [Load].
type Options struct {
	Image    string // name of the file, for [Source]
	Workers  int    // goroutines; 0: GOMAXPROCS
	Top      int    // length of the top lists
	Progress func(namespace.Progress)
}

// Load reads an image and makes its report, in one pass over the files.
func Load(ctx context.Context, im *fsimage.Image, o Options) (*Report, *namespace.Tree, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	var c collectors
	t, err := namespace.Load(ctx, im, namespace.Options{Workers: o.Workers, Progress: o.Progress, Observe: c.observe})
	if err != nil {
		return nil, nil, err
	}
	sums := c.merge()
	s := t.Summary(t.Root())
	r := &Report{
		Source:         NewSource(o.Image, im, t),
		Totals:         totals(s.Live()),
		SnapshotTotals: totals(s.Snapshot),
		Quotas:         Quotas(t),
		StorageTypes:   t.Usage(t.Root()).Type,
		Users:          ownerRows(sums.users, func(id uint32) string { return t.OwnerName(fsimage.Permission(id) << 40) }),
		Groups:         ownerRows(sums.groups, func(id uint32) string { return t.GroupName(fsimage.Permission(id) << 16) }),
		Snapshots:      snapshots(t),
	}
	r.StoragePolicy = storagePolicies(t)
	r.ErasureCoding = ecRows(t, sums.ec, r.Totals)
	r.OpenFiles = openFiles(t, o.Top)
	if r.Top, err = topDirectories(ctx, t, o.Top, o.Workers); err != nil {
		return nil, nil, err
	}
	r.Findings = Findings(o.Image, t, r.Quotas)
	return r, t, nil
}

// Findings lists what is not as it should be in an image of the given name.
func Findings(image string, t *namespace.Tree, quotas []QuotaRow) []namespace.Finding {
	fs := slices.Clone(t.Findings())
	if f, ok := NameFinding(image, t.NameSystem().GetTransactionId()); ok {
		fs = append(fs, f)
	}
	if f, ok := UnchargedFinding(quotas); ok {
		fs = append(fs, f)
	}
	return fs
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
	dirs := t.Snapshottable()
	s := Snapshots{Directories: make([]SnapshottableRow, 0, len(dirs))}
	var path []byte
	for _, d := range dirs {
		path = t.AppendPath(path[:0], d.Dir)
		row := SnapshottableRow{
			Path: bytes.Clone(path), INodeID: t.ID(d.Dir),
			Snapshots: make([]SnapshotRow, 0, len(d.Snapshots)), Held: totals(t.Summary(d.Dir).Snapshot),
		}
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

package cleanup

import (
	"iter"

	"fsweep/proto/planfile"
)

// FromFile gives a plan as its file has it: items, and nothing of what was kept by
// rules. Each item stands for itself, so memory does not follow their number. file is
// its name, d its digest; see [planfile.Open].
//
// Reading goes once over the items for each root. If it fails, what is shown ends
// early: the error is that of the function, to be asked afterwards.
func FromFile(r *planfile.Reader, file string, d planfile.Digest) (*Plan, func() error) {
	p := &Plan{Header: r.Header(), Footer: r.Footer(), File: file, Digest: d}
	var failed error
	for q, err := range r.Quotas() {
		if err != nil {
			failed = err
			break
		}
		p.Quotas = append(p.Quotas, q)
	}
	p.Roots = func(yield func(*Root) bool) {
		for i := range p.Header.Roots {
			root := &Root{Root: p.Header.Roots[i]}
			root.Jobs = seqOne(&Job{Units: itemUnits(r, &root.Root, &failed)})
			if failed != nil || !yield(root) {
				return
			}
		}
	}
	return p, func() error { return failed }
}

func seqOne[T any](v T) iter.Seq[T] { return func(yield func(T) bool) { yield(v) } }

func itemUnits(r *planfile.Reader, root *planfile.Root, failed *error) iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		for i, err := range r.Items() {
			switch {
			case err != nil:
				*failed = err
				return
			case i.Root == root.Path && !yield(itemUnit(&i, root.Layout)):
				return
			}
		}
	}
}

// itemUnit is an item as a unit of its own.
func itemUnit(i *planfile.Item, layout planfile.Layout) *Unit {
	u := &Unit{
		Kind: unitKind(i, layout), Path: i.Path, InodeID: i.InodeID, Verdict: Candidate, Reasons: []Reason{{Rule: i.Rule, Facts: i.Evidence}},
		Times: Times{SubtreeMs: i.MTimeMs}, Items: []*Item{{Item: *i}},
		Totals: Totals{Files: i.Totals.Files, Directories: i.Totals.Directories, Symlinks: i.Totals.Symlinks, Length: i.Totals.Length, Space: i.Totals.Space},
	}
	for f := range i.Evidence {
		switch e := &i.Evidence[f]; e.Name {
		case "subtree_mtime_ms", "newest_mtime_ms", "file_mtime_ms":
			u.Times.SubtreeMs = e.Number
		case "subtree_mtime_of":
			u.Times.SubtreeOf = e.Text
		case "metadata_mtime_ms":
			u.Times.HasMetadata, u.Times.MetadataMs = true, e.Number
		case "data_atime_ms":
			u.Times.DataATimeMs = e.Number
		}
	}
	return u
}

// unitKind says what an item is: in the words of units, or of items if it is none.
func unitKind(i *planfile.Item, layout planfile.Layout) string {
	if i.Kind != planfile.KindUnit {
		return string(i.Kind)
	}
	switch layout {
	case planfile.LayoutSavepoints:
		return "savepoint"
	case planfile.LayoutHAStorage:
		return "ha-cluster"
	case planfile.LayoutJobRun, planfile.LayoutRun, planfile.LayoutChildren:
	}
	return "run"
}

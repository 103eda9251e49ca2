package plan

import (
	"context"
	"fmt"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/proto/planfile"
)

// guards tells which are waived.
func (b *builder) guards() (waived map[uint64]*cleanup.Waiver) {
	b.warnings = append(b.waivers(), b.warnings...)
	waived = map[uint64]*cleanup.Waiver{}
	for i := range b.r.Policy.WaiveGuards {
		if w := &b.r.Policy.WaiveGuards[i]; !w.Expires.Over(b.r.Inputs.Now) {
			waived[uint64(w.InodeID)] = w
		}
	}
	return waived
}

// waivers says which waivers have no effect.
func (b *builder) waivers() (warnings []string) {
	list := b.r.Policy.WaiveGuards
	if len(list) == 0 {
		return nil
	}
	there := map[uint64]bool{}
	for i := range b.d.Guards {
		there[b.d.Guards[i].INodeID] = true
	}
	for i := range list {
		switch w := &list[i]; {
		case w.Expires.Over(b.r.Inputs.Now):
			warnings = append(warnings, fmt.Sprintf("The waiver of guard %d expired on %04d-%02d-%02d: it counts again.", w.InodeID, w.Expires.Year, w.Expires.Month, w.Expires.Day))
		case !there[uint64(w.InodeID)]:
			warnings = append(warnings, fmt.Sprintf("The waiver of guard %d has no effect: the image has no such guard.", w.InodeID))
		}
	}
	return warnings
}

// writeGuards writes all guards of the image, which must have paths that tell them
// apart. Those in items say in which: they count where the item stays.
func (b *builder) writeGuards(ctx context.Context, waived map[uint64]*cleanup.Waiver) error {
	var path []byte
	var last planfile.Path
	for i := range b.d.Guards {
		if err := ctx.Err(); err != nil {
			return err
		}
		g := &b.d.Guards[i]
		path = b.d.AppendPath(path[:0], g)
		line := planfile.Guard{
			Kind: guardKinds[g.Kind], Path: planfile.Path(path), InodeID: g.INodeID, Length: g.Length, MTimeMs: g.MTimeMs,
			Owner: owner(g.Owner), Root: b.rootOf(path),
		}
		if err := line.Path.Clean(); err != nil {
			return fmt.Errorf("%w: inode %d may refer to anything, and has no path that a client can use: %w", ErrImage, g.INodeID, err)
		}
		if line.Path == last {
			return fmt.Errorf("%w: two files that may refer to anything have the path %q", ErrImage, path)
		}
		last = line.Path
		if w := b.workOf(b.code(g.Parent)); w != nil && !w.left {
			line.Item = w.item.INodeID
			b.out.GuardsInItems++
		}
		if w := waived[g.INodeID]; w != nil {
			line.Waived = string(w.Reason)
			line.WaivedUntilMs = time.Date(w.Expires.Year, w.Expires.Month, w.Expires.Day+1, 0, 0, 0, 0, time.UTC).UnixMilli()
		}
		if err := b.file.Guard(line); err != nil {
			return err
		}
	}
	return nil
}

// owner of what has none: nobody on a cluster is called so.
func owner(name string) planfile.Name {
	if name == "" {
		return "#0"
	}
	return planfile.Name(name)
}

package plan

import (
	"context"
	"fmt"
	"time"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/proto/planfile"
)

// guards tells which are waived.
func (b *builder) guards(ctx context.Context) (waived map[uint64]*cleanup.Waiver, err error) {
	waived = map[uint64]*cleanup.Waiver{}
	list := b.r.Policy.WaiveGuards
	if len(list) == 0 {
		return waived, nil
	}
	there := map[uint64]bool{}
	for i := range list {
		w := &list[i]
		there[uint64(w.InodeID)] = false
		if !w.Expires.Over(b.r.Inputs.Now) {
			waived[uint64(w.InodeID)] = w
		}
	}
	err = b.s.EachGuard(ctx, func(g *flink.Guard, _ []byte) error {
		if _, asked := there[g.INodeID]; asked {
			there[g.INodeID] = true
		}
		return nil
	})
	b.warnings = append(b.waivers(there), b.warnings...)
	return waived, err
}

// waivers says which waivers have no effect.
func (b *builder) waivers(there map[uint64]bool) (warnings []string) {
	list := b.r.Policy.WaiveGuards
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
	var last planfile.Path
	return b.s.EachGuard(ctx, func(g *flink.Guard, path []byte) error {
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
		if line.Item = b.itemOf(g.Parent); line.Item != 0 {
			b.out.GuardsInItems++
		}
		if w := waived[g.INodeID]; w != nil {
			line.Waived = string(w.Reason)
			line.WaivedUntilMs = time.Date(w.Expires.Year, w.Expires.Month, w.Expires.Day+1, 0, 0, 0, 0, time.UTC).UnixMilli()
		}
		return b.file.Guard(line)
	})
}

// replayGuards lets the plan hold guards against items without keeping them.
func (b *builder) replayGuards() error {
	r, err := b.s.Guards()
	if err != nil {
		return err
	}
	b.file.Replay(func() ([]byte, uint64, bool, error) {
		g, path, ok, err := r.Next()
		if !ok {
			return nil, 0, false, err
		}
		return path, b.itemOf(g.Parent), true, nil
	})
	return nil
}

// itemOf gives the inode id of the item that a directory is or lies in, 0 if in none.
func (b *builder) itemOf(d namespace.Dir) uint64 {
	if !b.s.Below(d) {
		return 0
	}
	for ; d != namespace.NoDir; d = b.t.Parent(d) {
		if b.tops.has(d) {
			return b.t.ID(d)
		}
	}
	return 0
}

// owner of what has none: nobody on a cluster is called so.
func owner(name string) planfile.Name {
	if name == "" {
		return "#0"
	}
	return planfile.Name(name)
}

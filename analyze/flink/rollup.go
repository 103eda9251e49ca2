package flink

import (
	"cmp"
	"slices"

	"fsweep/analyze/namespace"
)

// addTimes adds the times of a directory and of the files right in it to its
// unit and checkpoint.
func (b *builder) addTimes(n *node, f *facts) {
	u, ms := b.units[n.unit], b.t.MTimeMs(n.dir)
	place := DirectoryPlace
	if n.dir == u.Dir {
		place = UnitPlace
	}
	u.Times.add(ms, place, f)
	place = n.class.place()
	if n.checkpoint != noUnit {
		place = CheckpointPlace
	}
	u.Times.addFiles(place, f)
	if f.bits&timesBit != 0 {
		u.NewestFile.later(f.newest, place)
	}
	if n.checkpoint == noUnit {
		return
	}
	c := b.checkpoints[n.checkpoint]
	c.Times.add(ms, DirectoryPlace, f)
	c.Times.addFiles(CheckpointPlace, f)
}

// add adds the time of a directory.
func (t *Times) add(ms int64, p Place, f *facts) {
	t.Newest.later(ms, p)
	if f.bits&markerBit == 0 {
		t.Rank.later(ms, p)
	}
	t.OldestMs = min(t.OldestMs, ms)
	if ms <= 0 {
		t.UnknownMTimes++
	}
}

// addFiles adds the times of the files and symlinks of a directory.
func (t *Times) addFiles(p Place, f *facts) {
	if f.bits&timesBit == 0 {
		return
	}
	t.Newest.later(f.newest, p)
	t.Rank.later(f.newest, p)
	t.OldestMs = min(t.OldestMs, f.oldest)
	t.UnknownMTimes += int64(f.unknown)
	t.NewestDataATimeMs = max(t.NewestDataATimeMs, f.atime)
}

// addMetadata adds the time of a `_metadata`. The facts of its directory have it
// too, but only as that of some file.
func (t *Times) addMetadata(f *File) {
	t.Newest.later(f.MTimeMs, MetadataPlace)
	t.Rank.later(f.MTimeMs, MetadataPlace)
	if f.complete() && (!t.HasMetadata || f.MTimeMs > t.NewestMetadataMs) {
		t.NewestMetadataMs, t.HasMetadata = f.MTimeMs, true
	}
}

// addMarks adds what forbids to touch a directory, and whether it is empty, to
// its unit and checkpoint.
func (b *builder) addMarks(n *node, in *facts) {
	u, f := b.units[n.unit], in.bits
	u.Skeleton = u.Skeleton && in.data == 0
	here, file := f&(markerBit|markedBit) != 0, f&markedFileBit != 0
	if n.dir == u.Dir {
		u.Marked, u.MarkedInside = here, u.MarkedInside || file
	} else {
		u.MarkedInside = u.MarkedInside || here || file
	}
	if n.checkpoint == noUnit {
		return
	}
	c := b.checkpoints[n.checkpoint]
	if n.dir == c.Dir {
		c.Marked, c.MarkedInside = here, c.MarkedInside || file
	} else {
		c.MarkedInside = c.MarkedInside || here || file
	}
}

// markFlags sets the bits of nodes. Few directories have any.
func (b *builder) markFlags() {
	set := func(i uint32, bit uint8) {
		if i == noNode {
			return
		}
		b.nodes[i].bits |= bit
		for i = b.nodes[i].parent; i != noNode; i = b.nodes[i].parent {
			b.nodes[i].bits |= bit << insideShift
		}
	}
	for _, d := range b.t.QuotaDirs() {
		set(b.at(d), quotaBit)
	}
	for _, s := range b.t.Snapshottable() {
		set(b.at(s.Dir), snapshottableBit)
		if len(s.Snapshots) > 0 {
			set(b.at(s.Dir), snapshotsBit)
			b.snapshots[s.Dir] = true
		}
	}
	for i := range b.nodes {
		if b.facts[i].bits&zoneBit != 0 {
			set(uint32(i), encryptionZoneBit)
		}
	}
}

// flags gives those of a directory below a root, or of a root.
func (b *builder) flags(d namespace.Dir) Flags {
	i := b.at(d)
	if i == noNode {
		return Flags{}
	}
	bits := b.nodes[i].bits
	f := Flags{
		Quota: bits&quotaBit != 0, QuotaInside: bits>>insideShift&quotaBit != 0,
		Snapshottable: bits&snapshottableBit != 0, SnapshottableInside: bits>>insideShift&snapshottableBit != 0,
		SnapshotsInside: (bits|bits>>insideShift)&snapshotsBit != 0,
		EncryptionZone:  bits&encryptionZoneBit != 0, EncryptionZoneInside: bits>>insideShift&encryptionZoneBit != 0,
		Encrypted: b.t.Encrypted(d),
	}
	if len(b.snapshots) > 0 {
		for d = b.t.Parent(d); d != namespace.NoDir && !f.SnapshotsAbove; d = b.t.Parent(d) {
			f.SnapshotsAbove = b.snapshots[d]
		}
	}
	return f
}

func (b *builder) finishUnit(i int32, u *Unit) {
	u.Flags = b.flags(u.Dir)
	for _, c := range u.Checkpoints {
		c.Flags = b.flags(c.Dir)
	}
	slices.SortFunc(u.Checkpoints, func(x, y *Checkpoint) int { return cmp.Compare(x.N, y.N) })
	if j := b.jobOf[i]; j.Grouped() && b.unknown[i].n > 0 {
		l := b.unknownOf(j)
		l.merge(&b.unknown[i], maxUnknownListed, compareMisfits)
	}
	u.Unknown, u.NumUnknown = done(&b.unknown[i], maxUnknownListed)
}

func (b *builder) finishRoot(i uint32, r *Root) {
	if r.Dir == namespace.NoDir && r.INodeID == 0 {
		b.misfit(i, Misfit{Reason: MissingRoot, Path: r.Path, INodeID: 0, Detail: "the root does not exist"})
	}
	r.Misfits, r.NumMisfits = done(&b.misfits[i], MaxListed)
	r.Flags = b.flags(r.Dir)
	marked := func(d namespace.Dir) bool {
		n := b.at(d)
		return n != noNode && b.facts[n].bits&(markerBit|markedBit) != 0
	}
	r.Marked = marked(r.Dir)
	for _, j := range r.Jobs {
		j.Flags = b.flags(j.Dir)
		if j.Marked = j.Grouped() && marked(j.Dir); !j.Excluded {
			if l := b.jobUnknown[j]; l != nil {
				j.Unknown, j.NumUnknown = done(l, maxUnknownListed)
			}
		}
	}
}

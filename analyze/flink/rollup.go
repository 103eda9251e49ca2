package flink

import (
	"cmp"
	"slices"

	"fsweep/analyze/namespace"
)

// add adds what a directory is and what the pass found in it to the unit and, if it is in
// one, to a checkpoint; and what lies in it to the sum of the part that holds it.
func (b *unitBuilder) add(n uint32, c *Checkpoint, sum *Sum) error {
	if err := b.r.read(n, &b.f); err != nil {
		return err
	}
	if b.index.bits[n]&markerDir != 0 {
		b.f.bits |= markerBit
	}
	b.addTimes(n, c)
	b.addMarks(n, c)
	b.u.Sum.Add(&b.f.sum)
	if sum != nil {
		sum.Add(&b.f.sum)
	}
	b.u.Pointers += int64(b.f.pointers)
	b.addStrays(&b.unknown, n)
	b.addMetadata(n, c)
	if len(b.f.unfinished) > 0 {
		b.addUnfinished(c)
	}
	return nil
}

// addMetadata gives a `_metadata` to the checkpoint or savepoint that it is of.
func (b *unitBuilder) addMetadata(n uint32, c *Checkpoint) {
	u, class := b.u, b.index.class(n)
	for i := range b.f.metadata {
		f := b.f.metadata[i]
		switch {
		case class == savepoint && u.Metadata == nil:
			u.Metadata = &f
		case class == checkpoint && c.Metadata == nil:
			c.Metadata = &f
			c.Times.addMetadata(&f)
		default:
			b.unknown.add(Misfit{Reason: StrayMetadata, Path: b.index.strayPath(n, &stray{name: metadataName, id: f.INodeID}), INodeID: f.INodeID}, maxUnknownListed, compareMisfits)
			continue
		}
		u.Times.addMetadata(&f)
		u.NewestFile.later(f.MTimeMs, MetadataPlace)
	}
}

func (b *unitBuilder) addUnfinished(c *Checkpoint) {
	slices.SortFunc(b.f.unfinished, func(x, y File) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.INodeID, y.INodeID))
	})
	to := &b.u.InProgress
	if c != nil {
		to = &c.InProgress
	}
	*to = append(*to, b.f.unfinished...)
}

// addTimes adds the times of a directory and of the files right in it.
func (b *unitBuilder) addTimes(n uint32, c *Checkpoint) {
	u, f, ms := b.u, &b.f.facts, b.index.t.MTimeMs(b.index.dirs[n])
	place := DirectoryPlace
	if n == b.node {
		place = UnitPlace
	}
	u.Times.add(ms, place, f)
	place = b.index.class(n).place()
	if c != nil {
		place = CheckpointPlace
	}
	u.Times.addFiles(place, f)
	if f.bits&timesBit != 0 {
		u.NewestFile.later(f.newest, place)
	}
	if c != nil {
		c.Times.add(ms, DirectoryPlace, f)
		c.Times.addFiles(CheckpointPlace, f)
	}
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

// addMarks adds what forbids to touch a directory, and whether it is empty.
func (b *unitBuilder) addMarks(n uint32, c *Checkpoint) {
	u, f := b.u, b.f.bits
	u.Skeleton = u.Skeleton && b.f.data == 0
	here, file := f&(markerBit|markedBit) != 0, f&markedFileBit != 0
	if n == b.node {
		u.Marked, u.MarkedInside = here, u.MarkedInside || file
	} else {
		u.MarkedInside = u.MarkedInside || here || file
	}
	if c == nil {
		return
	}
	if b.index.dirs[n] == c.Dir {
		c.Marked, c.MarkedInside = here, c.MarkedInside || file
	} else {
		c.MarkedInside = c.MarkedInside || here || file
	}
}

// flagged are the nodes that have what [Flags] tells. Few directories have any of it.
type flagged struct {
	quota, snapshottable, snapshots, zones nodeSet
	snapshotted                            map[namespace.Dir]bool // anywhere in the image
}

func (s *Survey) findFlags() {
	x, t := s.index, s.index.t
	s.flagged.snapshotted = map[namespace.Dir]bool{}
	for _, d := range t.QuotaDirs() {
		s.flagged.quota.add(x.at(d))
	}
	for _, d := range t.Snapshottable() {
		s.flagged.snapshottable.add(x.at(d.Dir))
		if len(d.Snapshots) > 0 {
			s.flagged.snapshots.add(x.at(d.Dir))
			s.flagged.snapshotted[d.Dir] = true
		}
	}
	for i := range s.scan.workers {
		s.flagged.zones = append(s.flagged.zones, s.scan.workers[i].V.zones...)
	}
	for _, set := range []nodeSet{s.flagged.quota, s.flagged.snapshottable, s.flagged.snapshots, s.flagged.zones} {
		slices.Sort(set)
	}
}

// flags gives those of a directory below a root, or of a root.
func (s *Survey) flags(d namespace.Dir) Flags {
	x, has := s.index, &s.flagged
	n := x.at(d)
	if n == noNode {
		return Flags{}
	}
	f := Flags{
		Quota: has.quota.has(n), QuotaInside: x.below(has.quota, n),
		Snapshottable: has.snapshottable.has(n), SnapshottableInside: x.below(has.snapshottable, n),
		SnapshotsInside: has.snapshots.has(n) || x.below(has.snapshots, n),
		EncryptionZone:  has.zones.has(n), EncryptionZoneInside: x.below(has.zones, n),
		Encrypted: x.t.Encrypted(d),
	}
	if len(has.snapshotted) > 0 {
		for d = x.t.Parent(d); d != namespace.NoDir && !f.SnapshotsAbove; d = x.t.Parent(d) {
			f.SnapshotsAbove = has.snapshotted[d]
		}
	}
	return f
}

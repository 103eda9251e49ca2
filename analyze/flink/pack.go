package flink

import (
	"encoding/binary"
	"slices"

	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
)

// Sorter makes a sorter of one writer that sorts where the survey does, for whoever sorts
// what [Survey.Each] gives. memory is how many bytes of records stay in memory.
func (s *Survey) Sorter(memory int) *extsort.Sorter {
	return extsort.New(extsort.Options{Dir: s.scan.o.TempDir, Memory: memory, Limit: s.scan.o.SortLimit})
}

// Part is how many units of a job are to be in memory at once: most or, where a test has
// nearly nothing sorted in memory, fewer.
func (s *Survey) Part(most int) int {
	if limit := s.scan.o.SortLimit; limit > 0 {
		return min(most, limit)
	}
	return most
}

// AppendUnit appends all of a unit for [ReadUnit].
func AppendUnit(b []byte, u *Unit) []byte {
	b = append(b, byte(u.Kind))
	for _, v := range [...]bool{u.Selected, u.Marked, u.MarkedInside, u.RunID, u.ConstantID, u.Skeleton} {
		b = extsort.AppendBool(b, v)
	}
	for _, v := range u.Flags.all() {
		b = extsort.AppendBool(b, *v)
	}
	b = extsort.AppendBytes(binary.AppendUvarint(b, uint64(u.Dir)), u.Name)
	b = binary.AppendUvarint(binary.AppendUvarint(b, u.INodeID), u.ParentID)
	t := &u.Totals
	b = extsort.AppendSigned(b, u.MTimeMs, t.Files, t.Directories, t.Symlinks, t.Length, t.Space, u.OpenFiles, u.Pointers)
	b = u.Times.pack(b)
	b = packStamp(b, &u.NewestFile)
	b = packMetadata(b, u.Metadata, u.InProgress)
	b = binary.AppendUvarint(extsort.AppendSigned(b, u.NumUnknown), uint64(len(u.Unknown)))
	for i := range u.Unknown {
		b = u.Unknown[i].pack(b)
	}
	b = binary.AppendUvarint(u.Sum.pack(b), uint64(len(u.Checkpoints)))
	for _, c := range u.Checkpoints {
		b = c.pack(b)
	}
	b = AppendStored(b, u.Stored)
	b = extsort.AppendBool(u.Taskowned.pack(u.Shared.pack(b)), u.Changelog != nil)
	if u.Changelog != nil {
		b = u.Changelog.pack(b)
	}
	return b
}

// ReadUnit makes the unit again, but not [Stored] checkpoints; see [Survey.ReadUnit].
func ReadUnit(b []byte) *Unit {
	r := &extsort.Unpacker{Rest: b}
	u := &Unit{Kind: UnitKind(r.Byte())}
	for _, v := range [...]*bool{&u.Selected, &u.Marked, &u.MarkedInside, &u.RunID, &u.ConstantID, &u.Skeleton} {
		*v = r.Bool()
	}
	for _, v := range u.Flags.all() {
		*v = r.Bool()
	}
	u.Dir, u.Name = namespace.Dir(r.Unsigned()), string(r.Bytes())
	u.INodeID, u.ParentID = r.Unsigned(), r.Unsigned()
	t := &u.Totals
	for _, v := range [...]*int64{&u.MTimeMs, &t.Files, &t.Directories, &t.Symlinks, &t.Length, &t.Space, &u.OpenFiles, &u.Pointers} {
		*v = r.Signed()
	}
	u.Times.unpack(r)
	u.NewestFile = unpackStamp(r)
	u.Metadata, u.InProgress = unpackMetadata(r)
	u.NumUnknown = r.Signed()
	for range r.Len() {
		u.Unknown = append(u.Unknown, unpackMisfit(r))
	}
	u.Sum.unpack(r)
	for range r.Len() {
		u.Checkpoints = append(u.Checkpoints, unpackCheckpoint(r))
	}
	u.Stored = unpackStored(r)
	u.Shared, u.Taskowned = unpackArea(r), unpackArea(r)
	if r.Bool() {
		a := unpackArea(r)
		u.Changelog = &a
	}
	return u
}

func (c *Checkpoint) pack(b []byte) []byte {
	t := &c.Totals
	b = extsort.AppendSigned(b, c.N, c.MTimeMs, t.Files, t.Directories, t.Symlinks, t.Length, t.Space, c.OpenFiles)
	b = binary.AppendUvarint(binary.AppendUvarint(b, c.INodeID), uint64(c.Dir))
	b = packMetadata(c.Times.pack(b), c.Metadata, c.InProgress)
	for _, v := range c.Flags.all() {
		b = extsort.AppendBool(b, *v)
	}
	return c.Sum.pack(extsort.AppendBool(extsort.AppendBool(b, c.Marked), c.MarkedInside))
}

func unpackCheckpoint(r *extsort.Unpacker) *Checkpoint {
	c := &Checkpoint{}
	t := &c.Totals
	for _, v := range [...]*int64{&c.N, &c.MTimeMs, &t.Files, &t.Directories, &t.Symlinks, &t.Length, &t.Space, &c.OpenFiles} {
		*v = r.Signed()
	}
	c.INodeID, c.Dir = r.Unsigned(), namespace.Dir(r.Unsigned())
	c.Times.unpack(r)
	c.Metadata, c.InProgress = unpackMetadata(r)
	for _, v := range c.Flags.all() {
		*v = r.Bool()
	}
	c.Marked, c.MarkedInside = r.Bool(), r.Bool()
	c.Sum.unpack(r)
	return c
}

func (a *Area) pack(b []byte) []byte {
	for _, v := range [...]uint64{uint64(a.Dir), uint64(a.Merged), uint64(a.ForSt), a.INodeID} {
		b = binary.AppendUvarint(b, v)
	}
	t := &a.Totals
	return a.Sum.pack(extsort.AppendSigned(b, t.Files, t.Directories, t.Symlinks, t.Length, t.Space))
}

func unpackArea(r *extsort.Unpacker) (a Area) {
	a.Dir, a.Merged, a.ForSt, a.INodeID = namespace.Dir(r.Unsigned()), uint32(r.Unsigned()), uint32(r.Unsigned()), r.Unsigned()
	t := &a.Totals
	for _, v := range [...]*int64{&t.Files, &t.Directories, &t.Symlinks, &t.Length, &t.Space} {
		*v = r.Signed()
	}
	a.Sum.unpack(r)
	return a
}

// pack appends a sum: a byte if there is none, which is the case without [Options.Sum].
func (s *Sum) pack(b []byte) []byte {
	b = extsort.AppendBool(b, *s != (Sum{}))
	if *s != (Sum{}) {
		for _, v := range s {
			b = binary.BigEndian.AppendUint64(b, v)
		}
	}
	return b
}

func (s *Sum) unpack(r *extsort.Unpacker) {
	if r.Bool() {
		for i := range s {
			s[i] = r.Fixed()
		}
	}
}

// packMetadata appends a `_metadata`, which may be nil, and those that were never finished.
func packMetadata(b []byte, f *File, unfinished []File) []byte {
	b = extsort.AppendBool(b, f != nil)
	if f != nil {
		b = packWhole(b, f)
	}
	b = binary.AppendUvarint(b, uint64(len(unfinished)))
	for i := range unfinished {
		b = packWhole(b, &unfinished[i])
	}
	return b
}

func unpackMetadata(r *extsort.Unpacker) (f *File, unfinished []File) {
	if r.Bool() {
		file := unpackWhole(r)
		f = &file
	}
	for range r.Len() {
		unfinished = append(unfinished, unpackWhole(r))
	}
	return f, unfinished
}

func (f *Flags) all() [9]*bool {
	return [...]*bool{
		&f.Quota, &f.QuotaInside, &f.Snapshottable, &f.SnapshottableInside, &f.SnapshotsInside, &f.SnapshotsAbove,
		&f.EncryptionZone, &f.EncryptionZoneInside, &f.Encrypted,
	}
}

func packStamp(b []byte, s *Stamp) []byte {
	return extsort.AppendSigned(append(b, byte(s.Place)), s.Ms)
}

func unpackStamp(r *extsort.Unpacker) Stamp { return Stamp{Place: Place(r.Byte()), Ms: r.Signed()} }

func (t *Times) pack(b []byte) []byte {
	b = packStamp(packStamp(b, &t.Newest), &t.Rank)
	b = extsort.AppendSigned(b, t.OldestMs, t.UnknownMTimes, t.NewestMetadataMs, t.NewestDataATimeMs)
	return extsort.AppendBool(b, t.HasMetadata)
}

func (t *Times) unpack(r *extsort.Unpacker) {
	t.Newest, t.Rank = unpackStamp(r), unpackStamp(r)
	t.OldestMs, t.UnknownMTimes, t.NewestMetadataMs, t.NewestDataATimeMs = r.Signed(), r.Signed(), r.Signed(), r.Signed()
	t.HasMetadata = r.Bool()
}

// packWhole appends a file with its name and what else is kept of it.
func packWhole(b []byte, f *File) []byte {
	b = packFile(extsort.AppendBytes(b, f.Name), f)
	b = extsort.AppendBool(b, f.Extra != nil)
	return extsort.AppendBytes(b, f.Extra)
}

func unpackWhole(r *extsort.Unpacker) File {
	f := unpackFile(r, string(r.Bytes()))
	if has, extra := r.Bool(), r.Bytes(); has {
		f.Extra = slices.Clone(extra)
	}
	return f
}

func (m *Misfit) pack(b []byte) []byte {
	b = extsort.AppendBytes(extsort.AppendBytes(extsort.AppendBytes(b, m.Reason), m.Path), m.Detail)
	b = binary.AppendUvarint(b, m.INodeID)
	b = binary.AppendUvarint(b, uint64(len(m.Names)))
	for _, name := range m.Names {
		b = extsort.AppendBytes(b, name)
	}
	return b
}

func unpackMisfit(r *extsort.Unpacker) Misfit {
	m := Misfit{Reason: Reason(r.Bytes()), Path: slices.Clone(r.Bytes()), Detail: string(r.Bytes()), INodeID: r.Unsigned()}
	for range r.Len() {
		m.Names = append(m.Names, string(r.Bytes()))
	}
	return m
}

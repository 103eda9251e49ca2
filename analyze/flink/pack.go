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

// AppendUnit appends all of a unit that has no checkpoints and no areas, which is any but a
// run, for [ReadUnit].
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
	b = extsort.AppendBool(b, u.Metadata != nil)
	if u.Metadata != nil {
		b = packWhole(b, u.Metadata)
	}
	b = binary.AppendUvarint(b, uint64(len(u.InProgress)))
	for i := range u.InProgress {
		b = packWhole(b, &u.InProgress[i])
	}
	b = binary.AppendUvarint(extsort.AppendSigned(b, u.NumUnknown), uint64(len(u.Unknown)))
	for i := range u.Unknown {
		b = u.Unknown[i].pack(b)
	}
	for _, v := range u.Sum {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// ReadUnit makes the unit again.
func ReadUnit(b []byte) *Unit {
	r := &extsort.Unpacker{Rest: b}
	u := &Unit{Kind: UnitKind(r.Byte()), Shared: Area{Dir: namespace.NoDir}, Taskowned: Area{Dir: namespace.NoDir}}
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
	if r.Bool() {
		f := unpackWhole(r)
		u.Metadata = &f
	}
	for range r.Len() {
		u.InProgress = append(u.InProgress, unpackWhole(r))
	}
	u.NumUnknown = r.Signed()
	for range r.Len() {
		u.Unknown = append(u.Unknown, unpackMisfit(r))
	}
	for i := range u.Sum {
		u.Sum[i] = r.Fixed()
	}
	return u
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

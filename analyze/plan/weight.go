package plan

import (
	"bytes"
	"encoding/binary"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// fileFacts are what an image says of a file that is an item by itself.
type fileFacts struct {
	id, parent    uint64
	parentDir     namespace.Dir
	length, space int64 // bytes; on disk, as the content summary has it
	mtime, atime  int64
	permission    fsimage.Permission
	moved         namespace.Moved // what moving it gives back
	there         namespace.Usage // what a quarantine is charged for it
	open          bool
}

// pack appends the facts. atime and open are those of the item's rule, which was asked.
func (f *fileFacts) pack(b []byte) []byte {
	for _, v := range [...]uint64{f.id, f.parent, uint64(f.parentDir), uint64(f.permission)} {
		b = binary.AppendUvarint(b, v)
	}
	b = extsort.AppendSigned(b, f.length, f.space, f.mtime, f.atime)
	b = packMoved(b, &f.moved, &f.there)
	return extsort.AppendBool(b, f.open)
}

func (f *fileFacts) unpack(r *extsort.Unpacker) {
	*f = fileFacts{id: r.Unsigned(), parent: r.Unsigned(), parentDir: namespace.Dir(r.Unsigned()), permission: fsimage.Permission(r.Unsigned())}
	f.length, f.space, f.mtime, f.atime = r.Signed(), r.Signed(), r.Signed(), r.Signed()
	unpackMoved(r, &f.moved, &f.there)
	f.open = r.Bool()
}

// numbersMoved is how many numbers there are in what packMoved packs.
const numbersMoved = 2 + 2*(2+len(namespace.Usage{}.Type))

const _ = uint(16 - numbersMoved) // the bits of a uint16

// packMoved appends them. Most are 0, so first it says by bits which are not.
func packMoved(b []byte, m *namespace.Moved, there *namespace.Usage) []byte {
	b = extsort.AppendBool(b, m.Undeletable)
	at, set := len(b), uint16(0)
	b = append(b, 0, 0)
	for i, v := range movedNumbers(m, there) {
		if v != 0 {
			set |= 1 << i
			b = binary.AppendVarint(b, v)
		}
	}
	binary.BigEndian.PutUint16(b[at:], set)
	return b
}

func unpackMoved(r *extsort.Unpacker, m *namespace.Moved, there *namespace.Usage) {
	m.Undeletable = r.Bool()
	set := uint16(r.Byte())<<8 | uint16(r.Byte())
	var list [numbersMoved]int64
	for i := range list {
		if set>>i&1 != 0 {
			list[i] = r.Signed()
		}
	}
	m.Freed, m.Held = list[0], list[1]
	n := 2
	for _, u := range [...]*namespace.Usage{&m.Usage, there} {
		u.Namespace, u.Space = list[n], list[n+1]
		n += 2 + copy(u.Type[:], list[n+2:])
	}
}

func movedNumbers(m *namespace.Moved, there *namespace.Usage) (list [numbersMoved]int64) {
	list[0], list[1] = m.Freed, m.Held
	n := 2
	for _, u := range [...]*namespace.Usage{&m.Usage, there} {
		list[n], list[n+1] = u.Namespace, u.Space
		n += 2 + copy(list[n+2:], u.Type[:])
	}
	return list
}

// sound tells whether what is said of a file can be. Sizes beyond 64 bits are negative
// here.
func (f *fileFacts) sound() bool {
	return f.id != 0 && min(f.length, f.space, f.moved.Freed, f.moved.Held) >= 0
}

// flinkFile is the same as the decision wants it.
func (f *fileFacts) flinkFile(name string) flink.File {
	return flink.File{Name: name, INodeID: f.id, Length: f.length, MTimeMs: f.mtime, Open: f.open}
}

// weight is what the image says of an item, as far as lines and belts need it.
type weight struct {
	dir  namespace.Dir // NoDir of a file
	file fileFacts     // of a file

	sum     planfile.Sum
	counted flink.Totals     // by discovery
	totals  namespace.Counts // the content summary
	moved   namespace.Moved
	there   namespace.Usage
}

// entries and length are what belts count.
func (w *weight) entries() int64 {
	if w.dir == namespace.NoDir {
		return 1
	}
	return int64(w.sum.Count())
}

func (w *weight) length() int64 {
	if w.dir == namespace.NoDir {
		return w.file.length
	}
	return w.totals.Length
}

func (w *weight) undeletable() bool {
	if w.dir == namespace.NoDir {
		return w.file.moved.Undeletable
	}
	return w.moved.Undeletable
}

func (w *weight) pack(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(w.dir))
	if w.dir == namespace.NoDir {
		return w.file.pack(b)
	}
	numbers, count := w.sum.Numbers()
	b = binary.AppendUvarint(b, count)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	for _, t := range [...]*namespace.Counts{&w.counted, &w.totals} {
		b = extsort.AppendSigned(b, t.Files, t.Directories, t.Symlinks, t.Length, t.Space)
	}
	return packMoved(b, &w.moved, &w.there)
}

func (w *weight) unpack(r *extsort.Unpacker) {
	*w = weight{dir: namespace.Dir(r.Unsigned())}
	if w.dir == namespace.NoDir {
		w.file.unpack(r)
		w.counted = flink.Totals{Files: 1, Length: w.file.length}
		return
	}
	count := r.Unsigned()
	w.sum.AddNumbers([4]uint64{r.Fixed(), r.Fixed(), r.Fixed(), r.Fixed()}, count)
	for _, t := range [...]*namespace.Counts{&w.counted, &w.totals} {
		t.Files, t.Directories, t.Symlinks, t.Length, t.Space = r.Signed(), r.Signed(), r.Signed(), r.Signed(), r.Signed()
	}
	unpackMoved(r, &w.moved, &w.there)
}

// weigh finds out about an item; false if what the image says of it does not fit together,
// or has names that a client cannot use.
func (b *builder) weigh(i *cleanup.Item, w *weight) (bool, error) {
	u := i.Unit.Unit
	*w = weight{dir: namespace.NoDir}
	var in *flink.Sum
	switch {
	case i.INodeID == u.INodeID:
		w.dir, in, w.counted = u.Dir, &u.Sum, u.Totals
	case i.INodeID == u.Shared.INodeID && u.Shared.Exists():
		w.dir, in, w.counted = u.Shared.Dir, &u.Shared.Sum, u.Shared.Totals
	case i.INodeID == u.Taskowned.INodeID && u.Taskowned.Exists():
		w.dir, in, w.counted = u.Taskowned.Dir, &u.Taskowned.Sum, u.Taskowned.Totals
	case i.File != nil:
		w.file.unpack(&extsort.Unpacker{Rest: i.File.Extra})
		return i.File.Extra != nil && b.soundFile(i, &w.file), nil
	case i.Checkpoint != nil:
		w.dir, in, w.counted = i.Checkpoint.Dir, &i.Checkpoint.Sum, i.Checkpoint.Totals
	}
	if in == nil {
		return false, nil
	}
	w.sum.AddNumbers([4]uint64(in[1:]), in[0])
	w.totals = b.t.Summary(w.dir).Counts
	var err error
	if w.moved, err = b.t.IfMoved(w.dir); err != nil {
		return false, err
	}
	if there := b.effects.destination; there != namespace.NoDir {
		w.there = b.t.UsageIn(w.dir, there)
	}
	return b.soundDir(i, w), nil
}

func (b *builder) soundFile(i *cleanup.Item, f *fileFacts) bool {
	return planfile.Path(i.Path).Clean() == nil && !f.open && f.parent == i.ParentID && f.sound()
}

// soundDir also adds the directories in the item to its sum: the tree has all that is said
// of them.
func (b *builder) soundDir(i *cleanup.Item, w *weight) bool {
	children, names := int64(0), true
	inside, sizes := b.s.Subtree(w.dir)
	for n, d := range inside {
		name, parent := b.t.Name(d), b.t.Parent(d)
		children += b.t.ChildCount(d)
		w.sum.Add(planfile.Entry{InodeID: b.t.ID(d), ParentID: b.t.ID(parent), Kind: planfile.EntryDirectory, MTimeMs: b.t.MTimeMs(d), Name: name})
		if n > 0 {
			next := n + int(sizes[n])
			twice := next < len(inside) && b.t.Parent(inside[next]) == parent && string(b.t.Name(inside[next])) == string(name)
			names = names && !impossible(name) && !twice
		}
	}
	dirs := int64(len(inside))
	t, entries := totals(w.totals), int64(w.sum.Count())
	counted := min(t.Files, t.Directories, t.Symlinks, t.Length, t.Space) >= 0
	return planfile.Path(i.Path).Clean() == nil && names && counted && children == entries-1 && dirs <= t.Directories &&
		entries-dirs <= t.Files+t.Symlinks && entries <= t.Files+t.Symlinks+t.Directories &&
		b.t.ID(w.dir) == i.INodeID && b.t.ID(b.t.Parent(w.dir)) == i.ParentID
}

// impossible tells whether no client can make or use a name.
func impossible(name []byte) bool {
	switch string(name) {
	case "", ".", "..", ".snapshot":
		return true
	}
	return bytes.IndexByte(name, '/') >= 0
}

func totals(c namespace.Counts) planfile.Totals {
	return planfile.Totals{Files: c.Files, Directories: c.Directories, Symlinks: c.Symlinks, Length: c.Length, Space: c.Space}
}

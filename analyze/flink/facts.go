package flink

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"fsweep/analyze/internal/extsort"
)

// Sum is a sum of numbers of 256 bits, modulo 2^256: how many there are, then four parts
// of 64 bits, the least significant first.
type Sum [5]uint64

// Add adds another sum.
func (s *Sum) Add(o *Sum) {
	s[0] += o[0]
	var carry uint64
	for i := 1; i < len(s); i++ {
		s[i], carry = bits.Add64(s[i], o[i], carry)
	}
}

// facts are what the files and symlinks of one directory add up to. All of it is
// the same in whatever order they come. Markers are in none of the times.
type facts struct {
	newest, oldest int64 // mtime; if times
	atime          int64 // of files that are no guards; 0 if none
	unknown        int32 // mtimes that are 0 or negative
	data           int32 // files and symlinks that are no markers
	pointers       int32 // HA files, of a cluster
	bits           uint8
	sum            Sum // of all files and symlinks
}

// Bits of facts.
const (
	timesBit      = 1 << iota // there is something with a time
	markerBit                 // there is a marker file
	markedBit                 // the directory itself has the attribute
	markedFileBit             // a file in it has the attribute
)

func (f *facts) add(mtime, atime int64) {
	if f.bits&timesBit == 0 {
		f.newest, f.oldest = mtime, mtime
	}
	f.newest, f.oldest, f.atime = max(f.newest, mtime), min(f.oldest, mtime), max(f.atime, atime)
	f.bits |= timesBit
	f.data++
	if mtime <= 0 {
		f.unknown++
	}
}

func (f *facts) merge(o *facts) {
	if o.bits&timesBit != 0 {
		if f.bits&timesBit == 0 {
			f.newest, f.oldest = o.newest, o.oldest
		}
		f.newest, f.oldest, f.atime = max(f.newest, o.newest), min(f.oldest, o.oldest), max(f.atime, o.atime)
	}
	f.bits |= o.bits
	f.unknown += o.unknown
	f.data += o.data
	f.pointers += o.pointers
	f.sum.Add(&o.sum)
}

// Records of the pass are sorted by node and what they are of.
const (
	factsRecord uint8 = iota
	metadataRecord
	strayRecord
	unfinishedRecord
	keyBytes = 5
)

func recordKey(n uint32, what uint8) (k [keyBytes]byte) {
	binary.BigEndian.PutUint32(k[:], n)
	k[4] = what
	return k
}

// pack appends facts. A part of them can come in several records.
func (f *facts) pack(b []byte) []byte {
	b = append(b, f.bits)
	b = extsort.AppendSigned(b, f.newest, f.oldest, f.atime, int64(f.unknown), int64(f.data), int64(f.pointers))
	if f.sum[0] > 0 {
		for _, v := range f.sum {
			b = binary.BigEndian.AppendUint64(b, v)
		}
	}
	return b
}

func (f *facts) unpack(b []byte) {
	r := extsort.Unpacker{Rest: b}
	f.bits = r.Byte()
	f.newest, f.oldest, f.atime = r.Signed(), r.Signed(), r.Signed()
	f.unknown, f.data, f.pointers = int32(r.Signed()), int32(r.Signed()), int32(r.Signed())
	for i := range f.sum {
		f.sum[i] = r.Fixed()
	}
}

// packFile appends a file but its name, and what else is to be kept of it.
func packFile(b []byte, f *File) []byte {
	b = binary.BigEndian.AppendUint64(b, f.INodeID) // of two with one name the one with the lower id comes first
	return extsort.AppendBool(extsort.AppendSigned(b, f.Length, f.MTimeMs), f.Open)
}

func unpackFile(r *extsort.Unpacker, name string) File {
	return File{Name: name, INodeID: r.Fixed(), Length: r.Signed(), MTimeMs: r.Signed(), Open: r.Bool()}
}

// dirFacts is all that the pass found in one directory.
type dirFacts struct {
	facts
	metadata   []File
	unfinished []File
	strays     shortest[stray]
}

// factReader gives the facts of nodes in their order.
type factReader struct {
	r    *extsort.Reader
	key  []byte // of the next record; nil: there is none
	rest []byte
}

func newFactReader(s *extsort.Sorter) (*factReader, error) {
	r, err := s.Read()
	if err != nil {
		return nil, err
	}
	f := &factReader{r: r}
	return f, f.next()
}

func (f *factReader) next() (err error) {
	var ok bool
	if f.key, f.rest, ok, err = f.r.Next(); !ok {
		f.key = nil
	}
	return err
}

// read gives the facts of a node, which must not be before that of the last call.
func (f *factReader) read(n uint32, d *dirFacts) error {
	d.facts = facts{}
	d.metadata, d.unfinished, d.strays = d.metadata[:0], d.unfinished[:0], shortest[stray]{list: d.strays.list[:0]}
	for f.key != nil {
		at := binary.BigEndian.Uint32(f.key)
		if at > n {
			break
		}
		if at == n {
			d.take(f.key[4], f.rest)
		}
		if err := f.next(); err != nil {
			return err
		}
	}
	if d.strays.n > 0 {
		d.strays.cut(maxUnknown, compareStrays)
	}
	return nil
}

func (d *dirFacts) take(what uint8, rest []byte) {
	r := extsort.Unpacker{Rest: rest}
	switch what {
	case factsRecord:
		var o facts
		o.unpack(rest)
		d.merge(&o)
	case metadataRecord:
		d.metadata = append(d.metadata, unpackFile(&r, metadataName))
	case strayRecord:
		d.strays.add(stray{id: r.Unsigned(), reason: Reason(r.Bytes()), name: string(r.Bytes())}, maxUnknown, compareStrays)
	case unfinishedRecord:
		f := unpackFile(&r, "")
		f.Name = string(r.Bytes())
		if extra := r.Bytes(); len(extra) > 0 {
			f.Extra = slices.Clone(extra)
		}
		d.unfinished = append(d.unfinished, f)
	}
}

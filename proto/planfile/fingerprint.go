package planfile

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// EntryKind is the kind of an inode in a fingerprint. The numbers are part of the
// format.
type EntryKind uint8

// The kinds of entries.
const (
	EntryFile      EntryKind = 1
	EntryDirectory EntryKind = 2
	EntrySymlink   EntryKind = 3
)

// Entry is one inode of a subtree, as a fingerprint takes it.
type Entry struct {
	InodeID  uint64
	ParentID uint64 // inode id of the directory that holds it; the top one's too
	Kind     EntryKind
	Length   int64  // bytes; of directories taken as 0; the NameNode gives 0 for symlinks
	MTimeMs  int64  // milliseconds since 1970, UTC; any value
	Name     []byte // last component; of the top one too
}

// Sum collects the entries of a subtree, the top one included, in any order:
//
//	e = SHA-256("fsweep.e1" ‖ u64 id ‖ u64 parent id ‖ u8 kind ‖ u64 length ‖ i64 mtime ms ‖ u32 name length ‖ name)
//	S = Σ e mod 2^256
//	fingerprint = SHA-256("fsweep.f1" ‖ u64 top id ‖ u64 count ‖ S)
//
// All numbers are big endian. The zero value is an empty sum. Sums of parts that
// were made on several goroutines are joined by [Sum.Merge].
type Sum struct {
	limbs [4]uint64 // S, the least significant first
	count uint64
}

// Fingerprint returns an empty sum.
func Fingerprint() *Sum { return &Sum{} }

// Add takes one entry. It keeps nothing of e.Name and allocates nothing, unless the
// name is longer than 255 bytes.
func (s *Sum) Add(e Entry) { s.add(e.Number(), 1) }

// AddNumbers adds the sum of so many [Entry.Number], modulo 2^256.
func (s *Sum) AddNumbers(sum [4]uint64, count uint64) { s.add(sum, count) }

// Merge adds what other holds; other stays as it is, and may be s itself only if
// every entry is meant twice.
func (s *Sum) Merge(other *Sum) { s.add(other.limbs, other.count) }

func (s *Sum) add(limbs [4]uint64, count uint64) {
	var carry uint64
	for i := range s.limbs {
		s.limbs[i], carry = bits.Add64(s.limbs[i], limbs[i], carry)
	}
	s.count += count
}

// Reset empties a sum.
func (s *Sum) Reset() { *s = Sum{} }

// Count gives the number of entries added.
func (s *Sum) Count() uint64 { return s.count }

// Digest gives the fingerprint of what was added so far, as the subtree whose
// uppermost inode is top.
func (s *Sum) Digest(top uint64) TreeHash {
	var b [9 + 8 + 8 + 32]byte
	copy(b[:], "fsweep.f1")
	binary.BigEndian.PutUint64(b[9:], top)
	binary.BigEndian.PutUint64(b[17:], s.count)
	for i, l := range s.limbs {
		binary.BigEndian.PutUint64(b[25+8*(3-i):], l)
	}
	return sha256.Sum256(b[:])
}

// Numbers gives what [Sum.AddNumbers] takes.
func (s *Sum) Numbers() (sum [4]uint64, count uint64) { return s.limbs, s.count }

package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
	"sync"
)

// headBytes is how long the input of an entry is before its name.
const headBytes = len("fsweep.e1") + 8 + 8 + 1 + 8 + 8 + 4

// usualName is how long names are that HDFS allows by default, in bytes.
const usualName = 255

// quickInput has room for an entry with such a name and the padding of SHA-256: a byte at
// least, and the length.
const quickInput = (headBytes + usualName + 1 + 8 + sha256.BlockSize - 1) / sha256.BlockSize * sha256.BlockSize

// Number gives e, the number that a fingerprint adds for the entry, the least significant
// 64 bits first. For its memory see [Sum.Add].
func (e Entry) Number() [4]uint64 {
	q := quicks.Get().(*quick)
	n := q.number(&e)
	quicks.Put(q)
	return n
}

func (q *quick) number(e *Entry) [4]uint64 {
	length := uint64(e.Length)
	if e.Kind == EntryDirectory {
		length = 0
	}
	b := &q.in
	binary.BigEndian.PutUint64(b[9:], e.InodeID)
	binary.BigEndian.PutUint64(b[17:], e.ParentID)
	b[25] = byte(e.Kind)
	binary.BigEndian.PutUint64(b[26:], length)
	binary.BigEndian.PutUint64(b[34:], uint64(e.MTimeMs))
	binary.BigEndian.PutUint32(b[42:], uint32(len(e.Name)))
	if len(e.Name) <= usualName && q.state != nil {
		return numberOf(q.sum(headBytes + copy(b[headBytes:], e.Name)))
	}
	h := sha256.Sum256(append(b[:headBytes:headBytes], e.Name...))
	return numberOf(h[:])
}

func numberOf(h []byte) [4]uint64 {
	return [4]uint64{
		binary.BigEndian.Uint64(h[24:]), binary.BigEndian.Uint64(h[16:]),
		binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint64(h[0:]),
	}
}

// quick computes SHA-256 of one short input after the other. Of what [sha256.Sum256] takes for
// two blocks a third goes into copies of its state and of the input, and a plan hashes
// every file below its roots. Here the input is padded where it stands, and when its last
// block is done the digest is what the state of the hash holds, which every hash of the
// standard library gives away: [newQuick] looks whether it is there.
type quick struct {
	in    [quickInput]byte
	hash  hash.Hash
	state encoding.BinaryAppender // of hash; nil: its state has another form
	out   []byte
}

// digestAt is where the digest stands in the state of a hash.
const digestAt = len("sha\x03")

var quicks = sync.Pool{New: func() any { return newQuick() }}

func newQuick() *quick {
	q := &quick{hash: sha256.New(), out: make([]byte, 0, 2*sha256.BlockSize)}
	q.state, _ = q.hash.(encoding.BinaryAppender)
	copy(q.in[:], "fsweep.e1")
	if want := sha256.Sum256(q.in[:headBytes]); q.state != nil && !bytes.Equal(q.sum(headBytes), want[:]) {
		q.state = nil
	}
	return q
}

// sum gives the digest of the first n bytes of the input, until it is called again. Behind
// them it writes the padding.
func (q *quick) sum(n int) []byte {
	end := (n + 1 + 8 + sha256.BlockSize - 1) / sha256.BlockSize * sha256.BlockSize
	q.in[n] = 0x80
	clear(q.in[n+1 : end-8])
	binary.BigEndian.PutUint64(q.in[end-8:], uint64(n)*8)
	q.hash.Reset()
	_, _ = q.hash.Write(q.in[:end])
	b, err := q.state.AppendBinary(q.out[:0])
	if err != nil || len(b) < digestAt+sha256.Size {
		return nil
	}
	return b[digestAt : digestAt+sha256.Size]
}

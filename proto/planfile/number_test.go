package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
)

// plainNumber is e as the format has it, a field after the other.
func plainNumber(e Entry) *big.Int {
	length := uint64(e.Length)
	if e.Kind == EntryDirectory {
		length = 0
	}
	b := bytes.NewBufferString("fsweep.e1")
	for _, v := range []any{e.InodeID, e.ParentID, e.Kind, length, e.MTimeMs, uint32(len(e.Name)), e.Name} {
		_ = binary.Write(b, binary.BigEndian, v)
	}
	h := sha256.Sum256(b.Bytes())
	return new(big.Int).SetBytes(h[:])
}

func checkNumber(t *testing.T, e Entry, n [4]uint64) {
	t.Helper()
	got := new(big.Int)
	for i := range n {
		got.Or(got, new(big.Int).Lsh(new(big.Int).SetUint64(n[i]), uint(64*i)))
	}
	if got.Cmp(plainNumber(e)) != 0 {
		t.Fatalf("%d bytes of name: %x, want %x", len(e.Name), got, plainNumber(e))
	}
}

// TestNumber: the quick way gives what SHA-256 gives, for names of every length, longer
// ones behind shorter ones and the other way, and on many goroutines.
func TestNumber(t *testing.T) {
	t.Parallel()
	if newQuick().state == nil {
		t.Error("the state of crypto/sha256 does not hold the digest: it goes the slow way")
	}
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			name := make([]byte, 400)
			for i := range 4000 {
				n := i % len(name)
				if i > 2000 {
					n = r.IntN(len(name))
				}
				for k := range n {
					name[k] = byte(r.Uint32())
				}
				e := Entry{r.Uint64(), r.Uint64(), EntryKind(1 + r.IntN(3)), int64(r.Uint64()), int64(r.Uint64()), name[:n:n]}
				checkNumber(t, e, e.Number())
			}
		})
	}
	all.Wait()
}

// TestNumberSlow: where a hash keeps its state to itself the number is the same.
func TestNumberSlow(t *testing.T) {
	t.Parallel()
	q := newQuick()
	q.state = nil
	for n := range 300 {
		e := Entry{1, 2, EntryFile, 3, 4, bytes.Repeat([]byte("x"), n)}
		checkNumber(t, e, q.number(&e))
	}
}

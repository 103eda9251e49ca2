package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	randomChanges = 10_000 // of a byte, in each kind of file
	// mostBytes is what one file may make a decoder allocate, whatever is in it:
	// its buffer, that grown for the longest string, and the trailer.
	mostBytes = startBuffer + 2*(maxString+9) + 2*maxString + 64<<10
	mostTime  = 5 * time.Second
)

// cpuTime calls fn and tells how long its thread computed, however busy the machine
// is; where a system does not tell that, how long it took.
func cpuTime(fn func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD of Linux
	used := func() (time.Duration, error) {
		var u syscall.Rusage
		err := syscall.Getrusage(thread, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
	}
	began := time.Now()
	before, err := used()
	fn()
	if after, again := used(); err == nil && again == nil {
		return after - before
	}
	return time.Since(began)
}

// allocated tells how many bytes fn allocates, freed ones included.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// result is all that a decoding gives, to compare.
type result struct {
	info Info
	refs uint64 // hash of all fields of all references
	err  error
}

func decodeHash(b []byte) result {
	h := fnv.New64a()
	var numbers [34]byte
	info, err := Decode(bytes.NewReader(b), func(r *Reference) error {
		numbers[0], numbers[1] = byte(r.Kind), byte(r.Scope)
		for i, v := range []int64{r.Size, r.Start, r.Offset, int64(len(r.Path))} {
			binary.BigEndian.PutUint64(numbers[2+8*i:], uint64(v))
		}
		_, _ = h.Write(numbers[:])
		_, _ = h.Write(r.Path)
		_, _ = h.Write(r.LogicalID)
		return nil
	})
	return result{info, h.Sum64(), err}
}

// requireClass fails for an error that says neither what class nor where.
func requireClass(tb testing.TB, err error) {
	tb.Helper()
	var format *FormatError
	if !errors.As(err, &format) || format.Where == "" || format.Offset < 0 {
		tb.Fatalf("%v says not where", err)
	}
	for _, class := range []error{ErrNotMetadata, ErrTruncated, ErrCorrupt, ErrUnsupported} {
		if errors.Is(err, class) {
			return
		}
	}
	tb.Fatalf("%v is of no class", err)
}

// kindsOfFiles gives one file of each kind: the smallest real one, and made ones
// of the versions and handles that no real file has.
func kindsOfFiles(tb testing.TB) map[string][]byte {
	tb.Helper()
	kinds := map[string][]byte{}
	for _, version := range []int32{2, 3, 5, 7} {
		kinds[fmt.Sprintf("made, version %d", version)] = everyHandle(version)
	}
	special := []string{"changelog", "filemerge", "unaligned", "forst", "finished-operators", "sp-CANONICAL", "sp-NATIVE"}
	for name, b := range readSamples(tb) {
		if path.Base(name) != "_metadata" {
			continue
		}
		parts := strings.Split(name, "/")
		kind := parts[0]
		for _, s := range special {
			if strings.HasPrefix(parts[1], s) && strings.HasPrefix(s, "sp-") == strings.Contains(name, "/savepoints/") {
				kind += " " + s
			}
		}
		if old := kinds[kind]; old == nil || len(b) < len(old) {
			kinds[kind] = b
		}
	}
	return kinds
}

// everyHandle is a file with an operator for every kind of handle.
func everyHandle(version int32) []byte {
	n, e := int32(0), new(encoder)
	for _, h := range handles {
		if version < h.since || version > h.until {
			continue
		}
		n++
		e.operator(version, 2).i32(1).subtask(version, 1)
		e.empty0(version, h.at)
		h.write(e)
		e.empty(version, h.at+1)
	}
	b := new(encoder).head(version).i32(1).i32(-0x3694e96a).i32(11).i32(1).utf("x").i32(0).i32(n).raw(e.b)
	if version >= 4 {
		b.raw(properties(trailerValues{forced: 1, name: "Savepoint", action: "NONE", format: "NATIVE"}))
	}
	return b.b
}

// TestTruncated: a file that is cut anywhere is an error, and that very one.
func TestTruncated(t *testing.T) {
	t.Parallel()
	cuts := 0
	for kind, b := range kindsOfFiles(t) {
		if r := decodeHash(b); r.err != nil {
			t.Fatalf("%s: %v", kind, r.err)
		}
		for n := 0; n < len(b); n += raceFactor {
			cuts++
			if _, err := Decode(bytes.NewReader(b[:n]), func(*Reference) error { return nil }); !errors.Is(err, ErrTruncated) {
				t.Fatalf("%s, %d of %d bytes: %v", kind, n, len(b), err)
			}
		}
	}
	t.Logf("%d cuts", cuts)
}

// TestChanged: after a change of a byte there is an error, or another result, or
// the byte was of those that Decode gives no account of.
//
// It is not parallel, so that what others allocate is not counted.
func TestChanged(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000)) // much garbage, nothing kept
	for kind, b := range kindsOfFiles(t) {
		t.Run(kind, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, uint64(len(b))))
			whole, meaning, changed := decodeHash(b), meaningful(t, b), bytes.Clone(b)
			if whole.err != nil {
				t.Fatal(whole.err)
			}
			refused, different, same := 0, 0, 0
			for range randomChanges / 100 / raceFactor {
				bytes := allocated(func() {
					for range 100 {
						i := r.IntN(len(b))
						changed[i] ^= byte(1 + r.IntN(255))
						got := decodeHash(changed)
						switch {
						case got.err != nil:
							requireClass(t, got.err)
							refused++
						case got != whole:
							different++
						case meaning[i]:
							t.Fatalf("byte %d from %#x to %#x made no difference", i, b[i], changed[i])
						default:
							same++
						}
						changed[i] = b[i]
					}
				})
				if bytes > 100*mostBytes {
					t.Fatalf("100 decodings allocated %d bytes", bytes)
				}
			}
			t.Logf("%d bytes: %d refused, %d different, %d without meaning", len(b), refused, different, same)
		})
	}
}

// meaningful marks the bytes of which Decode gives account: the header, every
// reference, and the trailer but for the versions of two classes, which Java
// derives from the source code of Flink.
func meaningful(t *testing.T, b []byte) []bool {
	t.Helper()
	meaning := make([]bool, len(b))
	mark := func(from, to int, value bool) {
		for i := from; i < to; i++ {
			meaning[i] = value
		}
	}
	mark(0, 16, true)
	_, err := Decode(bytes.NewReader(b), func(r *Reference) error {
		mark(int(r.Offset), int(r.Offset)+len(encodeReference(r)), true)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if trailer := bytes.LastIndex(b, []byte{0xac, 0xed, 0, 5}); trailer > 0 {
		mark(trailer, len(b), true)
		for _, class := range []string{checkpointClass, savepointClass} {
			name := append([]byte{0, byte(len(class))}, class...)
			if i := bytes.LastIndex(b, name); i >= 0 {
				mark(i+len(name), i+len(name)+8, false)
			}
		}
	}
	return meaning
}

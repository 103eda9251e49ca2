package planfile

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fsweep/proto/internal/canonical"
)

// The vectors were made by a program that shares nothing with this package:
//
//	def e(id, parent, kind, length, mtime, name):
//	    if kind == 2: length = 0
//	    b = struct.pack(">QQBQqI", id, parent, kind, length, mtime, len(name))
//	    return int.from_bytes(hashlib.sha256(b"fsweep.e1" + b + name).digest(), "big")
//	def fingerprint(top, entries):
//	    S = sum(e(*x) for x in entries) % (1 << 256)
//	    return hashlib.sha256(b"fsweep.f1" + struct.pack(">QQ", top, len(entries)) + S.to_bytes(32, "big")).hexdigest()
func TestFingerprintVectors(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name        string
			TopInodeID  uint64 `json:"top_inode_id"`
			Fingerprint TreeHash
			Entries     []struct {
				InodeID  uint64 `json:"inode_id"`
				ParentID uint64 `json:"parent_id"`
				Kind     string
				Length   int64
				MTimeMs  int64  `json:"mtime_ms"`
				Name     []byte `json:"name_b64"`
				E        string
			}
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]EntryKind{"file": EntryFile, "directory": EntryDirectory, "symlink": EntrySymlink}
	for _, v := range file.Vectors {
		s := Fingerprint()
		for _, e := range v.Entries {
			one := Fingerprint()
			entry := Entry{e.InodeID, e.ParentID, kinds[e.Kind], e.Length, e.MTimeMs, e.Name}
			one.Add(entry)
			if got := bigEndianHex(one.limbs); got != e.E {
				t.Errorf("%s, inode %d: %s, want %s", v.Name, e.InodeID, got, e.E)
			}
			s.Add(entry)
		}
		if got := s.Digest(v.TopInodeID); got != v.Fingerprint || s.Count() != uint64(len(v.Entries)) {
			t.Errorf("%s: %s, want %s", v.Name, got, v.Fingerprint)
		}
	}
	if len(file.Vectors) != 5 {
		t.Errorf("%d vectors", len(file.Vectors))
	}
}

func bigEndianHex(limbs [4]uint64) string {
	var b strings.Builder
	for _, l := range slices.Backward(limbs[:]) {
		for shift := 60; shift >= 0; shift -= 4 {
			b.WriteByte(canonical.HexDigits[l>>shift&15])
		}
	}
	return b.String()
}

func genEntry(t *rapid.T) Entry {
	return Entry{
		rapid.Uint64().Draw(t, "id"), rapid.Uint64().Draw(t, "parent"), EntryKind(rapid.IntRange(1, 3).Draw(t, "kind")),
		rapid.Int64().Draw(t, "length"), rapid.Int64().Draw(t, "mtime"), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "name"),
	}
}

// TestFingerprintOrder: neither order nor partition matters, and every entry does.
func TestFingerprintOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(genEntry), 1, 30).Draw(t, "entries")
		want := sumOf(entries)
		cut := rapid.IntRange(0, len(entries)).Draw(t, "cut")
		shuffled := rapid.Permutation(entries).Draw(t, "order")
		got := sumOf(shuffled[:cut])
		got.Merge(sumOf(shuffled[cut:]))
		if got.Digest(7) != want.Digest(7) || got.Count() != want.Count() {
			t.Fatal("order or partition changes the fingerprint")
		}
		if got.Digest(8) == want.Digest(7) {
			t.Fatal("the top does not change the fingerprint")
		}
		got.Add(entries[0])
		if got.Digest(7) == want.Digest(7) {
			t.Fatal("an entry more does not change the fingerprint")
		}
	})
}

// TestFingerprintFields: every field of an entry matters, the length of a directory
// does not.
func TestFingerprintFields(t *testing.T) {
	t.Parallel()
	base := Entry{1, 2, EntryFile, 3, 4, []byte("ab")}
	directory := base
	directory.Kind = EntryDirectory
	seen := map[TreeHash]bool{}
	for _, e := range []Entry{
		base, directory,
		{9, 2, EntryFile, 3, 4, []byte("ab")},
		{1, 9, EntryFile, 3, 4, []byte("ab")},
		{1, 2, EntrySymlink, 3, 4, []byte("ab")},
		{1, 2, EntryFile, 9, 4, []byte("ab")},
		{1, 2, EntryFile, 3, -4, []byte("ab")},
		{1, 2, EntryFile, 3, 4, []byte("a")},
	} {
		if h := sumOf([]Entry{e}).Digest(1); seen[h] {
			t.Errorf("%+v has the fingerprint of another", e)
		} else {
			seen[h] = true
		}
	}
	empty := directory
	empty.Length = 0
	if sumOf([]Entry{directory}).Digest(1) != sumOf([]Entry{empty}).Digest(1) {
		t.Error("the length of a directory changes the fingerprint")
	}
}

func sumOf(entries []Entry) *Sum {
	s := Fingerprint()
	for _, e := range entries {
		s.Add(e)
	}
	return s
}

// raceDetector says whether the race detector is in the program (race_test.go).
var raceDetector bool

func TestFingerprintAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector drops at random what a sync.Pool holds")
	}
	s := Fingerprint()
	e := Entry{16402, 16401, EntryFile, 1, 2, []byte("0a1b2c3d-0000-4000-8000-0123456789ab")}
	s.Add(e)
	if n := testing.AllocsPerRun(1000, func() { s.Add(e) }); n != 0 {
		t.Errorf("%v allocations for an entry", n)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	s := Fingerprint()
	e := Entry{16402, 16401, EntryFile, 1, 2, []byte("0a1b2c3d-0000-4000-8000-0123456789ab")}
	b.ReportAllocs()
	for b.Loop() {
		s.Add(e)
	}
}

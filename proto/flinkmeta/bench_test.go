package flinkmeta

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func BenchmarkDecode(b *testing.B) {
	inline := begin(6).i32(0).i32(0).u8(3).i32(0).longs(0).inline("x", 1<<20).finish(6, inRawKeyedState)
	for _, bench := range []struct {
		name string
		b    []byte
	}{
		{"References1MB", manyFiles(1 << 20 / 105)},
		{"Inline1MB", inline},
		{"Sample", kindsOfFiles(b)["1.14.6"]},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.b)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(bytes.NewReader(bench.b), func(*Reference) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPointers(b *testing.B) {
	_, file := smallestPointer(b)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Pointers(bytes.NewReader(file), func([]byte, int64) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	s := manyNeedles(b, 5000)
	random := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for name, haystack := range map[string][]byte{"State": random, "References": manyFiles(1 << 20 / 105)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(haystack)))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Read(bytes.NewReader(haystack), func(int, int64) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewSearch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		manyNeedles(b, 5000)
	}
}

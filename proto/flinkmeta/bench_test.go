package flinkmeta

import (
	"bytes"
	"fmt"
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

// BenchmarkSearch: paths of runs in text that is full of such, and in state.
func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	random, text := make([]byte, 1<<20), make([]byte, 0, 1<<20)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for len(text)+100 < cap(text) {
		text = fmt.Appendf(text, "hdfs://ns/flink/checkpoints/job%d/%s,", r.IntN(1000), uuid(r))
	}
	for _, n := range []int{10, 1000, 100_000, 1_000_000} {
		s := manyNeedles(b, n)
		for _, bench := range []struct {
			name     string
			haystack []byte
		}{{"Hex", text}, {"Random", random}} {
			b.Run(fmt.Sprintf("%s%d", bench.name, n), func(b *testing.B) {
				b.SetBytes(int64(len(bench.haystack)))
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Read(bytes.NewReader(bench.haystack), func(int, int64) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNewSearch(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		needles := make([][]byte, n)
		for i, needle := range runPaths(n) {
			needles[i] = []byte(needle)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := NewSearch(needles); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

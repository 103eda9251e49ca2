package extsort

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestStore: lists come out as they went in, whatever their size, in any order, also while
// more are added, and nothing is left in the directory.
func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := NewStore(dir)
	defer s.Close()
	r := rand.New(rand.NewPCG(7, 7))
	type list struct {
		at      Range
		records [][]byte
	}
	var lists []list
	check := func(l *list) {
		n := 0
		err := s.Each(l.at, func(record []byte) error {
			if n >= len(l.records) || !bytes.Equal(record, l.records[n]) {
				t.Fatalf("record %d is another one", n)
			}
			n++
			return nil
		})
		if err != nil || n != len(l.records) {
			t.Fatalf("%d of %d records: %v", n, len(l.records), err)
		}
	}
	for k := range 200 {
		var l list
		begin := s.Begin()
		for range r.IntN(300) {
			record := make([]byte, r.IntN(200)*r.IntN(2))
			if r.IntN(1000) == 0 {
				record = make([]byte, 3*storeBuffer)
			}
			for i := range record {
				record[i] = byte(r.Uint32())
			}
			if err := s.Add(record); err != nil {
				t.Fatal(err)
			}
			l.records = append(l.records, record)
		}
		l.at = s.Since(begin)
		if lists = append(lists, l); k%7 == 0 {
			check(&lists[r.IntN(len(lists))])
		}
	}
	for _, i := range r.Perm(len(lists)) {
		check(&lists[i])
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 || s.f == nil {
		t.Errorf("%v in the directory, file %v", left, s.f != nil)
	}
	enough := errors.New("enough")
	if err := s.Each(lists[0].at, func([]byte) error { return enough }); len(lists[0].records) > 0 && !errors.Is(err, enough) {
		t.Error(err)
	}
}

// TestStoreErrors: no room, and a file that somebody damages.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	s := NewStore(filepath.Join(t.TempDir(), "missing"))
	err := s.Add(make([]byte, storeBuffer))
	if _, ok := errors.AsType[*TempError](err); !ok || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	s = NewStore(t.TempDir())
	defer s.Close()
	begin := s.Begin()
	for range 3 {
		if err := s.Add(make([]byte, storeBuffer)); err != nil {
			t.Fatal(err)
		}
	}
	list := s.Since(begin)
	if _, err := s.f.WriteAt(bytes.Repeat([]byte{0xff}, 11), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Each(list, func([]byte) error { return nil }); !errors.Is(err, errDamaged) {
		t.Error(err)
	}
	if err := s.f.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if err := s.Each(Range{50, list.End}, func([]byte) error { return nil }); err == nil {
		t.Error("the end is missing, and nobody noticed")
	}
}

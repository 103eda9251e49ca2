package planfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"fsweep/proto/internal/canonical"
)

var errDisk = errors.New("no space left on device")

// full takes n bytes.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for n := 0; n < 600_000; n += 100_000 {
		_, err := writeMany(&full{n}, 2000)
		if !errors.Is(err, errDisk) || isContent(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestErrorsStick: after an error nothing is taken, and Close gives the first one.
func TestErrorsStick(t *testing.T) {
	t.Parallel()
	p := samplePlan()
	w, err := NewWriter(io.Discard, p.Header)
	if err != nil {
		t.Fatal(err)
	}
	bad := p.Known[0]
	bad.InodeID = 0
	first := w.Known(bad)
	var at *LineError
	if !errors.As(first, &at) || at.Line != 2 {
		t.Fatalf("error %v", first)
	}
	if err := w.Known(p.Known[0]); !errors.Is(err, first) {
		t.Errorf("error %v", err)
	}
	if d, err := w.Close(); !errors.Is(err, first) || d != (Digest{}) {
		t.Errorf("%s, error %v", d, err)
	}
}

func TestAfterClose(t *testing.T) {
	t.Parallel()
	w, err := NewWriter(io.Discard, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Guard(samplePlan().Guards[0]); err == nil {
		t.Error("a guard behind the footer")
	}
	if _, err := w.Close(); err == nil {
		t.Error("closed twice")
	}
}

// TestWriterOrder: no line before its turn is over.
func TestWriterOrder(t *testing.T) {
	t.Parallel()
	p := samplePlan()
	calls := []func(w *Writer) error{
		func(w *Writer) error { return w.Known(p.Known[0]) },
		func(w *Writer) error { return w.Guard(p.Guards[0]) },
		func(w *Writer) error { return w.Item(p.Items[1].Item) },
		func(w *Writer) error { return w.Quota(p.Quotas[0]) },
	}
	for later := range calls {
		for earlier := range later {
			w, err := NewWriter(io.Discard, p.Header)
			if err != nil {
				t.Fatal(err)
			}
			if later == 3 {
				w.check.effects[16400] = &effectSum{planned: Effect{Inodes: 5, Space: 15000, Types: TypeSpace{Disk: 15000}}}
			}
			if err := calls[later](w); err != nil {
				t.Fatal(err)
			}
			wantError(t, calls[earlier](w), "not allowed here")
		}
	}
}

func TestTextMustBeUTF8(t *testing.T) {
	t.Parallel()
	for _, change := range []func(p *plan){
		func(p *plan) { p.Header.Warnings[0] = "a\xff" },
		func(p *plan) { p.Header.Pins[0].File = "a\xff" },
		func(p *plan) { p.Items[0].Item.Evidence[1].Text = "a\xff" },
		func(p *plan) { p.Items[0].Item.Rule = "a\xff" },
	} {
		p := samplePlan()
		change(p)
		_, _, err := p.tryWrite()
		wantError(t, err, "not UTF-8")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	p := samplePlan()
	p.Items[0].Item.Evidence = make([]Fact, canonical.MaxList+1)
	_, _, err := p.tryWrite()
	wantError(t, err, "evidence has more than 10000")

	p = samplePlan()
	p.Header.Warnings = []string{strings.Repeat("x", canonical.MaxLine)}
	_, _, err = p.tryWrite()
	wantError(t, err, "at most 16777216 are allowed")

	// The longest line that can be written can be read.
	p.Header.Warnings[0] = ""
	empty, _ := p.write(t)
	p.Header.Warnings[0] = strings.Repeat("x", canonical.MaxLine-bytes.IndexByte(empty, '\n')-1)
	b, _ := p.write(t)
	if got, _, err := readPlan(b); err != nil || bytes.IndexByte(b, '\n') != canonical.MaxLine-1 {
		t.Error(err)
	} else if got.Header.Warnings[0] != p.Header.Warnings[0] {
		t.Error("the warning changed")
	}
}

func TestParseDigest(t *testing.T) {
	t.Parallel()
	_, d := samplePlan().write(t)
	if got, err := ParseDigest(d.String()); err != nil || got != d {
		t.Error(got, err)
	}
	hex := strings.TrimPrefix(d.String(), "sha256:")
	for _, s := range []string{"", "sha256:", hex, "sha256:" + hex[1:], "sha256:" + hex + "0", "sha256:" + strings.ToUpper(hex), "SHA256:" + hex, " sha256:" + hex, "sha256:" + hex[:63] + "g"} {
		if got, err := ParseDigest(s); !errors.Is(err, ErrDigest) || got != (Digest{}) {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
}

func TestIDSet(t *testing.T) {
	t.Parallel()
	var s idSet
	if s.has(7) {
		t.Error("an empty set has 7")
	}
	for round := range 2 {
		for i := uint64(1); i < 100_000; i++ {
			if id := i * 0x100000001; !s.add(id) || s.add(id) || !s.has(id) || s.has(id+1) {
				t.Fatalf("round %d, %d", round, id)
			}
		}
		s.reset()
	}
	s.add(1 << 63)
	s.reset()
	if s.has(1<<63) || !s.add(1<<63) {
		t.Error("not reset")
	}
}

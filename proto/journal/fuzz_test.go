package journal

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzOpen: no input makes the reader panic; what it takes is a chain of lines that are
// written again byte for byte, a rest without newline, and numbers that fit.
func FuzzOpen(f *testing.F) {
	for _, lines := range goldens() {
		b := encode(f, lines)
		f.Add(b)
		f.Add(b[:len(b)-10])
	}
	for _, l := range begin() {
		f.Add(lawless(f, []Line{header(), l}))
	}
	f.Add([]byte(`{"type":"journal","format":1,`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Open(bytes.NewReader(b))
		if err != nil {
			if !isContent(err) {
				t.Errorf("error without a class: %v", err)
			}
			return
		}
		lines, err := collect(r)
		if err != nil {
			t.Fatal(err)
		}
		whole, torn := pieces(b)
		if len(lines) != len(whole) || r.Len() != len(whole) || r.Torn() != int64(len(torn)) {
			t.Fatalf("%d lines of %d, torn %d of %d", len(lines), len(whole), r.Torn(), len(torn))
		}
		moved := int64(0)
		for m, err := range r.Moved() {
			if err != nil || m.Intent == nil || len(m.Chain) == 0 {
				t.Fatalf("moved %+v, %v", m, err)
			}
			moved++
		}
		if moved != r.State().Totals().Done {
			t.Errorf("%d moved, %+v", moved, r.State().Totals())
		}
		if bytes.Contains(b, []byte("_b64")) {
			return // the form for people of names that are not UTF-8 has some freedom
		}
		again, err := tryEncode(lines)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, b[:len(b)-len(torn)]) {
			t.Error("written again, the bytes differ")
		}
	})
}

// FuzzLine: a line that is read as any type is JSON, in the one form in which it is
// written; encoding/json finds the same values in it.
func FuzzLine(f *testing.F) {
	for _, lines := range goldens() {
		for line := range bytes.Lines(encode(f, lines)) {
			f.Add(bytes.TrimSuffix(line, []byte{'\n'}))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kind, err := lineType(line)
		if err != nil {
			return
		}
		r := &Reader{}
		l, err := r.decode(line, kind, nil)
		if err != nil {
			return
		}
		if !utf8.Valid(line) {
			t.Errorf("read, but not UTF-8: %q", line)
		}
		escaped := bytes.Contains(line, []byte("_b64"))
		if got := written(t, l); !escaped && !bytes.Equal(got, line) {
			t.Errorf("read %s, written %s", line, got)
		}
		other := empty(kind)
		if err := json.Unmarshal(line, other); err != nil {
			t.Fatalf("encoding/json: %v in %s", err, line)
		}
		if got := written(t, other); !escaped && !bytes.Equal(got, line) {
			t.Errorf("encoding/json reads %s from %s", got, line)
		}
	})
}

func written(t *testing.T, l Line) []byte {
	t.Helper()
	var c coder
	c.Write(l.kind())
	code(&c, l, nil)
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(c.Line(), []byte{'\n'})
}

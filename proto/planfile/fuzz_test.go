package planfile

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"fsweep/proto/internal/canonical"
)

// FuzzOpen: no input makes the reader panic or keep what it should not; what it
// takes it writes again, byte for byte.
func FuzzOpen(f *testing.F) {
	for _, p := range goldenPlans() {
		b, _ := p.write(f)
		f.Add(b)
	}
	f.Add([]byte(canonical.LineStart + `plan","format":1,`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, digest, err := readPlan(b)
		if err != nil {
			if !isContent(err) {
				t.Errorf("error without a class: %v", err)
			}
			return
		}
		again, d, err := p.tryWrite()
		if err != nil {
			t.Fatal(err)
		}
		// Only the form for people of names that are not UTF-8 has some freedom.
		if (!bytes.Equal(again, b) || d != digest) && !bytes.Contains(b, []byte("_b64")) {
			t.Error("written again, the bytes differ")
		}
	})
}

// FuzzLine: a line that is read as any type is JSON, in the one form in which it is
// written; encoding/json finds the same values in it.
func FuzzLine(f *testing.F) {
	for _, p := range goldenPlans() {
		b, _ := p.write(f)
		for line := range bytes.Lines(b) {
			f.Add(bytes.TrimSuffix(line, []byte{'\n'}))
		}
	}
	f.Add([]byte(`{"type":"dir","path":"\u2028\\\"\b\u0001","inode_id":18446744073709551615,"mtime_ms":-9223372036854775808,"children":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		fuzzLine(t, line, typeHeader, (*Header).fields)
		fuzzLine(t, line, typeKnown, (*Known).fields)
		fuzzLine(t, line, typeGuard, (*Guard).fields)
		fuzzLine(t, line, typeItem, (*Item).fields)
		fuzzLine(t, line, typeDir, (*Directory).fields)
		fuzzLine(t, line, typeQuota, (*Quota).fields)
		fuzzLine(t, line, typeFooter, (*Footer).fields)
	})
}

func fuzzLine[T any](t *testing.T, line []byte, kind string, fields func(*T, *coder)) {
	t.Helper()
	var v, other T
	var c, out coder
	if err := decode(&c, line, kind, &v, fields); err != nil {
		if !isContent(err) {
			t.Errorf("error without a class: %v", err)
		}
		return
	}
	if !utf8.Valid(line) {
		t.Errorf("read, but not UTF-8: %q", line)
	}
	if err := encode(&out, kind, &v, fields); err != nil {
		t.Fatal(err)
	}
	escaped := bytes.Contains(line, []byte("_b64"))
	if !escaped && !bytes.Equal(bytes.TrimSuffix(out.Line(), []byte{'\n'}), line) {
		t.Errorf("read %s, written %s", line, out.Line())
	}
	if err := json.Unmarshal(line, &other); err != nil {
		t.Fatalf("encoding/json: %v in %s", err, line)
	}
	if err := encode(&out, kind, &other, fields); !escaped && (err != nil || !bytes.Equal(bytes.TrimSuffix(out.Line(), []byte{'\n'}), line)) {
		t.Errorf("encoding/json reads %s, %v from %s", out.Line(), err, line)
	}
}

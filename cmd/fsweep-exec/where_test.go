package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestWhereNotBegun: a journal of which a crash left nothing does not hide what the others know.
func TestWhereNotBegun(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", `{"type":"journal","format":1`} {
		name := filepath.Join(t.TempDir(), "20270115T080000Z-run-a27fa2bacd57-01020304.jsonl")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l := lookup{o: &whereOptions{}, clusters: map[string]*cluster{}}
		if err := l.journal(context.Background(), name, "/a"); err != nil || len(l.found)+len(l.unread)+len(l.unasked)+len(l.clusters) > 0 {
			t.Errorf("%q: %v, %+v", text, err, l)
		}
	}
}

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
		var c *cluster
		if got, err := (&whereOptions{}).lookup(context.Background(), &c, name, "/a"); err != nil || len(got) > 0 || c != nil {
			t.Errorf("%q: %v, %v, %v", text, err, got, c)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"fsweep/cmd/internal/cli"
	"fsweep/proto/planfile"
)

// TestOutputsReplaceNothing: results never take the place of a journal, a plan, or a file that
// the command reads, and no name that the next run would take for a journal.
func TestOutputsReplaceNothing(t *testing.T) {
	t.Parallel()
	dir, journals := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const journal = `{"type":"journal","format":1,`
	write(dir, "journal.txt", journal)
	write(dir, "plan.txt", `{"type":"plan","format":1,`)
	write(dir, "other.jsonl", `{"type":"journey"}`)
	write(dir, "short", `{"ty`)
	write(dir, "empty", "")
	list := write(dir, "live.txt", "0123456789abcdef0123456789abcdef\n")
	write(journals, "old.jsonl", journal)
	if err := os.Symlink("journal.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(list, filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(dir, "alias")
	if err := os.Symlink(journals, alias); err != nil {
		t.Fatal(err)
	}
	h := planfile.Header{Live: []planfile.Input{{File: "live.txt"}}, Pins: []planfile.Input{{File: filepath.Join(dir, "pins.txt")}}}
	for name, ok := range map[string]bool{
		filepath.Join(dir, "journal.txt"): false,
		filepath.Join(dir, "plan.txt"):    false,
		filepath.Join(dir, "link"):        false,
		filepath.Join(dir, "live.txt"):    false,
		filepath.Join(dir, "hard"):        false,
		filepath.Join(dir, "pins.txt"):    false, // not there yet
		filepath.Join(dir, "other.jsonl"): true,
		filepath.Join(dir, "short"):       true,
		filepath.Join(dir, "empty"):       true,
		filepath.Join(dir, "new.jsonl"):   true,

		filepath.Join(journals, "old.jsonl"): false,
		filepath.Join(journals, "new.jsonl"): false,
		filepath.Join(journals, "new.json"):  true,
		filepath.Join(alias, "new.jsonl"):    false,
	} {
		out, err := createOutput(t.Context(), &cli.Env{Stdout: os.Stdout}, name, journals, listFiles(&h, dir)...)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			out.Abort()
		}
	}
	if text, err := os.ReadFile(filepath.Join(journals, "old.jsonl")); err != nil || string(text) != journal {
		t.Errorf("%q, %v", text, err)
	}
}

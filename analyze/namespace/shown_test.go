package namespace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInSnapshotEqualsNameNode compares with the inode ids that NameNodes list
// below all snapshots.
func TestInSnapshotEqualsNameNode(t *testing.T) {
	list := string(readFile(t, filepath.Join(images, "truths.txt")))
	seen := 0
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) != 2 || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(f[0], func(t *testing.T) {
			listed := snapshotIDs(t, filepath.Join(images, f[1]))
			tree := mustLoad(t, imageBytes(t, f[0]), Options{})
			shown, hidden := 0, 0
			err := tree.EachINode(t.Context(), 1, func(_ int, b *EntryBatch) error {
				return b.Each(func(e *Entry) error {
					got := e.InSnapshot()
					if e.Dir != NoDir && got != tree.InSnapshot(e.Dir) {
						t.Errorf("%q: two answers", e.AppendPath(nil))
					}
					if want := listed[e.INode.ID]; got != want {
						t.Errorf("%q: in a snapshot: %v, want %v", e.AppendPath(nil), got, want)
					}
					if got {
						shown++
					} else {
						hidden++
					}
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d inodes are in snapshots, %d are not", shown, hidden)
			seen += shown
		})
	}
	if seen == 0 {
		t.Error("nothing is in a snapshot")
	}
}

// snapshotIDs gives the inode ids below all .snapshot directories.
func snapshotIDs(t *testing.T, truth string) map[uint64]bool {
	t.Helper()
	name := filepath.Join(truth, "snapshots.jsonl")
	if _, err := os.Stat(name); err != nil {
		name += ".gz"
	}
	ids := map[uint64]bool{}
	for line := range bytes.Lines(readFile(t, name)) {
		var row struct {
			FileID uint64 `json:"fileId"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		ids[row.FileID] = true
	}
	return ids
}

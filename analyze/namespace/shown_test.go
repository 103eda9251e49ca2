package namespace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
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

// TestRenamedSymlink: no diff tells that a snapshot shows it, only a reference.
func TestRenamedSymlink(t *testing.T) {
	it := imagetest.NewTree()
	a, b := it.Dir("/a"), it.Dir("/b")
	link := it.FileIn(nil, "new")
	link.Kind, link.Target, link.Parent = imagetest.Symlink, "/x", b
	it.DstReference(b, link, imagetest.SnapshotCurrent)
	it.Diff(a, &pb.SnapshotDiffSection_DirectoryDiff{
		SnapshotId: proto.Uint32(3), DeletedINodeRef: []uint32{it.WithName(link, "old", 3)},
	})
	it.Snapshot(a, 3, "s")
	tree := mustLoad(t, image(it), Options{})
	m := movedOf(t, tree)["/b/new"]
	if want := (Moved{Usage: Usage{Namespace: 1}}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	for path, want := range map[string]bool{"/": false, "/a": true, "/b": false} {
		if d, _ := tree.Lookup([]byte(path)); tree.InSnapshot(d) != want {
			t.Errorf("%s: in a snapshot: %v", path, !want)
		}
	}
	seen := false
	err := tree.EachINode(t.Context(), 1, func(_ int, b *EntryBatch) error {
		return b.Each(func(e *Entry) error {
			seen = seen || e.INode.ID == link.ID && e.InSnapshot()
			return nil
		})
	})
	if err != nil || !seen {
		t.Errorf("the link is in no snapshot; %v", err)
	}
}

// TestGrownBlock: a block that a snapshot needs is held as long as it is now.
func TestGrownBlock(t *testing.T) {
	it := imagetest.NewTree()
	d := it.Dir("/d")
	f := it.File("/d/f", 1000, 500)
	f.Replication = 2
	old := f.Blocks[0]
	it.Diff(f, &pb.SnapshotDiffSection_FileDiff{
		SnapshotId: proto.Uint32(3), FileSize: proto.Uint64(400),
		Blocks: []*pb.BlockProto{{BlockId: &old.ID, GenStamp: &old.GenStamp, NumBytes: proto.Uint64(400)}},
	})
	it.Diff(d, &pb.SnapshotDiffSection_DirectoryDiff{SnapshotId: proto.Uint32(3)})
	it.Snapshot(d, 3, "s")
	tree := mustLoad(t, image(it), Options{})
	m := movedOf(t, tree)["/d/f"]
	if want := (Moved{Usage: Usage{Space: 2 * (1500 - 400)}, Freed: 1000, Held: 2000}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}

// TestUndeletable: where an erasure coded file was renamed, and only there.
func TestUndeletable(t *testing.T) {
	it := imagetest.NewTree()
	a, d := it.Dir("/a"), it.Dir("/a/b/c")
	it.File("/a/plain", 10).EC = 2
	f := it.FileIn(nil, "new")
	f.EC, f.Parent = 2, d
	it.DstReference(d, f, imagetest.SnapshotCurrent)
	it.Diff(a, &pb.SnapshotDiffSection_DirectoryDiff{
		SnapshotId: proto.Uint32(3), DeletedINodeRef: []uint32{it.WithName(f, "old", 3)},
	})
	it.Dir("/a/d")
	it.Snapshot(a, 3, "s")
	for path, m := range movedOf(t, mustLoad(t, image(it), Options{})) {
		// That /a/plain would be renamed now is reason enough.
		want := path == "/" || path == "/a" || path == "/a/plain" || strings.HasPrefix(path, "/a/b")
		if m.Undeletable != want {
			t.Errorf("%s: undeletable: %v, want %v", path, m.Undeletable, want)
		}
	}
}

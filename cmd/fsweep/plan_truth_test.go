package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// nameNodeInodes are those of an image as the NameNode lists them that was started
// from it. Of erasure-coded files the space is not known here.
func nameNodeInodes(t *testing.T, file string) []planInode {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var list []planInode
	ids := map[string]uint64{}
	s := bufio.NewScanner(z)
	for s.Buffer(nil, 1<<20); s.Scan(); {
		var e struct {
			Path                 string
			PathB64              []byte `json:"path_b64"`
			FileID               uint64
			Type                 string
			Size, Replication    int64
			MTime                int64
			Owner, Group, Target string
		}
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		n := planInode{path: e.Path, id: e.FileID, mtime: e.MTime, owner: e.Owner, group: e.Group, quota: [2]int64{-1, -1}}
		if e.PathB64 != nil {
			n.path = string(e.PathB64)
		}
		switch e.Type {
		case "FILE":
			n.kind, n.length, n.space = 1, e.Size, e.Size*e.Replication
		case "DIRECTORY":
			n.kind = 2
		case "SYMLINK":
			n.kind = 3
		}
		ids[n.path] = n.id
		list = append(list, n)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].parent = ids[filepath.Dir(list[i].path)]
	}
	slices.SortFunc(list, func(a, b planInode) int { return strings.Compare(a.path, b.path) })
	return list
}

// TestPlanOfNameNode plans on an image that a NameNode saved, and holds the plan
// against what that NameNode says of every inode. The items were read off its listing.
// All runs wrote to taskowned after the newest _metadata of their job, so all stay;
// what goes is beyond the newest checkpoint in them. The times are of 2023 or of the
// day when the image was saved.
func TestPlanOfNameNode(t *testing.T) {
	t.Parallel()
	const images, txid = "../../testdata/images/3.4.2/", "fsimage_0000000000000002138"
	inodes := nameNodeInodes(t, images+"truth-plain/listing.jsonl.gz")
	image, err := filepath.Abs(images + "plain/" + txid)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 12, 10, 0, 0, 0, 0, time.UTC)
	dir, now := t.TempDir(), at.Add(time.Hour)
	for name, text := range map[string]string{
		"live.txt": strings.Repeat("9", 32) + "\n",
		"policy.yaml": goldenPolicy + `live: [{file: live.txt, format: lines}]
roots:
  - path: /flink-checkpoints
    layout: job-run
    jobs: [job-0, job-2]
    ignore: [1234567890abcdef1234567890ab0001, 1234567890abcdef1234567890ab0003]
    stale_checkpoints: {keep_newest: 1, older_than: 24h}
    unreferenced_shared: {older_than: 168h}
  - {path: /flink-savepoints, layout: savepoints}
`,
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now, now); err != nil {
			t.Fatal(err)
		}
	}
	plan := planOf(t, 0, dir, image, at)
	want := []string{
		"checkpoint /flink-checkpoints/job-0/11111111-1111-4111-8222-222222222222/chk-5 stale_checkpoint conditional proof",
		"checkpoint /flink-checkpoints/job-0/1234567890abcdef1234567890ab0066/chk-7 stale_checkpoint conditional proof",
		"checkpoint /flink-checkpoints/job-0/22222222-2222-0222-8222-222222222223/chk-6 stale_checkpoint conditional proof",
		"checkpoint /flink-checkpoints/job-2/1234567890abcdef1234567890ab007a/chk-7 stale_checkpoint conditional proof",
		"checkpoint /flink-checkpoints/job-2/66666666-666a-4665-8222-222222222236/chk-5 stale_checkpoint conditional proof",
		"checkpoint /flink-checkpoints/job-2/77777777-777b-0776-8222-222222222237/chk-6 stale_checkpoint conditional proof",
		"unit /flink-savepoints/savepoint-ab0000-abc000000000 run_dead proof",
		"unit /flink-savepoints/savepoint-ab0001-abc000000001 run_dead proof",
		"unit /flink-savepoints/savepoint-ab0002-abc000000002 run_dead proof",
		"unit /flink-savepoints/savepoint-ab0003-abc000000003 run_dead proof",
		"unit /flink-savepoints/savepoint-ab0004-abc000000004 run_dead proof",
	}
	files := 0
	for _, n := range inodes {
		if p, ok := strings.CutPrefix(n.path, "/flink-checkpoints/job-"); n.kind == 1 && ok && (strings.Contains(p, "/shared/") || strings.Contains(p, "/taskowned/")) {
			want = append(want, "file "+n.path+" unreferenced_shared conditional proof")
			files++
		}
	}
	got := itemsOf(t, plan)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) || files != 24 {
		t.Errorf("items:\n%s\nwant, with %d files:\n%s", strings.Join(got, "\n"), files, strings.Join(want, "\n"))
	}
	compareItems(t, plan, inodes)
}
